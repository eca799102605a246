//! General BGV bootstrapping in rings of odd index: every stage as the holder of the key sees it, and chains.

use refloat::Error;
use refloat::bootstrapping::bgv::{
    BgvBootstrapper, BgvParams, BgvRun, BgvSpec, BgvState, COEFFS_TO_SLOTS, DIGIT_REMOVAL, MOD_RAISE,
    PREPARE, SLOTS_TO_COEFFS, UNPACK, published_sets,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::schemes::bgv::slots::GaloisRing;
use refloat::schemes::bgv::{BgvCiphertext, Factor, PrimePower};
use refloat::security::SecurityPolicy;
use refloat::wire::{bgv_ciphertext_from_bytes, bgv_ciphertext_len, bgv_ciphertext_to_bytes};
use refloat_tests::bgv::odd_index;
use refloat_tests::keyed_bgv::{KeyedBgv, Refreshes};

/// Index, p and the exponent of messages: slots that one automorphism turns, slots that it does not, and messages modulo a square; then
/// a larger ring for each of the latter two.
const SETS: [(u64, u64, u32); 5] =
    [(215, 8191, 1), (205, 8191, 1), (129, 257, 2), (291, 65537, 1), (301, 127, 2)];

fn keyed(place: (u64, u64, u32)) -> KeyedBgv<u64> {
    KeyedBgv::new(&odd_index(place, true))
}

/// The slots of X_2^k modulo a power of p.
fn power_of_second(set: &KeyedBgv<u64>, ring: PrimePower, k: usize) -> Vec<u64> {
    let mut coefficients = vec![0; set.params.n()];
    coefficients[k] = 1;
    let modulus = set.params.context().modulus(ring.exponent()).expect("a power");
    modulus.encoder().decode(coefficients).expect("as many as the degree")
}

/// One bootstrap in steps, each against exact arithmetic; returns what comes out.
fn follow(set: &KeyedBgv<u64>, x: &BgvCiphertext<u64>, message: &[u64]) -> BgvCiphertext<u64> {
    let (params, context, levels) = (&set.params, set.params.context(), set.params.levels());
    let (small, large, d) = (params.messages(), params.raised(), context.slot_degree());
    let (q0, step) = (i128::from(params.spec().chain.levels[0][0]), i128::from(small.prime()));
    let plain = set.coefficients(x);
    // Integers in slots, of all that belong to coordinate k.
    let integers = |all: &[u64], ring: PrimePower, k: usize| {
        let own: Vec<u64> = all.iter().skip(k).step_by(d).copied().collect();
        context.modulus(ring.exponent()).expect("a power").encoder().coordinates_of(&own)
    };
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("a ciphertext of the set");

    set.advance(&mut run, PREPARE);
    let BgvState::Prepared(prepared) = run.state() else { panic!("under the ephemeral secret") };
    let phase = set.secret.decrypt_prepared(prepared).expect("our own").reveal_to_key_owner().clone();
    let modulo = |x: i128, ring: PrimePower| x.rem_euclid(ring.value().into()) as u64;
    let digit = |x: i128| (2 * x + q0).div_euclid(2 * q0);
    for (&x, &m) in phase.iter().zip(&plain) {
        let rest = x - q0 * digit(x);
        assert!(digit(x).abs() <= i128::from(params.spec().bound), "a digit of {}", digit(x));
        assert_eq!(rest % step, 0, "p m'");
        assert_eq!(modulo(rest / step, small), small.mul(m, prepared.factor().value()), "m' is f m");
    }
    let low: Vec<i64> = phase.iter().map(|&x| digit(x) as i64).collect();
    assert_eq!(set.digits(&run, false, &plain), low);
    assert!(low.iter().any(|&i| i != 0));

    set.advance(&mut run, MOD_RAISE);
    let BgvState::Raised(raised, _) = run.state() else { panic!("raised") };
    let over_q0 = large.inverse(modulo(q0, large)).expect("a unit");
    let expected: Vec<u64> = phase.iter().map(|&x| large.mul(modulo(x, large), over_q0)).collect();
    assert_eq!((set.coefficients(raised), raised.level()), (expected.clone(), levels.coeffs_to_slots));

    // Coefficient (i, dj + k) is the trace of X_2^k times slot (i, j).
    set.advance(&mut run, COEFFS_TO_SLOTS);
    let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
    let [_, columns] = context.hypercube().expect("an odd index").dimensions();
    let galois = GaloisRing::new(large, (columns * d + 1) as u64).expect("a ring");
    let trace = |slot: &[u64]| {
        (0..d).fold(galois.integer(0), |sum, power| galois.add(&sum, &galois.frobenius(slot, power)))
    };
    let encoder = context.modulus(large.exponent()).expect("a power").encoder();
    let found = set.decrypt(slots);
    for k in 0..d {
        let products = encoder.multiply(&power_of_second(set, large, k), &found).expect("whole slots");
        let traces: Vec<u64> = products.chunks(d).flat_map(trace).collect();
        assert_eq!(traces, integers(&expected, large, k), "coordinate {k}");
    }
    assert_eq!(slots.level(), levels.removal);

    set.advance(&mut run, UNPACK);
    let BgvState::Unpacked(all, _) = run.state() else { panic!("unpacked") };
    assert_eq!(all.len(), d);
    for (k, x) in all.iter().enumerate() {
        assert_eq!((x.level(), x.ring()), (levels.removal, large), "unpacking takes no level");
        assert_eq!(set.decrypt(x), integers(&expected, large, k), "coordinate {k} as an integer");
    }

    // The sum of all coordinates, each times X_2^k.
    set.advance(&mut run, DIGIT_REMOVAL);
    let BgvState::Removed(removed) = run.state() else { panic!("removed") };
    assert_eq!((removed.level(), removed.ring()), (levels.slots_to_coeffs, small));
    let encoder = context.message_modulus().encoder();
    let packed = (0..d).fold(vec![0; params.n()], |sum, k| {
        let power = power_of_second(set, small, k);
        set.sum(&sum, &encoder.multiply(&power, &integers(&plain, small, k)).expect("whole slots"))
    });
    assert_eq!(set.decrypt(removed), packed, "the low digit is gone");

    set.advance(&mut run, SLOTS_TO_COEFFS);
    assert!(run.next_stage().is_none());
    let out = run.finish().expect("finished");
    assert_eq!((set.coefficients(&out), set.decrypt(&out)), (plain, message.to_vec()));
    assert_eq!((out.level(), out.factor()), (levels.output, Factor::one(small)));
    out
}

#[test]
fn every_stage_is_what_exact_arithmetic_gives() {
    for place in SETS {
        let set = keyed(place);
        let (params, encoder) = (&set.params, set.params.context().message_modulus().encoder());
        let mut message = set.random(1);
        let mut x = set.encrypt(&message, params.levels().output, 1);
        let fresh = follow(&set, &x, &message);
        // Diagonals whose repeated words are kept once, and those evaluated from coefficients.
        let frugal = BgvBootstrapper::new(params, PlaintextStorage::Coefficients).expect("a sound set");
        assert!(frugal.memory_bytes() <= set.bootstrapper.memory_bytes());
        let again = frugal.bootstrap(&x, &set.keys, &mut ()).expect("a sound set");
        assert!(again.parts().iter().zip(fresh.parts()).all(|(x, y)| x.data() == y.data()), "{place:?}");
        // At every level, and with factors that are not 1.
        while x.level() > params.levels().input {
            x = set.square(&x);
            message = encoder.multiply(&message, &message).expect("whole slots");
            assert_ne!(x.factor(), Factor::one(x.ring()));
            follow(&set, &x, &message);
        }
    }
}

/// Bootstraps, and between two of them a rotation of slots, the Frobenius automorphism of each, squares and a sum, in the clear as under
/// encryption.
fn stays_right(place: (u64, u64, u32), rounds: u64) {
    let set = keyed(place);
    let (levels, context) = (*set.params.levels(), set.params.context());
    let (bgv, encoder) = (set.bootstrapper.bgv(), context.message_modulus().encoder());
    let cube = context.hypercube().expect("an odd index");
    let (d, [_, columns]) = (cube.slot_degree(), cube.dimensions());
    let galois = GaloisRing::new(set.params.messages(), (columns * d + 1) as u64).expect("a ring");
    let mut message = set.random(2);
    let mut x = set.encrypt(&message, levels.output, 2);
    let mut refreshes = Refreshes::new(&set, 2.1);
    for round in 0..rounds {
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
    // In a ring with axes this short, one secret may be half a bit off.
    refreshes.check_noise(0.6);
}

#[test]
fn a_hundred_bootstraps_with_arithmetic_between_stay_right() {
    for (i, place) in SETS.into_iter().enumerate() {
        stays_right(place, if i < 3 { 100 } else { 5 });
    }
}

#[test]
#[ignore = "a quarter of a minute"]
fn a_hundred_bootstraps_of_larger_rings_stay_right() {
    for &place in &SETS[3..] {
        stays_right(place, 100);
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
        ("I-A-thin", [1540, 24, 81], 1462.0),
        ("II-A", [1224, 45, 127], 2253.0),
        ("II-A-thin", [1224, 45, 127], 2253.0),
        ("III-A", [1932, 28, 133], 2176.0),
        ("III-A-thin", [1932, 28, 133], 2176.0),
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
        ("V-A-128-thin", [2784, 18, 217], 810.0),
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
        assert!(!set.secure() || (params.security().bits >= 128.0 && name.starts_with("V-A-128")), "{name}");
    }
}

/// A policy that claims security accepts a set of odd index as it does others: with as few wrong slots, and only where they have a bound.
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
