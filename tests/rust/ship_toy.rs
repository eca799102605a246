//! SHIP end to end at demonstration size: every stage against the noise it should leave, the output
//! against the sine, and the same bits whatever computes them.

use std::process::Command;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::arith::complex::Complex;
use refloat::bootstrapping::ckks_ship::{
    KeySource, Recorder, ShipEvaluator, ShipKeys, ShipMode, ShipParams, ShipRun, ShipSecretKey, ShipSpec,
    ShipState, ViewKind, quarter_masks, window_positions,
};
use refloat::params::preset;
use refloat::random::Seed;
use refloat::ring::{centered_f64, from_integers};
use refloat::rlwe::EncapsulationDigits;
use refloat::schemes::ckks::Ciphertext;
use refloat::security::SecurityPolicy;
use refloat::trace::{Observer, StageEvent};
use refloat::wire::{WireWord, ciphertext_to_bytes};
use refloat_tests::measure::{assert_within, bits, mean_square, noisy_messages, uniform};
use refloat_tests::precision::Precision;
use refloat_tests::ship::{SparseSecret, sine_model, slope_correction};
use refloat_tests::ship_noise::ShipNoise;

fn toy_spec() -> ShipSpec {
    (preset("toy10").expect("a preset").spec)()
}

/// A secret key and its evaluation keys.
struct Setup {
    spec: ShipSpec,
    secret: ShipSecretKey,
    keys: ShipKeys,
    evaluator: ShipEvaluator,
}

impl Setup {
    fn new(spec: ShipSpec, seed: u8) -> Self {
        let params = ShipParams::new(&spec).expect("valid parameters");
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
        let keys = ShipKeys::generate(&secret).expect("keys");
        let evaluator = ShipEvaluator::new(&params).expect("evaluator");
        Self { spec, secret, keys, evaluator }
    }

    fn encrypt(&self, values: &[f64], mode: ShipMode) -> Ciphertext {
        self.secret.encrypt(values, mode, &Seed::from_bytes([200; 32])).expect("values in range")
    }

    fn decrypt(&self, ciphertext: &Ciphertext, mode: ShipMode) -> Vec<f64> {
        self.secret.decrypt(ciphertext, mode).expect("own ciphertext").reveal_to_key_owner().clone()
    }

    fn bootstrap(&self, ciphertext: &Ciphertext, mode: ShipMode) -> Ciphertext {
        self.evaluator.bootstrap(ciphertext, mode, &self.keys, &mut ()).expect("a bootstrap")
    }

    fn noisy_messages(&self, ciphertext: &Ciphertext) -> Vec<f64> {
        noisy_messages(&self.secret, &self.evaluator, &self.keys, ciphertext, ShipMode::Real).expect("phases")
    }
}

/// Keys of toy10 that several tests share.
fn toy() -> &'static Setup {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    SETUP.get_or_init(|| Setup::new(toy_spec(), 1))
}

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
    let values = setup.decrypt(ciphertext, ShipMode::Complex);
    values.chunks_exact(2).map(|z| Complex { re: z[0], im: z[1] }).collect()
}

fn trace_run(setup: &Setup, message: &[f64], ciphertext: &Ciphertext) -> Trace {
    let slots: Vec<Complex> = message.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let mut run = ShipRun::new(&setup.evaluator, ciphertext, ShipMode::Real).expect("a fitting input");
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
    let setup = toy();
    let noise = ShipNoise::new(&setup.spec);
    let message = uniform(512, 10);
    let ciphertext = setup.evaluator.exhaust(&setup.encrypt(&message, ShipMode::Real)).expect("level 1");
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
    let ciphertext = setup.encrypt(&uniform(512, 11), ShipMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &ciphertext, ShipMode::Real).unwrap();
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
    let promise = preset("toy10").unwrap().promised_bits;
    for seed in 1..=5 {
        let fresh;
        let setup = if seed == 1 {
            toy()
        } else {
            fresh = Setup::new(toy_spec(), seed);
            &fresh
        };
        let message = uniform(512, 20 + u64::from(seed));
        let input = setup.encrypt(&message, ShipMode::Real);
        let output = setup.bootstrap(&input, ShipMode::Real);
        let found = setup.decrypt(&output, ShipMode::Real);
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
    let setup = toy();
    let message = uniform(512, 30);
    let first = setup.bootstrap(&setup.encrypt(&message, ShipMode::Real), ShipMode::Real);
    let squared = setup.evaluator.square(&first, &setup.keys).expect("a level is left");
    assert_eq!(squared.level(), 1);
    let exact: Vec<f64> = message.iter().map(|x| x * x).collect();
    let second = setup.bootstrap(&squared, ShipMode::Real);
    let precision = Precision::of(&setup.decrypt(&second, ShipMode::Real), &exact);
    println!("toy10, squared and bootstrapped again: {precision}");
    assert!(precision.max_bits() > 9.3 && precision.rms_bits() > 10.5, "{precision}");
}

#[test]
fn the_slope_correction_changes_the_sine_and_not_the_noise() {
    let spec = ShipSpec { slope_correction: false, ..toy_spec() };
    let gamma = spec.gamma;
    let setup = Setup::new(spec, 1);
    let message = uniform(512, 31);
    let input = setup.encrypt(&message, ShipMode::Real);
    let found = setup.decrypt(&setup.bootstrap(&input, ShipMode::Real), ShipMode::Real);
    let against_message = Precision::of(&found, &message);
    assert!(
        (9.0..9.6).contains(&against_message.max_bits()),
        "the plain sine costs its cube: {against_message}"
    );
    let sine: Vec<f64> =
        setup.noisy_messages(&input)[..512].iter().map(|&m| sine_model(m, gamma, 0.0)).collect();
    let residual = Precision::of(&found, &sine);
    assert_within(residual.rms, ShipNoise::new(&setup.spec).output(), 0.15, "output against the plain sine");
}

#[test]
fn complex_slots_use_both_halves() {
    let setup = toy();
    let message = uniform(1024, 32);
    let output = setup.bootstrap(&setup.encrypt(&message, ShipMode::Complex), ShipMode::Complex);
    let precision = Precision::of(&setup.decrypt(&output, ShipMode::Complex), &message);
    println!("toy10, complex: {precision}");
    assert!(precision.max_bits() > 10.6 && precision.rms_bits() > 11.5, "{precision}");
}

#[test]
fn bits_come_back_exact_and_cleaner() {
    let spec = ShipSpec { mode: ShipMode::Bits, gamma: 2.0, slope_correction: false, ..toy_spec() };
    let setup = Setup::new(spec, 3);
    let message = bits(512, 33);
    let output = setup.bootstrap(&setup.encrypt(&message, ShipMode::Bits), ShipMode::Bits);
    let found = setup.decrypt(&output, ShipMode::Bits);
    assert_eq!(found.iter().map(|x| x.round()).collect::<Vec<_>>(), message);
    let precision = Precision::of(&found, &message);
    println!("toy10 with bits: {precision}");
    let model = ShipNoise::new(&setup.spec).output();
    assert_within(precision.rms, model, 0.15, "output against the bits");
    assert!(precision.max < 8.0 * model, "{precision}");
    assert!(matches!(
        setup.secret.encrypt(&message, ShipMode::Real, &Seed::from_bytes([0; 32])),
        Err(Error::InvalidArgument(_))
    ));
}

#[test]
fn encapsulation_digits_recompose_and_agree() {
    // One digit, two digits, and one per prime of a composite q0, each against its own model.
    let two = ShipSpec { encapsulation_digits: EncapsulationDigits::Balanced { count: 2 }, ..toy_spec() };
    let mut composite = ShipSpec { encapsulation_digits: EncapsulationDigits::PerPrime, ..toy_spec() };
    composite.levels[0] = vec![12289, 18433];
    composite.digits = vec![vec![0, 1, 7], vec![2, 6], vec![3, 5], vec![4]];
    let mut phases = Vec::new();
    for spec in [toy_spec(), two, composite] {
        let setup = Setup::new(spec, 4);
        let context = setup.secret.params().encapsulation();
        let basis = context.q0();
        let q0: i64 = basis.primes().map(|p| i64::try_from(p).unwrap()).product();
        let a: Vec<i64> = uniform(1024, 34).iter().map(|x| (x * (q0 / 2) as f64) as i64).collect();
        let digits = context.decompose(&from_integers(basis, &a));
        for (i, &a) in a.iter().enumerate() {
            let recomposed: i64 = match setup.spec.encapsulation_digits {
                EncapsulationDigits::Balanced { .. } => {
                    digits.iter().enumerate().map(|(j, d)| d[i] << (j as u32 * context.digit_bits())).sum()
                }
                EncapsulationDigits::PerPrime => {
                    for (digit, p) in digits.iter().zip(basis.primes()) {
                        assert_eq!(digit[i].rem_euclid(p as i64), a.rem_euclid(p as i64));
                    }
                    a
                }
            };
            assert_eq!(recomposed, a);
        }
        let noise = ShipNoise::new(&setup.spec);
        let message = uniform(512, 35);
        let input = setup.encrypt(&message, ShipMode::Real);
        let found = setup.noisy_messages(&input);
        let errors =
            found.iter().zip(message.iter().copied().chain(core::iter::repeat(0.0))).map(|(x, y)| x - y);
        let raw = mean_square(errors).sqrt() * noise.coefficient_scale();
        assert_within(raw, noise.phases(mean_square(message.clone())).sqrt(), 0.15, "phases");
        phases.push(raw);
        let output = setup.decrypt(&setup.bootstrap(&input, ShipMode::Real), ShipMode::Real);
        let precision = Precision::of(&output, &message);
        assert!(precision.max_bits() > 10.6, "{:?}: {precision}", setup.spec.encapsulation_digits);
    }
    assert!(phases[1] < phases[0], "more digits leave less noise: {phases:?}");
}

#[test]
fn masks_and_windows_are_those_of_the_plaintext_model() {
    let spec = toy_spec();
    let n = 1usize << spec.log_n;
    let base = SparseSecret {
        n,
        window: spec.window,
        theta: spec.columns,
        radices: spec.branches.clone(),
        positions: vec![0; spec.weight],
        negative: vec![false; spec.weight],
    };
    for k in [0, 7, 14] {
        for position in 0..spec.window {
            for negative in [false, true] {
                let mut secret = base.clone();
                secret.positions[k] = position;
                secret.negative[k] = negative;
                let (r0, _) = secret.digits(k);
                let rotation = (secret.offset(k) + position - r0) as u64;
                let j = secret.exponent(k) as u64;
                let windows: Vec<usize> =
                    window_positions(n / 2, rotation, j).map(|t| usize::try_from(t).unwrap()).collect();
                let expected: Vec<usize> = (0..n / 2).map(|i| secret.column_index(k, 0, i)).collect();
                assert_eq!(windows, expected);
                for (found, expected) in quarter_masks(n / 2, rotation, j).iter().zip(secret.masks(k)) {
                    assert!(
                        found
                            .iter()
                            .zip(expected)
                            .all(|(&x, bit)| x.to_bits() == f64::from(u8::from(bit)).to_bits())
                    );
                }
            }
        }
    }
}

#[test]
fn work_is_what_the_formulas_count() {
    let setup = toy();
    let mut recorder = Recorder::default();
    let input = setup.encrypt(&uniform(512, 36), ShipMode::Real);
    setup.evaluator.bootstrap(&input, ShipMode::Real, &setup.keys, &mut recorder).unwrap();
    let work = |stage: &str| {
        recorder.0.iter().find_map(|event| match event {
            StageEvent::Exit { stage: s, counters, .. } if *s == stage => Some(*counters),
            _ => None,
        })
    };
    let rotations = work("blind_rotate").expect("the stage was reported");
    assert_eq!((rotations.ntt, rotations.limb_mac), (2_970, 21_600));
}

#[test]
fn events_follow_the_announced_stages() {
    let setup = toy();
    let mut recorder = Recorder::default();
    let input = setup.encrypt(&uniform(512, 37), ShipMode::Real);
    setup.evaluator.bootstrap(&input, ShipMode::Real, &setup.keys, &mut recorder).unwrap();
    let announced: Vec<&str> = setup.evaluator.params().stages().iter().map(|s| s.id).collect();
    let entered: Vec<&str> =
        recorder.0.iter().filter(|e| matches!(e, StageEvent::Enter { .. })).map(StageEvent::stage).collect();
    let left: Vec<&str> =
        recorder.0.iter().filter(|e| matches!(e, StageEvent::Exit { .. })).map(StageEvent::stage).collect();
    assert_eq!((&entered, &left), (&announced, &announced));
    for (stage, parts) in [("blind_rotate", 15), ("product_tree", 4)] {
        let progress: Vec<(usize, usize)> = recorder
            .0
            .iter()
            .filter_map(|event| match *event {
                StageEvent::Progress { stage: s, done, total } if s == stage => Some((done, total)),
                _ => None,
            })
            .collect();
        assert!(progress.is_sorted() && progress.iter().all(|p| p.1 == parts), "{progress:?}");
        assert_eq!(progress.last(), Some(&(parts, parts)));
    }
}

/// Breaks at the n-th event.
struct BreakAt(usize);

impl Observer for BreakAt {
    fn event(&mut self, _: &StageEvent) -> core::ops::ControlFlow<()> {
        if self.0 == 0 {
            return core::ops::ControlFlow::Break(());
        }
        self.0 -= 1;
        core::ops::ControlFlow::Continue(())
    }
}

#[test]
fn a_bootstrap_stops_where_the_observer_says() {
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 38), ShipMode::Real);
    let mut recorder = Recorder::default();
    setup.evaluator.bootstrap(&input, ShipMode::Real, &setup.keys, &mut recorder).unwrap();
    for at in [0, 1, 6, recorder.0.len() - 1] {
        let result = setup.evaluator.bootstrap(&input, ShipMode::Real, &setup.keys, &mut BreakAt(at));
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "ABORTED", "{error}");
        assert!(error.to_string().contains(recorder.0[at].stage()), "{error} at event {at}");
    }
}

fn bytes<W: WireWord>(params: &ShipParams<W>, ciphertext: &Ciphertext<W>) -> Vec<u8> {
    ciphertext_to_bytes(params.ckks(), ciphertext).expect("a ciphertext of the set")
}

/// Digests of keys, input and output of one bootstrap from fixed seeds: the same on every machine.
fn digests<W: WireWord>() -> Vec<String> {
    let params = preset("toy10").unwrap().params_over::<W>().unwrap();
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([77; 32]));
    let keys = ShipKeys::generate(&secret).unwrap();
    let evaluator = ShipEvaluator::new(&params).unwrap();
    let input = secret.encrypt(&uniform(512, 40), ShipMode::Real, &Seed::from_bytes([78; 32])).unwrap();
    let output = evaluator.bootstrap(&input, ShipMode::Real, &keys, &mut ()).unwrap();
    let parts = params.key_parts();
    let mut objects: Vec<Vec<u8>> =
        [0, 1, 2, 3, 4, 5, parts.len() - 1].iter().map(|&i| secret.key_part(i).unwrap()).collect();
    objects.push(bytes(&params, &input));
    objects.push(bytes(&params, &output));
    objects.iter().map(|o| blake3::hash(o).to_hex()[..16].to_owned()).collect()
}

#[test]
fn threads_words_and_steps_change_no_bit() {
    let reference = digests::<u32>();
    assert_eq!(digests::<u64>(), reference, "64-bit words");
    for threads in [1, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(digests::<u32>), reference, "{threads} threads");
    }
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 41), ShipMode::Real);
    let whole = bytes(setup.secret.params(), &setup.bootstrap(&input, ShipMode::Real));
    let mut run = ShipRun::new(&setup.evaluator, &input, ShipMode::Real).unwrap();
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    assert_eq!(bytes(setup.secret.params(), &run.finish().unwrap()), whole, "track by track");
}

/// What the child processes of the next test print before their digests.
const DIGESTS: &str = "digests of this backend:";

#[test]
fn backends_change_no_bit() {
    if std::env::var("REFLOAT_TEST_CHILD").is_ok() {
        println!("{DIGESTS} {} {}", refloat::about().backend_u32, digests::<u32>().join(" "));
        return;
    }
    let names: Vec<&str> =
        refloat::arith::simd::dispatch::all_backends::<u32>().iter().map(|k| k.name()).collect();
    assert!(names.contains(&"scalar"));
    let mut found = Vec::new();
    for name in &names {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "backends_change_no_bit", "--nocapture"])
            .env("REFLOAT_TEST_CHILD", "1")
            .env("REFLOAT_BACKEND", name)
            .output()
            .expect("this test's own program");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.split(DIGESTS).nth(1).unwrap_or_else(|| panic!("no digests from {name}: {text}"));
        let mut words = line.lines().next().unwrap().split_whitespace().map(str::to_owned);
        assert_eq!(words.next().as_deref(), Some(*name), "the backend that was asked for");
        found.push(words.collect::<Vec<_>>());
    }
    println!("backends compared: {names:?}");
    assert!(found.iter().all(|digests| digests == &found[0] && digests.len() == 9), "{names:?}: {found:#?}");
}

#[test]
fn toy_sets_need_the_explicit_word() {
    for policy in [SecurityPolicy::Strict128, SecurityPolicy::HeStandard2018] {
        let result = ShipParams::<u32>::new(&ShipSpec { policy, ..toy_spec() });
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "INSECURE", "{error}");
    }
    let params = ShipParams::<u32>::new(&toy_spec()).unwrap();
    assert!(params.security().statement.starts_with("INSECURE"));
    assert!((params.log_qp() - 255.2).abs() < 0.05 && (params.log_q0_p() - 55.0).abs() < 0.01);
    let renamed = ShipSpec { policy: SecurityPolicy::Strict128, ..toy_spec() };
    assert_ne!(renamed.fingerprint(), toy_spec().fingerprint(), "the policy is part of the identity");
}

#[test]
fn objects_of_other_keys_and_levels_are_refused() {
    let setup = toy();
    let other = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([99; 32]));
    let foreign = other.encrypt(&uniform(512, 42), ShipMode::Real, &Seed::from_bytes([1; 32])).unwrap();
    let code = |result: Result<Ciphertext, Error>| result.map(|_| ()).unwrap_err().code();
    assert_eq!(
        code(setup.evaluator.bootstrap(&foreign, ShipMode::Real, &setup.keys, &mut ())),
        "PARAMS_MISMATCH"
    );
    assert_eq!(code(setup.evaluator.square(&foreign, &setup.keys)), "PARAMS_MISMATCH");
    assert_eq!(
        setup.secret.decrypt(&foreign, ShipMode::Real).map(|_| ()).unwrap_err().code(),
        "PARAMS_MISMATCH"
    );
    let exhausted = setup.evaluator.exhaust(&setup.encrypt(&uniform(512, 43), ShipMode::Real)).unwrap();
    assert_eq!(code(setup.evaluator.square(&exhausted, &setup.keys)), "LEVEL_MISMATCH");
    let out_of_range = setup.secret.encrypt(&[1.5], ShipMode::Real, &Seed::from_bytes([1; 32]));
    assert_eq!(code(out_of_range), "INVALID_ARGUMENT");
    assert_ne!(setup.keys.key_id(), other.key_id());
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
