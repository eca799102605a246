//! Primality, primes suited to number-theoretic transforms, and roots of unity.

use super::{MachineWord, Modulus};
use crate::error::Error;
use alloc::{format, vec::Vec};

/// Primes are searched below this bound, the largest a [`Modulus`] accepts.
const LIMIT: u64 = 1 << 61;

/// Whether `p` is prime: Miller–Rabin with the first twelve primes as bases, which is a proof for
/// every 64-bit number (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases").
pub fn is_prime(p: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if p < 2 {
        return false;
    }
    if let Some(&base) = BASES.iter().find(|&&base| p.is_multiple_of(base)) {
        return p == base;
    }
    let twos = (p - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = pow_mod(base, (p - 1) >> twos, p);
        if x == 1 || x == p - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul_mod(x, x, p);
            x == p - 1
        })
    })
}

/// The primes congruent to 1 modulo `two_n`, alternately the next one above and the next one below
/// `2^bits` (starting above), all distinct and in `[3, 2^61)`. When one side is exhausted the other goes
/// on. Nothing is yielded for `two_n = 0` or `bits` outside `[1, 61]`.
pub fn ntt_primes(bits: f64, two_n: u64) -> impl Iterator<Item = u64> {
    let valid = two_n != 0 && (1.0..=61.0).contains(&bits);
    let step = two_n.max(1);
    // 2^bits <= 2^61, so the cast is exact up to the rounding of the exponential itself.
    let centre = if valid { libm::exp2(bits) as u64 } else { 0 };
    // Last candidate at most `centre`; the one above follows it, so the two sides never meet.
    let start = if centre == 0 { 0 } else { (centre - 1) / step * step + 1 };
    let side = |up: bool| {
        let first = match (valid, up) {
            (false, _) => None,
            (true, true) => Some(start + step.min(LIMIT)),
            (true, false) => Some(start),
        };
        core::iter::successors(first, move |&p| if up { p.checked_add(step) } else { p.checked_sub(step) })
            .take_while(|&p| (3..LIMIT).contains(&p))
            .filter(|&p| is_prime(p))
    };
    Alternate { above: side(true), below: side(false), from_above: true }
}

/// A primitive `order`-th root of unity: `g^((p-1)/order)` for the smallest `g >= 2` for which that
/// power has this exact order. Fails unless `order` divides `p - 1`.
pub fn primitive_root<W: MachineWord>(m: &Modulus<W>, order: u64) -> Result<W, Error> {
    let p = m.value_u64();
    let missing = || {
        Error::InvalidArgument(format!(
            "no primitive {order}-th root of unity modulo {p}; choose a prime congruent to 1 modulo {order}"
        ))
    };
    if order == 0 || !(p - 1).is_multiple_of(order) {
        return Err(missing());
    }
    let factors = prime_factors(order);
    // Roots of every order are dense among prime moduli; a composite p may have none.
    (2..p.min(100_000))
        .map(|g| m.pow(W::from_u64(g), (p - 1) / order))
        .find(|&root| {
            m.pow(root, order) == W::ONE && factors.iter().all(|q| m.pow(root, order / q) != W::ONE)
        })
        .or((order == 1).then_some(W::ONE))
        .ok_or_else(missing)
}

struct Alternate<A, B> {
    above: A,
    below: B,
    from_above: bool,
}

impl<A: Iterator<Item = u64>, B: Iterator<Item = u64>> Iterator for Alternate<A, B> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let from_above = self.from_above;
        self.from_above = !from_above;
        if from_above {
            self.above.next().or_else(|| self.below.next())
        } else {
            self.below.next().or_else(|| self.above.next())
        }
    }
}

/// The distinct prime factors of `x`, by trial division.
fn prime_factors(mut x: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut q = 2;
    while q * q <= x {
        if x.is_multiple_of(q) {
            factors.push(q);
            while x.is_multiple_of(q) {
                x /= q;
            }
        }
        q += 1;
    }
    if x > 1 {
        factors.push(x);
    }
    factors
}

fn mul_mod(a: u64, b: u64, p: u64) -> u64 {
    if p >> 32 == 0 {
        return a * b % p;
    }
    (u128::from(a) * u128::from(b) % u128::from(p)) as u64
}

fn pow_mod(mut a: u64, mut e: u64, p: u64) -> u64 {
    let mut power = 1;
    while e != 0 {
        if e & 1 == 1 {
            power = mul_mod(power, a, p);
        }
        a = mul_mod(a, a, p);
        e >>= 1;
    }
    power
}
