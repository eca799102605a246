//! Between the library's polynomials and big integers: what residues stand for, and back.

use num_bigint::BigInt;
use refloat::arith::{Word, primes::ntt_primes};
use refloat::ring::{Basis, Coeff, Domain, Poly};

use crate::ring::{recombine, residue};

/// Distinct primes 1 modulo `2 n`, near `2^bits` and no longer than `ceil(bits)` bits, one for
/// each entry of `bits`.
///
/// # Panics
/// If there are not enough of them.
pub fn primes(n: usize, bits: &[f64]) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::with_capacity(bits.len());
    for &bits in bits {
        let limit = 2f64.powf(bits.ceil()) as u64;
        let near = ntt_primes(bits, 2 * n as u64).take(1000);
        let next = near.into_iter().find(|p| *p < limit && !found.contains(p));
        found.push(next.unwrap_or_else(|| panic!("no prime of {bits} bits for degree {n}")));
    }
    found
}

/// A basis of [`primes`].
///
/// # Panics
/// If the word is too narrow for them.
pub fn basis<W: Word>(n: usize, bits: &[f64]) -> Basis<W> {
    Basis::new(n, &primes(n, bits)).expect("primes of the right form")
}

/// The polynomial whose coefficients have these values modulo the primes of `basis`.
///
/// # Panics
/// Unless there is one value for each coefficient.
pub fn from_big<W: Word>(basis: &Basis<W>, x: &[BigInt]) -> Poly<W, Coeff> {
    assert_eq!(x.len(), basis.degree(), "one value for each coefficient");
    from_residues(basis, |p, t| residue(&x[t], p))
}

/// The polynomial with these residues modulo every prime at every place. In rings whose rows are longer than the degree, zeros follow.
fn from_residues<W: Word>(basis: &Basis<W>, mut of: impl FnMut(u64, usize) -> u64) -> Poly<W, Coeff> {
    let mut rows = Vec::with_capacity(basis.len() * basis.n());
    for p in basis.primes() {
        rows.extend((0..basis.degree()).map(|t| W::from_u64(of(p, t))));
        rows.resize(rows.len() + basis.n() - basis.degree(), W::ZERO);
    }
    Poly::from_rows(basis, rows)
}

/// The centred value of every entry of the rows, whichever domain they are in, without zeros that fill up the rows.
pub fn to_big<W: Word, D: Domain>(x: &Poly<W, D>) -> Vec<BigInt> {
    let moduli: Vec<u64> = x.basis().primes().collect();
    let column = |t: usize| -> Vec<u64> { (0..moduli.len()).map(|i| x.row(i)[t].to_u64()).collect() };
    (0..x.basis().degree()).map(|t| recombine(&column(t), &moduli)).collect()
}

/// A small reproducible generator (`SplitMix64`): tests need variety, not secrecy.
#[derive(Debug, Clone)]
pub struct Lottery(u64);

impl Lottery {
    /// Starts anywhere.
    pub fn new(start: u64) -> Self {
        Self(start)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in `[-1, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Uniform modulo `q` but for 2^-64, centred.
    pub fn centred(&mut self, q: &BigInt) -> BigInt {
        let words = q.bits() / 64 + 2;
        let x = (0..words).fold(BigInt::ZERO, |x, _| (x << 64) + self.word());
        crate::ring::centred(&x, q)
    }

    /// A polynomial with uniform coefficients.
    pub fn poly<W: Word>(&mut self, basis: &Basis<W>) -> Poly<W, Coeff> {
        from_residues(basis, |p, _| self.word() % p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_way_there_and_back() {
        let basis: Basis<u32> = basis(8, &[30.9, 20.0, 10.0]);
        let q = crate::ring::product(&basis.primes().collect::<Vec<_>>());
        let mut lottery = Lottery::new(1);
        let x: Vec<BigInt> = (0..8).map(|_| lottery.centred(&q)).collect();
        assert_eq!(to_big(&from_big(&basis, &x)), x);
        assert!(x.iter().any(|x| x.bits() > 50));
    }
}
