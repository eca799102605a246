//! Polynomials with the domain in the type.

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use zeroize::Zeroize;

use super::{automorphism::Automorphism, basis::Basis, scratch::Scratch};
use crate::{
    arith::{Shoup, Word},
    par,
};

/// Marker of a domain.
pub trait Domain: Copy + Send + Sync + 'static {}

/// Coefficient domain: entry `t` of a row is the coefficient of X^t. In a ring of two axes, entry `i` of row `k - 1` is that of
/// Y^i Z^k. In a ring of odd index, entry `(m_2 - 1) i + j` is that of `X_1`^i `X_2`^j, and zeros follow.
#[derive(Debug, Clone, Copy)]
pub struct Coeff;

/// Evaluation domain: entry `j` of a row is the value at psi^(2 brev(j) + 1). In a ring of two axes, entry `j` of row `i - 1` is
/// the value at Y = psi^(2 brev(j) + 1), Z = omega^i. In a ring of odd index the values are in the order of [`super::OddIndex`].
#[derive(Debug, Clone, Copy)]
pub struct Eval;

impl Domain for Coeff {}
impl Domain for Eval {}

/// A polynomial modulo the product of the primes of its basis: `[prime][n]` words, row-major,
/// every residue in `[0, p)`.
pub struct Poly<W: Word, D: Domain> {
    basis: Basis<W>,
    data: Vec<W>,
    domain: PhantomData<D>,
}

impl<W: Word, D: Domain> Clone for Poly<W, D> {
    fn clone(&self) -> Self {
        Self { basis: self.basis.clone(), data: self.data.clone(), domain: PhantomData }
    }
}

impl<W: Word, D: Domain> Zeroize for Poly<W, D> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}

impl<W: Word, D: Domain> Poly<W, D> {
    /// The zero polynomial.
    pub fn zero(basis: &Basis<W>) -> Self {
        Self::from_rows(basis, vec![W::ZERO; basis.len() * basis.n()])
    }

    /// Takes `[prime][n]` residues; each must be below its prime.
    pub fn from_rows(basis: &Basis<W>, data: Vec<W>) -> Self {
        debug_assert_eq!(data.len(), basis.len() * basis.n());
        Self { basis: basis.clone(), data, domain: PhantomData }
    }

    /// The basis of the modulus.
    pub fn basis(&self) -> &Basis<W> {
        &self.basis
    }

    /// All residues, `[prime][n]`.
    pub fn data(&self) -> &[W] {
        &self.data
    }

    /// Gives back what [`Self::from_rows`] took.
    pub fn into_rows(self) -> Vec<W> {
        self.data
    }

    /// Residues modulo prime `i`.
    pub fn row(&self, i: usize) -> &[W] {
        let n = self.basis.n();
        &self.data[i * n..(i + 1) * n]
    }

    /// Residues modulo prime `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [W] {
        let n = self.basis.n();
        &mut self.data[i * n..(i + 1) * n]
    }

    /// All rows before row `i`, and the others.
    pub fn split_at_row_mut(&mut self, i: usize) -> (&mut [W], &mut [W]) {
        self.data.split_at_mut(i * self.basis.n())
    }

    /// Rows with their index, mutably.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = (usize, &mut [W])> {
        let n = self.basis.n();
        self.data.chunks_exact_mut(n).enumerate()
    }

    /// Calls `f` with every row and its index; long rows go to as many threads as there are.
    pub fn for_each_row_mut(&mut self, f: impl Fn(usize, &mut [W]) + Sync + Send) {
        let n = self.basis.n();
        par::for_each_row_mut(&mut self.data, n, f);
    }

    /// [`Self::for_each_row_mut`] with memory that `f` may use as it likes.
    pub fn for_each_row_with<M>(
        &mut self,
        memory: impl Fn() -> M + Sync + Send,
        f: impl Fn(&mut M, usize, &mut [W]) + Sync + Send,
    ) {
        let n = self.basis.n();
        par::for_each_row_with(&mut self.data, n, memory, f);
    }

    /// [`Self::for_each_row_mut`] with the rows of another polynomial modulo the same basis beside them.
    pub fn for_each_row_pair_mut(
        &mut self,
        other: &mut Self,
        f: impl Fn(usize, &mut [W], &mut [W]) + Sync + Send,
    ) {
        debug_assert!(self.basis.same_as(&other.basis));
        let n = self.basis.n();
        par::for_each_row_pair_mut(&mut self.data, &mut other.data, n, f);
    }

    /// [`Self::for_each_row_pair_mut`] with memory that `f` may use as it likes.
    pub fn for_each_row_pair_with<M>(
        &mut self,
        other: &mut Self,
        memory: impl Fn() -> M + Sync + Send,
        f: impl Fn(&mut M, usize, &mut [W], &mut [W]) + Sync + Send,
    ) {
        debug_assert!(self.basis.same_as(&other.basis));
        let n = self.basis.n();
        par::for_each_row_pair_with(&mut self.data, &mut other.data, n, memory, f);
    }

    /// Sets every residue to zero.
    pub fn set_zero(&mut self) {
        self.data.fill(W::ZERO);
    }

    /// self += other, whose modulus may have further primes.
    pub fn add_assign(&mut self, other: &Self) {
        debug_assert!(self.basis.is_prefix_of(&other.basis));
        let (basis, kernels) = (self.basis.clone(), self.basis.kernels());
        self.for_each_row_mut(|i, row| {
            kernels.add_assign(basis.modulus(i), row, other.row(i));
        });
    }

    /// self -= other, whose modulus may have further primes.
    pub fn sub_assign(&mut self, other: &Self) {
        debug_assert!(self.basis.is_prefix_of(&other.basis));
        let (basis, kernels) = (self.basis.clone(), self.basis.kernels());
        self.for_each_row_mut(|i, row| {
            kernels.sub_assign(basis.modulus(i), row, other.row(i));
        });
    }

    /// self = -self.
    pub fn neg_assign(&mut self) {
        let (basis, kernels) = (self.basis.clone(), self.basis.kernels());
        self.for_each_row_mut(|i, row| {
            kernels.neg_assign(basis.modulus(i), row);
        });
    }

    /// Multiplies row `i` by `scalars[i]`.
    pub fn mul_scalars_assign(&mut self, scalars: &[Shoup<W>]) {
        let (basis, kernels) = (self.basis.clone(), self.basis.kernels());
        self.for_each_row_mut(|i, row| {
            kernels.mul_scalar_assign(basis.modulus(i), row, &scalars[i]);
        });
    }

    /// Multiplies by a signed integer.
    pub fn mul_integer_assign(&mut self, x: i64) {
        let scalars: Vec<Shoup<W>> = (0..self.basis.len())
            .map(|i| {
                let m = self.basis.modulus(i);
                m.shoup(m.reduce_i64(x))
            })
            .collect();
        self.mul_scalars_assign(&scalars);
    }

    /// Keeps the first `len` rows: the polynomial modulo a divisor of its modulus.
    #[must_use]
    pub fn truncated(&self, len: usize) -> Self {
        Self::from_rows(&self.basis.prefix(len), self.data[..len * self.basis.n()].to_vec())
    }

    /// [`Self::truncated_to`] in the memory of this polynomial.
    #[must_use]
    pub fn into_prefix(mut self, basis: &Basis<W>) -> Self {
        debug_assert!(basis.is_prefix_of(&self.basis));
        self.data.truncate(basis.len() * basis.n());
        Self::from_rows(basis, self.data)
    }

    /// Keeps the rows of `basis`, which is a prefix of the present one.
    #[must_use]
    pub fn truncated_to(&self, basis: &Basis<W>) -> Self {
        debug_assert!(basis.is_prefix_of(&self.basis));
        Self::from_rows(basis, self.data[..basis.len() * self.basis.n()].to_vec())
    }
}

impl<W: Word> Poly<W, Coeff> {
    /// Number-theoretic transform of every row.
    pub fn into_eval(mut self) -> Poly<W, Eval> {
        let basis = self.basis.clone();
        self.for_each_row_with(Scratch::default, |scratch, i, row| basis.row(i).forward(row, scratch));
        Poly { basis: self.basis, data: self.data, domain: PhantomData }
    }
}

impl<W: Word> Poly<W, Eval> {
    /// Inverse transform of every row.
    pub fn into_coeff(mut self) -> Poly<W, Coeff> {
        let basis = self.basis.clone();
        self.for_each_row_with(Scratch::default, |scratch, i, row| basis.row(i).inverse(row, scratch));
        Poly { basis: self.basis, data: self.data, domain: PhantomData }
    }

    /// self *= other, pointwise: the product in the ring.
    pub fn mul_assign(&mut self, other: &Self) {
        debug_assert!(self.basis.same_as(&other.basis));
        let (basis, kernels) = (self.basis.clone(), self.basis.kernels());
        self.for_each_row_mut(|i, row| {
            kernels.mul_assign(basis.modulus(i), row, other.row(i));
        });
    }

    /// The product with `other`.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.mul_assign(other);
        out
    }

    /// X -> X^g.
    #[must_use]
    pub fn automorphism(&self, g: &Automorphism) -> Self {
        let mut out = Self::zero(&self.basis);
        let kernels = self.basis.kernels();
        out.for_each_row_mut(|i, row| {
            kernels.permute(row, self.row(i), g.permutation());
        });
        out
    }
}
