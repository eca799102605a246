//! Programs: every operation against clear arithmetic, bootstraps where they are needed, and what is refused.

use std::sync::LazyLock;

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalParams,
    ConventionalSecretKey,
};
use refloat::bootstrapping::ckks_ship::{KeySource, ShipBootstrapper};
use refloat::bootstrapping::method::SlotMode;
use refloat::bootstrapping::program::{self, ProgramMethod};
use refloat::circuits::linear_transform::{Diagonals, PlaintextStorage};
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis, clamp};
use refloat::circuits::program::{
    Bootstraps, Builder, InputShape, Machine, Plan, Program, STAGE, Target, Value,
};
use refloat::params::{ConventionalPreset, conventional_preset};
use refloat::random::Seed;
use refloat::ring::GaloisElement;
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::trace::{Observer, StageEvent};
use refloat_tests::chain::{Chain, distance, some_slots};
use refloat_tests::toy::toy;

struct Setup {
    params: ConventionalParams,
    secret: ConventionalSecretKey,
    keys: ConventionalKeys,
    evaluator: ConventionalEvaluator,
    target: Target,
}

impl Setup {
    fn new(name: &str) -> Self {
        let params = conventional_preset(name).unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        let keys = ConventionalKeys::generate(&secret).unwrap();
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
        let target = params.program_target().unwrap();
        Self { params, secret, keys, evaluator, target }
    }

    fn encrypt(&self, values: &[Complex], level: usize) -> Ciphertext<u64> {
        self.secret.encrypt(values, level, &Seed::from_bytes([level as u8 + 9; 32])).unwrap()
    }

    /// Slots inside the unit disc.
    fn slots(&self, seed: u64) -> Vec<Complex> {
        some_slots(self.params.slots(), seed).iter().map(|z| z.scale(0.7)).collect()
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<u64>],
        observer: &mut dyn Observer,
    ) -> Vec<Ciphertext<u64>> {
        let method = ConventionalBootstrapper { evaluator: &self.evaluator, keys: &self.keys };
        method.run_program(plan, inputs, observer).unwrap()
    }

    /// The largest difference from the clear computation, and the bootstraps it took, for inputs at a level.
    fn check(&self, program: &Program, level: usize, bootstraps: Bootstraps) -> (f64, usize) {
        let clear: Vec<Vec<Complex>> =
            (0..program.inputs().count()).map(|i| self.slots(i as u64 + 1)).collect();
        let inputs: Vec<_> = clear.iter().map(|x| self.encrypt(x, level)).collect();
        let shapes: Vec<_> = inputs.iter().map(InputShape::of).collect();
        let plan = Plan::new(program, &self.target, &shapes, bootstraps).unwrap();
        let expected = program.evaluate(self.params.slots(), &clear).unwrap();
        let found = self.run(&plan, &inputs, &mut ());
        let mut worst = 0.0f64;
        for ((found, expected), planned) in found.iter().zip(&expected).zip(plan.outputs()) {
            assert_eq!((found.level(), found.scale()), (planned.level, planned.scale), "{}", planned.name);
            let found = self.secret.decrypt(found).unwrap();
            worst = worst.max(distance(found.reveal_to_key_owner(), expected));
        }
        (worst, plan.bootstraps())
    }
}

static FULL: LazyLock<Setup> = LazyLock::new(|| Setup::new("toy-conventional11"));
static SPARSE: LazyLock<Setup> = LazyLock::new(|| Setup::new("toy-conventional10-sparse"));
static NARROW: LazyLock<Setup> = LazyLock::new(|| Setup::new("toy-conventional10-50bit"));
static SLOTS_FIRST: LazyLock<Setup> = LazyLock::new(|| Setup::new("toy-conventional10-slots-first"));

/// A program of one or two inputs and one output.
fn program(inputs: usize, body: impl Fn(&mut Builder, &[Value]) -> Value) -> Program {
    let mut builder = Builder::new();
    let values: Vec<Value> = (0..inputs).map(|i| builder.input(&format!("x{i}"))).collect();
    let y = body(&mut builder, &values);
    builder.output("y", y);
    builder.finish().unwrap()
}

fn monomials(coefficients: &[f64]) -> Polynomial {
    Polynomial::new(PolynomialBasis::Monomial, coefficients.iter().copied()).unwrap()
}

fn chebyshev(from: f64, to: f64, coefficients: &[f64]) -> Polynomial {
    Polynomial::new(PolynomialBasis::Chebyshev { from, to }, coefficients.iter().copied()).unwrap()
}

fn matrix(slots: usize, shifts: &[i64], seed: u64) -> Diagonals {
    let mut out = Diagonals::new(slots).unwrap();
    for (i, &k) in shifts.iter().enumerate() {
        let diagonal = some_slots(slots, seed + i as u64).iter().map(|z| z.scale(0.25)).collect();
        out.insert(k, diagonal).unwrap();
    }
    out
}

/// Every operation, by itself or with constants.
fn operations(slots: usize) -> Vec<(&'static str, Program)> {
    let many = || some_slots(slots, 77);
    let few = || some_slots(slots / 2 + 3, 78);
    let one = Complex::new(0.3, -0.4);
    let with = |known: Vec<Complex>, operation: fn(&mut Builder, Value, Value) -> Value| {
        program(1, |b, x| {
            let c = b.constant(known.iter().copied());
            operation(b, x[0], c)
        })
    };
    vec![
        ("add", program(2, |b, x| b.add(x[0], x[1]))),
        ("subtract", program(2, |b, x| b.subtract(x[0], x[1]))),
        ("multiply", program(2, |b, x| b.multiply(x[0], x[1]))),
        ("square", program(1, |b, x| b.multiply(x[0], x[0]))),
        ("negate", program(1, |b, x| b.negate(x[0]))),
        ("conjugate", program(1, |b, x| b.conjugate(x[0]))),
        ("add a number", with(vec![one], |b, x, c| b.add(c, x))),
        ("add numbers", with(many(), Builder::add)),
        ("subtract from numbers", with(few(), |b, x, c| b.subtract(c, x))),
        ("subtract numbers", with(few(), Builder::subtract)),
        ("multiply by a number", with(vec![one], Builder::multiply)),
        ("multiply by an integer", with(vec![Complex::new(-3.0, 0.0)], |b, x, c| b.multiply(c, x))),
        ("multiply by numbers", with(few(), |b, x, c| b.multiply(c, x))),
        (
            "rotate",
            program(1, |b, x| {
                let y = b.rotate(x[0], 13);
                b.rotate(y, -6)
            }),
        ),
        ("rotate a lot", program(1, |b, x| b.rotate(x[0], slots as i32 / 2 - 5))),
        ("sum of slots", program(1, |b, x| b.rotate_sum(x[0], 16))),
        ("polynomial", program(1, |b, x| b.polynomial(x[0], &monomials(&[0.1, -0.5, 0.0, 0.25, 0.5])))),
        ("line", program(1, |b, x| b.polynomial(x[0], &monomials(&[0.1, -0.5])))),
        ("number", program(1, |b, x| b.polynomial(x[0], &monomials(&[0.1])))),
        (
            "Chebyshev",
            program(1, |b, x| {
                let re = b.conjugate(x[0]);
                let re = b.add(re, x[0]);
                b.polynomial(re, &chebyshev(-2.0, 1.5, &[0.2, 0.3, -0.4]))
            }),
        ),
        ("linear transform", program(1, |b, x| b.linear_transform(x[0], &matrix(slots, &[-1, 0, 1, 7], 5)))),
        ("small matrix", program(1, |b, x| b.linear_transform(x[0], &matrix(8, &[-3, 0, 1, 2, 3, 4], 6)))),
        ("matrix of one slot", program(1, |b, x| b.linear_transform(x[0], &matrix(1, &[0], 8)))),
        (
            "dense matrix",
            program(1, |b, x| b.linear_transform(x[0], &matrix(16, &(-7..=8).collect::<Vec<i64>>(), 7))),
        ),
        ("bootstrap", program(1, |b, x| b.bootstrap(x[0]))),
    ]
}

/// Values that errors took beyond 1 and -1 come back; those within stay.
#[test]
fn a_clamp_brings_back_what_has_left_the_range() {
    let setup = &*FULL;
    let (overshoot, margin, degree) = (0.05, 0.125, 15);
    // What is encrypted lies within the range; twice as much does not.
    let program = program(1, |b, x| {
        let twice = b.add(x[0], x[0]);
        b.clamp(twice, overshoot, margin, degree)
    });
    let slots = setup.params.slots();
    let ramp = |i| Complex::new((1.0 + overshoot) * (2.0 * i as f64 / (slots - 1) as f64 - 1.0), 0.0);
    let values: Vec<Complex> = (0..slots).map(ramp).collect();
    let halves: Vec<Complex> = values.iter().map(|x| x.scale(0.5)).collect();
    let input = setup.encrypt(&halves, 2);
    let plan =
        Plan::new(&program, &setup.target, &[InputShape::of(&input)], Bootstraps::WhereNeeded).unwrap();
    let found = setup.run(&plan, &[input], &mut ());
    let found = setup.secret.decrypt(&found[0]).unwrap();
    let error = clamp(overshoot, margin, degree).unwrap().error + 2f64.powi(-15);
    for (x, y) in values.iter().zip(found.reveal_to_key_owner()) {
        let (size, clamped) = (x.re.abs(), y.re * x.re.signum());
        let rounded_off = size > 1.0 - margin && size < 1.0;
        let [low, high] = if rounded_off { [1.0 - margin, 1.0] } else { [size.min(1.0); 2] };
        assert!((low - error..=high + error).contains(&clamped), "{} became {}", x.re, y.re);
    }
}

#[test]
fn every_operation_is_that_of_clear_arithmetic() {
    for setup in [&*FULL, &*SPARSE] {
        for (name, program) in operations(setup.params.slots()) {
            let program = Program::from_bytes(&program.to_bytes()).unwrap();
            let (error, bootstraps) = setup.check(&program, setup.target.top(), Bootstraps::AsWritten);
            let tolerance = if name == "bootstrap" { 1e-4 } else { 1e-7 };
            assert!(error < tolerance, "{} on {}: {error}", name, setup.params.name());
            assert_eq!(bootstraps, usize::from(name == "bootstrap"), "{name}");
        }
    }
}

#[test]
fn bootstraps_are_put_in_where_levels_run_out() {
    // x^32 by squarings, five levels; three or two are left by a bootstrap, and at first there is none.
    let power = program(1, |b, x| (0..5).fold(x[0], |y, _| b.multiply(y, y)));
    for (setup, expected) in [(&*FULL, 2), (&*NARROW, 3), (&*SPARSE, 2)] {
        let (error, bootstraps) = setup.check(&power, 0, Bootstraps::WhereNeeded);
        assert!(error < 2e-3, "{}: {error}", setup.params.name());
        assert_eq!(bootstraps, expected, "{}", setup.params.name());
        let shape = InputShape { level: 1, scale: setup.params.scale() };
        let refused = Plan::new(&power, &setup.target, &[shape], Bootstraps::AsWritten).err().unwrap();
        assert_eq!(refused.code(), "LEVEL_MISMATCH");
        assert!(refused.to_string().contains("node 2 (multiply)"), "{refused}");
    }
    // Nothing falls below the level that a bootstrap begins at.
    let (error, bootstraps) = SLOTS_FIRST.check(&power, 3, Bootstraps::WhereNeeded);
    assert!(error < 2e-3 && bootstraps == 2, "{error}, {bootstraps}");
}

#[test]
fn polynomials_deeper_than_a_bootstrap_are_taken_apart() {
    // Real slots: Chebyshev polynomials grow fast outside the interval.
    let wave: Vec<f64> = (0..=13).map(|i| 0.3 / (1.0 + f64::from(i * (i % 3)))).collect();
    let real = |b: &mut Builder, x: Value| {
        let conjugate = b.conjugate(x);
        b.add(x, conjugate)
    };
    let deep = program(1, |b, x| {
        let x = real(b, x[0]);
        b.polynomial(x, &chebyshev(-1.5, 1.5, &wave))
    });
    let powers =
        program(1, |b, x| b.polynomial(x[0], &monomials(&[0.5, 0.0, -0.3, 0.0, 0.1, 0.2, 0.0, 0.0, 0.7])));
    for (program, tolerance) in [(&deep, 5e-3), (&powers, 1e-3)] {
        let (error, bootstraps) = NARROW.check(program, 0, Bootstraps::WhereNeeded);
        assert!(error < tolerance, "{error}");
        assert!((2..=8).contains(&bootstraps), "{bootstraps}");
        // With three levels between bootstraps too.
        assert!(FULL.check(program, 0, Bootstraps::WhereNeeded).0 < tolerance);
    }
}

#[test]
fn inputs_of_different_levels_and_scales_meet() {
    let meet = program(2, |b, x| {
        let product = b.multiply(x[0], x[0]);
        let sum = b.add(product, x[1]);
        b.subtract(sum, x[0])
    });
    let clear = [FULL.slots(1), FULL.slots(2)];
    let expected = meet.evaluate(clear[0].len(), &clear).unwrap();
    for levels in [[3, 3], [3, 1], [2, 3], [2, 1]] {
        let inputs: Vec<_> = clear.iter().zip(levels).map(|(x, level)| FULL.encrypt(x, level)).collect();
        let shapes: Vec<_> = inputs.iter().map(InputShape::of).collect();
        let plan = Plan::new(&meet, &FULL.target, &shapes, Bootstraps::AsWritten).unwrap();
        assert_eq!(plan.bootstraps(), 0);
        let y = FULL.secret.decrypt(&FULL.run(&plan, &inputs, &mut ())[0]).unwrap();
        assert!(distance(y.reveal_to_key_owner(), &expected[0]) < 1e-7, "{levels:?}");
    }
    // With no level left, scales that differ are an error, and with bootstraps none.
    let shapes = [1, 0].map(|level| InputShape { level, scale: FULL.params.scale() });
    let refused = Plan::new(&meet, &FULL.target, &shapes, Bootstraps::AsWritten).err().unwrap();
    assert_eq!(refused.code(), "SCALE_MISMATCH");
    assert!(refused.to_string().contains("node 3 (add)"), "{refused}");
    assert!(Plan::new(&meet, &FULL.target, &shapes, Bootstraps::WhereNeeded).is_ok());
}

#[test]
fn threads_change_no_bit_and_runs_can_be_stopped() {
    struct Recorder(Vec<String>, usize);
    impl Observer for Recorder {
        fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
            match event {
                StageEvent::Enter { stage } => self.0.push(format!("> {stage}")),
                StageEvent::Exit { stage, .. } => self.0.push(format!("< {stage}")),
                _ => {}
            }
            if self.0.len() < self.1 {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        }
    }
    let program = program(1, |b, x| {
        let y = b.linear_transform(x[0], &matrix(16, &[-2, 0, 3], 1));
        let y = b.rotate(y, 11);
        b.polynomial(y, &monomials(&[0.1, 0.2, 0.3, 0.4]))
    });
    let x = NARROW.encrypt(&NARROW.slots(4), 1);
    let plan = Plan::new(&program, &NARROW.target, &[InputShape::of(&x)], Bootstraps::WhereNeeded).unwrap();
    let mut all = Recorder(Vec::new(), usize::MAX);
    let expected = NARROW.run(&plan, std::slice::from_ref(&x), &mut all);
    let stages: Vec<&str> = all.0.iter().filter(|e| e.starts_with('>')).map(|e| &e[2..]).collect();
    let method = ["mod_raise", "coeffs_to_slots", "eval_mod", "slots_to_coeffs"];
    assert_eq!(stages, [&[STAGE.id][..], &method, &[STAGE.id]].concat());
    assert_eq!(all.0.len(), 2 * stages.len());
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let y = pool.install(|| NARROW.run(&plan, std::slice::from_ref(&x), &mut ()));
        let same = y[0].parts().iter().zip(expected[0].parts()).all(|(p, q)| p.data() == q.data());
        assert!(same, "{threads} threads");
    }
    let method = ConventionalBootstrapper { evaluator: &NARROW.evaluator, keys: &NARROW.keys };
    for count in [1, 2, 5] {
        let stopped = method.run_program(&plan, std::slice::from_ref(&x), &mut Recorder(Vec::new(), count));
        assert!(matches!(stopped, Err(Error::Cancelled(_))), "{count}");
    }
}

/// Another owner's numbers would come out as noise: there is an error instead, whether or not a step takes keys.
#[test]
fn keys_are_those_of_the_owner_of_the_inputs() {
    let other = ConventionalSecretKey::generate(&NARROW.params, &Seed::from_bytes([4; 32]));
    let foreign = other.encrypt(&NARROW.slots(1), 1, &Seed::from_bytes([5; 32])).unwrap();
    let method = ConventionalBootstrapper { evaluator: &NARROW.evaluator, keys: &NARROW.keys };
    let bodies: [fn(&mut Builder, Value) -> Value; 2] = [|b, x| b.negate(x), |b, x| b.multiply(x, x)];
    for body in bodies {
        let program = program(1, |b, x| body(b, x[0]));
        let shape = InputShape::of(&foreign);
        let plan = Plan::new(&program, &NARROW.target, &[shape], Bootstraps::WhereNeeded).unwrap();
        let refused = method.run_program(&plan, std::slice::from_ref(&foreign), &mut ()).err().unwrap();
        assert_eq!(refused.code(), "PARAMS_MISMATCH");
        assert!(refused.to_string().contains("keys of its owner"), "{refused}");
        assert_eq!(NARROW.run(&plan, &[NARROW.encrypt(&NARROW.slots(1), 1)], &mut ()).len(), 1);
    }
}

#[test]
fn rotations_are_composed_of_those_there_are_keys_for() {
    let chain: Chain<u64> = Chain::new(512, &[55.0, 45.0, 45.1], &[50.0, 50.1], 2, Scale::exp2(45.0));
    let steps: Vec<i64> = (0..8).map(|log| 1 << log).collect();
    let keys = chain.galois_keys(&steps);
    let target = Target::new(&chain.context, 256, 2, chain.scale)
        .unwrap()
        .with_relinearization(2)
        .with_galois(keys.elements().map(|g| (g, 2)));
    let machine = Machine {
        evaluator: &chain.evaluator,
        relinearization: Some(&chain.relinearization),
        galois: Some(&keys),
        refresh: None,
        digits: None,
    };
    let matrix = matrix(256, &[-100, -3, 0, 1, 2, 5, 77], 3);
    let program = program(1, |b, x| {
        let y = b.rotate(x[0], 201);
        b.linear_transform(y, &matrix)
    });
    let slots = some_slots(256, 4);
    let x = chain.encrypt(&slots, 2);
    let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
    let y = plan.run(&machine, std::slice::from_ref(&x), &mut ()).unwrap();
    let expected = program.evaluate(256, &[slots]).unwrap();
    assert!(distance(&chain.decrypt(&y[0]), &expected[0]) < 1e-8);

    let shape = [InputShape::of(&x)];
    let bare = Target::new(&chain.context, 256, 2, chain.scale)
        .unwrap()
        .with_galois([(GaloisElement::rotation(2, 512), 2), (GaloisElement::rotation(1, 512), 1)]);
    let refusal = |program: &Program| Plan::new(program, &bare, &shape, Bootstraps::AsWritten).err().unwrap();
    let refused = refusal(&program);
    assert_eq!(refused.code(), "MISSING_KEY");
    assert!(refused.to_string().contains("node 1 (rotate): a rotation by 201 at level 2"), "{refused}");
    for (program, kind) in [
        (self::program(1, |b, x| b.conjugate(x[0])), "conjugate"),
        (self::program(1, |b, x| b.multiply(x[0], x[0])), "multiply"),
        (self::program(1, |b, x| b.polynomial(x[0], &monomials(&[0.0, 0.0, 1.0]))), "polynomial"),
        (self::program(1, |b, x| b.bootstrap(x[0])), "bootstrap"),
    ] {
        let refused = refusal(&program);
        assert_eq!(refused.code(), "MISSING_KEY");
        assert!(refused.to_string().contains(kind), "{refused}");
    }
}

/// Plans count what a run holds: a chain holds two values, and values that wait for each other add up.
#[test]
fn the_memory_of_a_run_is_known_before() {
    let chain: Chain<u64> = Chain::new(64, &[55.0, 45.0], &[50.0], 1, Scale::exp2(45.0));
    let target = Target::new(&chain.context, 32, 1, chain.scale).unwrap();
    let one = 2 * 2 * 64 * 8;
    let peak = |body: &dyn Fn(&mut Builder, Value) -> Value| {
        let program = program(1, |b, x| body(b, x[0]));
        let shape = InputShape { level: 1, scale: chain.scale };
        Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).unwrap().peak_bytes()
    };
    assert_eq!(peak(&|b, x| (0..50).fold(x, |y, _| b.negate(y))), 2 * one);
    let waiting = |b: &mut Builder, x: Value| {
        let all: Vec<Value> = (0..50).map(|_| b.negate(x)).collect();
        all.into_iter().rev().reduce(|x, y| b.add(x, y)).unwrap()
    };
    // The input is dropped with its last use; the first sum comes while both its operands are there.
    assert_eq!(peak(&waiting), 51 * one);
}

#[test]
fn a_program_runs_over_ship() {
    let setup = toy();
    let method = ShipBootstrapper { evaluator: &setup.evaluator, keys: &setup.keys, mode: SlotMode::Real };
    let values: Vec<f64> = some_slots(setup.evaluator.params().slots(), 2).iter().map(|z| z.re).collect();
    let x = setup.encrypt(&values, SlotMode::Real);
    let scale = setup.bootstrap(&x, SlotMode::Real).scale();
    let target = program::target(&method, setup.evaluator.params().slots(), scale).unwrap();
    let top = target.top();
    let target = target.with_relinearization(top);
    let power = program(1, |b, x| (0..2).fold(x[0], |y, _| b.multiply(y, y)));
    let plan = Plan::new(&power, &target, &[InputShape::of(&x)], Bootstraps::WhereNeeded).unwrap();
    assert_eq!((plan.bootstraps(), plan.inserted()), (1, 1));
    let key = setup.keys.common().relinearization();
    let y = program::run(&plan, &method, Some(&key), None, std::slice::from_ref(&x), &mut ()).unwrap();
    let found = setup.decrypt(&y[0], SlotMode::Real);
    let worst = found.iter().zip(&values).map(|(y, x)| (y - x.powi(4)).abs()).fold(0.0, f64::max);
    assert!(worst < 0.1, "{worst}");
}

#[test]
fn keys_of_bootstraps_are_there_for_all_powers_of_two() {
    for preset in ConventionalPreset::all() {
        let params = preset.params().unwrap();
        let target = params.program_target().unwrap();
        let shape = [InputShape { level: target.top(), scale: params.scale() }];
        let most = (0..params.slots().ilog2())
            .map(|log| {
                let turn = program(1, |b, x| b.rotate(x[0], 1 << log));
                Plan::new(&turn, &target, &shape, Bootstraps::AsWritten).unwrap().key_switches()
            })
            .max();
        assert!(most <= Some(1), "{}: {most:?}", preset.name);
    }
}
