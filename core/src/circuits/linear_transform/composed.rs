//! Evaluation with rotations composed of those that have keys.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::{babies_giants::Step, encoded::EncodedTransform, transform::LinearTransform};
use crate::{
    arith::{KeyProduct, KeyRows, LeftRows, Word, line, row_to_lines},
    error::Error,
    par,
    ring::{Eval, Poly},
    rlwe::{GaloisSource, Pair},
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::Counters,
};

/// For each rotation, the rotations with keys that make it up, one after the other.
pub type Compositions = BTreeMap<i64, Vec<i64>>;

impl<W: Word> LinearTransform<W> {
    /// [`Self::apply`] without a key for each of [`Self::rotations`]: `compositions` says which rotations make up one without a key. Those
    /// that it does not name have keys of their own.
    ///
    /// Every rotation ends with a division by P, so nothing is hoisted: a transform whose rotations all have keys is much faster.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn apply_composed(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn GaloisSource<W>,
        compositions: &Compositions,
    ) -> Result<Ciphertext<W>, Error> {
        self.apply_composed_counted(evaluator, x, keys, compositions, &mut Counters::default())
    }

    /// [`Self::apply_composed`], for a run that counts its work.
    pub(crate) fn apply_composed_counted(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn GaloisSource<W>,
        compositions: &Compositions,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let encoded = &self.encoded;
        let down = encoded.rlwe.rescale(encoded.level)?;
        let mut turn = |mut x: Ciphertext<W>, step: Step| {
            let own = if step == Step::IDENTITY { Vec::new() } else { vec![step.rotation] };
            for &hop in compositions.get(&step.rotation).unwrap_or(&own) {
                let (g, key) = keys.rotation_key(hop)?;
                x = evaluator.automorphism_counted(&x, g, &key, counters)?;
            }
            Ok::<_, Error>(x)
        };
        let x = evaluator.drop_to_level(x, encoded.level)?;
        let babies: Vec<Ciphertext<W>> =
            encoded.steps.babies().iter().map(|&step| turn(x.clone(), step)).collect::<Result<_, _>>()?;
        let rows: Vec<[&Poly<W, Eval>; 2]> =
            babies.iter().map(Ciphertext::two_parts).collect::<Result<_, _>>()?;
        let scale = x.scale().mul(self.scale);
        let mut total: Option<Ciphertext<W>> = None;
        for (giant, sum) in encoded.giants.iter().zip(encoded.giant_sums(&rows)) {
            let sum = turn(x.with_pair(sum, encoded.level, scale), giant.step)?;
            total = Some(match total {
                Some(total) => evaluator.add(&total, &sum)?,
                None => sum,
            });
        }
        let total =
            total.ok_or_else(|| Error::InvalidArgument("a matrix without diagonals; insert one".into()))?;
        counters.ntt += 2 * down.ntts();
        if encoded.plaintext_ntts() > 0 {
            counters.ntt += (encoded.diagonals() * x.parts()[0].basis().len()) as u64;
        }
        counters.limb_mac += (2 * encoded.diagonals() * x.parts()[0].basis().len()) as u64;
        evaluator.rescale(&total)
    }
}

impl<W: Word> EncodedTransform<W> {
    /// For each giant step g, sum_b rot_-g(D_(g+b)) x_b modulo Q_l, for the ciphertexts x_b of all baby steps.
    fn giant_sums(&self, babies: &[[&Poly<W, Eval>; 2]]) -> Vec<Pair<W>> {
        let (q, n, giants) = (self.rlwe.q(self.level), self.basis().n(), self.giants.len());
        // [limb][giant][2][n]
        let mut sums = vec![W::ZERO; q.len() * giants * 2 * n];
        let memory = || vec![W::ZERO; babies.len() * 2 * n];
        par::for_each_chunk_with(&mut sums, giants * 2 * n, memory, |turned, limb, sums| {
            for (i, baby) in babies.iter().enumerate() {
                for (component, part) in baby.iter().enumerate() {
                    row_to_lines(part.row(limb), (2 * i + component, 2 * babies.len()), turned);
                }
            }
            let turned = KeyRows::new(turned, line::<W>().min(n), babies.len());
            let mut memory = Vec::new();
            for (giant, out) in self.giants.iter().zip(sums.chunks_exact_mut(2 * n)) {
                let (rows, step) = self.giant_rows(limb, giant, &mut memory);
                let (b, a) = out.split_at_mut(n);
                let product = KeyProduct {
                    out: [b, a],
                    lhs: LeftRows::lines(&rows, step).repeating(self.run()),
                    key: turned.range(giant.first, giant.count),
                };
                q.kernels().key_products(q.modulus(limb), &mut [product], false);
            }
        });
        let of = |giant: usize, component: usize| {
            let mut out = Poly::zero(q);
            out.for_each_row_mut(|limb, row| {
                row.copy_from_slice(&sums[((limb * giants + giant) * 2 + component) * n..][..n]);
            });
            out
        };
        (0..giants).map(|giant| Pair { b: of(giant, 0), a: of(giant, 1) }).collect()
    }
}
