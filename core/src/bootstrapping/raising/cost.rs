//! Rough costs in time, for plans that choose between several ways. Nothing else depends on them.

use super::{params::RaisingParams, reduction::ReductionSpec};
use crate::arith::Word;

/// Seconds that a pass takes, divided by its levels and by N log2 N, on one thread of the machine of `core/BENCHMARKS.md`: `n15`
/// bootstraps in 1.1 s, and a digit of `msb16` is read in 2.9 s.
const PASS: f64 = 1.2e-7;

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// About how long it takes on one thread to raise the modulus, bring coefficients into slots, and reduce them.
    pub(in crate::bootstrapping) fn seconds_of_pass(&self) -> f64 {
        let n = self.n() as f64;
        PASS * n * libm::log2(n) * self.ckks().rlwe().max_level() as f64
    }
}
