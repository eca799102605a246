//! Sets and keys of conventional bootstrapping: those shared by the methods that raise the modulus, with its own reductions.

use alloc::{format, vec::Vec};

use super::{
    presets::ConventionalPreset,
    reduction::{FittedReduction, Reduction},
};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{Preset, Promise},
        raising::{
            RaisingKeys, RaisingKeysBuilder, RaisingParams, RaisingSecretKey, RaisingSpec, ReductionSpec,
            stages,
        },
    },
    error::Error,
    trace::StageInfo,
};

/// Public numbers of a conventional set; see [`ConventionalParams`] for the checked form.
pub type ConventionalSpec = RaisingSpec<Reduction>;
/// A conventional parameter set: immutable, validated, cheap to clone.
pub type ConventionalParams<W = u64> = RaisingParams<Reduction, W>;
/// Everything secret of a conventional key set.
pub type ConventionalSecretKey<W = u64> = RaisingSecretKey<Reduction, W>;
/// The evaluation keys of one conventional key set, expanded in memory.
pub type ConventionalKeys<W = u64> = RaisingKeys<W>;
/// Builds [`ConventionalKeys`] from parts in any order.
pub type ConventionalKeysBuilder<W = u64> = RaisingKeysBuilder<Reduction, W>;

/// Reduction modulo q0.
pub const EVAL_MOD: &str = "eval_mod";

impl ReductionSpec for Reduction {
    const FINGERPRINT: &'static str = "refloat 2026-11-21 conventional parameters v1";
    const KEY_SET: &'static str = "conventional key set";
    const LARGEST_MESSAGE: f64 = 1.0;

    type Fitted = FittedReduction;

    fn fitted(&self) -> Result<FittedReduction, Error> {
        FittedReduction::new(self)
    }

    fn levels(&self) -> usize {
        match self {
            Self::Sine(spec) => spec.levels(),
            Self::Harmonics(spec) => spec.levels(),
        }
    }

    fn range(&self) -> u32 {
        match self {
            Self::Sine(spec) => spec.range,
            Self::Harmonics(spec) => spec.range,
        }
    }

    fn conjugates(&self) -> bool {
        matches!(self, Self::Harmonics(_))
    }

    fn log_message_ratio(&self) -> u32 {
        match self {
            Self::Harmonics(spec) => spec.log_distance,
            Self::Sine(_) => 8,
        }
    }

    fn check(spec: &ConventionalSpec) -> Result<(), Error> {
        match &spec.reduction {
            Self::Harmonics(harmonics) if harmonics.log_distance != spec.log_message_ratio => {
                Err(Error::InvalidArgument(format!(
                    "harmonics for messages of 2^-{} beside q0, and a ratio of 2^{}; take the same",
                    harmonics.log_distance, spec.log_message_ratio
                )))
            }
            _ => Ok(()),
        }
    }

    fn stages(spec: &ConventionalSpec) -> Vec<StageInfo> {
        let eval_mod = StageInfo {
            id: EVAL_MOD,
            title: "Reduce modulo q0",
            symbol: match spec.reduction {
                Self::Sine(_) => "sin(2 pi x) / 2 pi ~ x - round(x), x = m/q0 + I",
                Self::Harmonics(_) => "a1 sin(2 pi x) + a2 sin(4 pi x) ~ x - round(x), x = m/q0 + I",
            },
            levels: spec.reduction.levels(),
        };
        stages::of(spec, eval_mod)
    }

    fn promise(spec: &ConventionalSpec) -> Option<Promise> {
        ConventionalPreset::by_fingerprint(&spec.fingerprint()).ok().map(Preset::promise)
    }

    /// The numbers for fingerprints: the six that a sine has always had, and for any other reduction a tag that comes last.
    fn words(&self) -> ([u64; 6], Option<u64>) {
        match self {
            Self::Sine(spec) => (spec.words(), None),
            Self::Harmonics(spec) => {
                let [range, squarings, distance] =
                    [spec.range, spec.squarings, spec.log_distance].map(u64::from);
                ([range, 2 * range - 1, squarings, 0, 0, distance], Some(1))
            }
        }
    }
}

impl ConventionalSpec {
    /// Whether precision is the same for every message, even if its slots are correlated: so it is with two harmonics, and
    /// with an arcsine that reaches the largest coefficient, sqrt(2) times the size of a part.
    pub fn holds_for_every_message(&self) -> bool {
        self.reduction.sine().is_none_or(|sine| {
            sine.arcsine.is_some_and(|arcsine| arcsine.log_distance < self.log_message_ratio)
        })
    }
}

impl<W: Word> ConventionalParams<W> {
    /// log2 of the probability that a bootstrap of random coefficients is less precise than promised, because one of the
    /// quotients is beyond [`Reduction::usual_range`].
    pub fn log2_imprecise(&self) -> Option<f64> {
        self.log2_beyond(self.spec().reduction.usual_range())
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;
    use crate::{
        bootstrapping::method::{NumberSecret, SlotMode},
        random::Seed,
        schemes::ckks::{ErrorBound, Release, ReleaseBudget, flooding::assert_deviation},
    };

    const OWN: Release = Release { numbers: None, error: ErrorBound::Secret(1.0), largest: 1.0 };

    fn key(name: &str) -> ConventionalSecretKey {
        let params = ConventionalPreset::named(name).unwrap().params().unwrap();
        ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]))
    }

    #[test]
    fn results_are_flooded_by_what_the_set_promises() {
        let key = key("toy-conventional11");
        let values = vec![0.25; key.params().slots()];
        let x = key.encrypt_numbers(&values, SlotMode::Real, 1, &Seed::from_bytes([2; 32])).unwrap();
        let mut budget = ReleaseBudget::new(2, 16).unwrap();
        let mut told = |release: &Release| {
            key.decrypt_for_release(&x, SlotMode::Real, release, &mut budget, &Seed::from_bytes([3; 32]))
        };
        let sigma = libm::sqrt(12.0 * 2.0 * 1024.0) * libm::exp2(8.0 - 28.0);
        assert_deviation(&told(&OWN).unwrap(), &values, sigma);
        // A square of them has three times the error.
        let square = Release { error: ErrorBound::Secret(3.0), ..OWN };
        assert_deviation(&told(&square).unwrap(), &values, 3.0 * sigma);
        assert_eq!(told(&OWN).unwrap_err().code(), "LIMIT");
        assert_eq!(budget.used(), 2);
    }

    #[test]
    fn few_numbers_or_a_known_error_leave_more() {
        let key = key("n16");
        let x = key.encrypt_numbers(&[0.25], SlotMode::Real, 1, &Seed::from_bytes([2; 32])).unwrap();
        let mut budget = ReleaseBudget::default();
        let mut told = |release: &Release| {
            key.decrypt_for_release(&x, SlotMode::Real, release, &mut budget, &Seed::from_bytes([3; 32]))
        };
        let drowned = told(&OWN).unwrap_err();
        assert!(drowned.code() == "LIMIT" && drowned.to_string().contains("32768 numbers"), "{drowned}");
        assert_eq!(told(&Release { numbers: Some(1), ..OWN }).unwrap().len(), 1);
        let one = Release { numbers: Some(1), ..Release::default() };
        assert_eq!(told(&one).unwrap_err().code(), "LIMIT", "with the error of a public key");
        let known = Release { error: ErrorBound::AtMost(libm::exp2(-36.0)), ..OWN };
        assert_eq!(told(&known).unwrap().len(), 32768);
        assert_eq!(budget.used(), 2);
    }

    #[test]
    fn without_a_promise_a_bound_has_to_be_stated() {
        let sine = key("toy-conventional11-sine");
        let error = sine.largest_error(false).unwrap_err();
        assert!(error.to_string().contains("mean zero"), "{error}");
        let mut spec = sine.params().spec().clone();
        spec.log_slots -= 1;
        let own: ConventionalParams = ConventionalParams::new(&spec).unwrap();
        let own = ConventionalSecretKey::generate(&own, &Seed::from_bytes([1; 32]));
        let error = own.largest_error(true).unwrap_err();
        assert!(error.to_string().contains("named set") && error.repair().is_some(), "{error}");
    }
}
