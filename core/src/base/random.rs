//! Random numbers for permutations and tests. A seed gives the same sequence on every machine.

/// A linear congruential generator that returns the upper bits of its state.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % limit) as i64
    }
}
