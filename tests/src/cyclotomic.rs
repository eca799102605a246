//! The ring `Z[X]/Phi_m` in powers of X, over big integers, and the way there from the basis of two axes.

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

/// `Z[X]/Phi_m` for m = 2 `columns` `odd`.
pub struct Cyclotomic {
    phi: Vec<BigInt>,
    columns: usize,
    odd: usize,
}

impl Cyclotomic {
    /// By its numbers.
    pub fn new(columns: usize, odd: usize) -> Self {
        Self { phi: cyclotomic_polynomial(2 * columns * odd), columns, odd }
    }

    /// m.
    pub fn index(&self) -> usize {
        2 * self.columns * self.odd
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

    /// The element with coefficient x_(k-1, i) of Y^i Z^k, Y = X^odd and Z = X^(2 columns), in powers of X.
    pub fn to_powers(&self, x: &[BigInt]) -> Poly {
        let mut out = vec![BigInt::zero(); self.index()];
        for (k, row) in (1..).zip(x.chunks(self.columns)) {
            for (i, c) in row.iter().enumerate() {
                out[(self.odd * i + 2 * self.columns * k) % self.index()] += c;
            }
        }
        self.reduced(out)
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
