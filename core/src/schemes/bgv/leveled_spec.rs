//! Parameters of a chain for exact computations without bootstrapping.

use alloc::{format, vec};

use super::{context::BgvContext, noise::NoiseModel, spec::PlaintextSpec};
use crate::{
    arith::Word, error::Error, rlwe::RlweSpec, schemes::leveled_chain::LeveledChain, security::SecurityPolicy,
};

/// log2 of the largest primes that a level can have.
const LARGEST_PRIME: f64 = 60.0;

/// A chain for computations without bootstrapping: one prime for each level, one special prime, and a ternary secret. The sizes of the
/// primes follow from the plaintexts and from how noise grows.
#[derive(Debug, Clone, PartialEq)]
pub struct LeveledSpec {
    /// Ring degree N, a power of two, which is also the number of slots.
    pub n: usize,
    /// p, a prime that is 1 modulo 2N.
    pub prime: u64,
    /// Slots are integers modulo p^`exponent`.
    pub exponent: u32,
    /// Levels above level 0: products one after another.
    pub levels: usize,
    /// log2 of the factor by which sums, rotations and public factors may multiply noise, before each product and at level 0. Ciphertexts
    /// from a public key begin with 7 bits more noise than others: for them, 8 is enough for products, and 12 for products of sums of 16.
    pub spare_bits: f64,
    /// The policy that the chain must meet.
    pub policy: SecurityPolicy,
}

impl LeveledSpec {
    /// The primes of the chain: those nearest to their sizes, each taken once.
    ///
    /// If F is the least noise and s the spare bits, operands of a product may have noise 2^s F. Their product has P F^2 2^2s, which a
    /// prime of 2 P F 2^2s takes down to F/2, and the rounding adds F.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for plaintexts and spare bits that need primes of more than 60 bits.
    pub fn chain(&self) -> Result<RlweSpec, Error> {
        let log_plaintext = f64::from(self.exponent) * libm::log2(self.prime as f64);
        let log_noise = libm::log2(NoiseModel::least_of_ternary_secrets(self.n));
        let log_level = log_plaintext + log_noise + 2.0 * self.spare_bits + 1.0;
        let log_base = log_plaintext + log_noise + self.spare_bits + 2.0;
        let largest = if self.levels == 0 { log_base } else { log_base.max(log_level) };
        // Written so that a size that is not a number is refused too.
        if !(self.spare_bits >= 0.0 && largest <= LARGEST_PRIME) {
            return Err(Error::InvalidArgument(format!(
                "plaintexts modulo {}^{} in a ring of degree {} with {} spare bits take primes of {largest:.1} bits, and a level has one of \
                 {LARGEST_PRIME} at most; take a smaller modulus, or fewer spare bits, 0 or more",
                self.prime, self.exponent, self.n, self.spare_bits
            )));
        }
        let chain = LeveledChain {
            n: self.n,
            log_base,
            log_level,
            levels: self.levels,
            // A few bits more than the largest of the others, so that switching keys adds hardly more noise than a rounding.
            log_special: (largest + 4.0).min(LARGEST_PRIME),
            policy: self.policy,
        };
        Ok(chain.spec(vec![self.prime]))
    }

    /// The parameter set. Primes above 2^31 take words of 64 bits.
    ///
    /// # Errors
    /// As [`Self::chain`] and [`BgvContext::from_spec`], security included.
    pub fn context<W: Word>(&self) -> Result<BgvContext<W>, Error> {
        let plaintexts =
            PlaintextSpec { prime: self.prime, exponent: self.exponent, largest_exponent: self.exponent };
        BgvContext::from_spec(&self.chain()?, plaintexts)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{
        random::Seed,
        schemes::bgv::{BgvCiphertext, BgvEvaluator, LeveledSecretKey},
    };

    const SPEC: LeveledSpec = LeveledSpec {
        n: 64,
        prime: 257,
        exponent: 1,
        levels: 3,
        spare_bits: 8.0,
        policy: SecurityPolicy::InsecureForTests,
    };

    /// Squares once for each level, each time a sum that uses up the spare bits.
    fn squares_of_sums(spec: &LeveledSpec, public: bool) {
        let context = spec.context::<u64>().unwrap();
        let key = LeveledSecretKey::generate(&context, &Seed::from_bytes([1; 32]));
        let seed = Seed::from_bytes([2; 32]);
        let (evaluator, modulus) = (BgvEvaluator::new(&context), context.message_modulus().ring().value());
        let products = key.relinearization_key(spec.levels).unwrap();
        let slots: Vec<u64> = (0..spec.n as u64).map(|i| modulus - 1 - i).collect();
        let fresh = if public {
            let public = key.public_key(spec.levels).unwrap();
            public.encrypt(&context, &slots, spec.levels, &seed).unwrap()
        } else {
            key.encrypt(&slots, spec.levels, &seed).unwrap()
        };
        let mut want: Vec<u128> = slots.iter().map(|&x| x.into()).collect();
        // Sums of 2^`doublings` equal terms; after a product one doubling fewer, as its noise is a little more than the least.
        let doubled = |x: &BgvCiphertext, doublings: u32, want: &mut Vec<u128>| {
            for w in want.iter_mut() {
                *w = (*w << doublings) % u128::from(modulus);
            }
            (0..doublings).fold(x.clone(), |sum, _| evaluator.add(&sum, &sum).unwrap())
        };
        let spare = spec.spare_bits as u32;
        let mut x = doubled(&fresh, if public { spare.saturating_sub(7) } else { spare }, &mut want);
        for _ in 0..spec.levels {
            x = evaluator.multiply(&x, &x, &products).unwrap();
            for w in &mut want {
                *w = *w * *w % u128::from(modulus);
            }
            x = doubled(&x, spare.saturating_sub(1), &mut want);
        }
        assert_eq!(x.level(), 0);
        let got = key.decrypt(&x).unwrap();
        let got: Vec<u128> = got.reveal_to_key_owner().iter().map(|&x| x.into()).collect();
        assert_eq!(got, want, "{spec:?}");
    }

    #[test]
    fn every_level_is_worth_a_product_of_sums_as_large_as_is_said() {
        for spec in [
            SPEC,
            LeveledSpec { spare_bits: 1.0, ..SPEC },
            LeveledSpec { levels: 0, ..SPEC },
            LeveledSpec { levels: 8, exponent: 2, spare_bits: 9.0, ..SPEC },
            LeveledSpec { n: 1 << 12, prime: 65_537, spare_bits: 12.0, ..SPEC },
        ] {
            squares_of_sums(&spec, false);
            if spec.spare_bits >= 8.0 {
                squares_of_sums(&spec, true);
            }
        }
    }

    #[test]
    fn no_prime_is_taken_twice() {
        let chain = LeveledSpec { prime: 65_537, spare_bits: 0.0, ..SPEC }.chain().unwrap();
        let mut primes: Vec<u64> = chain.levels.concat().into_iter().chain(chain.special).collect();
        primes.push(65_537);
        primes.sort_unstable();
        primes.dedup();
        assert_eq!(primes.len(), 6);
    }

    #[test]
    fn a_chain_that_cannot_be_is_refused() {
        for spec in [
            LeveledSpec { n: 0, ..SPEC },
            LeveledSpec { n: 63, ..SPEC },
            LeveledSpec { n: usize::MAX, ..SPEC },
            LeveledSpec { prime: 0, ..SPEC },
            LeveledSpec { prime: 255, ..SPEC },
            LeveledSpec { prime: 251, ..SPEC },
            LeveledSpec { prime: u64::MAX, ..SPEC },
            LeveledSpec { exponent: 0, ..SPEC },
            LeveledSpec { exponent: 9, ..SPEC },
            LeveledSpec { spare_bits: f64::NAN, ..SPEC },
            LeveledSpec { spare_bits: -1.0, ..SPEC },
            LeveledSpec { spare_bits: 30.0, ..SPEC },
            LeveledSpec { policy: SecurityPolicy::Strict128, ..SPEC },
        ] {
            let refused = spec.context::<u64>().err().unwrap_or_else(|| panic!("{spec:?}"));
            assert!(refused.repair().is_some(), "{refused}");
        }
        assert!(SPEC.context::<u32>().is_err(), "primes of 34 bits in words of 32");
    }
}
