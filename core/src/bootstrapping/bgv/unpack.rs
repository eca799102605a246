//! From slots that hold elements of a Galois ring to one ciphertext of integers for each coordinate, and back.
//!
//! In a ring of two axes, with Z of order m', {Z^k} is a normal basis of every slot, whose dual for the trace is
//! (Z^-k - 1)/m'. So coordinate k of v is the sum over all powers sigma of the Frobenius automorphism of
//! sigma(Z^-k - 1) sigma(v), over m'. The Z^l are units of the ring, and small: a sum of few multiples by Z^l - 1 takes no level,
//! and 1/m' is a factor. The automorphisms of v serve all coordinates.
//!
//! In a ring of odd index the coordinates are in the basis that is dual to `X_2`^k, k < d, and coordinate k is the sum of all
//! sigma(`X_2`^k) sigma(v). What is packed is in the basis of the `X_2`^k themselves.

use alloc::{format, vec, vec::Vec};
use core::ops::Range;

use super::params::BgvParams;
use crate::{
    arith::Word,
    error::Error,
    par,
    ring::{Basis, Eval, GaloisElement, OddIndex, Poly, from_integers},
    rlwe::{GaloisSource, Pair},
    schemes::{
        bgv::{BgvCiphertext, BgvContext, BgvEvaluator, Factor},
        evaluator::Label,
    },
    trace::Counters,
};

/// Number of coordinates computed together. The images of a ciphertext are read from memory once for all of them, and no other coordinates
/// wait modulo Q P.
const SUMS_AT_ONCE: usize = 4;

/// Words of a row whose products are made together.
const PART: usize = 1024;

/// Unpacks at the level where the removal begins, and packs where it ends.
pub(super) struct Packing<W: Word> {
    context: BgvContext<W>,
    level: usize,
    /// sigma and l modulo m' with sigma(Z) = Z^l, or modulo `m_2` with sigma(`X_2`) = `X_2`^l; the identity first.
    frobenius: Vec<(GaloisElement, u64)>,
    /// Z^l - 1 for l = 1, .., or powers of `X_2`, modulo Q P of the level.
    weights: Weights<W>,
    /// Z^k for k = 1, .., or powers of `X_2`, modulo Q of the level below the removal.
    powers: Weights<W>,
}

/// Polynomials in the evaluation domain modulo one basis; their words are repeated up to the degree.
struct Weights<W: Word> {
    basis: Basis<W>,
    words: usize,
    /// For Z: `[polynomial][prime][words]`, each at its exponent less 1. For `X_2`: `[prime]`, ones, and then the values of `X_2` twice.
    data: Vec<W>,
    /// For `X_2`: the logarithms of exponents, by which its values are rotated.
    logarithms: Vec<usize>,
}

impl<W: Word> Weights<W> {
    /// Z^l + `constant` for l = 1, ..
    fn of_z(basis: &Basis<W>, constant: i64) -> Self {
        let rows = 0..basis.ring().rows();
        let data = rows.flat_map(|row| monomial(basis, row, constant).into_rows()).collect();
        Self { basis: basis.clone(), words: basis.n(), data, logarithms: Vec::new() }
    }

    /// All powers of `X_2`, whose values are the same in all rows. Word j is the value at the power j of a primitive root. The words of
    /// `X_2`^e are those of `X_2`, rotated by the logarithm of e.
    fn of_second(basis: &Basis<W>, index: OddIndex) -> Self {
        let (ring, words) = (basis.ring(), basis.ring().columns());
        let mut coefficients = vec![0; ring.degree()];
        coefficients[1] = 1;
        let values = from_integers(basis, &coefficients).into_eval();
        let data = (0..basis.len())
            .flat_map(|i| {
                let own = &values.row(i)[..words];
                core::iter::repeat_n(W::ONE, words).chain(own.iter().copied()).chain(own.iter().copied())
            })
            .collect();
        let second = index.parts()[1];
        let mut logarithms = vec![0; second as usize];
        for (j, unit) in index.units().into_iter().take(words).enumerate() {
            logarithms[(unit % second) as usize] = j;
        }
        Self { basis: basis.clone(), words, data, logarithms }
    }

    /// The words of the polynomial of `exponent`, which is at least 1 for Z.
    fn row(&self, exponent: u64, limb: usize) -> &[W] {
        let (exponent, words) = (exponent as usize, self.words);
        let first = match self.logarithms.get(exponent) {
            Some(_) if exponent == 0 => 3 * limb * words,
            Some(logarithm) => (3 * limb + 1) * words + logarithm,
            None => ((exponent - 1) * self.basis.len() + limb) * words,
        };
        &self.data[first..first + words]
    }
}

impl<W: Word> Packing<W> {
    /// The packing of a general set.
    pub fn new(params: &BgvParams<W>) -> Result<Self, Error> {
        let (context, levels) = (params.context(), params.levels());
        let rlwe = context.rlwe();
        let order = order(context);
        let element = |power: u32| {
            let element = context.frobenius_element(power)?;
            Ok((element, element.value() % order))
        };
        let degree = context.slot_degree();
        let frobenius: Vec<_> = (0..degree as u32).map(element).collect::<Result<_, Error>>()?;
        let (above, below) = (rlwe.qp(levels.removal), rlwe.q(levels.slots_to_coeffs));
        let (weights, powers) = match rlwe.ring().odd_index() {
            Some(index) => (Weights::of_second(above, index), Weights::of_second(below, index)),
            None => (Weights::of_z(above, -1), Weights::of_z(below, 0)),
        };
        Ok(Self { context: context.clone(), level: levels.removal, frobenius, weights, powers })
    }

    /// Bytes of the multiples by which slots are unpacked and packed.
    pub fn memory_bytes(&self) -> usize {
        [&self.weights, &self.powers].into_iter().map(|x| size_of_val(x.data.as_slice())).sum()
    }

    /// The coordinates of every slot, as integers: that of Z^k is coordinate k - 1, or that of `X_2`^k coordinate k.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at another level than that of the removal; [`Error::MissingKey`]; [`Error::Limit`] for the noise.
    pub fn unpack(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        let (rlwe, level, pair) = (self.context.rlwe(), self.level, x.pair()?);
        if x.level() != level {
            return Err(Error::LevelMismatch(format!(
                "slots are unpacked at level {level}, the ciphertext is at {}; bring it there",
                x.level()
            )));
        }
        // P sigma(x) modulo Q P.
        let digits = rlwe.decompose(level, &pair.a, counters);
        let mut images = Vec::with_capacity(self.frobenius.len());
        for (i, &(element, _)) in self.frobenius.iter().enumerate() {
            let mut image = Pair::zero(rlwe.qp(level));
            if i == 0 {
                rlwe.add_special_multiple(&mut image.a, &pair.a);
                rlwe.add_special_multiple(&mut image.b, &pair.b);
                images.push(image);
                continue;
            }
            let (g, key) = keys.galois_key(element)?;
            rlwe.check_key(&key, level)?;
            rlwe.key_product(&[&digits], &key, &mut image, false, counters);
            rlwe.add_special_multiple(&mut image.b, &pair.b);
            images.push(image.automorphism(g));
        }
        let (order, odd) = (order(&self.context), rlwe.ring().odd_index().is_some());
        let factor = if odd { x.factor() } else { x.factor().mul(Factor::new(order, x.ring())?) };
        let noise = unpacked_noise(&self.context, x.noise(), level);
        let exponents = |k: u64| {
            // Inverse powers, or the powers themselves; the weights have all of them.
            let k = if odd { k - 1 } else { order - k };
            self.frobenius.iter().map(|&(_, l)| k * l % order).collect()
        };
        let exponents: Vec<Vec<u64>> = (1..=self.context.slot_degree() as u64).map(exponents).collect();
        let mut coordinates = Vec::with_capacity(exponents.len());
        for exponents in exponents.chunks(SUMS_AT_ONCE) {
            for sum in sums_of_products(&images, &self.weights, exponents) {
                let pair = rlwe.divide_by_special(level, sum, counters);
                coordinates.push(BgvEvaluator::checked(x.with_pair(pair, level, factor, noise))?);
            }
        }
        Ok(coordinates)
    }

    /// The slots with these coordinates, integers with one factor: the sum of all Z^k x_k, or `X_2`^k x_k.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of coordinates; [`Error::LevelMismatch`] below the level where the removal ends;
    /// [`Error::PlaintextMismatch`] for different factors; [`Error::ParamsMismatch`]; [`Error::Limit`] for the noise.
    pub fn pack(
        &self,
        evaluator: &BgvEvaluator<W>,
        coordinates: &[BgvCiphertext<W>],
    ) -> Result<BgvCiphertext<W>, Error> {
        let degree = self.context.slot_degree();
        let Some(first) = coordinates.first().filter(|_| coordinates.len() == degree) else {
            return Err(Error::InvalidArgument(format!(
                "{} ciphertexts for the {degree} coordinates of slots; give one for each",
                coordinates.len()
            )));
        };
        let basis = &self.powers.basis;
        let (level, mut pairs) = (first.level(), Vec::with_capacity(coordinates.len()));
        for x in coordinates {
            x.check_same_key(first)?;
            x.check_same_factor(first.factor())?;
            let pair = evaluator.drop_to_level(x, level)?.pair()?;
            if !pair.b.basis().same_as(basis) {
                return Err(Error::LevelMismatch(format!(
                    "coordinates at level {} are packed where the removal ends, modulo {} primes; bring them there",
                    x.level(),
                    basis.len()
                )));
            }
            pairs.push(pair);
        }
        let lowest = u64::from(basis.ring().odd_index().is_none());
        let exponents: Vec<u64> = (lowest..).take(degree).collect();
        let noise = coordinates.iter().map(BgvCiphertext::noise).sum();
        let sum = sums_of_products(&pairs, &self.powers, &[exponents]).pop().expect("a list gives a sum");
        BgvEvaluator::checked(first.with_pair(sum, level, first.factor(), noise))
    }
}

/// The order of Z, or of `X_2`.
fn order<W: Word>(context: &BgvContext<W>) -> u64 {
    let ring = context.rlwe().ring();
    ring.odd_index().map_or(ring.odd_part(), |index| index.parts()[1])
}

/// Noise of a coordinate: all |Z^l - 1| = 2 sin(l pi/m') add up to 2 cot(pi/2m'), and all |`X_2`^l| to d.
pub(super) fn unpacked_noise<W: Word>(context: &BgvContext<W>, noise: f64, level: usize) -> f64 {
    let model = context.noise();
    let gain = match context.hypercube() {
        Some(cube) => cube.slot_degree() as f64,
        None => 2.0 / libm::tan(core::f64::consts::FRAC_PI_2 / order(context) as f64),
    };
    (noise + model.key_switch(level)) * gain + model.rounding()
}

/// Z^(row + 1) + `constant`: 1 is minus the sum of all Z^k.
fn monomial<W: Word>(basis: &Basis<W>, row: usize, constant: i64) -> Poly<W, Eval> {
    let ring = basis.ring();
    let mut coefficients = vec![0; ring.degree()];
    for (k, at) in (0..ring.degree()).step_by(ring.columns()).enumerate() {
        coefficients[at] = i64::from(k == row) - constant;
    }
    from_integers(basis, &coefficients).into_eval()
}

/// For each list of exponents, the sum of all products of pairs and weights, modulo the basis of the weights. A part of the pairs' words
/// stays in the cache while every sum takes its products, because the pairs take far more memory than the sums.
fn sums_of_products<W: Word>(
    pairs: &[Pair<W>],
    weights: &Weights<W>,
    exponents: &[Vec<u64>],
) -> Vec<Pair<W>> {
    let (basis, words) = (&weights.basis, weights.words);
    let mut sums: Vec<_> = exponents.iter().map(|_| Pair::zero(basis)).collect();
    let mut limbs = Pair::limbs_mut(&mut sums, basis);
    let products = |i: usize, sums: &mut [[&mut [W]; 2]]| {
        let (m, kernels) = (basis.modulus(i), basis.kernels());
        let row = |&e: &u64| weights.row(e, i);
        let rhs: Vec<Vec<&[W]>> =
            exponents.iter().map(|exponents| exponents.iter().map(row).collect()).collect();
        for part in parts(words) {
            let rhs: Vec<Vec<&[W]>> =
                rhs.iter().map(|rows| rows.iter().map(|row| &row[part.clone()]).collect()).collect();
            for start in (0..basis.degree()).step_by(words) {
                let own = start + part.start..start + part.end;
                for component in 0..2 {
                    let rows = pairs.iter().map(|pair| [&pair.b, &pair.a][component].row(i));
                    let lhs: Vec<&[W]> = rows.map(|row| &row[own.clone()]).collect();
                    for (sum, rhs) in sums.iter_mut().zip(&rhs) {
                        kernels.inner_product(m, &mut sum[component][own.clone()], &lhs, rhs, false);
                    }
                }
            }
        }
    };
    par::for_each_limb_with(&mut limbs, basis.n(), || (), |(), i, sums| products(i, sums));
    sums
}

/// `words` words, [`PART`] by [`PART`].
fn parts(words: usize) -> impl Iterator<Item = Range<usize>> {
    (0..words).step_by(PART).map(move |start| start..words.min(start + PART))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arith::primes::ntt_primes,
        random::Seed,
        ring::{Cyclotomic, uniform_rows},
    };

    /// Against products one by one: rows of many parts, and values of one axis that are the same in all rows.
    #[test]
    fn sums_are_sums_of_products() {
        for (degree, index, constant) in [(4 * 1024, 5, -1), (4 * 1024, 5, 0), (2 * 1048, 3 * 1049, 0)] {
            let ring = Cyclotomic::new(degree, index).expect("a ring");
            let primes: Vec<u64> = ntt_primes(49.5, ring.divisor_of_primes()).take(2).collect();
            let basis = Basis::<u64>::over(ring, &primes).expect("primes");
            let weights = match ring.odd_index() {
                Some(index) => Weights::of_second(&basis, index),
                None => Weights::of_z(&basis, constant),
            };
            let mut stream = Seed::from_bytes([7; 32]).stream();
            let mut random = || Poly::from_rows(&basis, uniform_rows(&basis, &mut stream));
            let pairs: Vec<_> = (0..3).map(|_| Pair { b: random(), a: random() }).collect();
            let exponents = [vec![1, 2, 4], vec![3, 3, 1]];
            for (sum, exponents) in sums_of_products(&pairs, &weights, &exponents).iter().zip(&exponents) {
                let mut expected = Pair::zero(&basis);
                for (pair, &exponent) in pairs.iter().zip(exponents) {
                    let mut own = Poly::zero(&basis);
                    own.for_each_row_mut(|i, row| {
                        row[..basis.degree()]
                            .chunks_mut(weights.words)
                            .for_each(|part| part.copy_from_slice(weights.row(exponent, i)));
                    });
                    expected.add_assign(&Pair { b: pair.b.mul(&own), a: pair.a.mul(&own) });
                }
                assert_eq!((sum.b.data(), sum.a.data()), (expected.b.data(), expected.a.data()), "{index}");
            }
        }
    }
}
