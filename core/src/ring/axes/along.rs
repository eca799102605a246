//! The transform along the axis whose coefficients are beside each other, by a convolution (Rader, 1968).

use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};

use crate::{
    arith::{Deferred, Kernels, Modulus, NttTable, Shoup, Word},
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
    /// Of the last axis.
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
    ntt: Box<NttTable<W>>,
    omega: W,
    tables: Deferred<Tables<W>>,
}

struct Tables<W> {
    /// What is multiplied by modulo X^h - 1 and modulo X^h + 1, over 2.
    forward: [Filter<W>; 2],
    /// The same for the inverse, over 2 p.
    inverse: [Filter<W>; 2],
    /// 1/p.
    over: Shoup<W>,
}

/// A polynomial of h words.
struct Filter<W> {
    /// Its values at the places of the transform.
    values: Vec<W>,
    /// The coefficients whose products with others are beyond the length K of the transform: the last 2 h - 1 - K.
    last: Vec<Shoup<W>>,
}

/// Words of the transforms of an index: a power of two.
pub(in crate::ring) fn convolution(index: OddIndex) -> usize {
    let (prime, _) = index.last_axis();
    length(prime as usize / 2)
}

/// Words of the transforms for polynomials of h words. A product has 2 h - 1 words: where few of them are beyond half of the power of
/// two that holds all, they are computed from their definition.
fn length(h: usize) -> usize {
    let whole = (2 * h - 1).next_power_of_two().max(2);
    let beyond = 2 * h - 1 - (whole / 2).min(2 * h - 1);
    if whole > 2 && beyond * beyond <= 2 * whole { whole / 2 } else { whole }
}

/// Few words are filled up to a multiple of so many: the most lanes that kernels have for words of 64 bits.
const FILLED: usize = 8;

impl<W: Word> Along<W> {
    /// # Errors
    /// [`Error::InvalidArgument`] unless the prime of the modulus is 1 modulo twice the length of the convolution.
    pub(super) fn new(order: &Arc<Order>, omega: W, modulus: Modulus<W>) -> Result<Self, Error> {
        let ntt = NttTable::new(modulus, length(order.prime as usize / 2))?;
        let tables = Deferred::new(|| Tables::new(order, omega, &ntt));
        Ok(Self { order: order.clone(), ntt: Box::new(ntt), omega, tables })
    }

    /// p - 1.
    pub(super) fn len(&self) -> usize {
        self.order.prime as usize - 1
    }

    /// Coefficients to values.
    pub(super) fn forward(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let (m, h) = (self.ntt.modulus(), self.len() / 2);
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
        let (m, h) = (self.ntt.modulus(), self.len() / 2);
        let (x, rest) = scratch.words(self.memory()).split_at_mut(2 * h);
        // The value at 1 may be anything, as relations are multiples of 1 + .. + X^(p-1): it is 0.
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

    /// Words of a product that are beyond the length of the transform, filled up to whole registers.
    fn beyond(&self) -> usize {
        (self.len() - 1).saturating_sub(self.ntt.n()).next_multiple_of(FILLED)
    }

    /// Words that a transform takes.
    fn memory(&self) -> usize {
        self.len() + 3 * self.beyond() + 2 * self.ntt.n()
    }

    /// x modulo X^h - 1 and modulo X^h + 1, times filters.
    fn multiply<'a>(
        &self,
        kernels: &dyn Kernels<W>,
        x: &[W],
        memory: &'a mut [W],
        filters: &[Filter<W>; 2],
    ) -> [&'a mut [W]; 2] {
        let (m, h) = (self.ntt.modulus(), self.len() / 2);
        let (beyond, memory) = memory.split_at_mut(3 * self.beyond());
        let (plus, minus) = memory.split_at_mut(self.ntt.n());
        let (low, high) = x.split_at(h);
        plus[..h].copy_from_slice(low);
        kernels.add_assign(m, &mut plus[..h], high);
        minus[..h].copy_from_slice(low);
        kernels.sub_assign(m, &mut minus[..h], high);
        let [of_plus, of_minus] = filters;
        for (x, filter, negative) in [(&mut *plus, of_plus, false), (&mut *minus, of_minus, true)] {
            self.convolve(kernels, x, beyond, filter, negative);
        }
        [&mut plus[..h], &mut minus[..h]]
    }

    /// x, in the first h words, becomes x times the filter modulo X^h - 1, or X^h + 1 if `negative`.
    fn convolve(
        &self,
        kernels: &dyn Kernels<W>,
        x: &mut [W],
        beyond: &mut [W],
        filter: &Filter<W>,
        negative: bool,
    ) {
        let (m, h, length) = (self.ntt.modulus(), self.len() / 2, self.ntt.n());
        // Terms that reach into the zeros after the last coefficients, so that all have one length.
        let (count, width) = (filter.last.len(), self.beyond());
        let (beyond, padded) = beyond.split_at_mut(width);
        padded[..count].copy_from_slice(&x[h - count..h]);
        padded[count..].fill(W::ZERO);
        beyond.fill(W::ZERO);
        for (start, beyond) in (0..).step_by(FILLED).zip(beyond.chunks_exact_mut(FILLED)) {
            // The others end before these words.
            let terms: Vec<&[W]> =
                (start + 1..=count).map(|last| &padded[count - last + start..][..FILLED]).collect();
            kernels.add_multiples(m, beyond, &terms, &filter.last[start..]);
        }
        let beyond = &beyond[..count];
        x[h..].fill(W::ZERO);
        kernels.ntt_forward(&self.ntt, x);
        kernels.mul_assign(m, x, &filter.values);
        kernels.ntt_inverse(&self.ntt, x);
        // Modulo X^K + 1: what is beyond was subtracted from the first words.
        kernels.add_assign(m, &mut x[..count], beyond);
        let (low, high) = x.split_at_mut(h);
        let within = (length - h).min(h - 1);
        for (to, from) in [(0, &high[..within]), (within, beyond)] {
            let to = &mut low[to..to + from.len()];
            if negative {
                kernels.sub_assign(m, to, from);
            } else {
                kernels.add_assign(m, to, from);
            }
        }
    }

    fn tables(&self) -> &Tables<W> {
        self.tables.get(|| Tables::new(&self.order, self.omega, &self.ntt))
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
    fn new(order: &Order, omega: W, ntt: &NttTable<W>) -> Self {
        let (m, h) = (ntt.modulus(), order.prime as usize / 2);
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
                Filter::new(words.collect(), ntt)
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

impl<W: Word> Filter<W> {
    fn new(mut words: Vec<W>, ntt: &NttTable<W>) -> Self {
        let (m, beyond) = (ntt.modulus(), (2 * words.len() - 1).saturating_sub(ntt.n()));
        let last = words[words.len() - beyond..].iter().map(|&x| m.shoup(x)).collect();
        words.resize(ntt.n(), W::ZERO);
        W::kernels().ntt_forward(ntt, &mut words);
        Self { values: words, last }
    }
}
