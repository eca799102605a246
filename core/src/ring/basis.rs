//! Bases: ordered lists of distinct NTT-friendly primes sharing one ring degree.

use alloc::{format, sync::Arc, vec::Vec};

use super::{
    axes::{Axes, Order},
    cyclotomic::Cyclotomic,
    scratch::Scratch,
    second_axis::SecondAxis,
};
use crate::{
    arith::{Kernels, Modulus, NttTable, Word},
    error::Error,
};

/// A cyclotomic ring modulo one prime p: modulus and transform tables.
pub struct SubRing<W: Word> {
    modulus: Modulus<W>,
    transform: Transform<W>,
}

/// How polynomials are transformed.
enum Transform<W: Word> {
    /// One or two axes: each row, and then across rows.
    Rows(NttTable<W>, Option<SecondAxis<W>>),
    /// The axes of a ring of odd index.
    Odd(Axes<W>),
}

impl<W: Word> SubRing<W> {
    /// The prime of this row.
    pub fn modulus(&self) -> &Modulus<W> {
        &self.modulus
    }

    /// Tables of the negacyclic transform; in a ring of two axes, of that of each row.
    ///
    /// # Panics
    /// In a ring of odd index.
    pub fn ntt(&self) -> &NttTable<W> {
        match &self.transform {
            Transform::Rows(ntt, _) => ntt,
            Transform::Odd(_) => panic!("a ring of odd index has no negacyclic transform"),
        }
    }

    /// Coefficients of a polynomial to its values, in place.
    pub fn forward(&self, row: &mut [W], scratch: &mut Scratch<W>) {
        let kernels = W::kernels();
        match &self.transform {
            Transform::Rows(ntt, across) => {
                for row in row.chunks_exact_mut(ntt.n()) {
                    kernels.ntt_forward(ntt, row);
                }
                if let Some(across) = across {
                    across.forward(kernels, &self.modulus, row, scratch);
                }
            }
            Transform::Odd(odd) => odd.forward(kernels, row, scratch),
        }
    }

    /// Values of a polynomial to its coefficients, in place.
    pub fn inverse(&self, row: &mut [W], scratch: &mut Scratch<W>) {
        let kernels = W::kernels();
        match &self.transform {
            Transform::Rows(ntt, across) => {
                if let Some(across) = across {
                    across.inverse(kernels, &self.modulus, row, scratch);
                }
                for row in row.chunks_exact_mut(ntt.n()) {
                    kernels.ntt_inverse(ntt, row);
                }
            }
            Transform::Odd(odd) => odd.inverse(kernels, row, scratch),
        }
    }
}

/// An ordered list of distinct primes p ≡ 1 modulo [`Cyclotomic::divisor_of_primes`] of the ring, with their tables; cheap to clone.
pub struct Basis<W: Word> {
    ring: Cyclotomic,
    rows: Arc<[Arc<SubRing<W>>]>,
}

impl<W: Word> Clone for Basis<W> {
    fn clone(&self) -> Self {
        Self { ring: self.ring, rows: self.rows.clone() }
    }
}

impl<W: Word> Basis<W> {
    /// Builds the tables for Z\[X\]/(X^n + 1), n a power of two, and the given primes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime repeats, is too wide for the word, is not prime or is
    /// not 1 modulo 2n.
    pub fn new(n: usize, primes: &[u64]) -> Result<Self, Error> {
        Self::over(Cyclotomic::power_of_two(n), primes)
    }

    /// Builds the tables of any ring for the given primes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime repeats, is too wide for the word, is not prime or is not 1 modulo
    /// [`Cyclotomic::divisor_of_primes`].
    pub fn over(ring: Cyclotomic, primes: &[u64]) -> Result<Self, Error> {
        let mut rows: Vec<Arc<SubRing<W>>> = Vec::with_capacity(primes.len());
        let odd = ring.odd_index().map(|index| (index, Order::new(index)));
        for (i, &p) in primes.iter().enumerate() {
            if primes[..i].contains(&p) {
                return Err(Error::InvalidArgument(format!(
                    "prime {p} appears twice in a basis; the primes of a modulus must be distinct"
                )));
            }
            let modulus = Modulus::new(p)?;
            let transform = match &odd {
                Some((index, order)) => Transform::Odd(Axes::new(*index, order, modulus)?),
                None => {
                    Transform::Rows(NttTable::new(modulus, ring.columns())?, SecondAxis::new(ring, &modulus)?)
                }
            };
            rows.push(Arc::new(SubRing { modulus, transform }));
        }
        Ok(Self { ring, rows: rows.into() })
    }

    /// Words per row: the ring degree N, see [`Cyclotomic::width`].
    pub fn n(&self) -> usize {
        self.ring.width()
    }

    /// Ring degree N.
    pub fn degree(&self) -> usize {
        self.ring.degree()
    }

    /// The ring.
    pub fn ring(&self) -> Cyclotomic {
        self.ring
    }

    /// Number of primes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True for the empty product (modulus 1).
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &SubRing<W> {
        &self.rows[i]
    }

    /// Modulus of row `i`.
    pub fn modulus(&self, i: usize) -> &Modulus<W> {
        &self.rows[i].modulus
    }

    /// The primes in order.
    pub fn primes(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().map(|r| r.modulus.value_u64())
    }

    /// log2 of the product of the primes.
    pub fn log2(&self) -> f64 {
        self.rows.iter().map(|r| r.modulus.log2()).sum()
    }

    /// The first `len` primes.
    #[must_use]
    pub fn prefix(&self, len: usize) -> Self {
        self.select(0..len)
    }

    /// The primes at the given positions, sharing their tables.
    #[must_use]
    pub fn select(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        let rows: Vec<_> = positions.into_iter().map(|i| self.rows[i].clone()).collect();
        Self { ring: self.ring, rows: rows.into() }
    }

    /// This basis followed by another of the same ring.
    #[must_use]
    pub fn concat(&self, other: &Self) -> Self {
        debug_assert_eq!(self.ring, other.ring);
        let rows: Vec<_> = self.rows.iter().chain(other.rows.iter()).cloned().collect();
        Self { ring: self.ring, rows: rows.into() }
    }

    /// Same ring and primes in the same order.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
            || (self.ring == other.ring && self.len() == other.len() && self.primes().eq(other.primes()))
    }

    /// Whether `other` begins with these primes, in the same order.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        self.ring == other.ring
            && self.len() <= other.len()
            && self.primes().eq(other.primes().take(self.len()))
    }

    /// The row kernels of this word on this machine.
    pub fn kernels(&self) -> &'static dyn Kernels<W> {
        W::kernels()
    }
}
