//! The ring `Z[X]/Phi_m` in powers of X, over big integers, and the way there from the basis of two axes or of an odd index.

use num_bigint::BigInt;
use num_traits::Zero;

use crate::ring::Poly;

/// The cyclotomic polynomial of an index, lowest degree first: X^m - 1 without those of all proper divisors.
///
/// # Panics
/// Never: these divide it.
pub fn cyclotomic_polynomial(index: usize) -> Vec<BigInt> {
    let mut rest = vec![BigInt::zero(); index + 1];
    (rest[0], rest[index]) = ((-1).into(), 1.into());
    for divisor in (1..index).filter(|d| index.is_multiple_of(*d)) {
        let divisor = cyclotomic_polynomial(divisor);
        let quotient: Vec<BigInt> = (0..=rest.len() - divisor.len())
            .rev()
            .map(|shift| {
                let lead = rest[shift + divisor.len() - 1].clone();
                rest[shift..].iter_mut().zip(&divisor).for_each(|(x, d)| *x -= &lead * d);
                lead
            })
            .collect();
        assert!(rest.iter().all(Zero::is_zero), "a divisor");
        rest = quotient.into_iter().rev().collect();
    }
    rest
}

/// `Z[X]/Phi_m` with a basis of powers of X.
pub struct Cyclotomic {
    phi: Vec<BigInt>,
    index: usize,
    /// For an odd index, its primes; the first two may be one prime and 1.
    primes: Option<[usize; 3]>,
    /// Exponents of X of the elements of the basis.
    basis: Vec<usize>,
}

impl Cyclotomic {
    /// For m = 2 `columns` `odd`: Y^i Z^k, Y = X^odd and Z = X^(2 columns), in rows of equal k from 1 on.
    pub fn new(columns: usize, odd: usize) -> Self {
        let row = |k: usize| (0..columns).map(move |i| odd * i + 2 * columns * k);
        Self::of(2 * columns * odd, (1..odd.max(2)).flat_map(row))
    }

    /// For m = `p` `q`, distinct primes: X^(qi + pj), in rows of equal i. For p a product of two primes a b: X^(q(b `i_a` + a `i_b`) + pj),
    /// in rows of equal `i_a` and `i_b`.
    pub fn of_odd_index(p: usize, q: usize) -> Self {
        let a = (3..p).find(|d| p.is_multiple_of(*d)).unwrap_or(1);
        let b = p / a;
        let row = move |i: usize| (0..b - 1).map(move |k| b * i + a * k);
        let rows = (0..(a - 1).max(1)).flat_map(row);
        let basis = rows.flat_map(|i| (0..q - 1).map(move |j| q * i + p * j));
        Self { primes: Some([a, b, q]), ..Self::of(p * q, basis) }
    }

    fn of(index: usize, basis: impl Iterator<Item = usize>) -> Self {
        let basis = basis.map(|e| e % index).collect();
        Self { phi: cyclotomic_polynomial(index), index, primes: None, basis }
    }

    /// m.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The exponents of X of the elements of the basis.
    pub fn basis(&self) -> &[usize] {
        &self.basis
    }

    /// The remainder modulo Phi_m.
    fn reduced(&self, mut x: Poly) -> Poly {
        let degree = self.phi.len() - 1;
        for at in (degree..x.len()).rev() {
            let lead = x[at].clone();
            x[at - degree..].iter_mut().zip(&self.phi).for_each(|(x, c)| *x -= &lead * c);
        }
        x.resize(degree, BigInt::zero());
        x
    }

    /// The element with these coefficients in the basis, in powers of X. Further coefficients are ignored.
    pub fn to_powers(&self, x: &[BigInt]) -> Poly {
        let mut out = vec![BigInt::zero(); self.index()];
        self.basis.iter().zip(x).for_each(|(&e, c)| out[e] += c);
        self.reduced(out)
    }

    /// The coefficients in the basis of an element in powers of X, for an odd index: exponents are places modulo each prime, and the
    /// coefficient at the last place of a prime is subtracted from the others.
    ///
    /// # Panics
    /// For another index.
    pub fn from_powers(&self, x: &[BigInt]) -> Poly {
        let [a, b, q] = self.primes.expect("an odd index");
        let p = a * b;
        let place = |i: usize, k: usize, j: usize| (q * (b * i + a * k) + p * j) % self.index;
        let mut all = vec![vec![vec![BigInt::zero(); q]; b]; a];
        for (i, square) in all.iter_mut().enumerate() {
            for (k, row) in square.iter_mut().enumerate() {
                for (j, c) in row.iter_mut().enumerate() {
                    *c = x.get(place(i, k, j)).cloned().unwrap_or_default();
                }
            }
        }
        let less =
            |row: &mut Vec<BigInt>, last: &[BigInt]| row.iter_mut().zip(last).for_each(|(x, y)| *x -= y);
        if a > 1 {
            let last = all.pop().expect("squares");
            for square in &mut all {
                square.iter_mut().zip(&last).for_each(|(row, last)| less(row, last));
            }
        }
        for square in &mut all {
            let last = square.pop().expect("rows");
            for row in square {
                less(row, &last);
                let least = row.pop().expect("words");
                for x in row.iter_mut() {
                    *x -= &least;
                }
            }
        }
        all.concat().concat()
    }

    /// The product of elements by their coefficients in the basis, for an odd index.
    pub fn product_in_basis(&self, x: &[BigInt], y: &[BigInt]) -> Poly {
        self.from_powers(&self.product(&self.to_powers(x), &self.to_powers(y)))
    }

    /// The product of elements in powers of X.
    pub fn product(&self, x: &[BigInt], y: &[BigInt]) -> Poly {
        let mut out = vec![BigInt::zero(); x.len() + y.len()];
        for (i, x) in x.iter().enumerate() {
            y.iter().enumerate().for_each(|(j, y)| out[i + j] += x * y);
        }
        self.reduced(out)
    }

    /// X -> X^g of an element in powers of X.
    pub fn automorphism(&self, x: &[BigInt], g: usize) -> Poly {
        let mut out = vec![BigInt::zero(); self.index()];
        x.iter().enumerate().for_each(|(i, x)| out[i * g % self.index()] += x);
        self.reduced(out)
    }
}
