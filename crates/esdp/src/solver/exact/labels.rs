//! Labels: partial choices that are kept while no other is surely better.
//!
//! A label is a weight (packed into one word), the sums of means and variances so far, a
//! penalty and its last step. Lists are sorted by weight, then by mean, descending. One
//! step offers a channel: every label gets a copy that toggles it. A toggle adds a
//! constant to weight and mean, so the copies are sorted too, and one linear merge
//! removes labels that another of the same weight covers (see [`Cone`]).
//!
//! [`core`](super::core) and [`tab`](super::tab) differ in where they start, which
//! channels they offer and how they bound a label; the list is the same.

use crate::solver::reduce::Reduced;

/// A partial choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    /// The weight, in fields with guard bits (see [`Packing`]).
    pub key: u64,
    /// The sum of scaled means.
    pub mean: f64,
    /// The sum of scaled variances.
    pub variance: f64,
    /// What the toggles cost so far against the bound.
    pub penalty: f64,
    /// The last toggle, as a position in the history.
    pub last: u32,
}

/// What toggling a channel adds to a label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Toggle {
    pub channel: u32,
    pub key: u64,
    pub mean: f64,
    pub variance: f64,
    pub penalty: f64,
}

/// No toggle yet.
pub(super) const ROOT: u32 = u32::MAX;

/// The labels of one search and their history; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    current: Vec<Label>,
    merged: Vec<Label>,
    history: Vec<(u32, u32)>,
    penalties: Vec<f64>,
}

impl Labels {
    /// Starts over from one label.
    pub fn start(&mut self, root: Label) {
        self.history.clear();
        self.current.clear();
        self.merged.clear();
        // The two lists change places: they grow together, so that in the end neither grows any more.
        let most = self.current.capacity().max(self.merged.capacity());
        self.current.reserve(most);
        self.merged.reserve(most);
        self.current.push(root);
    }

    pub fn len(&self) -> usize {
        self.current.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.current.iter()
    }

    /// Remembers a toggle outside of the list: the best choice so far.
    fn remember(&mut self, channel: u32, before: u32) -> u32 {
        self.history.push((channel, before));
        self.history.len() as u32 - 1
    }

    /// The best choice that toggling a channel makes of a label which `fits` then, if its value is above
    /// `best`, which it raises; the choice is remembered.
    #[inline]
    pub fn best_with(
        &mut self,
        toggle: &Toggle,
        fits: impl Fn(&Label) -> bool,
        best: &mut f64,
    ) -> Option<u32> {
        let mut candidate = None;
        for label in &self.current {
            let (mean, variance) = (label.mean + toggle.mean, label.variance + toggle.variance);
            // Better only if the root of the variance is above what the mean lacks. One branch, seldom taken.
            let lacks = *best - mean;
            if fits(label) & ((variance > lacks * lacks) | (lacks < 0.0)) {
                let value = Reduced::value(mean, variance);
                if value > *best {
                    *best = value;
                    candidate = Some(label.last);
                }
            }
        }
        candidate.map(|before| self.remember(toggle.channel, before))
    }

    /// Every label gets a toggled copy; those that are not `alive` or covered go.
    #[inline]
    pub fn offer(&mut self, toggle: &Toggle, cone: &Cone, alive: impl Fn(&Label) -> bool) {
        let toggled = |label: &Label| Label {
            key: label.key.wrapping_add(toggle.key),
            mean: label.mean + toggle.mean,
            variance: label.variance + toggle.variance,
            penalty: label.penalty + toggle.penalty,
            last: label.last,
        };
        self.merged.clear();
        let (labels, count) = (&self.current, self.current.len());
        let (mut kept, mut copied) = (0, 0);
        while copied < count {
            let copy = toggled(&labels[copied]);
            copied += 1;
            if !alive(&copy) {
                continue;
            }
            while kept < count
                && (labels[kept].key < copy.key
                    || labels[kept].key == copy.key && labels[kept].mean >= copy.mean)
            {
                if alive(&labels[kept]) {
                    push(&mut self.merged, labels[kept], cone);
                }
                kept += 1;
            }
            self.history.push((toggle.channel, copy.last));
            push(&mut self.merged, Label { last: self.history.len() as u32 - 1, ..copy }, cone);
        }
        for label in &labels[kept..] {
            if alive(label) {
                push(&mut self.merged, *label, cone);
            }
        }
        std::mem::swap(&mut self.current, &mut self.merged);
    }

    /// Drops the half with the larger penalties; returns the smallest dropped.
    pub fn halve(&mut self) -> f64 {
        self.penalties.clear();
        self.penalties.extend(self.current.iter().map(|label| label.penalty));
        let middle = self.penalties.len() / 2;
        let (_, &mut threshold, _) = self.penalties.select_nth_unstable_by(middle, f64::total_cmp);
        self.current.retain(|label| label.penalty < threshold);
        threshold
    }

    /// The channels toggled on the way to a label.
    pub fn toggles(&self, mut last: u32) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let (channel, before) = *self.history.get(last as usize)?;
            last = before;
            Some(channel)
        })
    }
}

/// Appends a label unless the last one of the same weight covers it; removes those it covers.
#[inline]
fn push(list: &mut Vec<Label>, label: Label, cone: &Cone) {
    while let Some(top) = list.last()
        && top.key == label.key
    {
        if cone.covers(top, &label) {
            return;
        }
        if !cone.covers(&label, top) {
            break;
        }
        list.pop();
    }
    list.push(label);
}

/// Which of two labels of one weight is at least as good whatever follows.
///
/// More mean and more variance is always better. But a set that beats the lower bound also
/// has `lambda (sqrt(W) - 1/(2 lambda))^2 < D - LB` (see `dual/`), so its `W` lies in a
/// known interval, and there the worth of a difference in `W` is known up to its slope at
/// the two ends: a label covers all of a cone, nearly a half-plane when `D - LB` is small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cone {
    /// One over the smallest and the largest `W`, and their roots.
    over_low: f64,
    over_high: f64,
    root_low: f64,
    root_high: f64,
}

impl Cone {
    /// For sets that are less than `room` below the bound at `lambda`.
    pub fn new(lambda: f64, room: f64) -> Self {
        if lambda == 0.0 {
            // Linear: variances are all zero, and the roots are never looked at.
            return Self { over_low: 1.0, over_high: 1.0, root_low: 0.0, root_high: 0.0 };
        }
        let (middle, reach) = (0.5 / lambda, (room.max(0.0) / lambda).sqrt());
        let (root_low, root_high) = ((middle - reach).max(1e-9), middle + reach);
        let over = |root: f64| 1.0 / (root * root);
        Self { over_low: over(root_low), over_high: over(root_high), root_low, root_high }
    }

    /// Whether `a` is at least as good as `b` after every completion that matters.
    #[inline]
    fn covers(&self, a: &Label, b: &Label) -> bool {
        let (ahead, behind) = (a.mean - b.mean, b.variance - a.variance);
        if behind > 0.0 {
            // What b gains at most: sqrt(W) - sqrt(W - d) is largest at the smallest W, and
            // 1 - sqrt(1 - y) <= (y + y^2) / 2.
            let y = behind * self.over_low;
            ahead >= if y <= 1.0 { self.root_low * 0.5 * (y + y * y) } else { behind.sqrt() }
        } else {
            // What a gains at least: sqrt(W + d) - sqrt(W) is smallest at the largest W, and
            // sqrt(1 + y) - 1 >= y/2 - y^2/8.
            let y = (-behind * self.over_high).min(2.0);
            -ahead <= self.root_high * (0.5 * y - 0.125 * y * y)
        }
    }
}

/// Weights as fields of one word, each with a guard bit above it, so that one subtraction
/// compares all rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Packing {
    shift: Vec<u32>,
    /// All guard bits.
    pub guards: u64,
    /// The first bit above all fields.
    pub bits: u32,
}

impl Packing {
    /// Fields that hold up to `largest[row]`; false when they do not fit in a word.
    pub fn fit(&mut self, largest: impl Iterator<Item = u128>) -> bool {
        self.shift.clear();
        (self.guards, self.bits) = (0, 0);
        for largest in largest {
            let width = 128 - largest.leading_zeros();
            self.shift.push(self.bits);
            if self.bits + width + 1 > 64 {
                return false;
            }
            self.bits += width + 1;
            self.guards |= 1 << (self.bits - 1);
        }
        true
    }

    /// The word of a weight whose entries fit their fields.
    #[inline]
    pub fn word(&self, weight: impl Iterator<Item = u64>) -> u64 {
        weight.zip(&self.shift).fold(0, |word, (amount, shift)| word | amount << shift)
    }

    /// Whether every field of `a` is at most that of `b`.
    #[inline]
    pub fn within(&self, a: u64, b: u64) -> bool {
        ((b | self.guards) - a) & self.guards == self.guards
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_compared_at_once() {
        let mut packing = Packing::default();
        assert!(packing.fit([7u128, 0, 3].into_iter()));
        let word = |a: [u64; 3]| packing.word(a.into_iter());
        assert!(packing.within(word([7, 0, 3]), word([7, 0, 3])));
        assert!(packing.within(word([1, 0, 3]), word([7, 0, 3])));
        assert!(!packing.within(word([0, 0, 3]), word([7, 0, 2])));
        assert!(!packing.within(word([5, 0, 1]), word([4, 0, 3])));
        assert!(!packing.fit([u128::from(u32::MAX), u128::from(u32::MAX)].into_iter()));
    }

    #[test]
    fn a_cone_is_wider_than_a_quadrant_and_never_wrong() {
        let label = |mean, variance| Label { key: 0, mean, variance, penalty: 0.0, last: ROOT };
        let (lambda, room) = (0.25, 0.01); // W around 4
        let cone = Cone::new(lambda, room);
        assert!(cone.covers(&label(1.0, 1.0), &label(0.9, 1.1))); // not in the quadrant
        assert!(!cone.covers(&label(1.0, 1.0), &label(0.999, 2.0)));
        let reach = (room / lambda).sqrt();
        let ends = [(2.0 - reach).powi(2), (2.0 + reach).powi(2)];
        for step in 0..400 {
            let (mean, variance) = (f64::from(step % 20) * 0.02, f64::from(step / 20) * 0.05);
            let (a, b) = (label(0.2, 0.5), label(mean, variance));
            for end in ends {
                // b completed to W = end beats a with the same completion: a must not cover b.
                let difference =
                    (b.mean - a.mean) + end.sqrt() - (end + a.variance - b.variance).max(0.0).sqrt();
                assert!(difference <= 1e-12 || !cone.covers(&a, &b), "{a:?} {b:?}");
            }
        }
    }
}
