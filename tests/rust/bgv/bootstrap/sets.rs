//! What sets promise, and sets that do not fit.

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvParams, BgvPreset, BgvSpec};
use refloat::bootstrapping::method::Promise;
use refloat_tests::bgv::tiny;

use super::refusal;

#[test]
fn sets_hold_what_they_promise() {
    for preset in BgvPreset::all() {
        let params = preset.params().expect("a preset");
        let (name, failure) = (preset.name, params.log2_failure());
        assert!(failure <= preset.promised && failure > preset.promised - 1.0, "{name}: 2^{failure:.2}");
        assert_eq!(preset.promise(), Promise::Exact { log_failure: preset.promised });
        assert!(!preset.secure() || params.security().bits >= 128.0, "{name}");
        assert_eq!(
            preset.secure(),
            !name.starts_with("toy-") && !preset.title.contains("INSECURE"),
            "{name}"
        );
        // A policy that claims security does not take a set that fails more often than once in 2^128 bootstraps.
        for bound in [0, 2, 14] {
            let mut spec = (preset.spec)();
            spec.bound = bound;
            match BgvParams::<u64>::new(&spec) {
                Ok(params) => assert!(!preset.secure() && params.log2_failure() > -128.0),
                Err(Error::Insecure(text)) => {
                    assert!(
                        preset.secure() && text.contains("wrong slot") && text.contains("larger bound"),
                        "{text}"
                    );
                }
                Err(error) => panic!("{name}, digits up to {bound}: {error}"),
            }
        }
    }
    let bgv15 = BgvPreset::named("bgv15").expect("a set").params().expect("a preset");
    assert_eq!((bgv15.n(), bgv15.levels().left(), bgv15.galois_elements().count()), (32768, 5, 46));
    assert!((bgv15.log_qp() - 865.93).abs() < 0.01 && (bgv15.log_q0_p() - 85.0).abs() < 0.01);
    let large = BgvPreset::named("bgv16-786433").expect("a set").params().expect("a preset");
    assert_eq!((large.n(), large.levels().left(), large.removal().degree()), (65536, 9, 61));
    assert_eq!((large.messages().value(), large.raised().value()), (786_433, 786_433 * 786_433));
}

#[test]
fn sets_that_do_not_fit_are_named() {
    let refused = |change: &dyn Fn(&mut BgvSpec)| {
        let mut spec = tiny(15);
        change(&mut spec);
        refusal(&spec)
    };
    assert!(refused(&|spec| spec.bound = 129).contains("bound below 257/2"));
    assert!(refused(&|spec| spec.digit_exponent = 0).contains("exponent"));
    assert!(refused(&|spec| spec.prime = 193).contains("1 modulo 128"));
    assert!(refused(&|spec| spec.chain.n = 4).contains("from 8"));
    for weight in [0, 65, u32::MAX] {
        assert!(refused(&|spec| spec.ephemeral.weight = weight).contains(&format!("weight {weight} ")));
    }
    assert!(refused(&|spec| spec.chain.levels[0].push(1)).contains("level 0 has 2 primes"));
    assert!(refused(&|spec| spec.coeffs_to_slots = 7).contains("stages"));
    assert!(refused(&|spec| spec.slots_to_coeffs = 5).contains("at least one level more"));
    for stages in [usize::MAX, 0] {
        refused(&|spec| spec.slots_to_coeffs = stages);
        refused(&|spec| spec.coeffs_to_slots = stages);
    }
    refused(&|spec| spec.digit_exponent = u32::MAX);
    refused(&|spec| spec.exponent = u32::MAX);
    // Levels 0 and 3 in each other's place: a q0 too small for the noise of a message.
    assert!(refused(&|spec| spec.chain.levels.swap(0, 3)).contains("larger q0"));
    // Levels whose primes are too small for their stage, from the lowest product to the top.
    let primes = refloat_tests::rns::primes(64, &[15.0, 22.0, 20.0]);
    let levels = *BgvParams::<u64>::new(&tiny(15)).expect("sound").levels();
    for (level, prime, words) in [
        (levels.input + 1, primes[0], "for products modulo 257^1"),
        (levels.output, primes[0], "for products modulo 257^1"),
        (levels.output + 1, primes[1], "for the removal modulo 257^2"),
        (levels.removal, primes[1], "for the removal modulo 257^2"),
        (levels.removal + 1, primes[2], "coefficients-to-slots"),
        (levels.coeffs_to_slots, primes[2], "coefficients-to-slots"),
    ] {
        let text = refused(&|spec| spec.chain.levels[level] = vec![prime]);
        assert!(text.contains(words) && text.contains("larger prime"), "level {level}: {text}");
    }
    // Digits of 0 alone are removed by the identity; a secret of weight 32 has others, as often as it says.
    let mut spec = tiny(15);
    spec.bound = 0;
    assert!(BgvParams::<u64>::new(&spec).expect("sound").log2_failure() > 0.0);
    let taken = tiny(15).chain.levels[4][0];
    assert!(refused(&|spec| spec.prime = taken).contains("prime of the chain"));
}
