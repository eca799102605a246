//! Numbers of a chain for computations without bootstrapping.

use alloc::vec;

use super::context::CkksContext;
use crate::{
    arith::{Word, primes::ntt_primes},
    error::Error,
    rlwe::RlweSpec,
    security::{SecretDistribution, SecurityPolicy},
};

/// A chain of one prime a level, one special prime, and a ternary secret: what a computation without bootstrapping takes. Each
/// multiplication uses up a level.
#[derive(Debug, Clone, PartialEq)]
pub struct CkksSpec {
    /// Ring degree N, a power of two: twice as many as there are slots.
    pub n: usize,
    /// log2 of the prime of level 0. It is larger than the scale by the room that messages have when all levels are used up.
    pub log_base: f64,
    /// log2 of the primes of the other levels, which should be that of the scale: rescaling divides by them.
    pub log_scale: f64,
    /// Levels above level 0.
    pub levels: usize,
    /// log2 of the special prime, which keeps the noise of key switching small: as large as the largest of the others, or larger.
    pub log_special: f64,
    /// The policy that the chain must meet.
    pub policy: SecurityPolicy,
}

impl CkksSpec {
    /// The primes of the chain: those nearest to their sizes. The three sizes differ, so that no prime is taken twice.
    pub fn chain(&self) -> RlweSpec {
        let nearest = |log: f64, count: usize| ntt_primes(log, 2 * self.n as u64).take(count);
        let levels = nearest(self.log_base, 1).chain(nearest(self.log_scale, self.levels));
        RlweSpec {
            n: self.n,
            odd_part: 1,
            levels: levels.map(|prime| vec![prime]).collect(),
            special: nearest(self.log_special, 1).collect(),
            digits: (0..=self.levels).map(|level| vec![level]).collect(),
            secret: SecretDistribution::Ternary,
            policy: self.policy,
        }
    }

    /// The parameter set. Primes above 2^31 take words of 64 bits.
    ///
    /// # Errors
    /// As [`CkksContext::from_spec`], security included.
    pub fn context<W: Word>(&self) -> Result<CkksContext<W>, Error> {
        CkksContext::from_spec(&self.chain())
    }
}
