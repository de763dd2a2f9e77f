//! A small, stable hash: FNV-1a in 64 bits, the same on every machine and in every version.

/// Adds up a hash, part by part. Any change of a single byte changes it; it is no protection against malice.
///
/// ```
/// use esdp::model::Fnv;
///
/// assert_eq!(Fnv::of(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.bytes(bytes);
        hash.finish()
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Adds a text and its end, so that `ab`, `c` and `a`, `bc` differ.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    /// The hash of all that was added.
    pub fn finish(self) -> u64 {
        self.0
    }
}
