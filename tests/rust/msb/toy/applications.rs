//! Tables of functions, comparisons and sorting, beside the same in the clear.

use refloat::arith::ComplexDoubleDouble;
use refloat::bootstrapping::ckks_msb::{Classes, Function, Numbers, Radix, Readout, Rounding};
use refloat::schemes::ckks::Ciphertext;
use refloat_tests::precision::Precision;
use refloat_tests::refusals::refused;

use super::{at_least, integers, toy10, toy11, uniform};

/// Numbers of an interval, some of them near its ends.
fn within(low: f64, high: f64, slots: usize, seed: u64) -> Vec<f64> {
    uniform(slots, seed).iter().map(|x| low + (high - low) * (0.01 + 0.98 * (x + 1.0) / 2.0)).collect()
}

#[test]
fn functions_of_real_numbers_are_tables() {
    let setup = toy11();
    let all = Function::ALL.map(|(_, function)| function);
    let cases = [
        (-4.0, 4.0, &[Function::Exponential, Function::Relu, Function::Sign, Function::Sigmoid][..]),
        (0.5, 8.5, &[Function::Inverse, Function::SquareRoot]),
    ];
    assert_eq!(cases.iter().map(|(.., functions)| functions.len()).sum::<usize>(), all.len());
    for (low, high, functions) in cases {
        let classes = Classes::new(low, high, 64).unwrap();
        let values = within(low, high, setup.slots(), 40);
        let tables: Vec<_> =
            functions.iter().map(|function| classes.table(|x| function.value(x)).unwrap()).collect();
        let x = setup.encrypt(&values, setup.input() + 1);
        let x = Numbers::up_to(&x, 9.0);
        let found = setup.evaluator.classify(x, &classes, &tables, 64, &setup.keys, &mut ()).unwrap();
        for (function, y) in functions.iter().zip(&found) {
            let (mut neighbours, mut errors) = (0, Vec::new());
            for (x, y) in values.iter().zip(setup.decrypt(y)) {
                let class = classes.of(*x);
                let near = [class, class.saturating_sub(1), (class + 1).min(63)];
                let best = near
                    .iter()
                    .min_by(|a, b| {
                        let off = |class: u32| (y - function.value(classes.middle(class))).abs();
                        off(**a).total_cmp(&off(**b))
                    })
                    .unwrap();
                errors.push(y - function.value(classes.middle(*best)));
                neighbours += usize::from((y - function.value(classes.middle(class))).abs() > 1e-6);
            }
            let found = Precision::of_errors(errors);
            println!(
                "{function:?}: {:.1} / {:.1}, {neighbours} neighbours",
                found.mean_bits(),
                found.max_bits()
            );
            // A share of 1.33 / 64 and what a class more or less makes of it.
            assert!(found.max < 2f64.powi(-25) && neighbours * 20 < values.len(), "{function:?}: {found:?}");
        }
    }
    for (name, function) in Function::ALL {
        assert_eq!(Function::named(name).unwrap(), function);
    }
    refused(Function::named("tan"), "INVALID_ARGUMENT", &["tan", "square-root"]);
    assert!(
        Function::Sign.value(-2.0) < -0.5
            && Function::Sign.value(0.0).abs() < 0.5
            && Function::Sign.value(3.0) > 0.5
    );
}

#[test]
fn classes_that_are_none_are_refused() {
    let setup = toy10();
    for (low, high, count) in [
        (0.0, 0.0, 8),
        (1.0, 0.0, 8),
        (f64::NAN, 1.0, 8),
        (0.0, f64::INFINITY, 8),
        (0.0, 2f64.powi(21), 8),
        (0.0, 1.0, 1),
        (0.0, 1.0, 129),
    ] {
        refused(Classes::new(low, high, count), "INVALID_ARGUMENT", &["classes"]);
    }
    let classes = Classes::new(-1.0, 1.0, 9).unwrap();
    refused(classes.table(|x| 1.0 / x), "INVALID_ARGUMENT", &["inf", "class 4"]);
    assert_eq!([-7.0, -1.0, 0.0, 0.99, 1.0, 7.0].map(|x| classes.of(x)), [0, 0, 4, 8, 8, 8]);
    let x = setup.encrypt(&[0.5], setup.input() + 1);
    let table = classes.table(|x| x).unwrap();
    let classify = |tables: &[Vec<_>], guard| {
        setup.evaluator.classify(Numbers::up_to(&x, 1.0), &classes, tables, guard, &setup.keys, &mut ())
    };
    refused(classify(&[table[1..].to_vec()], 32), "INVALID_ARGUMENT", &["8 values", "9 classes"]);
    refused(classify(&[], 32), "INVALID_ARGUMENT", &["0 tables"]);
    refused(classify(&[table], 2), "INVALID_ARGUMENT", &["guard"]);
}

#[test]
fn numbers_are_compared() {
    let setup = toy11();
    let radix = Radix::new(&[32; 2]).unwrap();
    let modulus = radix.modulus();
    let x = integers(setup.slots(), modulus / 2);
    let mut y: Vec<u64> = x.iter().rev().copied().collect();
    // Equal ones, and those that are one step apart.
    for (k, y) in y.iter_mut().enumerate().take(300) {
        *y = (x[k] + [0, 1, modulus / 2 - 1][k % 3]) % (modulus / 2);
    }
    let fractions =
        |integers: &[u64]| integers.iter().map(|&j| j as f64 / modulus as f64).collect::<Vec<_>>();
    let [a, b] = [&x, &y].map(|integers| setup.encrypt(&fractions(integers), setup.input()));
    let compare =
        |radix: &Radix, rounding| setup.evaluator.at_least((&a, &b), radix, rounding, &setup.keys, &mut ());
    let found = compare(&radix, Rounding::None).unwrap();
    let wanted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| f64::from(u8::from(x >= y))).collect();
    at_least(Precision::of(&setup.decrypt(&found), &wanted), [36.0, 32.0], "comparison");
    // As reals: right wherever they are more than 13 steps apart, and more than 13 steps less than half the modulus.
    let found = setup.decrypt(&compare(&radix, Rounding::Ephemeral).unwrap());
    let far = |k: usize| (14..modulus / 2 - 13).contains(&x[k].abs_diff(y[k]));
    assert!((0..x.len()).all(|k| (found[k] - found[k].round()).abs() < 1e-8));
    assert!((0..x.len()).filter(|&k| far(k)).all(|k| (found[k] - wanted[k]).abs() < 0.5));
    refused(compare(&Radix::new(&[4, 25]).unwrap(), Rounding::None), "INVALID_ARGUMENT", &["odd", "26"]);
}

/// Numbers in the layouts of rows and of columns.
fn layouts(numbers: &[u64], modulus: u64, level: usize) -> [Ciphertext<u64>; 2] {
    let (setup, n) = (toy11(), numbers.len());
    let number = |i: usize| numbers[i] as f64 / modulus as f64;
    let rows: Vec<f64> = (0..setup.slots()).map(|slot| number(slot / n % n)).collect();
    let columns: Vec<f64> = (0..setup.slots()).map(|slot| number(slot % n)).collect();
    [rows, columns].map(|values| setup.encrypt(&values, level))
}

#[test]
fn numbers_are_sorted_and_the_largest_found() {
    let setup = toy11();
    let radix = Radix::new(&[32; 2]).unwrap();
    let (modulus, n) = (radix.modulus(), 16);
    let random: Vec<u64> =
        integers(setup.slots(), modulus / 2)[..n].iter().map(|j| j * 77 % (modulus / 2)).collect();
    let ramp: Vec<u64> = (0..n as u64).rev().collect();
    let few: Vec<u64> = (0..n as u64).map(|i| [0, modulus / 2 - 1, 1][i as usize % 3]).collect();
    for numbers in [random, ramp, few, vec![3; n]] {
        // The rows higher up, so that their product has a level.
        let [rows, columns] = layouts(&numbers, modulus, setup.input() + 2);
        let order = setup.evaluator.sort((&rows, &columns), n, &radix, &setup.keys, &mut ()).unwrap();
        let mut ranking: Vec<usize> = (0..n).collect();
        ranking.sort_by_key(|&i| numbers[i]);
        let wanted: Vec<f64> =
            (0..setup.slots()).map(|slot| numbers[ranking[slot % n]] as f64 / modulus as f64).collect();
        at_least(Precision::of(&setup.decrypt(&order.sorted), &wanted), [30.0, 27.0], "sorted");
        let ranks = setup.decrypt(&order.ranks);
        for (rank, &i) in ranking.iter().enumerate() {
            let found = (ranks[(n * i + n * n - 1) % (n * n)] * n as f64).round() as usize;
            assert_eq!(found, rank + 1, "the rank of number {i}");
        }
        // The largest is where a table of the ranks is 1.
        let last: Vec<_> = (0..n).map(|j| f64::from(u8::from(j == 0)).into()).collect();
        let numbers = Numbers::up_to(&order.ranks, 2.0);
        let flags = setup.evaluator.look_up(numbers, &[last], &setup.keys, &mut ()).unwrap().remove(0);
        let flags = setup.decrypt(&flags);
        let largest = (0..n).find(|&i| flags[(n * i + n * n - 1) % (n * n)].round() > 0.5);
        assert_eq!(largest, ranking.last().copied());
    }
    let [rows, columns] = layouts(&[1; 16], modulus, setup.input());
    let sort = |count| setup.evaluator.sort((&rows, &columns), count, &radix, &setup.keys, &mut ());
    for count in [0, 1, 15, 64] {
        refused(sort(count).map(|_| ()), "INVALID_ARGUMENT", &["power of two", "32"]);
    }
}

/// Two layers of a network of integers: weights of eight bits, exact accumulators of sixteen, and after the first layer the ReLU of their
/// highest six bits, to four.
#[test]
fn a_quantised_network_gives_the_integers_that_it_gives_in_the_clear() {
    let setup = toy11();
    let (ckks, bases, range) = (setup.evaluator.ckks(), [32u32, 32, 64], 65536i64);
    let (radix, width) = (Radix::new(&bases).unwrap(), 9);
    let draw = |seed: u64, count: usize, most: f64| -> Vec<i64> {
        uniform(count, seed).iter().map(|u| (u * most).round() as i64).collect()
    };
    let features: Vec<Vec<i64>> = (0..width)
        .map(|j| draw(60 + j, setup.slots(), 8.0).iter().map(|x| x.clamp(&-8, &7)).copied().collect())
        .collect();
    let highest = |z: i64| z.div_euclid(range / 64);
    let relu = |d: i64| d.clamp(0, 15);
    let table = |f: &dyn Fn(i64) -> f64| {
        (0..64).map(|j| f(if j < 32 { j } else { j - 64 }).into()).collect::<Vec<ComplexDoubleDouble>>()
    };
    let off = 2f64.powi(-36);
    let layer = |x: &[Ciphertext<u64>], weights: &[i64], f: &dyn Fn(i64) -> f64| {
        let term = |(x, &w): (&Ciphertext<u64>, &i64)| ckks.multiply_integer(x, w).unwrap();
        let sum = x.iter().zip(weights).map(term).reduce(|sum, term| ckks.add(&sum, &term).unwrap()).unwrap();
        let weight: i64 = weights.iter().map(|w| w.abs()).sum();
        let numbers = Numbers::up_to(&sum, 0.5).off_by(off * weight as f64);
        let readout = Readout::highest_digit(&radix, &[table(f)]).unwrap();
        setup.evaluator.read(numbers, &readout, Rounding::None, &setup.keys, &mut ()).unwrap().remove(0)
    };
    let encrypt = |x: &Vec<i64>| {
        let slots: Vec<f64> = x.iter().map(|&x| x as f64 / range as f64).collect();
        setup.encrypt(&slots, setup.input())
    };
    let x: Vec<Ciphertext<u64>> = features.iter().map(encrypt).collect();
    let hidden: Vec<Vec<i64>> = (0..3).map(|i| draw(80 + i, width as usize, 127.0)).collect();
    let last = [127i64, -120, 90];
    let units: Vec<_> = hidden.iter().map(|w| layer(&x, w, &|d| relu(d) as f64 / range as f64)).collect();
    let found = setup.decrypt(&layer(&units, &last, &|d| d as f64));
    let mut seen = std::collections::BTreeSet::new();
    for (slot, found) in found.iter().enumerate() {
        let dot =
            |w: &[i64], x: &dyn Fn(usize) -> i64| w.iter().enumerate().map(|(j, w)| w * x(j)).sum::<i64>();
        let unit = |i: usize| relu(highest(dot(&hidden[i], &|j| features[j][slot])));
        let wanted = highest(dot(&last, &unit));
        assert!((found - wanted as f64).abs() < 1e-3, "slot {slot}: {found}, {wanted}");
        seen.insert(wanted);
    }
    assert!(seen.len() >= 2, "{seen:?}");
}
