//! SHIP at 128-bit size, end to end: 4096 slots refreshed, squared, refreshed again. Keys are made
//! track by track and dropped, as in a browser tab, so that the test needs little memory.

use refloat::bootstrapping::ckks_ship::{GeneratedKeys, ShipEvaluator, ShipParams, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::{ShipPreset, ship_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat_tests::measure::{assert_within, bits, noisy_messages, uniform};
use refloat_tests::precision::Precision;
use refloat_tests::ship::{sine_model, slope_correction};
use refloat_tests::ship_noise::ShipNoise;

struct Setup {
    preset: &'static ShipPreset,
    mode: SlotMode,
    secret: ShipSecretKey,
    evaluator: ShipEvaluator,
}

impl Setup {
    fn new(name: &str, seed: u8) -> Self {
        let preset = ship_preset(name).expect("a preset");
        let params: ShipParams = preset.params().expect("valid parameters");
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
        Self {
            preset,
            mode: params.mode(),
            secret,
            evaluator: ShipEvaluator::new(&params).expect("evaluator"),
        }
    }

    fn keys(&self) -> GeneratedKeys<&ShipSecretKey> {
        GeneratedKeys::new(&self.secret).expect("keys")
    }

    fn encrypt(&self, values: &[f64], seed: u8) -> Ciphertext {
        self.secret.encrypt(values, self.mode, &Seed::from_bytes([seed; 32])).expect("values in range")
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<f64> {
        self.secret.decrypt(ciphertext, self.mode).expect("own ciphertext").reveal_to_key_owner().clone()
    }

    /// One bootstrap of uniform messages: input, output, and the precision of the output.
    fn refresh(&self, message: &[f64]) -> (Ciphertext, Ciphertext, Precision) {
        let input = self.evaluator.exhaust(&self.encrypt(message, 200)).expect("level 1");
        let output = self.evaluator.bootstrap(&input, self.mode, &self.keys(), &mut ()).expect("a bootstrap");
        assert_eq!((input.level(), output.level()), (1, 2));
        let precision = Precision::of(&self.decrypt(&output), message);
        println!("{}: {precision}", self.preset.name);
        (input, output, precision)
    }

    /// Squares what was refreshed, and refreshes it again.
    fn square_and_refresh(&self, output: &Ciphertext, message: &[f64]) -> Precision {
        let keys = self.keys();
        let squared = self.evaluator.multiply(output, output, &keys).expect("a level is left");
        assert_eq!(squared.level(), 1);
        let second = self.evaluator.bootstrap(&squared, self.mode, &keys, &mut ()).expect("a bootstrap");
        let exact: Vec<f64> = message.iter().map(|x| x * x).collect();
        let precision = Precision::of(&self.decrypt(&second), &exact);
        println!("{}, squared and refreshed again: {precision}", self.preset.name);
        precision
    }
}

#[test]
fn ship13_refreshes_4096_reals_at_128_bits() {
    let setup = Setup::new("ship13", 1);
    let params = setup.secret.params();
    assert!(params.security().bits >= 128.0, "{}", params.security().statement);
    assert!(params.log_qp() <= 214.0 && params.log_q0_p() <= 40.0);
    assert_eq!(params.slots(), 4096);

    let message = uniform(4096, 1);
    let (input, output, precision) = setup.refresh(&message);
    assert!(precision.max_bits() >= 5.8 && precision.rms_bits() >= 7.7, "{precision}");

    // Against the sine of the phases that were rotated, only the noise of the model is left.
    let gamma = params.spec().gamma;
    let noisy = noisy_messages(&setup.secret, &setup.evaluator, &setup.keys(), &input, setup.mode).unwrap();
    let sine: Vec<f64> =
        noisy[..4096].iter().map(|&m| sine_model(m, gamma, slope_correction(gamma))).collect();
    let residual = Precision::of(&setup.decrypt(&output), &sine);
    let noise = ShipNoise::new(params.spec());
    assert_within(residual.rms, noise.output(), 0.15, "output against the sine");
    assert!(residual.max < 10.0 * noise.output(), "worst slot: {residual}");

    let again = setup.square_and_refresh(&output, &message);
    assert!(again.max_bits() >= 4.8 && again.rms_bits() >= 6.7, "{again}");
}

#[test]
fn ship13_bits_come_back_exact_twice() {
    let setup = Setup::new("ship13-bits", 2);
    assert!(setup.secret.params().security().bits >= 128.0);
    let message = bits(4096, 2);
    let (_, output, precision) = setup.refresh(&message);
    assert!(precision.max_bits() >= setup.preset.promised, "{precision}");
    assert!(precision.max < 0.5, "a wrong bit: {precision}");
    let noise = ShipNoise::new(setup.secret.params().spec());
    assert_within(precision.rms, noise.output(), 0.15, "output against the bits");
    let again = setup.square_and_refresh(&output, &message);
    assert!(again.max < 0.5, "a wrong bit after a product: {again}");
}

/// Five keys of every 128-bit set and its comparison set: minutes, so not in every run.
#[test]
#[ignore = "takes minutes: cargo test --release -p refloat-tests --test ship ship13 -- --ignored"]
fn five_keys_of_every_full_size_set() {
    for name in ["ship13", "ship13-bits", "ship13-he2018", "ship13-bits-he2018", "ship14", "ship14-he2018"] {
        for seed in 1..=5 {
            let setup = Setup::new(name, seed);
            let slots = setup.secret.params().slots();
            let message = if setup.mode == SlotMode::Bits { bits(slots, 3) } else { uniform(slots, 3) };
            let (_, _, precision) = setup.refresh(&message);
            assert!(precision.max_bits() >= setup.preset.promised, "{name}, key {seed}: {precision}");
        }
    }
}
