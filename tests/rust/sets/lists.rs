//! The descriptions of all named sets: what they say is what the wire, the parameters and the tables say.

use std::collections::BTreeSet;

use refloat::bootstrapping::bgv::BgvPreset;
use refloat::bootstrapping::cggi::CggiPreset;
use refloat::bootstrapping::ckks_conventional::ConventionalPreset;
use refloat::bootstrapping::ckks_msb::MsbPreset;
use refloat::bootstrapping::ckks_ship::ShipPreset;
use refloat::bootstrapping::method::{ParamSet, Preset, Promise, Scheme, SetInfo, SlotMode};
use refloat::bootstrapping::scheme_switching::{DigitLinkPreset, LinkPreset};
use refloat::schemes::cggi::CggiParams;
use refloat::schemes::ckks::{CkksContext, Scale};
use refloat::wire::{WireWord, bgv_ciphertext_len, cggi_ciphertexts_len, ciphertext_len};

/// Checks what holds for every set, and gives its description.
fn described<P: ParamSet>(preset: &Preset<P::Spec>, params: &P) -> SetInfo {
    let info = preset.describe(params);
    let name = preset.name;
    assert_eq!((info.name.as_str(), info.source.as_str()), (name, preset.source));
    assert_eq!((info.promise(), info.secure), (preset.promise(), preset.secure()), "{name}");
    let hex = format!("{:032x}", u128::from_be_bytes(preset.fingerprint()));
    assert_eq!(info.fingerprint, hex, "{name}");
    assert!((info.security_bits > 0.0 || !info.secure) && !info.security_statement.is_empty(), "{name}");
    assert_eq!(info.successor.is_some(), Preset::<P::Spec>::named(name).is_err(), "{name}");
    assert_eq!(info.parts, info.key_parts.len(), "{name}");
    let bytes: usize = info.key_parts.iter().map(|part| part.bytes).sum();
    assert_eq!(info.key_bytes, bytes as u64, "{name}");
    assert!(info.key_parts.iter().enumerate().all(|(at, part)| part.index == at), "{name}");
    assert!(info.expanded_key_bytes > info.key_bytes && !info.stages.is_empty(), "{name}");
    assert_eq!(info.ciphertext_bytes.len(), info.max_level + 1, "{name}");
    info
}

fn lengths<W: WireWord>(context: &CkksContext<W>) -> Vec<usize> {
    (0..=context.rlwe().max_level()).map(|level| ciphertext_len(context, level, 2)).collect()
}

#[test]
fn descriptions_say_what_the_parameters_are() {
    let mut names = BTreeSet::new();
    let mut ckks = |info: &SetInfo, lengths: Vec<usize>, scale: Scale| {
        assert!(names.insert(info.name.clone()), "{}: two sets of one name", info.name);
        assert_eq!((info.scheme, &info.ciphertext_bytes), (Scheme::Ckks, &lengths), "{}", info.name);
        let Promise::Precision { worst, mean, .. } = info.promise() else { panic!("{}", info.name) };
        // Encoding alone rounds every coefficient to an integer, which leaves no more bits than this.
        let left = scale.log2() - f64::from(info.slots.ilog2()) / 2.0 + 1.0;
        assert!(
            mean.unwrap_or(worst).max(worst) < left,
            "{} promises more than the {left:.1} bits of its scale",
            info.name
        );
        // A digit in the largest base may leave no level for a product.
        let products = usize::from(info.method != "ckks-msb");
        assert!(info.output_level >= info.input_level + products, "{}", info.name);
    };
    for preset in ShipPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        let info = described(preset, &params);
        assert_eq!((info.mode, info.key_bytes), (params.mode(), params.key_bytes()));
        ckks(&info, lengths(params.ckks()), params.scale());
    }
    for preset in ConventionalPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        let info = described(preset, &params);
        assert_eq!(info.facts[1].value, params.levels().left().to_string());
        ckks(&info, lengths(params.ckks()), params.scale());
    }
    for preset in MsbPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        let info = described(preset, &params);
        assert_eq!(info.facts[2].value, params.levels().left().to_string());
        ckks(&info, lengths(params.ckks()), params.scale());
    }
    for preset in LinkPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        assert_eq!(params.ckks().security().policy, preset.policy, "{}", preset.name);
        ckks(&described(preset, &params), lengths(params.ckks().ckks()), params.ckks().scale());
    }
    for preset in DigitLinkPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        assert_eq!(params.ckks().security().policy, preset.policy, "{}", preset.name);
        ckks(&described(preset, &params), lengths(params.ckks().ckks()), params.ckks().scale());
    }
    for preset in BgvPreset::readable() {
        let params = preset.params().unwrap();
        assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
        let info = described(preset, &params);
        let (context, modulus) = (params.context(), params.messages().value());
        let lengths: Vec<usize> =
            (0..=info.max_level).map(|level| bgv_ciphertext_len(context, level, 2)).collect();
        assert_eq!((info.scheme, info.mode, info.modulus), (Scheme::Bgv, SlotMode::Integers, Some(modulus)));
        assert_eq!((&info.ciphertext_bytes, info.numbers()), (&lengths, params.n()));
        assert_eq!((info.slots, info.slot_degree), (context.slots(), Some(context.slot_degree())));
        assert_eq!(info.facts[0].value, (info.output_level - info.input_level).to_string());
        assert!(names.insert(info.name.clone()), "{}: two sets of one name", info.name);
    }
    for preset in CggiPreset::readable() {
        let info = if preset.wide() { gates::<u64>(preset) } else { gates::<u32>(preset) };
        assert!(names.insert(info.name.clone()), "{}: two sets of one name", info.name);
    }
    assert!(names.len() > 50, "{names:?}");
}

fn gates<W: WireWord>(preset: &CggiPreset) -> SetInfo {
    let params: CggiParams<W> = preset.params_over().unwrap();
    assert_eq!(params.security().policy, preset.policy, "{}", preset.name);
    let info = described(preset, &params);
    assert_eq!((info.scheme, info.ciphertext_bytes[0]), (Scheme::Cggi, cggi_ciphertexts_len(&params, 1)));
    assert_eq!(info.gates.as_ref().unwrap().messages, params.spec().messages);
    info
}
