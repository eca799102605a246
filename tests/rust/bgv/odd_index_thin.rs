//! Thin BGV bootstrapping in rings of odd index: every stage as the holder of the key sees it, chains, refusals.

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvParams, BgvRun, BgvSpec, BgvState};
use refloat::schemes::bgv::Factor;
use refloat::schemes::evaluator::Label;
use refloat_tests::bgv::odd_index;
use refloat_tests::keyed_bgv::{KeyedBgv, Refreshes};

/// Index, p and the exponent of messages: slots that one automorphism turns, slots that it does not, and messages modulo a square; then
/// a larger ring for each of the latter two.
const SETS: [(u64, u64, u32); 5] =
    [(215, 8191, 1), (205, 8191, 1), (129, 257, 2), (291, 65537, 1), (301, 127, 2)];

fn keyed(place: (u64, u64, u32)) -> KeyedBgv<u64> {
    KeyedBgv::new(&odd_index(place, false))
}

#[test]
fn stages_do_what_they_say() {
    for place in SETS {
        let set = keyed(place);
        let (params, context) = (&set.params, set.params.context());
        let (messages, raised) = (params.messages(), params.raised());
        let integers = set.integers(1);
        let coordinates = set.coordinates(&integers);
        let x = set.encrypt(&coordinates, params.levels().input, 1);
        let mut run = BgvRun::new(&set.bootstrapper, &x).expect("a ciphertext of the set");
        let mut digits = Vec::new();
        let mut seen = Vec::new();
        while !run.step(&set.keys, &mut ()).expect("a sound set") {
            match run.state() {
                BgvState::Base(x) => {
                    let found = set.coefficients(x);
                    assert_eq!(set.in_slots(&found), integers, "{place:?}");
                    assert_eq!(
                        found.iter().filter(|&&c| c != 0).count(),
                        integers.iter().filter(|&&c| c != 0).count()
                    );
                    seen.push("base");
                }
                BgvState::Prepared(x) => {
                    let q0 = i128::from(params.spec().chain.levels[0][0]);
                    let phase =
                        set.secret.decrypt_prepared(x).expect("our own").reveal_to_key_owner().clone();
                    assert_eq!(phase.len(), params.n());
                    digits = phase.iter().map(|x| (2 * x + q0).div_euclid(2 * q0) as i64).collect();
                    assert!(digits.iter().all(|i| i.unsigned_abs() <= 9) && digits.iter().any(|&i| i != 0));
                    seen.push("prepared");
                }
                BgvState::Raised(x, factor) => {
                    // I + p y, y = f m / q0.
                    let base = Factor::new(params.spec().chain.levels[0][0], raised).expect("a unit");
                    let unit = factor.modulo(raised.exponent()).expect("a unit").div(base).value();
                    let found = set.in_slots(&set.coefficients(x));
                    let expected =
                        set.in_slots(&digits.iter().map(|&i| raised.reduce_signed(i)).collect::<Vec<_>>());
                    for ((found, low), &m) in found.iter().zip(expected).zip(&integers) {
                        let multiple = raised.mul(raised.mul(unit, m), messages.prime());
                        assert_eq!(*found, raised.add(low, multiple), "{place:?}");
                    }
                    digits = found.iter().map(|&x| x as i64).collect();
                    seen.push("raised");
                }
                BgvState::Slots(x, _) => {
                    let all: Vec<u64> = digits.iter().map(|&x| x as u64).collect();
                    let modulus = context.modulus(raised.exponent()).expect("a power");
                    assert_eq!(set.decrypt(x), modulus.encoder().coordinates_of(&all), "{place:?}");
                    seen.push("slots");
                }
                _ => panic!("no stage of a thin bootstrap"),
            }
        }
        assert_eq!(seen, ["base", "prepared", "raised", "slots"]);
        let out = run.finish().expect("finished");
        assert_eq!((set.decrypt(&out), out.level()), (coordinates, params.levels().output));
    }
}

/// Bootstraps, and between two of them rotations of slots, squares and a sum, in the clear as under encryption.
fn stays_right(place: (u64, u64, u32), rounds: u64) {
    let set = keyed(place);
    let (levels, context, ring) = (*set.params.levels(), set.params.context(), set.params.messages());
    assert!(levels.left() >= 2);
    let bgv = set.bootstrapper.bgv();
    let cube = context.hypercube().expect("an odd index");
    let [_, columns] = cube.dimensions();
    let mut integers = set.integers(2);
    let mut x = set.encrypt(&set.coordinates(&integers), levels.output, 2);
    let mut refreshes = Refreshes::new(&set, 2.1);
    for round in 0..rounds {
        // By powers of two along both dimensions, which have keys. Along a dimension that is not good, slots that wrap around it need a
        // second key, which the set lacks.
        x = bgv.rotate_dimension(&x, 0, 1, &set.keys).expect("a key");
        integers.rotate_left(columns);
        if cube.is_good(1) {
            x = bgv.rotate_dimension(&x, 1, 2, &set.keys).expect("a key");
            integers.chunks_mut(columns).for_each(|row| row.rotate_left(2));
        }
        while x.level() > levels.input {
            x = set.square(&x);
            integers = integers.iter().map(|&m| ring.mul(m, m)).collect();
        }
        // Squares alone would end as 0 and 1.
        let shift = set.integers(100 + round);
        x = bgv.add_plain(&x, &set.coordinates(&shift)).expect("slots");
        integers = set.sum(&integers, &shift);
        x = refreshes.refresh(&x, &set.coordinates(&integers));
    }
    // In a ring with axes this short, one secret may be half a bit off.
    refreshes.check_noise(0.6);
}

#[test]
fn a_hundred_bootstraps_with_arithmetic_between_stay_right() {
    for (i, place) in SETS.into_iter().enumerate() {
        stays_right(place, if i < 3 { 100 } else { 10 });
    }
}

#[test]
#[ignore = "seconds"]
fn a_hundred_bootstraps_of_larger_rings_stay_right() {
    for &place in &SETS[3..] {
        stays_right(place, 100);
    }
}

#[test]
fn sets_that_do_not_fit_are_refused() {
    let spec = |change: &dyn Fn(&mut BgvSpec)| {
        let mut spec = odd_index(SETS[0], false);
        change(&mut spec);
        BgvParams::<u64>::new(&spec)
    };
    assert!(spec(&|_| ()).is_ok());
    assert!(spec(&|spec| spec.slots_to_coeffs = 1).is_err());
    assert!(spec(&|spec| spec.coeffs_to_slots = 3).is_err());
    assert!(spec(&|spec| spec.ephemeral.weight = 0).is_err());
    assert!(spec(&|spec| spec.ephemeral.weight = 169).is_err());
    assert!(spec(&|spec| spec.prime = 127).is_err());
    let target = spec(&|_| ()).expect("a sound set").program_target();
    assert!(matches!(target, Err(Error::InvalidArgument(_))));
}
