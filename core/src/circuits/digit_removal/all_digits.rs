//! All low digits for a small prime, removed one after the other.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::{lowest_digit, small::around, small_digit, unbounded::lifting};
use crate::{arith::PrimePower, error::Error};

/// How the lowest digit d of an arbitrary number x is read modulo p^k for several k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By [`lifting`], one power of p after the other (Halevi, Shoup, J. Cryptology 2021). For p = 2 the second squaring gains two powers.
    Lifting,
    /// By one polynomial of x for each k, [`lowest_digit`] (Chen, Han, EUROCRYPT 2018), from common powers of x.
    Polynomials,
    /// As [`Self::Polynomials`] up to this exponent. For larger k, by polynomials in the value that is d modulo p to this exponent; their
    /// degree is about p times the quotient of the two exponents (Geelen, Iliashenko, Kang, Vercauteren, EUROCRYPT 2023).
    Twice(u32),
    /// The polynomials of [`Self::Polynomials`] for an odd prime. They are odd, so each is a multiple of x plus x times a polynomial in
    /// x^2, evaluated with this number of baby steps and then giant steps (Paterson, Stockmeyer, SIAM J. Comput. 1973).
    Steps(usize),
}

/// How a digit is read: any digit, or one that is known to be small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Any(Way),
    /// By [`small_digit`], for digits from -B to B (Ma, Huang, Wang, Wang, EUROCRYPT 2024).
    Small(u64),
}

/// A value in the evaluation of a [`DigitReader`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DigitValue {
    /// x.
    Argument,
    /// The product of two values that come before.
    Product(usize, usize),
    /// A sum of multiples of values that come before.
    Sum(Vec<(usize, u64)>),
}

/// A straight-line program that reads the digit of x modulo powers of p, in arithmetic modulo the largest of them.
#[derive(Debug, Clone)]
pub struct DigitReader {
    ring: PrimePower,
    values: Vec<DigitValue>,
    /// For each exponent k, the index of the value that is d modulo p^k.
    known: BTreeMap<u32, usize>,
    /// For values that are sums, the k such that only the sum modulo p^k is used.
    precisions: BTreeMap<usize, u32>,
}

impl DigitReader {
    /// A reader for `ring` modulo p^e and the `wanted` exponents, each at most e.
    fn new(ring: PrimePower, wanted: &[u32], reading: Reading) -> Result<Self, Error> {
        let mut out = Self {
            ring,
            values: vec![DigitValue::Argument],
            known: BTreeMap::from([(1, 0)]),
            precisions: BTreeMap::new(),
        };
        let most = wanted.iter().copied().max().unwrap_or(1);
        match reading {
            Reading::Any(Way::Lifting) => out.lift(most)?,
            Reading::Any(Way::Polynomials) => out.polynomials(wanted)?,
            Reading::Any(Way::Twice(first)) => {
                let (below, above): (Vec<u32>, Vec<u32>) = wanted.iter().partition(|&&k| k <= first);
                out.polynomials(&[below, vec![first]].concat())?;
                out.refine(first, &above)?;
            }
            Reading::Any(Way::Steps(baby)) => out.steps(wanted, baby)?,
            Reading::Small(bound) => {
                let at = out.polynomial(
                    &mut BTreeMap::from([(1, 0)]),
                    &small_digit(ring.with_exponent(most)?, 1, bound)?,
                );
                out.known.insert(most, at);
            }
        }
        Ok(out)
    }

    /// Values in the order of their evaluation, the argument first.
    pub fn values(&self) -> &[DigitValue] {
        &self.values
    }

    /// Z/p^e.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// d modulo p^k as a sum of multiples of values; `None` if k is above every exponent that is read.
    pub fn digit(&self, k: u32) -> Option<Vec<(usize, u64)>> {
        let (_, &value) = self.known.range(k..).next()?;
        Some(match &self.values[value] {
            DigitValue::Sum(terms) => terms.clone(),
            _ => vec![(value, 1)],
        })
    }

    /// For a value that is a sum, the k such that only the sum modulo p^k is used.
    pub fn precision(&self, value: usize) -> u32 {
        let known = self.known.iter().filter(|&(_, &known)| known == value).map(|(&k, _)| k).max();
        known.or_else(|| self.precisions.get(&value).copied()).unwrap_or(self.ring.exponent())
    }

    /// Number of products.
    pub fn products(&self) -> usize {
        self.values.iter().filter(|value| matches!(value, DigitValue::Product(..))).count()
    }

    /// The largest degree in x of what is read.
    pub fn degree(&self) -> usize {
        let mut degrees: Vec<usize> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            degrees.push(match value {
                DigitValue::Argument => 1,
                &DigitValue::Product(a, b) => degrees[a] + degrees[b],
                DigitValue::Sum(terms) => terms.iter().map(|&(i, _)| degrees[i]).max().unwrap_or(0),
            });
        }
        self.known.values().map(|&value| degrees[value]).max().unwrap_or(0)
    }

    /// The multiplicative depth of each value.
    fn depths(&self) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            out.push(match value {
                DigitValue::Argument => 0,
                &DigitValue::Product(a, b) => 1 + out[a].max(out[b]),
                DigitValue::Sum(terms) => terms.iter().map(|&(i, _)| out[i]).max().unwrap_or(0),
            });
        }
        out
    }

    /// The multiplicative depth of d modulo p^k.
    fn depth(&self, k: u32) -> Option<usize> {
        let (depths, terms) = (self.depths(), self.digit(k)?);
        terms.iter().map(|&(i, _)| depths[i]).max()
    }

    /// All values at x.
    fn evaluate(&self, x: u64) -> Vec<u64> {
        let ring = self.ring;
        let mut out: Vec<u64> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            out.push(match value {
                DigitValue::Argument => ring.reduce(x),
                &DigitValue::Product(a, b) => ring.mul(out[a], out[b]),
                DigitValue::Sum(terms) => sum(ring, terms, &out),
            });
        }
        out
    }

    fn lift(&mut self, most: u32) -> Result<(), Error> {
        let (mut at, mut k) = (0, 1);
        while k < most {
            let polynomial = lifting(self.ring.with_exponent(self.ring.exponent().max(2))?)?;
            at = self.polynomial(&mut BTreeMap::from([(1, at)]), &polynomial);
            // x^2 is 0 modulo 4 or 1 modulo 8, and its square 0 or 1 modulo 16.
            k += if self.ring.prime() == 2 && k == 2 { 2 } else { 1 };
            self.known.insert(k, at);
        }
        Ok(())
    }

    fn polynomials(&mut self, wanted: &[u32]) -> Result<(), Error> {
        let mut powers = BTreeMap::from([(1, 0)]);
        for &k in wanted.iter().filter(|&&k| k > 1) {
            let at = self.polynomial(&mut powers, &lowest_digit(self.ring.with_exponent(k)?)?);
            self.known.insert(k, at);
        }
        Ok(())
    }

    fn steps(&mut self, wanted: &[u32], baby: usize) -> Result<(), Error> {
        if self.ring.prime() == 2 || baby < 2 {
            return Err(Error::InvalidArgument(format!(
                "{baby} baby steps to the digits of {}; take two at least, of an odd prime",
                self.ring.prime()
            )));
        }
        let mut powers: Option<BTreeMap<usize, usize>> = None;
        for &k in wanted.iter().filter(|&&k| k > 1) {
            let polynomial = lowest_digit(self.ring.with_exponent(k)?)?;
            // The coefficient of x, then those of x times powers of x^2.
            let mut odd = polynomial.iter().skip(1).step_by(2).copied();
            let first = odd.next().unwrap_or(0);
            let rest: Vec<u64> = odd.collect();
            let squares = powers.get_or_insert_with(|| {
                let square = self.push(DigitValue::Product(0, 0));
                BTreeMap::from([(1, square)])
            });
            let mut sum: Vec<(usize, u64)> = Vec::new();
            for (j, coefficients) in rest.chunks(baby).enumerate() {
                let terms = (1..).zip(coefficients).filter(|&(_, &c)| c != 0);
                let terms: Vec<(usize, u64)> = terms.map(|(i, &c)| (self.power(squares, i), c)).collect();
                if j == 0 {
                    sum.extend(terms);
                } else if !terms.is_empty() {
                    let (giant, steps) = (self.power(squares, j * baby), self.sum(terms, k));
                    sum.push((self.push(DigitValue::Product(giant, steps)), 1));
                }
            }
            let factor = self.sum(sum, k);
            let product = self.push(DigitValue::Product(0, factor));
            let terms = [(0, first), (product, 1)].into_iter().filter(|&(_, c)| c != 0).collect();
            let at = self.sum(terms, k);
            self.known.insert(k, at);
        }
        Ok(())
    }

    /// A sum that is only used modulo p^k.
    fn sum(&mut self, terms: Vec<(usize, u64)>, k: u32) -> usize {
        if let [(value, 1)] = terms.as_slice() {
            return *value;
        }
        let at = self.push(DigitValue::Sum(terms));
        self.precisions.insert(at, k);
        at
    }

    /// Reads d modulo the `wanted` powers from the value that is d modulo p^`first`.
    fn refine(&mut self, first: u32, wanted: &[u32]) -> Result<(), Error> {
        let p = self.ring.prime() as i64;
        let digits: Vec<i64> = if p == 2 { vec![0, 1] } else { (-(p / 2)..=p / 2).collect() };
        let mut powers = BTreeMap::from([(1, self.known[&first])]);
        for &k in wanted {
            let at = self.polynomial(&mut powers, &around(self.ring.with_exponent(k)?, first, &digits)?);
            self.known.insert(k, at);
        }
        Ok(())
    }

    /// A polynomial in a value, of which `powers` holds the powers made so far.
    fn polynomial(&mut self, powers: &mut BTreeMap<usize, usize>, coefficients: &[u64]) -> usize {
        let terms = (0..).zip(coefficients).filter(|&(_, &c)| c != 0);
        let terms: Vec<(usize, u64)> = terms.map(|(i, &c)| (self.power(powers, i), c)).collect();
        match terms.as_slice() {
            [(value, 1)] => *value,
            _ => self.push(DigitValue::Sum(terms)),
        }
    }

    fn power(&mut self, powers: &mut BTreeMap<usize, usize>, exponent: usize) -> usize {
        if let Some(&found) = powers.get(&exponent) {
            return found;
        }
        // The largest power of two below the exponent, and the rest.
        let high = exponent.next_power_of_two() / 2;
        let factors = [high, exponent - high].map(|part| self.power(powers, part));
        let out = self.push(DigitValue::Product(factors[0], factors[1]));
        powers.insert(exponent, out);
        out
    }

    fn push(&mut self, value: DigitValue) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Division of numbers modulo p^e by p^t, with rounding: their t lowest digits are read and subtracted, one after the other.
///
/// x = I + p^t y with I = sum_(i<t) `d_i` p^i and digits between -p/2 and p/2, so that p^t y is the multiple of p^t nearest to x. For p = 2
/// digits are 0 and 1, and half of 2^t is added first, so that I goes from -2^(t - 1) to 2^(t - 1) - 1.
///
/// If |I| <= B is known, the last digit is bounded too, and a polynomial of a lower degree reads it. The quotient is then right for such I
/// only.
///
/// Digit j is the lowest digit of `z_j` = (x - sum_(i<j) `d_i` p^i)/p^j. Nothing else of `z_j` matters, so `d_i` modulo p^(j + 1 - i) is
/// enough for it. In the end, y takes `d_i` modulo p^(e - i).
#[derive(Debug, Clone)]
pub struct AllDigits {
    ring: PrimePower,
    readers: Vec<DigitReader>,
}

impl AllDigits {
    /// The largest prime accepted. For larger primes, polynomials for small digits are cheaper, and those for any digit are too long.
    pub const LARGEST_PRIME: u64 = 31;

    /// The division for `ring` modulo p^e and t = `digits` digits, read in the ways of the least multiplicative depth and, among these,
    /// with the fewest products.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless 0 < t < e and p < 32.
    pub fn new(ring: PrimePower, digits: u32) -> Result<Self, Error> {
        Self::small(ring, digits, u64::MAX)
    }

    /// As [`Self::new`], for numbers x with |I| <= `bound`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn small(ring: PrimePower, digits: u32, bound: u64) -> Result<Self, Error> {
        check(ring, digits)?;
        let ways: Vec<Way> = [Way::Polynomials, Way::Lifting]
            .into_iter()
            .chain((2..ring.exponent()).map(Way::Twice))
            .chain([2, 4, 8, 16].map(Way::Steps))
            .collect();
        // The ways are improved digit by digit, starting from polynomials, which are never deep. A second pass finds ways that only pay
        // beside others.
        let mut best =
            Self::by(ring, digits, Way::Polynomials).or_else(|_| Self::by(ring, digits, Way::Lifting))?;
        for j in (0..digits).chain(0..digits) {
            // Not for p = 2, where digits are not centred, and the last may be the sign.
            let last = (j + 1 == digits && ring.prime() > 2)
                .then(|| Reading::Small(last_digit(ring.prime(), digits, bound)));
            for reading in ways.iter().copied().map(Reading::Any).chain(last) {
                // Some ways have no polynomials for `digits` digits.
                let Ok(reader) = reader(ring, digits, j, reading) else { continue };
                let mut other = best.clone();
                other.readers[j as usize] = reader;
                if (other.levels(), other.products()) < (best.levels(), best.products()) {
                    best = other;
                }
            }
        }
        Ok(best)
    }

    /// The division that reads all digits in one way.
    ///
    /// # Errors
    /// As [`Self::new`], and as the polynomials of that way.
    pub fn by(ring: PrimePower, digits: u32, way: Way) -> Result<Self, Error> {
        check(ring, digits)?;
        let readers =
            (0..digits).map(|j| reader(ring, digits, j, Reading::Any(way))).collect::<Result<_, Error>>()?;
        Ok(Self { ring, readers })
    }

    /// Z/p^e.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// What is added to x before its digits are read.
    pub fn shift(&self) -> u64 {
        if self.ring.prime() == 2 { 1 << (self.readers.len() - 1) } else { 0 }
    }

    /// For each j, the reader of digit j from `z_j`, modulo p^(e - j).
    pub fn readers(&self) -> &[DigitReader] {
        &self.readers
    }

    /// Number of products of ciphertexts, each with a key switch.
    pub fn products(&self) -> usize {
        self.readers.iter().map(DigitReader::products).sum()
    }

    /// The multiplicative depth.
    pub fn levels(&self) -> usize {
        let (t, e) = (self.readers.len() as u32, self.ring.exponent());
        let mut arguments: Vec<usize> = Vec::new();
        let after = |i: u32, k: u32, arguments: &[usize]| {
            arguments[i as usize] + self.readers[i as usize].depth(k).unwrap_or_default()
        };
        for j in 0..t {
            let argument = (0..j).map(|i| after(i, j + 1 - i, &arguments)).max().unwrap_or_default();
            arguments.push(argument);
        }
        (0..t).map(|i| after(i, e - i, &arguments)).max().unwrap_or_default()
    }

    /// y of x = I + p^t y, modulo p^(e - t), as a homomorphic evaluation computes it.
    pub fn quotient(&self, x: u64) -> u64 {
        let (ring, e, t) = (self.ring, self.ring.exponent(), self.readers.len() as u32);
        let x = ring.add(ring.reduce(x), ring.reduce(self.shift()));
        let mut values: Vec<Vec<u64>> = Vec::new();
        let p = ring.prime();
        let rest = |values: &[Vec<u64>], precision: &dyn Fn(u32) -> u32| {
            (0..).zip(values).zip(&self.readers).fold(x, |rest, ((i, values), reader)| {
                let terms = reader.digit(precision(i)).unwrap_or_default();
                ring.sub(rest, ring.mul(sum(reader.ring, &terms, values), p.pow(i)))
            })
        };
        for (j, reader) in (0..).zip(&self.readers) {
            let own = rest(&values, &|i| j + 1 - i) / p.pow(j);
            values.push(reader.evaluate(own));
        }
        rest(&values, &|i| e - i) / p.pow(t)
    }
}

/// The largest digit t - 1 of numbers up to `bound`, digits being between -p/2 and p/2.
fn last_digit(p: u64, digits: u32, bound: u64) -> u64 {
    (1..digits).fold(bound, |bound, _| bound.saturating_sub(p / 2).div_ceil(p)).min(p / 2)
}

fn check(ring: PrimePower, digits: u32) -> Result<(), Error> {
    let (p, e) = (ring.prime(), ring.exponent());
    if (1..e).contains(&digits) && p <= AllDigits::LARGEST_PRIME {
        return Ok(());
    }
    if e < 2 {
        return Err(Error::InvalidArgument(format!(
            "{digits} digits of numbers modulo {p}, which have one; take plaintexts modulo a higher power of a prime up to {}, or digits \
             that are known to be small",
            AllDigits::LARGEST_PRIME
        )));
    }
    Err(Error::InvalidArgument(format!(
        "the {digits} lowest digits of any number modulo {p}^{e}; take from 1 to {} digits of a prime up to {}, or digits that \
         are known to be small",
        e.saturating_sub(1),
        AllDigits::LARGEST_PRIME
    )))
}

/// The reader of digit j, modulo the powers that later digits and the quotient take.
fn reader(ring: PrimePower, digits: u32, j: u32, reading: Reading) -> Result<DigitReader, Error> {
    let e = ring.exponent();
    let wanted: Vec<u32> = (2..=digits - j).chain([e - j]).collect();
    DigitReader::new(ring.with_exponent(e - j)?, &wanted, reading)
}

fn sum(ring: PrimePower, terms: &[(usize, u64)], values: &[u64]) -> u64 {
    terms.iter().fold(0, |sum, &(i, c)| ring.add(sum, ring.mul(ring.reduce(c), values[i])))
}

#[cfg(test)]
mod tests {
    use super::super::lagrange::value;
    use super::*;

    /// Every number modulo p^e, by every way.
    fn all_numbers(p: u64, e: u32) {
        let ring = PrimePower::new(p, e).expect("a prime");
        for t in 1..e {
            let ways = [Way::Lifting, Way::Polynomials].into_iter().chain((2..e).map(Way::Twice));
            let ways = ways.chain([2, 4].map(Way::Steps));
            let chosen = AllDigits::new(ring, t).expect("a small prime");
            let (step, below) = (p.pow(t), p.pow(e - t));
            let all: Vec<AllDigits> = ways.filter_map(|way| AllDigits::by(ring, t, way).ok()).collect();
            assert!(all.len() >= 2);
            for other in &all {
                let (own, other) = ((chosen.levels(), chosen.products()), (other.levels(), other.products()));
                assert!(own <= other, "{p}^{e}, {t} digits: {own:?}, {other:?}");
            }
            for x in 0..ring.value() {
                // The nearest multiple of p^t; for p = 2 halves are rounded up.
                let expected = (x + step / 2) / step % below;
                for digits in all.iter().chain([&chosen]) {
                    assert_eq!(digits.quotient(x), expected, "{x} modulo {p}^{e}, {t} digits");
                }
            }
        }
    }

    #[test]
    fn all_numbers_are_divided_with_rounding() {
        (2..=10).for_each(|e| all_numbers(2, e));
        (2..=6).for_each(|e| all_numbers(3, e));
        (2..=4).for_each(|e| all_numbers(5, e));
        (2..=4).for_each(|e| all_numbers(7, e));
    }

    /// Numbers whose last digit is small: those of set I-A of ePrint 2024/115, and others.
    #[test]
    fn small_numbers_are_taken_off() {
        for (p, e, t, bound) in [(17, 6, 2, 23), (5, 5, 2, 7), (7, 5, 3, 40), (7, 4, 1, 2), (5, 4, 2, 0)] {
            let ring = PrimePower::new(p, e).expect("a prime");
            let all = AllDigits::new(ring, t).expect("a small prime");
            let small = AllDigits::small(ring, t, bound).expect("a small prime");
            assert!((small.levels(), small.products()) < (all.levels(), all.products()), "{p}^{e}");
            let (step, below) = (p.pow(t), p.pow(e - t));
            let stride = (below / 5000).max(1) as usize;
            for y in (0..below).step_by(stride) {
                for i in -(bound as i64)..=bound as i64 {
                    let x = ring.add(ring.reduce_signed(i), ring.mul(step, y));
                    assert_eq!(small.quotient(x), y, "{i} + {p}^{t} {y} modulo {p}^{e}");
                }
            }
        }
        // A bound that excludes no number gains nothing.
        let ring = PrimePower::new(3, 4).expect("a prime");
        for t in 1..4 {
            let all = AllDigits::new(ring, t).expect("a small prime");
            let same = AllDigits::small(ring, t, 1 << 40).expect("a small prime");
            assert_eq!((all.levels(), all.products()), (same.levels(), same.products()));
        }
    }

    /// A quotient of t digits of 2 is a polynomial of degree 2^t: no fewer levels are possible.
    #[test]
    fn digits_of_two_take_a_level_each() {
        for (e, t, levels, products) in [(8, 7, 7, 19), (7, 6, 6, 15), (3, 2, 2, 3), (2, 1, 1, 1)] {
            let ring = PrimePower::new(2, e).expect("a prime");
            let digits = AllDigits::new(ring, t).expect("a small prime");
            assert_eq!((digits.levels(), digits.products()), (levels, products), "2^{e}");
        }
    }

    #[test]
    fn digits_are_read_modulo_what_is_asked_for() {
        let ring = PrimePower::new(2, 8).expect("a prime");
        for way in [Way::Lifting, Way::Polynomials, Way::Twice(4)] {
            let reader = DigitReader::new(ring, &[2, 3, 5, 8], Reading::Any(way)).expect("digits");
            for x in 0..256 {
                let values = reader.evaluate(x);
                for k in [1, 2, 3, 5, 8] {
                    let terms = reader.digit(k).expect("one that was asked for");
                    assert_eq!(sum(ring, &terms, &values) % (1 << k), x % 2, "{way:?}, {x}, 2^{k}");
                }
            }
            assert_eq!(reader.digit(9), None);
        }
        // x^2 for 2, x^4 for 4, and x^6 and x^8 of these.
        let reader = DigitReader::new(ring, &[2, 4, 8], Reading::Any(Way::Polynomials)).expect("digits");
        assert_eq!((reader.products(), reader.depth(4), reader.depth(8)), (4, Some(2), Some(3)));
        let f = lowest_digit(ring).expect("a small prime");
        assert_eq!((f.len() - 1, value(ring, &f, 77)), (8, 1));
    }

    #[test]
    fn what_has_no_digits_to_take_off_is_refused() {
        let ring = |p, e| PrimePower::new(p, e).expect("a prime");
        for (ring, t) in
            [(ring(2, 4), 0), (ring(2, 4), 4), (ring(2, 1), 1), (ring(37, 3), 1), (ring(65537, 2), 1)]
        {
            let error = AllDigits::new(ring, t).expect_err("no digits");
            assert!(
                matches!(&error, Error::InvalidArgument(text) if text.contains(&ring.prime().to_string())),
                "{error}"
            );
        }
        assert!(AllDigits::by(ring(2, 60), 59, Way::Polynomials).is_err());
        assert!(AllDigits::new(ring(2, 40), 39).is_ok());
    }
}
