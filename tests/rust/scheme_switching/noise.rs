//! The noise of numbers on their way to gates: of phases, of orders, and what a grid has room for.

use refloat::bootstrapping::scheme_switching::Range;
use refloat::circuits::program::{Bootstraps, InputShape, Plan, Program};
use refloat::schemes::ckks::Scale;
use refloat_tests::measure::{assert_within, mean_square, uniform};

use super::setup::{comparison, encrypt, extract, make, of_spec, world};

#[test]
fn every_slot_becomes_a_phase_with_the_noise_of_the_model() {
    let (mut errors, mut model) = (Vec::new(), 0.0);
    for seed in [1, 2, 3] {
        let world = make(seed);
        let count = world.params.ckks().slots();
        let ramp: Vec<f64> = (0..count).map(|i| 2.0 * i as f64 / count as f64 - 1.0).collect();
        let corners: Vec<f64> = (0..count).map(|i| if i.is_multiple_of(3) { 1.0 } else { -1.0 }).collect();
        let positive: Vec<f64> = uniform(count, 2).iter().map(|x| x.abs()).collect();
        for (range, numbers) in [
            (Range::Signed, uniform(count, 1)),
            (Range::Signed, ramp),
            (Range::Signed, corners),
            (Range::Signed, vec![0.0; count]),
            (Range::Unit, positive),
            (Range::Unit, vec![1.0; count]),
            (Range::Grid { bits: 3 }, (0..count).map(|i| (i % 8) as f64 / 8.0).collect()),
        ] {
            let phases = extract(&world, &numbers, range);
            for (phase, number) in phases.iter().zip(&numbers) {
                let error = world.secret.inspect_phase(phase).unwrap() - range.turns() * number;
                errors.push(error - error.round());
            }
        }
        model = world.params.noise().extraction;
    }
    assert_within(mean_square(errors.iter().copied()), model, 0.1, "from slots to gates");
    let worst = errors.iter().fold(0.0f64, |worst, x| worst.max(x.abs()));
    assert!(worst < 6.5 * model.sqrt(), "{worst}");
}

#[test]
fn levels_above_and_single_slots_do_as_well() {
    let world = world();
    let numbers = uniform(world.params.ckks().slots(), 3);
    let top = world.params.ckks().levels().output;
    assert_eq!(top, world.params.input_level() + 2);
    let x = encrypt(world, &numbers, top, 6);
    let chosen = [1023, 0, 512, 3, 3];
    let phases = world.evaluator.extract(&x, &chosen, Range::Signed, &mut ()).unwrap();
    for (phase, slot) in phases.iter().zip(chosen) {
        let error = world.secret.inspect_phase(phase).unwrap() - Range::Signed.turns() * numbers[slot];
        assert!(error.abs() < 1e-5, "{slot}: {error}");
    }
}

#[test]
fn an_order_is_wrong_as_often_as_the_model_says() {
    let world = world();
    let count = 512;
    // The second half of the slots holds what the first is compared with.
    for (range, distance) in [(Range::Unit, 0.002), (Range::Signed, 0.004)] {
        let probability = comparison(world, range).log2_wrong(distance).exp2();
        assert!((0.05..0.3).contains(&probability), "{probability}");
        let first: Vec<f64> = (0..count).map(|i| 0.25 + i as f64 / 1024.0).collect();
        let numbers: Vec<f64> = first.iter().copied().chain(first.iter().map(|x| x + distance)).collect();
        let phases = extract(world, &numbers, range);
        let mut wrong = 0.0;
        for i in 0..count {
            let (x, y) = (&phases[i], &phases[count + i]);
            let larger = world.evaluator.at_least(y, x, &mut ()).unwrap();
            wrong += f64::from(u8::from(!world.secret.cggi().decrypt_bit(&larger).unwrap()));
        }
        let (mean, deviation) =
            (count as f64 * probability, (count as f64 * probability * (1.0 - probability)).sqrt());
        // 99.9 % of the normal distribution, and the model's tolerance of 10 % in the deviation.
        assert!((wrong - mean).abs() < 3.3 * deviation + 0.15 * mean, "{wrong}, {mean} expected");
    }
    let unit = comparison(world, Range::Unit);
    assert!(unit.log2_wrong(0.05) < -100.0 && unit.rotations() == 1);
    // Nearer numbers are wrong more often, and `least_distance` is the inverse of that.
    let least = unit.least_distance(-40.0).unwrap();
    assert!((unit.log2_wrong(least) + 40.0).abs() < 1e-6, "{least}");
    assert!(unit.least_distance(-80.0).unwrap() > least && unit.least_distance(-1e9).is_none());
    // Two numbers: one pair. More of them, and look-ups of their ranks, add up.
    let ranks = |count, tables| world.params.log2_wrong_ranks(&unit, count, tables, least);
    assert!((ranks(2, 0) + 40.0).abs() < 1e-6);
    assert!((ranks(16, 0) + 40.0 - 120f64.log2()).abs() < 1e-6);
    let far = |tables| world.params.log2_wrong_ranks(&unit, 16, tables, 0.1);
    assert!(far(1) > far(0) + 100.0 && (far(4) - far(1) - 2.0).abs() < 1e-6, "{} {}", far(0), far(1));
}

/// With digits of six bits and a key switch of few, so that exact comparisons are wrong now and then.
#[test]
fn an_exact_order_is_wrong_no_oftener_than_all_of_its_rotations() {
    let world = of_spec(|spec| {
        spec.cggi.switch_digits = 6;
        spec.cggi.log_failure = -4.0;
        spec.log_failure = -4.0;
    });
    let (bits, pairs) = (8, 512);
    let exact = comparison(&world, Range::Grid { bits });
    assert_eq!(exact.rotations(), 3);
    let bound = exact.log2_wrong(0.0).exp2();
    // More than any one of them may be.
    assert!(bound > (-4f64).exp2() && bound < 3.0 * (-4f64).exp2(), "{bound}");
    // Equal numbers, and neighbours of which the first is the smaller: the differences that are nearest to another sign.
    let first: Vec<f64> = (0..pairs).map(|i| f64::from(i % 255) / 256.0).collect();
    let second = first.iter().enumerate().map(|(i, x)| x + (i % 2) as f64 / 256.0);
    let numbers: Vec<f64> = first.iter().copied().chain(second).collect();
    let phases = extract(&world, &numbers, Range::Grid { bits });
    let mut wrong = 0.0;
    for (i, (x, y)) in phases.iter().zip(&phases[first.len()..]).enumerate() {
        let bit = world.evaluator.at_least(x, y, &mut ()).unwrap();
        wrong += f64::from(u8::from(world.secret.cggi().decrypt_bit(&bit).unwrap() != i.is_multiple_of(2)));
    }
    let (mean, deviation) = (pairs as f64 * bound, (pairs as f64 * bound * (1.0 - bound)).sqrt());
    assert!(wrong < mean + 3.3 * deviation && wrong > mean / 10.0, "{wrong}, at most {mean} expected");
}

#[test]
fn a_grid_takes_the_drift_of_scales_that_its_budget_has_room_for() {
    let world = of_spec(|spec| spec.log_failure = -70.0);
    let range = Range::Grid { bits: 10 };
    let own = world.params.ckks().scale();
    let drifted = |drift: f64| own.mul(Scale::new(1.0 + drift));
    let of = |drift: f64| world.params.comparison(range, drifted(drift));
    let step = (-13f64).exp2();
    assert!(of(0.0).is_ok());
    for drift in [2.0 * step, -2.0 * step] {
        assert_eq!(of(drift).unwrap_err().code(), "LIMIT");
    }
    // Numbers as far off as there is just room for: neighbours, and those that are furthest apart.
    let (mut room, mut beyond) = (0.0, 2.0 * step);
    for _ in 0..30 {
        let middle = 0.5 * (room + beyond);
        *(if of(middle).is_ok() { &mut room } else { &mut beyond }) = middle;
    }
    assert!(room > 0.1 * step, "{room}");
    let values = [0, 1, 2, 511, 512, 513, 1022, 1023];
    for (drift, fits) in [(room, true), (-room, true), (1.01 * beyond, false)] {
        let numbers: Vec<f64> = values.iter().map(|&k| (1.0 + drift) * f64::from(k) / 1024.0).collect();
        let x = encrypt(&world, &numbers, world.params.input_level(), 41).relabelled(drifted(drift));
        let slots: Vec<usize> = (0..values.len()).collect();
        let phases = world.evaluator.extract(&x, &slots, range, &mut ()).unwrap();
        for (i, x) in phases.iter().enumerate() {
            for (j, y) in phases.iter().enumerate() {
                match world.evaluator.at_least(x, y, &mut ()) {
                    Ok(bit) => {
                        assert!(
                            fits && world.secret.cggi().decrypt_bit(&bit).unwrap() == (i >= j),
                            "{i}, {j}"
                        );
                    }
                    Err(error) => {
                        assert!(!fits && error.code() == "LIMIT", "{drift}: {error}");
                        // Not the noise: the scale, both of them, and what to do.
                        let said = error.to_string();
                        for part in ["at scale 2^", "scale of the set", "fewer bits"] {
                            assert!(said.contains(part), "{said}");
                        }
                    }
                }
            }
            let bit = world.evaluator.above(x, 512.0 / 1024.0, &mut ());
            assert_eq!(bit.is_ok(), fits);
            assert!(bit.is_err() || world.secret.cggi().decrypt_bit(&bit.unwrap()).unwrap() == (i >= 4));
        }
        // Plans say it before anything is computed.
        let program = Program::parse("x = input\nm = argmax x 8 grid 10\nm = output m").unwrap();
        let shape = InputShape { level: x.level(), scale: x.scale() };
        let target = world.params.program_target().unwrap();
        let plan = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten);
        assert_eq!(plan.err().map(|error| error.code()), (!fits).then_some("LIMIT"));
    }
}
