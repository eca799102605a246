//! Parameter sets of all methods: the named ones, and those of other libraries.
//!
//! A method's named sets are in its folder, with the numbers, where they come from, and what they promise.
//!
//! | method | a set by its name | insecure sets to try it with |
//! | --- | --- | --- |
//! | conventional CKKS | [`conventional_preset`] | `toy-conventional11` |
//! | SHIP | [`ship_preset`] | `toy10` |
//! | modular reduction in CKKS | [`msb_preset`] | `toy-msb11` |
//! | BGV | [`bgv_preset`] | `toy-bgv10`, `toy-bgv7`, `toy-bgv-gf4` |
//! | DM/CGGI | [`cggi_preset`] | `toy-bool`, and `toy-fbs` for look-ups |
//! | scheme switching, from numbers and from digits | [`link_preset`], [`digit_link_preset`] | `toy-link`, `toy-msb-link` |
//!
//! Every type of presets also has `all`, the sets in order, and `by_fingerprint`, the set that keys or ciphertexts belong to.

mod cggi_peers;
mod seal;

use crate::error::Error;

pub use crate::bootstrapping::{
    bgv::BgvPreset, cggi::CggiPreset, ckks_conventional::ConventionalPreset, ckks_msb::MsbPreset,
    ckks_ship::ShipPreset, scheme_switching::DigitLinkPreset, scheme_switching::LinkPreset,
};
pub use cggi_peers::{cggi_peer_preset, cggi_peer_presets};
pub use seal::{SealSet, seal_sets};

/// The set used where none is named: a SHIP set.
pub const DEFAULT_PRESET: &str = "ship13";

/// The default set of conventional CKKS.
pub const DEFAULT_CONVENTIONAL_PRESET: &str = "n16";

/// The default DM/CGGI set.
pub const DEFAULT_CGGI_PRESET: &str = "bool-128";

/// As [`ShipPreset::named`].
///
/// # Errors
/// As [`ShipPreset::named`].
pub fn ship_preset(name: &str) -> Result<&'static ShipPreset, Error> {
    ShipPreset::named(name)
}

/// As [`ConventionalPreset::named`].
///
/// # Errors
/// As [`ConventionalPreset::named`].
pub fn conventional_preset(name: &str) -> Result<&'static ConventionalPreset, Error> {
    ConventionalPreset::named(name)
}

/// As [`MsbPreset::named`].
///
/// # Errors
/// As [`MsbPreset::named`].
pub fn msb_preset(name: &str) -> Result<&'static MsbPreset, Error> {
    MsbPreset::named(name)
}

/// As [`BgvPreset::named`].
///
/// # Errors
/// As [`BgvPreset::named`].
pub fn bgv_preset(name: &str) -> Result<&'static BgvPreset, Error> {
    BgvPreset::named(name)
}

/// As [`LinkPreset::named`].
///
/// # Errors
/// As [`LinkPreset::named`].
pub fn link_preset(name: &str) -> Result<&'static LinkPreset, Error> {
    LinkPreset::named(name)
}

/// As [`DigitLinkPreset::named`].
///
/// # Errors
/// As [`DigitLinkPreset::named`].
pub fn digit_link_preset(name: &str) -> Result<&'static DigitLinkPreset, Error> {
    DigitLinkPreset::named(name)
}

/// As [`CggiPreset::named`].
///
/// # Errors
/// As [`CggiPreset::named`].
pub fn cggi_preset(name: &str) -> Result<&'static CggiPreset, Error> {
    CggiPreset::named(name)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{
        bootstrapping::{
            bgv::BgvSpec,
            ckks_conventional::{ConventionalSecretKey, ConventionalSpec, Reduction},
            ckks_msb::{MsbSecretKey, MsbSpec, RootsSpec},
            ckks_ship::ShipSpec,
            method::{NumberSecret, Preset, SetSpec, SlotMode},
            scheme_switching::LinkSpec,
        },
        random::Seed,
        schemes::{
            cggi::CggiSpec,
            ckks::{CkksEvaluator, ReleaseBudget},
            set_names::{assert_names, set_name},
        },
    };

    #[test]
    fn messages_name_every_set() {
        fn sets<S: SetSpec>() -> impl Iterator<Item = ([u8; 16], &'static str)> {
            Preset::<S>::readable().map(|preset| (preset.fingerprint(), preset.name))
        }
        let mut all: Vec<([u8; 16], &str)> = sets::<ShipSpec>().collect();
        all.extend(sets::<ConventionalSpec>());
        all.extend(sets::<MsbSpec>());
        all.extend(sets::<BgvSpec>());
        all.extend(sets::<CggiSpec>());
        all.extend(sets::<LinkSpec<Reduction>>());
        all.extend(sets::<LinkSpec<RootsSpec>>());
        all.extend(cggi_peer_presets().iter().map(|preset| (preset.fingerprint(), preset.name)));
        assert_names(&all);
        for (fingerprint, name) in all {
            assert_eq!(set_name(&fingerprint), name);
        }
    }

    #[test]
    fn what_belongs_to_two_sets_is_refused_by_their_names() {
        let seed = Seed::from_bytes([1; 32]);
        let [small, large] = ["toy-msb10", "toy-msb11"].map(|name| {
            let params = msb_preset(name).unwrap().params().unwrap();
            MsbSecretKey::generate(&params, &seed)
        });
        let x = small.encrypt_numbers(&[0.5], SlotMode::Real, 3, &seed).unwrap();
        let y = large.encrypt_numbers(&[0.5], SlotMode::Real, 3, &seed).unwrap();
        let evaluator = CkksEvaluator::new(small.params().ckks());
        for (refused, repair) in [
            (large.decrypt(&x).err(), "use the key that encrypted it"),
            (evaluator.add(&x, &y).err(), "encrypt both with the same set"),
            (evaluator.rescale(&y).err(), "use the evaluator of the set that encrypted it"),
        ] {
            let error = refused.unwrap();
            assert!(
                error.problem().contains("toy-msb10") && error.problem().contains("toy-msb11"),
                "{error}"
            );
            assert_eq!((error.code(), error.repair()), ("PARAMS_MISMATCH", Some(repair)), "{error}");
        }
        let other = MsbSecretKey::generate(small.params(), &Seed::from_bytes([2; 32]));
        let error = other.decrypt(&x).err().unwrap();
        assert!(error.problem().starts_with("ciphertext under key"), "{error}");
        let error = ConventionalPreset::by_fingerprint(&x.fingerprint()).unwrap_err();
        assert!(error.problem().ends_with("toy-msb10 is none"), "{error}");
    }

    /// The bits that SECURITY.md says remain of released numbers: of a single number, and of a number in every slot.
    #[test]
    fn releases_leave_the_bits_that_are_stated() {
        let budget = ReleaseBudget::default();
        let seed = Seed::from_bytes([1; 32]);
        let left = |error: f64, numbers: usize| -libm::log2(error * budget.factor(numbers));
        for (name, [one, all]) in [
            ("n15", [false, false]),
            ("n16", [true, false]),
            ("n16-sparse", [true, false]),
            ("n16-precise", [true, false]),
        ] {
            let params = conventional_preset(name).unwrap().params().unwrap();
            let error = ConventionalSecretKey::generate(&params, &seed).largest_error(false).unwrap();
            let bits = left(error, 1);
            assert!(if one { (3.0..4.0).contains(&bits) } else { bits < 1.0 }, "{name}: {bits}");
            assert_eq!(left(error, params.slots()) >= 1.0, all, "{name}");
        }
        let params = msb_preset("msb16").unwrap().params().unwrap();
        let error = MsbSecretKey::generate(&params, &seed).largest_error(false).unwrap();
        assert_eq!([1, params.slots()].map(|numbers| left(error, numbers) as u32), [9, 1]);
    }
}
