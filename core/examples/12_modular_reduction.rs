//! Modular reduction: encrypted integers refreshed digit by digit, and a histogram of encrypted salaries.
//!
//!     cargo run --release -p refloat --features parallel --example 12_modular_reduction
//!     cargo run --release -p refloat --features parallel --example 12_modular_reduction -- msb16
//!
//! A slot holds a fraction j/T. Moved into coefficients modulo q0 and raised, it is j/T plus an unknown integer, which
//! disappears in e^(2 pi i x); a table looks the lowest digit of j up, it is subtracted, and the next one is read. Every pass
//! leaves the noise of its input behind, so that integers stay exact however often they are refreshed.
//!
//! Then salaries, in units of 100, are sorted into 16 classes: the server takes off a digit in base 64, looks up in which class
//! the rest is, with one table per class, and adds all slots of each. It sees neither a salary nor a count.
//!
//! Without an argument this runs a demonstration size without any security; `msb16` has 128 bits and takes 12 GB of memory.

use std::time::Instant;

use refloat::{
    Error,
    arith::ComplexDoubleDouble,
    bootstrapping::ckks_msb::{MsbEvaluator, MsbKeys, MsbSecretKey, Numbers, Radix, Readout, Rounding},
    circuits::linear_transform::PlaintextStorage,
    params::msb_preset,
    random::Seed,
    rlwe::GaloisSource,
    schemes::ckks::{Ciphertext, Complex},
};

/// Classes, and units of 100 in each.
const CLASSES: u32 = 16;
const WIDTH: u32 = 64;

fn encrypt(secret: &MsbSecretKey, integers: &[u64], modulus: u64) -> Result<Ciphertext<u64>, Error> {
    let fraction = |&j: &u64| Complex::new(j as f64 / modulus as f64, 0.0);
    let slots: Vec<Complex> = integers.iter().map(fraction).collect();
    secret.encrypt(&slots, secret.params().levels().input, &Seed::random()?)
}

fn decrypt(secret: &MsbSecretKey, x: &Ciphertext<u64>) -> Result<Vec<f64>, Error> {
    Ok(secret.decrypt(x)?.reveal_to_key_owner().iter().map(|z| z.re).collect())
}

/// -log2 of the mean and of the largest distance.
fn bits(found: &[f64], wanted: &[f64]) -> [f64; 2] {
    let errors: Vec<f64> = found.iter().zip(wanted).map(|(x, y)| (x - y).abs()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    [mean, errors.iter().copied().fold(0.0, f64::max)].map(|error| -error.log2())
}

/// The sum of all slots, in every slot.
fn sum_of_slots(
    evaluator: &MsbEvaluator,
    keys: &MsbKeys,
    x: &Ciphertext<u64>,
) -> Result<Ciphertext<u64>, Error> {
    let mut sum = x.clone();
    let mut step = 1;
    while step < evaluator.params().slots() {
        let (g, key) = keys.rotation_key(step as i64)?;
        let turned = evaluator.ckks().automorphism(&sum, g, &key)?;
        sum = evaluator.ckks().add(&sum, &turned)?;
        step *= 2;
    }
    Ok(sum)
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-msb11".into());
    let preset = msb_preset(&name)?;
    let params = preset.params()?;
    println!("{name}: {}\n{}", preset.title, params.security().statement);
    println!(
        "{} slots, log2 QP {:.0}, keys of {:.2} GB and {:.2} GB of diagonals\n",
        params.slots(),
        params.log_qp(),
        params.expanded_key_bytes() as f64 / 1e9,
        params.diagonal_bytes(PlaintextStorage::Evaluated) as f64 / 1e9
    );
    let secret = MsbSecretKey::generate(&params, &Seed::random()?);
    let keys = MsbKeys::generate(&secret)?;
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated)?;

    for digits in 1..=3 {
        let radix = Radix::new(&vec![32; digits])?;
        let modulus = radix.modulus();
        let integers: Vec<u64> = (0..params.slots() as u64).map(|k| k * 7919 % modulus).collect();
        let wanted: Vec<f64> = integers.iter().map(|&j| j as f64 / modulus as f64).collect();
        let x = encrypt(&secret, &integers, modulus)?;
        let start = Instant::now();
        // If the numbers might go up to 2^20, the noise would hide this many digits.
        let y = evaluator.int_boot(Numbers::up_to(&x, 1.0), &radix, &keys, &mut ())?;
        let seconds = start.elapsed().as_secs_f64();
        let [mean, worst] = bits(&decrypt(&secret, &y)?, &wanted);
        println!(
            "{:2} bits in {digits} digits: {seconds:.2} s, {mean:.1} bits in the mean and {worst:.1} in the worst slot, level {} to {}",
            5 * digits,
            x.level(),
            y.level()
        );
    }

    let salaries: Vec<u64> = (0..params.slots() as u64).map(|k| 180 + k * k % 331 + k * 31 % 401).collect();
    let x = encrypt(&secret, &salaries, u64::from(CLASSES * WIDTH))?;
    let class = |i: u32| -> Vec<ComplexDoubleDouble> {
        (0..CLASSES).map(|j| f64::from(u8::from(i == j)).into()).collect()
    };
    let classes: Vec<Vec<ComplexDoubleDouble>> = (0..CLASSES).map(class).collect();
    let readout = Readout::tables(&classes, Some(WIDTH))?;
    let start = Instant::now();
    let flags = evaluator.read(Numbers::up_to(&x, 1.0), &readout, Rounding::None, &keys, &mut ())?;
    let counts =
        flags.iter().map(|flag| sum_of_slots(&evaluator, &keys, flag)).collect::<Result<Vec<_>, _>>()?;
    println!("\nhistogram of {} salaries in {:.2} s", salaries.len(), start.elapsed().as_secs_f64());
    for (i, count) in counts.iter().enumerate() {
        let own = salaries.iter().filter(|&&salary| salary / u64::from(WIDTH) == i as u64).count();
        let found = decrypt(&secret, count)?[0];
        assert_eq!(found.round() as usize, own, "the count of class {i}");
        let from = i * WIDTH as usize * 100;
        println!("  from {from:6}: {own:6}, decrypted {found:.6}");
    }
    Ok(())
}
