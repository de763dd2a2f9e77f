//! Scrambled numbers, always the same ones: searches that look random and are not.

/// A linear congruential sequence.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Sequence(u64);

impl Sequence {
    /// Starts anew.
    pub fn reset(&mut self) {
        self.0 = 0x9E37_79B9_7F4A_7C15;
    }

    /// A number below `limit`, the next of the sequence.
    pub fn next(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
