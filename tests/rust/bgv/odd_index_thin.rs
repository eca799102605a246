//! Thin BGV bootstrapping in rings of odd index: every stage as the holder of the key sees it, chains, refusals.

use refloat::Error;
use refloat::bootstrapping::bgv::{
    BgvBootstrapper, BgvKeys, BgvParams, BgvRun, BgvSecretKey, BgvSpec, BgvState,
};
use refloat::random::Seed;
use refloat::schemes::bgv::{BgvCiphertext, Factor};
use refloat::schemes::evaluator::Label;
use refloat_tests::bgv::{keyed, log_deviation, odd_index};
use refloat_tests::rns::Lottery;

/// Index, p and the exponent of messages: slots that turn by one automorphism, that do not, and messages modulo a square.
const SETS: [(u64, u64, u32); 3] = [(215, 8191, 1), (205, 8191, 1), (129, 257, 2)];

struct Set {
    params: BgvParams<u64>,
    secret: BgvSecretKey<u64>,
    keys: BgvKeys<u64>,
    bootstrapper: BgvBootstrapper<u64>,
}

impl Set {
    fn new(place: (u64, u64, u32)) -> Self {
        let params = BgvParams::new(&odd_index(place, false)).expect("a sound set");
        let (secret, keys, bootstrapper) = keyed(&params, 3);
        Self { params, secret, keys, bootstrapper }
    }

    /// Random integers, as coordinates of slots.
    fn random(&self, seed: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut lottery, modulus) = (Lottery::new(seed), self.params.messages().value());
        let integers: Vec<u64> =
            (0..self.params.context().slots()).map(|_| lottery.word() % modulus).collect();
        let coordinates = self.coordinates(&integers);
        (integers, coordinates)
    }

    fn coordinates(&self, integers: &[u64]) -> Vec<u64> {
        self.params.context().message_modulus().encoder().coordinates_of(integers)
    }

    fn encrypt(&self, message: &[u64], level: usize, randomness: u64) -> BgvCiphertext<u64> {
        let randomness = Seed::from_bytes([4; 32]).derive("test", &[randomness]);
        self.secret.encrypt(message, level, &randomness).expect("slots that fit")
    }

    fn decrypt(&self, x: &BgvCiphertext<u64>) -> Vec<u64> {
        self.secret.decrypt(x).expect("our own").reveal_to_key_owner().clone()
    }

    fn coefficients(&self, x: &BgvCiphertext<u64>) -> Vec<u64> {
        self.secret.decrypt_coefficients(x).expect("our own").reveal_to_key_owner().clone()
    }

    /// The coefficients of `X_1`^i `X_2`^(dj), slot by slot.
    fn in_slots(&self, coefficients: &[u64]) -> Vec<u64> {
        let cube = self.params.context().hypercube().expect("an odd index");
        let ([rows, columns], d) = (cube.dimensions(), cube.slot_degree());
        let place = |i: usize, j: usize| coefficients[i * columns * d + d * j];
        (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| place(i, j)).collect()
    }
}

/// The noise of a stage is not more than it says, but for what varies with a secret in rings this small.
fn check_noise(set: &Set, x: &BgvCiphertext<u64>, stage: &str) {
    let found = log_deviation(set.secret.noise(x).expect("our own").reveal_to_key_owner());
    let said = set.params.context().noise().deviation(x.noise()).log2();
    assert!(found < said + 0.6, "{stage}: noise of 2^{found:.2}, said to be 2^{said:.2}");
}

#[test]
fn stages_do_what_they_say() {
    for place in SETS {
        let set = Set::new(place);
        let (params, context) = (&set.params, set.params.context());
        let (messages, raised) = (params.messages(), params.raised());
        let (integers, coordinates) = set.random(1);
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
                    check_noise(&set, x, "slots to coefficients");
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
                    check_noise(&set, x, "raise");
                    digits = found.iter().map(|&x| x as i64).collect();
                    seen.push("raised");
                }
                BgvState::Slots(x, _) => {
                    let all: Vec<u64> = digits.iter().map(|&x| x as u64).collect();
                    let modulus = context.modulus(raised.exponent()).expect("a power");
                    assert_eq!(set.decrypt(x), modulus.encoder().coordinates_of(&all), "{place:?}");
                    check_noise(&set, x, "coefficients to slots");
                    seen.push("slots");
                }
                _ => panic!("no stage of a thin bootstrap"),
            }
        }
        assert_eq!(seen, ["base", "prepared", "raised", "slots"]);
        let out = run.finish().expect("finished");
        assert_eq!((set.decrypt(&out), out.level()), (coordinates, params.levels().output));
        check_noise(&set, &out, "removal");
    }
}

/// Between two of them rotations of slots, squares and a sum, in the clear as under encryption.
#[test]
fn a_hundred_bootstraps_with_arithmetic_between_stay_right() {
    for place in SETS {
        let set = Set::new(place);
        let (levels, context, ring) = (*set.params.levels(), set.params.context(), set.params.messages());
        assert!(levels.left() >= 2);
        let (bgv, model) = (set.bootstrapper.bgv(), context.noise());
        let cube = context.hypercube().expect("an odd index");
        let [_, columns] = cube.dimensions();
        let (mut integers, coordinates) = set.random(2);
        let mut x = set.encrypt(&coordinates, levels.output, 2);
        let (mut noise, mut estimate) = (Vec::new(), f64::NEG_INFINITY);
        for round in 0..100 {
            // By powers of two along both dimensions, which have keys. Along a dimension that is not good, slots that wrap around it need a
            // second key, which the set lacks.
            x = bgv.rotate_dimension(&x, 0, 1, &set.keys).expect("a key");
            integers.rotate_left(columns);
            if cube.is_good(1) {
                x = bgv.rotate_dimension(&x, 1, 2, &set.keys).expect("a key");
                integers.chunks_mut(columns).for_each(|row| row.rotate_left(2));
            }
            while x.level() > levels.input {
                x = set.bootstrapper.multiply(&x, &x, &set.keys).expect("a level");
                integers = integers.iter().map(|&m| ring.mul(m, m)).collect();
            }
            // Squares alone would end as 0 and 1.
            let (shift, coordinates) = set.random(100 + round);
            x = bgv.add_plain(&x, &coordinates).expect("slots");
            integers.iter_mut().zip(&shift).for_each(|(m, &s)| *m = ring.add(*m, s));
            x = set.bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("a sound set");
            assert_eq!(set.decrypt(&x), set.coordinates(&integers), "{place:?}, bootstrap {round}");
            assert_eq!((x.level(), x.factor().value()), (levels.output, 1));
            assert!(x.noise() < 2.1 * model.rounding(), "{place:?}: the estimate stays at the floor");
            noise.extend(set.secret.noise(&x).expect("our own").reveal_to_key_owner().iter().copied());
            estimate = estimate.max(model.deviation(x.noise()).log2());
        }
        // One secret in a ring of axes this short makes half a bit more or less of it.
        let found = log_deviation(&noise);
        assert!(found < estimate + 0.6, "{place:?}: noise of 2^{found:.2}, said to be 2^{estimate:.2}");
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
