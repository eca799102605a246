//! Chains for computations without bootstrapping, for schemes over ring-LWE.

use alloc::{vec, vec::Vec};

use crate::{
    arith::primes::ntt_primes,
    rlwe::RlweSpec,
    security::{SecretDistribution, SecurityPolicy},
};

/// A chain of one prime a level, one special prime and a ternary secret.
pub(crate) struct LeveledChain {
    /// Ring degree.
    pub n: usize,
    /// log2 of the prime of level 0.
    pub log_base: f64,
    /// log2 of the primes of the other levels.
    pub log_level: f64,
    /// Levels above level 0.
    pub levels: usize,
    /// log2 of the special prime.
    pub log_special: f64,
    /// The policy that the chain must meet.
    pub policy: SecurityPolicy,
}

impl LeveledChain {
    /// The chain of the primes nearest to their sizes, each taken once and none of them in `taken`.
    pub fn spec(&self, mut taken: Vec<u64>) -> RlweSpec {
        let order = (self.n as u64).saturating_mul(2);
        let mut nearest = |log: f64, count: usize| {
            let free = ntt_primes(log, order).filter(|prime| !taken.contains(prime));
            let primes: Vec<u64> = free.take(count).collect();
            taken.extend_from_slice(&primes);
            primes
        };
        let levels = [nearest(self.log_base, 1), nearest(self.log_level, self.levels)].concat();
        RlweSpec {
            n: self.n,
            odd_part: 1,
            levels: levels.into_iter().map(|prime| vec![prime]).collect(),
            special: nearest(self.log_special, 1),
            digits: (0..=self.levels).map(|level| vec![level]).collect(),
            secret: SecretDistribution::Ternary,
            policy: self.policy,
        }
    }
}
