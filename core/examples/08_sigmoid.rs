//! A function of encrypted values: the sigmoid, as a polynomial.
//!
//!     cargo run --release -p refloat --features parallel --example 08_sigmoid
//!
//! CKKS adds and multiplies, so it evaluates polynomials; anything else is fitted by one first. This fits
//! 1/(1 + e^-x) between -8 and 8 in Chebyshev polynomials, says how far off the fit is, encrypts 8192 numbers at
//! 128 bits of security, and evaluates the fit on all of them at once: one level to bring the interval to [-1, 1], and
//! log2(degree + 1) levels, rounded up, for the polynomial. More degrees bring the fit closer, and take more levels.

use refloat::{
    Error,
    arith::DoubleDouble,
    circuits::polynomial::{Parity, Plan, PolynomialEvaluator, minimax},
    random::Seed,
    schemes::ckks::{CkksEvaluator, CkksSecretKey, CkksSpec, Complex, Scale},
    security::SecurityPolicy,
};

const N: usize = 1 << 14;
const INTERVAL: [f64; 2] = [-8.0, 8.0];

/// A lowest level of 55 bits, six more of 40, and a special prime of 56.
const CHAIN: CkksSpec = CkksSpec {
    n: N,
    log_base: 55.0,
    log_scale: 40.0,
    levels: 6,
    log_special: 56.0,
    policy: SecurityPolicy::Strict128,
};

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn main() -> Result<(), Error> {
    let context = CHAIN.context::<u64>()?;
    println!("{}\n", context.rlwe().security().statement);
    let (top, scale) = (context.rlwe().max_level(), Scale::exp2(CHAIN.log_scale));
    let secret = CkksSecretKey::generate(&context, &Seed::random()?);
    let relinearization = secret.relinearization_key(top)?;
    let evaluator = CkksEvaluator::new(&context);
    let polynomials = PolynomialEvaluator::new(&evaluator, &relinearization);

    let [from, to] = INTERVAL;
    let width = (to - from) / (context.slots() - 1) as f64;
    let values: Vec<Complex> =
        (0..context.slots()).map(|k| Complex::new(from + k as f64 * width, 0.0)).collect();
    let x = secret.encrypt(&values, top, scale, &Seed::random()?)?;

    println!(
        "{:>6} {:>12} {:>12} {:>7} {:>12}",
        "degree", "fit is off", "result is", "levels", "key switches"
    );
    for degree in [3, 7, 15, 31] {
        // In double precision, which is plenty for fits of up to 15 bits.
        let f = |x: DoubleDouble| DoubleDouble::new(sigmoid(x.to_f64()));
        let fit = minimax(&f, &[INTERVAL], degree, Parity::General)?;
        let t = polynomials.to_unit_interval(&x, (from, to), scale)?;
        let y = polynomials.evaluate(&fit.polynomial, &t, scale)?;

        let decrypted = secret.decrypt(&y)?;
        let errors =
            decrypted.reveal_to_key_owner().iter().zip(&values).map(|(y, x)| (y.re - sigmoid(x.re)).abs());
        let worst = errors.fold(0.0, f64::max);
        println!(
            "{degree:>6} {:>12.2e} {worst:>12.2e} {:>7} {:>12}",
            fit.error,
            x.level() - y.level(),
            Plan::new(core::slice::from_ref(&fit.polynomial))?.key_switches()
        );
        assert!(worst < fit.error + 1e-5, "the noise shows: {worst}");
    }
    Ok(())
}
