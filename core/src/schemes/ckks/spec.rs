//! Parameters of a chain for computations without bootstrapping.

use alloc::vec::Vec;

use alloc::format;

use super::context::CkksContext;
use crate::{
    arith::Word, error::Error, rlwe::RlweSpec, schemes::leveled_chain::LeveledChain, security::SecurityPolicy,
};

/// A chain for computations without bootstrapping: one prime for each level, one special prime, and a ternary secret. Each multiplication
/// uses up a level.
#[derive(Debug, Clone, PartialEq)]
pub struct CkksSpec {
    /// Ring degree N, a power of two: twice the number of slots.
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
    /// The primes of the chain: those nearest to their sizes, each taken once.
    pub fn chain(&self) -> RlweSpec {
        LeveledChain {
            n: self.n,
            log_base: self.log_base,
            log_level: self.log_scale,
            levels: self.levels,
            log_special: self.log_special,
            policy: self.policy,
        }
        .spec(Vec::new())
    }

    /// The parameter set. Primes above 2^31 take words of 64 bits.
    ///
    /// # Errors
    /// As [`CkksContext::from_spec`], security included; [`Error::InvalidArgument`] for sizes that have too few primes.
    pub fn context<W: Word>(&self) -> Result<CkksContext<W>, Error> {
        let chain = self.chain();
        if self.n.is_power_of_two() && (chain.levels.len() <= self.levels || chain.special.is_empty()) {
            return Err(Error::InvalidArgument(format!(
                "log_base {}, log_scale {} and log_special {} with {} levels: there are not enough primes of these sizes that are 1 modulo \
                 {}; take sizes of {} to 61 bits",
                self.log_base,
                self.log_scale,
                self.log_special,
                self.levels,
                2 * self.n as u64,
                self.n.ilog2() + 6
            )));
        }
        CkksContext::from_spec(&chain)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const SPEC: CkksSpec = CkksSpec {
        n: 64,
        log_base: 40.0,
        log_scale: 40.0,
        levels: 3,
        log_special: 40.0,
        policy: SecurityPolicy::InsecureForTests,
    };

    #[test]
    fn no_prime_is_taken_twice() {
        let chain = SPEC.chain();
        let mut primes: Vec<u64> = chain.levels.concat().into_iter().chain(chain.special).collect();
        primes.sort_unstable();
        primes.dedup();
        assert_eq!(primes.len(), 5);
        assert!(SPEC.context::<u64>().is_ok());
    }

    #[test]
    fn a_chain_that_cannot_be_is_refused() {
        for spec in [
            CkksSpec { n: 0, ..SPEC },
            CkksSpec { n: 63, ..SPEC },
            CkksSpec { n: usize::MAX, ..SPEC },
            CkksSpec { log_base: f64::NAN, ..SPEC },
            CkksSpec { log_scale: 62.0, ..SPEC },
            CkksSpec { log_special: -1.0, ..SPEC },
            CkksSpec { policy: SecurityPolicy::Strict128, ..SPEC },
        ] {
            assert!(spec.context::<u64>().is_err(), "{spec:?}");
        }
        assert!(SPEC.context::<u32>().is_err(), "primes of 40 bits in words of 32");
        let error = CkksSpec { log_scale: f64::NAN, ..SPEC }.context::<u64>().err().expect("no such prime");
        assert!(error.to_string().contains("log_scale NaN"), "{error}");
    }
}
