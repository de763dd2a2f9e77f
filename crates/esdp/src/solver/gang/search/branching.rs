//! Where trees split: at the open number that is farthest from a whole one.

use crate::solver::gang::problem::number::{By, Number};

/// A number that limits leave open, and where a solution has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Doubtful<N> {
    pub number: N,
    /// The whole number below; the one above is within the limits too.
    pub floor: u32,
    /// Whether the one above is nearer.
    pub up: bool,
    /// How far the nearer one is.
    pub doubt: f64,
}

/// The most doubtful number, the first of several.
pub(super) fn most_doubtful<N: Number>(
    low: &By<N, u32>,
    high: &By<N, u32>,
    at: &By<N, f64>,
) -> Option<Doubtful<N>> {
    let mut most: Option<Doubtful<N>> = None;
    for number in low.numbers().filter(|&number| low[number] < high[number]) {
        let share = at[number].clamp(f64::from(low[number]), f64::from(high[number]));
        let floor = (share as u32).min(high[number] - 1);
        let part = share - f64::from(floor);
        let doubt = 0.5 - (part - 0.5).abs();
        if doubt > most.map_or(-1.0, |most| most.doubt) {
            most = Some(Doubtful { number, floor, up: part > 0.5, doubt });
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::gang::problem::number::JobNo;

    #[test]
    fn the_open_number_farthest_from_a_whole_one() {
        let by = |list: [u32; 5]| By::<JobNo, u32>::from(list.to_vec());
        let at = By::<JobNo, f64>::from(vec![0.5, 1.75, 3.0, 2.25, 9.0]);
        // The first is settled; the last is beyond its limit.
        let most = most_doubtful(&by([1, 0, 0, 0, 0]), &by([1, 4, 3, 4, 4]), &at).unwrap();
        assert_eq!((most.number.place(), most.floor, most.up, most.doubt), (1, 1, true, 0.25));
        let whole = most_doubtful(&by([1, 1, 0, 2, 0]), &by([1, 1, 3, 2, 4]), &at).unwrap();
        assert_eq!((whole.number.place(), whole.floor, whole.up, whole.doubt), (2, 2, true, 0.0));
        assert_eq!(most_doubtful(&by([1; 5]), &by([1; 5]), &at), None);
    }
}
