//! The cyclotomic ring that polynomials belong to, and its automorphisms.

use alloc::format;

use super::{automorphism::GaloisElement, axes::convolution, odd_index::OddIndex};
use crate::error::Error;

/// Rows of rings of odd index are padded with zeros to a multiple of this: keys are kept in tiles of 64 words, or of 32.
const TILE: usize = 64;

/// The ring Z\[X\]/Phi_m of an index m = 2 n' m', n' a power of two and m' 1 or a Fermat prime.
///
/// For m' = 1 it is Z\[X\]/(X^N + 1), N = n'. Otherwise it has two axes: it is the tensor product of Z\[Y\]/(Y^n' + 1) and Z\[Z\]/Phi_m',
/// with Y = X^m' and Z = X^2n' up to the choice of roots, and has degree N = n' (m' - 1), a power of two as well. Its basis is Y^i Z^k for
/// 0 <= i < n' and 1 <= k < m', in rows of equal k; 1 is minus the sum of all Z^k. The roots of unity Z^k are permuted by all
/// automorphisms, and a product of two of them is another or 1.
///
/// Or the ring of an odd index, see [`OddIndex`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cyclotomic {
    columns: usize,
    odd: u64,
    pair: Option<OddIndex>,
}

impl Cyclotomic {
    /// The values that m' can have.
    pub const ODD_PARTS: [u64; 4] = [1, 3, 5, 17];

    /// The ring of degree `n`, a power of two, whose index has the odd part `odd`; or that of the index `odd`, a product of two or three
    /// different odd primes, whose degree `n` is the product of the primes, each less 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another odd part than [`Self::ODD_PARTS`], and for a degree that is not a power of two, or less
    /// than twice as large as that of the second axis; for an odd index of other factors or another degree.
    pub fn new(n: usize, odd: u64) -> Result<Self, Error> {
        if !Self::ODD_PARTS.contains(&odd) {
            return Self::of_odd_index(odd).filter(|ring| ring.degree() == n).ok_or_else(|| {
                let odd_index = if OddIndex::BUILT {
                    "an index below 2^17 that is the product of two or three odd primes and the degree (p - 1)(q - 1) or (p - 1)(q - 1)(r - 1)"
                } else {
                    "build refloat with the feature odd-index for those"
                };
                Error::InvalidArgument(format!(
                    "a ring of degree {n} and of index 2^a times {odd}; take an odd part of 1, 3, 5 or 17 and a power of two, or {odd_index}"
                ))
            });
        }
        let rows = Self { columns: 1, odd, pair: None }.rows();
        if !n.is_power_of_two() || n / rows < 2 || n > 1 << 20 {
            return Err(Error::InvalidArgument(format!(
                "ring degree {n} with an index of odd part {odd}; take a power of two from {} to 2^20",
                2 * rows
            )));
        }
        Ok(Self { columns: n / rows, odd, pair: None })
    }

    /// The ring of an index that is the product of two or three different odd primes. `None` for other indices, for those from 2^17 on, and
    /// where the crate is built without the feature `odd-index`.
    pub fn of_odd_index(index: u64) -> Option<Self> {
        let pair = Some(index).filter(|index| index >> 17 == 0).and_then(OddIndex::new)?;
        let [_, columns] = pair.orders();
        Some(Self { columns, odd: index, pair: Some(pair) })
    }

    /// Z\[X\]/(X^n + 1), unchecked.
    pub(super) const fn power_of_two(n: usize) -> Self {
        Self { columns: n, odd: 1, pair: None }
    }

    /// Degree N.
    pub fn degree(self) -> usize {
        self.columns * self.rows()
    }

    /// Words of a polynomial modulo a prime: N, and in a ring of odd index zeros after them.
    pub fn width(self) -> usize {
        if self.pair.is_some() { self.degree().next_multiple_of(TILE) } else { self.degree() }
    }

    /// The index m.
    pub fn index(self) -> u64 {
        if self.pair.is_some() { self.odd } else { 2 * self.columns as u64 * self.odd }
    }

    /// The number that primes of moduli must be 1 modulo: the index, or for an odd one the index times the power of two that the
    /// convolutions of its transforms take.
    pub fn divisor_of_primes(self) -> u64 {
        self.pair.map_or(self.index(), |pair| self.odd * 2 * convolution(pair) as u64)
    }

    /// m', or an odd index.
    pub fn odd_part(self) -> u64 {
        self.odd
    }

    /// The axes of a ring of odd index.
    pub fn odd_index(self) -> Option<OddIndex> {
        self.pair
    }

    /// Rows of a polynomial: m' - 1, or 1; the first of [`OddIndex::orders`] for an odd index.
    pub fn rows(self) -> usize {
        match self.pair {
            Some(pair) => pair.orders()[0],
            None => (self.odd as usize - 1).max(1),
        }
    }

    /// n': words of a row, which is a polynomial modulo Y^n' + 1; `m_2` - 1 for an odd index.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// The automorphism X -> X^g.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless g is below m and has no divisor in common with it.
    pub fn element(self, g: u64) -> Result<GaloisElement, Error> {
        let shared = match self.pair {
            Some(pair) => pair.primes().into_iter().any(|p| g.is_multiple_of(p)),
            None => g.is_multiple_of(2) || (self.odd > 1 && g.is_multiple_of(self.odd)),
        };
        if shared || g >= self.index() {
            return Err(Error::InvalidArgument(format!(
                "Galois element {g} is not below the index {}, or has a divisor in common with it; take one below it that has none",
                self.index()
            )));
        }
        Ok(GaloisElement::of_exponent(g))
    }

    /// Y -> Y^(5^steps), Z -> Z. For an odd index, whose slots a scheme arranges, `X_1` -> `X_1` and `X_2` -> `X_2`^g, g the power
    /// `steps` of the smallest primitive root modulo `m_2`.
    pub fn rotation(self, steps: i64) -> GaloisElement {
        if let Some(pair) = self.pair {
            return GaloisElement::of_exponent(pair.unit([0, steps]));
        }
        self.of_axes(GaloisElement::rotation(steps, self.columns).value(), 1)
    }

    /// Y -> 1/Y, Z -> Z: complex conjugation for m' = 1. X -> 1/X for an odd index.
    pub fn inversion(self) -> GaloisElement {
        if self.pair.is_some() {
            return GaloisElement::of_exponent(self.odd - 1);
        }
        self.of_axes(GaloisElement::conjugation(self.columns).value(), 1)
    }

    /// Y -> Y, Z -> Z^k, for k that m' does not divide.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a multiple of m', and in a ring of odd index.
    pub fn of_second_axis(self, k: u64) -> Result<GaloisElement, Error> {
        if self.pair.is_some() {
            return Err(Error::InvalidArgument(format!(
                "a ring of index {} has no axis of a power of two; take its automorphisms by their exponents",
                self.odd
            )));
        }
        if self.odd > 1 && k.is_multiple_of(self.odd) {
            return Err(Error::InvalidArgument(format!(
                "Z -> Z^{k} is not an automorphism where Z has order {}; take another exponent",
                self.odd
            )));
        }
        Ok(self.of_axes(1, k))
    }

    /// The product of two automorphisms.
    pub fn combine(self, a: GaloisElement, b: GaloisElement) -> GaloisElement {
        GaloisElement::of_exponent(a.value() * b.value() % self.index())
    }

    /// A power of an automorphism.
    pub fn power(self, g: GaloisElement, exponent: i64) -> GaloisElement {
        let base = if exponent < 0 { self.inverse(g) } else { g };
        let (mut out, mut square, mut rest) = (GaloisElement::of_exponent(1), base, exponent.unsigned_abs());
        while rest > 0 {
            if rest & 1 == 1 {
                out = self.combine(out, square);
            }
            square = self.combine(square, square);
            rest >>= 1;
        }
        out
    }

    /// The inverse of an automorphism.
    pub fn inverse(self, g: GaloisElement) -> GaloisElement {
        // The orders of all automorphisms divide N.
        let (mut out, mut base, mut exponent) = (1, g.value(), self.degree() as u64 - 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                out = out * base % self.index();
            }
            base = base * base % self.index();
            exponent >>= 1;
        }
        GaloisElement::of_exponent(out)
    }

    /// The exponent that is `y` modulo 2n' and `z` modulo m'.
    fn of_axes(self, y: u64, z: u64) -> GaloisElement {
        let step = 2 * self.columns as u64;
        let found = (0..self.odd).map(|i| y + i * step).find(|g| g % self.odd == z % self.odd);
        GaloisElement::of_exponent(found.unwrap_or(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    #[test]
    fn automorphisms_are_the_units_modulo_the_index() {
        for (n, odd) in [
            (8, 1),
            (4, 3),
            (16, 3),
            (32, 5),
            (8, 5),
            (64, 17),
            (8, 15),
            (84, 129),
            (252, 301),
            (48, 105),
            (128, 255),
        ] {
            if !OddIndex::BUILT && !Cyclotomic::ODD_PARTS.contains(&odd) {
                assert!(Cyclotomic::new(n, odd).is_err());
                continue;
            }
            let ring = Cyclotomic::new(n, odd).expect("a ring");
            let units: alloc::vec::Vec<u64> =
                (0..ring.index()).filter(|&g| gcd(g, ring.index()) == 1).collect();
            assert_eq!(units.len(), ring.degree(), "Euler's function of {}", ring.index());
            for g in 0..2 * ring.index() {
                assert_eq!(ring.element(g).is_ok(), units.contains(&g), "{g} modulo {}", ring.index());
            }
            for &g in &units {
                let g = ring.element(g).expect("a unit");
                assert_eq!(ring.combine(g, ring.inverse(g)).value(), 1);
            }
        }
    }

    #[test]
    fn each_axis_has_its_own() {
        let ring = Cyclotomic::new(32, 5).expect("a ring");
        assert_eq!((ring.index(), ring.rows(), ring.columns()), (80, 4, 8));
        for steps in -3..5 {
            let g = ring.rotation(steps).value();
            assert_eq!((g % 16, g % 5), (GaloisElement::rotation(steps, 8).value(), 1));
        }
        assert_eq!((ring.inversion().value() % 16, ring.inversion().value() % 5), (15, 1));
        for k in 1..12u64 {
            let g = ring.of_second_axis(k);
            assert_eq!(g.ok().map(|g| (g.value() % 16, g.value() % 5)), (k % 5 > 0).then_some((1, k % 5)));
        }
        let plain = Cyclotomic::new(32, 1).expect("a ring");
        assert_eq!(plain.rotation(7), GaloisElement::rotation(7, 32));
        assert_eq!(plain.inversion(), GaloisElement::conjugation(32));
    }

    #[test]
    fn other_rings_are_refused() {
        for (n, odd) in [
            (0, 1),
            (1, 1),
            (12, 1),
            (1 << 21, 1),
            (4, 5),
            (16, 17),
            (32, 0),
            (32, 7),
            (32, 9),
            (32, 257),
            (32, 15),
            (18, 27),
            (48, 135),
            (480, 1155),
        ] {
            assert!(Cyclotomic::new(n, odd).is_err(), "{n}, {odd}");
        }
    }
}
