//! What changes for all channels alike.
//!
//! Where all servers become faster, or all outcomes noisier (they end at 0 and 1, so their means change too),
//! the channels keep their order. The short memory then predicts better, but whoever forgets pays with
//! estimates from few outcomes and gains nothing: what was learned still tells which channel is best. So the
//! memory that forgets nothing is also judged by its estimate on a line through the outcomes of the last
//! slots,
//!
//! ```text
//! estimate + a + b (estimate - 1/2),      a, b:  min  sum (z - estimate - a - b (estimate - 1/2))^2
//!                                                     + A a^2 + B b^2
//! ```
//!
//! where the sum fades over [`SLOTS`]. Its readings stay as they are: a line changes no order. One throttled
//! server moves the line of all; the others are then judged best by their estimates as they are.

use crate::stats::StateError;
use serde::{Deserialize, Serialize};

/// How many slots the line remembers: as many as the short memory, which is to be no better than it.
const SLOTS: f64 = 100.0;
/// How many outcomes the line has to be off by 1 to be moved half-way: *A* and *B*.
const DRAWN: (f64, f64) = (10.0, 2.0);

/// Faded sums over outcomes, of *x* = estimate - 1/2 and *d* = outcome - estimate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trend {
    /// How many there are.
    pub count: f64,
    /// Of *x*.
    pub x: f64,
    /// Of *x^2*.
    pub xx: f64,
    /// Of *d*.
    pub d: f64,
    /// Of *x d*.
    pub xd: f64,
}

impl Trend {
    /// Some slots pass.
    pub(super) fn advance(&mut self, slots: u64) {
        let left = (1.0 - 1.0 / SLOTS).powf(slots as f64);
        *self = Self {
            count: left * self.count,
            x: left * self.x,
            xx: left * self.xx,
            d: left * self.d,
            xd: left * self.xd,
        };
    }

    /// An estimate, moved by what changed for all.
    pub(super) fn moved(&self, estimate: f64) -> f64 {
        let (p, q, r) = (self.count + DRAWN.0, self.x, self.xx + DRAWN.1);
        let determinant = p * r - q * q;
        let a = (self.d * r - self.xd * q) / determinant;
        let b = (self.xd * p - self.d * q) / determinant;
        estimate + a + b * (estimate - 0.5)
    }

    /// Learns an outcome, of which `estimate` was expected.
    pub(super) fn observe(&mut self, estimate: f64, outcome: f64) {
        let (x, d) = (estimate - 0.5, outcome - estimate);
        self.count += 1.0;
        self.x += x;
        self.xx += x * x;
        self.d += d;
        self.xd += x * d;
    }

    /// Whether saved sums can be those of some outcomes.
    pub(super) fn check(&self) -> Result<(), StateError> {
        let sums = [self.count, self.x, self.xx, self.d, self.xd];
        // Cauchy and Schwarz, but for rounding: else the line has no least squares.
        let sound = sums.iter().all(|sum| sum.is_finite())
            && self.count >= 0.0
            && self.xx >= 0.0
            && self.x * self.x <= (self.count + 1.0) * (self.xx + 1.0);
        match sound {
            true => Ok(()),
            false => {
                Err(StateError::Damaged { list: "trend", entry: 0, reason: "expected sums of outcomes" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_all_outcomes_share_is_found_and_fades() {
        let mut trend = Trend::default();
        assert_eq!(trend.moved(0.3), 0.3, "nothing is known");
        for round in 0..2000 {
            let estimate = 0.2 + 0.6 * f64::from(round % 7) / 6.0;
            trend.observe(estimate, 0.1 + 0.7 * estimate);
        }
        for estimate in [0.2, 0.5, 0.8] {
            let expected = 0.1 + 0.7 * estimate;
            assert!((trend.moved(estimate) - expected).abs() < 0.005, "{}", trend.moved(estimate));
        }
        trend.advance(5000);
        assert!((trend.moved(0.3) - 0.3).abs() < 1e-9, "forgotten");
    }

    #[test]
    fn sums_of_no_outcomes_are_refused() {
        let mut trend = Trend::default();
        (0..5).for_each(|_| trend.observe(0.9, 0.1));
        assert_eq!(trend.check(), Ok(()));
        for wrong in [
            Trend { count: -1.0, ..trend },
            Trend { xx: -0.1, ..trend },
            Trend { x: 100.0, ..trend },
            Trend { d: f64::NAN, ..trend },
        ] {
            assert!(matches!(wrong.check(), Err(StateError::Damaged { list: "trend", .. })), "{wrong:?}");
        }
    }
}
