//! A quantised neural network on encrypted patients: weights of eight bits, exact accumulators, activations by table.
//!
//!     cargo run --release -p refloat --features parallel --example 17_quantised_inference
//!     cargo run --release -p refloat --features parallel --example 17_quantised_inference -- msb16
//!
//! Networks for small devices are integers throughout: features of four bits, weights of eight, sums of products in sixteen, and after each
//! layer a shift that keeps the highest bits. All of that is exact here. A slot is a patient; a feature is a ciphertext; products with
//! known weights and their sums take no level and no key; the activation, ReLU of the highest six bits, is one readout: the lower digits
//! are taken off, and the highest one is looked up in a table. The result is as fresh as after a bootstrap, however many layers went
//! before.
//!
//! The network is trained here in the clear, on two thirds of the Wisconsin breast cancer data (data/breast-cancer-wisconsin.md), then
//! quantised. The encrypted result is compared with the same integers in the clear: they are equal, patient by patient.
//!
//! Without an argument this runs a demonstration size without any security; `msb16` has 128 bits and takes 12 GB of memory.

#[path = "data/model.rs"]
#[allow(dead_code)]
mod model;

use std::time::Instant;

use refloat::{
    Error,
    arith::ComplexDoubleDouble,
    bootstrapping::ckks_msb::{
        MsbEvaluator, MsbKeys, MsbParams, MsbSecretKey, Numbers, Radix, Readout, Rounding,
    },
    circuits::linear_transform::PlaintextStorage,
    params::msb_preset,
    random::Seed,
    schemes::ckks::{Ciphertext, Complex},
};

use model::{Patient, Patients};

/// Values of a feature, -8 to 7, and of an activation, 0 to 15: four bits.
const STEPS: i64 = 16;
/// Hidden units.
const UNITS: usize = 6;
/// Accumulators are in -2^15 to 2^15, and are read in these bases: the last digit is the highest six bits.
const BASES: [u32; 3] = [32, 32, 64];
const RANGE: i64 = 1 << 16;

/// Weights of one unit, and its bias.
#[derive(Clone)]
struct Unit {
    weights: Vec<i64>,
    bias: i64,
}

impl Unit {
    /// Scales the weights to at most 127, and so that no accumulator leaves the range for any inputs up to `top`: exactness does not depend
    /// on the data.
    fn quantised(weights: &[f64], bias: f64, top: i64) -> Self {
        let largest = weights.iter().fold(0.0f64, |m, w| m.max(w.abs()));
        let sum: f64 = weights.iter().map(|w| w.abs()).sum::<f64>() + bias.abs() / top as f64;
        let room = (RANGE / 2 - top * weights.len() as i64) as f64 / top as f64;
        let scale = (127.0 / largest).min(room / sum);
        Self {
            weights: weights.iter().map(|w| (w * scale).round() as i64).collect(),
            bias: (bias * scale).round() as i64,
        }
    }

    fn of(&self, x: &[i64]) -> i64 {
        self.bias + self.weights.iter().zip(x).map(|(w, x)| w * x).sum::<i64>()
    }
}

/// The highest six bits of an accumulator, as a signed number.
fn highest(accumulator: i64) -> i64 {
    accumulator.div_euclid(RANGE / i64::from(BASES[2]))
}

/// ReLU, to four bits.
fn activation(highest: i64) -> i64 {
    highest.clamp(0, STEPS - 1)
}

struct Network {
    hidden: Vec<Unit>,
    last: Unit,
}

impl Network {
    /// Random features of the patients, kept where positive, and a descent on the last layer: the same network every time.
    fn train(patients: &[(Vec<i64>, bool)]) -> Self {
        let width = patients[0].0.len();
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
        };
        // Units begin at a random direction and are pulled towards the difference of the means of the classes.
        let mean = |malignant: bool, j: usize| {
            let own = patients.iter().filter(|(_, m)| *m == malignant);
            own.clone().map(|(x, _)| x[j] as f64).sum::<f64>() / own.count() as f64
        };
        let difference: Vec<f64> = (0..width).map(|j| mean(true, j) - mean(false, j)).collect();
        let middle: Vec<f64> = (0..width).map(|j| f64::midpoint(mean(true, j), mean(false, j))).collect();
        let hidden: Vec<Unit> = (0..UNITS)
            .map(|i| {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                let w: Vec<f64> = difference.iter().map(|d| sign * d + 1.5 * random()).collect();
                let bias: f64 = -w.iter().zip(&middle).map(|(w, x)| w * x).sum::<f64>();
                Unit::quantised(&w, bias, STEPS / 2)
            })
            .collect();
        let features: Vec<Vec<f64>> = patients
            .iter()
            .map(|(x, _)| hidden.iter().map(|unit| activation(highest(unit.of(x))) as f64).collect())
            .collect();
        let (mut v, mut b) = (vec![0.0; UNITS], 0.0);
        for _ in 0..3000 {
            for (x, (_, malignant)) in features.iter().zip(patients) {
                let t: f64 = b + v.iter().zip(x).map(|(v, x)| v * x).sum::<f64>();
                let off = 1.0 / (1.0 + (-t).exp()) - f64::from(u8::from(*malignant));
                for (v, x) in v.iter_mut().zip(x) {
                    *v -= 1e-4 * off * x;
                }
                b -= 1e-3 * off;
            }
        }
        Self { hidden, last: Unit::quantised(&v, b, STEPS) }
    }

    /// Whether a tumour is malignant, and the accumulator that says so.
    fn in_the_clear(&self, x: &[i64]) -> (i64, bool) {
        let hidden: Vec<i64> = self.hidden.iter().map(|unit| activation(highest(unit.of(x)))).collect();
        let last = self.last.of(&hidden);
        (last, highest(last) >= 0)
    }
}

/// The features of a patient in four bits.
fn features(patient: &Patient) -> (Vec<i64>, bool) {
    let half = STEPS / 2;
    let step = |x: &f64| ((x * half as f64).floor() as i64).clamp(-half, half - 1);
    (patient.measurements.iter().map(step).collect(), patient.malignant)
}

/// A server, which has public keys and known weights.
struct Server<'a> {
    evaluator: &'a MsbEvaluator,
    keys: &'a MsbKeys,
}

impl Server<'_> {
    /// An accumulator over its range: no level and no key.
    fn accumulate(&self, unit: &Unit, x: &[Ciphertext<u64>]) -> Result<Ciphertext<u64>, Error> {
        let ckks = self.evaluator.ckks();
        let mut sum: Option<Ciphertext<u64>> = None;
        for (x, &weight) in x.iter().zip(&unit.weights) {
            let term = ckks.multiply_integer(x, weight)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => ckks.add(&sum, &term)?,
            });
        }
        let sum = sum.ok_or_else(|| Error::InvalidArgument("a unit without weights".into()))?;
        ckks.add_constant(&sum, (unit.bias as f64 / RANGE as f64).into())
    }

    /// A function of the highest six bits of an accumulator. Each input is off by `off` at most.
    fn look_up(
        &self,
        unit: &Unit,
        x: &[Ciphertext<u64>],
        off: f64,
        f: impl Fn(i64) -> f64,
    ) -> Result<Ciphertext<u64>, Error> {
        let sum = self.accumulate(unit, x)?;
        let weight: i64 = unit.weights.iter().map(|w| w.abs()).sum();
        let numbers = Numbers::up_to(&sum, 0.5).off_by(off * weight as f64);
        let t = i64::from(BASES[2]);
        let table: Vec<ComplexDoubleDouble> =
            (0..t).map(|j| Complex::from(f(if 2 * j < t { j } else { j - t })).into()).collect();
        let readout = Readout::highest_digit(&Radix::new(&BASES)?, &[table])?;
        Ok(self.evaluator.read(numbers, &readout, Rounding::None, self.keys, &mut ())?.remove(0))
    }
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-msb11".into());
    let preset = msb_preset(&name)?;
    let params: MsbParams = preset.params()?;
    println!("{name}: {}\n{}\n", preset.title, params.security().statement);
    let (train, test) = Patients::read().split();
    let [train, test] = [train, test].map(|rows| rows.iter().map(features).collect::<Vec<_>>());
    let network = Network::train(&train);

    let secret = MsbSecretKey::generate(&params, &Seed::random()?);
    let keys = MsbKeys::generate(&secret)?;
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated)?;
    // The owner of the data: a ciphertext for each of the thirty features, the patients in its slots.
    let encrypt = |j: usize| {
        let slot = |(x, _): &(Vec<i64>, bool)| Complex::from(x[j] as f64 / RANGE as f64);
        let slots: Vec<Complex> = test.iter().take(params.slots()).map(slot).collect();
        secret.encrypt(&slots, params.levels().input, &Seed::random()?)
    };
    let x = (0..test[0].0.len()).map(encrypt).collect::<Result<Vec<_>, _>>()?;

    // The server. Fresh ciphertexts and looked-up values are off by at most 2^-36, but for a chance below 2^-55 per slot.
    let off = (-36f64).exp2();
    let server = Server { evaluator: &evaluator, keys: &keys };
    let start = Instant::now();
    let relu = |unit: &Unit| server.look_up(unit, &x, off, |d| activation(d) as f64 / RANGE as f64);
    let hidden = network.hidden.iter().map(relu).collect::<Result<Vec<_>, _>>()?;
    let verdict = server.look_up(&network.last, &hidden, off, |d| f64::from(u8::from(d >= 0)))?;
    println!("{} units and a verdict in {:.2} s", UNITS, start.elapsed().as_secs_f64());

    // The owner again.
    let found = secret.decrypt(&verdict)?;
    let (mut right, mut count) = (0, 0);
    for (y, (x, malignant)) in found.reveal_to_key_owner().iter().zip(&test) {
        let (_, wanted) = network.in_the_clear(x);
        assert!((y.re - f64::from(u8::from(wanted))).abs() < 1e-3, "another verdict than in the clear");
        right += usize::from(wanted == *malignant);
        count += 1;
    }
    println!("  all {count} verdicts are those of the same integers in the clear; {right} of them are right");
    Ok(())
}
