//! A matrix times encrypted numbers.
//!
//!     cargo run --release -p refloat --features parallel --example 09_matrix_vector
//!
//! Slots are multiplied and rotated, so a matrix acts through its diagonals: y_i = sum_k D_k[i] x_(i+k). A dense matrix
//! of 256 rows has 256 of them, for which baby and giant steps need about 2 sqrt(256) rotations, each with a key of its
//! own; the transform says which ones. Digits are decomposed once for all baby steps, and one division ends the
//! computation: one level for the whole matrix.

use refloat::{
    Error,
    circuits::linear_transform::{Diagonals, LinearTransform, PlaintextStorage},
    random::Seed,
    schemes::ckks::{CkksEvaluator, CkksSecretKey, CkksSpec, Complex, Scale},
    security::SecurityPolicy,
};

const N: usize = 1 << 13;
const ROWS: usize = 256;

/// A lowest level of 50 bits, two more of 40, and a special prime of 51.
const CHAIN: CkksSpec = CkksSpec {
    n: N,
    log_base: 50.0,
    log_scale: 40.0,
    levels: 2,
    log_special: 51.0,
    policy: SecurityPolicy::Strict128,
};

fn main() -> Result<(), Error> {
    let context = CHAIN.context::<u64>()?;
    println!("{}\n", context.rlwe().security().statement);
    let rlwe = context.rlwe();
    let secret = CkksSecretKey::generate(&context, &Seed::random()?);
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

    let keys = secret.galois_keys(&rotations, false, top)?;
    let x: Vec<Complex> = (0..ROWS).map(|i| Complex::new((i as f64 / 20.0).sin(), 0.0)).collect();
    let repeated: Vec<Complex> = x.iter().cycle().take(context.slots()).copied().collect();
    let encrypted = secret.encrypt(&repeated, top, Scale::exp2(CHAIN.log_scale), &Seed::random()?)?;

    let product = transform.apply(&evaluator, &encrypted, &keys)?;
    println!("level {} -> {}", encrypted.level(), product.level());

    let found = secret.decrypt(&product)?;
    let expected = matrix.apply(&x)?;
    let off = |i: usize| (found.reveal_to_key_owner()[i] - expected[i]).abs();
    let worst = (0..ROWS).map(off).fold(0.0, f64::max);
    println!("largest difference from the product in the clear: {worst:.1e}");
    assert!(worst < 1e-6);
    Ok(())
}
