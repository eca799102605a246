//! Readings as pages make them, a stage at a time: what programs give, and what the owner of the key sees on the way.

use std::ops::ControlFlow;

use refloat::arith::DoubleDouble;
use refloat::bootstrapping::ckks_msb::{
    LOOK_UP, MsbBootstrapper, MsbReading, MsbRun, MsbState, Radix, Readout, Rounding,
};
use refloat::bootstrapping::raising::MOD_RAISE;
use refloat::bootstrapping::{Method, ViewKind};
use refloat::circuits::program::{Program, Reading};
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat::wire::ciphertext_to_bytes;
use refloat_tests::measure::uniform;

use super::{Setup, centred, toy10, toy11};

fn bytes(setup: &Setup, x: &Ciphertext<u64>) -> Vec<u8> {
    ciphertext_to_bytes(setup.params.ckks(), x).unwrap()
}

fn read(setup: &Setup, x: &Ciphertext<u64>, readings: &[&Reading], shift: f64) -> Vec<Ciphertext<u64>> {
    let mut run = MsbReading::new(&setup.evaluator, x, readings.into(), shift).unwrap();
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    run.finish().unwrap()
}

/// Levels to which the digits of a readout are raised, and its results.
fn raised(setup: &Setup, x: &Ciphertext<u64>, readout: &Readout) -> (Vec<usize>, Vec<Ciphertext<u64>>) {
    let mut run = MsbRun::new(&setup.evaluator, x, readout, Rounding::Ephemeral).unwrap();
    let mut levels = Vec::new();
    while !run.step(&setup.keys, &mut ()).unwrap() {
        if let MsbState::Raised(x) = run.state() {
            levels.push(x.level());
        }
    }
    (levels, run.finish().unwrap())
}

#[test]
fn digits_of_which_less_is_left_are_raised_less() {
    let setup = toy11();
    let (levels, top) = (setup.params.levels(), setup.params.levels().coeffs_to_slots);
    let values = uniform(setup.slots(), 31);
    let x = setup.encrypt(&values, setup.input());
    let left = |base: u32| levels.output - (2 * base).ilog2() as usize;

    // The guard digit is taken off, and nothing else: it ends at the level of inputs.
    let identity: Vec<_> = (0..8i64).map(|j| DoubleDouble::ratio(j, 1).into()).collect();
    let readout = Readout::tables(&[identity], Some(32)).unwrap();
    let (found, mut results) = raised(setup, &x, &readout);
    assert_eq!(found, [top - (left(32) - levels.input), top]);
    let y = results.remove(0);
    assert_eq!(y.level(), left(8));
    let close = |(y, x): (f64, &f64)| {
        let (eighth, found) = (8.0 * x.rem_euclid(1.0), y.round());
        assert!(
            (y - found).abs() < 1e-6 && centred((found + 0.5 - eighth) / 8.0).abs() < 0.85 / 8.0,
            "{y}, {x}"
        );
    };
    setup.decrypt(&y).into_iter().zip(&values).for_each(close);

    // Digits as parts of one fraction, which is as low as its deepest table leaves it.
    let (found, mut results) =
        raised(setup, &x, &Readout::digits(&Radix::new(&[4, 8, 32]).unwrap()).unwrap());
    assert_eq!(found, [4, 8, 32].map(|base| top - (left(base) - left(32))));
    let y = results.remove(0);
    assert_eq!((y.level(), y.scale().matches(setup.params.scale())), (left(32), true));
    let grid = 1024.0;
    for (y, x) in setup.decrypt(&y).into_iter().zip(&values) {
        assert!(
            (grid * y - (grid * y).round()).abs() < 1e-6 && centred(y - x).abs() < 12.0 / grid,
            "{y}, {x}"
        );
    }

    // Bits that nobody asked for.
    let bit = Reading::Bit { bits: 5, index: 4 };
    let mut run = MsbReading::new(&setup.evaluator, &x, (&[&bit][..]).into(), 0.0).unwrap();
    let mut found = Vec::new();
    let mut watch = Levels(&mut found);
    while !run.step(&setup.keys, &mut watch).unwrap() {}
    assert!(found.len() > 1 && found[0] < top && found[found.len() - 1] == top, "{found:?}");
    for (y, x) in setup.decrypt(&run.finish().unwrap().remove(0)).into_iter().zip(&values) {
        let x = x.rem_euclid(1.0);
        let near = (2.0 * x - (2.0 * x).round()).abs() < 0.05;
        assert!(near || (y - f64::from(u8::from(x >= 0.5))).abs() < 1e-6, "{y}, {x}");
    }
}

/// Levels at which raises leave their results.
struct Levels<'a>(&'a mut Vec<usize>);

impl Observer for Levels<'_> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Exit { stage: MOD_RAISE, level, .. } = event {
            self.0.push(*level);
        }
        ControlFlow::Continue(())
    }
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
        let mut spent = Counters::default();
        let mut run = MsbReading::new(&setup.evaluator, x, (&[&modulus][..]).into(), 0.0).unwrap();
        run.step(&setup.keys, &mut spent).unwrap();
        spent
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
