//! Many bootstraps under several keys: the noise of every stage beside its model, and the errors of the outputs.
//!
//! Seeds are fixed. The published figures are those of
//!
//! ```sh
//! cargo run --release -p refloat --features parallel --example 07_noise_of_every_stage -- ship13 10 100
//! ```
//!
//! ten keys, a hundred bootstraps under each. Keys are held in memory, one set at a time: 4 GB for ship13.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use refloat::{
    Error,
    arith::complex::Complex,
    bootstrapping::{
        StageView,
        ckks_ship::{NoiseModel, ShipEvaluator, ShipKeys, ShipRun, ShipSecretKey, ShipState},
        method::SlotMode,
    },
    params,
    random::Seed,
};

/// Bootstraps that run at the same time: each waits for its decryptions now and then.
const TOGETHER: usize = 2;
/// Tracks between two looks at a factor.
const TRACKS: usize = 4;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "toy10".into());
    let keys: u8 = arguments.next().and_then(|k| k.parse().ok()).unwrap_or(3);
    let runs: u64 = arguments.next().and_then(|k| k.parse().ok()).unwrap_or(10);

    let preset = params::ship_preset(&name)?;
    let params = preset.params()?;
    let evaluator = ShipEvaluator::new(&params)?;
    println!("{name}: {}", params.security().statement);
    println!("{keys} keys, {runs} bootstraps under each, {} slots", params.slots());
    let mut all = Noise::default();
    for key in 1..=keys {
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([key; 32]));
        let evaluation = ShipKeys::generate(&secret)?;
        let (next, of_key) = (AtomicU64::new(0), Mutex::new(Ok(Noise::default())));
        thread::scope(|scope| {
            for _ in 0..TOGETHER {
                scope.spawn(|| {
                    loop {
                        let run = next.fetch_add(1, Ordering::Relaxed);
                        if run >= runs {
                            break;
                        }
                        let found = bootstrap(&evaluator, &secret, &evaluation, u64::from(key), run);
                        let mut sum = of_key.lock().expect("no thread panics while it holds the lock");
                        match (&mut *sum, found) {
                            (Ok(sum), Ok(found)) => sum.add(&found),
                            (sum, Err(error)) => *sum = Err(error),
                            (Err(_), Ok(_)) => {}
                        }
                    }
                });
            }
        });
        let of_key = of_key.into_inner().expect("no thread panicked")?;
        let worst = of_key.worst.iter().copied().fold(0.0, f64::max);
        println!("key {key}: {:.2} bits rms, {:.2} in the worst slot", bits(of_key.rms()), bits(worst));
        all.add(&of_key);
    }

    let power = if params.mode() == SlotMode::Bits { 0.5 } else { 1.0 / 3.0 };
    let scale = params.scale().to_f64();
    let model = NoiseModel::new(&params, power, all.input.mean() * scale * scale / params.n() as f64);
    let base = params.coefficient_scale().to_f64();
    let leaf = params.spec().log_leaf_scale.exp2();
    let amplitude = all.root_power.mean();
    println!("\nstage            measured / model, root mean square");
    let line = |stage: &str, measured: f64, model: f64| {
        println!(
            "{stage:16} {:.3e} / {:.3e} = {:.3}",
            measured.sqrt(),
            model.sqrt(),
            (measured / model).sqrt()
        );
    };
    line("slots_to_coeffs", all.coefficients.mean(), model.slots_to_coeffs / (base * base));
    line("encapsulate", all.phases.mean(), (model.slots_to_coeffs + model.encapsulation) / (base * base));
    line("blind_rotate", all.leaves.mean(), model.leaf * params.n() as f64 / (leaf * leaf));
    line("product_tree", all.root.mean() / amplitude, model.root);
    line("conjugate", all.refreshed.mean(), model.refreshed_rms * model.refreshed_rms);

    println!("\nlargest error of an output, in bits: number of outputs");
    let mut sorted: Vec<f64> = all.worst.iter().map(|&error| bits(error)).collect();
    sorted.sort_by(f64::total_cmp);
    let steps = |x: f64| (x * 10.0).floor() as i64;
    for step in steps(sorted[0])..=steps(sorted[sorted.len() - 1]) {
        let count = sorted.iter().filter(|&&x| steps(x) == step).count();
        println!(
            "{:5.1} .. {:4.1} {count:6} {}",
            step as f64 / 10.0,
            (step + 1) as f64 / 10.0,
            "#".repeat(count.div_ceil(10))
        );
    }
    let failures = sorted.iter().filter(|&&x| x < preset.promised).count();
    println!(
        "{} outputs, {:.3e} rms, {:.3e} at most ({:.2} bits); below the promised {} bits: {failures}",
        sorted.len(),
        all.rms(),
        all.worst.iter().copied().fold(0.0, f64::max),
        sorted[0],
        preset.promised
    );
    Ok(())
}

/// Mean squares.
#[derive(Default, Clone, Copy)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn of(squares: impl Iterator<Item = f64>) -> Self {
        squares.fold(Self::default(), |Self { sum, count }, x| Self { sum: sum + x, count: count + 1 })
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn add(&mut self, other: &Self) {
        (self.sum, self.count) = (self.sum + other.sum, self.count + other.count);
    }
}

/// The noise that some bootstraps left.
#[derive(Default)]
struct Noise {
    input: Mean,
    /// Coefficients in units of the message, against those of the input.
    coefficients: Mean,
    phases: Mean,
    leaves: Mean,
    root: Mean,
    root_power: Mean,
    /// Output against what exact arithmetic makes of the encapsulated phases.
    refreshed: Mean,
    /// Output against the message.
    output: Mean,
    /// Largest error of each output, against the message.
    worst: Vec<f64>,
}

impl Noise {
    fn add(&mut self, other: &Self) {
        self.input.add(&other.input);
        self.coefficients.add(&other.coefficients);
        self.phases.add(&other.phases);
        self.leaves.add(&other.leaves);
        self.root.add(&other.root);
        self.root_power.add(&other.root_power);
        self.refreshed.add(&other.refreshed);
        self.output.add(&other.output);
        self.worst.extend_from_slice(&other.worst);
    }

    fn rms(&self) -> f64 {
        self.output.mean().sqrt()
    }
}

fn bootstrap(
    evaluator: &ShipEvaluator,
    secret: &ShipSecretKey,
    keys: &ShipKeys,
    key: u64,
    run: u64,
) -> Result<Noise, Error> {
    let params = evaluator.params();
    let seed = Seed::from_bytes([201; 32]).derive("example run", &[key, run]);
    let message = message(params.slots(), params.mode(), &seed.derive("message", &[]));
    let slots: Vec<Complex> = message.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let level = params.input_level();
    let input = secret.encrypt_at(&message, params.mode(), level, &seed.derive("encryption", &[]))?;
    let mut bootstrapping = ShipRun::new(evaluator, &input, params.mode())?.with_tracks_per_step(TRACKS);
    let mut noise = Noise::default();
    let mut root: Vec<Complex> = Vec::new();
    let view = |bootstrapping: &ShipRun<'_, u32>| -> Result<StageView, Error> {
        Ok(secret.view(bootstrapping, &slots)?.expect("a run under way can be seen"))
    };
    noise.input = errors(&view(&bootstrapping)?);
    while !bootstrapping.step(keys, &mut ())? {
        let layers = params.tree_levels();
        match bootstrapping.state() {
            ShipState::Coefficients(_) => noise.coefficients = errors(&view(&bootstrapping)?),
            ShipState::Encapsulated => {
                let gamma = params.spec().gamma;
                noise.phases = errors(&view(&bootstrapping)?);
                noise.phases.sum *= gamma * gamma;
            }
            ShipState::Rotating { factors, .. } if factors[0].len() == TRACKS => {
                noise.leaves = errors(&view(&bootstrapping)?);
            }
            ShipState::Tree(tree) if tree[0].depth == layers => {
                let seen = view(&bootstrapping)?;
                noise.root = errors(&seen);
                noise.root_power = Mean::of(seen.expected.iter().map(|z| z.re * z.re + z.im * z.im));
                root = seen.expected;
            }
            _ => {}
        }
    }
    let output = bootstrapping.finish()?;
    let plain = secret.decrypt(&output, params.mode())?;
    let plain = plain.reveal_to_key_owner();
    // Bits get their constant 1/2 at the end.
    let offset = if params.mode() == SlotMode::Bits { 0.5 } else { 0.0 };
    let exact = root.iter().map(|z| 2.0 * z.re + offset);
    noise.refreshed = Mean::of(plain.iter().zip(exact).map(|(x, y)| (x - y).powi(2)));
    noise.output = Mean::of(plain.iter().zip(&message).map(|(x, y)| (x - y).powi(2)));
    noise.worst = vec![plain.iter().zip(&message).fold(0.0, |max, (x, y)| (x - y).abs().max(max))];
    Ok(noise)
}

fn errors(view: &StageView) -> Mean {
    let pairs = view.values.iter().zip(&view.expected);
    Mean::of(pairs.map(|(x, y)| (x.re - y.re).powi(2) + (x.im - y.im).powi(2)))
}

/// Uniform reals in [-1, 1], or bits.
fn message(slots: usize, mode: SlotMode, seed: &Seed) -> Vec<f64> {
    let mut stream = seed.stream();
    let mut real = || 2.0 * f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX) - 1.0;
    match mode {
        SlotMode::Bits => (0..slots).map(|_| f64::from(u8::from(real() > 0.0))).collect(),
        _ => (0..slots).map(|_| real()).collect(),
    }
}

fn bits(error: f64) -> f64 {
    -error.log2()
}
