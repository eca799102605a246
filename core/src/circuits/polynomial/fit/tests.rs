//! Fits against closed forms and against the tables of ckks bootstrapping.

use super::*;
use crate::arith::ComplexDoubleDouble;

fn dd(x: f64) -> DoubleDouble {
    DoubleDouble::new(x)
}

#[test]
fn best_approximations_of_powers_are_known() {
    // x^n - 2^(1-n) T_n is the best of degree n - 1, with error 2^(1-n).
    for n in 1..=12 {
        let power = |x: DoubleDouble| (0..n).fold(DoubleDouble::ONE, |p, _| p * x);
        let parity = if n % 2 == 0 { Parity::Even } else { Parity::Odd };
        for (degree, parity) in [(n - 1, Parity::General), (n - 1, parity)] {
            if indices(degree, parity).is_err() {
                continue;
            }
            let fit = minimax(&power, &[[-1.0, 1.0]], degree, parity).expect("a polynomial");
            let best = libm::exp2(1.0 - n as f64);
            assert!((fit.error / best - 1.0).abs() < 2e-4, "{n} {parity:?}: {} for {best}", fit.error);
        }
    }
}

#[test]
fn a_polynomial_is_its_own_fit() {
    let f = |x: DoubleDouble| x * x * x - x.scale(0.5) + dd(0.125);
    let domain = [[-3.0, -2.5], [0.25, 1.0]];
    let fits = [
        minimax(&f, &domain, 3, Parity::General),
        least_squares(&f, &domain, 5, Parity::General, &|_| 1.0),
        interpolate(&f, [-3.0, 1.0], 4, Parity::General),
    ];
    for fit in fits {
        assert!(fit.expect("a polynomial").error < 1e-26);
    }
}

#[test]
fn errors_alternate_on_a_union() {
    let f = |x: DoubleDouble| x.cos_turns();
    let domain = [[0.0, 0.3], [0.5, 0.6], [1.1, 1.25]];
    let fit = minimax(&f, &domain, 6, Parity::General).expect("a polynomial");
    // de la Vallée Poussin: alternating errors at 8 points bound the best error from below.
    let mut signs: Vec<(bool, f64)> = vec![];
    for side in domain {
        for x in lobatto(side, 2000) {
            let e = (f(x) - fit.polynomial.real_value(x)).to_f64();
            match signs.last_mut() {
                Some((sign, largest)) if *sign == (e < 0.0) => *largest = largest.max(e.abs()),
                _ => signs.push((e < 0.0, e.abs())),
            }
        }
    }
    assert!(signs.len() >= 8, "{signs:?}");
    let smallest = signs.iter().fold(f64::INFINITY, |m, (_, e)| m.min(*e));
    assert!(signs.len() > 8 || smallest > fit.error * 0.999, "{signs:?} with error {}", fit.error);
    let squares = least_squares(&f, &domain, 6, Parity::General, &|_| 1.0).expect("a polynomial");
    assert!(squares.error > fit.error && squares.error < 20.0 * fit.error);
    let nodes = interpolate(&f, [0.0, 1.25], 6, Parity::General).expect("a polynomial");
    assert!(largest_error(&f, &nodes.polynomial, &domain) > fit.error);
}

#[test]
fn bad_domains_are_refused() {
    let f = |x: DoubleDouble| x;
    for domain in [&[][..], &[[1.0, 0.0]], &[[0.0, 1.0], [0.5, 2.0]], &[[0.0, f64::NAN]]] {
        assert!(minimax(&f, domain, 3, Parity::General).is_err());
        assert!(least_squares(&f, domain, 3, Parity::General, &|_| 1.0).is_err());
    }
    assert!(interpolate(&f, [0.0, 1.0], 3, Parity::Odd).is_err());
    assert!(interpolate(&f, [-1.0, 1.0], 999, Parity::Odd).is_err());
    assert!(minimax(&f, &[[0.0, 1.0]], 0, Parity::Odd).is_err());
    assert!(minimax(&|_| dd(f64::NAN), &[[0.0, 1.0]], 3, Parity::General).is_err());
    assert!(near_integers(3, 0.5, 0.0).is_err() && near_integers(5000, 0.1, 0.0).is_err());
    assert_eq!(near_integers(1, 0.25, 0.5).expect("fine"), [[-0.75, -0.25], [0.25, 0.75], [1.25, 1.75]]);
}

/// Bits of sin 2 pi x over the domain, after r doublings of a fit of cos(2 pi (x - 1/4) / 2^r).
fn sine_bits(fit: &Fit, doublings: u32, domain: &[[f64; 2]]) -> f64 {
    let mut worst = 0.0f64;
    for &side in domain {
        for x in lobatto(side, if domain.len() == 1 { 4000 } else { 100 }) {
            let mut c = fit.polynomial.real_value(x);
            for _ in 0..doublings {
                c = (c * c).scale(2.0) - DoubleDouble::ONE;
            }
            worst = worst.max((c - x.sin_turns()).abs().to_f64());
        }
    }
    -libm::log2(worst)
}

#[test]
fn sines_over_the_whole_interval_are_as_good_as_tabulated() {
    // (degree, doublings, bits) for |x| <= 16.
    let table = [
        (22, 3, 11.0),
        (22, 4, 32.0),
        (30, 2, 3.0),
        (30, 3, 27.0),
        // The table stops at 44 bits, where doubles do.
        (30, 4, 56.0),
        (31, 3, 28.0),
        (40, 2, 17.0),
        (40, 3, 52.0),
        (46, 2, 27.0),
        (54, 2, 42.0),
        (63, 2, 61.0),
    ];
    for (degree, r, bits) in table {
        let f = |x: DoubleDouble| (x - dd(0.25)).scale(libm::exp2(-f64::from(r))).cos_turns();
        let fit = interpolate(&f, [-16.0, 16.0], degree, Parity::General).expect("a polynomial");
        // The table tells the error where the sine is used: about the integers.
        let found = sine_bits(&fit, r, &near_integers(15, libm::exp2(-8.0), 0.0).expect("intervals"));
        assert!(found > bits - 1.0, "degree {degree}, {r} doublings: {found}, tabulated {bits}");
    }
}

#[test]
fn sines_near_integers_are_as_good_as_tabulated() {
    let domain = near_integers(15, libm::exp2(-8.0), 0.0).expect("intervals");
    for (degree, r, bits) in
        [(30, 2, 8.0), (30, 3, 33.5), (31, 2, 9.0), (31, 3, 34.7), (40, 2, 25.0), (46, 2, 38.0)]
    {
        let f = |x: DoubleDouble| (x - dd(0.25)).scale(libm::exp2(-f64::from(r))).cos_turns();
        let fit = minimax(&f, &domain, degree, Parity::General).expect("a polynomial");
        let found = sine_bits(&fit, r, &domain);
        assert!(found > bits - 1.0, "degree {degree}, {r} doublings: {found}, tabulated {bits}");
    }
}

#[test]
fn narrow_neighbourhoods_of_integers_are_fitted_better() {
    for (log_epsilon, bits) in [(-8.0, 38.9), (-12.0, 39.6), (-14.0, 40.5)] {
        let domain = near_integers(15, libm::exp2(log_epsilon), 0.0).expect("intervals");
        let f = |x: DoubleDouble| (x - dd(0.25)).scale(0.125).cos_turns();
        let fit = minimax(&f, &domain, 30, Parity::General).expect("a polynomial");
        assert!(fit.bits() > bits - 1.0, "2^{log_epsilon}: {}", fit.bits());
    }
}

#[test]
fn arcsines_are_as_good_as_tabulated() {
    // log2 of epsilon, then bits relative to epsilon for degrees 1, 3, 5, ….
    let table: [(f64, &[f64]); 5] = [
        (-3.0, &[5.2, 8.9, 12.2, 15.3, 18.3, 21.2, 24.1]),
        (-4.0, &[7.3, 13.1, 18.5, 23.7, 28.8, 33.8, 38.8]),
        (-5.0, &[9.3, 17.1, 24.6, 31.8, 38.9, 46.0]),
        (-6.0, &[11.3, 21.1, 30.6, 39.8, 48.8]),
        (-8.0, &[15.3, 29.1, 42.6]),
    ];
    for (log_epsilon, row) in table {
        let largest = dd(libm::exp2(log_epsilon)).sin_turns().to_f64();
        for (k, &bits) in row.iter().enumerate() {
            let fit = minimax(&DoubleDouble::asin_turns, &[[-largest, largest]], 2 * k + 1, Parity::Odd);
            let found = fit.expect("a polynomial").bits() + log_epsilon;
            assert!(
                (found - bits).abs() < 1.0,
                "2^{log_epsilon}, degree {}: {found}, tabulated {bits}",
                2 * k + 1
            );
        }
    }
}

#[test]
fn exponentials_need_the_degrees_of_the_jacobi_anger_expansion() {
    // (range, bits after the squarings, degrees for 0 to 5 squarings): Chebyshev series at that degree reach the bits, and
    // interpolation at most twice the error.
    let table = [
        (16, 30.0, [135, 78, 48, 31, 22, 16]),
        (16, 48.0, [149, 89, 57, 39, 28, 21]),
        (12, 42.0, [115, 70, 45, 31, 23, 17]),
        (25, 42.0, [208, 120, 73, 47, 32, 23]),
    ];
    for (range, bits, degrees) in table {
        for (squarings, degree) in (0u32..).zip(degrees) {
            let after = |degree| {
                exponential_of_degree(range, squarings, degree).expect("a degree").bits()
                    - f64::from(squarings)
            };
            let (found, less) = (after(degree), after(degree - 3));
            assert!(found > bits - 1.1 && less < bits, "{range}, {squarings}: {found} bits, {less} at less");
        }
    }
    for (range, squarings, degree) in [(0, 3, 31), (65, 3, 31), (16, 17, 31), (16, 3, 0), (16, 3, 256)] {
        assert!(exponential_of_degree(range, squarings, degree).is_err());
    }
}

#[test]
fn an_exponential_is_cosine_and_sine() {
    let fit = exponential_of_degree(16, 3, 31).expect("a degree");
    assert_eq!(fit.polynomial.degree(), 31);
    for i in -160..=160 {
        let x = f64::from(i) / 10.0;
        let (cos, sin) = DoubleDouble::new(x).scale(0.125).cos_sin_turns();
        let value = fit.polynomial.value(x.into());
        let error = (value - ComplexDoubleDouble::new(cos, sin)).abs();
        assert!(error <= fit.error * 1.0001, "{x}: {error}, {}", fit.error);
    }
}
