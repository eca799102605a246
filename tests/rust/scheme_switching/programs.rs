//! Runs of whole programs: what observers see, and the same bytes in steps and in one go.

use refloat::bootstrapping::ckks_msb::{Numbers, Radix, RootsSpec};
use refloat::bootstrapping::program::ProgramMethod;
use refloat::bootstrapping::scheme_switching::{
    LinkBootstrapper, LinkEvaluator, LinkKeys, LinkParams, LinkSecretKey, LinkSpec, OrderRun, Range,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::{Bootstraps, InputShape, Plan, Program};
use refloat::params::msb_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;
use refloat::wire::ciphertext_to_bytes;

use super::setup::{comparison, encrypt, world};

#[test]
fn the_observer_sees_every_stage_and_can_cancel() {
    use refloat::trace::{Observer, StageEvent};
    use std::ops::ControlFlow;

    struct Watch {
        seen: Vec<&'static str>,
        progress: usize,
        stop_at: Option<&'static str>,
    }
    impl Observer for Watch {
        fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
            match event {
                StageEvent::Exit { stage, .. } => self.seen.push(stage),
                StageEvent::Progress { .. } => self.progress += 1,
                _ => {}
            }
            if self.stop_at == Some(event.stage()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let world = world();
    let x = encrypt(world, &[0.1, 0.2, 0.3], world.params.input_level(), 3);
    let all = |watch: &mut Watch| {
        let phases = world.evaluator.extract(&x, &[0, 1, 2], Range::Unit, watch)?;
        let winner = world.evaluator.argmax(&phases, watch)?;
        world.evaluator.to_slots(&winner, watch).map(|_| ())
    };
    let mut watch = Watch { seen: Vec::new(), progress: 0, stop_at: None };
    all(&mut watch).unwrap();
    let stages = refloat::bootstrapping::scheme_switching::STAGES;
    assert_eq!(watch.seen, stages.map(|stage| stage.id));
    assert!(watch.progress >= 2);
    for stage in stages {
        let mut watch = Watch { seen: Vec::new(), progress: 0, stop_at: Some(stage.id) };
        assert_eq!(all(&mut watch).unwrap_err().code(), "ABORTED", "{}", stage.id);
    }
}

#[test]
fn programs_ask_for_the_order_of_slots() {
    let world = world();
    let text = "x = input
        y = multiply x x
        m = argmax y 5 unit
        r = rank y 5 unit
        s = sign x 5
        z = multiply m x
        m = output m
        r = output r
        s = output s
        z = output z";
    let program = Program::parse(text).unwrap();
    let slots = world.params.ckks().slots();
    let mut numbers = vec![0.0; slots];
    numbers[..5].copy_from_slice(&[0.3, -0.9, 0.5, -0.1, 0.7]);
    let x = encrypt(world, &numbers, world.params.ckks().levels().output, 21);
    let clear: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
    let clear = program.evaluate(slots, &[clear]).unwrap();
    let target = world.params.program_target().unwrap();
    let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
    // Two questions about y, of one set of comparisons; one about x.
    assert!(plan.digit_passes() >= 3 && plan.bootstraps() == 0);
    // Three questions about two values: the sum of what may go wrong, for numbers that are far enough apart.
    let (limit, failure) = (world.params.spec().log_failure, plan.log2_failure().unwrap());
    assert!(failure > limit && failure < limit + 6.0, "{failure}");
    assert!((0.01..0.1).contains(&plan.least_distance()), "{}", plan.least_distance());
    let method = LinkBootstrapper::new(world.evaluator.clone());
    let found = method.run_program(&plan, &[x], &mut ()).unwrap();
    for (found, clear) in found.iter().zip(&clear) {
        let found = world.secret.ckks().decrypt(found).unwrap();
        for (a, b) in found.reveal_to_key_owner().iter().zip(clear) {
            assert!((a.re - b.re).abs() < 5e-3, "{a:?}, {b:?}");
        }
    }
    // On a grid each comparison is several rotations, and all of them count.
    let plan_of = |question: &str| {
        let program = Program::parse(&format!("x = input\nm = {question}\nm = output m")).unwrap();
        let shape = InputShape { level: 5, scale: world.params.ckks().scale() };
        let plan = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).unwrap();
        (plan.digit_passes(), plan.log2_failure().unwrap(), plan.least_distance())
    };
    let [unit, grid] = ["argmax x 16 unit", "argmax x 16 grid 9"].map(plan_of);
    let rotations = comparison(world, Range::Grid { bits: 9 }).rotations();
    assert!(rotations >= 3);
    assert_eq!((unit.0, grid.0), (1 + 136usize.div_ceil(90), 1 + (120 * rotations + 16).div_ceil(90)));
    assert!(grid.1 < unit.1 && grid.1 < limit && grid.2 == 0.0, "{grid:?}, {unit:?}");
    // From 0 no number in [-1, 1] is further than 1: signs have the distance of numbers in [0, 1].
    let least = |range| comparison(world, range).least_distance(limit).unwrap();
    assert_eq!(plan_of("sign x 5").2.to_bits(), least(Range::Unit).to_bits());
    assert!(least(Range::Unit) < 0.6 * least(Range::Signed));

    for (text, part) in [
        ("x = input\nm = argmax x 17\nm = output m", "17 numbers"),
        ("x = input\nm = sign x 513\nm = output m", "513 numbers"),
        ("x = input\nm = argmax x 4 grid 11\nm = output m", "11 bits"),
        ("x = input\nm = mod x 1\nm = output m", "modular reduction"),
    ] {
        let program = Program::parse(text).unwrap();
        let shape = InputShape { level: 5, scale: world.params.ckks().scale() };
        let error = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).err().unwrap().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn questions_in_steps_and_in_programs_give_the_same_bytes() {
    let world = world();
    let (params, context) = (&world.params, world.params.ckks().ckks());
    // Above the levels where numbers are compared, bits come back: what a message may have is less.
    let highest = params.ckks().levels().output;
    assert!(params.output_level() > highest, "{} of {highest}", params.output_level());
    let target = params.program_target().unwrap();
    let method = LinkBootstrapper::new(world.evaluator.clone());
    let mut numbers = vec![0.0; params.ckks().slots()];
    numbers[..4].copy_from_slice(&[0.25, 0.875, 0.5, 0.875]);
    let x = encrypt(world, &numbers, highest, 22);
    let numbers: Vec<Complex> = numbers.into_iter().map(Complex::from).collect();
    for questions in [
        &["argmax y 5 grid 4"] as &[_],
        &["argmin y 5 grid 4"],
        &["rank y 5 grid 4"],
        &["top y 5 2 grid 4"],
        &["sign y 4"],
        &["rank y 3 unit", "argmin y 3 unit"],
        &["sign y 4", "sign y 4"],
    ] {
        let nodes = questions.iter().enumerate().map(|(i, question)| format!("z{i} = {question}\n"));
        let outputs = (0..questions.len()).map(|i| format!("z{i} = output z{i}\n"));
        let text = format!("y = input\n{}{}", nodes.collect::<String>(), outputs.collect::<String>());
        let program = Program::parse(&text).unwrap();
        let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
        let planned = method.run_program(&plan, core::slice::from_ref(&x), &mut ()).unwrap();

        let readings = program.readings().unwrap();
        let mut run = OrderRun::new(&world.evaluator, &x, readings.as_slice().into()).unwrap();
        while !run.step(&mut ()).unwrap() {}
        let stepped = run.finish().unwrap();

        let exact = program.evaluate(numbers.len(), core::slice::from_ref(&numbers)).unwrap();
        assert_eq!((planned.len(), stepped.len()), (questions.len(), questions.len()));
        for (i, question) in questions.iter().enumerate() {
            assert_eq!((planned[i].level(), stepped[i].level()), (highest, highest), "{question}");
            let found = world.secret.ckks().decrypt(&stepped[i]).unwrap();
            for (a, b) in found.reveal_to_key_owner().iter().zip(&exact[i]) {
                assert!((a.re - b.re).abs() < 5e-3, "{question}: {a:?}, {b:?}");
            }
            let [planned, stepped] =
                [&planned[i], &stepped[i]].map(|x| ciphertext_to_bytes(context, x).unwrap());
            assert!(planned == stepped, "{question}");
        }
    }
}

#[test]
fn integers_are_compared_by_gates_and_reduced_by_digits_under_one_key_set() {
    let toy = world().params.spec();
    let spec = LinkSpec {
        name: "toy-msb11 with gates".into(),
        ckks: (msb_preset("toy-msb11").unwrap().spec)(),
        cggi: toy.cggi.clone(),
        prime: toy.prime,
        special: toy.special,
        log_failure: toy.log_failure,
    };
    let params: LinkParams<RootsSpec> = LinkParams::new(&spec).unwrap();
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([31; 32]));
    let keys = LinkKeys::generate(&secret).unwrap();
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients).unwrap();
    let values = [3, 14, 7, 0, 15, 8];
    let slots: Vec<Complex> = values.iter().map(|&k| Complex::new(f64::from(k) / 16.0, 0.0)).collect();
    let level = params.ckks().levels().output;
    let x = secret.ckks().encrypt(&slots, level, &Seed::from_bytes([32; 32])).unwrap();
    let phases = evaluator.extract(&x, &[0, 1, 2, 3, 4, 5], Range::Grid { bits: 4 }, &mut ()).unwrap();
    let winner = evaluator.argmax(&phases, &mut ()).unwrap();
    let found = secret.cggi().decrypt_bits(&winner).unwrap();
    assert_eq!(found, values.map(|k| k == 15));
    let mask = evaluator.to_slots(&winner, &mut ()).unwrap();
    let mask = secret.ckks().decrypt(&mask).unwrap();
    let radix = Radix::new(&[16]).unwrap();
    let keys = evaluator.keys().ckks();
    let fresh = evaluator.ckks().int_boot(Numbers::up_to(&x, 1.0), &radix, keys, &mut ()).unwrap();
    let fresh = secret.ckks().decrypt(&fresh).unwrap();
    for (i, &k) in values.iter().enumerate() {
        let (mask, fresh) = (mask.reveal_to_key_owner()[i].re, fresh.reveal_to_key_owner()[i].re);
        assert!((mask - f64::from(u8::from(k == 15))).abs() < 1e-3, "{i}: {mask}");
        assert!((fresh * 16.0 - f64::from(k)).abs() < 1e-4, "{i}: {fresh}");
    }
}
