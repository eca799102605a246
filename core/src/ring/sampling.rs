//! Random polynomials.

use alloc::{vec, vec::Vec};

use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    basis::Basis,
    cyclotomic::Cyclotomic,
    poly::{Coeff, Poly},
};
use crate::{
    arith::{Modulus, Word},
    random::Stream,
};

/// A secret polynomial with coefficients of at most seven bits and a sign: a ternary key or a
/// centred-binomial error. Wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SmallPoly(Vec<i8>);

/// A centred binomial error: the difference of two sums of equally many fair bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binomial {
    /// 21 + 21 bits: variance 10.5, standard deviation 3.24.
    Coins21,
    /// 32 + 32 bits: variance 16, standard deviation 4.
    Coins32,
    /// 36 + 36 bits: variance 18, standard deviation 4.24.
    Coins36,
}

impl Binomial {
    /// The variance, exactly.
    pub fn variance(self) -> f64 {
        match self {
            Self::Coins21 => 10.5,
            Self::Coins32 => 16.0,
            Self::Coins36 => 18.0,
        }
    }

    /// The standard deviation.
    pub fn sigma(self) -> f64 {
        libm::sqrt(self.variance())
    }

    /// Fills `out` with independent samples.
    pub fn sample(self, stream: &mut Stream, out: &mut [i8]) {
        match self {
            Self::Coins21 => stream.cbd21(out),
            Self::Coins32 => stream.cbd32(out),
            Self::Coins36 => stream.cbd36(out),
        }
    }
}

impl SmallPoly {
    /// Standard deviation of [`Self::error`], sqrt(21 / 2).
    pub const ERROR_SIGMA: f64 = 3.240_370_349_203_93;

    /// No coefficient of [`Self::error`] is larger.
    pub const LARGEST_ERROR: u8 = 21;

    /// Takes the coefficients.
    pub fn from_coefficients(coefficients: Vec<i8>) -> Self {
        Self(coefficients)
    }

    /// Uniform over {-1, 0, 1}.
    pub fn ternary(n: usize, stream: &mut Stream) -> Self {
        let mut out = vec![0i8; n];
        stream.ternary(&mut out);
        Self(out)
    }

    /// Exactly `weight` coefficients are -1 or 1, at uniform positions.
    pub fn sparse_ternary(n: usize, weight: usize, stream: &mut Stream) -> Self {
        let mut out = vec![0i8; n];
        stream.sparse_ternary(&mut out, weight);
        Self(out)
    }

    /// Exactly `weight` coefficients are -1 or 1, in any ring. In a ring of two axes there is at most one for each power of Y, in a row
    /// drawn for it: every coefficient of a product then is a sum of at most 2 `weight` coefficients of the other factor, all of them
    /// different. In a ring of an odd index of two primes there is likewise at most one for each power of `X_2`: a coefficient is a sum of
    /// at most 4 `weight`, none of which occurs more than twice. With three primes any coefficients may be -1 or 1.
    ///
    /// # Panics
    /// If `weight` exceeds the number of powers of Y or `X_2`, or of coefficients.
    pub fn sparse_ternary_in(ring: Cyclotomic, weight: usize, stream: &mut Stream) -> Self {
        if ring.odd_index().is_some_and(|index| index.primes().len() > 2) {
            return Self::sparse_ternary(ring.degree(), weight, stream);
        }
        let signs = Self::sparse_ternary(ring.columns(), weight, stream);
        if ring.rows() == 1 {
            return signs;
        }
        let mut out = vec![0i8; ring.degree()];
        for (column, sign) in signs.0.iter().enumerate() {
            // Each with the same probability.
            let row = stream.below(ring.rows() as u32);
            for (k, row_of_out) in (0u32..).zip(out.chunks_exact_mut(ring.columns())) {
                row_of_out[column] = i8::conditional_select(&0, sign, k.ct_eq(&row));
            }
        }
        Self(out)
    }

    /// Centred binomial with 21 + 21 coins: standard deviation sqrt(10.5) = 3.24.
    pub fn error(n: usize, stream: &mut Stream) -> Self {
        Self::error_of(Binomial::Coins21, n, stream)
    }

    /// A centred binomial error of the given width.
    pub fn error_of(width: Binomial, n: usize, stream: &mut Stream) -> Self {
        let mut out = vec![0i8; n];
        width.sample(stream, &mut out);
        Self(out)
    }

    /// An error of the given width in any ring. In a ring of two axes it is drawn independently for all Y^i Z^k with 0 <= k < m', and
    /// the coefficients of k = 0 are subtracted from the others. So all its values in the canonical embedding have one variance, none
    /// but conjugates are correlated, and no coefficient is larger than twice the largest of [`Self::error_of`]. In a ring of odd index
    /// it is likewise drawn for all powers of X, and no coefficient is larger than four times that. For an index of three primes it
    /// could be eight times, 168; what no byte holds becomes 127 or -128: fourteen deviations, with a probability below 2^-140.
    ///
    /// # Panics
    /// For a width other than 21 coins in a ring of odd index: of that one, four errors fit a byte.
    pub fn error_in(ring: Cyclotomic, width: Binomial, stream: &mut Stream) -> Self {
        if let Some(pair) = ring.odd_index() {
            assert!(width == Binomial::Coins21, "four errors fit a byte");
            // For all powers of `X_1` and `X_2`. The rows that are not in the basis and the last word of each row are subtracted from the
            // others.
            let ([_, columns], [p, q], axis) =
                (pair.orders(), pair.parts().map(|p| p as usize), pair.first_axis());
            let all = Self::error_of(width, p * q, stream);
            let at = |e: u64, j: usize| {
                let row = &all.0[e as usize * q..][..q];
                i16::from(row[j]) - i16::from(row[columns])
            };
            // Of full length from the beginning: a vector that grows leaves copies behind.
            let mut out = Vec::with_capacity(ring.degree());
            for (&e, terms) in axis.rows.iter().zip(&axis.terms) {
                for j in 0..columns {
                    let sum = terms.iter().fold(at(e, j), |sum, &(other, negative)| {
                        let other = at(axis.others[other], j);
                        if negative { sum - other } else { sum + other }
                    });
                    // Without a branch: four are at most 84.
                    out.push(sum.clamp(i8::MIN.into(), i8::MAX.into()) as i8);
                }
            }
            return Self(out);
        }
        if ring.odd_part() == 1 {
            return Self::error_of(width, ring.degree(), stream);
        }
        let columns = ring.columns();
        let mut all = Self::error_of(width, columns * ring.odd_part() as usize, stream);
        let (first, rest) = all.0.split_at_mut(columns);
        for row in rest.chunks_exact_mut(columns) {
            row.iter_mut().zip(first.iter()).for_each(|(x, y)| *x -= y);
        }
        Self(rest.to_vec())
    }

    /// The coefficients.
    pub fn coefficients(&self) -> &[i8] {
        &self.0
    }

    /// The polynomial in X^step: of `step` times the degree, with zeros between the coefficients.
    #[must_use]
    pub fn spread(&self, step: usize) -> Self {
        let mut out = vec![0; self.0.len() * step];
        out.iter_mut().step_by(step.max(1)).zip(&self.0).for_each(|(out, &c)| *out = c);
        Self(out)
    }

    /// Residues in a basis, whose primes are above every coefficient.
    pub fn to_poly<W: Word>(&self, basis: &Basis<W>) -> Poly<W, Coeff> {
        let mut out = Poly::zero(basis);
        for (i, row) in out.rows_mut() {
            self.write_row(basis.modulus(i), row);
        }
        out
    }

    /// Residues modulo one prime, which is above every coefficient.
    pub(crate) fn write_row<W: Word>(&self, modulus: &Modulus<W>, row: &mut [W]) {
        let p = modulus.value_u64() as i64;
        for (r, &c) in row.iter_mut().zip(&self.0) {
            let c = i64::from(c);
            debug_assert!(c.abs() < p, "a prime is too small for the coefficient");
            // The prime is added to a negative coefficient, without a branch.
            *r = W::from_u64((c + (p & (c >> 63))) as u64);
        }
    }
}

/// Uniform residues, prime after prime, N of them in each row, all from one stream in order: the public second component of a sample,
/// in whichever domain the caller reads it.
pub fn uniform_rows<W: Word>(basis: &Basis<W>, stream: &mut Stream) -> Vec<W> {
    let mut out = vec![W::ZERO; basis.len() * basis.n()];
    fill_uniform_rows(basis, stream, &mut out);
    out
}

/// [`uniform_rows`] into memory used before.
pub(crate) fn fill_uniform_rows<W: Word>(basis: &Basis<W>, stream: &mut Stream, out: &mut [W]) {
    for (i, row) in out.chunks_exact_mut(basis.n()).enumerate() {
        W::fill_uniform(stream, basis.modulus(i).value_u64(), &mut row[..basis.degree()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    #[test]
    fn sparse_secrets_have_one_coefficient_for_each_power_of_the_longer_axis() {
        let mut stream = Seed::from_bytes([8; 32]).stream();
        let odd_index = [(24, 35), (84, 129), (36, 57)].into_iter().filter(|_| cfg!(feature = "odd-index"));
        for (n, odd) in [(64, 1), (64, 5), (32, 3), (512, 17)].into_iter().chain(odd_index) {
            let ring = Cyclotomic::new(n, odd).expect("a ring");
            let mut rows = vec![0u32; ring.rows()];
            let draws = 200;
            for weight in [0, 1, ring.columns() / 2, ring.columns()] {
                for _ in 0..draws {
                    let secret = SmallPoly::sparse_ternary_in(ring, weight, &mut stream);
                    let all: Vec<&[i8]> = secret.coefficients().chunks(ring.columns()).collect();
                    assert_eq!((all.len(), secret.coefficients().len()), (ring.rows(), n));
                    let of_power = |y: usize| all.iter().filter(|row| row[y] != 0).count();
                    let most = (0..ring.columns()).map(of_power).max();
                    assert_eq!(most, Some(usize::from(weight > 0)));
                    assert!(secret.coefficients().iter().all(|c| c.abs() <= 1));
                    let in_row = |row: &&[i8]| row.iter().filter(|&&c| c != 0).count() as u32;
                    let counts: Vec<u32> = all.iter().map(in_row).collect();
                    assert_eq!(counts.iter().sum::<u32>() as usize, weight);
                    rows.iter_mut().zip(counts).for_each(|(row, count)| *row += count);
                }
            }
            // Every row has its part of all, to six deviations.
            let (all, part) = (f64::from(rows.iter().sum::<u32>()), 1.0 / rows.len() as f64);
            let deviation = libm::sqrt(all * part * (1.0 - part));
            assert!(
                rows.iter().all(|&row| (f64::from(row) - all * part).abs() <= 6.0 * deviation),
                "{rows:?}"
            );
        }
        // The keys of rings of one axis stay what they were.
        let plain = |stream: &mut Stream| SmallPoly::sparse_ternary(64, 8, stream);
        let any = |stream: &mut Stream| SmallPoly::sparse_ternary_in(Cyclotomic::power_of_two(64), 8, stream);
        let fresh = || Seed::from_bytes([9; 32]).stream();
        assert_eq!(plain(&mut fresh()).coefficients(), any(&mut fresh()).coefficients());
    }
}
