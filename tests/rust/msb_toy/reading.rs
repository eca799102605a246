//! Readings as pages make them, a stage at a time: what programs give, and what the owner of the key sees on the way.

use std::ops::ControlFlow;

use refloat::bootstrapping::ckks_msb::{LOOK_UP, MsbBootstrapper, MsbReading, MsbRun};
use refloat::bootstrapping::{Method, ViewKind};
use refloat::circuits::program::{Program, Reading};
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat::wire::ciphertext_to_bytes;
use refloat_tests::measure::uniform;

use super::{Setup, centred, toy10};

/// What stages report together.
#[derive(Default)]
struct Spent(Counters);

impl Observer for Spent {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Exit { counters, .. } = event {
            self.0 += *counters;
        }
        ControlFlow::Continue(())
    }
}

fn bytes(setup: &Setup, x: &Ciphertext<u64>) -> Vec<u8> {
    ciphertext_to_bytes(setup.params.ckks(), x).unwrap()
}

fn read(setup: &Setup, x: &Ciphertext<u64>, readings: &[&Reading], shift: f64) -> Vec<Ciphertext<u64>> {
    let mut run = MsbReading::new(&setup.evaluator, x, readings.into(), shift).unwrap();
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    run.finish().unwrap()
}

#[test]
fn a_reading_by_stages_is_that_of_a_program() {
    let setup = toy10();
    let x = setup.encrypt(&uniform(setup.slots(), 8), setup.params.levels().output);
    let radix = setup.params.refreshing_radix().unwrap();
    let bootstrapper = MsbBootstrapper::new(&setup.evaluator, &setup.keys, &radix).unwrap();
    let bit = |index| Reading::Bit { bits: 3, index };
    let [low, high] = [bit(0), bit(2)];
    // In an order of their own.
    let list = [&high, &low];
    let wanted = bootstrapper.read_digits(&x, (&list[..]).into(), &mut ()).unwrap();
    let found = read(setup, &x, &list, 0.0);
    assert_eq!(found.len(), 2);
    for (y, wanted) in found.iter().zip(&wanted) {
        assert!(bytes(setup, y) == bytes(setup, wanted));
    }
    let mut refreshing = MsbRun::refreshing(&setup.evaluator, &x).unwrap();
    while !refreshing.step(&setup.keys, &mut ()).unwrap() {}
    let refreshed = bootstrapper.bootstrap(&x, &mut ()).unwrap();
    assert!(bytes(setup, &refreshing.finish_one().unwrap()) == bytes(setup, &refreshed));
    // Numbers are shifted before they are read.
    let table = |count: u32| Reading::LookUp((0..count).map(|j| f64::from(j).into()).collect());
    let values: Vec<f64> = (0..setup.slots()).map(|k| (k % 4) as f64 / 4.0).collect();
    let y = read(setup, &setup.encrypt(&values, setup.input()), &[&table(4)], 0.125).remove(0);
    for (found, x) in setup.decrypt(&y).iter().zip(&values) {
        assert!((found - 4.0 * x).abs() < 1e-6, "{found}, {x}");
    }
    assert!(MsbReading::new(&setup.evaluator, &x, (&list[..]).into(), f64::NAN).is_err());
}

#[test]
fn the_owner_of_the_key_sees_each_digit_beside_its_place() {
    let setup = toy10();
    let integers: Vec<f64> =
        (0..setup.slots()).map(|k| 997.0 * (((k * 7919) % 2000) as f64 - 1000.0)).collect();
    let x = setup.encrypt(&integers, setup.params.levels().output);
    let modulus = Reading::Integer { modulus: 1000 };
    let mut run = MsbReading::new(&setup.evaluator, &x, (&[&modulus][..]).into(), 0.0).unwrap();
    let message: Vec<Complex> = integers.iter().map(|z| Complex::new(z / 1000.0, 0.0)).collect();
    let input = setup.secret.view(run.run(), &message).unwrap().unwrap();
    assert!(input.kind == ViewKind::Slots && input.error().0 < 1e-8, "{:?}", input.error());
    let (mut digits, mut clouds) = (Vec::new(), Vec::new());
    loop {
        let done = run.step(&setup.keys, &mut ()).unwrap();
        if let Some(view) = setup.secret.view(run.run(), &[]).unwrap() {
            assert_eq!(view.values.len(), setup.slots());
            let (worst, _) = view.error();
            assert!(worst < 1e-3, "{}: {worst}", view.stage);
            match view.kind {
                ViewKind::Quotients => {}
                _ if view.stage == LOOK_UP => digits.push(view),
                _ => clouds.push(worst),
            }
        }
        if done {
            break;
        }
    }
    assert_eq!((digits.len(), clouds.len()), (2, 3), "the last digit is in the result");
    for (i, (view, factor)) in digits.iter().zip([1000.0, 100.0]).enumerate() {
        for (value, z) in view.values.iter().zip(&integers) {
            let digit = (z.rem_euclid(1000.0) / 10f64.powi(i as i32)).floor() % 10.0;
            assert!((value.re * factor - digit).abs() < 1e-3, "digit {i} of {z}: {}", value.re);
        }
        // As parts of a turn of the circle on which it was read.
        let after = view.error().0 * factor / 10.0;
        assert!(after < clouds[i] / core::f64::consts::TAU, "{after}, {}", clouds[i]);
    }
    let y = run.finish().unwrap().remove(0);
    for (found, z) in setup.decrypt(&y).iter().zip(&integers) {
        assert!(centred((found - z) / 1000.0).abs() < 1e-6);
    }
    // A division is reported by the first stage after it.
    let begun = |x: &Ciphertext<u64>| {
        let mut spent = Spent::default();
        let mut run = MsbReading::new(&setup.evaluator, x, (&[&modulus][..]).into(), 0.0).unwrap();
        run.step(&setup.keys, &mut spent).unwrap();
        spent.0
    };
    // At its scale over the modulus, a number needs no division.
    let level = setup.params.levels().input + 1;
    let ready = setup.encrypt(&[0.5], level).relabelled(y.scale());
    let (divided, ready) = (begun(&setup.encrypt(&[0.5], level)), begun(&ready));
    assert!(divided.ntt > ready.ntt, "{divided:?}, {ready:?}");
}

#[test]
fn other_programs_are_no_readings() {
    let readings = |text: &str| {
        let program = Program::parse(text).unwrap();
        program.readings().map(|readings| readings.len()).map_err(|error| error.to_string())
    };
    assert_eq!(readings("x = input\na = bit x 3 1\nb = bit x 3 2\nb = output b\na = output a"), Ok(2));
    for (text, named) in [
        ("x = input\ny = input\na = bit x 3 1\na = output a", "\"y\""),
        ("x = input\ny = add x 0.5\na = bit y 3 1\na = output a", "\"a\""),
        ("x = input\na = bit x 3 1\nb = negate a\nb = output b", "\"b\""),
        ("x = input\nx = output x", "\"x\""),
    ] {
        let error = readings(text).unwrap_err();
        assert!(error.contains(named) && error.contains("no reading"), "{error}");
    }
}
