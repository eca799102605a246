//! The noise of DM/CGGI bootstrapping against its model: variances, shape, failures; and the digest of a chain
//! of gates, the same on every machine.
//!
//! Toys here; `cargo test --profile quick -p refloat-tests --test cggi noise -- --ignored --nocapture` measures `bool-128`
//! over 12 keys of 800 gates, or the sets of `REFLOAT_SETS=bool-64,fbs16-50`.

use refloat::arith::Word;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, CggiView};
use refloat::params::{CggiPreset, cggi_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, CggiSpec, Gate, log2_erfc};
use refloat::wire::cggi_ciphertexts_to_bytes;

const KEYS: u64 = 12;
const GATES: u64 = 160;
/// Gates per key, and how far the variances of the steps and the exponent of failure may be from the model. Over 12 keys
/// the sample variance has a standard deviation of 3.2 %, or 1.4 % with many gates.
const SOME: (u64, f64, f64) = (GATES, 0.08, 0.1);
const MANY: (u64, f64, f64) = (800, 0.05, 0.05);

fn setup<W: Word>(params: &CggiParams<W>, seed: u64) -> (CggiSecretKey<W>, CggiEvaluator<W>) {
    let seed = Seed::from_bytes([6; 32]).derive("refloat test: noise", &[seed]);
    let secret = CggiSecretKey::generate(params, &seed);
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).expect("keys"));
    (secret, evaluator)
}

/// The part of a turn between two phases, from -1/2 to 1/2.
fn difference(x: f64, y: f64) -> f64 {
    (x - y) - (x - y).round()
}

/// Errors that the key switch, the rounding and the rotation add to bootstraps, over many keys.
struct Errors {
    key_switch: Vec<f64>,
    mod_switch: Vec<f64>,
    rotation: Vec<f64>,
}

fn errors<W: Word>(params: &CggiParams<W>, gates: u64) -> Errors {
    let mut out = Errors { key_switch: Vec::new(), mod_switch: Vec::new(), rotation: Vec::new() };
    for key in 0..KEYS {
        let (secret, evaluator) = setup(params, key);
        for i in 0..gates {
            let bits = [i % 2 == 0, i % 3 == 0];
            let randomness = Seed::from_bytes([7; 32]).derive("refloat test: noise", &[key, i]);
            let x = secret.encrypt_bits(&bits, &randomness);
            let mut run =
                evaluator.gate_run(Gate::Nand, &[&x[0], &x[1]]).unwrap().with_products_per_step(1 << 20);
            let mut phases = Vec::new();
            loop {
                if let CggiView::Phase(phase) = secret.inspect_run(&run).unwrap() {
                    phases.push(phase);
                }
                if run.step(&mut ()).unwrap() {
                    break;
                }
            }
            let result = secret.inspect_phase(&run.finish(&mut ()).unwrap()).unwrap();
            out.key_switch.push(difference(phases[1], phases[0]));
            out.mod_switch.push(difference(phases[2], phases[1]));
            out.rotation.push(result - 0.125f64.copysign(result));
        }
    }
    out
}

fn variance(samples: &[f64]) -> f64 {
    samples.iter().map(|x| x * x).sum::<f64>() / samples.len() as f64
}

/// Kolmogorov's D sqrt(n) of the samples against the normal distribution of their own variance.
fn kolmogorov(samples: &[f64]) -> f64 {
    let sigma = variance(samples).sqrt();
    let mut sorted: Vec<f64> = samples.iter().map(|x| x / sigma).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    // The distribution function by its tail: 2^log2_erfc is erfc.
    let below = |x: f64| {
        let tail = log2_erfc(x.abs() / std::f64::consts::SQRT_2).exp2() / 2.0;
        if x < 0.0 { tail } else { 1.0 - tail }
    };
    let gaps = sorted.iter().zip(0..).map(|(&x, i)| {
        let expected = below(x);
        (expected - f64::from(i) / n).abs().max((f64::from(i + 1) / n - expected).abs())
    });
    gaps.fold(0.0, f64::max) * n.sqrt()
}

/// Measures the noise of each step of a set against its formula, and what it makes of the probability of failure.
fn check<W: Word>(preset: &CggiPreset, (gates, near, near_exponent): (u64, f64, f64)) {
    let (name, params) = (preset.name, preset.params_over::<W>().unwrap());
    let (errors, model) = (errors(&params, gates), *params.noise());
    let steps = [
        ("key switch", &errors.key_switch, model.key_switch),
        ("rounding", &errors.mod_switch, model.mod_switch),
        ("rotation", &errors.rotation, model.rotation),
    ];
    for (step, samples, expected) in steps {
        let ratio = variance(samples) / expected;
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let shape = kolmogorov(samples);
        println!("{name} {step}: {ratio:.3} of the modelled variance, D sqrt(n) = {shape:.2}");
        assert!((ratio - 1.0).abs() < near, "{name} {step}: {ratio} times the modelled variance");
        assert!(mean.abs() < 0.1 * expected.sqrt(), "{name} {step}: mean {mean}");
        // Exceeded by a normal distribution twice in ten thousand times: three steps of every set are some fifty tests, of
        // which one in a hundred runs may fail.
        assert!(shape < 2.15, "{name} {step}: D sqrt(n) = {shape}");
    }
    // What the measured variances promise is what the model promises.
    let total =
        2.0 * variance(&errors.rotation) + variance(&errors.key_switch) + variance(&errors.mod_switch);
    let measured = log2_erfc(0.125 / (2.0 * total).sqrt());
    let modelled = params.gate_failure();
    println!(
        "{name}: a gate of two inputs fails with 2^{measured:.1} by measurement, 2^{modelled:.1} by the model"
    );
    assert!(
        (measured / modelled - 1.0).abs() < near_exponent,
        "{name}: 2^{measured} measured, 2^{modelled} modelled"
    );
    assert!(measured < params.spec().log_failure, "{name}: 2^{measured} measured, more than is promised");
}

#[test]
fn every_step_adds_the_noise_of_its_formula() {
    for preset in CggiPreset::all().iter().filter(|preset| preset.name.starts_with("toy-bool")) {
        check::<u32>(preset, if preset.name == "toy-bool" { MANY } else { SOME });
    }
}

#[test]
#[ignore = "minutes; see the head of the file"]
fn every_step_adds_the_noise_of_its_formula_at_full_size() {
    let sets = std::env::var("REFLOAT_SETS").unwrap_or_else(|_| "bool-128".to_owned());
    for name in sets.split(',') {
        let preset = cggi_preset(name).unwrap();
        if preset.wide() { check::<u64>(preset, MANY) } else { check::<u32>(preset, MANY) }
    }
}

#[test]
fn gates_fail_as_often_as_modelled() {
    // Noise made large: a modulus and digits too small for the short key.
    let toy = (cggi_preset("toy-bool").unwrap().spec)();
    let spec = CggiSpec { log_q: 12, switch_base_log: 3, switch_digits: 4, log_failure: -4.0, ..toy };
    let params = CggiParams::<u32>::new(&spec).unwrap();
    let (mut failures, mut gates) = (0, 0);
    for key in 0..KEYS {
        let (secret, evaluator) = setup(&params, 100 + key);
        for i in 0..4 * GATES {
            let bits = [i % 2 == 0, i % 4 < 2];
            let randomness = Seed::from_bytes([8; 32]).derive("refloat test: noise", &[key, i]);
            let x = secret.encrypt_bits(&bits, &randomness);
            let out = evaluator.gate(Gate::Nand, &[&x[0], &x[1]], &mut ()).unwrap();
            failures += u32::from(secret.decrypt_bit(&out) != Gate::Nand.evaluate(&bits));
            gates += 1;
        }
    }
    // Fresh inputs have no noise of a rotation; the sum is 1/8 from one change of sign, 3/8 from the other.
    let expected = params.noise().log2_failure(0.0, 0.125).exp2() / 2.0 * f64::from(gates);
    assert!(failures >= 100, "{failures} failures: too few to tell");
    let ratio = f64::from(failures) / expected;
    assert!((1.0 / 1.5..1.5).contains(&ratio), "{failures} failures of {gates}, {expected:.0} expected");
}

/// Digest of a chain of 40 gates from fixed seeds.
fn chain(name: &str) -> String {
    let params = cggi_preset(name).unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 1);
    let mut pool = secret.encrypt_bits(&[true, false, true], &Seed::from_bytes([9; 32]));
    for i in 0..40 {
        let gate = [Gate::Nand, Gate::Xor, Gate::Majority, Gate::Mux][i % 4];
        let operands: Vec<&CggiCiphertext> = pool.iter().take(gate.arity()).collect();
        let out = evaluator.gate(gate, &operands, &mut ()).unwrap();
        pool[i % 3] = out;
    }
    blake3::hash(&cggi_ciphertexts_to_bytes(&params, &pool).unwrap()).to_hex()[..32].to_owned()
}

#[test]
fn chains_of_gates_give_the_same_bytes_everywhere() {
    let wanted = [
        ("toy-bool", "9b57bd06dffc9558eaa47b976789c815"),
        ("toy-bool-unrolled", "527bd533eb0196730b5f2369d988b09b"),
        ("toy-bool-ntru", "c715043fd4444bb376da0300901213fd"),
        ("toy-bool-ap", "71c47ec2578893880094a17979028f3f"),
        ("toy-fbs", "08e487c6b848667c5c6cf9e853c7ed55"),
    ];
    let found = wanted.map(|(name, _)| (name, chain(name)));
    assert_eq!(found, wanted.map(|(name, digest)| (name, digest.to_owned())));
}
