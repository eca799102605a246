//! The noise that digits are read in, and what is refused for it.

use refloat::arith::{ComplexDoubleDouble, DoubleDouble};
use refloat::bootstrapping::ckks_msb::{MsbParams, MsbSpec, Numbers, Radix, Readout, Rounding};
use refloat::bootstrapping::raising::ReductionSpec;
use refloat::circuits::polynomial::{Polynomial, roots};
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::trace::Counters;
use refloat_tests::precision::Precision;
use refloat_tests::refusals::refused;

use super::{Setup, at_least, centred, integers, toy10, toy11, uniform};

const LARGEST: f64 = 1_048_576.0;

/// The errors that slots-to-coefficients causes in numbers, modulo 1.
fn deviations(setup: &Setup, values: &[f64]) -> Precision {
    let x = setup.encrypt(values, setup.input());
    let base = setup.evaluator.slots_to_coeffs(&x, &setup.keys, &mut Counters::default()).unwrap();
    let base = setup.evaluator.ckks().drop_to_level(&base, 0).unwrap();
    let slots: Vec<Complex> = setup.secret.decrypt_ring(&base).unwrap().reveal_to_key_owner().clone();
    let coefficients = setup.params.ckks().encoder().coefficients(&slots).unwrap();
    let log = setup.slots().trailing_zeros();
    let coefficient = |k: usize| coefficients[k.reverse_bits() >> (usize::BITS - log)];
    Precision::of_errors((0..setup.slots()).map(|k| centred(coefficient(k) - values[k])))
}

/// The deviation that rounded diagonals cause in constants of 1: for each stage sqrt(p/12) if its diagonals repeat after p slots, and
/// sqrt(2) times as much if they repeat at all, over scales that are proportional to these and as large as primes of 2^48 together.
fn rule(slots: usize, stages: u32) -> f64 {
    let layers = slots.ilog2();
    let periods = (1..=stages).map(|i| {
        // The first stages have the layers that are left over.
        let (each, over) = (layers / stages, layers % stages);
        1usize << (i * each + i.min(over))
    });
    let roundings = periods.map(|p| (p as f64 / 12.0 * if p == slots { 1.0 } else { 2.0 }).sqrt());
    let mean = roundings.product::<f64>().powf(1.0 / f64::from(stages));
    f64::from(stages).sqrt() * mean * 2f64.powi(-48)
}

/// Constants deviate as the rule says, with two stages or with three, and no numbers deviate more.
#[test]
fn the_first_map_takes_numbers_off_by_what_the_rule_says() {
    let mut three = toy11().params.spec().clone();
    three.slots_to_coeffs = 3;
    let three = Setup::of(MsbParams::new(&three).unwrap());
    for setup in [toy10(), toy11(), &three] {
        let n = setup.slots();
        let rule = rule(n, setup.params.spec().slots_to_coeffs as u32) * LARGEST;
        let signs = (0..n).map(|k| if k % 3 == 1 { LARGEST } else { -LARGEST }).collect();
        let one = (0..n).map(|k| if k == 5 { LARGEST } else { 0.0 }).collect();
        let ramp = (0..n).map(|k| LARGEST * k as f64 / n as f64).collect();
        for (what, values) in [("constant", vec![LARGEST; n]), ("signs", signs), ("ramp", ramp), ("one", one)]
        {
            let found = deviations(setup, &values);
            println!("{n} slots, {what}: {:.2} of the rule, worst {:.2}", found.rms / rule, found.max / rule);
            assert!(found.rms < rule && found.max < 5.0 * rule, "{what}: {found:?}, rule {rule:e}");
            assert!(
                found.rms > 0.7 * rule || what == "ramp" || what == "one",
                "{what}: {found:?}, rule {rule:e}"
            );
        }
    }
}

/// A readout in the clear: the same tables at e^(2 pi i k x).
struct Clear {
    /// Factors and tables.
    passes: Vec<(f64, Polynomial)>,
}

impl Clear {
    fn new(bases: &[u32]) -> Self {
        let factor = |i: usize| bases[i + 1..].iter().copied().map(f64::from).product();
        let line =
            |t: u32| (0..t).map(|j| DoubleDouble::ratio(j.into(), t.into()).into()).collect::<Vec<_>>();
        let pass = |(i, &t): (usize, &u32)| (factor(i), roots::hermite(&line(t)).unwrap());
        Self { passes: bases.iter().enumerate().map(pass).collect() }
    }

    fn read(&self, x: f64) -> f64 {
        let (mut rest, mut sum) = (x, 0.0);
        for (factor, table) in &self.passes {
            let (cos, sin) = DoubleDouble::new(factor * rest - (factor * rest).floor()).cos_sin_turns();
            let part = table.value(ComplexDoubleDouble::new(cos, sin)).re.to_f64() / factor;
            rest -= part;
            sum += part;
        }
        sum
    }
}

/// Adds noise to integers until digits are wrong. That happens at the same noise as in the clear, and the rule is on the safe side of it.
#[test]
fn digits_are_wrong_where_the_rule_says_and_not_before() {
    let setup = toy11();
    for bases in [&[32u32, 32][..], &[8, 128]] {
        let radix = Radix::new(bases).unwrap();
        let (readout, modulus) = (Readout::digits(&radix).unwrap(), radix.modulus() as f64);
        let (mut borne, mut not) = (2f64.powi(-30), 0.25);
        while not / borne > 1.001 {
            let middle = f64::sqrt(borne * not);
            if readout.bears(middle) { borne = middle } else { not = middle }
        }
        let errors = |integers: &[u64], found: &[f64]| -> Vec<f64> {
            let error = |(y, &j): (&f64, &u64)| modulus * centred(y - j as f64 / modulus);
            found.iter().zip(integers).map(error).collect()
        };
        let read = |integers: &[u64], off: &dyn Fn(usize) -> f64| {
            let number = |(k, &j): (usize, &u64)| j as f64 / modulus + off(k);
            let x: Vec<f64> = integers.iter().enumerate().map(number).collect();
            let x = setup.encrypt(&x, setup.input());
            let y = setup.evaluator.int_boot(Numbers::up_to(&x, 2.0), &radix, &setup.keys, &mut ()).unwrap();
            errors(integers, &setup.decrypt(&y))
        };
        // The lowest digits on both sides of the jump of their table, where it bends most, as far off as the rule bears.
        let t = u64::from(bases[0]);
        let steep: Vec<u64> = integers(setup.slots(), radix.modulus())
            .into_iter()
            .enumerate()
            .map(|(k, j)| j / t * t + (k as u64 & 1) * (t - 1))
            .collect();
        let worst = Precision::of_errors(read(&steep, &|k| if k & 2 == 0 { borne } else { -borne })).max;
        println!("{bases:?}: bears 2^{:.2}, off by {worst:.3} of an integer there", borne.log2());
        assert!((0.02..=0.25).contains(&worst), "{bases:?}: {worst}");
        // Any digits, in noise of which a share of 2^-6 comes out wrong in the clear: 16 slots of 1024.
        let (clear, noise) = (Clear::new(bases), gaussian(setup.slots()));
        let integers = integers(setup.slots(), radix.modulus());
        let share =
            |errors: &[f64]| errors.iter().filter(|e| e.abs() >= 0.5).count() as f64 / errors.len() as f64;
        let in_the_clear = |deviation: f64| {
            let number = |(k, &j): (usize, &u64)| clear.read(j as f64 / modulus + deviation * noise[k]);
            share(&errors(&integers, &integers.iter().enumerate().map(number).collect::<Vec<_>>()))
        };
        let mut deviation = borne / 6.0;
        while in_the_clear(deviation) < 2f64.powi(-6) {
            deviation *= 1.05;
        }
        let found =
            [1.0 / 1.5, 1.0, 1.5].map(|factor| share(&read(&integers, &|k| factor * deviation * noise[k])));
        println!("{bases:?}: 2^-6 wrong at {:.2} of what is borne; shares {found:?}", deviation / borne);
        assert!(
            found[0] < 2f64.powi(-6) && found[1] > 2f64.powi(-7) && found[2] > 2f64.powi(-6),
            "{found:?}"
        );
    }
}

/// Numbers of a normal distribution.
fn gaussian(count: usize) -> Vec<f64> {
    let [radius, angle] = [21, 22].map(|seed| uniform(count, seed));
    let size = |u: f64| (-2.0 * f64::midpoint(u, 1.0).max(1e-300).ln()).sqrt();
    radius.iter().zip(&angle).map(|(&u, v)| size(u) * (core::f64::consts::PI * v).cos()).collect()
}

#[test]
fn the_largest_modulus_for_the_largest_integers_is_exact_and_a_larger_one_refused() {
    let setup = toy10();
    let n = 1u64 << 19;
    let modulus = n as f64;
    let largest = modulus * LARGEST;
    // As large as they can be: the noise of a uniform draw is 0.58 times as large.
    let mut integers: Vec<f64> = uniform(setup.slots(), 31)
        .iter()
        .map(|x| x.signum() * (largest - (x.abs() * modulus).round()))
        .collect();
    integers[..6].copy_from_slice(&[largest - 1.0, 1.0 - largest, 0.0, -1.0, modulus - 1.0, modulus]);
    let x = setup.encrypt(&integers.iter().map(|z| z / modulus).collect::<Vec<_>>(), setup.input());
    let x = x.relabelled(setup.params.scale().div(Scale::new(modulus)));
    let int_mod = |x: Numbers<'_>, n| setup.evaluator.int_mod(x, n, &setup.keys, &mut ());
    let y = int_mod((&x).into(), n).unwrap();
    let wanted: Vec<f64> = integers.iter().map(|z| z.rem_euclid(modulus)).collect();
    assert_eq!(setup.decrypt(&y).iter().map(|y| y.round()).collect::<Vec<_>>(), wanted);
    // Twice the modulus is for smaller integers.
    let twice = x.clone().relabelled(setup.params.scale().div(Scale::new(2.0 * modulus)));
    refused(int_mod((&twice).into(), 2 * n), "INVALID_ARGUMENT", &["1048576", "smaller bound"]);
    let small = setup.encrypt(&[3.0 / (2.0 * modulus)], setup.input()).relabelled(twice.scale());
    let y = int_mod(Numbers::up_to(&small, 4096.0), 2 * n).unwrap();
    assert!((setup.decrypt(&y)[0] - 3.0).abs() < 0.5);
    for bound in [f64::NAN, 0.0, -1.0, largest * 3.0, f64::INFINITY] {
        refused(int_mod(Numbers::up_to(&x, bound), n), "INVALID_ARGUMENT", &["bound"]);
    }
    // Fixed bases do not change; they are refused.
    let radix = Radix::new(&[16; 5]).unwrap();
    let x = setup.encrypt(&[0.5], setup.input());
    let boot = |x: Numbers<'_>| setup.evaluator.int_boot(x, &radix, &setup.keys, &mut ());
    refused(boot((&x).into()), "INVALID_ARGUMENT", &["[16, 16, 16, 16, 16]", "1048576", "smaller bound"]);
    at_least(
        Precision::of(&setup.decrypt(&boot(Numbers::up_to(&x, 1.0)).unwrap())[..1], &[0.5]),
        [36.0; 2],
        "16^5",
    );
}

#[test]
fn real_numbers_are_reduced_as_far_as_their_size_is_known() {
    let setup = toy10();
    let radix = Radix::new(&[32; 2]).unwrap();
    let x = setup.encrypt(&[0.1, 0.4], setup.params.levels().output);
    let modulo = |x: Numbers<'_>, modulus| setup.evaluator.modulo(x, modulus, &radix, &setup.keys, &mut ());
    refused(modulo((&x).into(), 0.25), "INVALID_ARGUMENT", &["1048576", "0.25", "smaller bound"]);
    refused(modulo(Numbers::up_to(&x, 262_145.0), 0.25), "INVALID_ARGUMENT", &["262145", "0.25"]);
    let found = setup.decrypt(&modulo(Numbers::up_to(&x, 262_144.0), 0.25).unwrap());
    assert!((found[0] - 0.1).abs() < 0.25 * 12.0 / 1024.0 && (found[1] - 0.15).abs() < 0.25 * 12.0 / 1024.0);
    for bad in [0.0, -1.0, f64::NAN, 2f64.powi(-21), 2f64.powi(21)] {
        refused(modulo(Numbers::up_to(&x, 1e-9), bad), "INVALID_ARGUMENT", &["2^-20"]);
    }
}

#[test]
fn blocks_are_read_in_bases_that_bear_the_rounding_of_the_first() {
    let setup = toy11();
    let blocks = |x: &Ciphertext<u64>, bases: &[u32], count| {
        let radix = Radix::new(bases).unwrap();
        setup.evaluator.boot_blocks(x, &radix, count, &setup.keys, &mut Stopped)
    };
    let x = setup.encrypt(&[0.5], setup.params.levels().output);
    for bases in [&[128][..], &[2, 64], &[8, 16], &[16, 16], &[16, 32], &[2; 7]] {
        refused(blocks(&x, bases, 2), "INVALID_ARGUMENT", &[&format!("{bases:?}"), "1024"]);
        // One block is only a rounding.
        refused(blocks(&x, bases, 1), "ABORTED", &[]);
    }
    // Numbers up to T^(k-1).
    refused(blocks(&x, &[32; 2], 3), "ABORTED", &[]);
    for (bases, count) in
        [(&[32, 33][..], 3), (&[32; 2], 4), (&[32; 3], 3), (&[32; 2], u32::MAX), (&[32; 2], 0)]
    {
        refused(blocks(&x, bases, count), "INVALID_ARGUMENT", &["1048576"]);
    }
    // The smallest bases of two digits.
    let least = (2..64).find(|&t| blocks(&x, &[t; 2], 2).unwrap_err().code() == "ABORTED").unwrap();
    let radix = Radix::new(&[least; 2]).unwrap();
    let range = radix.modulus() as f64;
    println!("blocks from base {least} on");
    let mut values: Vec<f64> =
        uniform(setup.slots(), 13).iter().map(|x| range * f64::midpoint(*x, 1.0)).collect();
    values[..4].copy_from_slice(&[0.5, 1.0, range / 2.0, range - 1.5]);
    let x = setup.encrypt(&values, setup.input() + 1);
    let y = setup.evaluator.boot_blocks(&x, &radix, 2, &setup.keys, &mut ()).unwrap();
    let errors = setup.decrypt(&y).into_iter().zip(&values).map(|(y, x)| centred((y - x) / range) * range);
    // No worse than the rounding of one block and a quarter of an integer.
    let found = Precision::of_errors(errors);
    assert!(found.max < 0.25 && found.mean < 0.02, "{found:?}");
}

/// Levels are checked before the first of several blocks is read.
#[test]
fn blocks_need_levels_of_tables_too() {
    let setup = toy10();
    let x = setup.encrypt(&[0.5], setup.params.levels().output);
    let radix = Radix::new(&[32; 2]).unwrap();
    let result = setup.evaluator.boot_blocks(&x, &radix, 2, &setup.keys, &mut Stopped);
    refused(result, "LEVEL_MISMATCH", &["level 3", "[32, 32]", "level 2"]);
}

/// Cancels whatever begins.
struct Stopped;

impl refloat::trace::Observer for Stopped {
    fn event(&mut self, _: &refloat::trace::StageEvent) -> core::ops::ControlFlow<()> {
        core::ops::ControlFlow::Break(())
    }
}

#[test]
fn centred_results_are_centred() {
    let setup = toy11();
    for bases in [&[3u32, 5][..], &[4, 5], &[25, 25]] {
        let error = Readout::centred(&Radix::new(bases).unwrap()).map(|_| ());
        refused(error, "INVALID_ARGUMENT", &["odd", &format!("{}", bases[1] + 1)]);
    }
    for bases in [&[5u32][..], &[5, 8], &[3, 4, 6]] {
        let radix = Radix::new(bases).unwrap();
        let (readout, modulus) = (Readout::centred(&radix).unwrap(), radix.modulus() as i64);
        let wanted: Vec<f64> =
            (0..setup.slots() as i64).map(|k| (k % modulus - modulus / 2) as f64 / modulus as f64).collect();
        // As fractions in [0, 1), and back without a modulo.
        let x = setup.encrypt(&wanted.iter().map(|x| x.rem_euclid(1.0)).collect::<Vec<_>>(), setup.input());
        let y = setup.evaluator.read(&x, &readout, Rounding::None, &setup.keys, &mut ()).unwrap().remove(0);
        at_least(Precision::of(&setup.decrypt(&y), &wanted), [36.0, 33.0], &format!("centred {bases:?}"));
    }
}

#[test]
fn guards_are_wide_enough_for_the_rounding() {
    let setup = toy10();
    let x = setup.encrypt(&[0.3], setup.input());
    let line = vec![(0..8).map(|j| f64::from(j).into()).collect::<Vec<_>>()];
    for guard in [2, 31] {
        let result = setup.evaluator.quantise(&x, &line, guard, &setup.keys, &mut ());
        refused(result, "INVALID_ARGUMENT", &["guard", "32", "%"]);
    }
    // On the grid there is no rounding.
    let readout = Readout::tables(&line, Some(2)).unwrap();
    let x = setup.encrypt(&[5.0 / 16.0], setup.input());
    let y = setup.evaluator.read(&x, &readout, Rounding::None, &setup.keys, &mut ()).unwrap();
    assert!((setup.decrypt(&y[0])[0] - 2.0).abs() < 0.5);
}

#[test]
fn impossible_sets_are_refused() {
    let good = toy10().params.spec();
    assert!(MsbParams::<u64>::new(good).is_ok());
    let refuse = |change: fn(&mut MsbSpec), words: &[&str]| {
        let mut spec = good.clone();
        change(&mut spec);
        refused(MsbParams::<u64>::new(&spec), "INVALID_ARGUMENT", words);
    };
    refuse(|spec| spec.reduction.degree = usize::MAX, &["levels"]);
    refuse(|spec| spec.reduction.squarings = u32::MAX, &["levels"]);
    refuse(|spec| spec.reduction.range = 0, &["below 0"]);
    refuse(|spec| spec.reduction.range = 65, &["below 65"]);
    refuse(|spec| spec.reduction.degree = 0, &["degree 0"]);
    refuse(|spec| spec.reduction.degree = 16, &["degree 16", "2^-22"]);
    refuse(|spec| spec.coeffs_to_slots = usize::MAX, &["levels"]);
    refuse(
        |spec| {
            let next = spec.chain.levels.remove(1);
            spec.chain.levels[0].extend(next);
        },
        &["q0"],
    );
    assert!(good.reduction.fitted().is_ok());
}
