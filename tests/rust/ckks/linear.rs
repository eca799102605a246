//! Laws of linear transforms of encrypted slots.

use refloat::Error;
use refloat::arith::Word;
use refloat::circuits::linear_transform::{
    BabyGiantSteps, Compositions, Diagonals, LinearTransform, PlaintextStorage, coeffs_to_slots_stages,
    slots_to_coeffs_stages,
};
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat_tests::chain::{Chain, distance, some_slots};

const N: usize = 1 << 9;
const SLOTS: usize = N / 2;

fn wide() -> Chain<u64> {
    Chain::new(N, &[55.0, 45.0, 45.1, 44.9, 45.2], &[50.0, 50.1], 2, Scale::exp2(45.0))
}

fn narrow() -> Chain<u32> {
    Chain::new(N, &[30.9, 28.0, 28.1, 27.9], &[30.8, 30.7], 1, Scale::exp2(28.0))
}

/// A matrix with the given diagonals.
fn matrix(slots: usize, shifts: &[i64], seed: u64) -> Diagonals {
    let mut out = Diagonals::new(slots).unwrap();
    for (i, &k) in shifts.iter().enumerate() {
        out.insert(k, some_slots(slots, seed + i as u64)).unwrap();
    }
    out
}

fn transform<W: Word>(
    chain: &Chain<W>,
    matrix: &Diagonals,
    level: usize,
    storage: PlaintextStorage,
) -> LinearTransform<W> {
    let scale = Scale::product(chain.context.rlwe().spec().levels[level].iter().copied());
    LinearTransform::new(&chain.context, matrix, level, scale, storage).unwrap()
}

fn apply<W: Word>(chain: &Chain<W>, transform: &LinearTransform<W>, x: &Ciphertext<W>) -> Ciphertext<W> {
    let keys = chain.galois_keys(&transform.rotations());
    transform.apply(&chain.evaluator, x, &keys).unwrap()
}

fn check<W: Word>(chain: &Chain<W>, shifts: &[i64], slots: usize, tolerance: f64) {
    let level = chain.context.rlwe().max_level();
    let matrix = matrix(slots, shifts, 5);
    let input: Vec<Complex> = some_slots(slots, 99).iter().cycle().take(SLOTS).copied().collect();
    let expected = matrix.repeated(SLOTS).unwrap().apply(&input).unwrap();
    let x = chain.encrypt(&input, level);
    let of = |storage| apply(chain, &transform(chain, &matrix, level, storage), &x);
    let y = of(PlaintextStorage::Evaluated);
    let error = distance(&chain.decrypt(&y), &expected);
    assert!(error < tolerance, "{shifts:?}: {error}");
    // The scale is the input's: the diagonals' is the prime of the level.
    assert_eq!(y.level(), level - 1);
    assert!(y.scale().matches(x.scale()));
    let same = of(PlaintextStorage::Coefficients);
    assert!(same.parts().iter().zip(y.parts()).all(|(p, q)| p.data() == q.data()), "{shifts:?}");
}

#[test]
fn a_transform_is_its_matrix() {
    let wide = wide();
    for shifts in [
        &[0][..],
        &[3],
        &[-2, 0, 5, 6, 100],
        &[-31, -30, -29, -3, -1, 0, 1, 2, 4, 31],
        &(-15..=15).map(|k| 8 * k).collect::<Vec<_>>(),
    ] {
        check(&wide, shifts, SLOTS, 1e-8);
    }
    check(&narrow(), &[-2, 0, 5, 6, 100], SLOTS, 1e-2);
}

/// With keys of powers of two alone, and of one more rotation: the same map, and bit for bit whatever the storage.
#[test]
fn rotations_may_be_composed_of_others() {
    fn check<W: Word>(chain: &Chain<W>, slots: usize, shifts: &[i64], tolerance: f64) {
        let level = chain.context.rlwe().max_level();
        let matrix = matrix(slots, shifts, 5);
        let keys = chain.galois_keys(&[1, 2, 4, 8, 16, 32, 64, 128, -2]);
        let input: Vec<Complex> = some_slots(slots, 99).iter().cycle().take(SLOTS).copied().collect();
        let expected = matrix.repeated(SLOTS).unwrap().apply(&input).unwrap();
        let x = chain.encrypt(&input, level);
        let of = |storage| {
            let transform = transform(chain, &matrix, level, storage);
            let powers = |step: i64| {
                let places = step.rem_euclid(SLOTS as i64);
                (0..8).map(|log| 1 << log).filter(|power| places & power != 0).collect::<Vec<i64>>()
            };
            let steps = transform.rotations().into_iter().filter(|&step| step != -2);
            let compositions = steps.map(|step| (step, powers(step))).collect();
            transform.apply_composed(&chain.evaluator, &x, &keys, &compositions).unwrap()
        };
        let y = of(PlaintextStorage::Evaluated);
        assert_eq!(y.level(), level - 1);
        assert!(y.scale().matches(x.scale()));
        let error = distance(&chain.decrypt(&y), &expected);
        assert!(error < tolerance, "{shifts:?}: {error}");
        let same = of(PlaintextStorage::Coefficients);
        assert!(same.parts().iter().zip(y.parts()).all(|(p, q)| p.data() == q.data()), "{shifts:?}");
    }
    check(&wide(), SLOTS, &[-2, 0, 5, 6, 100], 1e-8);
    check(&wide(), 16, &[-3, 0, 1, 7, 8], 1e-8);
    check(&narrow(), SLOTS, &[-2, 0, 5], 1e-2);
    let chain = wide();
    let transform = transform(&chain, &matrix(SLOTS, &[3], 5), 4, PlaintextStorage::Evaluated);
    let (x, keys) = (chain.encrypt(&some_slots(SLOTS, 3), 4), chain.galois_keys(&[1]));
    let refused = transform.apply_composed(&chain.evaluator, &x, &keys, &Compositions::new());
    assert!(matches!(refused, Err(Error::MissingKey(_))));
}

#[test]
fn fewer_slots_repeat() {
    check(&wide(), &[-3, 0, 1, 7, 8], 16, 1e-8);
}

#[test]
fn slots_become_coefficients_and_come_back() {
    let chain = wide();
    let input = some_slots(SLOTS, 4);
    let fresh = chain.encrypt(&input, 4);
    let stages = |matrices: Vec<Diagonals>, mut x: Ciphertext<u64>| {
        for matrix in matrices {
            x = apply(&chain, &transform(&chain, &matrix, x.level(), PlaintextStorage::Evaluated), &x);
        }
        x
    };
    let there = stages(slots_to_coeffs_stages(SLOTS, 2).unwrap(), fresh);
    // Coefficient k pairs with k + N/2 to the input in bit-reversed order.
    let w = chain.context.encoder().coefficients(&chain.decrypt(&there)).unwrap();
    for (k, z) in input.iter().enumerate() {
        let reversed = k.reverse_bits() >> (usize::BITS - SLOTS.trailing_zeros());
        let error = (Complex::new(w[reversed], w[reversed + SLOTS]) - *z).abs();
        assert!(error < 1e-7, "slot {k}: {error}");
    }
    let back = stages(coeffs_to_slots_stages(SLOTS, 2).unwrap(), there);
    let error = distance(&chain.decrypt(&back), &input);
    assert!(error < 1e-7, "{error}");
    assert_eq!(back.level(), 0);
}

#[test]
fn threads_do_not_change_a_bit() {
    let chain = wide();
    let matrix = matrix(SLOTS, &[-2, 0, 5, 6, 100], 5);
    let x = chain.encrypt(&some_slots(SLOTS, 3), 4);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| apply(&chain, &transform(&chain, &matrix, 4, PlaintextStorage::Evaluated), &x))
    };
    let (one, three) = (on(1), on(3));
    assert!(one.parts().iter().zip(three.parts()).all(|(p, q)| p.data() == q.data()));
}

#[test]
fn what_does_not_fit_is_named() {
    let chain = wide();
    let small = matrix(SLOTS, &[0, 1, 2, 3], 5);
    let new = |matrix: &Diagonals, level| {
        LinearTransform::new(&chain.context, matrix, level, chain.scale, PlaintextStorage::Evaluated)
            .map(|_| ())
    };
    assert!(matches!(new(&small, 0), Err(Error::LevelMismatch(_))));
    assert!(matches!(new(&small, 9), Err(Error::LevelMismatch(_))));
    assert!(matches!(new(&Diagonals::new(SLOTS).unwrap(), 2), Err(Error::InvalidArgument(_))));
    assert!(matches!(new(&matrix(N, &[0], 1), 2), Err(Error::InvalidArgument(_))));
    let transform = transform(&chain, &small, 2, PlaintextStorage::Evaluated);
    let (x, keys) = (chain.encrypt(&[], 2), chain.galois_keys(&[1]));
    let missing = transform.apply(&chain.evaluator, &x, &keys);
    let Err(Error::MissingKey(message)) = missing else { panic!("a key is missing") };
    assert!(message.contains("rotation by 2"), "{message}");
    assert_eq!(transform.rotations(), BabyGiantSteps::of(&[0, 1, 2, 3], SLOTS).rotations());
    let low = chain.encrypt(&[], 1);
    let all = chain.galois_keys(&transform.rotations());
    assert!(matches!(transform.apply(&chain.evaluator, &low, &all), Err(Error::LevelMismatch(_))));
}
