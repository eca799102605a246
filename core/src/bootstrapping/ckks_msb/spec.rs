//! Sets and keys: those shared by the methods that raise the modulus, with an exponential in place of a reduction.

use alloc::{format, vec::Vec};

use super::{presets::MsbPreset, radix::MAX_MODULUS, stages};
use crate::{
    bootstrapping::{
        method::{Preset, Promise},
        overflow,
        raising::{
            RaisingKeys, RaisingKeysBuilder, RaisingParams, RaisingSecretKey, RaisingSpec, ReductionSpec,
            StageOrder,
        },
    },
    circuits::polynomial::{Exponential, exponential_of_degree},
    error::Error,
    security::SecretDistribution,
    trace::StageInfo,
};

/// Public numbers of a set for modular reduction; see [`MsbParams`] for the checked form.
pub type MsbSpec = RaisingSpec<RootsSpec>;
/// A parameter set for modular reduction: immutable, validated, cheap to clone.
pub type MsbParams<W = u64> = RaisingParams<RootsSpec, W>;
/// Everything secret of a key set for modular reduction.
pub type MsbSecretKey<W = u64> = RaisingSecretKey<RootsSpec, W>;
/// The evaluation keys of one key set, expanded in memory.
pub type MsbKeys<W = u64> = RaisingKeys<W>;
/// Builds [`MsbKeys`] from parts in any order.
pub type MsbKeysBuilder<W = u64> = RaisingKeysBuilder<RootsSpec, W>;

/// Largest absolute value of the parts of messages: what modular reductions are promised for.
pub const LARGEST_MESSAGE: f64 = 1_048_576.0;

/// Largest error of the exponential, which tables square and multiply by up to 2^14.
const LARGEST_ERROR: f64 = 1.0 / (1u64 << 22) as f64;

/// log2 of the largest probability that a quotient is out of range.
const LARGEST_FAILURE: f64 = -40.0;

/// e^(2 pi i x) for |x| up to K, in which quotients disappear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootsSpec {
    /// K: quotients |I| are below it.
    pub range: u32,
    /// Degree of the polynomial for an angle smaller by 2^r.
    pub degree: usize,
    /// r: how often its value is squared.
    pub squarings: u32,
}

impl ReductionSpec for RootsSpec {
    const FINGERPRINT: &'static str = "refloat 2026-11-23 modular reduction parameters v1";
    const KEY_SET: &'static str = "modular reduction key set";
    const LARGEST_MESSAGE: f64 = LARGEST_MESSAGE;
    const LARGE_NUMBERS: bool = true;

    type Fitted = Exponential;

    fn fitted(&self) -> Result<Exponential, Error> {
        Exponential::of_degree(self.range, self.squarings, self.degree)
    }

    /// The levels of the exponential. A table takes ceil(log2 2t) more, for the base t of the digit that is looked up.
    fn levels(&self) -> usize {
        let terms = self.degree.checked_add(1).and_then(usize::checked_next_power_of_two);
        let depth = terms.map_or(usize::BITS, usize::ilog2);
        depth.saturating_add(self.squarings) as usize
    }

    fn range(&self) -> u32 {
        self.range
    }

    fn conjugates(&self) -> bool {
        false
    }

    /// Neighbouring multiples of q0 are neighbouring messages: a coefficient is read modulo q0 as a whole.
    fn log_message_ratio(&self) -> u32 {
        0
    }

    fn check(spec: &MsbSpec) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::InvalidArgument(format!("{}: {what}", spec.name)));
        if spec.order != StageOrder::SlotsToCoeffsFirst {
            return refuse(
                "modular reduction is of slots, which have to become coefficients first; take slots-to-coeffs-first",
            );
        }
        if spec.log_message_ratio != 0 {
            return refuse("modular reduction is modulo q0 itself; take a ratio of 2^0 of q0 over messages");
        }
        if (2usize << spec.log_slots) != spec.chain.n {
            return refuse(
                "modular reduction reads every coefficient; take as many slots as the ring has, N/2",
            );
        }
        let base = &spec.chain.levels[0];
        if base.len() != 1 || base[0] < MAX_MODULUS * MAX_MODULUS {
            return Err(Error::InvalidArgument(format!(
                "{}: a q0 of {} primes, the first {}; take one prime above 2^40, so that numbers can be rounded to \
                 {MAX_MODULUS} points",
                spec.name,
                base.len(),
                base[0]
            )));
        }
        let RootsSpec { range, degree, squarings } = spec.reduction;
        let error = libm::ldexp(exponential_of_degree(range, squarings, degree)?.error, squarings as i32);
        if error.is_nan() || error > LARGEST_ERROR {
            return Err(Error::InvalidArgument(format!(
                "{}: e^(2 pi i x) for |x| up to {range}, by degree {degree} and {squarings} squarings, has an error of 2^{:.1}; take \
                 a degree for which it is 2^{:.0} at most",
                spec.name,
                libm::log2(error),
                libm::log2(LARGEST_ERROR)
            )));
        }
        let weight = match (&spec.ephemeral, spec.chain.secret) {
            (Some(ephemeral), _) => ephemeral.weight,
            (None, SecretDistribution::Sparse { weight }) => weight,
            (None, _) => {
                return refuse(
                    "quotients of a dense secret are beyond every range; take an ephemeral secret, or a sparse one",
                );
            }
        };
        let beyond = overflow::log2_quotient_exceeds(weight, range.saturating_sub(1));
        if beyond > LARGEST_FAILURE {
            return Err(Error::InvalidArgument(format!(
                "{}: a quotient is {range} or more, under a secret of weight {weight}, with probability 2^{beyond:.1}; take a range for \
                 which it is 2^{LARGEST_FAILURE} at most, or a sparser secret",
                spec.name
            )));
        }
        Ok(())
    }

    /// The stages of a digit in base 2; larger bases take more levels.
    fn stages(spec: &MsbSpec) -> Vec<StageInfo> {
        stages::of_pass(spec, true, stages::table_levels(2))
    }

    fn promise(spec: &MsbSpec) -> Option<Promise> {
        MsbPreset::by_fingerprint(&spec.fingerprint()).ok().map(Preset::promise)
    }

    fn words(&self) -> ([u64; 6], Option<u64>) {
        ([self.range.into(), self.degree as u64, self.squarings.into(), 0, 0, 0], Some(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bootstrapping::method::{NumberSecret, SlotMode},
        random::Seed,
        schemes::ckks::{ErrorBound, Release, ReleaseBudget, flooding::assert_deviation},
    };

    #[test]
    fn fractions_are_flooded_by_what_the_set_promises() {
        let params = MsbPreset::named("toy-msb11").unwrap().params().unwrap();
        let key = MsbSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let values = alloc::vec![0.75; params.slots()];
        let x = key.encrypt_numbers(&values, SlotMode::Real, 3, &Seed::from_bytes([2; 32])).unwrap();
        let mut budget = ReleaseBudget::resumed(1024, 30, 1023).unwrap();
        let own = Release { error: ErrorBound::Secret(1.0), ..Release::default() };
        let mut told =
            || key.decrypt_for_release(&x, SlotMode::Real, &own, &mut budget, &Seed::from_bytes([3; 32]));
        // More than the set promises of a bootstrap: a rescaling is bounded under any key.
        let error = key.largest_error(false).unwrap();
        assert!(error > libm::exp2(-35.0) && error < libm::exp2(-34.0), "{error}");
        let sigma = libm::sqrt(12.0 * 1024.0 * 1024.0) * libm::exp2(15.0) * error;
        assert_deviation(&told().unwrap(), &values, sigma);
        assert_eq!(told().unwrap_err().code(), "LIMIT");
    }

    #[test]
    fn the_secure_set_has_bits_left_in_every_slot() {
        let params = MsbPreset::named("msb16").unwrap().params().unwrap();
        let key = MsbSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let x = key.encrypt_numbers(&[0.75], SlotMode::Real, 3, &Seed::from_bytes([2; 32])).unwrap();
        let own = Release { error: ErrorBound::Secret(1.0), ..Release::default() };
        let told = key.decrypt_for_release(
            &x,
            SlotMode::Real,
            &own,
            &mut ReleaseBudget::default(),
            &Seed::from_bytes([3; 32]),
        );
        assert_eq!(told.unwrap().len(), 32768);
    }
}
