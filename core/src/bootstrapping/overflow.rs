//! The probability that a bootstrap fails because a quotient I of m + q0 I is outside the range of the reduction.
//!
//! In a coefficient of b + a s, with h coefficients of s that are 1 or -1, a s contributes q0 times the sum of h independent
//! uniform numbers between -1/2 and 1/2, and b completes it to the message modulo q0. So I is that sum rounded, and
//! P(|I| > k) = P(|sum| > k + 1/2), a tail of the distribution of Irwin and Hall, whose alternating sum is taken here in
//! whole numbers.

use alloc::vec::Vec;

use crate::arith::bigint;

/// log2 of the probability that the quotient of one coefficient exceeds `bound` in absolute value, for a secret with
/// `weight` coefficients that are 1 or -1; minus infinity where it cannot.
pub fn log2_quotient_exceeds(weight: u32, bound: u32) -> f64 {
    // 2 P(X < y), X the sum of h uniform numbers in [0, 1] and 2 y = h - 2 bound - 1:
    // P(X < y) = sum_k (-1)^k C(h, k) (2y - 2k)^h / (2^h h!), over 2k < 2y.
    let h = u64::from(weight);
    let Some(twice) = h.checked_sub(2 * u64::from(bound) + 1).filter(|&y| y > 0) else {
        return f64::NEG_INFINITY;
    };
    let (mut sums, mut binomial) = ([Vec::new(), Vec::new()], alloc::vec![1u64]);
    for k in (0..).take_while(|k| 2 * k < twice) {
        let mut term = binomial.clone();
        for _ in 0..h {
            bigint::mul_add_small(&mut term, twice - 2 * k, 0);
        }
        add_assign(&mut sums[(k % 2) as usize], &term);
        bigint::mul_add_small(&mut binomial, h - k, 0);
        divide_exactly(&mut binomial, k + 1);
    }
    let [even, odd] = sums;
    let factorial: Vec<u64> = (1..=h).collect();
    bigint::log2(&bigint::sub(&even, &odd)) - h as f64 - bigint::log2(&bigint::product(&factorial)) + 1.0
}

/// The largest weight for which [`log2_noisy_quotient_exceeds`] takes only a moment: its time grows with the square.
pub(crate) const LARGEST_NOISY_WEIGHT: u32 = 512;

/// [`log2_quotient_exceeds`] with normally distributed noise of `deviation` quotients added to the sum of uniform numbers: the
/// probability that the total is beyond `bound` + 1/2. Minus infinity if even noise of 40 deviations does not take it there, and
/// if the probability is below 2^-1000.
pub fn log2_noisy_quotient_exceeds(weight: u32, bound: u32, deviation: f64) -> f64 {
    let y = f64::from(weight) / 2.0 - f64::from(bound) - 0.5;
    if deviation <= 0.0 {
        return 1.0 + log2_sum_below(weight, y);
    }
    // Noise in steps of an eighth of its deviation, up to 40 of them.
    let constant = 0.5 * libm::log2(128.0 * core::f64::consts::PI);
    let term = |z: f64| {
        log2_sum_below(weight, y + z * deviation) - 0.5 * z * z * core::f64::consts::LOG2_E - constant
    };
    let terms: Vec<f64> = (-320..=320).map(|i| term(f64::from(i) / 8.0)).collect();
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    1.0 + largest + libm::log2(terms.iter().map(|term| libm::exp2(term - largest)).sum())
}

/// An upper bound on [`log2_noisy_quotient_exceeds`] if any of the `weight` uniform numbers may occur twice, and then counts as two of
/// them.
///
/// For a number u that occurs twice, E exp(2 l u) = sinh(l)/l. For two different ones, E exp(l (u + v)) = (sinh(l/2)/(l/2))^2,
/// which is less, as sinh(x)/x < cosh(x). So the probability is at most Chernoff's bound for the case that all occur twice:
/// P(sum > T) <= exp(-l T) (sinh(l)/l)^(h/2) exp(l^2 deviation^2 / 2) for every l > 0, of which the best of many is taken.
pub fn log2_shared_quotient_exceeds(weight: u32, bound: u32, deviation: f64) -> f64 {
    let (pairs, beyond) = (f64::from(weight) / 2.0, f64::from(bound) + 0.5);
    let log_at = |l: f64| {
        let log_sinh = l - libm::log(2.0 * l) + libm::log1p(-libm::exp(-2.0 * l));
        pairs * log_sinh - l * beyond + 0.5 * l * l * deviation * deviation
    };
    // From 2^-10 to 2^14, in steps of 2 %.
    let least = (-350..=490).map(|i| log_at(libm::exp(0.02 * f64::from(i)))).fold(0.0, f64::min);
    (1.0 + least * core::f64::consts::LOG2_E).min(0.0)
}

/// log2 of the probability that the sum of `weight` uniform numbers in [0, 1] is below y.
///
/// The density of h of them is a B-spline, M_h(x) = (x M_(h-1)(x) + (h - x) M_(h-1)(x - 1)) / (h - 1), and the probability the sum
/// of M_(h+1)(y), M_(h+1)(y - 1), and so on (Cox; de Boor, 1972): no term is negative, and nothing cancels.
fn log2_sum_below(weight: u32, y: f64) -> f64 {
    if y <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if y >= f64::from(weight) {
        return 0.0;
    }
    // M_k at y - floor(y), and at every whole step from there to y.
    let fraction = y - libm::floor(y);
    let mut values = alloc::vec![0.0; y as usize + 1];
    values[0] = 1.0;
    for k in 2..=weight + 1 {
        for i in (0..values.len()).rev() {
            let x = fraction + i as f64;
            let before = if i == 0 { 0.0 } else { values[i - 1] };
            values[i] = (x * values[i] + (f64::from(k) - x).max(0.0) * before) / f64::from(k - 1);
        }
    }
    libm::log2(values.iter().sum::<f64>()).min(0.0)
}

fn add_assign(x: &mut Vec<u64>, y: &[u64]) {
    x.resize(x.len().max(y.len()) + 1, 0);
    let mut carry = false;
    for (i, x) in x.iter_mut().enumerate() {
        let (sum, over0) = x.overflowing_add(y.get(i).copied().unwrap_or(0));
        let (sum, over1) = sum.overflowing_add(u64::from(carry));
        (*x, carry) = (sum, over0 | over1);
    }
}

/// x / divisor, where nothing is left over.
fn divide_exactly(x: &mut [u64], divisor: u64) {
    let mut rest = 0u128;
    for limb in x.iter_mut().rev() {
        let here = (rest << 64) | u128::from(*limb);
        *limb = (here / u128::from(divisor)) as u64;
        rest = here % u128::from(divisor);
    }
    debug_assert_eq!(rest, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_few_numbers_are_known() {
        // One number never rounds to 1; of two, the corners |x + y| > 1/2 are a quarter of the square.
        let never = |weight, bound| log2_quotient_exceeds(weight, bound).is_infinite();
        assert!(never(1, 0) && never(0, 0) && never(32, 16));
        assert!((log2_quotient_exceeds(2, 0) + 2.0).abs() < 1e-12);
        // 32 numbers: all but 1/2 from the corner, 2 (1/2)^32 / 32!.
        let factorial: f64 = (1..=32).map(|k| libm::log2(f64::from(k))).sum();
        assert!((log2_quotient_exceeds(32, 15) - (1.0 - 32.0 - factorial)).abs() < 1e-9);
        // Many numbers: the normal distribution of variance 192/12 beyond 2 of its deviations.
        assert!((libm::exp2(log2_quotient_exceeds(192, 7)) - 0.0607).abs() < 0.001);
    }

    #[test]
    fn numbers_that_are_there_twice_are_bounded() {
        for (weight, bound) in [(2, 0), (8, 1), (16, 3), (64, 20), (128, 54), (128, 30), (256, 40), (96, 46)]
        {
            // All twice: 2 X of half as many, beyond `bound` + 1/2.
            let half = weight / 2;
            let y = f64::from(half) / 2.0 - f64::midpoint(f64::from(bound), 0.5);
            let exact = 1.0 + log2_sum_below(half, y);
            let mut before = log2_quotient_exceeds(weight, bound).max(exact.min(0.0));
            for deviation in [0.0, 0.015, 0.1, 1.0] {
                let found = log2_shared_quotient_exceeds(weight, bound, deviation);
                assert!(found >= before - 1e-9, "{weight}, {bound}, {deviation}: 2^{found}, 2^{before}");
                before = found;
            }
            let found = log2_shared_quotient_exceeds(weight, bound, 0.0);
            // What Chernoff's bound gives away, a factor that grows with the root of the tail's logarithm.
            assert!(found <= exact + 4.5, "{weight}, {bound}: 2^{found}, and 2^{exact} is the truth");
        }
        // Of 2h numbers no sum is beyond h: what is left is noise.
        assert!(log2_shared_quotient_exceeds(128, 64, 0.015) < -700.0);
        assert!(log2_shared_quotient_exceeds(128, 54, 0.015) < -144.0);
        assert!(log2_shared_quotient_exceeds(512, 0, 0.0) > -1e-9);
    }

    /// Without noise, the whole numbers' tail; with as good as none, too.
    fn assert_noise_is_needed(weight: u32, bound: u32) {
        let exact = log2_quotient_exceeds(weight, bound);
        for deviation in [0.0, 1e-6] {
            let noisy = log2_noisy_quotient_exceeds(weight, bound, deviation);
            assert!((noisy - exact).abs() < 1e-3, "{weight}, {bound}: {noisy}, {exact}");
        }
    }

    #[test]
    fn noise_widens_the_tail() {
        for (weight, bound) in [(32, 15), (32, 12), (64, 27), (24, 9), (32, 3)] {
            assert_noise_is_needed(weight, bound);
        }
        // 32 numbers, half a step from the corner: (1/2 + g)^32 / 32!, whose mean over g is a sum over even moments.
        let moments = |sigma: f64| {
            let (mut sum, mut term) = (0.0, libm::pow(0.5, 32.0));
            for k in 0..16 {
                sum += term;
                let (n, k) = (32.0 - 2.0 * f64::from(k), f64::from(k) + 1.0);
                term *= n * (n - 1.0) / (2.0 * k) * 4.0 * sigma * sigma;
            }
            let factorial: f64 = (1..=32).map(|k| libm::log2(f64::from(k))).sum();
            1.0 + libm::log2(sum + term) - factorial
        };
        for (log_sigma, stated) in [(-7.4, -133.6), (-6.0, -133.0), (-5.0, -131.1)] {
            let sigma = libm::exp2(log_sigma);
            let found = log2_noisy_quotient_exceeds(32, 15, sigma);
            assert!((found - moments(sigma)).abs() < 0.01, "{found}, {}", moments(sigma));
            // At N = 2^15.
            assert!((found + 15.0 - stated).abs() < 0.15, "{log_sigma}: {found}");
        }
    }

    #[test]
    fn many_numbers_do_not_cancel_and_impossible_ones_are_not_nan() {
        for (weight, bound) in [(192, 15), (256, 20), (192, 52), (256, 61), (512, 60), (64, 31), (512, 0)] {
            assert_noise_is_needed(weight, bound);
        }
        // Beyond reach: not even 40 deviations make up for what is missing; whole numbers cannot either.
        for (weight, bound) in [(22, 12), (24, 13), (1, 1), (512, u32::MAX)] {
            assert!(log2_noisy_quotient_exceeds(weight, bound, 0.015) < f64::MIN);
            assert!(log2_quotient_exceeds(weight, bound) < f64::MIN);
        }
        // So much noise that it decides alone: as good as any value is beyond 1/2.
        assert!(log2_noisy_quotient_exceeds(32, 0, 1e6).abs() < 0.05);
    }

    #[test]
    fn ranges_are_those_tabulated() {
        // (weight, smallest k for 2^-128 at N = 2^13 and 2^16, for 2^-40 likewise): security notes, section 5.
        let table = [
            (22, [11, 11], [9, 9]),
            (24, [12, 12], [10, 10]),
            (31, [15, 15], [12, 12]),
            (32, [15, 15], [12, 12]),
            (64, [27, 27], [18, 19]),
            (96, [35, 35], [23, 23]),
            (128, [42, 42], [26, 27]),
            (192, [52, 53], [33, 34]),
            (256, [61, 62], [38, 39]),
        ];
        for (weight, strict, loose) in table {
            for (wanted, log_p) in [(strict, -128.0), (loose, -40.0)] {
                for (log_n, k) in [13.0, 16.0].into_iter().zip(wanted) {
                    let holds = |k| log2_quotient_exceeds(weight, k) + log_n <= log_p;
                    let smallest = (0..weight).find(|&k| holds(k));
                    assert_eq!(smallest, Some(k), "weight {weight}, 2^{log_p}, N = 2^{log_n}");
                }
            }
        }
    }
}
