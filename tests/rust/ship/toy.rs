//! SHIP end to end at demonstration size: every stage against the noise it should leave, scales
//! against the tracked reals, the output against the message and the sine.

use refloat::arith::complex::Complex;
use refloat::bootstrapping::ViewKind;
use refloat::bootstrapping::ckks_ship::{ShipRun, ShipState};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::ship_preset;
use refloat::ring::{centered_f64, from_integers};
use refloat::schemes::ckks::Ciphertext;
use refloat_tests::measure::{assert_within, mean_square, uniform};
use refloat_tests::precision::Precision;
use refloat_tests::ship::{sine_model, slope_correction};
use refloat_tests::ship_noise::ShipNoise;
use refloat_tests::toy::{Setup, grouped_spec, toy, toy_spec};

fn distances(x: &[Complex], y: &[Complex]) -> Vec<f64> {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| (x.re - y.re).hypot(x.im - y.im)).collect()
}

/// Everything that a run shows to the holder of the key, stage by stage.
#[derive(Default)]
struct Trace {
    input: f64,
    coefficients: f64,
    phases: f64,
    leaves: Vec<f64>,
    roots: Vec<f64>,
    /// By depth: what the product of two nodes adds to the product of their decryptions.
    additions: Vec<Vec<f64>>,
}

fn complex_slots(setup: &Setup, ciphertext: &Ciphertext) -> Vec<Complex> {
    let values = setup.decrypt(ciphertext, SlotMode::Complex);
    values.chunks_exact(2).map(|z| Complex { re: z[0], im: z[1] }).collect()
}

fn trace_run(setup: &Setup, message: &[f64], ciphertext: &Ciphertext) -> Trace {
    let slots: Vec<Complex> = message.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let mut run = ShipRun::new(&setup.evaluator, ciphertext, SlotMode::Real).expect("a fitting input");
    let mut trace = Trace::default();
    let mut last_layer: Vec<Vec<Complex>> = Vec::new();
    loop {
        if let Some(view) = setup.secret.view(&run, &slots).expect("own run") {
            let square = mean_square(distances(&view.values, &view.expected));
            match (run.state(), view.kind) {
                (ShipState::Input(_), ViewKind::Slots) => trace.input = square,
                (_, ViewKind::Coefficients) => trace.coefficients = square,
                (_, ViewKind::Phases) => trace.phases = square,
                (ShipState::Rotating { .. }, _) => trace.leaves.push(square),
                (ShipState::Tree(layers), _) if layers[0].depth == 0 => trace.leaves.push(square),
                (ShipState::Tree(_), _) => trace.roots.push(square.sqrt()),
                (ShipState::Done(_), _) => {}
                (_, kind) => panic!("an unexpected view of {kind:?}"),
            }
        }
        if let ShipState::Tree(layers) = run.state() {
            let layer: Vec<Vec<Complex>> = layers[0].nodes.iter().map(|x| complex_slots(setup, x)).collect();
            if layers[0].depth > 0 {
                // Node 0 of the first layer meets the known leaf; the others pair up.
                let offset = usize::from(layers[0].depth == 1);
                let additions = (1..layer.len()).map(|i| {
                    let pair = |j: usize| &last_layer[2 * i + j - offset];
                    let product: Vec<Complex> = pair(0).iter().zip(pair(1)).map(|(&x, &y)| x * y).collect();
                    mean_square(distances(&layer[i], &product))
                });
                trace.additions.push(additions.collect());
            }
            last_layer = layer;
        }
        if run.step(&setup.keys, &mut ()).expect("a step") {
            return trace;
        }
    }
}

#[test]
fn every_stage_leaves_the_noise_of_the_model() {
    stages_leave_the_noise_of_the_model(toy());
}

#[test]
fn levels_of_two_primes_leave_the_noise_of_the_model() {
    stages_leave_the_noise_of_the_model(&Setup::new(grouped_spec(), 2));
}

fn stages_leave_the_noise_of_the_model(setup: &Setup) {
    let noise = ShipNoise::new(&setup.spec);
    let message = uniform(512, 10);
    let ciphertext = setup.evaluator.exhaust(&setup.encrypt(&message, SlotMode::Real)).expect("level 1");
    let trace = trace_run(setup, &message, &ciphertext);
    let square = mean_square(message);

    assert_within(trace.input.sqrt(), noise.slot(noise.fresh(), noise.scale()), 0.10, "fresh encryption");
    let raw = trace.coefficients.sqrt() * noise.coefficient_scale();
    assert_within(
        raw,
        (noise.carried() + noise.slots_to_coeffs(square)).sqrt(),
        0.15,
        "slots to coefficients",
    );
    let raw = trace.phases.sqrt() * noise.q0();
    assert_within(raw, noise.phases(square).sqrt(), 0.15, "encapsulation");

    let scales = noise.node_scales();
    assert_eq!(trace.leaves.len(), setup.spec.weight);
    for (track, leaf) in trace.leaves.iter().enumerate() {
        assert_within(
            leaf.sqrt(),
            noise.slot(noise.leaf(), scales[0]),
            0.15,
            &format!("leaf of track {track}"),
        );
    }
    assert_eq!(trace.roots.len(), noise.depth());
    for (depth, (root, model)) in trace.roots.iter().zip(noise.roots()).enumerate() {
        assert_within(*root, model, 0.15, &format!("root at depth {}", depth + 1));
    }
    for (depth, additions) in trace.additions.iter().enumerate().filter(|(_, a)| !a.is_empty()) {
        let measured = mean_square(additions.iter().map(|x| x.sqrt())).sqrt();
        assert_within(
            measured,
            noise.slot(noise.division(), scales[depth + 1]),
            0.15,
            "a product's own noise",
        );
    }
}

#[test]
fn scales_are_the_tracked_reals() {
    let setup = toy();
    let noise = ShipNoise::new(&setup.spec);
    let ciphertext = setup.encrypt(&uniform(512, 11), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &ciphertext, SlotMode::Real).unwrap();
    let close = |log_scale: f64, model: f64| assert!((log_scale - model.log2()).abs() < 1e-10, "{log_scale}");
    let mut depths = 0;
    while !run.step(&setup.keys, &mut ()).unwrap() {
        match run.state() {
            ShipState::Coefficients(x) => {
                assert_eq!(x.level(), 0);
                close(x.log_scale(), noise.coefficient_scale());
            }
            ShipState::Tree(layers) => {
                let depth = layers[0].depth;
                depths += 1;
                for (i, node) in layers[0].nodes.iter().enumerate() {
                    let carries_leaf = depth > 0 && i == 0;
                    let scales = if carries_leaf { noise.root_scales() } else { noise.node_scales() };
                    close(node.log_scale(), scales[depth]);
                    assert_eq!(node.level(), setup.spec.levels.len() - 1 - depth);
                }
            }
            _ => {}
        }
    }
    assert_eq!(depths, noise.depth() + 1);
    let output = run.finish().unwrap();
    assert_eq!(output.level(), 2);
    close(output.log_scale(), noise.scale());
}

#[test]
fn five_keys_keep_the_promised_precision() {
    let promise = ship_preset("toy10").unwrap().promised;
    for seed in 1..=5 {
        let fresh;
        let setup = if seed == 1 {
            toy()
        } else {
            fresh = Setup::new(toy_spec(), seed);
            &fresh
        };
        let message = uniform(512, 20 + u64::from(seed));
        let input = setup.encrypt(&message, SlotMode::Real);
        let output = setup.bootstrap(&input, SlotMode::Real);
        let found = setup.decrypt(&output, SlotMode::Real);
        let precision = Precision::of(&found, &message);
        println!("toy10, key {seed}: {precision}");
        assert!(precision.max_bits() > 10.7 && precision.max_bits() > promise, "key {seed}: {precision}");
        assert!(precision.rms_bits() > 11.6, "key {seed}: {precision}");

        // Against the exact sine of the phases that were rotated, only the bootstrap's noise is left.
        let noise = ShipNoise::new(&setup.spec);
        let gamma = setup.spec.gamma;
        let sine: Vec<f64> = setup.noisy_messages(&input)[..512]
            .iter()
            .map(|&m| sine_model(m, gamma, slope_correction(gamma)))
            .collect();
        let residual = Precision::of(&found, &sine);
        assert_within(residual.rms, noise.output(), 0.15, "output against the sine");
        assert!(residual.max < 8.0 * noise.output(), "worst slot {residual}");
    }
}

#[test]
fn the_refreshed_level_squares_and_bootstraps_again() {
    squares_and_bootstraps_again(toy(), 9.3, 10.5);
    // Two primes are dropped by the square, and by every level of the tree.
    squares_and_bootstraps_again(&Setup::new(grouped_spec(), 3), 19.0, 20.1);
}

fn squares_and_bootstraps_again(setup: &Setup, max_bits: f64, rms_bits: f64) {
    let message = uniform(512, 30);
    let first = setup.bootstrap(&setup.encrypt(&message, SlotMode::Real), SlotMode::Real);
    let squared = setup.evaluator.square(&first, &setup.keys).expect("a level is left");
    assert_eq!(squared.level(), 1);
    let exact: Vec<f64> = message.iter().map(|x| x * x).collect();
    let second = setup.bootstrap(&squared, SlotMode::Real);
    let precision = Precision::of(&setup.decrypt(&second, SlotMode::Real), &exact);
    println!("{}, squared and bootstrapped again: {precision}", setup.spec.name);
    assert!(precision.max_bits() > max_bits && precision.rms_bits() > rms_bits, "{precision}");
}

#[test]
fn a_decryption_is_exact_to_its_rounding() {
    // The polynomial behind a decryption, by the library's own centred lift: a guard on the oracle.
    let setup = toy();
    let basis = setup.secret.params().ckks().rlwe().q(1);
    let values: Vec<i64> = uniform(1024, 44).iter().map(|x| (x * 2f64.powi(40)) as i64).collect();
    let back = centered_f64(&from_integers(basis, &values));
    assert!(back.iter().zip(values).all(|(&x, y)| x as i64 == y));
}
