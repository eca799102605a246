//! Conventional bootstrapping at demonstration size: every set, stage by stage and as a whole.

use refloat::Error;
use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalParams, ConventionalRun,
    ConventionalSecretKey, ConventionalState, EvalModSpec, Reduction,
};
use refloat::bootstrapping::raising::ReductionSpec;
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::{ConventionalPreset, conventional_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::security::SecurityPolicy;
use refloat::trace::{Counters, Observer, StageEvent};
use refloat::wire::secret_key_to_bytes;
use refloat_tests::chain::{distance, some_slots};
use refloat_tests::portable::unhex;

struct Setup {
    params: ConventionalParams,
    secret: ConventionalSecretKey,
    keys: ConventionalKeys,
    evaluator: ConventionalEvaluator,
}

impl Setup {
    fn new(name: &str, seed: u8) -> Self {
        Self::of(conventional_preset(name).unwrap().params().unwrap(), seed)
    }

    fn of(params: ConventionalParams, seed: u8) -> Self {
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
        let keys = ConventionalKeys::generate(&secret).unwrap();
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
        Self { params, secret, keys, evaluator }
    }

    fn encrypt(&self, values: &[Complex]) -> Ciphertext<u64> {
        self.secret.encrypt(values, self.params.levels().input, &Seed::from_bytes([7; 32])).unwrap()
    }

    fn decrypt(&self, x: &Ciphertext<u64>) -> Vec<Complex> {
        self.secret.decrypt(x).unwrap().reveal_to_key_owner().clone()
    }

    fn bootstrap(&self, x: &Ciphertext<u64>) -> Ciphertext<u64> {
        self.evaluator.bootstrap(x, &self.keys, &mut ()).unwrap()
    }
}

pub const TOYS: [&str; 5] = [
    "toy-conventional11",
    "toy-conventional11-sine",
    "toy-conventional10-sparse",
    "toy-conventional10-slots-first",
    "toy-conventional10-50bit",
];

/// Bits of the mean and of the largest error.
fn bits(x: &[Complex], y: &[Complex]) -> [f64; 2] {
    let mean = x.iter().zip(y).map(|(&a, &b)| (a - b).abs()).sum::<f64>() / x.len() as f64;
    [-mean.log2(), -distance(x, y).log2()]
}

#[test]
fn every_toy_keeps_its_promise() {
    for name in TOYS {
        let preset = conventional_preset(name).unwrap();
        for seed in 1..=2 {
            let setup = Setup::new(name, seed);
            let levels = *setup.params.levels();
            let values = some_slots(setup.params.slots(), u64::from(seed));
            let refreshed = setup.bootstrap(&setup.encrypt(&values));
            assert_eq!(refreshed.level(), levels.output, "{name}");
            assert!(refreshed.scale().matches(setup.params.scale()), "{name}");
            let found = bits(&setup.decrypt(&refreshed), &values);
            let [mean, worst] = preset.promised.bits;
            assert!(found[0] >= mean && found[1] >= worst, "{name}, key {seed}: {found:?}");
        }
    }
}

/// The chain of `drucker16` in a ring of 2^11, where noise is 2.5 to 3 bits less: half a bit and a little more for every doubling.
#[test]
fn the_set_for_comparison_has_bits_to_spare_in_a_small_ring() {
    let preset = conventional_preset("drucker16").unwrap();
    let mut spec = preset.params().unwrap().spec().clone();
    spec.chain.n = 1 << 11;
    spec.log_slots = 10;
    spec.chain.policy = SecurityPolicy::InsecureForTests;
    let setup = Setup::of(ConventionalParams::new(&spec).unwrap(), 1);
    let values = some_slots(setup.params.slots(), 1);
    let found = bits(&setup.decrypt(&setup.bootstrap(&setup.encrypt(&values))), &values);
    println!("drucker16 in a ring of 2^11: {found:?}");
    let [mean, worst] = preset.promised.bits;
    assert!(found[0] >= mean + 3.5 && found[1] >= worst + 4.5, "{found:?}");
}

#[test]
fn a_refreshed_ciphertext_is_multiplied_until_it_is_exhausted_and_refreshed_again() {
    let setup = Setup::new("toy-conventional11", 3);
    let values: Vec<Complex> = some_slots(setup.params.slots(), 5)
        .iter()
        .map(|&z| z.scale(core::f64::consts::FRAC_1_SQRT_2))
        .collect();
    let mut x = setup.bootstrap(&setup.encrypt(&values));
    let mut expected: Vec<Complex> = values.clone();
    let times_itself = |x: &Ciphertext<u64>| setup.evaluator.multiply(x, x, &setup.keys).unwrap();
    while x.level() > setup.params.levels().input {
        x = times_itself(&x);
        // Squares stay in the unit disc only if the numbers do.
        for z in &mut expected {
            *z = *z * *z;
        }
    }
    let small: Vec<usize> = (0..expected.len()).filter(|&i| values[i].abs() < 0.9).collect();
    assert!(small.len() > 500);
    let close = |x: &Ciphertext<u64>| {
        let found = setup.decrypt(x);
        let largest = small.iter().map(|&i| (found[i] - expected[i]).abs()).fold(0.0, f64::max);
        assert!(largest < 1e-4, "{largest}");
    };
    close(&x);
    close(&setup.bootstrap(&x));
}

#[test]
fn extreme_messages() {
    let setup = Setup::new("toy-conventional10-slots-first", 2);
    let slots = setup.params.slots();
    let one_hot = (0..slots).map(|i| Complex::new(f64::from(i == 3), 0.0)).collect::<Vec<_>>();
    let corner = vec![Complex::new(1.0, -1.0); slots];
    for values in [vec![Complex::ZERO; slots], one_hot, corner] {
        let refreshed = setup.bootstrap(&setup.encrypt(&values));
        let [_, worst] = bits(&setup.decrypt(&refreshed), &values);
        assert!(worst >= 20.0, "{worst}");
    }
}

#[test]
fn raised_coefficients_are_the_message_and_small_multiples_of_q0() {
    for name in TOYS {
        let setup = Setup::new(name, 4);
        let values = some_slots(setup.params.slots(), 8);
        let mut run = ConventionalRun::new(&setup.evaluator, &setup.encrypt(&values)).unwrap();
        let parts = loop {
            if let ConventionalState::Slots(parts) = run.state() {
                break parts.clone();
            }
            run.step(&setup.keys, &mut ()).unwrap();
        };
        let range = f64::from(setup.params.spec().reduction.range());
        let ratio = 2f64.powi(setup.params.spec().log_message_ratio as i32);
        let mut seen = [false; 3];
        for part in &parts {
            for z in setup.secret.decrypt_ring(part).unwrap().reveal_to_key_owner() {
                let x = z.re * range;
                let near = x.round();
                assert!(near.abs() < range, "{name}: {x}");
                // sqrt(2) for complex slots of the square, and noise.
                assert!((x - near).abs() < 1.5 / ratio, "{name}: {x}");
                assert!(z.im.abs() < 1e-6, "{name}: real parts");
                seen[(near as i64).unsigned_abs().min(2) as usize] = true;
            }
        }
        assert_eq!(seen, [true; 3], "{name}: a message without multiples of q0 would test nothing");
    }
}

#[test]
fn stages_are_reported_in_order_and_can_be_cancelled() {
    struct Recorder(Vec<String>, usize);
    impl Observer for Recorder {
        fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
            if let StageEvent::Exit { stage, level, counters, .. } = event {
                assert!(counters.ntt > 0 && counters.key_switch > 0);
                self.0.push(format!("{stage} {level}"));
            }
            if self.0.len() >= self.1 {
                return std::ops::ControlFlow::Break(());
            }
            std::ops::ControlFlow::Continue(())
        }
    }
    let setup = Setup::new("toy-conventional10-sparse", 1);
    let x = setup.encrypt(&some_slots(64, 1));
    let method = ConventionalBootstrapper { evaluator: &setup.evaluator, keys: &setup.keys };
    let mut all = Recorder(Vec::new(), usize::MAX);
    method.bootstrap(&x, &mut all).unwrap();
    let mut level = setup.params.levels().coeffs_to_slots;
    let expected: Vec<String> = method
        .stages()
        .iter()
        .map(|stage| {
            level -= stage.levels;
            format!("{} {level}", stage.id)
        })
        .collect();
    assert_eq!(all.0, expected);
    assert_eq!(level, method.output_level());
    let mut two = Recorder(Vec::new(), 2);
    assert!(matches!(method.bootstrap(&x, &mut two), Err(Error::Cancelled(_))));
}

#[test]
fn neither_storage_nor_threads_change_a_bit() {
    for name in ["toy-conventional10-50bit", "toy-conventional10-sparse", "toy-conventional11"] {
        neither_changes_a_bit(name);
    }
}

fn neither_changes_a_bit(name: &str) {
    let setup = Setup::new(name, 1);
    let x = setup.encrypt(&some_slots(setup.params.slots(), 3));
    let expected = setup.bootstrap(&x);
    let same =
        |y: &Ciphertext<u64>| y.parts().iter().zip(expected.parts()).all(|(p, q)| p.data() == q.data());
    let coefficients = ConventionalEvaluator::new(&setup.params, PlaintextStorage::Coefficients).unwrap();
    assert!(same(&coefficients.bootstrap(&x, &setup.keys, &mut ()).unwrap()));
    assert!(coefficients.memory_bytes() < setup.evaluator.memory_bytes() / 2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert!(same(&pool.install(|| setup.bootstrap(&x))));
}

#[test]
fn what_does_not_fit_is_named() {
    let setup = Setup::new("toy-conventional10-slots-first", 1);
    let other = Setup::new("toy-conventional10-sparse", 1);
    let x = setup.encrypt(&[Complex::ONE]);
    let bootstrap = |x: &Ciphertext<u64>, keys| setup.evaluator.bootstrap(x, keys, &mut ());
    assert!(matches!(bootstrap(&x, &other.keys), Err(Error::ParamsMismatch(_))));
    assert!(matches!(other.evaluator.bootstrap(&x, &other.keys, &mut ()), Err(Error::ParamsMismatch(_))));
    let low = setup.evaluator.ckks().drop_to_level(&x, 1).unwrap();
    assert!(matches!(bootstrap(&low, &setup.keys), Err(Error::LevelMismatch(_))));
    let key = ConventionalSecretKey::generate(&setup.params, &Seed::from_bytes([9; 32]));
    let foreign = key.encrypt(&[], setup.params.levels().input, &Seed::from_bytes([9; 32])).unwrap();
    assert!(matches!(bootstrap(&foreign, &setup.keys), Err(Error::ParamsMismatch(_))));
    let encrypt = |values: &[Complex], level| setup.secret.encrypt(values, level, &Seed::from_bytes([1; 32]));
    assert!(matches!(encrypt(&[Complex::new(1.5, 0.0)], 3), Err(Error::InvalidArgument(_))));
    assert!(matches!(encrypt(&[Complex::new(f64::NAN, 0.0)], 3), Err(Error::InvalidArgument(_))));
    assert!(matches!(encrypt(&vec![Complex::ONE; 513], 3), Err(Error::InvalidArgument(_))));
    assert!(matches!(encrypt(&[], 99), Err(Error::LevelMismatch(_))));
    let wide = other.evaluator.ckks();
    let y = other.encrypt(&[Complex::ONE]);
    let square = wide.multiply(&y, &y, other.keys.relinearization());
    assert!(matches!(square, Err(Error::LevelMismatch(_))));
}

#[test]
fn presets_are_what_they_say() {
    for preset in ConventionalPreset::all() {
        let spec = (preset.spec)();
        assert_eq!((preset.name, preset.policy), (spec.name.as_str(), spec.policy()));
        assert_eq!(ConventionalPreset::by_fingerprint(&spec.fingerprint()).unwrap().name, preset.name);
        assert!(preset.secure() != preset.name.starts_with("toy-"));
        let failure = preset.params().unwrap().log2_failure().unwrap();
        assert!(failure <= -128.0, "{}: a bootstrap fails with probability 2^{failure}", preset.name);
        if preset.secure() {
            assert!(preset.params().unwrap().security().bits >= 128.0, "{}", preset.name);
        }
    }
    let by_name = |name: &str| conventional_preset(name).unwrap().params().unwrap();
    let (n16, n15) = (by_name("n16"), by_name("n15"));
    assert!(n16.log_qp() <= 1616.0 && n16.levels().left() == 9, "{}", n16.log_qp());
    assert!(n15.log_qp() <= 808.0 && n15.levels().left() == 2, "{}", n15.log_qp());
    for log_slots in 5..=14 {
        let sparse = conventional_preset("n16-sparse").unwrap().params_with_slots(log_slots).unwrap();
        // The last stage of all slots has half as many diagonals as others: only clearly fewer slots take fewer keys.
        assert!(log_slots > 12 || sparse.key_bytes() < n16.key_bytes(), "{log_slots}");
    }
    assert!(matches!(conventional_preset("n17"), Err(Error::InvalidArgument(_))));
}

#[test]
fn sets_with_a_sine_are_read_by_their_old_fingerprints() {
    // As they were written by version 0.1, before two harmonics took the names.
    let old = [
        ("toy-conventional10-sparse-2026a", "c0153053ae27d322c53f7e29b724bdd6"),
        ("toy-conventional11-sine", "1e9b451828ffed1671a47f9fb889b5d5"),
        ("n15-2026a", "93374eb783375a97b56c461bebc15a77"),
    ];
    for (name, hex) in old {
        let preset = ConventionalPreset::by_fingerprint(&unhex(hex).try_into().unwrap()).unwrap();
        assert_eq!(preset.name, name);
        assert!(!preset.promise().holds_for_every_message(), "{name}");
    }
    for retired in ConventionalPreset::retired() {
        assert_eq!((retired.preset.spec)().name, retired.preset.name);
        let now = conventional_preset(retired.now).unwrap();
        assert!(now.promise().holds_for_every_message() && retired.preset.name.starts_with(now.name));
        let refused = conventional_preset(retired.preset.name).err().unwrap().to_string();
        assert!(refused.contains(retired.now), "{refused}");
    }
}

#[test]
fn the_secret_key_that_pages_are_tested_with_is_one_of_an_earlier_set() {
    let vector: serde_json::Value = serde_json::from_str(include_str!("../../vectors/retired.json")).unwrap();
    let name = "toy-conventional10-sparse-2026a";
    let params = ConventionalPreset::readable_named(name).unwrap().params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
    let bytes = unhex(vector["secret"].as_str().unwrap());
    assert_eq!((vector["name"].as_str(), bytes), (Some(name), secret_key_to_bytes(&secret)));
}

#[test]
fn a_narrow_range_fails_as_often_as_computed() {
    // Weight 32 and quotients up to 2: of 2^11 coefficients, about a fifth are beyond.
    let mut spec = (conventional_preset("toy-conventional11-sine").unwrap().spec)();
    spec.reduction = match spec.reduction {
        Reduction::Sine(sine) => Reduction::Sine(EvalModSpec { range: 3, ..sine }),
        Reduction::Harmonics(_) => unreachable!("a sine"),
    };
    let params: ConventionalParams = ConventionalParams::new(&spec).unwrap();
    let expected = params.log2_failure().unwrap().exp2();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([8; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Coefficients).unwrap();
    let mut beyond = 0;
    for fresh in 0..2 {
        let values = some_slots(params.slots(), u64::from(fresh));
        let x = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([fresh; 32])).unwrap();
        let raised =
            evaluator.mod_raise(&evaluator.to_base(&x).unwrap(), &keys, &mut Counters::default()).unwrap();
        let parts = evaluator.coeffs_to_slots(&raised, &keys, &mut Counters::default()).unwrap();
        for part in &parts {
            let slots = secret.decrypt(part).unwrap();
            beyond +=
                slots.reveal_to_key_owner().iter().filter(|z| (3.0 * z.re).round().abs() >= 3.0).count();
        }
    }
    let observed = beyond as f64 / 2.0;
    // Both counts are binomial, about 2 x 380: five deviations.
    assert!(
        (observed / expected - 1.0).abs() < 0.2,
        "{observed} of {} beyond, {expected} computed",
        params.n()
    );
}
