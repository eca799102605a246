//! From slots that hold elements of a Galois ring to a ciphertext of integers for every coordinate, and back.
//!
//! In a ring of two axes, with Z of order m', {Z^k} is a normal basis of every slot, whose dual for the trace is
//! (Z^-k - 1)/m'. So coordinate k of v is the sum over all powers sigma of the Frobenius automorphism of
//! sigma(Z^-k - 1) sigma(v), over m'. The Z^l are units of the ring, and small: a sum of few multiples by Z^l - 1 takes no level,
//! and 1/m' is a factor. The automorphisms of v serve all coordinates.
//!
//! In a ring of odd index the coordinates are in the basis that is dual to `X_2`^k, k < d, and coordinate k is the sum of all
//! sigma(`X_2`^k) sigma(v). What is packed is in the basis of the `X_2`^k themselves.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format, vec,
    vec::Vec,
};

use super::params::BgvParams;
use crate::{
    arith::Word,
    error::Error,
    ring::{Basis, Eval, GaloisElement, Poly, from_integers},
    rlwe::{GaloisSource, Pair},
    schemes::{
        bgv::{BgvCiphertext, BgvContext, BgvEvaluator, Factor},
        evaluator::Label,
    },
    trace::Counters,
};

/// Unpacks at the level where the removal begins, and packs where it ends.
pub(super) struct Packing<W: Word> {
    context: BgvContext<W>,
    level: usize,
    /// sigma and l modulo m' with sigma(Z) = Z^l, or modulo `m_2` with sigma(`X_2`) = `X_2`^l; the identity first.
    frobenius: Vec<(GaloisElement, u64)>,
    /// Z^l - 1 for l = 1, .., or the `X_2`^l that are asked for, by l; modulo Q P of the level.
    weights: BTreeMap<u64, Weight<W>>,
    /// Z^k for k = 1, .., or `X_2`^k for k = 0, .., modulo Q of the level below the removal.
    powers: Vec<Weight<W>>,
}

/// A polynomial in evaluation domain, `[prime][words]`, whose words are repeated up to the degree.
struct Weight<W: Word> {
    basis: Basis<W>,
    words: usize,
    data: Vec<W>,
}

impl<W: Word> Weight<W> {
    fn whole(x: Poly<W, Eval>) -> Self {
        Self { basis: x.basis().clone(), words: x.basis().n(), data: x.into_rows() }
    }

    /// `X_2`^e: its values are the same in all rows.
    fn power_of_second(basis: &Basis<W>, e: u64) -> Self {
        let (ring, words) = (basis.ring(), basis.ring().columns());
        let mut coefficients = vec![0; ring.degree()];
        match coefficients[..words].get_mut(e as usize) {
            Some(own) => *own = 1,
            // The last power is minus the sum of the others.
            None => coefficients[..words].fill(-1),
        }
        let values = from_integers(basis, &coefficients).into_eval();
        let data = (0..basis.len()).flat_map(|i| values.row(i)[..words].iter().copied()).collect();
        Self { basis: basis.clone(), words, data }
    }

    fn row(&self, limb: usize) -> &[W] {
        &self.data[limb * self.words..(limb + 1) * self.words]
    }
}

impl<W: Word> Packing<W> {
    /// For a general set.
    ///
    /// # Errors
    /// None for a set that was validated.
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
        let (weights, powers) = if rlwe.ring().odd_index().is_some() {
            let exponents =
                (0..degree as u64).flat_map(|k| frobenius.iter().map(move |&(_, l)| k * l % order));
            let exponents: BTreeSet<u64> = exponents.collect();
            (
                exponents.into_iter().map(|e| (e, Weight::power_of_second(above, e))).collect(),
                (0..degree as u64).map(|k| Weight::power_of_second(below, k)).collect(),
            )
        } else {
            let monomial = |basis, row, constant| Weight::whole(monomial(basis, row, constant));
            (
                (1..).zip((0..degree).map(|row| monomial(above, row, -1))).collect(),
                (0..degree).map(|row| monomial(below, row, 0)).collect(),
            )
        };
        Ok(Self { context: context.clone(), level: levels.removal, frobenius, weights, powers })
    }

    /// Bytes of the multiples by which it unpacks and packs.
    pub fn memory_bytes(&self) -> usize {
        self.weights.values().chain(&self.powers).map(|x| size_of_val(x.data.as_slice())).sum()
    }

    /// The coordinates of every slot, as integers: coordinate k - 1 is that of Z^k, or coordinate k belongs to `X_2`^k.
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
        let coordinate = |k: u64, counters: &mut Counters| {
            // Inverse powers, or the powers themselves: all that are asked for are there.
            let k = if odd { k - 1 } else { order - k };
            let weights: Vec<&Weight<W>> =
                self.frobenius.iter().filter_map(|&(_, l)| self.weights.get(&(k * l % order))).collect();
            let sum = sum_of_products(&images, &weights);
            let pair = rlwe.divide_by_special(level, sum, counters);
            BgvEvaluator::checked(x.with_pair(pair, level, factor, noise))
        };
        (1..=self.context.slot_degree() as u64).map(|k| coordinate(k, counters)).collect()
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
        let Some(first) = coordinates.first().filter(|_| coordinates.len() == self.powers.len()) else {
            return Err(Error::InvalidArgument(format!(
                "{} ciphertexts for the {} coordinates of slots; give one for each",
                coordinates.len(),
                self.powers.len()
            )));
        };
        let basis = &self.powers[0].basis;
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
        let sum = sum_of_products(&pairs, &self.powers.iter().collect::<Vec<_>>());
        let noise = coordinates.iter().map(BgvCiphertext::noise).sum();
        BgvEvaluator::checked(first.with_pair(sum, level, first.factor(), noise))
    }
}

/// The order of Z, or of `X_2`.
fn order<W: Word>(context: &BgvContext<W>) -> u64 {
    let ring = context.rlwe().ring();
    ring.odd_index().map_or(ring.odd_part(), |index| index.primes()[1])
}

/// Noise of a coordinate: all |Z^l - 1| = 2 sin(l pi/m') together are 2 cot(pi/2m'). All |`X_2`^l| together are d.
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

/// The sum of all products of pairs and weights modulo the same basis.
fn sum_of_products<W: Word>(pairs: &[Pair<W>], weights: &[&Weight<W>]) -> Pair<W> {
    let (basis, words) = (&weights[0].basis, weights[0].words);
    let mut out = Pair::zero(basis);
    out.b.for_each_row_pair_mut(&mut out.a, |i, b, a| {
        let (m, kernels) = (basis.modulus(i), basis.kernels());
        let rhs: Vec<&[W]> = weights.iter().map(|weight| weight.row(i)).collect();
        for start in (0..basis.degree()).step_by(words) {
            let own = start..start + words;
            let lhs_b: Vec<&[W]> = pairs.iter().map(|pair| &pair.b.row(i)[own.clone()]).collect();
            let lhs_a: Vec<&[W]> = pairs.iter().map(|pair| &pair.a.row(i)[own.clone()]).collect();
            kernels.inner_product(m, &mut b[own.clone()], &lhs_b, &rhs, false);
            kernels.inner_product(m, &mut a[own], &lhs_a, &rhs, false);
        }
    });
    out
}
