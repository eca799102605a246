//! Linear maps of BGV slots on ciphertexts: against the matrix in the clear, and their noise against its law.

use refloat::Error;
use refloat::arith::Word;
use refloat::circuits::linear_transform::{
    IntegerTransform, PlaintextStorage, SlotMatrix, Step, integer_coeffs_to_slots_stages,
    integer_slots_to_coeffs_stages,
};
use refloat::rlwe::GaloisKeys;
use refloat::schemes::bgv::{BgvCiphertext, PrimePower};
use refloat_tests::bgv::{BgvChain, SAMPLES, log_deviation};
use refloat_tests::embedding;
use refloat_tests::rns::Lottery;

const N: usize = 64;
const COLUMNS: usize = N / 2;

/// The primes of the highest level are so small that the noise of a map is above that of a rounding.
fn of_p() -> BgvChain<u64> {
    BgvChain::new(N, (&[50.0, 40.0, 17.5], &[50.5], 1), (65537, 1, 1))
}

fn of_p_squared() -> BgvChain<u64> {
    BgvChain::new(N, (&[50.0, 40.0, 17.5], &[50.5], 1), (257, 2, 2))
}

fn narrow() -> BgvChain<u32> {
    BgvChain::new(N, (&[30.5, 30.6, 17.5], &[30.7], 1), (257, 2, 2))
}

fn random(ring: PrimePower, lottery: &mut Lottery) -> Vec<u64> {
    (0..N).map(|_| lottery.word() % ring.value()).collect()
}

/// Random diagonals that repeat after `period` entries of each row.
fn matrix(ring: PrimePower, steps: &[(i64, bool)], period: usize, lottery: &mut Lottery) -> SlotMatrix {
    let mut out = SlotMatrix::new(ring, COLUMNS).expect("a power of two");
    for &(rotation, inverted) in steps {
        let all = random(ring, lottery);
        let repeated: Vec<u64> = (0..N).map(|i| all[i / COLUMNS * COLUMNS + i % COLUMNS % period]).collect();
        out.add(Step { rotation, inverted }, &repeated).expect("reduced");
    }
    out
}

fn keys<W: Word>(chain: &BgvChain<W>, transform: &IntegerTransform<W>) -> GaloisKeys<W> {
    chain.keys_of(transform.steps().keys().into_iter().map(|step| step.element(N)))
}

fn apply<W: Word>(
    chain: &BgvChain<W>,
    transform: &IntegerTransform<W>,
    x: &BgvCiphertext<W>,
    keys: &GaloisKeys<W>,
) -> BgvCiphertext<W> {
    transform.apply(&chain.evaluator, x, keys).expect("all keys, and room")
}

/// Checks that the map is that of the matrix, its gain that of its diagonals, and its noise below what is carried along. Also
/// returns the sum of the squares of the coefficients of all diagonals, by which the variance of coefficients grows.
fn check<W: Word>(chain: &BgvChain<W>, matrix: &SlotMatrix, period: usize) -> (IntegerTransform<W>, f64) {
    let (ring, top, mut lottery) = (matrix.ring(), chain.top(), Lottery::new(61));
    assert_eq!(matrix.period(), period);
    let new = |storage| IntegerTransform::new(&chain.context, matrix, top, storage).expect("it fits");
    let transform = new(PlaintextStorage::Evaluated);
    let keys = keys(chain, &transform);
    for i in 0..3 {
        let message = random(ring, &mut lottery);
        let x = chain.encrypt(&message, top, i);
        let y = apply(chain, &transform, &x, &keys);
        assert_eq!((y.level(), y.ring()), (top - 1, ring));
        assert_eq!(chain.decrypt(&y), matrix.apply(&message).expect("all slots"), "period {period}");
        let same = apply(chain, &new(PlaintextStorage::Coefficients), &x, &keys);
        assert!(same.parts().iter().zip(y.parts()).all(|(a, b)| a.data() == b.data()));
        let largest = embedding::slots(&chain.noise(&y)).iter().map(|z| z.norm()).fold(0.0, f64::max);
        assert!(largest <= 2.0 * y.noise(), "an embedding of {largest}, an estimate of {}", y.noise());
    }
    // The gain by definition.
    let encoder = chain.context.modulus(ring.exponent()).expect("a power of the set").encoder();
    let (mut squares, mut embeddings) = (0.0, vec![0.0; COLUMNS]);
    let largest_terms = matrix.steps().len() <= 4 || period == 1;
    for step in matrix.steps() {
        let diagonal: Vec<f64> = encoder
            .encode(matrix.get(step).expect("one of them"))
            .expect("reduced")
            .into_iter()
            .map(|c| c as f64)
            .collect();
        squares += diagonal.iter().map(|c| c * c).sum::<f64>();
        embeddings
            .iter_mut()
            .zip(embedding::slots(&diagonal))
            .for_each(|(sum, z)| *sum += if largest_terms { z.norm() } else { z.norm_sqr() });
    }
    let largest = embeddings.into_iter().fold(0.0, f64::max);
    let largest = if largest_terms { largest } else { largest.sqrt() };
    let gain = transform.gain();
    assert!((gain.embedding / largest - 1.0).abs() < 1e-6, "{} {largest}", gain.embedding);
    assert_eq!(gain.giant_steps, transform.steps().giants().len());
    (transform, squares)
}

/// {1, -1} x {5^k}.
fn signed(rotations: impl Iterator<Item = i64>) -> Vec<(i64, bool)> {
    rotations.flat_map(|k| [(k, false), (k, true)]).collect()
}

fn maps<W: Word>(chain: &BgvChain<W>) {
    let (ring, mut lottery) = (chain.context.message_modulus().ring(), Lottery::new(62));
    for steps in [
        vec![(0, false)],
        vec![(0, true)],
        vec![(3, false), (-4, true), (16, true)],
        signed(-2..=3),
        signed((0..8).map(|k| 4 * k)),
    ] {
        // All at once, and as runs of equal values, longer than a line of words and shorter.
        for period in [COLUMNS, 8, 2, 1] {
            check(chain, &matrix(ring, &steps, period, &mut lottery), period);
        }
    }
    for stages in [
        integer_slots_to_coeffs_stages(ring, COLUMNS, 2).expect("a prime that splits"),
        integer_coeffs_to_slots_stages(ring, COLUMNS, 3).expect("a prime that splits"),
    ] {
        for stage in stages {
            check(chain, &stage, stage.period());
        }
    }
}

#[test]
fn maps_are_those_of_the_slots() {
    maps(&of_p());
    maps(&of_p_squared());
    maps(&narrow());
}

#[test]
fn noise_of_maps_follows_its_law() {
    // Keys, and ciphertexts under each.
    let keys_of_one = 8;
    let each = SAMPLES.div_ceil(N * keys_of_one) as u64;
    for one in [of_p(), of_p_squared()] {
        let (ring, top, mut lottery) = (one.context.message_modulus().ring(), one.top(), Lottery::new(63));
        let chains: Vec<_> = (0..keys_of_one).map(|key| BgvChain::seeded(&one.context, key as u8)).collect();
        for (steps, period) in
            [(signed(-4..=3), COLUMNS), (signed(0..16), 4), (vec![(0, false), (1, false)], COLUMNS)]
        {
            let matrix = matrix(ring, &steps, period, &mut lottery);
            let (transform, squares) = check(&one, &matrix, period);
            let gain = transform.gain();
            let mut noise = Vec::new();
            for chain in &chains {
                let keys = keys(chain, &transform);
                for i in 0..each {
                    let x = chain.encrypt(&random(ring, &mut lottery), top, i);
                    noise.extend(chain.noise(&apply(chain, &transform, &x, &keys)));
                }
            }
            assert!(noise.len() >= SAMPLES);
            let model = one.context.noise();
            let square = |noise: f64| model.deviation(noise).powi(2);
            let prime = one.context.rlwe().spec().levels[top][0] as f64;
            // Of baby steps all but the identity switch a key; a giant step switches one, and rounds one component.
            let fresh = 10.5 + 1.0 / 12.0;
            let before = squares * (fresh + square(model.key_switch(top)));
            let giants = gain.giant_steps as f64 * (square(model.key_switch(top)) + square(model.rounding()));
            let law = 0.5 * ((before + giants) / (prime * prime) + square(model.rounding())).log2();
            let found = log_deviation(&noise);
            assert!((found - law).abs() < 0.3, "{steps:?}, {period}: 2^{found:.2}, the law says 2^{law:.2}");
            assert!(before / (prime * prime) > square(model.rounding()), "a law of more than a rounding");
        }
    }
}

#[test]
fn few_and_uneven_diagonals_have_their_own_gain() {
    let chain = of_p();
    let ring = chain.context.message_modulus().ring();
    // A polynomial with all coefficients about P/2: as large as any in one embedding.
    let half = ring.value() / 2;
    let slots =
        chain.context.message_modulus().encoder().decode(vec![half; N]).expect("as many as the degree");
    let mut spike = SlotMatrix::new(ring, COLUMNS).expect("a power of two");
    spike.add(Step::IDENTITY, &slots).expect("reduced");
    let (transform, squares) = check(&chain, &spike, spike.period());
    let deviations = transform.gain().embedding / squares.sqrt();
    assert!(deviations > 0.6 * (N as f64).sqrt(), "{deviations}");
    // Rotate and add: diagonals of ones gain no more than their number, and noise that is the same under all rotations gains that much.
    let mut sum = SlotMatrix::new(ring, COLUMNS).expect("a power of two");
    for k in 0..4 {
        sum.add(Step::rotation(k), &[1; N]).expect("reduced");
    }
    assert!((check(&chain, &sum, 1).0.gain().embedding - 4.0).abs() < 1e-6);
}

/// The sum over all rotations leaves noise that is the same under every rotation, so the second sum multiplies it by their number.
#[test]
fn sums_in_a_row_stay_below_their_estimates() {
    let chain = BgvChain::<u64>::new(N, (&[50.0, 17.5, 17.6, 17.7], &[50.5], 1), (257, 1, 1));
    let ring = chain.context.message_modulus().ring();
    let mut sum = SlotMatrix::new(ring, COLUMNS).expect("a power of two");
    for k in 0..COLUMNS {
        sum.add(Step::rotation(k as i64), &[1; N]).expect("reduced");
    }
    let mut message = random(ring, &mut Lottery::new(66));
    let mut x = chain.encrypt(&message, chain.top(), 1);
    // Far above what roundings add, so that nothing else is seen.
    for _ in 0..9 {
        x = chain.evaluator.multiply_integer(&x, 128).expect("room");
        for m in &mut message {
            *m = ring.mul(*m, 128);
        }
    }
    let mut ratios = Vec::new();
    for level in (1..=chain.top()).rev() {
        let transform = IntegerTransform::new(&chain.context, &sum, level, PlaintextStorage::Evaluated);
        let transform = transform.expect("it fits");
        x = apply(&chain, &transform, &x, &keys(&chain, &transform));
        message = sum.apply(&message).expect("all slots");
        assert_eq!(chain.decrypt(&x), message, "after the sum at level {level}");
        let largest = embedding::slots(&chain.noise(&x)).iter().map(|z| z.norm()).fold(0.0, f64::max);
        assert!(largest <= x.noise(), "an embedding of {largest}, an estimate of {}", x.noise());
        ratios.push(largest / x.noise());
    }
    // What repeats grows as estimated: the first sum leaves less than its estimate, and the others keep the ratio.
    assert!(ratios[1..].iter().all(|ratio| (ratio / ratios[0] - 1.0).abs() < 0.1), "{ratios:?}");
}

#[test]
fn a_diagonal_that_almost_repeats_is_not_cut_short() {
    let chain = of_p();
    let (ring, mut lottery) = (chain.context.message_modulus().ring(), Lottery::new(64));
    let steps = [(0, false), (1, true)];
    for place in [COLUMNS - 1, COLUMNS, N - 1] {
        let mut matrix = matrix(ring, &steps, 2, &mut lottery);
        let mut entry = vec![0; N];
        entry[place] = 1;
        matrix.add(Step { rotation: 1, inverted: true }, &entry).expect("reduced");
        check(&chain, &matrix, COLUMNS);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let chain = of_p_squared();
    let (ring, top, mut lottery) = (chain.context.message_modulus().ring(), chain.top(), Lottery::new(65));
    let new = |matrix: &SlotMatrix, level| {
        IntegerTransform::new(&chain.context, matrix, level, PlaintextStorage::Evaluated)
    };
    let one = matrix(ring, &[(0, false), (1, false)], COLUMNS, &mut lottery);
    assert!(matches!(new(&one, 0), Err(Error::LevelMismatch(_))));
    assert!(matches!(new(&one, top + 1), Err(Error::LevelMismatch(_))));
    let empty = SlotMatrix::new(ring, COLUMNS).expect("a power of two");
    let fewer = SlotMatrix::new(ring, COLUMNS / 2).expect("a power of two");
    let other = SlotMatrix::new(PrimePower::new(193, 2).expect("a prime"), COLUMNS).expect("a power of two");
    for matrix in [empty, fewer, other] {
        assert!(matches!(new(&matrix, top), Err(Error::InvalidArgument(_))));
    }
    let transform = new(&one, top).expect("it fits");
    let (keys, x) = (keys(&chain, &transform), chain.encrypt(&[1, 2], top, 1));
    let apply = |x: &BgvCiphertext<u64>, keys: &GaloisKeys<u64>| {
        transform.apply(&chain.evaluator, x, keys).expect_err("refused")
    };
    let low = chain.evaluator.drop_to_level(&x, top - 1).expect("lower");
    assert!(matches!(apply(&low, &keys), Error::LevelMismatch(_)));
    let smaller = chain.evaluator.divide_by_prime(&x, 1).expect("a power of the set");
    assert!(matches!(apply(&smaller, &keys), Error::PlaintextMismatch(_)));
    let product = chain.evaluator.tensor(&x, &x).expect("room");
    assert!(matches!(apply(&product, &keys), Error::InvalidArgument(_)));
    let Error::MissingKey(text) = apply(&x, &chain.galois_keys(&[2])) else { panic!("no key") };
    assert!(text.contains("rotation by 1"), "{text}");
    // Noise that the map would lift over the modulus.
    let mut noisy = x;
    while noisy.capacity() > 10.0 {
        noisy = chain.evaluator.multiply_integer(&noisy, 16).expect("room");
    }
    let Error::Limit(text) = apply(&noisy, &keys) else { panic!("too much noise") };
    assert!(text.contains("bootstrap first"), "{text}");
}
