//! General BGV bootstrapping in rings of odd index: every stage as the holder of the key sees it, and chains.

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvParams, BgvRun, BgvSpec, BgvState, published_sets};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::schemes::bgv::Factor;
use refloat::schemes::bgv::slots::GaloisRing;
use refloat::schemes::evaluator::Label;
use refloat::security::SecurityPolicy;
use refloat::wire::{bgv_ciphertext_from_bytes, bgv_ciphertext_len, bgv_ciphertext_to_bytes};
use refloat_tests::bgv::odd_index;
use refloat_tests::keyed_bgv::{KeyedBgv, Refreshes};

/// Index, p and the exponent of messages: slots that turn by one automorphism, that do not, and messages modulo a square.
const SETS: [(u64, u64, u32); 3] = [(215, 8191, 1), (205, 8191, 1), (129, 257, 2)];

fn keyed(place: (u64, u64, u32)) -> KeyedBgv<u64> {
    KeyedBgv::new(&odd_index(place, true))
}

#[test]
fn stages_do_what_they_say() {
    for place in SETS {
        let set = keyed(place);
        let (params, context) = (&set.params, set.params.context());
        let (messages, raised, d) = (params.messages(), params.raised(), context.slot_degree());
        let message = set.random(1);
        let x = set.encrypt(&message, params.levels().input, 1);
        let plain = set.coefficients(&x);
        let mut run = BgvRun::new(&set.bootstrapper, &x).expect("a ciphertext of the set");
        let (mut coefficients, mut seen) = (Vec::new(), Vec::new());
        while !run.step(&set.keys, &mut ()).expect("a sound set") {
            match run.state() {
                BgvState::Prepared(_) => seen.push("prepared"),
                BgvState::Raised(x, factor) => {
                    // I + p y, y = f m / q0, in every coefficient.
                    let base = Factor::new(params.spec().chain.levels[0][0], messages).expect("a unit");
                    let unit = factor.div(base);
                    coefficients = set.coefficients(x);
                    for (&found, &m) in coefficients.iter().zip(&plain) {
                        let multiple = raised.mul(raised.mul(unit.value(), m), messages.prime());
                        let low = raised.centered(raised.sub(found, multiple));
                        assert!(low.unsigned_abs() <= 9, "{place:?}: {low}");
                    }
                    assert_eq!(coefficients.len(), params.n());
                    seen.push("raised");
                }
                BgvState::Slots(..) => seen.push("slots"),
                BgvState::Unpacked(all, _) => {
                    // Coefficient (i, dj + k) in slot (i, j) of ciphertext k, an integer.
                    let encoder = context.modulus(raised.exponent()).expect("a power").encoder();
                    for (k, x) in all.iter().enumerate() {
                        let own: Vec<u64> = coefficients.iter().skip(k).step_by(d).copied().collect();
                        assert_eq!(set.decrypt(x), encoder.coordinates_of(&own), "{place:?}, coordinate {k}");
                    }
                    assert_eq!(all.len(), d);
                    seen.push("unpacked");
                }
                BgvState::Removed(_) => seen.push("removed"),
                _ => panic!("no stage of a general bootstrap"),
            }
        }
        assert_eq!(seen, ["prepared", "raised", "slots", "unpacked", "removed"]);
        let out = run.finish().expect("finished");
        assert_eq!((set.decrypt(&out), out.level()), (message, params.levels().output), "{place:?}");
        assert_eq!(out.factor().value(), 1);
        // Diagonals whose repeated words are kept once, and those evaluated from coefficients.
        let frugal = BgvBootstrapper::new(params, PlaintextStorage::Coefficients).expect("a sound set");
        assert!(frugal.memory_bytes() <= set.bootstrapper.memory_bytes());
        let again = frugal.bootstrap(&x, &set.keys, &mut ()).expect("a sound set");
        assert!(again.parts().iter().zip(out.parts()).all(|(x, y)| x.data() == y.data()), "{place:?}");
    }
}

/// Between two of them a rotation of slots, the Frobenius automorphism of each, squares and a sum, in the clear as under encryption.
#[test]
fn a_hundred_bootstraps_with_arithmetic_between_stay_right() {
    for place in SETS {
        let set = keyed(place);
        let (levels, context) = (*set.params.levels(), set.params.context());
        let (bgv, encoder) = (set.bootstrapper.bgv(), context.message_modulus().encoder());
        let cube = context.hypercube().expect("an odd index");
        let (d, [_, columns]) = (cube.slot_degree(), cube.dimensions());
        let galois = GaloisRing::new(set.params.messages(), (columns * d + 1) as u64).expect("a ring");
        let mut message = set.random(2);
        let mut x = set.encrypt(&message, levels.output, 2);
        let mut refreshes = Refreshes::new(&set, 2.1);
        for round in 0..100 {
            x = bgv.rotate_dimension(&x, 0, 1, &set.keys).expect("a key");
            x = bgv.frobenius(&x, 1, &set.keys).expect("a key");
            message.rotate_left(columns * d);
            message = message.chunks(d).flat_map(|slot| galois.frobenius(slot, 1)).collect();
            while x.level() > levels.input {
                x = set.square(&x);
                message = encoder.multiply(&message, &message).expect("whole slots");
            }
            // Squares of some slots would all end as the same.
            let shift = set.random(100 + round);
            x = bgv.add_plain(&x, &shift).expect("slots");
            message = set.sum(&message, &shift);
            x = refreshes.refresh(&x, &message);
        }
        // One secret in a ring of axes this short makes half a bit more or less of it.
        refreshes.check_noise(0.6);
    }
}

/// Zeros that fill up rows stay where they are.
#[test]
fn ciphertexts_go_over_the_wire_without_what_fills_up_their_rows() {
    let set = keyed(SETS[2]);
    let (context, message) = (set.params.context(), set.random(3));
    let x = set.encrypt(&message, 2, 3);
    let bytes = bgv_ciphertext_to_bytes(context, &x).expect("of the set");
    let bits: u64 = context.rlwe().q(2).primes().map(|q| u64::from(64 - (q - 1).leading_zeros()) * 84).sum();
    assert_eq!(bytes.len(), bgv_ciphertext_len(context, 2, 2));
    assert!((bytes.len() as u64) < 2 * bits.div_ceil(8) + 256 && context.rlwe().width() > 84);
    let back = bgv_ciphertext_from_bytes::<u64>(context, &bytes).expect("what was written");
    assert_eq!(set.decrypt(&back), message);
    let same = x.parts().iter().zip(back.parts()).all(|(x, y)| x.data() == y.data());
    assert!(same);
}

/// What a title and the documents say of the sets, without their keys.
#[test]
fn published_sets_are_what_they_say() {
    // Slots, integers of a slot, degree of the removal, and log2 QP as published.
    let published = [
        ("I-A", [1540, 24, 81], 1462.0),
        ("II-A", [1224, 45, 127], 2253.0),
        ("III-A", [1932, 28, 133], 2176.0),
        ("IV-A", [3150, 14, 93], 1803.0),
        ("IV-A-thin", [3150, 14, 93], 1803.0),
        ("IV-A-source", [3150, 14, 93], 1803.0),
        ("IV-B", [3150, 14, 2023], 1803.0),
        ("IV-B-thin", [3150, 14, 2023], 1803.0),
        ("V-A", [2784, 18, 93], 2036.0),
        ("V-A-thin", [2784, 18, 93], 2036.0),
        ("V-A-source", [2784, 18, 93], 2036.0),
        ("V-B", [2784, 18, 2207], 2036.0),
        ("V-B-thin", [2784, 18, 2207], 2036.0),
        // Ours at 128 bits, in a ring of degree 2^15 or more.
        ("V-A-128", [2784, 18, 217], 810.0),
        // Of these two nothing but the slots is published.
        ("m21845", [1024, 16, 8], f64::INFINITY),
        ("m21845-thin", [1024, 16, 8], f64::INFINITY),
    ];
    let sets = published_sets();
    assert_eq!(sets.iter().map(|set| set.name).collect::<Vec<_>>(), published.map(|(name, ..)| name));
    for (set, (name, numbers, log_qp)) in sets.iter().zip(published) {
        let params = set.params().expect(name);
        let slots = params.context().slots();
        assert_eq!([slots, params.n() / slots, params.removal().degree()], numbers, "{name}");
        println!(
            "{name}: log2 QP {:.1}, log2 q0 R {:.1}, failure 2^{:.1}, keys {:.2} GB",
            params.log_qp(),
            params.log_q0_p(),
            params.log2_failure(),
            params.expanded_key_bytes() as f64 / 1e9
        );
        assert!(params.log_qp() <= log_qp, "{name}: no less secure than published");
        assert!(params.log2_failure() <= set.promised, "{name}");
        assert_eq!(set.title.starts_with("INSECURE"), !set.secure(), "{name}");
        assert!(!set.secure() || (params.security().bits >= 128.0 && name == "V-A-128"), "{name}");
    }
}

/// A policy that claims security takes a set of odd index as it takes others: with as few wrong slots, and only where they have a bound.
#[test]
fn what_claims_security_has_few_wrong_slots() {
    let named = |name| published_sets().iter().find(|set| set.name == name).expect("a set");
    let refused = |spec: &BgvSpec| match BgvParams::<u64>::new(spec) {
        Err(Error::Insecure(text)) => text,
        other => panic!("{:?}", other.map(|_| ())),
    };
    let mut spec = (named("V-A-128").spec)();
    spec.bound = 53;
    assert!(refused(&spec).contains("wrong slot"));
    spec.bound = 54;
    // A larger modulus than a ring of the next lower power of two may have.
    spec.chain.special.push(spec.chain.levels[1][0] + 2);
    let text = refused(&spec);
    assert!(text.contains("main secret") && text.contains("bound of 810"), "{text}");
    let mut spec = (named("m21845").spec)();
    spec.chain.policy = SecurityPolicy::Strict128;
    let text = refused(&spec);
    assert!(text.contains("three primes") && text.contains("take an index of two primes"), "{text}");
}
