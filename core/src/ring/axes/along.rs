//! The transform along the axis whose coefficients are beside each other, by a convolution (Rader, 1968).

use alloc::{sync::Arc, vec, vec::Vec};

use super::convolution::{Convolution, Filter, length_for_primes};
use crate::{
    arith::{Deferred, Kernels, Modulus, Shoup, Word},
    error::Error,
    ring::{odd_index::OddIndex, scratch::Scratch},
};

/// How coefficients and values of an axis of prime order p are ordered by powers of gamma, a primitive root modulo p: the same
/// for all moduli.
pub(in crate::ring) struct Order {
    prime: u64,
    /// `gamma^-r` for 0 <= r < p - 1; p - 1 is not in the basis, and is replaced by 0.
    exponents: Vec<u32>,
    /// The r with `gamma^-r` = j for 1 <= j < p - 1; anything for 0.
    places: Vec<u32>,
}

impl Order {
    /// The order of the last axis.
    pub(in crate::ring) fn new(index: OddIndex) -> Arc<Self> {
        let (prime, generator) = index.last_axis();
        let len = prime as usize - 1;
        let powers: Vec<u64> =
            core::iter::successors(Some(1), |k| Some(k * generator % prime)).take(len).collect();
        let mut exponents: Vec<u32> = (0..len).map(|r| powers[(len - r) % len] as u32).collect();
        let mut places = vec![0; prime as usize];
        exponents.iter().zip(0..).for_each(|(&j, r)| places[j as usize] = r);
        places.truncate(len);
        exponents[len / 2] = 0;
        Arc::new(Self { prime, exponents, places })
    }
}

/// From coefficients of 1, .., X^(p-2) to values at the powers of omega by `gamma^b` for 0 <= b < p - 1, and back: omega is a root of
/// unity of prime order p.
///
/// With `x_r` the coefficient of X^(`gamma^-r`) and `w_t` = omega^(`gamma^t`) the value is `c_0` + sum_r `x_r` `w_(b-r)`: a product modulo
/// X^(p-1) - 1, which is one modulo X^h - 1 and one modulo X^h + 1, h = (p - 1)/2.
pub(super) struct Along<W> {
    order: Arc<Order>,
    convolution: Convolution<W>,
    omega: W,
    tables: Deferred<Tables<W>>,
}

struct Tables<W> {
    /// The factors modulo X^h - 1 and modulo X^h + 1, divided by 2.
    forward: [Filter<W>; 2],
    /// The factors of the inverse, divided by 2 p.
    inverse: [Filter<W>; 2],
    /// 1/p.
    over: Shoup<W>,
}

/// The power of two whose double divides p - 1 for the primes p of a chain.
pub(in crate::ring) fn convolution(index: OddIndex) -> usize {
    let (prime, _) = index.last_axis();
    length_for_primes(prime as usize / 2)
}

impl<W: Word> Along<W> {
    /// # Errors
    /// As [`Convolution::new`].
    pub(super) fn new(order: &Arc<Order>, omega: W, modulus: Modulus<W>) -> Result<Self, Error> {
        let convolution = Convolution::new(order.prime as usize / 2, modulus)?;
        let tables = Deferred::new(|| Tables::new(order, omega, &convolution));
        Ok(Self { order: order.clone(), convolution, omega, tables })
    }

    /// p - 1.
    pub(super) fn len(&self) -> usize {
        self.order.prime as usize - 1
    }

    /// Coefficients to values.
    pub(super) fn forward(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let (m, h) = (self.convolution.modulus(), self.len() / 2);
        let (x, rest) = scratch.words(self.memory()).split_at_mut(2 * h);
        kernels.permute(x, row, &self.order.exponents);
        x[h] = W::ZERO;
        let [plus, minus] = self.multiply(kernels, x, rest, &self.tables().forward);
        x[..h].fill(row[0]);
        kernels.add_assign(m, plus, &x[..h]);
        join(kernels, m, row, plus, minus);
    }

    /// Values to coefficients.
    pub(super) fn inverse(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let (m, h) = (self.convolution.modulus(), self.len() / 2);
        let (x, rest) = scratch.words(self.memory()).split_at_mut(2 * h);
        // The value at 1 is free, as relations are multiples of 1 + .. + X^(p-1): it is taken to be 0.
        let sum: u128 = row.iter().map(|x| u128::from(x.to_u64())).sum();
        let constant = m.mul_shoup(m.reduce_u128(sum), &self.tables().over);
        let [plus, minus] = self.multiply(kernels, row, rest, &self.tables().inverse);
        join(kernels, m, x, plus, minus);
        kernels.permute(row, x, &self.order.places);
        row[0] = constant;
        // X^(p-1) is minus the sum of the basis.
        let last = x[h];
        x.fill(last);
        kernels.sub_assign(m, row, x);
    }

    /// Words of memory that a transform needs.
    fn memory(&self) -> usize {
        self.len() + self.convolution.memory() + 2 * self.convolution.width()
    }

    /// x modulo X^h - 1 and modulo X^h + 1, times the filters.
    fn multiply<'a>(
        &self,
        kernels: &dyn Kernels<W>,
        x: &[W],
        memory: &'a mut [W],
        filters: &[Filter<W>; 2],
    ) -> [&'a mut [W]; 2] {
        let (m, h) = (self.convolution.modulus(), self.len() / 2);
        let (rest, memory) = memory.split_at_mut(self.convolution.memory());
        let (plus, minus) = memory.split_at_mut(self.convolution.width());
        let (low, high) = x.split_at(h);
        plus[..h].copy_from_slice(low);
        kernels.add_assign(m, &mut plus[..h], high);
        minus[..h].copy_from_slice(low);
        kernels.sub_assign(m, &mut minus[..h], high);
        let [of_plus, of_minus] = filters;
        for (x, filter, negative) in [(&mut *plus, of_plus, false), (&mut *minus, of_minus, true)] {
            self.convolution.multiply(kernels, x, rest, filter, negative);
        }
        [&mut plus[..h], &mut minus[..h]]
    }

    fn tables(&self) -> &Tables<W> {
        self.tables.get(|| Tables::new(&self.order, self.omega, &self.convolution))
    }
}

/// plus + minus, then plus - minus.
fn join<W: Word>(kernels: &dyn Kernels<W>, m: &Modulus<W>, out: &mut [W], plus: &[W], minus: &[W]) {
    let (low, high) = out.split_at_mut(plus.len());
    low.copy_from_slice(plus);
    kernels.add_assign(m, low, minus);
    high.copy_from_slice(plus);
    kernels.sub_assign(m, high, minus);
}

impl<W: Word> Tables<W> {
    fn new(order: &Order, omega: W, convolution: &Convolution<W>) -> Self {
        let (m, h) = (convolution.modulus(), order.prime as usize / 2);
        let powers: Vec<W> = core::iter::successors(Some(W::ONE), |&x| Some(m.mul(x, omega)))
            .take(order.prime as usize)
            .collect();
        // omega^(gamma^-r); the exponent p - 1 = gamma^h is not in the order.
        let inverses: Vec<W> = (order.exponents.iter().enumerate())
            .map(|(r, &e)| powers[if r == h { 2 * h } else { e as usize }])
            .collect();
        // Neither 2 nor p is a multiple of the prime of the modulus, which is 1 modulo both.
        let over = |x: usize| m.inv(m.reduce_u64(x as u64)).unwrap_or(W::ONE);
        let of = |scale: usize, words: Vec<W>| {
            let (scale, (low, high)) = (over(scale), words.split_at(h));
            [false, true].map(|negative| {
                let pairs = low.iter().zip(high);
                let words =
                    pairs.map(|(&x, &y)| m.mul(scale, if negative { m.sub(x, y) } else { m.add(x, y) }));
                convolution.filter(words.collect())
            })
        };
        // For the inverse omega^(-gamma^-t), and -1 = gamma^h.
        let forward = (0..2 * h).map(|t| inverses[(2 * h - t) % (2 * h)]).collect();
        let inverse = (0..2 * h).map(|t| inverses[(t + h) % (2 * h)]).collect();
        Self {
            forward: of(2, forward),
            inverse: of(2 * order.prime as usize, inverse),
            over: m.shoup(over(order.prime as usize)),
        }
    }
}
