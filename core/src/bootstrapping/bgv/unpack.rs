//! From slots that hold elements of a Galois ring to a ciphertext of integers for every coordinate, and back.
//!
//! In a ring of two axes, with Z of order m', {Z^k} is a normal basis of every slot, whose dual for the trace is
//! (Z^-k - 1)/m'. So coordinate k of v is the sum over all powers sigma of the Frobenius automorphism of
//! sigma(Z^-k - 1) sigma(v), over m'. The Z^l are units of the ring, and small: a sum of few multiples by Z^l - 1 takes no level,
//! and 1/m' is a factor. The automorphisms of v serve all coordinates.

use alloc::{format, vec, vec::Vec};

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
    /// sigma and l modulo m' with sigma(Z) = Z^l, the identity first.
    frobenius: Vec<(GaloisElement, u64)>,
    /// Z^l - 1 for l = 1, .., modulo Q P of the level.
    differences: Vec<Poly<W, Eval>>,
    /// Z^l for l = 1, .., modulo Q of the level below the removal.
    powers: Vec<Poly<W, Eval>>,
}

impl<W: Word> Packing<W> {
    /// For a set whose ring has two axes.
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn new(params: &BgvParams<W>) -> Result<Self, Error> {
        let (context, levels) = (params.context(), params.levels());
        let rlwe = context.rlwe();
        let odd = rlwe.ring().odd_part();
        let element = |power: u32| {
            let element = context.frobenius_element(power)?;
            Ok((element, element.value() % odd))
        };
        let frobenius = (0..context.slot_degree() as u32).map(element).collect::<Result<_, Error>>()?;
        let all = |basis: &Basis<W>, constant: i64| {
            (0..rlwe.ring().rows()).map(|row| monomial(basis, row, constant)).collect()
        };
        Ok(Self {
            context: context.clone(),
            level: levels.removal,
            frobenius,
            differences: all(rlwe.qp(levels.removal), -1),
            powers: all(rlwe.q(levels.slots_to_coeffs), 0),
        })
    }

    /// Bytes of the multiples by which it unpacks and packs.
    pub fn memory_bytes(&self) -> usize {
        self.differences.iter().chain(&self.powers).map(|x| size_of_val(x.data())).sum()
    }

    /// The coordinates of every slot, as integers: coordinate k - 1 is that of Z^k.
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
        let odd = rlwe.ring().odd_part();
        let factor = x.factor().mul(Factor::new(odd, x.ring())?);
        let noise = unpacked_noise(&self.context, x.noise(), level);
        let coordinate = |k: u64, counters: &mut Counters| {
            let weight =
                |&(_, l): &(GaloisElement, u64)| &self.differences[((odd - k) * l % odd) as usize - 1];
            let weights: Vec<&Poly<W, Eval>> = self.frobenius.iter().map(weight).collect();
            let sum = sum_of_products(&images, &weights);
            let pair = rlwe.divide_by_special(level, sum, counters);
            BgvEvaluator::checked(x.with_pair(pair, level, factor, noise))
        };
        (1..odd).map(|k| coordinate(k, counters)).collect()
    }

    /// The slots with these coordinates, integers with one factor: the sum of all Z^k x_k.
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
        let basis = self.powers[0].basis();
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

/// Noise of a coordinate: all |Z^l - 1| = 2 sin(l pi/m') together are 2 cot(pi/2m').
pub(super) fn unpacked_noise<W: Word>(context: &BgvContext<W>, noise: f64, level: usize) -> f64 {
    let (odd, model) = (context.rlwe().ring().odd_part() as f64, context.noise());
    let gain = 2.0 / libm::tan(core::f64::consts::FRAC_PI_2 / odd);
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

/// The sum of all products of pairs and polynomials modulo the same basis.
fn sum_of_products<W: Word>(pairs: &[Pair<W>], factors: &[&Poly<W, Eval>]) -> Pair<W> {
    let basis = factors[0].basis();
    let mut out = Pair::zero(basis);
    out.b.for_each_row_pair_mut(&mut out.a, |i, b, a| {
        let (m, rhs): (_, Vec<&[W]>) =
            (basis.modulus(i), factors.iter().map(|factor| factor.row(i)).collect());
        let lhs_b: Vec<&[W]> = pairs.iter().map(|pair| pair.b.row(i)).collect();
        let lhs_a: Vec<&[W]> = pairs.iter().map(|pair| pair.a.row(i)).collect();
        basis.kernels().inner_product(m, b, &lhs_b, &rhs, false);
        basis.kernels().inner_product(m, a, &lhs_a, &rhs, false);
    });
    out
}
