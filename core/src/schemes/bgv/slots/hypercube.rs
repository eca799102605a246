//! Slots of a ring of odd index: a rectangle of elements of a Galois ring.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::galois_ring::{GaloisRing, multiplicative_order};
use crate::{
    arith::PrimePower,
    error::Error,
    ring::{Cyclotomic, FirstAxis, GaloisElement, OddIndex},
};

/// How the slots of a ring of index m = `m_1` `m_2` are arranged for a prime p whose order d modulo m is also its order modulo `m_2`.
///
/// There are `L_1` `L_2` slots for `L_1` = `m_1` - 1 and `L_2` = (`m_2` - 1)/d, and slot (`a_1`, `a_2`) of f is f(zeta^k) for k =
/// `g_1`^`a_1` `g_2`^`a_2`. Here `g_1` is 1 modulo `m_2` and a primitive root modulo `m_1`; `g_2` is 1 modulo `m_1`, and modulo `m_2` it
/// generates the units up to powers of p. Where `m_1` = q r, the first dimension is itself a rectangle, of `L_1` = (q - 1)(r - 1) slots in
/// rows of r - 1: `a_1` is a pair, and so is a rotation, with a generator for each.
///
/// X -> X^`g_1` rotates the first dimension to the left. X -> X^`g_2` does so with the second one if it is *good*, that is, if `g_2` has
/// order `L_2`. Otherwise slots that are rotated out come back with an automorphism applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hypercube {
    index: OddIndex,
    prime: u64,
    slot_degree: usize,
    /// `g_2` is this power of the smallest primitive root.
    step: i64,
}

impl Hypercube {
    /// The arrangement in a ring of odd index.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another ring, and for a prime whose order modulo `m_2` is 1 or is not its order modulo m.
    pub fn new(ring: Cyclotomic, prime: u64) -> Result<Self, Error> {
        let Some(index) = ring.odd_index() else {
            return Err(Error::InvalidArgument(format!(
                "slots of a ring of index {} are not a hypercube; take one whose index is the product of two or three odd primes",
                ring.index()
            )));
        };
        let [_, second] = index.parts();
        let Some(slot_degree @ 2..) = multiplicative_order(prime, second) else {
            return Err(Self::unfit(index, prime));
        };
        let divides =
            |q: u64| multiplicative_order(prime, q).is_some_and(|order| slot_degree.is_multiple_of(order));
        if !index.primes().into_iter().all(divides) {
            return Err(Self::unfit(index, prime));
        }
        let columns = (second as usize - 1) / slot_degree;
        let good = gcd(columns, slot_degree) == 1;
        Ok(Self { index, prime, slot_degree, step: if good { slot_degree as i64 } else { 1 } })
    }

    fn unfit(index: OddIndex, prime: u64) -> Error {
        let [first, second] = index.parts();
        Error::InvalidArgument(format!(
            "plaintexts modulo powers of {prime} in a ring of index {first} times {second}; take a prime that divides neither, of an order \
             above 1 modulo {second} that its order modulo {first} divides"
        ))
    }

    /// `L_1` and `L_2`.
    pub fn dimensions(self) -> [usize; 2] {
        let [first, second] = self.index.orders();
        [first, second / self.slot_degree]
    }

    /// d: coordinates of a slot.
    pub fn slot_degree(self) -> usize {
        self.slot_degree
    }

    /// The index of the ring.
    pub fn index(self) -> OddIndex {
        self.index
    }

    /// p.
    pub fn prime(self) -> u64 {
        self.prime
    }

    /// Whether a dimension, 0 or 1, is good.
    pub fn is_good(self, dimension: usize) -> bool {
        dimension == 0 || self.step != 1
    }

    /// The automorphism that rotates a dimension, 0 or 1, by k places to the left: X -> X^(g^k) for its generator g. In a ring of three primes
    /// the first is a rectangle, see [`Self::places`].
    pub fn rotation(self, dimension: usize, k: i64) -> GaloisElement {
        let logarithms = if dimension == 0 { [k, 0] } else { [0, self.step * k] };
        GaloisElement::of_exponent(self.index.unit(logarithms))
    }

    /// The places by which `steps` rotates a dimension, 0 or 1: `steps` modulo its length. In a ring of three primes the first dimension is
    /// a rectangle of h rows and w columns, one side for each prime, and i w + j rotates rows by i and columns by j; -`steps` is the
    /// inverse of `steps`.
    pub fn places(self, dimension: usize, steps: i64) -> i64 {
        let [height, width] = match dimension {
            0 => self.index.grid(),
            _ => [1, self.dimensions()[1]],
        }
        .map(|length| length as i64);
        let [row, column] =
            [steps.unsigned_abs() as i64 % (height * width) / width, steps.unsigned_abs() as i64 % width]
                .map(|k| k * steps.signum());
        row.rem_euclid(height) * width + column.rem_euclid(width)
    }

    /// Rotations of a dimension, 0 or 1, by powers of two, from which all others are composed.
    pub fn powers_of_two(self, dimension: usize) -> Vec<i64> {
        let [height, width] = match dimension {
            0 => self.index.grid(),
            _ => [1, self.dimensions()[1]],
        };
        let powers = |length: usize, of: usize| (0..length.ilog2()).map(move |log| (of << log) as i64);
        powers(width, 1).chain(powers(height, width)).collect()
    }

    /// X -> X^(p^i), the power i of the Frobenius automorphism in every slot.
    pub fn frobenius(self, i: usize) -> GaloisElement {
        let p = self.prime % self.index.index();
        let exponent = (0..i % self.slot_degree).fold(1, |e, _| e * p % self.index.index());
        GaloisElement::of_exponent(exponent)
    }

    /// The exponents modulo `m_1` and `m_2` of the roots of slots, by `a_1` and by `a_2`.
    pub fn exponents(self) -> [Vec<u64>; 2] {
        let [rows, columns] = self.dimensions();
        let [first, second] = self.index.parts();
        [
            (0..rows).map(|a| self.rotation(0, a as i64).value() % first).collect(),
            (0..columns).map(|a| self.rotation(1, a as i64).value() % second).collect(),
        ]
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The transform between coefficients in the powerful basis and slots modulo P = p^k: one axis after the other, by matrices of roots
/// of unity.
///
/// No operation branches on a residue of a plaintext.
pub(in crate::schemes::bgv) struct HypercubeSlots {
    cube: Hypercube,
    galois: GaloisRing,
    axis: FirstAxis,
    /// Powers of a root of unity of order `m_1`, by exponent.
    first: Vec<Vec<u64>>,
    /// Traces of the powers of zeta, by exponent modulo `m_2`.
    traces: Vec<u64>,
    /// 1/m.
    scale: u64,
}

impl HypercubeSlots {
    /// Tables for a ring of odd index.
    ///
    /// # Errors
    /// As [`Hypercube::new`].
    pub fn new(ring: PrimePower, polynomials: Cyclotomic) -> Result<Self, Error> {
        let cube = Hypercube::new(polynomials, ring.prime())?;
        let [first, second] = cube.index.parts();
        let galois = GaloisRing::new(ring, second)?;
        let root = galois.root_of_unity(first)?;
        let powers = core::iter::successors(Some(galois.integer(1)), |x| Some(galois.mul(x, &root)));
        let first = powers.take(first as usize).collect();
        let scale = ring
            .inverse(ring.reduce(cube.index.index()))
            .ok_or_else(|| Hypercube::unfit(cube.index, ring.prime()))?;
        Ok(Self { cube, axis: cube.index.first_axis(), traces: galois.traces(), galois, first, scale })
    }

    /// The arrangement.
    pub fn cube(&self) -> Hypercube {
        self.cube
    }

    /// The ring of a slot.
    pub fn galois(&self) -> &GaloisRing {
        &self.galois
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.cube.dimensions().into_iter().product()
    }

    /// The slots of a polynomial, d coordinates each, `a_2` running first. The coefficients are wiped.
    pub fn slots_of(&self, coefficients: Vec<u64>) -> Vec<u64> {
        let coefficients = Zeroizing::new(coefficients);
        let ([_, width], [by_row, by_column]) = (self.cube.index.orders(), self.cube.exponents());
        let (d, ring) = (self.cube.slot_degree, self.galois.ring());
        let m = ring.modulus();
        // By `a_2` and i: the coefficients of `X_1`^i at the root of `a_2`.
        let mut out = vec![0; self.len() * d];
        for (a, &k) in by_column.iter().enumerate() {
            // Allocated at full length: a vector that grows leaves copies of parts of the message behind.
            let mut values = Zeroizing::new(vec![0; by_row.len() * d]);
            for (sum, row) in values.chunks_exact_mut(d).zip(coefficients.chunks_exact(width)) {
                for (j, &c) in (0..).zip(row) {
                    let power = self.galois.power_of_zeta(j * k);
                    sum.iter_mut().zip(power).for_each(|(sum, &x)| *sum = m.add(*sum, m.mul(c, x)));
                }
            }
            for (b, &l) in by_row.iter().enumerate() {
                let powers = self.axis.rows.iter().map(|e| self.power_of_first(e * l));
                let slot = self.galois.sum_of_products(values.chunks_exact(d).zip(powers));
                out[(b * by_column.len() + a) * d..][..d].copy_from_slice(&slot[..d]);
            }
        }
        out
    }

    /// The coefficients of the polynomial with these slots, given as [`Self::slots_of`] gives them.
    ///
    /// Coefficient (i, j) is 1/m times the sum over all units (k, l) of (`zeta_1`^(-ik) - `zeta_1`^k)(`zeta_2`^(-jl) - `zeta_2`^l) times the
    /// value there, and the sum over units that are powers of p apart is a trace.
    pub fn coefficients_of(&self, slots: &[u64]) -> Vec<u64> {
        let ([height, width], [by_row, by_column]) = (self.cube.index.orders(), self.cube.exponents());
        let [_, second] = self.cube.index.parts();
        let (d, galois) = (self.cube.slot_degree, &self.galois);
        let ring = galois.ring();
        let m = ring.modulus();
        let trace = |e: u64| self.traces[(e % second) as usize];
        let mut out = vec![0; height * width];
        for i in 0..height {
            let dual: Vec<Vec<u64>> =
                by_row.iter().map(|&k| galois.dual_of_row(&self.first, &self.axis, i, k)).collect();
            let row = &mut out[i * width..][..width];
            for (a, &l) in by_column.iter().enumerate() {
                let column = slots.chunks_exact(d).skip(a).step_by(by_column.len());
                let sum = galois.sum_of_products(column.zip(dual.iter().map(Vec::as_slice)));
                for (j, out) in (0..).zip(&mut *row) {
                    for (c, &x) in (0..).zip(sum.iter()) {
                        let of_power = ring.sub(trace(c + (second - j) * l), trace(c + l));
                        *out = m.add(*out, m.mul(x, of_power));
                    }
                }
            }
        }
        let scale = ring.shoup(self.scale);
        for x in &mut out {
            *x = m.mul_shoup(*x, &scale);
        }
        out
    }

    /// The coefficients of a polynomial whose slots vary along `dimension` only. For dimension 1 it is a polynomial in `X_2`, and only its
    /// coefficients in `X_2` are returned, as the others are 0.
    ///
    /// As in [`Self::coefficients_of`], but the sum over the other dimension comes first: its terms are roots of unity, known beforehand.
    pub fn coefficients_along(&self, dimension: usize, slots: &[u64]) -> Vec<u64> {
        let ([height, width], [by_row, by_column]) = (self.cube.index.orders(), self.cube.exponents());
        let [first, second] = self.cube.index.parts();
        let (d, galois, ring) = (self.cube.slot_degree, &self.galois, self.galois.ring());
        let m = ring.modulus();
        // The traces of zeta^e, .., zeta^(e + d - 1).
        let traces: Vec<u64> = self.traces.iter().chain(&self.traces[..d]).copied().collect();
        let traces = |e: u64| &traces[(e % second) as usize..][..d];
        // The scalar product of coordinates with numbers.
        let product = |x: &[u64], y: &[u64]| x.iter().zip(y).fold(0, |sum, (&x, &y)| m.add(sum, m.mul(x, y)));
        if dimension == 1 {
            // The sum over the first dimension is m_1 for i = 0, and 0 for others.
            let scale = ring.mul(self.scale, ring.reduce(first));
            let sum = |j: u64| {
                let terms = slots.chunks_exact(d).zip(&by_column);
                terms.fold(0, |sum, (slot, l)| ring.add(sum, product(slot, traces(j * l))))
            };
            let less = sum(1);
            return (0..width as u64).map(|j| ring.mul(scale, ring.sub(sum(second - j), less))).collect();
        }
        let all = |j: u64| by_column.iter().fold(vec![0; d], |sum, l| galois.add(&sum, traces(j * l)));
        let less = all(1);
        let sums: Vec<Vec<u64>> = (0..width as u64).map(|j| galois.sub(&all(second - j), &less)).collect();
        let row = |i: usize| {
            let duals =
                by_row.iter().map(|&k| galois.dual_of_row(&self.first, &self.axis, i, k)).collect::<Vec<_>>();
            let sum = galois.sum_of_products(slots.chunks_exact(d).zip(duals.iter().map(Vec::as_slice)));
            sums.iter().map(|own| ring.mul(self.scale, product(&sum, own))).collect::<Vec<_>>()
        };
        (0..height).flat_map(row).collect()
    }

    fn power_of_first(&self, e: u64) -> &[u64] {
        &self.first[(e % self.first.len() as u64) as usize]
    }
}
