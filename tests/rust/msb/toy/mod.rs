//! Modular reduction in CKKS at demonstration size: every digit in the clear beside every digit that was read, what rounding
//! does, and how much is left of it.

mod applications;
mod bounds;
mod gates;
mod noise;
mod programs;
mod reading;
mod residues;
mod wire;

use std::sync::OnceLock;

use refloat::Error;
use refloat::arith::{ComplexDoubleDouble, DoubleDouble};
use refloat::bootstrapping::ckks_msb::{
    LOOK_UP, MsbBootstrapper, MsbEvaluator, MsbKeys, MsbParams, MsbPreset, MsbRun, MsbSecretKey, Numbers,
    Radix, Readout, Rounding,
};
use refloat::bootstrapping::{MetaBootstrapper, Method};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::polynomial::{PolynomialEvaluator, roots};
use refloat::params::msb_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat::wire::ciphertext_to_bytes;
use refloat_tests::measure::uniform;
use refloat_tests::precision::Precision;

struct Setup {
    params: MsbParams,
    secret: MsbSecretKey,
    keys: MsbKeys,
    evaluator: MsbEvaluator,
}

impl Setup {
    fn new(name: &str) -> Self {
        Self::of(msb_preset(name).unwrap().params().unwrap())
    }

    fn of(params: MsbParams) -> Self {
        let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let keys = MsbKeys::generate(&secret).unwrap();
        let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
        Self { params, secret, keys, evaluator }
    }

    fn input(&self) -> usize {
        self.params.levels().input
    }

    fn encrypt(&self, values: &[f64], level: usize) -> Ciphertext<u64> {
        let slots: Vec<Complex> = values.iter().map(|&x| Complex::new(x, 0.0)).collect();
        // Every message has randomness of its own, the same in every run.
        let message: Vec<u64> = values.iter().map(|x| x.to_bits()).collect();
        self.secret.encrypt(&slots, level, &Seed::from_bytes([7; 32]).derive("test", &message)).unwrap()
    }

    fn decrypt_complex(&self, x: &Ciphertext<u64>) -> Vec<Complex> {
        self.secret.decrypt(x).unwrap().reveal_to_key_owner().clone()
    }

    fn decrypt(&self, x: &Ciphertext<u64>) -> Vec<f64> {
        self.decrypt_complex(x).iter().map(|z| z.re).collect()
    }

    fn slots(&self) -> usize {
        self.params.slots()
    }
}

fn toy11() -> &'static Setup {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    SETUP.get_or_init(|| Setup::new("toy-msb11"))
}

fn toy10() -> &'static Setup {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    SETUP.get_or_init(|| Setup::new("toy-msb10"))
}

/// Integers below `modulus`, one per slot: all of them if they fit, otherwise with both ends included.
fn integers(slots: usize, modulus: u64) -> Vec<u64> {
    let random = uniform(slots, modulus);
    let drawn = |k: usize| (random[k].midpoint(1.0) * modulus as f64) as u64;
    (0..slots)
        .map(|k| match k as u64 {
            k if modulus <= slots as u64 => k % modulus,
            0 => 0,
            1 => modulus - 1,
            2 => modulus / 2,
            _ => drawn(k).min(modulus - 1),
        })
        .collect()
}

/// Prints the bits of precision, and fails unless there are at least these.
fn at_least(found: Precision, [mean, worst]: [f64; 2], what: &str) {
    println!("{what}: {:.2} / {:.2}", found.mean_bits(), found.max_bits());
    assert!(
        found.mean_bits() >= mean && found.max_bits() >= worst,
        "{what}: {found:?}, {mean} / {worst} wanted"
    );
}

/// x modulo 1, in [-1/2, 1/2).
fn centred(x: f64) -> f64 {
    x - (x + 0.5).floor()
}

#[test]
fn integers_come_back_in_every_radix() {
    // Figures of a ring of twice the degree, less half a bit.
    let cases: [(&[u32], [f64; 2]); 10] = [
        (&[3], [38.5, 35.4]),
        (&[4], [39.5, 36.7]),
        (&[5], [38.5, 35.4]),
        (&[8], [38.5, 35.4]),
        (&[32], [38.5, 35.4]),
        (&[128], [38.0, 35.2]),
        (&[4, 3, 5], [37.6, 34.9]),
        (&[32, 32], [38.0, 35.1]),
        (&[128, 128], [37.5, 34.9]),
        (&[32, 32, 32], [37.6, 34.9]),
    ];
    let setup = toy11();
    for (bases, bits) in cases {
        let radix = Radix::new(bases).unwrap();
        let modulus = radix.modulus();
        let wanted: Vec<f64> =
            integers(setup.slots(), modulus).iter().map(|&j| j as f64 / modulus as f64).collect();
        let x = setup.encrypt(&wanted, setup.input());
        let y = setup.evaluator.int_boot(&x, &radix, &setup.keys, &mut ()).unwrap();
        let deepest = Readout::digits(&radix).unwrap().levels().max().unwrap();
        assert_eq!(y.level(), setup.params.levels().output - deepest);
        assert!(y.scale().matches(setup.params.scale()));
        let found = setup.decrypt(&y);
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(((found - wanted) * modulus as f64).abs() < 0.5, "{bases:?}: {found}, {wanted}");
        }
        at_least(Precision::of(&found, &wanted), bits, &format!("IntBoot {bases:?}"));
    }
}

#[test]
fn every_quotient_disappears_from_every_digit() {
    let (setup, t) = (toy11(), 32u32);
    let (params, ckks) = (&setup.params, setup.evaluator.ckks());
    let (top, slots) = (params.levels().coeffs_to_slots, setup.slots());
    let q0 = params.base_modulus().to_f64();
    let (range, log) = (i64::from(params.spec().reduction.range), slots.trailing_zeros());
    // A raised ciphertext without randomness, whose coefficients are (I + j/t) q0: 31 quotients and 32 digits in 1024 slots.
    let quotient = |k: usize| k as i64 % (2 * range - 1) - (range - 1);
    let digit = |k: usize| (k as i64 / (2 * range - 1)) % i64::from(t);
    let coefficient = |k: usize| {
        let x = quotient(k) as f64 + centred(digit(k) as f64 / f64::from(t));
        // |x| may not pass the range: the quotient that a raise has is that of the centred digit.
        x * q0
    };
    let mut coefficients = vec![0.0; 2 * slots];
    for k in 0..slots {
        coefficients[k.reverse_bits() >> (usize::BITS - log)] = coefficient(k);
    }
    let scale = params.base_modulus().mul(Scale::new(range as f64));
    let x = setup.encrypt(&vec![0.0; slots], setup.input());
    let base = setup.evaluator.slots_to_coeffs(&x, &setup.keys, &mut Counters::default()).unwrap();
    let raised = setup.evaluator.mod_raise(&base, &setup.keys, &mut Counters::default()).unwrap();
    assert_eq!((raised.level(), raised.scale()), (top, scale));
    let zero = ckks.sub(&raised, &raised).unwrap();
    let values = params.ckks().encoder().decode(&coefficients, scale);
    let forged = ckks.add_plain(&zero, &ckks.encode(&values, top, scale).unwrap()).unwrap();

    let mut counters = Counters::default();
    let y = setup.evaluator.coeffs_to_slots(&forged, &setup.keys, &mut counters).unwrap().swap_remove(0);
    let polynomials = PolynomialEvaluator::new(ckks, setup.keys.relinearization());
    let z = setup.evaluator.reduction().evaluate(ckks, &polynomials, &y, params.scale()).unwrap();
    let line: Vec<ComplexDoubleDouble> =
        (0..t).map(|j| DoubleDouble::ratio(j.into(), t.into()).into()).collect();
    let table = roots::hermite(&line).unwrap();
    let out = polynomials.evaluate(&table, &z, params.scale()).unwrap();
    let wanted: Vec<f64> = (0..slots).map(|k| digit(k) as f64 / f64::from(t)).collect();
    at_least(Precision::of(&setup.decrypt(&out), &wanted), [38.5, 35.0], "every quotient");
}

#[test]
fn coefficients_are_read_without_the_first_map() {
    let setup = toy11();
    let radix = Radix::new(&[8, 32]).unwrap();
    let wanted: Vec<f64> = integers(setup.slots(), 256).iter().map(|&j| j as f64 / 256.0).collect();
    let x = setup.encrypt(&wanted, setup.input());
    let base = setup.evaluator.slots_to_coeffs(&x, &setup.keys, &mut Counters::default()).unwrap();
    let y = setup.evaluator.half_int_boot(&base, &radix, &setup.keys, &mut ()).unwrap();
    at_least(Precision::of(&setup.decrypt(&y), &wanted), [38.0, 35.0], "HalfIntBoot");
}

#[test]
fn rounding_deviates_as_the_weight_of_the_secret_says() {
    let setup = toy11();
    let radix = Radix::new(&[128]).unwrap();
    for (rounding, weight, count, tolerance) in
        [(Rounding::Ephemeral, 32.0, 10, 0.03), (Rounding::Main, 192.0, 4, 0.05)]
    {
        let readout = Readout::digits(&radix).unwrap();
        let mut deviations = Vec::new();
        for seed in 0..count {
            let values: Vec<f64> = uniform(setup.slots(), seed);
            let x = setup.encrypt(&values, setup.input());
            let y = setup.evaluator.read(&x, &readout, rounding, &setup.keys, &mut ()).unwrap().remove(0);
            let found = setup.decrypt(&y);
            for (y, x) in found.iter().zip(&values) {
                let step = y * 128.0;
                assert!((step - step.round()).abs() < 1e-8 && (0.0..128.0).contains(&step.round()), "{y}");
                deviations.push(128.0 * centred(y - x));
            }
        }
        let found = Precision::of_errors(deviations);
        let model = f64::sqrt((1.0 + weight) / 12.0);
        println!("{rounding:?}: deviation {:.3} of {model:.3} points", found.rms);
        assert!((found.rms / model - 1.0).abs() < tolerance, "{rounding:?}: {found:?}, {model}");
    }
}

#[test]
fn real_numbers_are_read_modulo_one() {
    let setup = toy11();
    // Published figures for a rounding under the main secret, and 1.2 more in the mean under the ephemeral one.
    for (bases, bits) in [(&[32][..], [4.4, 2.2]), (&[32; 2], [9.4, 7.2]), (&[32; 3], [14.4, 12.1])] {
        let radix = Radix::new(bases).unwrap();
        let mut values = uniform(setup.slots(), 3);
        // Near the wrap and far from it.
        values[..6].copy_from_slice(&[0.0, 1.0, -1.0, 0.5, 1.0 - 1e-9, 1e-9]);
        let x = setup.encrypt(&values, setup.input());
        for centre in [false, true] {
            let y = setup.evaluator.boot(&x, &radix, centre, &setup.keys, &mut ()).unwrap();
            let found = setup.decrypt(&y);
            let range = if centre { -0.5..0.5 } else { 0.0..1.0 };
            let inside =
                |&y: &f64| range.contains(&((y * radix.modulus() as f64).round() / radix.modulus() as f64));
            assert!(found.iter().all(inside), "{bases:?}, centred: {centre}");
            let errors = found.iter().zip(&values).map(|(y, x)| centred(y - x));
            at_least(Precision::of_errors(errors), bits, &format!("Boot {bases:?}, centred: {centre}"));
        }
    }
}

#[test]
fn real_numbers_up_to_2_20_are_reduced() {
    let setup = toy11();
    let radix = Radix::new(&[32; 3]).unwrap();
    let largest = f64::from(1 << 20);
    let mut values: Vec<f64> = uniform(setup.slots(), 4).iter().map(|x| x * largest).collect();
    values[..5].copy_from_slice(&[largest, -largest, largest - 0.5, 0.25, -0.25]);
    for level in [setup.input(), setup.params.levels().output] {
        let x = setup.encrypt(&values, level);
        let y = setup.evaluator.modulo(&x, 1.0, &radix, &setup.keys, &mut ()).unwrap();
        let found = setup.decrypt(&y);
        let errors = found.iter().zip(&values).map(|(y, x)| centred(y - x));
        at_least(Precision::of_errors(errors), [14.4, 12.0], "Mod below 2^20");
    }
    // Modulo 1/4, by a constant.
    let values = uniform(setup.slots(), 5);
    let x = setup.encrypt(&values, setup.input() + 1);
    let x = Numbers::up_to(&x, 1.0);
    let y = setup.evaluator.modulo(x, 0.25, &radix, &setup.keys, &mut ()).unwrap();
    let errors = setup.decrypt(&y).into_iter().zip(&values).map(|(y, x)| 0.25 * centred((y - x) / 0.25));
    at_least(Precision::of_errors(errors), [16.4, 14.0], "Mod 1/4");
}

#[test]
fn blocks_of_digits_are_refreshed_to_any_precision() {
    let setup = toy11();
    // Published for two blocks: 17.8 / 12.7 and 27.8 / 23.3, relative to the range.
    let cases: [(&[u32], u32, [f64; 2]); 3] =
        [(&[32; 2], 2, [19.1, 16.2]), (&[32; 3], 2, [29.0, 26.8]), (&[32; 2], 3, [29.1, 26.2])];
    for (bases, blocks, bits) in cases {
        let radix = Radix::new(bases).unwrap();
        let range = (radix.modulus() as f64).powi(blocks as i32 - 1);
        let mut values: Vec<f64> =
            uniform(setup.slots(), 12).iter().map(|x| range * (x + 1.0) / 2.0).collect();
        values[..4].copy_from_slice(&[0.5, 1.0, range / 2.0, range - 1.5]);
        let x = setup.encrypt(&values, setup.input() + blocks as usize - 1);
        let y = setup.evaluator.boot_blocks(&x, &radix, blocks, &setup.keys, &mut ()).unwrap();
        let found = setup.decrypt(&y);
        let errors = found.iter().zip(&values).map(|(y, x)| centred((y - x) / range));
        at_least(Precision::of_errors(errors), bits, &format!("Boot^{blocks} {bases:?}"));
        let low = setup.encrypt(&values, setup.input() + blocks as usize - 2);
        let refused = setup.evaluator.boot_blocks(&low, &radix, blocks, &setup.keys, &mut ());
        assert_eq!(refused.map(|_| ()).unwrap_err().code(), "LEVEL_MISMATCH");
    }
}

#[test]
fn integers_up_to_2_20_times_the_modulus_are_reduced_exactly() {
    let setup = toy11();
    // (n, log2 of the largest |z| / n, bits of z mod n over n)
    let cases = [
        (24u64, 10, [38.0, 34.8]),
        (97, 10, [37.5, 34.5]),
        (32, 20, [37.6, 33.8]),
        (1024, 10, [37.0, 34.0]),
        (1024, 20, [33.7, 29.0]),
        (1000, 20, [30.0, 25.0]),
        (16384, 20, [27.2, 22.9]),
    ];
    for (n, log, bits) in cases {
        let modulus = n as f64;
        let mut integers: Vec<f64> =
            uniform(setup.slots(), n).iter().map(|x| (x * modulus * f64::from(1 << log)).round()).collect();
        integers[..4].copy_from_slice(&[0.0, -1.0, modulus, modulus - 1.0]);
        // At the scale over n, where z / n at the scale of the set has the same residues.
        let fractions: Vec<f64> = integers.iter().map(|z| z / modulus).collect();
        let x = setup.encrypt(&fractions, setup.input());
        let x = x.relabelled(setup.params.scale().div(Scale::new(modulus)));
        let y = setup.evaluator.int_mod(&x, n, &setup.keys, &mut ()).unwrap();
        let found = setup.decrypt(&y);
        let wanted: Vec<f64> = integers.iter().map(|z| z.rem_euclid(modulus)).collect();
        let errors = || found.iter().zip(&wanted).map(|(y, z)| (y - z) / modulus);
        at_least(Precision::of_errors(errors()), bits, &format!("IntMod {n} below 2^{log} n"));
        assert!(found.iter().zip(&wanted).all(|(y, z)| (y - z).abs() < 0.5), "{n}");
    }
    // Plain integers, by a constant.
    let integers: Vec<f64> = uniform(setup.slots(), 9).iter().map(|x| (x * 1000.0).round()).collect();
    let x = setup.encrypt(&integers, setup.input() + 1);
    let y = setup.evaluator.int_mod(&x, 24, &setup.keys, &mut ()).unwrap();
    let wanted: Vec<f64> = integers.iter().map(|z| z.rem_euclid(24.0)).collect();
    assert_eq!(setup.decrypt(&y).iter().map(|y| y.round()).collect::<Vec<_>>(), wanted);
}

#[test]
fn bits_come_off_one_by_one() {
    let setup = toy11();
    let radix = Radix::new(&[32; 3]).unwrap();
    // Integers: every bit is exact.
    let integers = integers(setup.slots(), radix.modulus());
    let fractions: Vec<f64> = integers.iter().map(|&j| j as f64 / radix.modulus() as f64).collect();
    let x = setup.encrypt(&fractions, setup.input());
    let bits = setup.evaluator.bits(&x, &radix, Rounding::None, &setup.keys, &mut ()).unwrap();
    assert_eq!(bits.len(), 15);
    for (b, bit) in bits.iter().enumerate() {
        let wanted: Vec<f64> = integers.iter().map(|j| (j >> b & 1) as f64).collect();
        at_least(Precision::of(&setup.decrypt(bit), &wanted), [36.0, 32.0], &format!("bit {b} of integers"));
    }
    // Real numbers: the ten highest of fifteen.
    let values: Vec<f64> = uniform(setup.slots(), 6).iter().map(|x| (x + 1.0) / 2.0).collect();
    let x = setup.encrypt(&values, setup.input());
    let bits = setup.evaluator.bits(&x, &radix, Rounding::Ephemeral, &setup.keys, &mut ()).unwrap();
    let (mut own, mut number) = (Vec::new(), vec![0.0; setup.slots()]);
    for (b, bit) in bits.iter().enumerate().skip(5) {
        let found = setup.decrypt(bit);
        own.extend(found.iter().map(|y| y - y.round()));
        for (number, y) in number.iter_mut().zip(&found) {
            *number += y.round() * 2f64.powi(b as i32 - 15);
        }
    }
    assert!(own.iter().all(|e| e.abs() < 2f64.powi(-10)), "a bit between 0 and 1");
    at_least(Precision::of_errors(own), [36.0, 32.0], "P1");
    let errors = number.iter().zip(&values).map(|(y, x)| centred(x - y));
    at_least(Precision::of_errors(errors), [10.9, 9.4], "P2");
}

#[test]
fn functions_are_looked_up() {
    let (setup, t) = (toy11(), 16usize);
    let integers = integers(setup.slots(), t as u64);
    let fractions: Vec<f64> = integers.iter().map(|&j| j as f64 / t as f64).collect();
    let x = setup.encrypt(&fractions, setup.input());
    // One function for each value, and a random complex one.
    let one_hot = |i: usize| -> Vec<ComplexDoubleDouble> {
        (0..t).map(|j| f64::from(u8::from(i == j)).into()).collect()
    };
    let parts = uniform(2 * t, 8);
    let random: Vec<Complex> = parts.chunks(2).map(|z| Complex::new(z[0], z[1])).collect();
    let mut functions: Vec<Vec<ComplexDoubleDouble>> = (0..t).map(one_hot).collect();
    functions.push(random.iter().map(|&z| z.into()).collect());
    let found = setup.evaluator.look_up(&x, &functions, &setup.keys, &mut ()).unwrap();
    assert_eq!(found.len(), t + 1);
    for (i, (function, y)) in functions.iter().zip(&found).enumerate() {
        let wanted: Vec<Complex> = integers.iter().map(|&j| function[j as usize].to_complex()).collect();
        let precision = Precision::of_slots(&setup.decrypt_complex(y), &wanted);
        at_least(precision, [35.0, 32.0], &format!("table {i}"));
    }
    // Real numbers, with a guard digit.
    let (t, guard) = (32usize, 32u32);
    let floor: Vec<ComplexDoubleDouble> =
        (0..t).map(|j| DoubleDouble::ratio(j as i64, t as i64).into()).collect();
    let square: Vec<ComplexDoubleDouble> =
        (0..t).map(|j| DoubleDouble::ratio((j * j) as i64, (t * t) as i64).into()).collect();
    let values: Vec<f64> = uniform(setup.slots(), 10).iter().map(|x| (x + 1.0) / 2.0).collect();
    let x = setup.encrypt(&values, setup.input());
    let found = setup.evaluator.quantise(&x, &[floor, square], guard, &setup.keys, &mut ()).unwrap();
    assert_eq!(found.len(), 2);
    let (floors, squares) = (setup.decrypt(&found[0]), setup.decrypt(&found[1]));
    let mut neighbours = 0;
    for ((x, y), square) in values.iter().zip(&floors).zip(&squares) {
        let (step, found) = (x * t as f64, y * t as f64);
        assert!((found - found.round()).abs() < 1e-8 && (square - y * y).abs() < 1e-8, "{x}: {y}, {square}");
        // 7.5 deviations of a guarded step, modulo the wrap.
        let away = (found.round() - step.floor()) as i64;
        if away != 0 {
            neighbours += 1;
            let edge = (step - step.round()).abs() * f64::from(guard);
            let neighbour = [1, t as i64 - 1].contains(&away.rem_euclid(t as i64));
            assert!(neighbour && edge < 7.5 * 1.66, "{x} -> {y}");
        }
    }
    println!("{neighbours} of {} at a boundary", values.len());
    assert!(neighbours * 10 < values.len());
}

#[test]
fn results_do_not_depend_on_threads() {
    let setup = toy10();
    let readout = Readout::bits(&Radix::new(&[8, 8]).unwrap()).unwrap();
    let wanted: Vec<f64> = integers(setup.slots(), 64).iter().map(|&j| j as f64 / 64.0).collect();
    let x = setup.encrypt(&wanted, setup.input());
    let [one, two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let read = setup.evaluator.read(&x, &readout, Rounding::Ephemeral, &setup.keys, &mut ()).unwrap();
            read.iter().map(|x| ciphertext_to_bytes(setup.params.ckks(), x).unwrap()).collect::<Vec<_>>()
        })
    });
    assert!(one == two && one.len() == 6);
}

#[test]
fn boot_is_a_method_that_can_be_iterated() {
    let setup = toy11();
    let radix = Radix::new(&[32; 3]).unwrap();
    let method = MsbBootstrapper::new(&setup.evaluator, &setup.keys, &radix).unwrap();
    assert_eq!(method.stages().iter().filter(|stage| stage.id == LOOK_UP).count(), 3);
    let values: Vec<f64> = uniform(setup.slots(), 11).iter().map(|x| 0.45 * x).collect();
    let x = setup.encrypt(&values, setup.input());
    let once = method.bootstrap(&x, &mut ()).unwrap();
    assert_eq!(once.level(), method.output_level());
    at_least(Precision::of(&setup.decrypt(&once), &values), [14.4, 12.0], "Boot, once");
    let meta = MetaBootstrapper::new(&method, 2, 11).unwrap();
    let twice = meta.bootstrap(&x, &mut ()).unwrap();
    at_least(Precision::of(&setup.decrypt(&twice), &values), [25.4, 23.0], "Boot, twice");
}

#[test]
fn the_smallest_set_reads_two_digits() {
    let setup = toy10();
    assert_eq!((setup.params.largest_base(), setup.params.levels().left()), (32, 6));
    let radix = Radix::new(&[8, 8]).unwrap();
    let wanted: Vec<f64> = integers(setup.slots(), 64).iter().map(|&j| j as f64 / 64.0).collect();
    let x = setup.encrypt(&wanted, setup.input());
    let y = setup.evaluator.int_boot(&x, &radix, &setup.keys, &mut ()).unwrap();
    at_least(Precision::of(&setup.decrypt(&y), &wanted), [38.0, 35.0], "toy-msb10");
    // As its description says, in the largest base that is promised.
    let info = MsbPreset::named("toy-msb10").unwrap().describe(&setup.params);
    let base = Radix::new(&[32]).unwrap();
    let largest: Vec<f64> = integers(setup.slots(), 32).iter().map(|&j| j as f64 / 32.0).collect();
    let x = setup.encrypt(&largest, setup.input());
    let z = setup.evaluator.int_boot(&x, &base, &setup.keys, &mut ()).unwrap();
    assert_eq!(z.level(), setup.params.levels().output - 6);
    // A bootstrap of a program reads in smaller bases.
    assert_eq!((info.output_level, info.stages.last().unwrap().levels), (setup.params.refreshed_level(), 4));
    let promised = [info.promised_mean_bits.unwrap(), info.promised_bits];
    at_least(Precision::of(&setup.decrypt(&z), &largest), promised, "toy-msb10, base 32");
    let [one, all] = [setup.params.log2_failure(), info.log_failure].map(Option::unwrap);
    assert!((all - one - 20f64.log2()).abs() < 1e-9, "{all} of twenty digits, {one} of one");
    // Twice in a row, after a product by 3 that wraps.
    let y = setup.evaluator.ckks().multiply_integer(&y, 3).unwrap();
    let z = setup.evaluator.int_boot(&y, &radix, &setup.keys, &mut ()).unwrap();
    let wanted: Vec<f64> = wanted.iter().map(|x| (3.0 * x).fract()).collect();
    at_least(Precision::of(&setup.decrypt(&z), &wanted), [38.0, 35.0], "toy-msb10, again");
}

/// Counts digits, and stops before one.
struct Stops {
    digits: usize,
    at: usize,
}

impl Observer for Stops {
    fn event(&mut self, event: &StageEvent) -> core::ops::ControlFlow<()> {
        if let StageEvent::Progress { done, total, .. } = event {
            assert_eq!((self.digits + 1, 2), (*done, *total));
            self.digits = *done;
        }
        if self.digits == self.at {
            core::ops::ControlFlow::Break(())
        } else {
            core::ops::ControlFlow::Continue(())
        }
    }
}

#[test]
fn runs_are_watched_and_stopped_and_what_does_not_fit_is_refused() {
    let setup = toy10();
    let radix = Radix::new(&[8, 8]).unwrap();
    let readout = Readout::digits(&radix).unwrap();
    let x = setup.encrypt(&[0.125], setup.input());
    let mut run = MsbRun::new(&setup.evaluator, &x, &readout, Rounding::None).unwrap();
    assert_eq!((run.next_stage(), run.progress()), (Some("slots_to_coeffs"), (0, 2)));
    let mut stops = Stops { digits: 0, at: 1 };
    let stopped = loop {
        match run.step(&setup.keys, &mut stops) {
            Ok(done) => assert!(!done),
            Err(error) => break error,
        }
    };
    assert_eq!((stopped.code(), stops.digits), (Error::Cancelled(String::new()).code(), 1));

    let refused = |result: Result<Vec<Ciphertext<u64>>, Error>, code: &str, words: &[&str]| {
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    };
    let read = |x: &Ciphertext<u64>, readout: &Readout| {
        setup.evaluator.read(x, readout, Rounding::None, &setup.keys, &mut ())
    };
    let low = setup.evaluator.ckks().drop_to_level(&x, 1).unwrap();
    refused(read(&low, &readout), "LEVEL_MISMATCH", &["level 2", "at 1"]);
    let other = x.clone().relabelled(Scale::exp2(40.0));
    refused(read(&other, &readout), "SCALE_MISMATCH", &["2^40", "2^48"]);
    let three = setup.evaluator.ckks().tensor(&x, &x).unwrap().relabelled(setup.params.scale());
    refused(read(&three, &readout), "INVALID_ARGUMENT", &["3 components"]);
    let deep = Readout::digits(&Radix::new(&[128, 128]).unwrap()).unwrap();
    refused(read(&x, &deep), "LEVEL_MISMATCH", &["base 128", "8 levels", "level 8"]);
    let stranger = toy11().encrypt(&[0.5], toy11().input());
    refused(read(&stranger, &readout), "PARAMS_MISMATCH", &["toy-msb10"]);
    let int_mod =
        |x: &Ciphertext<u64>, n| setup.evaluator.int_mod(x, n, &setup.keys, &mut ()).map(|y| vec![y]);
    refused(int_mod(&x, 37), "INVALID_ARGUMENT", &["37", "32"]);
    refused(int_mod(&x, 24), "LEVEL_MISMATCH", &["24", "level 2"]);
    assert!(Readout::bits(&Radix::new(&[24]).unwrap()).is_err());
    assert!(Readout::tables(&[], None).is_err());
    let one = ComplexDoubleDouble::ONE;
    assert!(Readout::tables(&[vec![one; 4], vec![one; 5]], None).is_err());
    assert!(Readout::tables(&[vec![one; 4]], Some(1)).is_err());
    assert!(Readout::tables(&[vec![f64::NAN.into(); 4]], None).is_err());
    assert!(setup.secret.encrypt(&[Complex::new(1_048_577.0, 0.0)], 2, &Seed::from_bytes([1; 32])).is_err());
}
