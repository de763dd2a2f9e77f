//! The core laid out for searches that try sets: requests column after column, and what the others leave.

use crate::model::Amount;
use crate::solver::reduce::Reduced;

/// The columns of a core. The channels outside of it are fixed as the sign of `r` says.
#[derive(Debug, Clone, Default)]
pub(super) struct Ground {
    /// The channels, ascending.
    pub channels: Vec<u32>,
    pub rows: usize,
    pub requests: Vec<Amount>,
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    /// What the fixed channels leave of each row.
    pub left: Vec<Amount>,
    /// The sums of the channels that are fixed in.
    pub fixed: (f64, f64),
    /// Whether those fit at all; if not, no set beats the best one.
    pub fits: bool,
}

impl Ground {
    /// Lays a core out; visits are returned.
    pub fn prepare(&mut self, problem: &Reduced, r: &[f64], core: &[u32]) -> u64 {
        self.channels.clear();
        self.channels.extend_from_slice(core);
        self.channels.sort_unstable();
        self.rows = problem.rows();
        self.requests.clear();
        self.mean.clear();
        self.variance.clear();
        for &e in &self.channels {
            self.requests.extend_from_slice(problem.request(e as usize));
            self.mean.push(problem.v[e as usize]);
            self.variance.push(problem.w[e as usize]);
        }
        self.left.clear();
        self.left.extend_from_slice(&problem.capacity);
        self.fixed = (0.0, 0.0);
        self.fits = true;
        let mut core = self.channels.iter().copied().peekable();
        for (e, &r) in r.iter().enumerate() {
            if core.next_if_eq(&(e as u32)).is_some() || r <= 0.0 {
                continue;
            }
            self.fixed = (self.fixed.0 + problem.v[e], self.fixed.1 + problem.w[e]);
            for (left, &request) in self.left.iter_mut().zip(problem.request(e)) {
                self.fits &= request <= *left;
                *left = left.saturating_sub(request);
            }
        }
        (r.len() + (self.rows * r.len()) / 2) as u64
    }

    pub fn len(&self) -> usize {
        self.channels.len()
    }

    pub fn request(&self, column: usize) -> &[Amount] {
        &self.requests[column * self.rows..][..self.rows]
    }

    /// Whether a column fits in what is left.
    pub fn fits_in(&self, column: usize, room: &[Amount]) -> bool {
        self.request(column).iter().zip(room).all(|(a, room)| a <= room)
    }

    /// Takes a column's devices; they must fit.
    pub fn take(&self, column: usize, room: &mut [Amount]) {
        room.iter_mut().zip(self.request(column)).for_each(|(room, a)| *room -= a);
    }

    /// Gives a column's devices back.
    pub fn give(&self, column: usize, room: &mut [Amount]) {
        room.iter_mut().zip(self.request(column)).for_each(|(room, a)| *room += a);
    }

    /// Writes a set of columns, with what is fixed in, as kept channels.
    pub fn write(&self, r: &[f64], columns: impl Iterator<Item = usize>, chosen: &mut Vec<u32>) {
        chosen.clear();
        chosen.extend(columns.map(|column| self.channels[column]));
        let mut core = self.channels.iter().copied().peekable();
        chosen.extend((0..r.len() as u32).filter(|&e| core.next_if_eq(&e).is_none() && r[e as usize] > 0.0));
    }
}
