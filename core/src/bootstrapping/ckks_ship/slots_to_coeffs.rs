//! Stage 1: slots to coefficients, one level, baby-step giant-step with double hoisting.
//!
//! Baby steps are divided by P each and kept modulo q0 qs, not modulo q0 qs P: the products with the S diagonals,
//! which are nearly all the work, then have no special prime. Their roundings are multiplied by the matrix like the
//! noise of the input, and are of its size (`NoiseModel::slots_to_coeffs`).

use alloc::vec::Vec;

use super::{
    diagonals::{Diagonals, Group, Matrix},
    keys::CommonKeys,
    layout::{rotation_count, rotation_steps},
    params::ShipParams,
};
use crate::{
    arith::{KeyProduct, LeftRows, Modulus, Shoup, Word},
    error::Error,
    par,
    ring::{Automorphism, Basis, Eval, ModDown, Poly},
    rlwe::{Digits, Pair, RlweContext, SampleBlock},
    schemes::ckks::Scale,
    trace::Counters,
};

/// The matrix V, `V[k][j] = zeta^(5^k j)`, as encoded diagonals for one input scale.
///
/// `out = sum_g rotate_(g bs)( sum_j d'_(g,j) · rotate_j(z) )`, with
/// `d'_(g,j)[k] = V[k'][(k' + g bs + j) mod S]`, `k' = k - g bs`. Diagonals are encoded with scale
/// q0 qs / (gamma · input scale), which makes the scale of the coefficients exactly q0 / gamma.
pub struct SlotsToCoeffs<W: Word> {
    input_scale: Scale,
    narrow: Narrow<W>,
    matrix: Matrix<W>,
    /// The automorphisms of the rotation keys, in the order of the keys.
    rotations: Vec<Automorphism>,
}

impl<W: Word> SlotsToCoeffs<W> {
    /// Prepares the map for ciphertexts of one scale.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] if the scale leaves no bit for the diagonals, or more than a word holds.
    pub fn new(params: &ShipParams<W>, input_scale: Scale, keep: Diagonals) -> Result<Self, Error> {
        let levels = &params.spec().levels;
        let moduli = Scale::product(levels[0].iter().chain(&levels[1]).copied());
        let scale = moduli.div(Scale::new(params.spec().gamma)).div(input_scale);
        let narrow = Narrow::new(params.ckks().rlwe(), params.input_level());
        // Every slot of a diagonal has modulus 1: no coefficient exceeds the scale.
        let half = (narrow.carrier().value_u64() / 2) as f64;
        let most = half.min((1u64 << 51) as f64);
        if scale.to_f64() < 2.0 || scale.to_f64() >= most {
            return Err(Error::ScaleMismatch(alloc::format!(
                "a ciphertext of scale 2^{:.2} leaves scale 2^{:.2} to the slots-to-coefficients matrix, which takes \
                 2^1 to 2^{:.2}; rescale it towards 2^{:.2}",
                input_scale.log2(),
                scale.log2(),
                libm::log2(most),
                params.spec().log_scale
            )));
        }
        let matrix = Matrix::new(params, scale, &narrow.basis, narrow.carrier(), keep)?;
        let rotation = |index| Automorphism::rotation(params.n(), rotation_steps(params.slots(), index));
        let rotations = par::map(rotation_count(params.slots()), rotation);
        Ok(Self { input_scale, narrow, matrix, rotations })
    }

    /// The ciphertext scale the diagonals were made for.
    pub fn input_scale(&self) -> Scale {
        self.input_scale
    }

    /// Bytes of the diagonals that are kept.
    pub fn memory_bytes(&self) -> usize {
        self.matrix.memory_bytes()
    }

    /// Slots to coefficients: (b, a) at level 1 to (b, a) modulo q0.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn apply(
        &self,
        params: &ShipParams<W>,
        x: &Pair<W>,
        keys: &CommonKeys<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let steps = self.baby_steps(params, x, keys, counters);
        let sums = self.products(params, &steps)?;
        drop(steps);
        self.giant_steps(params, &sums, keys, counters)
    }

    /// The modulus q0 qs of baby steps and of [`Self::group_sum`].
    pub(super) fn narrow_basis(&self) -> &Basis<W> {
        &self.narrow.basis
    }

    /// The second half of [`Self::apply`], from the sum of every group of diagonals; counts their work too.
    pub(super) fn giant_steps(
        &self,
        params: &ShipParams<W>,
        sums: &[Pair<W>],
        keys: &CommonKeys<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let level = params.input_level();
        let rlwe = params.ckks().rlwe();
        let (baby, giant) = params.bsgs();
        counters.limb_mac += (2 * baby * giant * self.narrow.basis.len()) as u64;
        counters.ntt += giant as u64 * self.matrix.ntts_per_group(baby);
        // Giant steps are independent; each gives a summand modulo q0 qs P.
        let groups = par::map(giant, |g| {
            let mut counters = Counters::default();
            let mut out = Pair::zero(rlwe.qp(level));
            if g == 0 {
                self.narrow.widen_add_assign(&mut out.b, &sums[g].b);
                self.narrow.widen_add_assign(&mut out.a, &sums[g].a);
                return (out, counters);
            }
            let digits = rlwe.decompose(level, &sums[g].a, &mut counters);
            rlwe.key_product(&[&digits], &keys.rotations[baby - 2 + g], &mut out, false, &mut counters);
            self.narrow.widen_add_assign(&mut out.b, &sums[g].b);
            (out.automorphism(&self.rotations[baby - 2 + g]), counters)
        });
        let mut total = Pair::zero(rlwe.qp(level));
        for (sum, work) in &groups {
            total.add_assign(sum);
            *counters += *work;
        }
        // One division by P qs at the end: one rounding for the whole map.
        let down = rlwe.mod_down_rescale(level)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(total.b), || down.apply(total.a));
        Ok(Pair { b, a })
    }

    /// rotate_j(x) modulo q0 qs for j < bs, as samples: one decomposition serves them all.
    pub(super) fn baby_steps(
        &self,
        params: &ShipParams<W>,
        x: &Pair<W>,
        keys: &CommonKeys<W>,
        counters: &mut Counters,
    ) -> SampleBlock<W> {
        let (rlwe, level, (baby, _)) = (params.ckks().rlwe(), params.input_level(), params.bsgs());
        let digits = rlwe.decompose(level, &x.a, counters);
        let mut steps = SampleBlock::zero(&self.narrow.basis, 0, baby);
        let rotated = par::map(baby, |j| {
            let mut counters = Counters::default();
            (self.baby_step(rlwe, level, x, &digits, j, keys, &mut counters), counters)
        });
        for (j, (pair, work)) in rotated.iter().enumerate() {
            steps.set(j, pair);
            *counters += *work;
        }
        steps
    }

    fn baby_step(
        &self,
        rlwe: &RlweContext<W>,
        level: usize,
        x: &Pair<W>,
        digits: &Digits<W>,
        step: usize,
        keys: &CommonKeys<W>,
        counters: &mut Counters,
    ) -> Pair<W> {
        if step == 0 {
            return x.clone();
        }
        let mut out = Pair::zero(rlwe.qp(level));
        rlwe.key_product(&[digits], &keys.rotations[step - 1], &mut out, false, counters);
        let down = &self.narrow.down;
        counters.ntt += 2 * down.ntts();
        let mut out = Pair { b: down.apply(out.b), a: down.apply(out.a) };
        out.b.add_assign(&x.b);
        out.automorphism(&self.rotations[step - 1])
    }

    /// sum_j d'_(g,j) · steps_j modulo q0 qs, for one group g.
    pub(super) fn group_sum(
        &self,
        params: &ShipParams<W>,
        steps: &SampleBlock<W>,
        g: usize,
    ) -> Result<Pair<W>, Error> {
        let (group, mut sum) = (self.matrix.group(params, g)?, Pair::zero(&self.narrow.basis));
        (0..self.narrow.basis.len()).for_each(|limb| self.group_product(&group, steps, limb, &mut sum));
        Ok(sum)
    }

    /// The products of one group modulo one prime.
    fn group_product(
        &self,
        group: &Group<'_, W>,
        steps: &SampleBlock<W>,
        limb: usize,
        Pair { b, a }: &mut Pair<W>,
    ) {
        let (m, kernels) = (self.narrow.basis.modulus(limb), self.narrow.basis.kernels());
        if let Some((rows, step)) = group.evaluated(limb) {
            let (out, lhs) = ([b.row_mut(limb), a.row_mut(limb)], LeftRows::lines(&rows, step));
            kernels.key_products(m, &mut [KeyProduct { out, lhs, key: steps.limb(limb) }], false);
            return;
        }
        group.for_each_batch(limb, |first, rows| {
            let key = steps.limb(limb).range(first, rows.len());
            let (out, lhs) = ([b.row_mut(limb), a.row_mut(limb)], LeftRows::whole(rows));
            kernels.key_products(m, &mut [KeyProduct { out, lhs, key }], first > 0);
        });
    }

    /// [`Self::group_sum`] for every group.
    fn products(&self, params: &ShipParams<W>, steps: &SampleBlock<W>) -> Result<Vec<Pair<W>>, Error> {
        let (_, giant) = params.bsgs();
        let basis = &self.narrow.basis;
        if self.matrix.remade() {
            return par::try_map(giant, |g| self.group_sum(params, steps, g));
        }
        // Prime by prime and a few groups together: the baby steps come from the nearest cache for all but the first.
        let groups = (0..giant).map(|g| self.matrix.group(params, g)).collect::<Result<Vec<_>, _>>()?;
        let mut sums: Vec<Pair<W>> = (0..giant).map(|_| Pair::zero(basis)).collect();
        for limb in 0..basis.len() {
            par::for_each_chunk_mut(&mut sums, GROUPS, |chunk, sums| {
                let groups = &groups[chunk * GROUPS..chunk * GROUPS + sums.len()];
                let Some(rows) = groups.iter().map(|group| group.evaluated(limb)).collect::<Option<Vec<_>>>()
                else {
                    groups
                        .iter()
                        .zip(sums)
                        .for_each(|(group, sum)| self.group_product(group, steps, limb, sum));
                    return;
                };
                let mut products: Vec<KeyProduct<'_, W>> = Vec::with_capacity(sums.len());
                for (Pair { b, a }, (rows, step)) in sums.iter_mut().zip(&rows) {
                    let lhs = LeftRows::lines(rows, *step);
                    products.push(KeyProduct {
                        out: [b.row_mut(limb), a.row_mut(limb)],
                        lhs,
                        key: steps.limb(limb),
                    });
                }
                basis.kernels().key_products(basis.modulus(limb), &mut products, false);
            });
        }
        Ok(sums)
    }
}

/// Groups of diagonals that are multiplied by a line of the baby steps together.
const GROUPS: usize = 8;

/// The modulus q0 qs of the products, with the conversions from and to q0 qs P.
struct Narrow<W: Word> {
    basis: Basis<W>,
    wide: Basis<W>,
    /// Division by P, from q0 qs P.
    down: ModDown<W>,
    /// P modulo the primes of q0 qs; modulo its own primes it is 0.
    special: Vec<Shoup<W>>,
}

impl<W: Word> Narrow<W> {
    fn new(context: &RlweContext<W>, level: usize) -> Self {
        let (wide, q) = (context.qp(level), context.q(level));
        let special = (0..q.len()).map(|limb| {
            let m = q.modulus(limb);
            let primes = (q.len()..wide.len()).map(|i| m.reduce_u64(wide.modulus(i).value_u64()));
            m.shoup(primes.fold(W::ONE, |x, p| m.mul(x, p)))
        });
        Self {
            down: ModDown::new(q, &wide.select(q.len()..wide.len())),
            special: special.collect(),
            basis: q.clone(),
            wide: wide.clone(),
        }
    }

    /// A prime above twice every coefficient of a diagonal: the first special one.
    fn carrier(&self) -> &Modulus<W> {
        self.wide.modulus(self.basis.len())
    }

    /// out += P x modulo q0 qs P, given x modulo q0 qs: exact.
    fn widen_add_assign(&self, out: &mut Poly<W, Eval>, x: &Poly<W, Eval>) {
        for (limb, special) in self.special.iter().enumerate() {
            let m = self.basis.modulus(limb);
            self.basis.kernels().mul_scalar_add_assign(m, out.row_mut(limb), x.row(limb), special);
        }
    }
}
