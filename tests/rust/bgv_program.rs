//! Programs on integers: what they give encrypted is what they give in the clear, wherever the plan puts bootstraps.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvSecretKey};
use refloat::circuits::linear_transform::{Diagonals, PlaintextStorage};
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
use refloat::circuits::program::integer_program::{IntegerPlan, IntegerShape, IntegerTarget};
use refloat::circuits::program::{Bootstraps, Builder, Program, STAGE, Value};
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;
use refloat::schemes::ckks::Complex;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::rns::Lottery;

struct World {
    params: BgvParams,
    secret: BgvSecretKey,
    keys: BgvKeys<u64>,
    bootstrapper: BgvBootstrapper,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = BgvPreset::named("toy-bgv10").expect("a set").params().expect("a sound set");
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let keys = secret.evaluation_keys().expect("keys");
        let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
        World { params, secret, keys, bootstrapper }
    })
}

impl World {
    fn random(&self, lottery: &mut Lottery) -> Vec<u64> {
        (0..self.params.n()).map(|_| lottery.word() % self.params.messages().value()).collect()
    }

    fn encrypt(&self, message: &[u64], level: usize, seed: u64) -> BgvCiphertext {
        let seed = Seed::from_bytes([seed as u8; 32]).derive("encryption", &[seed]);
        self.secret.encrypt(message, level, &seed).expect("reduced")
    }

    fn decrypt(&self, x: &BgvCiphertext) -> Vec<u64> {
        self.secret.decrypt(x).expect("our own").reveal_to_key_owner().clone()
    }

    fn plan<'p>(
        &self,
        program: &'p Program,
        inputs: &[BgvCiphertext],
        bootstraps: Bootstraps,
    ) -> Result<IntegerPlan<'p>, Error> {
        let target: IntegerTarget = self.params.program_target()?;
        let shapes: Vec<IntegerShape> = inputs.iter().map(IntegerShape::of).collect();
        IntegerPlan::new(program, &target, &shapes, bootstraps)
    }

    /// Runs a program and compares every output with the clear one; its plan.
    fn check<'p>(
        &self,
        program: &'p Program,
        messages: &[Vec<u64>],
        inputs: &[BgvCiphertext],
        bootstraps: Bootstraps,
    ) -> IntegerPlan<'p> {
        let plan = self.plan(program, inputs, bootstraps).unwrap_or_else(|error| panic!("{error}"));
        let mut seen = Seen::default();
        let found = self.bootstrapper.run_program(&plan, &self.keys, inputs, &mut seen);
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let (ring, columns) = (self.params.messages(), self.params.n() / 2);
        let wanted = program.evaluate_integers(ring, columns, messages).expect("whole numbers");
        assert_eq!(seen.bootstraps, plan.bootstraps());
        for (((name, level), found), wanted) in plan.outputs().zip(&found).zip(&wanted) {
            assert_eq!(found.level(), level, "{name}");
            assert!(self.decrypt(found) == *wanted, "{name} is wrong");
        }
        plan
    }

    fn fresh(&self, count: usize, seed: u64) -> (Vec<Vec<u64>>, Vec<BgvCiphertext>) {
        let mut lottery = Lottery::new(seed);
        let messages: Vec<Vec<u64>> = (0..count).map(|_| self.random(&mut lottery)).collect();
        let top = self.params.levels().output;
        let inputs = messages.iter().zip(seed..).map(|(m, seed)| self.encrypt(m, top, seed)).collect();
        (messages, inputs)
    }
}

/// Counts bootstraps, and steps of arithmetic.
#[derive(Default)]
struct Seen {
    bootstraps: usize,
    steps: usize,
}

impl Observer for Seen {
    fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
        match event {
            StageEvent::Exit { stage: "digit_removal", .. } => self.bootstraps += 1,
            StageEvent::Progress { stage, .. } if *stage == STAGE.id => self.steps += 1,
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
    let (messages, inputs) = world.fresh(2, 40);
    let plan = world.check(&program, &messages, &inputs, Bootstraps::WhereNeeded);
    assert!(plan.inserted() > 1 && plan.inserted() == plan.bootstraps() && plan.key_switches() > 8);
    // The same from its bytes.
    let again = Program::from_bytes(&program.to_bytes()).expect("our own");
    world.check(&again, &messages, &inputs, Bootstraps::WhereNeeded);
    // As written, levels run out, and the node is named.
    let error = world.plan(&program, &inputs, Bootstraps::AsWritten).err().expect("too deep").to_string();
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
    let (messages, mut inputs) = world.fresh(3, 50);
    inputs[1] = world.encrypt(&messages[1], levels.input, 9);
    // A square of another job, whose factor is its own.
    inputs[2] = world.bootstrapper.multiply(&inputs[2], &inputs[2], &world.keys).expect("room");
    let squares: Vec<u64> = messages[2].iter().map(|&m| ring.mul(m, m)).collect();
    let messages = [messages[0].clone(), messages[1].clone(), squares];
    world.check(&program, &messages, &inputs, Bootstraps::WhereNeeded);
    // Squares of squares: noise and factors of results are those that the next program expects.
    let mut builder = Builder::new();
    let x = builder.input("x");
    let mut power = x;
    for _ in 0..7 {
        power = builder.multiply(power, power);
    }
    builder.output("power", power);
    let program = builder.finish().expect("a program");
    let plan = world.check(&program, &messages[..1], &inputs[..1], Bootstraps::WhereNeeded);
    assert!(plan.bootstraps() >= 3, "{} bootstraps", plan.bootstraps());
}

#[test]
fn noise_of_sums_is_rescaled_before_it_is_too_much() {
    let world = world();
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
    let fresh = builder.bootstrap(product);
    let last = builder.multiply(fresh, product);
    builder.output("last", last);
    let program = builder.finish().expect("a program");
    let (messages, inputs) = world.fresh(1, 60);
    world.check(&program, &messages, &inputs, Bootstraps::WhereNeeded);
}

#[test]
fn random_programs_are_right() {
    let world = world();
    for seed in 0..6 {
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
            values.push(match lottery.word() % 9 {
                0 | 1 => builder.multiply(x, y),
                2 => builder.add(x, y),
                3 => builder.subtract(x, y),
                4 => builder.multiply(x, constant),
                5 => builder.add(x, constant),
                6 => builder.rotate(x, steps),
                7 => builder.polynomial(x, &monomials(&[1.0, 0.0, -2.0, 7.0])),
                _ => builder.conjugate(x),
            });
        }
        let last = *values.last().expect("values");
        builder.output("last", last);
        let program = builder.finish().expect("a program");
        let (messages, inputs) = world.fresh(2, 70 + 2 * seed);
        world.check(&program, &messages, &inputs, Bootstraps::WhereNeeded);
    }
}

#[test]
fn what_integers_do_not_have_is_refused_by_the_name_of_the_node() {
    let world = world();
    let (_, inputs) = world.fresh(1, 80);
    let refused = |build: &dyn Fn(&mut Builder, Value) -> Value| {
        let mut builder = Builder::new();
        let x = builder.input("x");
        let y = build(&mut builder, x);
        builder.output("y", y);
        let program = builder.finish().expect("a program");
        let error = world.plan(&program, &inputs, Bootstraps::WhereNeeded).err().expect("refused");
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
    assert_eq!(refused(&|builder, x| builder.polynomial(x, &monomials(&deep))).0, "LEVEL_MISMATCH");
    let mut builder = Builder::new();
    let x = builder.input("x");
    builder.output("y", x);
    let program = builder.finish().expect("a program");
    assert!(world.plan(&program, &[], Bootstraps::WhereNeeded).is_err());
    let plan = world.plan(&program, &inputs, Bootstraps::WhereNeeded).expect("nothing to do");
    let other = [world.encrypt(&[1], 0, 1)];
    assert!(world.bootstrapper.run_program(&plan, &world.keys, &other, &mut ()).is_err());
}
