//! SHIP in its variants at demonstration size: both sines, complex slots, bits, other digits of the
//! encapsulation, a composite base modulus, and the secret's windows one by one.

use refloat::Error;
use refloat::bootstrapping::ViewKind;
use refloat::bootstrapping::ckks_ship::{
    Diagonals, ShipEvaluator, ShipParams, ShipRun, ShipSpec, quarter_masks, window_positions,
};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::ring::from_integers;
use refloat::rlwe::EncapsulationDigits;
use refloat::schemes::ckks::Complex;
use refloat::security::SecurityPolicy;
use refloat::trace::Counters;
use refloat_tests::measure::{assert_within, bits, mean_square, uniform};
use refloat_tests::precision::Precision;
use refloat_tests::ship::{SparseSecret, sine_model};
use refloat_tests::ship_noise::ShipNoise;
use refloat_tests::toy::{Setup, grouped_spec, toy, toy_spec};

#[test]
fn the_slope_correction_changes_the_sine_and_not_the_noise() {
    let spec = ShipSpec { slope_correction: false, ..toy_spec() };
    let gamma = spec.gamma;
    let setup = Setup::new(spec, 1);
    let message = uniform(512, 31);
    let input = setup.encrypt(&message, SlotMode::Real);
    let found = setup.decrypt(&setup.bootstrap(&input, SlotMode::Real), SlotMode::Real);
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
fn diagonals_give_the_same_bits_however_they_are_kept() {
    let grouped = Setup::new(grouped_spec(), 5);
    for setup in [toy(), &grouped] {
        let params = setup.secret.params();
        let input = setup.encrypt(&uniform(512, 36), SlotMode::Real);
        let moved = |keep: Diagonals| {
            let evaluator = ShipEvaluator::with_diagonals(params, keep).expect("an evaluator");
            let out =
                evaluator.slots_to_coeffs(&input, &setup.keys, &mut Counters::default()).expect("level 1");
            out.parts().iter().map(|part| part.data().to_vec()).collect::<Vec<_>>()
        };
        let kept = moved(Diagonals::Evaluated);
        assert!(kept == moved(Diagonals::Coefficients), "{}: coefficients", setup.spec.name);
        assert!(kept == moved(Diagonals::Remade), "{}: remade", setup.spec.name);
    }
    let full = ship_preset("ship14").expect("a preset").params().expect("valid parameters");
    assert_eq!(Diagonals::for_params(&full), Diagonals::Evaluated, "2 GiB beside 12.4 GB of keys");
    assert_eq!(Diagonals::for_params(toy().secret.params()), Diagonals::Evaluated);
}

#[test]
fn a_composite_base_modulus_gives_the_phases_of_a_prime_one() {
    // q0 of ship14, two primes of 20 bits, and one prime of 31 bits: the same messages, each within its noise.
    let composite = grouped_spec();
    let mut prime = grouped_spec();
    prime.levels[0] = vec![2_147_473_409];
    prime.digits = vec![vec![0, 13, 14], vec![1, 2, 11, 12], vec![3, 4, 9, 10], vec![5, 6, 7, 8]];
    prime.encapsulation_digits = EncapsulationDigits::Balanced { count: 2 };
    let message = uniform(512, 37);
    let found = [composite, prime].map(|spec| {
        let setup = Setup::new(spec, 6);
        let noise = ShipNoise::new(&setup.spec);
        let input = setup.encrypt(&message, SlotMode::Real);
        let sigma = noise.phases(mean_square(message.clone())).sqrt() / noise.coefficient_scale();
        (setup.noisy_messages(&input), sigma)
    });
    let [(composite, fine), (prime, coarse)] = &found;
    let difference = mean_square(composite.iter().zip(prime).map(|(x, y)| x - y)).sqrt();
    assert_within(difference, fine.hypot(*coarse), 0.15, "phases modulo two primes and modulo one");
}

#[test]
fn complex_slots_use_both_halves() {
    let setup = toy();
    let message = uniform(1024, 32);
    let output = setup.bootstrap(&setup.encrypt(&message, SlotMode::Complex), SlotMode::Complex);
    let precision = Precision::of(&setup.decrypt(&output, SlotMode::Complex), &message);
    println!("toy10, complex: {precision}");
    assert!(precision.max_bits() > 10.6 && precision.rms_bits() > 11.5, "{precision}");
}

#[test]
fn bits_come_back_exact_and_cleaner() {
    let spec = ShipSpec { mode: SlotMode::Bits, gamma: 2.0, slope_correction: false, ..toy_spec() };
    let setup = Setup::new(spec, 3);
    let message = bits(512, 33);
    let output = setup.bootstrap(&setup.encrypt(&message, SlotMode::Bits), SlotMode::Bits);
    let found = setup.decrypt(&output, SlotMode::Bits);
    assert_eq!(found.iter().map(|x| x.round()).collect::<Vec<_>>(), message);
    let precision = Precision::of(&found, &message);
    println!("toy10 with bits: {precision}");
    let model = ShipNoise::new(&setup.spec).output();
    assert_within(precision.rms, model, 0.15, "output against the bits");
    assert!(precision.max < 8.0 * model, "{precision}");
    assert!(matches!(
        setup.secret.encrypt(&message, SlotMode::Real, &Seed::from_bytes([0; 32])),
        Err(Error::InvalidArgument(_))
    ));
}

#[test]
fn bits_are_seen_where_they_lie_half_a_period_apart() {
    let spec = ShipSpec { mode: SlotMode::Bits, gamma: 2.0, slope_correction: false, ..toy_spec() };
    let setup = Setup::new(spec, 4);
    let message = bits(512, 34);
    let slots: Vec<Complex> = message.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let mut run =
        ShipRun::new(&setup.evaluator, &setup.encrypt(&message, SlotMode::Bits), SlotMode::Bits).unwrap();
    for kind in [ViewKind::Coefficients, ViewKind::Phases] {
        run.step(&setup.keys, &mut ()).unwrap();
        let view = setup.secret.view(&run, &slots).unwrap().expect("something to see");
        assert!(view.kind == kind && view.error().0 < 0.01, "{kind:?}: error {:?}", view.error());
    }
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
        let input = setup.encrypt(&message, SlotMode::Real);
        let found = setup.noisy_messages(&input);
        let errors =
            found.iter().zip(message.iter().copied().chain(core::iter::repeat(0.0))).map(|(x, y)| x - y);
        let raw = mean_square(errors).sqrt() * noise.coefficient_scale();
        assert_within(raw, noise.phases(mean_square(message.clone())).sqrt(), 0.15, "phases");
        phases.push(raw);
        let output = setup.decrypt(&setup.bootstrap(&input, SlotMode::Real), SlotMode::Real);
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
