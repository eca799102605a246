//! What does not fit is refused, and every named set fits.

use refloat::Error;
use refloat::bootstrapping::scheme_switching::{
    LinkEvaluator, LinkKeys, LinkParams, LinkPreset, LinkSpec, Range,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, Encoding};
use refloat::schemes::ckks::{Ciphertext, Scale};

use super::setup::{encrypt, make, world};

#[test]
fn what_does_not_fit_is_refused() {
    let (world, other) = (world(), make(77));
    let code = |error: Error| error.code();
    let level = world.params.input_level();
    let x = encrypt(world, &[0.5, 0.25], level, 10);
    let extract =
        |x: &Ciphertext<u64>, slots: &[usize], range| world.evaluator.extract(x, slots, range, &mut ());
    assert_eq!(extract(&x, &[1024], Range::Unit).unwrap_err().code(), "INVALID_ARGUMENT");
    for bits in [0, 11] {
        assert_eq!(extract(&x, &[0], Range::Grid { bits }).unwrap_err().code(), "INVALID_ARGUMENT");
    }
    let low = encrypt(world, &[0.5], level - 1, 11);
    assert_eq!(code(extract(&low, &[0], Range::Unit).unwrap_err()), "LEVEL_MISMATCH");
    let scaled = x.clone().relabelled(Scale::exp2(41.0));
    assert_eq!(code(extract(&scaled, &[0], Range::Unit).unwrap_err()), "SCALE_MISMATCH");
    let foreign = encrypt(&other, &[0.5, 0.25], level, 12);
    assert_eq!(code(extract(&foreign, &[0], Range::Unit).unwrap_err()), "PARAMS_MISMATCH");

    let phases = extract(&x, &[0, 1], Range::Unit).unwrap();
    let theirs = other.evaluator.extract(&foreign, &[0, 1], Range::Unit, &mut ()).unwrap();
    let at_least = |x, y| world.evaluator.at_least(x, y, &mut ()).map(|_| ());
    assert_eq!(code(at_least(&phases[0], &theirs[0]).unwrap_err()), "PARAMS_MISMATCH");
    assert_eq!(code(world.secret.inspect_phase(&theirs[0]).unwrap_err()), "PARAMS_MISMATCH");
    let near = x.clone().relabelled(world.params.ckks().scale().mul(Scale::new(1.0 + 1e-6)));
    let near = extract(&near, &[0], Range::Unit).unwrap();
    assert_eq!(code(at_least(&phases[0], &near[0]).unwrap_err()), "SCALE_MISMATCH");
    let signed = extract(&x, &[0], Range::Signed).unwrap();
    assert_eq!(code(at_least(&phases[0], &signed[0]).unwrap_err()), "INVALID_ARGUMENT");
    for count in [0, 1, 17] {
        let many = vec![phases[0].clone(); count];
        assert_eq!(code(world.evaluator.ranks(&many, &mut ()).unwrap_err()), "INVALID_ARGUMENT");
        assert_eq!(code(world.evaluator.top(&phases, count + 3, &mut ()).unwrap_err()), "INVALID_ARGUMENT");
    }
    assert_eq!(code(world.evaluator.top(&phases, 0, &mut ()).unwrap_err()), "INVALID_ARGUMENT");

    let gates = world.secret.cggi();
    let to_slots = |bits: &[CggiCiphertext<u64>]| world.evaluator.to_slots(bits, &mut ()).map(|_| ());
    assert_eq!(code(to_slots(&[]).unwrap_err()), "INVALID_ARGUMENT");
    let bit = gates.encrypt_bit(true, &Seed::from_bytes([13; 32]));
    assert_eq!(code(to_slots(&vec![bit; 513]).unwrap_err()), "INVALID_ARGUMENT");
    let integers =
        gates.encrypt(Encoding::Padded { messages: 16 }, &[3], &Seed::from_bytes([14; 32])).unwrap();
    assert_eq!(code(to_slots(&integers).unwrap_err()), "INVALID_ARGUMENT");
    let foreign = other.secret.cggi().encrypt_bits(&[true], &Seed::from_bytes([15; 32]));
    assert_eq!(code(to_slots(&foreign).unwrap_err()), "PARAMS_MISMATCH");

    // A grid whose steps the noise of the gates' prime of 30 bits reaches.
    let fine = extract(&x, &[0, 1], Range::Grid { bits: 10 }).unwrap();
    let error = at_least(&fine[0], &fine[1]).unwrap_err();
    assert!(error.code() == "LIMIT" && error.to_string().contains("the noise of a bootstrap"), "{error}");
}

#[test]
fn keys_of_another_set_and_sets_that_do_not_fit_are_refused() {
    let spec = world().params.spec().clone();
    let changed = [
        // Degrees, moduli and secrets in turn.
        (|spec| spec.ckks.log_slots = 9) as fn(&mut LinkSpec<_>),
        |spec| spec.ckks.ephemeral = None,
        |spec| spec.cggi.log_n = 12,
        |spec| spec.prime = 22_806_528,
        |spec| spec.special = spec.prime,
    ];
    for (i, change) in changed.into_iter().enumerate() {
        let mut spec = spec.clone();
        change(&mut spec);
        assert!(LinkParams::new(&spec).is_err(), "{i}");
    }
    // The key from slots to gates has to be as secure as the policy says.
    let strict = (LinkPreset::named("n15+fbs16-50").unwrap()).params().unwrap();
    let mut weak = strict.spec().clone();
    weak.prime = 1_073_479_681;
    let error = LinkParams::new(&weak).err().unwrap();
    assert_eq!(error.code(), "INSECURE", "{error}");

    let mut renumbered = spec;
    renumbered.log_failure = -64.0;
    let other = LinkParams::new(&renumbered).unwrap();
    let keys = LinkKeys::generate(&world().secret).unwrap();
    let error = LinkEvaluator::new(&other, keys, PlaintextStorage::Coefficients).err().unwrap();
    assert_eq!(error.code(), "PARAMS_MISMATCH");
}

#[test]
fn every_named_set_is_sound() {
    for preset in LinkPreset::all() {
        let params = preset.params().unwrap();
        assert_eq!(params.name(), preset.name);
        assert_eq!(params.security().policy.is_secure(), preset.secure());
        assert!(!preset.secure() || params.security().bits >= 128.0, "{}", params.security().bits);
        assert!(params.output_level() >= params.ckks().levels().output, "{}", preset.name);
        assert_eq!(params.most_ranked(), 16);
    }
    assert_eq!(LinkPreset::named("n17").unwrap_err().code(), "INVALID_ARGUMENT");
}
