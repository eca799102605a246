//! Integers modulo n beside the clear: exact through any chain, within the bounds that are stated, and reduced no earlier than that.

use core::ops::ControlFlow;

use refloat::bootstrapping::ckks_msb::{
    LOOK_UP, MsbParams, MsbPreset, Residue, ResidueEvaluator, ResidueRing,
};
use refloat::random::Seed;
use refloat::schemes::ckks::Scale;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::refusals::refused;

use super::{Setup, toy10, toy11, uniform};

/// Counts digits that were read.
#[derive(Default)]
struct Digits(usize);

impl Observer for Digits {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if matches!(event, StageEvent::Exit { stage, .. } if *stage == LOOK_UP) {
            self.0 += 1;
        }
        ControlFlow::Continue(())
    }
}

struct Bench {
    setup: &'static Setup,
    ring: ResidueRing,
    n: u64,
}

impl Bench {
    fn new(setup: &'static Setup, n: u64) -> Self {
        Self { setup, ring: ResidueRing::new(&setup.params, n).unwrap(), n }
    }

    fn evaluator(&self) -> ResidueEvaluator<'static> {
        ResidueEvaluator::new(&self.setup.evaluator, &self.ring, &self.setup.keys).unwrap()
    }

    /// The ends and the middle of the residues, and any others.
    fn integers(&self, seed: u64) -> Vec<u64> {
        let mut integers: Vec<u64> = uniform(self.setup.slots(), seed)
            .iter()
            .map(|x| ((x + 1.0) / 2.0 * self.n as f64) as u64 % self.n)
            .collect();
        let half = self.n / 2;
        integers[..6].copy_from_slice(&[0, 1, self.n - 1, half, half + 1, half - 1]);
        integers
    }

    fn encrypt(&self, integers: &[u64], level: usize) -> Residue {
        let seed = Seed::from_bytes([5; 32]).derive("residues", integers);
        self.ring.encrypt(&self.setup.secret, integers, level, &seed).unwrap()
    }

    /// Checks that a result is exact, and no further off than it states.
    fn check(&self, found: &Residue, wanted: &[u64], what: &str) {
        let slots = self.setup.decrypt(found.ciphertext());
        let off = slots.iter().map(|z| (z - z.round()).abs()).fold(0.0, f64::max);
        let largest = slots.iter().map(|z| z.abs()).fold(0.0, f64::max);
        assert!(off <= found.off() && found.off() < 0.25, "{what}: off by {off:e}, stated {:e}", found.off());
        assert!(largest <= found.largest() + off, "{what}: {largest}, stated {}", found.largest());
        let integers = self.ring.decrypt(&self.setup.secret, found).unwrap();
        assert!(integers.reveal_to_key_owner() == wanted, "{what}");
    }
}

#[test]
fn any_chain_of_operations_is_exact() {
    let setup = toy11();
    for (n, steps) in [(24, 20), (97, 16), (1000, 8)] {
        let (bench, mut digits) = (Bench::new(setup, n), Digits::default());
        let evaluator = bench.evaluator();
        let levels = setup.params.levels();
        let mut pool: Vec<(Residue, Vec<u64>)> = (0..4u64)
            .map(|i| {
                let integers = bench.integers(i);
                (bench.encrypt(&integers, levels.input + 3 * i as usize), integers)
            })
            .collect();
        // Which operation on which values, and where to.
        let choices = uniform(4 * steps, n);
        let choose = |i: usize, count: usize| (choices[i].midpoint(1.0) * count as f64) as usize % count;
        for (step, from) in (0..choices.len()).step_by(4).enumerate() {
            let (kind, i, j, to) =
                (choose(from, 6), choose(from + 1, 4), choose(from + 2, 4), choose(from + 3, 4));
            let (mut x, mut y) = (pool[i].clone(), pool[j].clone());
            let both = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
                x.1.iter().zip(&y.1).map(|(&x, &y)| f(x, y) % n).collect()
            };
            let result = match kind {
                0 => {
                    let wanted = both(&|x, y| x + y);
                    (evaluator.add(&mut x.0, &mut y.0, &mut digits).unwrap(), wanted)
                }
                1 => {
                    let wanted = both(&|x, y| x + n - y);
                    (evaluator.subtract(&mut x.0, &mut y.0, &mut digits).unwrap(), wanted)
                }
                2 => {
                    let wanted = x.1.iter().map(|x| x * (n - 7) % n).collect();
                    (evaluator.multiply_integer(&mut x.0, -7, &mut digits).unwrap(), wanted)
                }
                3 => {
                    let wanted = x.1.iter().map(|x| x * x % n).collect();
                    (evaluator.square(&mut x.0, &mut digits).unwrap(), wanted)
                }
                _ => {
                    let wanted = both(&|x, y| x * y);
                    (evaluator.multiply(&mut x.0, &mut y.0, &mut digits).unwrap(), wanted)
                }
            };
            bench.check(&result.0, &result.1, &format!("n = {n}, step {step}, operation {kind}"));
            bench.check(&x.0, &x.1, &format!("n = {n}, operand of step {step}"));
            pool[to] = result;
        }
        println!("n = {n}: {steps} operations, {} digits read", digits.0);
        assert!(digits.0 > 0, "nothing was reduced");
    }
}

/// The largest residue in every slot, squared again and again: whatever is left of an error is made larger by n each time.
#[test]
fn squares_of_the_largest_residue_stay_exact() {
    for (setup, n) in [(toy11(), 1000u64), (toy11(), 128), (toy10(), 16)] {
        let bench = Bench::new(setup, n);
        let evaluator = bench.evaluator();
        for z in [n / 2, n / 2 + 1] {
            let (mut x, mut wanted) = (bench.encrypt(&vec![z; setup.slots()], setup.input()), z);
            for power in 1..=3 {
                x = evaluator.square(&mut x, &mut ()).unwrap();
                wanted = wanted * wanted % n;
                bench.check(&x, &vec![wanted; setup.slots()], &format!("{z}^(2^{power}) modulo {n}"));
            }
        }
    }
}

/// An inner product of 64 terms, and a product of four factors, need no reading, and a single one reduces them.
#[test]
fn residues_are_reduced_only_where_they_must() {
    let setup = toy11();
    let bench = Bench::new(setup, 24);
    let (evaluator, mut digits) = (bench.evaluator(), Digits::default());
    let top = setup.params.levels().output;
    let (a, b) = (bench.integers(1), bench.integers(2));
    let (mut x, mut y) = (bench.encrypt(&a, top), bench.encrypt(&b, top));
    let mut sum = evaluator.multiply(&mut x, &mut y, &mut digits).unwrap();
    for _ in 1..64 {
        let mut term = evaluator.multiply(&mut x, &mut y, &mut digits).unwrap();
        sum = evaluator.add(&mut sum, &mut term, &mut digits).unwrap();
    }
    bench.check(&sum, &a.iter().zip(&b).map(|(a, b)| 64 * a * b % 24).collect::<Vec<_>>(), "inner product");
    let mut square = evaluator.square(&mut x, &mut digits).unwrap();
    let fourth = evaluator.square(&mut square, &mut digits).unwrap();
    let wanted: Vec<u64> = a.iter().map(|a| a.pow(4) % 24).collect();
    bench.check(&fourth, &wanted, "fourth power");
    assert_eq!(digits.0, 0);
    let reduced = evaluator.reduce(&fourth, &mut digits).unwrap();
    bench.check(&reduced, &wanted, "fourth power, reduced");
    assert!(digits.0 == 1 && reduced.largest() <= 12.0 && reduced.ciphertext().level() > setup.input());
    // What had to be read is left reduced in its place.
    let mut low = bench.encrypt(&a, setup.input());
    let (mut other, before) = (bench.encrypt(&b, top), digits.0);
    let product = evaluator.multiply(&mut low, &mut other, &mut digits).unwrap();
    assert!(digits.0 == before + 1 && low.ciphertext().level() > setup.input());
    bench.check(
        &product,
        &a.iter().zip(&b).map(|(a, b)| a * b % 24).collect::<Vec<_>>(),
        "from the lowest level",
    );
    evaluator.multiply(&mut low, &mut other, &mut digits).unwrap();
    assert_eq!(digits.0, before + 1);
}

#[test]
fn residues_that_do_not_fit_are_refused() {
    let setup = toy11();
    let bench = Bench::new(setup, 97);
    let ring = &bench.ring;
    let seed = Seed::from_bytes([6; 32]);
    let encrypt = |integers: &[u64], level| ring.encrypt(&setup.secret, integers, level, &seed);
    refused(encrypt(&[5, 97], setup.input()), "INVALID_ARGUMENT", &["integer 1", "97"]);
    refused(encrypt(&[u64::MAX], setup.input()), "INVALID_ARGUMENT", &["97"]);
    refused(encrypt(&[5], setup.input() - 1), "LEVEL_MISMATCH", &["level"]);
    refused(encrypt(&[5], setup.params.levels().output + 1), "LEVEL_MISMATCH", &["level"]);
    refused(
        ring.encrypt(&toy10().secret, &[5], setup.input(), &seed),
        "PARAMS_MISMATCH",
        &["toy-msb11", "toy-msb10"],
    );
    let new = |params: &MsbParams, n| ResidueRing::new(params, n).map(|_| ());
    refused(new(&setup.params, 2 * 131), "INVALID_ARGUMENT", &["131", "128"]);
    refused(new(&toy10().params, 17), "INVALID_ARGUMENT", &["17", "16"]);
    for n in [0, 1, (1 << 20) + 1] {
        refused(new(&setup.params, n), "INVALID_ARGUMENT", &["2 to 1048576"]);
    }
    refused(new(&setup.params, 1 << 20), "INVALID_ARGUMENT", &["noise", "two readings"]);
    let x = encrypt(&[5], setup.input()).unwrap();
    let ciphertext = || x.ciphertext().clone();
    for largest in [f64::NAN, -1.0, f64::INFINITY, 97.0 * 1_048_577.0] {
        refused(ring.residue(ciphertext(), largest), "INVALID_ARGUMENT", &["bound"]);
    }
    refused(ring.residue(ciphertext().relabelled(Scale::exp2(48.0)), 5.0), "SCALE_MISMATCH", &["97", "2^48"]);
    refused(ring.residue(toy10().encrypt(&[0.5], 2), 5.0), "PARAMS_MISMATCH", &["toy-msb11"]);
    assert!(ring.residue(ciphertext(), 5.0).is_ok());
    let evaluator = bench.evaluator();
    let multiply = |k| evaluator.multiply_integer(&mut x.clone(), k, &mut ());
    refused(multiply(49), "INVALID_ARGUMENT", &["49", "48"]);
    refused(multiply(i64::MIN), "INVALID_ARGUMENT", &["48"]);
    assert!(multiply(-48).is_ok());
    let other = ResidueRing::new(&toy10().params, 16).unwrap();
    let new = ResidueEvaluator::new(&setup.evaluator, &other, &setup.keys);
    refused(new.map(|_| ()), "PARAMS_MISMATCH", &["toy-msb10", "toy-msb11"]);
}

/// Up to which power of two there is a ring.
#[test]
fn moduli_up_to_the_noise_are_rings() {
    let sets = [("toy-msb10", 11), ("toy-msb11", 10), ("msb16", 9)];
    let found = sets.map(|(name, _)| {
        let params = MsbPreset::named(name).unwrap().params().unwrap();
        let is_ring = |log: &u32| ResidueRing::new(&params, 1 << log).is_ok();
        (1..=20).take_while(is_ring).last().unwrap()
    });
    assert_eq!(found, sets.map(|(_, log)| log));
}
