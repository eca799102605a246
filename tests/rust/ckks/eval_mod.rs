//! The reduction modulo q0 of conventional bootstrapping: in the clear against the published accuracies, and on
//! ciphertexts of a toy ring for every quotient it must bear, within its own error and the noise.

use std::ops::Deref;

use refloat::arith::DoubleDouble;
use refloat::bootstrapping::ckks_conventional::{
    ArcsineSpec, EvalMod, EvalModSpec, FittedReduction, Harmonics, HarmonicsSpec, Reduction,
};
use refloat::ring::GaloisElement;
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::trace::Counters;
use refloat_tests::chain::{Chain, distance as largest_distance, spec_by_levels};

const N: usize = 1 << 11;
const RANGE: u32 = 16;

fn spec(degree: usize, double_angles: u32) -> EvalModSpec {
    EvalModSpec { range: RANGE, degree, double_angles, arcsine: None, log_distance: None }
}

fn near(degree: usize, double_angles: u32, log_distance: u32) -> EvalModSpec {
    EvalModSpec { log_distance: Some(log_distance), ..spec(degree, double_angles) }
}

fn with_arcsine(spec: EvalModSpec, degree: usize, log_distance: u32) -> EvalModSpec {
    EvalModSpec { arcsine: Some(ArcsineSpec { degree, log_distance }), ..spec }
}

/// A chain of eleven levels of `bits` above the lowest, at that scale.
struct Toy(Chain<u64>);

impl Deref for Toy {
    type Target = Chain<u64>;

    fn deref(&self) -> &Chain<u64> {
        &self.0
    }
}

impl Toy {
    fn new(bits: f64) -> Self {
        Self(Chain::of(&spec_by_levels(N, &[&[bits][..]; 12], &[60.9]), Scale::exp2(bits), 3))
    }

    fn encrypt(&self, slots: &[f64]) -> Ciphertext<u64> {
        let slots: Vec<Complex> = slots.iter().map(|&x| Complex::new(x, 0.0)).collect();
        self.encrypt_with(&slots, self.top(), 5)
    }

    /// y = (I + rest) / K for every |I| up to `last`, and the rests, which go up to `distance`.
    fn arguments(&self, last: i64, distance: f64) -> (Vec<f64>, Vec<f64>) {
        let slots = self.context.slots();
        let rests: Vec<f64> = (0..slots).map(|k| distance * ((k * 37 % 129) as f64 / 64.0 - 1.0)).collect();
        let quotient = |k: usize| (k as i64 % (2 * last + 1) - last) as f64;
        let y = (0..slots).map(|k| (quotient(k) + rests[k]) / f64::from(RANGE)).collect();
        (y, rests)
    }

    /// The largest error in the slots, for every |I| < K.
    fn worst(&self, eval_mod: &EvalMod, distance: f64) -> f64 {
        let (y, rests) = self.arguments(i64::from(RANGE) - 1, distance);
        let parts = [self.encrypt(&y), self.encrypt(&y.iter().map(|y| -y).collect::<Vec<_>>())];
        let target = Scale::from_real(self.scale.to_real() * DoubleDouble::ratio(1001, 1000));
        let mut counters = Counters::default();
        let out = eval_mod
            .evaluate(&self.evaluator, &parts, &self.relinearization, target, &mut counters)
            .expect("enough levels");
        assert_eq!(counters.key_switch, 2 * eval_mod.key_switches() as u64);
        let mut worst = 0.0f64;
        for (out, sign) in out.iter().zip([1.0, -1.0]) {
            assert_eq!((out.level(), out.scale()), (parts[0].level() - eval_mod.spec().levels(), target));
            for (found, rest) in self.decrypt(out).iter().zip(&rests) {
                worst = worst.max((*found - Complex::new(sign * rest, 0.0)).abs());
            }
        }
        worst
    }

    /// The largest error of two harmonics for |I| up to `quotient`: of one ciphertext, and of two as x1 + i x2.
    fn worst_of_harmonics(&self, harmonics: &Harmonics, quotient: u32, distance: f64) -> [f64; 2] {
        let (y, rests) = self.arguments(quotient.into(), distance);
        let reversed: Vec<f64> = y.iter().rev().copied().collect();
        let (keys, parts) = (self.galois_keys(&[]), [self.encrypt(&y), self.encrypt(&reversed)]);
        let conjugation = keys.get(GaloisElement::conjugation(N)).expect("its key");
        let target = Scale::from_real(self.scale.to_real() * DoubleDouble::ratio(1001, 1000));
        [1, 2].map(|count| {
            let mut counters = Counters::default();
            let out = harmonics
                .evaluate(
                    &self.evaluator,
                    &parts[..count],
                    &self.relinearization,
                    conjugation,
                    target,
                    &mut counters,
                )
                .expect("enough levels");
            assert_eq!(counters.key_switch, (count * harmonics.key_switches() + 1) as u64);
            assert_eq!((out.level(), out.scale()), (self.top() - harmonics.spec().levels(), target));
            let second = |k: usize| if count == 2 { rests[rests.len() - 1 - k] } else { 0.0 };
            let wanted: Vec<Complex> =
                rests.iter().enumerate().map(|(k, &rest)| Complex::new(rest, second(k))).collect();
            largest_distance(&self.decrypt(&out), &wanted)
        })
    }
}

#[test]
fn the_clear_sine_is_as_good_as_tabulated() {
    // ckks bootstrapping, K = 16: whole intervals, here with even polynomials; then near the integers alone.
    let table = [
        (spec(22, 3), 11.0),
        (spec(22, 4), 32.0),
        (spec(30, 2), 3.0),
        (spec(30, 3), 27.0),
        (spec(30, 4), 41.0),
        (spec(40, 2), 17.0),
        (spec(40, 3), 43.0),
        (spec(46, 2), 27.0),
        (spec(54, 2), 42.0),
        (spec(58, 2), 51.0),
        (spec(62, 2), 57.0),
        (near(30, 2, 8), 8.0),
        (near(30, 3, 8), 33.5),
        (near(31, 3, 8), 34.7),
        (near(40, 2, 8), 25.0),
        (near(46, 2, 8), 38.0),
    ];
    for (spec, bits) in table {
        let eval_mod = EvalMod::new(&spec).expect("a sound spec");
        let found = -eval_mod.sine_error(1.0 / 256.0).log2();
        println!(
            "{spec:?}: {found:.2} bits, {} levels, {} key switches",
            spec.levels(),
            eval_mod.key_switches()
        );
        assert!(found > bits - 1.0, "{spec:?}: {found} bits, tabulated {bits}");
    }
}

#[test]
fn even_polynomials_are_cheaper() {
    let key_switches = |spec| EvalMod::new(&spec).expect("a sound spec").key_switches();
    assert_eq!([spec(30, 3), spec(54, 2), spec(58, 2), spec(62, 2)].map(key_switches), [11, 11, 12, 13]);
    assert_eq!([near(30, 3, 8), near(31, 3, 8), near(46, 2, 8)].map(key_switches), [12, 13, 14]);
    assert_eq!(key_switches(with_arcsine(spec(30, 3), 7, 5)), 11 + 4);
}

#[test]
fn the_clear_reduction_is_bounded_by_sine_and_arcsine() {
    // Without an arcsine the cube remains.
    let sine = EvalMod::new(&spec(62, 2)).expect("a sound spec");
    let distance = 1.0 / 256.0;
    let cube = (core::f64::consts::TAU * distance).powi(3) / 6.0 / core::f64::consts::TAU;
    assert!((sine.error(distance) / cube - 1.0).abs() < 0.01);
    assert!((sine.value(3.001) - 0.001).abs() < 7e-9 && (sine.value(-15.0)).abs() < 1e-16);
    // With one, the bits of the table below the distance, and the sine's error.
    for (log_distance, degree, bits) in [(3, 9, 18.3), (4, 7, 23.7), (5, 5, 24.6), (6, 5, 30.6), (8, 3, 29.1)]
    {
        let spec = with_arcsine(spec(62, 2), degree, log_distance);
        let eval_mod = EvalMod::new(&spec).expect("a sound spec");
        let distance = 2f64.powi(-(log_distance as i32));
        let found = -(eval_mod.error(distance) / distance).log2();
        assert!((found - bits).abs() < 1.0, "2^-{log_distance}, degree {degree}: {found}, tabulated {bits}");
        assert!(eval_mod.arcsine().expect("one").error <= eval_mod.error(distance) * 1.001);
    }
}

#[test]
fn every_quotient_is_taken_off_with_60_bit_primes() {
    let toy = Toy::new(60.0);
    let noise = 2f64.powi(-40);
    for (spec, distance) in [
        (spec(30, 3), 2f64.powi(-12)),
        (spec(62, 2), 2f64.powi(-12)),
        (near(30, 3, 8), 2f64.powi(-8)),
        (near(31, 3, 12), 2f64.powi(-12)),
        (with_arcsine(spec(62, 2), 7, 5), 2f64.powi(-5)),
        (with_arcsine(near(30, 3, 6), 5, 6), 2f64.powi(-6)),
        // Nothing but noise.
        (spec(62, 2), 2f64.powi(-20)),
    ] {
        let eval_mod = EvalMod::new(&spec).expect("a sound spec");
        let (worst, error) = (toy.worst(&eval_mod, distance), eval_mod.error(distance));
        assert!(worst <= error + noise, "{spec:?}: {worst:e}, its own error is {error:e}");
    }
}

#[test]
fn every_quotient_is_taken_off_with_50_bit_primes() {
    let toy = Toy::new(50.0);
    for spec in [spec(62, 2), near(31, 3, 12), spec(30, 4)] {
        let eval_mod = EvalMod::new(&spec).expect("a sound spec");
        let distance = 2f64.powi(-12);
        let (worst, error) = (toy.worst(&eval_mod, distance), eval_mod.error(distance));
        assert!(worst <= error + 2f64.powi(-30), "{spec:?}: {worst:e}, its own error is {error:e}");
    }
}

#[test]
fn two_harmonics_take_every_usual_quotient_off_with_60_bit_primes() {
    let (toy, distance) = (Toy::new(60.0), 2f64.sqrt() / 512.0);
    let spec = HarmonicsSpec { range: RANGE, squarings: 3, log_distance: 9 };
    let harmonics = Harmonics::new(&spec).expect("a sound spec");
    let usual = Reduction::Harmonics(spec).usual_range();
    assert_eq!(usual, 12);
    // To the ends of the range too, where the fit itself is off.
    for quotient in [usual, RANGE - 1] {
        let error = harmonics.error(quotient, distance);
        let [one, both] = toy.worst_of_harmonics(&harmonics, quotient, distance);
        println!("|I| <= {quotient}: {one:e}, {both:e}, the clear function {error:e}");
        let noise = 2f64.powi(-40);
        assert!(
            one <= error + noise && both <= 2f64.sqrt() * error + noise,
            "|I| <= {quotient}: {one:e}, {both:e}"
        );
    }
}

#[test]
fn two_harmonics_are_straight_near_the_integers_there_are() {
    let spec = HarmonicsSpec { range: RANGE, squarings: 3, log_distance: 8 };
    let harmonics = Harmonics::new(&spec).expect("a sound spec");
    assert_eq!((spec.levels(), harmonics.exponential().degree(), harmonics.key_switches()), (9, 31, 14));
    let [a1, a2] = harmonics.amplitudes();
    let slope = core::f64::consts::TAU * (a1 + 2.0 * a2);
    assert!(
        (slope - 1.0).abs() < 1e-15 && (a1 - 0.2122).abs() < 1e-4 && (a2 + 0.0265).abs() < 1e-4,
        "{a1} {a2}"
    );
    // Relative to a message, 2^-25.8 for the largest of all coefficients, and at the integers nothing.
    let largest = 2f64.sqrt() / 256.0;
    for (quotient, bits) in [(0, 25.8), (8, 25.8), (12, 25.7), (13, 25.0), (15, 17.5)] {
        let found = -(harmonics.error(quotient, largest) * 256.0).log2();
        assert!((found - bits).abs() < 0.5, "|I| <= {quotient}: {found}");
    }
    for i in -15..=15 {
        assert!(harmonics.value(f64::from(i)).abs() < 2f64.powi(-75), "{i}");
    }
    for bad in [
        HarmonicsSpec { range: 0, ..spec },
        HarmonicsSpec { range: 65, ..spec },
        HarmonicsSpec { squarings: 11, ..spec },
        HarmonicsSpec { log_distance: 3, ..spec },
    ] {
        assert_eq!(Harmonics::new(&bad).err().expect("refused").code(), "INVALID_ARGUMENT", "{bad:?}");
    }
}

#[test]
fn what_a_reduction_leaves_in_a_slot_is_proven() {
    let bits =
        |reduction, ratio| -FittedReduction::new(&reduction).expect("sound").proven_error(ratio).log2();
    let harmonics =
        |log_distance| Reduction::Harmonics(HarmonicsSpec { range: RANGE, squarings: 3, log_distance });
    let sine = |spec| Reduction::Sine(spec);
    let arcsine = sine(with_arcsine(spec(58, 2), 3, 8));
    for (reduction, ratio, wanted) in [
        (harmonics(7), 7, 21.8),
        (harmonics(8), 8, 25.8),
        (harmonics(9), 9, 29.4),
        // Twice (2 pi)^2 / 6 sqrt(2), over 2^16.
        (sine(spec(58, 2)), 8, 11.78),
        (arcsine, 8, 23.6),
    ] {
        let found = bits(reduction, ratio);
        assert!((found - wanted).abs() < 1.5 && found > wanted - 0.1, "{reduction:?}: {found} bits");
    }
    // A cosine that is fitted to the whole interval is as precise at its ends.
    assert_eq!(
        [sine(spec(58, 2)), sine(near(30, 3, 8)), harmonics(9)].map(|r| r.usual_range()),
        [15, 12, 12]
    );
    // At 0 alone it is less than at the quotients that bootstraps meet, which count.
    let spec = HarmonicsSpec { range: RANGE, squarings: 3, log_distance: 9 };
    let error = Harmonics::new(&spec).expect("sound").error(12, 2f64.sqrt() / 512.0) * 512.0;
    assert!(bits(harmonics(9), 9) <= -error.log2(), "{}", -error.log2());
}

#[test]
fn bad_numbers_and_low_levels_are_refused() {
    let good = spec(30, 3);
    for bad in [
        EvalModSpec { range: 0, ..good },
        EvalModSpec { range: 1000, ..good },
        EvalModSpec { degree: 1, ..good },
        EvalModSpec { degree: 999, ..good },
        EvalModSpec { double_angles: 11, ..good },
        near(30, 3, 1),
        with_arcsine(good, 4, 8),
        with_arcsine(good, 3, 1),
    ] {
        assert_eq!(EvalMod::new(&bad).err().expect("refused").code(), "INVALID_ARGUMENT", "{bad:?}");
    }
    let (toy, eval_mod) = (Toy::new(50.0), EvalMod::new(&good).expect("sound"));
    let low = toy.evaluator.drop_to_level(&toy.encrypt(&[0.0]), 7).expect("lower");
    let error =
        eval_mod.evaluate(&toy.evaluator, &[low], &toy.relinearization, toy.scale, &mut Counters::default());
    let error = error.expect_err("refused");
    assert_eq!(error.code(), "LEVEL_MISMATCH");
    assert!(error.to_string().contains("8 levels") && error.to_string().contains("level 7"), "{error}");
}
