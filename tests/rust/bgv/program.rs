//! Programs on integers: what they give encrypted is what they give in the clear, wherever the plan puts bootstraps.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvKeys, BgvParams, BgvPreset, BgvSecretKey};
use refloat::circuits::linear_transform::Diagonals;
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
use refloat::circuits::program::integer_program::IntegerPlan;
use refloat::circuits::program::{
    Bootstraps::{self, AsWritten, WhereNeeded},
    Builder, Program, STAGE, Value,
};
use refloat::random::Seed;
use refloat::schemes::bgv::{BgvCiphertext, BgvShape};
use refloat::schemes::ckks::Complex;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::keyed_bgv::KeyedBgv;
use refloat_tests::rns::Lottery;

fn world() -> &'static KeyedBgv<u64> {
    static WORLD: OnceLock<KeyedBgv<u64>> = OnceLock::new();
    WORLD.get_or_init(|| KeyedBgv::named("toy-bgv10"))
}

/// Runs a program, compares every output with the clear one, and returns the plan.
fn check<'p>(
    program: &'p Program,
    messages: &[Vec<u64>],
    inputs: &[BgvCiphertext],
    bootstraps: Bootstraps,
) -> IntegerPlan<'p> {
    let set = world();
    let plan = set.plan(program, inputs, bootstraps).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Seen::default();
    let found = set.bootstrapper.run_program(&plan, &set.keys, inputs, &mut seen);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let (ring, columns) = (set.params.messages(), set.params.n() / 2);
    let wanted = program.evaluate_integers(ring, columns, messages).expect("whole numbers");
    assert_eq!(seen.bootstraps, plan.bootstraps());
    assert_eq!(seen.key_switches, plan.key_switches());
    // The remaining steps take inputs.
    assert!(plan.steps() - seen.steps - plan.bootstraps() <= inputs.len());
    for (((name, shape), found), wanted) in plan.outputs().zip(&found).zip(&wanted) {
        assert_eq!((found.level(), found.factor()), (shape.level, shape.factor), "{name}");
        assert!(found.noise() <= shape.noise, "{name}: noise {} of {}", found.noise(), shape.noise);
        assert!(set.decrypt(found) == *wanted, "{name} is wrong");
    }
    plan
}

/// Random messages, and ciphertexts of them.
fn fresh(count: usize, seed: u64) -> (Vec<Vec<u64>>, Vec<BgvCiphertext>) {
    let set = world();
    let messages: Vec<Vec<u64>> = (seed..).take(count).map(|seed| set.random(seed)).collect();
    let top = set.params.levels().output;
    let inputs = messages.iter().zip(seed..).map(|(m, seed)| set.encrypt(m, top, seed)).collect();
    (messages, inputs)
}

/// Counts bootstraps, and steps of arithmetic with their key switches.
#[derive(Default)]
struct Seen {
    bootstraps: usize,
    steps: usize,
    key_switches: usize,
}

impl Observer for Seen {
    fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
        match event {
            StageEvent::Exit { stage: "digit_removal", .. } => self.bootstraps += 1,
            StageEvent::Progress { stage, .. } if *stage == STAGE.id => self.steps += 1,
            StageEvent::Exit { stage, counters, .. } if *stage == STAGE.id => {
                self.key_switches += counters.key_switch as usize;
            }
            _ => {}
        }
        std::ops::ControlFlow::Continue(())
    }
}

fn monomials(coefficients: &[f64]) -> Polynomial {
    Polynomial::new(PolynomialBasis::Monomial, coefficients.iter().copied()).expect("finite")
}

#[test]
fn every_operation_is_exact_and_bootstraps_go_where_levels_run_out() {
    let world = world();
    let mut builder = Builder::new();
    let (x, y) = (builder.input("x"), builder.input("y"));
    let product = builder.multiply(x, y);
    let sum = builder.add(product, x);
    let turned = builder.rotate(sum, 3);
    let back = builder.rotate(turned, -200);
    let square = builder.multiply(back, back);
    let cubic = builder.polynomial(square, &monomials(&[5.0, -3.0, 0.0, 2.0]));
    let weights = builder.constant((0..1024).map(|i| f64::from(i * 13 % 7919) - 4000.0));
    let scaled = builder.multiply(cubic, weights);
    let shifted = builder.add(scaled, weights);
    let hundred = builder.constant([40000.0]);
    let larger = builder.multiply(shifted, hundred);
    let swapped = builder.conjugate(larger);
    let difference = builder.subtract(swapped, y);
    let less = builder.subtract(hundred, difference);
    let small = builder.constant([-7.0]);
    let times = builder.multiply(less, small);
    let line = builder.polynomial(times, &monomials(&[9.0, 300.0]));
    let constant = builder.polynomial(line, &monomials(&[42.0]));
    for (name, value) in [("product", product), ("cubic", cubic), ("line", line), ("constant", constant)] {
        builder.output(name, value);
    }
    let program = builder.finish().expect("a program");
    let (messages, inputs) = fresh(2, 40);
    let plan = check(&program, &messages, &inputs, WhereNeeded);
    assert!((2..=5).contains(&plan.inserted()), "{} bootstraps", plan.inserted());
    assert!(plan.inserted() == plan.bootstraps() && plan.key_switches() > 8);
    // The same from its bytes.
    let again = Program::from_bytes(&program.to_bytes()).expect("our own");
    check(&again, &messages, &inputs, WhereNeeded);
    // As written, levels run out, and the node is named.
    let error = world.plan(&program, &inputs, AsWritten).err().expect("too deep").to_string();
    assert!(error.contains("node") && error.contains("level"), "{error}");
}

#[test]
fn inputs_of_other_levels_and_factors_are_taken_too() {
    let world = world();
    let mut builder = Builder::new();
    let (x, y, z) = (builder.input("x"), builder.input("y"), builder.input("z"));
    let sum = builder.add(x, y);
    let all = builder.add(sum, z);
    let square = builder.multiply(all, all);
    builder.output("square", square);
    let program = builder.finish().expect("a program");
    let (levels, ring) = (world.params.levels(), world.params.messages());
    let (messages, mut inputs) = fresh(3, 50);
    inputs[1] = world.encrypt(&messages[1], levels.input, 9);
    // A square of another job, whose factor is its own.
    inputs[2] = world.bootstrapper.multiply(&inputs[2], &inputs[2], &world.keys).expect("room");
    let squares: Vec<u64> = messages[2].iter().map(|&m| ring.mul(m, m)).collect();
    let messages = [messages[0].clone(), messages[1].clone(), squares];
    check(&program, &messages, &inputs, WhereNeeded);
    // Squares of squares: noise and factors of results are those that the next program expects.
    let mut builder = Builder::new();
    let x = builder.input("x");
    let mut power = x;
    for _ in 0..7 {
        power = builder.multiply(power, power);
    }
    builder.output("power", power);
    let program = builder.finish().expect("a program");
    let plan = check(&program, &messages[..1], &inputs[..1], WhereNeeded);
    // Two levels each.
    assert_eq!(plan.bootstraps(), 3);
}

#[test]
fn noise_of_sums_is_rescaled_before_it_is_too_much() {
    let mut builder = Builder::new();
    let x = builder.input("x");
    let mut sum = x;
    for _ in 0..8 {
        sum = builder.add(sum, sum);
    }
    let square = builder.multiply(sum, sum);
    let mut again = square;
    for _ in 0..4 {
        again = builder.add(again, square);
    }
    let product = builder.multiply(again, sum);
    let refreshed = builder.bootstrap(product);
    let last = builder.multiply(refreshed, product);
    builder.output("last", last);
    let program = builder.finish().expect("a program");
    let (messages, inputs) = fresh(1, 60);
    check(&program, &messages, &inputs, WhereNeeded);
}

#[test]
fn random_programs_are_right() {
    let world = world();
    for seed in 0..10 {
        let (mut lottery, mut builder) = (Lottery::new(700 + seed), Builder::new());
        let mut values: Vec<Value> = vec![builder.input("x"), builder.input("y")];
        let constants: Vec<Value> = [vec![3.0], vec![-30000.0], (0..1024).map(f64::from).collect()]
            .into_iter()
            .map(|numbers: Vec<f64>| builder.constant(numbers))
            .collect();
        for _ in 0..14 {
            let mut pick = || values[lottery.word() as usize % values.len()];
            let (x, y) = (pick(), pick());
            let constant = constants[lottery.word() as usize % constants.len()];
            let steps = (lottery.word() % 1024) as i32 - 512;
            values.push(match lottery.word() % 10 {
                0 | 1 => builder.multiply(x, y),
                2 => builder.add(x, y),
                3 => builder.subtract(x, y),
                4 => builder.multiply(x, constant),
                5 => builder.add(x, constant),
                6 => builder.rotate(x, steps),
                7 => builder.polynomial(x, &monomials(&[1.0, 0.0, -2.0, 7.0])),
                8 => (0..lottery.word() % 40).fold(x, |sum, _| builder.add(sum, sum)),
                _ => builder.conjugate(x),
            });
        }
        let last = *values.last().expect("values");
        builder.output("last", last);
        let program = builder.finish().expect("a program");
        let (messages, inputs) = fresh(2, 70 + 2 * seed);
        check(&program, &messages, &inputs, WhereNeeded);
        // What is planned runs.
        if world.plan(&program, &inputs, AsWritten).is_ok() {
            check(&program, &messages, &inputs, AsWritten);
        }
    }
}

#[test]
fn what_integers_do_not_have_is_refused_by_the_name_of_the_node() {
    let world = world();
    let (_, inputs) = fresh(1, 80);
    let refused = |build: &dyn Fn(&mut Builder, Value) -> Value| {
        let mut builder = Builder::new();
        let x = builder.input("x");
        let y = build(&mut builder, x);
        builder.output("y", y);
        let program = builder.finish().expect("a program");
        let error = world.plan(&program, &inputs, WhereNeeded).err().expect("refused");
        assert!(error.to_string().contains("node"), "{error}");
        (error.code(), error.to_string())
    };
    let half = refused(&|builder, x| {
        let half = builder.constant([0.5]);
        builder.multiply(x, half)
    });
    assert!(half.0 == "INVALID_ARGUMENT" && half.1.contains("whole"), "{half:?}");
    let imaginary = refused(&|builder, x| {
        let i = builder.constant([Complex::new(0.0, 1.0)]);
        builder.add(x, i)
    });
    assert!(imaginary.1.contains("whole"), "{imaginary:?}");
    let chebyshev = Polynomial::new(PolynomialBasis::UNIT, [0.0, 1.0, 1.0]).expect("finite");
    assert!(refused(&|builder, x| builder.polynomial(x, &chebyshev)).1.contains("powers of x"));
    assert!(refused(&|builder, x| builder.polynomial(x, &monomials(&[0.5, 1.0, 1.0]))).1.contains("whole"));
    let mut matrix = Diagonals::new(4).expect("a power of two");
    matrix.insert(1, vec![Complex::new(1.0, 0.0); 4]).expect("a diagonal");
    assert!(refused(&|builder, x| builder.linear_transform(x, &matrix)).1.contains("rotations"));
    // Too deep for the levels of one bootstrap: 61 is the degree of the removal, not of a message.
    let deep: Vec<f64> = (0..62).map(f64::from).collect();
    let deep = refused(&|builder, x| builder.polynomial(x, &monomials(&deep)));
    assert_eq!(deep.0, "LEVEL_MISMATCH");
    assert!(deep.1.contains("takes 6 levels") && deep.1.contains("leaves 2 levels, from 5 to 3"), "{deep:?}");
    let mut builder = Builder::new();
    let x = builder.input("x");
    builder.output("y", x);
    let program = builder.finish().expect("a program");
    assert!(world.plan(&program, &[], WhereNeeded).is_err());
    let plan = world.plan(&program, &inputs, WhereNeeded).expect("nothing to do");
    let other = [world.encrypt(&[1], 0, 1)];
    assert!(world.bootstrapper.run_program(&plan, &world.keys, &other, &mut ()).is_err());
    // More noise than planned for could lead to a refusal in the middle.
    let noisier = [world.bootstrapper.bgv().add(&inputs[0], &inputs[0]).expect("room")];
    let error = world.bootstrapper.run_program(&plan, &world.keys, &noisier, &mut ()).expect_err("noisier");
    assert!(error.to_string().contains("noise"), "{error}");
    // With keys of another owner, results would decrypt to something, and it would be wrong.
    let stranger = BgvSecretKey::generate(&world.params, &Seed::from_bytes([6; 32]));
    let keys = BgvKeys::generate(&stranger).expect("keys");
    let error = world.bootstrapper.run_program(&plan, &keys, &inputs, &mut ()).expect_err("another owner");
    assert_eq!(error.code(), "PARAMS_MISMATCH");
}

/// Programs on `bgv15`, whose plans need no keys.
struct Planned {
    params: BgvParams,
    builder: Builder,
    shapes: Vec<BgvShape>,
}

impl Planned {
    fn new() -> Self {
        let params = BgvPreset::named("bgv15").expect("a set").params().expect("a sound set");
        Self { params, builder: Builder::new(), shapes: Vec::new() }
    }

    /// `count` inputs, `above` levels above where bootstraps begin, with noise of `roundings` roundings.
    fn inputs(&mut self, count: usize, above: usize, roundings: f64) -> Vec<Value> {
        let context = self.params.context();
        let noise = roundings * context.noise().rounding();
        let level = self.params.levels().input + above;
        let shape = BgvShape { noise, ..BgvShape::fresh(context, level) };
        let begin = self.shapes.len();
        self.shapes.resize(begin + count, shape);
        (begin..begin + count).map(|i| self.builder.input(&format!("x{i}"))).collect()
    }

    /// The number of bootstraps, and the level and the noise in roundings of the result.
    fn plan(mut self, result: Value, bootstraps: Bootstraps) -> Result<(usize, usize, f64), Error> {
        self.builder.output("result", result);
        let program = self.builder.finish()?;
        let plan = IntegerPlan::new(&program, &self.params.program_target()?, &self.shapes, bootstraps)?;
        let (_, shape) = plan.outputs().next().expect("an output");
        Ok((plan.bootstraps(), shape.level, shape.noise / self.params.context().noise().rounding()))
    }
}

#[test]
fn no_bootstrap_is_put_in_where_nothing_has_run_out() {
    // Sums of products at the lowest level from which there are bootstraps, with less noise than one takes.
    for count in [2, 8, 33, 60] {
        let mut p = Planned::new();
        let x = p.inputs(count, 1, 2.0);
        let pairs = x.iter().zip(x.iter().cycle().skip(1));
        let products: Vec<Value> = pairs.map(|(&x, &y)| p.builder.multiply(x, y)).collect();
        let sum = products[1..].iter().fold(products[0], |sum, &x| p.builder.add(sum, x));
        let (bootstraps, level, noise) = p.plan(sum, WhereNeeded).expect("room");
        assert!(
            (bootstraps, level) == (0, 3) && noise < 2.5 * count as f64,
            "{count}: {bootstraps}, {noise}"
        );
    }
    // More than a bootstrap takes: one of the two operands that meet is bootstrapped, and is at the top from then on.
    let mut p = Planned::new();
    let x = p.inputs(1, 0, 2.0)[0];
    let sum = (0..12).fold(x, |sum, _| p.builder.add(sum, sum));
    let (bootstraps, level, _) = p.plan(sum, WhereNeeded).expect("room");
    assert_eq!((bootstraps, level), (1, 8));
    // 20 products with fresh factors, five a bootstrap.
    let mut p = Planned::new();
    let x = p.inputs(21, 5, 1.0);
    let product = x[1..].iter().fold(x[0], |product, &x| p.builder.multiply(product, x));
    assert_eq!(p.plan(product, WhereNeeded).expect("room").0, 3);
    // (ab + cd)(ef + gh) takes two levels.
    let mut p = Planned::new();
    let x = p.inputs(8, 5, 1.0);
    let products: Vec<Value> = x.chunks(2).map(|pair| p.builder.multiply(pair[0], pair[1])).collect();
    let (left, right) = (p.builder.add(products[0], products[1]), p.builder.add(products[2], products[3]));
    let all = p.builder.multiply(left, right);
    let (bootstraps, level, noise) = p.plan(all, WhereNeeded).expect("room");
    assert!((bootstraps, level) == (0, 6) && noise < 8.0, "{level}, {noise}");
}

#[test]
fn bootstraps_of_the_program_take_what_bootstraps_take() {
    // A sum of six, and of products, at the lowest level; squares of what was encrypted a level above it, at factor 1.
    let mut p = Planned::new();
    let x = p.inputs(6, 0, 1.0);
    let sum = x[1..].iter().fold(x[0], |sum, &x| p.builder.add(sum, x));
    let fresh = p.builder.bootstrap(sum);
    assert_eq!(p.plan(fresh, AsWritten).expect("room").1, 8);
    let mut p = Planned::new();
    let x = p.inputs(1, 1, 10.0)[0];
    let square = p.builder.multiply(x, x);
    let sum = p.builder.add(square, square);
    let fresh = p.builder.bootstrap(sum);
    assert_eq!(p.plan(fresh, AsWritten).expect("room").1, 8);
    // 2^70 times the noise takes two levels to bring down.
    let mut p = Planned::new();
    let x = p.inputs(1, 5, 1.0)[0];
    let sum = (0..70).fold(x, |sum, _| p.builder.add(sum, sum));
    let fresh = p.builder.bootstrap(sum);
    assert_eq!(p.plan(fresh, AsWritten).expect("room").0, 1);
    // Beyond what a bootstrap takes, the plan says so.
    let mut p = Planned::new();
    let x = p.inputs(1, 0, 1.0)[0];
    let sum = (0..16).fold(x, |sum, _| p.builder.add(sum, sum));
    let fresh = p.builder.bootstrap(sum);
    let error = p.plan(fresh, AsWritten).expect_err("too noisy");
    assert!(error.code() == "LIMIT" && error.to_string().contains("node"), "{error}");
}

#[test]
fn what_runs_out_of_room_is_refused_before_anything_runs() {
    // Fourth powers at the small levels of slots-to-coefficients.
    let mut p = Planned::new();
    let x = p.inputs(1, 0, 2.0)[0];
    let square = p.builder.multiply(x, x);
    let fourth = p.builder.multiply(square, square);
    let again = p.builder.multiply(fourth, fourth);
    let error = p.plan(again, AsWritten).expect_err("no room");
    assert!(error.code() == "LIMIT" && error.to_string().contains("node"), "{error}");
    for bootstraps in [AsWritten, WhereNeeded] {
        let mut p = Planned::new();
        let x = p.inputs(1, 5, 1.0)[0];
        let sum = (0..300).fold(x, |sum, _| p.builder.add(sum, sum));
        match p.plan(sum, bootstraps) {
            Err(error) => assert!(bootstraps == AsWritten && error.code() == "LIMIT", "{error}"),
            Ok((count, ..)) => assert!(bootstraps == WhereNeeded && (1..4).contains(&count), "{count}"),
        }
    }
    // Sums below where bootstraps begin need none.
    let mut p = Planned::new();
    let x = p.inputs(2, 0, 1.0);
    p.shapes[1].level = 1;
    let sum = p.builder.add(x[0], x[1]);
    assert_eq!(p.plan(sum, WhereNeeded).expect("room").0, 0);
    let mut p = Planned::new();
    let x = p.inputs(1, 0, 1.0)[0];
    p.shapes[0].level = 0;
    let square = p.builder.multiply(x, x);
    let error = p.plan(square, WhereNeeded).expect_err("no level").to_string();
    assert!(error.contains("begin at level 3") && error.contains("at level 0"), "{error}");
}

#[test]
fn plans_know_the_noise_of_polynomials_and_of_what_was_encrypted_anywhere() {
    let world = world();
    let (levels, bgv) = (world.params.levels(), world.bootstrapper.bgv());
    let (messages, inputs) = fresh(1, 90);
    let of_degree =
        |degree: usize| monomials(&(0..=degree).map(|i| 3.0 * i as f64 - 7.0).collect::<Vec<_>>());
    for degree in [0, 1, 2, 5, 15, 31] {
        let mut builder = Builder::new();
        let x = builder.input("x");
        let y = builder.polynomial(x, &of_degree(degree));
        builder.output("y", y);
        let program = builder.finish().expect("a program");
        let plan = check(&program, &messages, &inputs, AsWritten);
        let found = world.bootstrapper.run_program(&plan, &world.keys, &inputs, &mut ()).expect("keys");
        let planned = plan.outputs().next().expect("an output").1.noise;
        assert_eq!(found[0].noise().to_bits(), planned.to_bits(), "degree {degree}");
    }
    // Encrypted a level above where bootstraps begin, at factor 1: a square is left, and a bootstrap of a noisy sum of it.
    let mut builder = Builder::new();
    let x = builder.input("x");
    let square = builder.multiply(x, x);
    let sum = (0..5).fold(square, |sum, _| builder.add(sum, sum));
    let fresh = builder.bootstrap(sum);
    let less = builder.subtract(fresh, square);
    builder.output("y", less);
    let program = builder.finish().expect("a program");
    let lower = [world.encrypt(&messages[0], levels.input + 1, 91)];
    check(&program, &messages, &lower, AsWritten);
    // A sum of two factors at one level takes one more.
    let mut builder = Builder::new();
    let (x, y) = (builder.input("x"), builder.input("y"));
    let sum = builder.add(x, y);
    builder.output("sum", sum);
    let program = builder.finish().expect("a program");
    let dropped = bgv.drop_to_level(&inputs[0], levels.output - 1).expect("a level");
    let square = world.bootstrapper.multiply(&inputs[0], &inputs[0], &world.keys).expect("room");
    let ring = world.params.messages();
    let squares: Vec<u64> = messages[0].iter().map(|&m| ring.mul(m, m)).collect();
    let plan = check(&program, &[squares, messages[0].clone()], &[square, dropped], WhereNeeded);
    assert_eq!(plan.outputs().next().map(|(_, shape)| shape.level), Some(levels.output - 2));
}
