//! The samples of the evaluation keys, made from the secret key one at a time.

use alloc::{format, vec, vec::Vec};
use core::ops::Range;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::{
    layout::{self, BlockId, Segment},
    masks::{mask_payload, quarter_masks},
    secret::ShipSecretKey,
};
use crate::{
    arith::{Shoup, Word},
    error::Error,
    ring::{Automorphism, Eval, GaloisElement, Poly},
    rlwe::{GadgetTarget, Pair, switching_sample},
};

/// Takes a sample and its index in the block.
pub(super) type Sink<'a, W> = dyn FnMut(usize, Pair<W>) + 'a;

impl<W: Word> ShipSecretKey<W> {
    /// Makes the samples of a segment in order and hands each to `sink`: a caller that sends or
    /// stores them needs memory for one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a segment outside its block.
    pub fn for_each_sample(
        &self,
        segment: Segment,
        sink: &mut dyn FnMut(usize, Pair<W>),
    ) -> Result<(), Error> {
        let (context, encapsulation) = (self.params.ckks().rlwe(), self.params.encapsulation());
        let block = segment.block;
        let samples = layout::samples(block, self.params.spec(), context, encapsulation);
        let range = segment.first..segment.first.saturating_add(segment.count);
        if range.end > samples {
            return Err(Error::InvalidArgument(format!(
                "samples {} to {} asked of a block of {samples}; ask for fewer",
                range.start, range.end
            )));
        }
        match block {
            BlockId::Encapsulation => {
                let all = self.sparse().encapsulation_samples(
                    encapsulation,
                    &self.dense,
                    &self.seeds,
                    block.code(),
                );
                for (index, sample) in all.into_iter().enumerate().filter(|(i, _)| range.contains(i)) {
                    sink(index, sample);
                }
            }
            BlockId::Rotation { index } => {
                let steps = layout::rotation_steps(self.params.slots(), index);
                self.galois_samples(block, GaloisElement::rotation(steps, self.params.n()), range, sink);
            }
            BlockId::Conjugation => {
                self.galois_samples(block, GaloisElement::conjugation(self.params.n()), range, sink);
            }
            BlockId::Relinearization => {
                let v = self.dense.eval();
                let u = Zeroizing::new(v.mul(v));
                self.switching_samples(block, range, &u, v, sink);
            }
            BlockId::Column { track } => self.column_samples(block, track, range, sink)?,
            BlockId::Mux { track, step, branch } => {
                self.mux_samples(block, (track, step, branch), range, sink);
            }
        }
        Ok(())
    }

    /// KSK(s -> sigma_g^-1(s)) at the level of the block.
    fn galois_samples(&self, block: BlockId, g: GaloisElement, range: Range<usize>, sink: &mut Sink<'_, W>) {
        let context = self.params.ckks().rlwe();
        let v = self.dense.galois_target(context, layout::level(block, context), g);
        self.switching_samples(block, range, self.dense.eval(), &v, sink);
    }

    /// KSK(u -> v) at the level of the block.
    fn switching_samples(
        &self,
        block: BlockId,
        range: Range<usize>,
        u: &Poly<W, Eval>,
        v: &Poly<W, Eval>,
        sink: &mut Sink<'_, W>,
    ) {
        let context = self.params.ckks().rlwe();
        let level = layout::level(block, context);
        for digit in range {
            let target = GadgetTarget { level, digit };
            let name = (block.code(), digit);
            sink(digit, switching_sample(context, &self.seeds, name, target, u, v));
        }
    }

    /// RLWE encryptions of P · mask_q where the candidate is the secret one, of 0 elsewhere.
    fn column_samples(
        &self,
        block: BlockId,
        track: usize,
        range: Range<usize>,
        sink: &mut Sink<'_, W>,
    ) -> Result<(), Error> {
        let payloads = self.column_payloads(track)?;
        for index in range {
            let selected = self.is_candidate(track, index / 4);
            let mut sample = self.seeds.sample(block.code(), index, self.dense.eval(), None);
            let (payload, basis) = (&payloads[index % 4], self.dense.basis());
            for limb in 0..basis.len() {
                let m = basis.modulus(limb);
                let factor = times_bit(m.shoup(W::ONE), selected);
                let row = sample.b.row_mut(limb);
                basis.kernels().mul_scalar_add_assign(m, row, payload.row(limb), &factor);
            }
            sink(index, sample);
        }
        Ok(())
    }

    /// P · mask_q of a track for the four quarters.
    pub(super) fn column_payloads(&self, track: usize) -> Result<Zeroizing<Vec<Poly<W, Eval>>>, Error> {
        let params = &self.params;
        let context = params.ckks().rlwe();
        let factor = &self.factors[track];
        let rotation = params.offset(track) as u64 + params.spec().columns as u64 * u64::from(factor.r1);
        let mut payloads = Zeroizing::new(Vec::with_capacity(4));
        for mask in &*Zeroizing::new(quarter_masks(params.slots(), rotation, factor.j)) {
            let (basis, special) = (context.qp(context.max_level()), context.special().len());
            payloads.push(mask_payload(params.ckks().encoder(), basis, special, mask)?);
        }
        Ok(payloads)
    }

    /// 1 for the secret candidate of a track's column, 0 for the others: a factor, never a condition.
    pub(super) fn is_candidate(&self, track: usize, candidate: usize) -> W {
        W::from_u64(u64::from((candidate as u32).ct_eq(&self.factors[track].r0).unwrap_u8()))
    }

    /// 1 for the secret branch of a multiplexer step, 0 for the others: a factor, never a condition.
    pub(super) fn is_branch(&self, track: usize, step: usize, branch: usize) -> W {
        W::from_u64(u64::from((branch as u32).ct_eq(&self.factors[track].digits[step]).unwrap_u8()))
    }

    /// KSK(beta -> sigma_g^-1(s)) and KSK(beta s -> sigma_g^-1(s)), beta = [branch is the digit].
    fn mux_samples(
        &self,
        block: BlockId,
        (track, step, branch): (usize, usize, usize),
        range: Range<usize>,
        sink: &mut Sink<'_, W>,
    ) {
        let (params, context) = (&self.params, self.params.ckks().rlwe());
        let level = context.max_level();
        let digits = context.digit_count(level);
        // The automorphism rotates right, by 5^-rotation; its inverse rotates left.
        let rotation = params.branch_rotation(track, step, branch);
        let v = self.dense.automorphism(&Automorphism::rotation(params.n(), rotation));
        let beta = self.is_branch(track, step, branch).to_u64() as i64;
        // The constant polynomial beta, and beta s.
        let q = context.q(level);
        let mut body = Poly::from_rows(q, vec![W::ONE; q.len() * params.n()]);
        body.mul_integer_assign(beta);
        let mut mask = self.dense.modulo_q(q);
        mask.mul_integer_assign(beta);
        for index in range {
            let u: &Poly<W, Eval> = if index < digits { &body } else { &mask };
            let target = GadgetTarget { level, digit: index % digits };
            let name = (block.code(), index);
            sink(index, switching_sample(context, &self.seeds, name, target, u, &v));
        }
        body.zeroize();
    }
}

/// A factor if `bit` is 1, zero if it is 0.
pub(super) fn times_bit<W: Word>(factor: Shoup<W>, bit: W) -> Shoup<W> {
    Shoup { value: factor.value.mul_lo(bit), quotient: factor.quotient.mul_lo(bit) }
}
