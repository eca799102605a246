//! Polynomials for low digits of any size.

use alloc::{format, vec, vec::Vec};

use super::{
    MAX_COEFFICIENTS,
    lagrange::{factorial_valuation, nodes, odd_part, through, trimmed},
};
use crate::{arith::PrimePower, error::Error};

/// The coefficients below p^e of an odd polynomial f of degree at most (p - 1)(e - 1) + 1 with f(x) = \[x\]_p modulo p^e for all x, the
/// residue between -p/2 and p/2 (Chen, Han, EUROCRYPT 2018). For p = 2, where that residue is 0 or 1, f is an even polynomial of degree at
/// most e + 1, except that it is x for e = 1 (Geelen, Iliashenko, Kang, Vercauteren, EUROCRYPT 2023, use that x and -x have the same
/// digit).
///
/// It interpolates the digits of 0, 1, .., (p - 1)(e - 1) + 1: Newton's coefficients of higher degree are multiples of p^e.
///
/// # Errors
/// [`Error::InvalidArgument`] for a degree of 2^14 or more, or if p^e times the powers of p in the factorial of the degree is not below
/// 2^61.
pub fn lowest_digit(ring: PrimePower) -> Result<Vec<u64>, Error> {
    if ring.prime() > 2 {
        return Ok(odd_part(newton(ring)?));
    }
    if ring.exponent() == 1 {
        return Ok(vec![0, 1]);
    }
    // f(x) = f(-x): twice the odd part vanishes, so modulo half of a power of 2 the even part has all values.
    let mut f = newton(ring.with_exponent(ring.exponent() + 1)?)?;
    f.iter_mut().skip(1).step_by(2).for_each(|c| *c = 0);
    Ok(trimmed(f.into_iter().map(|c| ring.reduce(c)).collect()))
}

/// A polynomial through the digits of all numbers, of degree (p - 1)(e - 1) + 1.
fn newton(ring: PrimePower) -> Result<Vec<u64>, Error> {
    let (p, e) = (ring.prime(), ring.exponent());
    let degree = u128::from(p - 1) * u128::from(e - 1) + 1;
    check(ring, degree)?;
    // Differences are divided by factorials, so the powers of p in these are kept as well.
    let wide = ring.with_exponent(e + factorial_valuation(p, degree as u64))?;
    let mut differences: Vec<u64> = (0..=degree as u64).map(|x| digit(wide, x)).collect();
    let (mut newton, mut unit, mut power) = (Vec::new(), 1, 1);
    for k in 0..differences.len() {
        let mut factor = k.max(1) as u64;
        while factor.is_multiple_of(p) {
            (factor, power) = (factor / p, power * p);
        }
        unit = ring.mul(unit, ring.reduce(factor));
        // k! is a unit times a power of p, which divides the difference.
        let quotient = ring.reduce(differences[0] / power);
        newton.push(ring.mul(quotient, ring.inverse(unit).unwrap_or_default()));
        for i in 1..differences.len() {
            differences[i - 1] = wide.sub(differences[i], differences[i - 1]);
        }
        differences.pop();
    }
    // sum_k newton_k x (x - 1) .. (x - k + 1), from the highest down.
    let mut out = vec![0; newton.len()];
    for (k, &c) in newton.iter().enumerate().rev() {
        let shift = ring.reduce_signed(-(k as i64));
        for i in (0..newton.len() - k).rev() {
            let below = if i == 0 { c } else { out[i - 1] };
            out[i] = ring.add(below, ring.mul(out[i], shift));
        }
    }
    Ok(out)
}

/// The coefficients below p^e of an odd polynomial F of degree p that brings a number one power of p nearer to its low digit: for x = d +
/// p^j y with |d| < p/2 and j > 0, F(x) = d modulo p^(j + 1). After e - 1 applications only the digit is left (Halevi, Shoup). For p = 2,
/// where d is 0 or 1, it is x^2.
///
/// x^p depends on d alone modulo p^(j + 1), and so does p A(x) for any A: F is their sum with A(d) = (d - d^p)/p.
///
/// # Errors
/// [`Error::InvalidArgument`] for e = 1, where there is nothing to lift, and for a p of 2^14 or more.
pub fn lifting(ring: PrimePower) -> Result<Vec<u64>, Error> {
    let (p, e) = (ring.prime(), ring.exponent());
    check(ring, p.into())?;
    if p == 2 && e > 1 {
        return Ok(vec![0, 0, 1]);
    }
    let below = ring.with_exponent(e - 1)?;
    let nodes = nodes(p / 2);
    let values: Vec<u64> = nodes
        .iter()
        .map(|&d| {
            let d = ring.reduce_signed(d);
            below.reduce(ring.sub(d, ring.pow(d, p)) / p)
        })
        .collect();
    let mut out: Vec<u64> = through(below, &nodes, &values).into_iter().map(|c| c * p).collect();
    out.resize(p as usize, 0);
    out.push(1);
    Ok(odd_part(out))
}

fn check(ring: PrimePower, degree: u128) -> Result<(), Error> {
    if degree < MAX_COEFFICIENTS {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "the low digit of any number modulo {}^{} takes a polynomial of degree {degree}, and those below {MAX_COEFFICIENTS} are \
         made; take digits that are known to be small",
        ring.prime(),
        ring.exponent()
    )))
}

/// \[x\]_p, between -p/2 and p/2; 0 or 1 for p = 2.
fn digit(ring: PrimePower, x: u64) -> u64 {
    let p = ring.prime();
    let low = x % p;
    if low > p / 2 { ring.neg(p - low) } else { low }
}

#[cfg(test)]
mod tests {
    use super::super::lagrange::value;
    use super::*;

    #[test]
    fn digits_of_all_numbers_are_read() {
        for (p, e) in
            [(3, 1), (3, 8), (5, 5), (7, 4), (17, 3), (127, 2)].into_iter().chain((1..=12).map(|e| (2, e)))
        {
            let ring = PrimePower::new(p, e).expect("a prime");
            let f = lowest_digit(ring).expect("a small prime");
            assert!(f.len() as u64 <= (p - 1) * u64::from(e - 1) + if p == 2 { 3 } else { 2 });
            for x in 0..ring.value() {
                assert_eq!(value(ring, &f, x), digit(ring, x), "{x} modulo {p}^{e}");
            }
        }
    }

    #[test]
    fn digits_of_all_numbers_are_lifted() {
        for (p, e) in [(2, 10), (3, 8), (5, 5), (7, 4), (17, 3), (127, 2)] {
            let ring = PrimePower::new(p, e).expect("a prime");
            let f = lifting(ring).expect("a small prime");
            assert_eq!(f.len() as u64, p + 1);
            for x in 0..ring.value() {
                let mut lifted = x;
                for j in 1..e {
                    lifted = value(ring, &f, lifted);
                    let known = p.pow(j + 1);
                    assert_eq!(lifted % known, digit(ring, x) % known, "{x} modulo {p}^{}", j + 1);
                }
            }
        }
    }

    #[test]
    fn large_digits_are_refused() {
        let ring = PrimePower::new(65537, 2).expect("a prime");
        assert!(lowest_digit(ring).is_err() && lifting(ring).is_err());
        // 127^6 has room, but not the four further powers that the differences take.
        assert!(lowest_digit(PrimePower::new(127, 6).expect("a prime")).is_err());
        assert!(lifting(PrimePower::new(17, 1).expect("a prime")).is_err());
        assert!(lifting(PrimePower::new(2, 1).expect("a prime")).is_err());
    }
}
