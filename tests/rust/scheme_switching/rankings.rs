//! Numbers in slots compared and ranked by gates.

use refloat::bootstrapping::scheme_switching::Range;

use super::setup::{decrypt_bits, decrypt_ranks, extract, wide, world};

#[test]
fn all_orders_of_five_numbers_are_ranked() {
    let world = world();
    let values = [0.1, 0.3, 0.5, 0.7, 0.9];
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..values.len() {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let rest: Vec<usize> = (0..values.len()).filter(|i| !order.contains(i)).collect();
            rest.into_iter().map(move |i| [order.clone(), vec![i]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 120);
    let all: Vec<f64> = orders.iter().flatten().map(|&i| values[i]).collect();
    let phases = extract(world, &all, Range::Unit);
    for (order, numbers) in orders.iter().zip(phases.chunks_exact(values.len())) {
        let ranks = world.evaluator.ranks(numbers, &mut ()).unwrap();
        assert_eq!(decrypt_ranks(world, &ranks), *order);
    }
    for (order, numbers) in orders.iter().zip(phases.chunks_exact(values.len())).step_by(17) {
        let is = |wanted: fn(usize) -> bool| order.iter().map(|&i| wanted(i)).collect::<Vec<bool>>();
        let evaluator = &world.evaluator;
        assert_eq!(decrypt_bits(world, &evaluator.argmax(numbers, &mut ()).unwrap()), is(|rank| rank == 4));
        assert_eq!(decrypt_bits(world, &evaluator.argmin(numbers, &mut ()).unwrap()), is(|rank| rank == 0));
        assert_eq!(decrypt_bits(world, &evaluator.top(numbers, 2, &mut ()).unwrap()), is(|rank| rank >= 3));
        assert_eq!(decrypt_bits(world, &evaluator.top(numbers, 5, &mut ()).unwrap()), [true; 5]);
    }
}

#[test]
fn two_to_sixteen_numbers_are_ranked_whatever_they_are() {
    let world = world();
    for count in [2, 3, 16] {
        let numbers: Vec<f64> =
            (0..count).map(|i| (i * 7 % count) as f64 / count as f64 * 2.0 - 1.0).collect();
        let phases = extract(world, &numbers, Range::Signed);
        let ranks = world.evaluator.ranks(&phases, &mut ()).unwrap();
        assert_eq!(decrypt_ranks(world, &ranks), (0..count).map(|i| i * 7 % count).collect::<Vec<_>>());
    }
    // Equal ones are ordered somehow; each pair once.
    let phases = extract(world, &[0.5; 6], Range::Unit);
    let ranks = decrypt_ranks(world, &world.evaluator.ranks(&phases, &mut ()).unwrap());
    assert_eq!(ranks.iter().sum::<usize>(), 15);
}

#[test]
fn numbers_on_a_grid_are_compared_exactly() {
    let world = world();
    let bits = 4;
    let unit = |k: usize| k as f64 / f64::from(1 << bits);
    let numbers: Vec<f64> = (0..1 << bits).map(unit).collect();
    let phases = extract(world, &numbers, Range::Grid { bits });
    for (i, x) in phases.iter().enumerate() {
        for (j, y) in phases.iter().enumerate() {
            let bit = world.evaluator.at_least(x, y, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), i >= j, "{i}, {j}");
        }
    }
    for (threshold, least) in [(0.0, 0), (1.0 / 16.0, 1), (0.51, 9), (0.9, 15), (1.0, 16)] {
        for (i, x) in phases.iter().enumerate() {
            let bit = world.evaluator.above(x, threshold, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), i >= least, "{i}, {threshold}");
        }
    }
    // Of equal ones the first is the larger.
    let tied = extract(world, &[3, 7, 7, 0, 7, 0].map(unit), Range::Grid { bits });
    let ranks = world.evaluator.ranks(&tied, &mut ()).unwrap();
    assert_eq!(decrypt_ranks(world, &ranks), [2, 5, 4, 1, 3, 0]);
    let first = world.evaluator.argmax(&tied, &mut ()).unwrap();
    assert_eq!(decrypt_bits(world, &first), [false, true, false, false, false, false]);
}

#[test]
fn ten_bits_are_compared_exactly_under_a_prime_of_fifty() {
    let world = wide();
    let bits = 10;
    let values = [0, 1, 2, 3, 15, 16, 127, 128, 511, 512, 513, 767, 768, 1022, 1023];
    let numbers: Vec<f64> = values.iter().map(|&k| f64::from(k) / f64::from(1 << bits)).collect();
    let phases = extract(&world, &numbers, Range::Grid { bits });
    for (i, x) in phases.iter().enumerate() {
        for j in [0, i.saturating_sub(1), i, (i + 1).min(values.len() - 1), values.len() - 1] {
            let bit = world.evaluator.at_least(x, &phases[j], &mut ()).unwrap();
            assert_eq!(
                world.secret.cggi().decrypt_bit(&bit).unwrap(),
                i >= j,
                "{} and {}",
                values[i],
                values[j]
            );
        }
    }
    let ranks = world.evaluator.ranks(&phases, &mut ()).unwrap();
    assert_eq!(decrypt_ranks(&world, &ranks), (0..values.len()).collect::<Vec<_>>());
}

#[test]
fn thresholds_of_real_numbers() {
    let world = world();
    let numbers = [-1.0, -0.6, -0.1, 0.1, 0.6, 1.0];
    let phases = extract(world, &numbers, Range::Signed);
    for threshold in [-0.8, -0.3, 0.0, 0.3, 0.8] {
        for (x, phase) in numbers.iter().zip(&phases) {
            let bit = world.evaluator.above(phase, threshold, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), *x >= threshold, "{x}, {threshold}");
        }
    }
    for wrong in [-1.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = world.evaluator.above(&phases[0], wrong, &mut ()).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}
