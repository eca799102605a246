//! Products of polynomials by fixed ones modulo X^h - 1 or X^h + 1, for any h.
//!
//! A product P of two polynomials of h words has 2 h - 1 words, and transforms have lengths that are powers of two. A transform of K words
//! gives P modulo X^K + 1. Where K is much less than 2 h - 1, a second one of L < K words gives P modulo X^L + 1 as well, and with both P
//! is known modulo their product: P = A + (X^K + 1) Q with Q = (B - A)/2 modulo X^L + 1, where X^K is 1. The few words beyond these K + L
//! are computed from their definition. For h = 644 that is 1024 + 256 + 7 words in place of 2048.

use alloc::{boxed::Box, format, vec::Vec};

use crate::{
    arith::{Kernels, Modulus, NttTable, Shoup, Word},
    error::Error,
};

/// The words computed from their definition are padded to a multiple of this, the most 64-bit lanes of any kernel.
const FILLED: usize = 8;

/// The shortest second transform: the widest registers do shorter ones word by word.
const SHORTEST: usize = 128;

/// How many words of a product each method finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lengths {
    /// K.
    first: usize,
    /// L, or 0.
    second: usize,
    /// Words from their definition.
    beyond: usize,
}

impl Lengths {
    /// For polynomials of h words.
    fn of(h: usize) -> Self {
        let whole = (2 * h - 1).next_power_of_two().max(2);
        // Computing n words from their definition takes about n^2/2 products.
        let split = |second: usize| {
            let beyond = (2 * h - 1).saturating_sub(whole / 2 + second);
            (beyond * beyond <= 2 * whole).then_some(Self { first: whole / 2, second, beyond })
        };
        let shorter = core::iter::successors(Some(SHORTEST), |length| Some(2 * length));
        let shorter = shorter.take_while(|&length| length <= whole / 4);
        let lengths = (whole > 2).then_some(0).into_iter().chain(shorter).filter_map(split);
        let possible = |lengths: &Self| lengths.second == 0 || lengths.beyond <= lengths.second;
        lengths.into_iter().find(possible).unwrap_or(Self { first: whole, second: 0, beyond: 0 })
    }
}

/// The length whose double divides p - 1 for the primes p of a chain. It is that of a single transform that holds as much as both, so that
/// a set has the same primes however its products are computed.
pub(super) fn length_for_primes(h: usize) -> usize {
    let Lengths { first, second, .. } = Lengths::of(h);
    if second > 0 { 2 * first } else { first }
}

/// Products modulo one prime.
pub(super) struct Convolution<W> {
    h: usize,
    beyond: usize,
    first: Box<NttTable<W>>,
    /// The second transform, and 1/2.
    second: Option<(Box<NttTable<W>>, Shoup<W>)>,
}

/// A polynomial of h words that others are multiplied by.
pub(super) struct Filter<W> {
    /// The values of the polynomial at the points of both transforms.
    first: Vec<W>,
    second: Vec<W>,
    /// The coefficients that give the words beyond the transforms.
    last: Vec<Shoup<W>>,
}

impl<W: Word> Convolution<W> {
    /// For polynomials of h words.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the modulus is a prime that is 1 modulo twice [`length_for_primes`].
    pub(super) fn new(h: usize, modulus: Modulus<W>) -> Result<Self, Error> {
        let divisor = 2 * length_for_primes(h) as u64;
        if modulus.value_u64() % divisor != 1 {
            return Err(Error::InvalidArgument(format!(
                "modulus {} is not 1 modulo {divisor}; take a prime that is",
                modulus.value_u64()
            )));
        }
        let Lengths { first, second, beyond } = Lengths::of(h);
        // The prime is odd.
        let half = modulus.shoup(modulus.inv(modulus.reduce_u64(2)).unwrap_or(W::ONE));
        let table = |length: usize| Ok::<_, Error>(Box::new(NttTable::new(modulus, length)?));
        let second = (second > 0).then(|| Ok::<_, Error>((table(second)?, half))).transpose()?;
        Ok(Self { h, beyond, first: table(first)?, second })
    }

    pub(super) fn modulus(&self) -> &Modulus<W> {
        self.first.modulus()
    }

    /// Words that [`Self::multiply`] takes: the first h hold the polynomial, and then the product.
    pub(super) fn width(&self) -> usize {
        self.first.n()
    }

    /// Words of memory that a product needs beside those.
    pub(super) fn memory(&self) -> usize {
        self.short() + 3 * self.filled()
    }

    /// L.
    fn short(&self) -> usize {
        self.second.as_ref().map_or(0, |(table, _)| table.n())
    }

    /// Words from their definition, padded.
    fn filled(&self) -> usize {
        self.beyond.next_multiple_of(FILLED)
    }

    /// A filter of h words.
    pub(super) fn filter(&self, mut words: Vec<W>) -> Filter<W> {
        let (m, kernels) = (self.modulus(), W::kernels());
        let last = words[self.h - self.beyond..].iter().map(|&x| m.shoup(x)).collect();
        let mut second = alloc::vec![W::ZERO; self.short()];
        if let Some((table, _)) = &self.second {
            fold(kernels, m, &mut second, &words, false);
            kernels.ntt_forward(table, &mut second);
        }
        words.resize(self.first.n(), W::ZERO);
        kernels.ntt_forward(&self.first, &mut words);
        Filter { first: words, second, last }
    }

    /// x, in the first h words, becomes x times the filter modulo X^h - 1, or X^h + 1 if `negative`.
    pub(super) fn multiply(
        &self,
        kernels: &dyn Kernels<W>,
        x: &mut [W],
        memory: &mut [W],
        filter: &Filter<W>,
        negative: bool,
    ) {
        let (m, h, count, filled) = (self.modulus(), self.h, self.beyond, self.filled());
        let (short, memory) = memory.split_at_mut(self.short());
        let (beyond, padded) = memory.split_at_mut(filled);
        Self::last_words(kernels, m, (beyond, padded), &x[h - count..h], &filter.last);
        let beyond = &beyond[..count];
        if let Some((table, _)) = &self.second {
            short.fill(W::ZERO);
            fold(kernels, m, short, &x[..h], false);
            kernels.ntt_forward(table, short);
            kernels.mul_assign(m, short, &filter.second);
            kernels.ntt_inverse(table, short);
        }
        x[h..].fill(W::ZERO);
        kernels.ntt_forward(&self.first, x);
        kernels.mul_assign(m, x, &filter.first);
        kernels.ntt_inverse(&self.first, x);
        // X^(K + L) is -X^L modulo X^K + 1, and -1 modulo X^L + 1: what is beyond was subtracted there.
        let at = short.len();
        kernels.add_assign(m, &mut x[at..at + count], beyond);
        if let Some((_, half)) = &self.second {
            kernels.add_assign(m, &mut short[..count], beyond);
            fold(kernels, m, short, x, true);
            kernels.mul_scalar_assign(m, short, half);
            kernels.add_assign(m, &mut x[..short.len()], short);
        }
        let (low, high) = x.split_at_mut(h);
        let mut place = 0;
        for from in [&*high, &*short, beyond] {
            let from = &from[..from.len().min(h - 1 - place)];
            let to = &mut low[place..place + from.len()];
            if negative {
                kernels.sub_assign(m, to, from);
            } else {
                kernels.add_assign(m, to, from);
            }
            place += from.len();
        }
    }

    /// The words of a product beyond the transforms, from the last words of both polynomials.
    fn last_words(
        kernels: &dyn Kernels<W>,
        m: &Modulus<W>,
        (out, padded): (&mut [W], &mut [W]),
        x: &[W],
        filter: &[Shoup<W>],
    ) {
        let count = x.len();
        // Terms reach into the zeros after the last words, so that all have one length.
        padded[..count].copy_from_slice(x);
        padded[count..].fill(W::ZERO);
        out.fill(W::ZERO);
        for (start, out) in (0..).step_by(FILLED).zip(out.chunks_exact_mut(FILLED)) {
            // The other terms end before these words.
            let terms: Vec<&[W]> =
                (start + 1..=count).map(|last| &padded[count - last + start..][..FILLED]).collect();
            kernels.add_multiples(m, out, &terms, &filter[start..]);
        }
    }
}

/// out += x modulo X^L + 1, L the length of `out`; out -= x if `minus`.
fn fold<W: Word>(kernels: &dyn Kernels<W>, m: &Modulus<W>, out: &mut [W], x: &[W], minus: bool) {
    for (i, x) in x.chunks(out.len()).enumerate() {
        let out = &mut out[..x.len()];
        if (i % 2 == 1) == minus {
            kernels.add_assign(m, out, x);
        } else {
            kernels.sub_assign(m, out, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        arith::{all_backends, primes::ntt_primes},
        random::Seed,
    };

    #[test]
    fn lengths_hold_a_product() {
        for h in 1..22_000 {
            let Lengths { first, second, beyond } = Lengths::of(h);
            assert!(first.is_power_of_two() && first >= h && beyond < h.max(2), "{h}");
            assert!(first + second + beyond >= 2 * h - 1, "{h}");
            assert!(beyond == 0 || first + second + beyond == 2 * h - 1, "{h}");
            assert!(
                second == 0 || (second.is_power_of_two() && 2 * second <= first && beyond <= second),
                "{h}"
            );
        }
        for (h, first, second, beyond) in [
            (261, 512, 0, 9),
            (525, 1024, 0, 25),
            (644, 1024, 256, 7),
            (660, 1024, 256, 39),
            (765, 1024, 512, 0),
            (128, 256, 0, 0),
        ] {
            assert_eq!(Lengths::of(h), Lengths { first, second, beyond });
        }
    }

    #[test]
    fn primes_are_those_of_a_single_transform() {
        for h in 1..22_000_usize {
            let whole = (2 * h - 1).next_power_of_two().max(2);
            let beyond = (2 * h - 1).saturating_sub(whole / 2);
            let half = whole > 2 && beyond * beyond <= 2 * whole;
            assert_eq!(length_for_primes(h), if half { whole / 2 } else { whole }, "{h}");
        }
    }

    /// Against products from their definition.
    fn products_are_products_on_every_backend<W: Word>(bits: f64) {
        let mut stream = Seed::from_bytes([7; 32]).stream();
        // Each way: whole, beyond, and both transforms, one that is half and one that is a quarter of the other, with and without words beyond.
        for h in [1, 2, 3, 8, 14, 17, 29, 48, 64, 160, 192, 200, 300, 330, 384] {
            let prime = ntt_primes(bits, 2 * length_for_primes(h) as u64)
                .find(|p| p >> (W::BITS - 3) == 0)
                .expect("a prime");
            let m = Modulus::<W>::new(prime).expect("a modulus");
            let convolution = Convolution::new(h, m).expect("a prime of these transforms");
            let mut random = || {
                let mut words = vec![W::ZERO; h];
                W::fill_uniform(&mut stream, prime, &mut words);
                words
            };
            let largest = vec![m.neg(W::ONE); h];
            for (x, words) in [(random(), random()), (largest.clone(), largest)] {
                let filter = convolution.filter(words.clone());
                for negative in [false, true] {
                    let mut expected = vec![W::ZERO; h];
                    for (i, &x) in x.iter().enumerate() {
                        for (j, &word) in words.iter().enumerate() {
                            let (to, product) = (&mut expected[(i + j) % h], m.mul(x, word));
                            *to = if negative && i + j >= h {
                                m.sub(*to, product)
                            } else {
                                m.add(*to, product)
                            };
                        }
                    }
                    for kernels in all_backends::<W>() {
                        let mut own = x.clone();
                        own.resize(convolution.width(), W::ONE);
                        let mut memory = vec![W::ONE; convolution.memory()];
                        convolution.multiply(kernels, &mut own, &mut memory, &filter, negative);
                        assert_eq!(own[..h], expected, "{h} words, {}", kernels.name());
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_products() {
        products_are_products_on_every_backend::<u32>(28.5);
        products_are_products_on_every_backend::<u64>(49.5);
        products_are_products_on_every_backend::<u64>(60.5);
    }
}
