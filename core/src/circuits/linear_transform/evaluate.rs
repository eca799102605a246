//! The evaluation: baby steps prime by prime, then giant steps, then one division.

use alloc::{format, string::ToString, vec, vec::Vec};

use super::{babies_giants::Step, encoded::EncodedTransform};
use crate::{
    arith::{KeyProduct, KeyRows, LeftRows, Word, line, row_to_lines},
    error::Error,
    par,
    ring::Automorphism,
    rlwe::{Digits, GaloisSource, HeldKey, Pair, SampleBlock},
    trace::Counters,
};

/// The automorphism and key of a baby step; `None` for the identity.
type Baby<'a, W> = Option<(&'a Automorphism, &'a SampleBlock<W>)>;

/// The same, holding the key.
type HeldBaby<'a, W> = Option<(&'a Automorphism, HeldKey<'a, W>)>;

/// Words that go through all baby steps together: those of 16 steps fit a second-level cache.
const BLOCK: usize = 1024;

/// What one thread needs for the baby steps of a prime.
struct Memory<W> {
    /// P times the input.
    lifted: [Vec<W>; 2],
    /// A block of one baby step.
    product: [Vec<W>; 2],
    /// A block of all baby steps.
    turned: Vec<W>,
    /// By giant step: diagonals that are evaluated here.
    diagonals: Vec<Vec<W>>,
}

impl<W: Word> EncodedTransform<W> {
    /// The map of a ciphertext modulo Q_level, divided by the primes of the level: a pair modulo Q_(level-1).
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a pair or a key of another level; [`Error::MissingKey`] naming a step without a key.
    pub fn apply(&self, x: &Pair<W>, keys: &dyn GaloisSource<W>) -> Result<Pair<W>, Error> {
        self.apply_counted(x, keys, &mut Counters::default())
    }

    /// [`Self::apply`], for a run that counts its work.
    pub(crate) fn apply_counted(
        &self,
        x: &Pair<W>,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        self.check_pair(x)?;
        let down = self.rlwe.mod_down_rescale(self.level)?;
        let held = self.babies(keys)?;
        let babies: Vec<Baby<'_, W>> =
            held.iter().map(|baby| baby.as_ref().map(|(g, key)| (*g, &**key))).collect();
        let digits = self.rlwe.decompose(self.level, &x.a, counters);
        let sums = self.baby_steps(x, &digits, &babies, counters);
        // Fetched keys go before those of the giant steps come.
        drop((digits, babies));
        drop(held);
        let total = self.giant_steps(sums, keys, counters)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(total.b), || down.apply(total.a));
        Ok(Pair { b, a })
    }

    fn check_pair(&self, x: &Pair<W>) -> Result<(), Error> {
        let q = self.rlwe.q(self.level);
        if x.b.basis().same_as(q) && x.a.basis().same_as(q) {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "a pair modulo {} and {} primes of degree {}, a transform at level {} modulo {} of degree {}; bring the pair to \
             that level of the chain",
            x.b.basis().len(),
            x.a.basis().len(),
            x.b.basis().n(),
            self.level,
            q.len(),
            q.n()
        )))
    }

    /// The automorphism of a step and its key.
    fn key<'a>(
        &self,
        keys: &'a dyn GaloisSource<W>,
        step: Step,
    ) -> Result<(&'a Automorphism, HeldKey<'a, W>), Error> {
        let (g, key) =
            keys.galois_key(self.group.element(self.rlwe.ring(), step)).map_err(|error| match error {
                Error::MissingKey(message) => Error::MissingKey(format!("{step}: {message}")),
                other => other,
            })?;
        self.check_key(g, &key)?;
        Ok((g, key))
    }

    fn babies<'a>(&self, keys: &'a dyn GaloisSource<W>) -> Result<Vec<HeldBaby<'a, W>>, Error> {
        let key = |&step: &Step| (step != Step::IDENTITY).then(|| self.key(keys, step)).transpose();
        self.steps.babies().iter().map(key).collect()
    }

    /// For each giant step g, P sum_b rot_-g(D_(g+b)) rot_b(x) modulo Q_l P.
    fn baby_steps(
        &self,
        input: &Pair<W>,
        digits: &Digits<W>,
        babies: &[Baby<'_, W>],
        counters: &mut Counters,
    ) -> Vec<Pair<W>> {
        let (basis, n) = (self.basis(), self.basis().n());
        // In rings of odd index automorphisms move words between blocks, so the block is the whole row.
        let whole = self.rlwe.ring().odd_index().is_some();
        let (block, giants) = (if whole { n } else { n.min(BLOCK) }, self.giants.len());
        let mut out: Vec<Pair<W>> = (0..giants).map(|_| Pair::zero(basis)).collect();
        let mut limbs = Pair::limbs_mut(&mut out, basis);
        let memory = || Memory {
            lifted: [vec![W::ZERO; n], vec![W::ZERO; n]],
            product: [vec![W::ZERO; block], vec![W::ZERO; block]],
            turned: vec![W::ZERO; babies.len() * 2 * block],
            diagonals: vec![Vec::new(); giants],
        };
        par::for_each_chunk_with(&mut limbs, 1, memory, |memory, limb, sums| {
            let Memory { lifted, product, turned, diagonals } = memory;
            self.lift(limb, input, lifted);
            if whole {
                // All words are turned before the products begin. Giant steps follow one after the other and share the memory of one.
                self.turn((limb, 0), lifted, digits, babies, product, turned);
                let turned = KeyRows::new(turned, line::<W>().min(n), babies.len());
                for (giant, [b, a]) in self.giants.iter().zip(sums.iter_mut().flatten()) {
                    let (rows, step) = self.giant_rows(limb, giant, &mut diagonals[0]);
                    let lhs = LeftRows::lines(&rows, step).repeating(self.run());
                    let product =
                        KeyProduct { out: [b, a], lhs, key: turned.range(giant.first, giant.count) };
                    basis.kernels().key_products(basis.modulus(limb), &mut [product], false);
                }
                return;
            }
            let rows: Vec<(Vec<&[W]>, usize)> = self
                .giants
                .iter()
                .zip(diagonals)
                .map(|(g, memory)| self.giant_rows(limb, g, memory))
                .collect();
            for start in (0..n).step_by(block) {
                self.turn((limb, start), lifted, digits, babies, product, turned);
                let turned = KeyRows::new(turned, line::<W>().min(n), babies.len());
                let products = self.giants.iter().zip(&rows).zip(sums.iter_mut().flatten());
                let mut products: Vec<KeyProduct<'_, W>> = products
                    .map(|((giant, (rows, step)), [b, a])| KeyProduct {
                        out: [&mut b[start..start + block], &mut a[start..start + block]],
                        lhs: LeftRows::lines(rows, *step).repeating(self.run()).from(start),
                        key: turned.range(giant.first, giant.count),
                    })
                    .collect();
                basis.kernels().key_products(basis.modulus(limb), &mut products, false);
            }
        });
        let turns = babies.iter().flatten().count();
        counters.ntt += self.plaintext_ntts();
        counters.limb_mac += (2 * (turns * digits.count() + self.diagonals()) * basis.len()) as u64;
        counters.key_switch += turns as u64;
        out
    }

    /// P x modulo prime `limb`; it is zero modulo special primes.
    fn lift(&self, limb: usize, x: &Pair<W>, out: &mut [Vec<W>; 2]) {
        let (rlwe, basis) = (&self.rlwe, self.basis());
        for (row, part) in out.iter_mut().zip([&x.b, &x.a]) {
            if limb < x.b.basis().len() {
                row.copy_from_slice(part.row(limb));
                basis.kernels().mul_scalar_assign(basis.modulus(limb), row, &rlwe.special_mod_q()[limb]);
            } else {
                row.fill(W::ZERO);
            }
        }
    }

    /// `[line][baby][2][words]`: words `start` and following of P rot_b(x) modulo prime `limb`, for every baby step.
    ///
    /// Under an automorphism every aligned block of evaluations, with any power of two as its length, comes from one aligned block.
    fn turn<'a>(
        &self,
        (limb, start): (usize, usize),
        lifted: &[Vec<W>; 2],
        digits: &Digits<W>,
        babies: &[Baby<'a, W>],
        [b, a]: &mut [Vec<W>; 2],
        out: &mut [W],
    ) {
        let (basis, block, own) = (self.basis(), b.len(), self.rlwe.q(self.level).len());
        let (m, kernels) = (basis.modulus(limb), basis.kernels());
        let (lhs, step) = digits.rows(limb);
        let limb_of = |key: &SampleBlock<W>| if limb < own { limb } else { key.q_len() + limb - own };
        // What a baby step with a key reads for the block at `at`: a place in the digits, and the key from there.
        let read = |(automorphism, key): (&'a Automorphism, &'a SampleBlock<W>), at: usize| {
            let origin = automorphism.permutation()[at] as usize / block * block;
            (origin, key.limb(limb_of(key)).range(0, lhs.len()).from(origin))
        };
        let next_block = Some(start + block).filter(|&at| at < basis.n());
        for (i, baby) in babies.iter().enumerate() {
            let place = |component: usize| (2 * i + component, 2 * babies.len());
            let Some((automorphism, key)) = baby else {
                for (component, row) in lifted.iter().enumerate() {
                    row_to_lines(&row[start..start + block], place(component), out);
                }
                continue;
            };
            let from = &automorphism.permutation()[start..start + block];
            let (origin, key) = read((*automorphism, *key), start);
            let follower = babies[i + 1..].iter().flatten().next().map(|&baby| read(baby, start));
            let first = babies.iter().flatten().next();
            let next = follower.or_else(|| Some(read(*first?, next_block?)));
            let product = KeyProduct {
                out: [&mut *b, &mut *a],
                lhs: LeftRows::lines(&lhs, step).from(origin),
                key: key.followed_by(next.map(|(_, key)| key)),
            };
            kernels.key_products(m, &mut [product], false);
            if limb < own {
                kernels.add_assign(m, b, &lifted[0][origin..origin + block]);
            }
            for (component, part) in [&b, &a].into_iter().enumerate() {
                kernels.permute_to_lines(out, place(component), part, from, origin as u32);
            }
        }
    }

    /// P times the sum over all giant steps, modulo Q_l P.
    fn giant_steps(
        &self,
        mut sums: Vec<Pair<W>>,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let (rlwe, level, basis) = (&self.rlwe, self.level, self.basis());
        let down = rlwe.mod_down(level);
        let still = self.giants.iter().position(|giant| giant.step == Step::IDENTITY);
        let mut total = still.map_or_else(|| Pair::zero(basis), |i| sums.remove(i));
        for (giant, sum) in self.giants.iter().filter(|giant| giant.step != Step::IDENTITY).zip(sums) {
            let (automorphism, key) = self.key(keys, giant.step)?;
            let a = down.apply(sum.a);
            counters.ntt += down.ntts();
            rlwe.switch_onto(&mut total, (&sum.b, &a), level, (automorphism, &key), counters);
        }
        Ok(total)
    }

    fn check_key(&self, g: &Automorphism, key: &SampleBlock<W>) -> Result<(), Error> {
        let rlwe = &self.rlwe;
        let own = rlwe.switching_key_level(key);
        if own.is_some_and(|own| own >= self.level) && g.permutation().len() == rlwe.width() {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "Galois key of element {} reaches level {}, the transform is at level {}; make the key at {} or above, \
             with this chain",
            g.element().value(),
            own.map_or_else(|| "none of this chain".into(), |own| own.to_string()),
            self.level,
            self.level
        )))
    }
}
