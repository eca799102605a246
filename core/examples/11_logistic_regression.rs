//! Logistic regression on encrypted patients: a program with bootstraps where its levels run out.
//!
//!     cargo run --release -p refloat --features parallel --example 11_logistic_regression
//!     cargo run --release -p refloat --features parallel --example 11_logistic_regression -- n15
//!
//! The Wisconsin breast cancer data (data/breast-cancer-wisconsin.md) has thirty measurements of each of 569 tumours. A model of
//! second order, sigmoid(w x + v x^2 + b) with the squares taken measurement by measurement, is trained here in the clear
//! on two thirds of the rows. The others are encrypted, many to a ciphertext, and the model is evaluated on them as a
//! [`Program`]: a square, two products with weights, a sum over the measurements by rotations, and the sigmoid as a
//! polynomial. It says nothing about levels; the plan puts bootstraps in where they run out.
//!
//! Without an argument this runs a demonstration size without any security, of 32 patients. `n15` (8 GB of memory) takes 512
//! at a time and `n16` (12 GB) 1024, both at 128 bits. Ciphertexts are sent at the lowest level that the first product
//! allows: the fewer levels, the fewer bytes.

#[path = "data/model.rs"]
mod model;

use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::{
        ckks_conventional::{
            ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
        },
        program::ProgramMethod,
    },
    circuits::{
        linear_transform::PlaintextStorage,
        program::{Bootstraps, Builder, InputShape, Plan, Program},
    },
    params::conventional_preset,
    random::Seed,
    schemes::ckks::Complex,
};

use model::{Model, Patients};

/// Slots per patient: thirty measurements, and two that are zero.
const WIDTH: usize = 32;

/// Measurement j of patient p is in slot j P + p, where P patients fill all slots: rotations by multiples of P sum over the
/// measurements, and nothing of one patient meets another.
fn pack(patients: &[Vec<f64>], slots: usize) -> Vec<Complex> {
    let count = slots / WIDTH;
    let mut out = vec![Complex::ZERO; slots];
    for (p, patient) in patients.iter().enumerate() {
        for (j, &x) in patient.iter().enumerate() {
            out[j * count + p] = Complex::new(x, 0.0);
        }
    }
    out
}

fn inference(model: &Model, slots: usize) -> Result<Program, Error> {
    let count = slots / WIDTH;
    let weights = |weights: &[f64]| pack(&vec![weights.to_vec(); count], slots);
    let mut b = Builder::new();
    let x = b.input("measurements");
    let squares = b.multiply(x, x);
    let (w, v) = (b.constant(weights(&model.linear)), b.constant(weights(&model.quadratic)));
    let linear = b.multiply(x, w);
    let quadratic = b.multiply(squares, v);
    let mut sum = b.add(linear, quadratic);
    for log in 0..WIDTH.ilog2() {
        let turned = b.rotate(sum, (count << log) as i32);
        sum = b.add(sum, turned);
    }
    let bias = b.constant([model.bias]);
    let z = b.add(sum, bias);
    b.name(z, "z");
    let score = b.polynomial(z, &model.sigmoid);
    b.name(score, "sigmoid");
    b.output("score", score);
    b.finish()
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-conventional11".into());
    let preset = conventional_preset(&name)?;
    let params = preset.params()?;
    println!("{name}: {}\n{}\n", preset.title, params.security().statement);

    let (train, test) = Patients::read().split();
    let model = Model::train(&train)?;
    println!(
        "{} patients to train, {} to test; accuracy in the clear, with the exact sigmoid: {:.1} % and {:.1} %",
        train.len(),
        test.len(),
        100.0 * model.accuracy(&train),
        100.0 * model.accuracy(&test)
    );
    println!(
        "the sigmoid is a polynomial of degree {} between -{:.1} and {:.1}, {:.1e} off at most\n",
        model.sigmoid.degree(),
        model.range,
        model.range,
        model.sigmoid_error
    );

    let slots = params.slots();
    let program = inference(&model, slots)?;
    let target = params.program_target()?;
    let secret = ConventionalSecretKey::generate(&params, &Seed::random()?);
    let keys = ConventionalKeys::generate(&secret)?;
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated)?;
    let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };

    let (mut worst, mut right, mut done) = (0.0f64, 0, 0);
    let level = params.levels().input + 1;
    for batch in test.chunks(slots / WIDTH) {
        let measurements: Vec<Vec<f64>> = batch.iter().map(|patient| patient.measurements.clone()).collect();
        let clear = pack(&measurements, slots);
        let x = secret.encrypt(&clear, level, &Seed::random()?)?;
        let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::WhereNeeded)?;
        let began = Instant::now();
        let score = method.run_program(&plan, &[x], &mut ())?;
        let found = secret.decrypt(&score[0])?;
        let expected = program.evaluate(slots, &[clear])?;
        println!(
            "{} patients in one ciphertext at level {level}: {} steps, {} key switches and {} bootstraps put in, {:.2} s",
            batch.len(),
            plan.steps(),
            plan.key_switches(),
            plan.inserted(),
            began.elapsed().as_secs_f64()
        );
        for (p, patient) in batch.iter().enumerate() {
            let (found, expected) = (found.reveal_to_key_owner()[p].re, expected[0][p].re);
            if done < 8 {
                let truth = if patient.malignant { "malignant" } else { "benign" };
                println!("    encrypted {found:8.5}, in the clear {expected:8.5}: {truth}");
            }
            worst = worst.max((found - expected).abs());
            right += usize::from((found > 0.5) == patient.malignant);
            done += 1;
        }
    }
    println!(
        "\n{done} patients: accuracy of the encrypted scores {:.1} %",
        100.0 * right as f64 / done as f64
    );
    println!("largest difference from the same program in the clear: {worst:.1e}");
    assert!(worst < 5e-3, "the noise shows: {worst}");
    Ok(())
}
