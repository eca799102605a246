//! Complex numbers in `f64`, and the special transform of CKKS slots over these or more precise ones.
//!
//! Only additions, subtractions and multiplications are used, never fused, and the sines come from
//! the `libm` crate: results are the same bits on every target, wasm included.

use super::Deferred;
use crate::error::Error;
use alloc::{format, vec::Vec};
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

/// Decrypted slots are wiped like words.
impl zeroize::DefaultIsZeroes for Complex {}

impl Complex {
    /// 0.
    pub const ZERO: Self = Self { re: 0.0, im: 0.0 };
    /// 1.
    pub const ONE: Self = Self { re: 1.0, im: 0.0 };
    /// The imaginary unit.
    pub const I: Self = Self { re: 0.0, im: 1.0 };

    /// `re + i im`.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// `exp(2 pi i numerator / denominator)` for a power-of-two denominator, to within about one unit in
    /// the last place: the angle is reduced exactly to an octant before any sine is taken.
    pub fn root_of_unity(numerator: u64, denominator: u64) -> Self {
        debug_assert!(denominator.is_power_of_two() && denominator < 1 << 50);
        // In units of a turn divided by 8 * denominator, where every octant border is whole.
        let turn = 8 * denominator;
        let angle = 8 * (numerator % denominator);
        let octant = angle / denominator;
        let rest = angle % denominator;
        // Odd octants are measured back from their end, so that angles stay within an eighth of a turn.
        let measured = if octant.is_multiple_of(2) { rest } else { denominator - rest };
        let radians = core::f64::consts::TAU * (measured as f64 / turn as f64);
        let (cos, sin) = if measured == denominator {
            (core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::FRAC_1_SQRT_2)
        } else {
            (libm::cos(radians), libm::sin(radians))
        };
        match octant {
            0 => Self::new(cos, sin),
            1 => Self::new(sin, cos),
            2 => Self::new(-sin, cos),
            3 => Self::new(-cos, sin),
            4 => Self::new(-cos, -sin),
            5 => Self::new(-sin, -cos),
            6 => Self::new(sin, -cos),
            _ => Self::new(cos, -sin),
        }
    }

    /// The complex conjugate.
    #[must_use]
    pub fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// The product with a real number.
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }

    /// The squared absolute value.
    pub fn norm_sqr(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// The absolute value.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Self {
        Self::new(re, 0.0)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Complex {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Complex numbers that a transform is computed in.
pub trait TransformNumber: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// `exp(2 pi i numerator / denominator)` for a power-of-two denominator, to within about one unit in the last place.
    fn root_of_unity(numerator: u64, denominator: u64) -> Self;

    /// The complex conjugate.
    #[must_use]
    fn conj(self) -> Self;

    /// The product with a power of two: exact.
    #[must_use]
    fn scale(self, power_of_two: f64) -> Self;
}

impl TransformNumber for Complex {
    fn root_of_unity(numerator: u64, denominator: u64) -> Self {
        Self::root_of_unity(numerator, denominator)
    }

    fn conj(self) -> Self {
        self.conj()
    }

    fn scale(self, power_of_two: f64) -> Self {
        self.scale(power_of_two)
    }
}

/// The transform between the coefficients of a real polynomial `m` of degree below `n` and its values
/// at `zeta^(5^j)`, `j < n/2`, where `zeta = exp(pi i / n)` (Cheon, Han, Kim, Kim, Song, "Bootstrapping for approximate
/// homomorphic encryption", section 5.3).
///
/// With `S = n/2` the polynomial is packed as `w_k = m_k + i m_(k + S)`; since `zeta^(5^j S) = i` for every `j`, slot
/// `j` is `sum_k w_k zeta^(5^j k)`. Both sides are in natural order.
#[derive(Clone, Debug)]
pub struct SpecialFft<C = Complex> {
    slots: usize,
    /// The stage with blocks of `2 h` values has its factor `j < h` at index `h - 1 + j`. The factors are made when they are first used.
    twiddles: Deferred<Vec<C>>,
}

impl<C: TransformNumber> SpecialFft<C> {
    /// The transform for ring degree `n`, a power of two of at least 2.
    pub fn new(n: usize) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(2..=1 << 20).contains(&n) {
            return Err(Error::InvalidArgument(format!(
                "ring degree {n} is not a power of two in [2, 2^20]; take one that is"
            )));
        }
        let slots = n / 2;
        Ok(Self { slots, twiddles: Deferred::new(|| twiddles(slots)) })
    }

    fn twiddles(&self) -> &[C] {
        self.twiddles.get(|| twiddles(self.slots))
    }

    /// Number of slots, `n/2`.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Packed coefficients to slots, in place. `values` has [`slots`](Self::slots) entries.
    pub fn forward(&self, values: &mut [C]) {
        debug_assert_eq!(values.len(), self.slots);
        let twiddles = self.twiddles();
        bit_reverse(values);
        let mut half = 1;
        while half < values.len() {
            let twiddles = &twiddles[half - 1..2 * half - 1];
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for ((x, y), &w) in low.iter_mut().zip(high).zip(twiddles) {
                    let product = *y * w;
                    *y = *x - product;
                    *x = *x + product;
                }
            }
            half *= 2;
        }
    }

    /// Slots to packed coefficients, in place. `values` has [`slots`](Self::slots) entries.
    pub fn inverse(&self, values: &mut [C]) {
        debug_assert_eq!(values.len(), self.slots);
        let twiddles = self.twiddles();
        let mut half = values.len() / 2;
        while half > 0 {
            let twiddles = &twiddles[half - 1..2 * half - 1];
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for ((x, y), &w) in low.iter_mut().zip(high).zip(twiddles) {
                    let difference = *x - *y;
                    *x = *x + *y;
                    *y = difference * w.conj();
                }
            }
            half /= 2;
        }
        bit_reverse(values);
        // A power of two: exact.
        let scale = 1.0 / values.len() as f64;
        for value in values {
            *value = value.scale(scale);
        }
    }
}

fn twiddles<C: TransformNumber>(slots: usize) -> Vec<C> {
    let mut twiddles = Vec::with_capacity(slots);
    let mut half = 1;
    while half < slots {
        let order = 8 * half as u64;
        let mut power = 1;
        for _ in 0..half {
            twiddles.push(C::root_of_unity(power, order));
            power = power * 5 % order;
        }
        half *= 2;
    }
    twiddles
}

fn bit_reverse<C>(values: &mut [C]) {
    if values.len() < 2 {
        return;
    }
    let shift = usize::BITS - values.len().trailing_zeros();
    for i in 0..values.len() {
        let j = i.reverse_bits() >> shift;
        if i < j {
            values.swap(i, j);
        }
    }
}
