//! Galois elements, such as that of a rotation, and automorphisms X -> X^g as permutations of evaluation points.

use alloc::{format, sync::Arc, vec};

use super::{cyclotomic::Cyclotomic, power::power};
use crate::error::Error;

/// An exponent g that is a unit modulo the index of the ring: odd, below 2N, in Z\[X\]/(X^N + 1). [`Cyclotomic`] makes those of
/// other rings.
///
/// Slot k of a polynomial is its value at zeta^(5^k); g = 5^t rotates the slots left by t and
/// g = -1 conjugates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GaloisElement(u64);

impl GaloisElement {
    /// Checks that `g` is odd and below 2n.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] otherwise.
    pub fn new(g: u64, n: usize) -> Result<Self, Error> {
        if g.is_multiple_of(2) || g >= 2 * n as u64 {
            return Err(Error::InvalidArgument(format!(
                "Galois element {g}, and they are odd and below 2N = {}; take one by GaloisElement::rotation or conjugation",
                2 * n
            )));
        }
        Ok(Self(g))
    }

    /// The element of a left rotation by `steps` slots (negative: right) in ring degree `n`, a power of two, 2 or more.
    ///
    /// # Panics
    /// For a degree below 2.
    pub fn rotation(steps: i64, n: usize) -> Self {
        let order = (n / 2) as i64;
        Self(power(5, steps.rem_euclid(order) as u64, 2 * n as u64))
    }

    /// The element of complex conjugation.
    pub fn conjugation(n: usize) -> Self {
        Self(2 * n as u64 - 1)
    }

    /// The product of two automorphisms of ring degree `n`.
    #[must_use]
    pub fn combine(self, other: Self, n: usize) -> Self {
        Self(self.0 * other.0 % (2 * n as u64))
    }

    /// A unit modulo the index of some ring.
    pub(crate) const fn of_exponent(g: u64) -> Self {
        Self(g)
    }

    /// The exponent g.
    pub fn value(self) -> u64 {
        self.0
    }

    /// g^-1 modulo 2n.
    #[must_use]
    pub fn inverse(self, n: usize) -> Self {
        // The group of units modulo 2n = 2^k has exponent dividing n/2 (n >= 4), so
        // g^(n/2 - 1) inverts g; for n = 2 the group is {1, 3} and g is its own inverse.
        let exponent = if n >= 4 { (n / 2 - 1) as u64 } else { 1 };
        Self(power(self.0, exponent, 2 * n as u64))
    }
}

/// The table of one automorphism in evaluation order; cheap to clone.
#[derive(Clone)]
pub struct Automorphism {
    element: GaloisElement,
    permutation: Arc<[u32]>,
}

impl Automorphism {
    /// Output point j takes the input point of exponent g (2 brev(j) + 1) mod 2n.
    pub fn new(n: usize, element: GaloisElement) -> Self {
        Self::over(Cyclotomic::power_of_two(n), element)
    }

    /// The table of an automorphism of any ring. In a ring of two axes, row `i - 1` of the output is the row of the values at
    /// omega^(g i), with its points taken as in [`Self::new`]. In a ring of odd index both the rows and the words within rows are
    /// shifted around.
    pub fn over(ring: Cyclotomic, element: GaloisElement) -> Self {
        if let Some(pair) = ring.odd_index() {
            let ([rows, columns], [down, along]) = (pair.orders(), pair.logarithms(element.0));
            let row = |i: usize| {
                let start = pair.shifted(i, down) * columns;
                (0..columns).map(move |j| start + (j + along) % columns)
            };
            let places = (0..rows).flat_map(row).chain(ring.degree()..ring.width());
            return Self { element, permutation: places.map(|place| place as u32).collect() };
        }
        let n = ring.columns();
        let mask = 2 * n as u64 - 1;
        // brev[x] by doubling: the upper half of each prefix has one more bit, at the other end.
        let mut brev = vec![0u32; n];
        for bit in 0..n.trailing_zeros() {
            let (low, high) = brev.split_at_mut(1 << bit);
            for (high, low) in high.iter_mut().zip(low) {
                *high = *low | (n as u32 >> (bit + 1));
            }
        }
        let mut permutation = vec![0u32; ring.degree()];
        for (i, out) in permutation.chunks_exact_mut(n).enumerate() {
            // For one axis there is one row, 0.
            let row = ((i as u64 + 1) * element.0 % ring.odd_part()).saturating_sub(1) as u32;
            let mut exponent = element.0;
            for &j in &brev {
                out[j as usize] = row * n as u32 + brev[(exponent & mask) as usize >> 1];
                exponent = exponent.wrapping_add(2 * element.0);
            }
        }
        Self { element, permutation: permutation.into() }
    }

    /// Left rotation of the slots by `steps`.
    pub fn rotation(n: usize, steps: i64) -> Self {
        Self::new(n, GaloisElement::rotation(steps, n))
    }

    /// Complex conjugation of the slots.
    pub fn conjugation(n: usize) -> Self {
        Self::new(n, GaloisElement::conjugation(n))
    }

    /// The exponent.
    pub fn element(&self) -> GaloisElement {
        self.element
    }

    /// `out[j] = x[permutation[j]]`.
    pub fn permutation(&self) -> &[u32] {
        &self.permutation
    }
}
