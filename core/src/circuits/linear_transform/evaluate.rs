//! The evaluation: baby steps prime by prime, then giant steps, then one division.

use alloc::{vec, vec::Vec};

use super::transform::LinearTransform;
use crate::{
    arith::{KeyProduct, KeyRows, LeftRows, Word, in_lines, line},
    error::Error,
    par,
    ring::{Automorphism, Eval, Poly},
    rlwe::{Digits, GaloisKeys, Pair, SampleBlock},
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::Counters,
};

/// A baby step: its automorphism and key; none for the step 0.
type Baby<'a, W> = Option<(&'a Automorphism, &'a SampleBlock<W>)>;

impl<W: Word> LinearTransform<W> {
    /// The map of the slots of `x`: one level down, scale S · `scale` / q_level.
    ///
    /// `x` may be above the level of the transform; it is brought down first.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`]; [`Error::InvalidArgument`] if `x` was not relinearised;
    /// [`Error::MissingKey`] naming a rotation without a key.
    pub fn apply(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &GaloisKeys<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let x = evaluator.drop_to_level(x, self.level)?;
        let input = x.pair()?;
        let rlwe = self.context.rlwe();
        let down = rlwe.mod_down_rescale(self.level)?;
        let babies = self.babies(keys)?;
        let digits = rlwe.decompose(self.level, &input.a, counters);
        let sums = self.baby_steps(&input, &digits, &babies, counters);
        drop(digits);
        let total = self.giant_steps(&sums, keys, counters)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(total.b), || down.apply(total.a));
        let scale = evaluator.scale_after_rescale(x.scale().mul(self.scale), self.level);
        Ok(x.with_pair(Pair { b, a }, self.level - 1, scale))
    }

    fn babies<'a>(&self, keys: &'a GaloisKeys<W>) -> Result<Vec<Baby<'a, W>>, Error> {
        let key = |&step: &i64| {
            let found = if step == 0 { None } else { Some(keys.rotation(step)?) };
            found.map(|(g, key)| self.check_key(g, key).map(|()| (g, key))).transpose()
        };
        self.steps.babies().iter().map(key).collect()
    }

    /// `[limb][giant][2][n]`: P sum_b rot_-g(D_(g+b)) rot_b(x) modulo Q_l P.
    fn baby_steps(
        &self,
        input: &Pair<W>,
        digits: &Digits<W>,
        babies: &[Baby<'_, W>],
        counters: &mut Counters,
    ) -> Vec<W> {
        let (basis, n) = (self.basis(), self.basis().n());
        let mut out = vec![W::ZERO; basis.len() * self.giants.len() * 2 * n];
        // One memory per run of limbs: it is as large as all baby steps of a limb.
        let memory =
            || (vec![W::ZERO; babies.len() * 2 * n], self.giants.iter().map(|_| Vec::new()).collect());
        par::for_each_chunk_with(
            &mut out,
            self.giants.len() * 2 * n,
            memory,
            |(turned, memory), limb, sums| {
                let memory: &mut Vec<Vec<W>> = memory;
                self.turn(limb, input, digits, babies, turned);
                let turned = KeyRows::new(turned, line::<W>().min(n), babies.len());
                let rows: Vec<(Vec<&[W]>, usize)> = self
                    .giants
                    .iter()
                    .zip(memory)
                    .map(|(giant, memory)| in_lines(self.giant_rows(limb, giant, memory), n))
                    .collect();
                let mut products: Vec<KeyProduct<'_, W>> = self
                    .giants
                    .iter()
                    .zip(&rows)
                    .zip(sums.chunks_exact_mut(2 * n))
                    .map(|((giant, (rows, step)), out)| {
                        let (b, a) = out.split_at_mut(n);
                        KeyProduct {
                            out: [b, a],
                            lhs: LeftRows { rows, step: *step },
                            key: turned.range(giant.first, giant.count),
                        }
                    })
                    .collect();
                basis.kernels().key_products(basis.modulus(limb), &mut products, false);
            },
        );
        let turns = babies.iter().flatten().count();
        counters.ntt += self.plaintext_ntts();
        counters.limb_mac += (2 * (turns * digits.count() + self.diagonals()) * basis.len()) as u64;
        counters.key_switch += turns as u64;
        out
    }

    /// P rot_b(x) modulo prime `limb` for every baby step, `[line][baby][2][words]`.
    fn turn(&self, limb: usize, input: &Pair<W>, digits: &Digits<W>, babies: &[Baby<'_, W>], out: &mut [W]) {
        let (rlwe, basis, n) = (self.context.rlwe(), self.basis(), self.basis().n());
        let (m, kernels) = (basis.modulus(limb), basis.kernels());
        let (own, tile) = (input.b.basis().len(), line::<W>().min(n));
        // P x modulo this prime, which is zero if it is a special one.
        let mut lifted = [vec![W::ZERO; n], vec![W::ZERO; n]];
        if limb < own {
            for (row, part) in lifted.iter_mut().zip([&input.b, &input.a]) {
                row.copy_from_slice(part.row(limb));
                kernels.mul_scalar_assign(m, row, &rlwe.special_mod_q()[limb]);
            }
        }
        let (lhs, step) = digits.rows(limb);
        let mut product = [vec![W::ZERO; n], vec![W::ZERO; n]];
        for (i, baby) in babies.iter().enumerate() {
            let places = |component: usize| (2 * i + component) * tile;
            let Some((automorphism, key)) = baby else {
                for (component, row) in lifted.iter().enumerate() {
                    for (words, tiles) in
                        row.chunks_exact(tile).zip(out.chunks_exact_mut(babies.len() * 2 * tile))
                    {
                        tiles[places(component)..][..tile].copy_from_slice(words);
                    }
                }
                continue;
            };
            let [b, a] = &mut product;
            let key_limb = if limb < own { limb } else { key.q_len() + limb - own };
            let rows = key.limb(key_limb).range(0, lhs.len());
            let lhs = LeftRows { rows: &lhs, step };
            kernels.key_products(m, &mut [KeyProduct { out: [&mut *b, &mut *a], lhs, key: rows }], false);
            if limb < own {
                kernels.add_assign(m, b, &lifted[0]);
            }
            for (component, part) in [b, a].into_iter().enumerate() {
                let lines = automorphism.permutation().chunks_exact(tile);
                for (line, tiles) in lines.zip(out.chunks_exact_mut(babies.len() * 2 * tile)) {
                    for (word, &j) in tiles[places(component)..][..tile].iter_mut().zip(line) {
                        *word = part[j as usize];
                    }
                }
            }
        }
    }

    /// P times the sum over all giant steps, modulo Q_l P.
    fn giant_steps(
        &self,
        sums: &[W],
        keys: &GaloisKeys<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let (rlwe, level, basis) = (self.context.rlwe(), self.level, self.basis());
        let down = rlwe.mod_down(level);
        let mut total = Pair::zero(basis);
        let mut product = Pair::zero(basis);
        for (i, giant) in self.giants.iter().enumerate() {
            if giant.step == 0 {
                self.add_part(&mut total.b, sums, (i, 0));
                self.add_part(&mut total.a, sums, (i, 1));
                continue;
            }
            let (automorphism, key) = keys.rotation(giant.step)?;
            self.check_key(automorphism, key)?;
            let mut a = Poly::zero(basis);
            self.add_part(&mut a, sums, (i, 1));
            let a = down.apply(a);
            counters.ntt += down.ntts();
            rlwe.switch_into(&a, level, key, &mut product, counters);
            self.add_part(&mut product.b, sums, (i, 0));
            total.automorphism_add_assign(&product, automorphism);
        }
        Ok(total)
    }

    /// out += component of the sum of giant step `i`.
    fn add_part(&self, out: &mut Poly<W, Eval>, sums: &[W], (giant, component): (usize, usize)) {
        let (basis, n) = (self.basis(), self.basis().n());
        out.for_each_row_mut(|limb, row| {
            let part = &sums[((limb * self.giants.len() + giant) * 2 + component) * n..][..n];
            basis.kernels().add_assign(basis.modulus(limb), row, part);
        });
    }

    fn check_key(&self, g: &Automorphism, key: &SampleBlock<W>) -> Result<(), Error> {
        let rlwe = self.context.rlwe();
        let own = rlwe.key_level(key);
        if own.is_some_and(|own| own >= self.level) && g.permutation().len() == rlwe.n() {
            return Ok(());
        }
        Err(Error::LevelMismatch(alloc::format!(
            "Galois key of element {} reaches level {}, the transform is at level {}; make the key at {} or above, \
             with this chain",
            g.element().value(),
            own.map_or_else(|| "none of this chain".into(), |own| alloc::string::ToString::to_string(&own)),
            self.level,
            self.level
        )))
    }
}
