//! A matrix times encrypted numbers.
//!
//!     cargo run --release -p refloat --features parallel --example 09_matrix_vector
//!
//! Slots are multiplied and rotated, so a matrix acts through its diagonals: y_i = sum_k D_k[i] x_(i+k). A dense
//! matrix of 256 rows has 256 of them, and baby and giant steps need about two square roots of that many rotations, each
//! with a key of its own; which ones, the transform says. Digits are decomposed once for all baby steps, and one
//! division ends it: one level for the whole matrix.

use refloat::{
    Error,
    arith::primes::ntt_primes,
    circuits::linear_transform::{Diagonals, LinearTransform, PlaintextStorage},
    random::Seed,
    ring::GaloisElement,
    rlwe::{GaloisKeys, KeySeeds, RlweSpec, SecretKey},
    schemes::ckks::{CkksContext, CkksEvaluator, Complex, Scale, decrypt_slots, encrypt},
    security::{SecretDistribution, SecurityPolicy},
    trace::Counters,
};

const N: usize = 1 << 13;
const ROWS: usize = 256;

/// A lowest level of 50 bits, two more of 40, and a special prime of 51.
fn chain() -> RlweSpec {
    let first = |bits: f64, count: usize| ntt_primes(bits, 2 * N as u64).take(count);
    let levels: Vec<Vec<u64>> = first(50.0, 1).chain(first(40.0, 2)).map(|p| vec![p]).collect();
    let digits = (0..levels.len()).map(|i| vec![i]).collect();
    let (secret, policy) = (SecretDistribution::Ternary, SecurityPolicy::Strict128);
    RlweSpec { n: N, odd_part: 1, levels, special: first(51.0, 1).collect(), digits, secret, policy }
}

fn main() -> Result<(), Error> {
    let context: CkksContext<u64> = CkksContext::from_spec(&chain())?;
    println!("{}\n", context.rlwe().security().statement);
    let rlwe = context.rlwe();
    let (secret, key_id, scale) = (SecretKey::generate(rlwe, &Seed::random()?), [1; 16], Scale::exp2(40.0));
    let evaluator = CkksEvaluator::new(&context);

    // A rotation by five degrees in the plane, in each of 128 planes, mixed by a few neighbours.
    let (sin, cos) = 5f64.to_radians().sin_cos();
    let entry = |i: usize, j: usize| match (i / 2 == j / 2, i % 2, j % 2) {
        (true, 0, 1) => -sin,
        (true, 1, 0) => sin,
        (true, ..) => cos,
        _ => 0.05 / (1.0 + i.abs_diff(j) as f64),
    };
    let rows: Vec<Vec<Complex>> =
        (0..ROWS).map(|i| (0..ROWS).map(|j| Complex::new(entry(i, j), 0.0)).collect()).collect();
    let matrix = Diagonals::from_rows(&rows)?;

    // A matrix of fewer rows than slots acts on numbers that repeat.
    let top = rlwe.max_level();
    let primes = Scale::product(rlwe.spec().levels[top].iter().copied());
    let transform = LinearTransform::new(&context, &matrix, top, primes, PlaintextStorage::Evaluated)?;
    let rotations = transform.rotations();
    println!("{ROWS} diagonals, {} rotations: {rotations:?}\n", rotations.len());

    let mut keys = GaloisKeys::new(N);
    let seeds = KeySeeds::derive(&Seed::random()?);
    for &steps in &rotations {
        let g = GaloisElement::rotation(steps, N);
        keys.insert(rlwe, g, secret.galois_key(rlwe, &seeds, top, g))?;
    }

    let x: Vec<Complex> = (0..ROWS).map(|i| Complex::new((i as f64 / 20.0).sin(), 0.0)).collect();
    let repeated: Vec<Complex> = x.iter().cycle().take(context.slots()).copied().collect();
    let encrypted = encrypt(&context, &secret, key_id, &repeated, top, scale, &Seed::random()?)?;

    let mut counters = Counters::default();
    let product = transform.apply(&evaluator, &encrypted, &keys, &mut counters)?;
    println!(
        "level {} -> {}, {} transforms, {} key switches",
        encrypted.level(),
        product.level(),
        counters.ntt,
        counters.key_switch
    );

    let found = decrypt_slots(&context, &secret, key_id, &product)?;
    let expected = matrix.apply(&x)?;
    let off = |i: usize| (found.reveal_to_key_owner()[i] - expected[i]).abs();
    let worst = (0..ROWS).map(off).fold(0.0, f64::max);
    println!("largest difference from the product in the clear: {worst:.1e}");
    assert!(worst < 1e-6);
    Ok(())
}
