//! The two linear maps of a set, encoded for its levels and scales.

use alloc::{vec, vec::Vec};

use super::{params::RaisingParams, reduction::ReductionSpec, spec::StageOrder};
use crate::{
    arith::{Word, complex::Complex},
    circuits::linear_transform::{
        Diagonals, LinearTransform, PlaintextStorage, coeffs_to_slots_stages, slots_to_coeffs_shapes,
        slots_to_coeffs_stages,
    },
    error::Error,
    schemes::ckks::Scale,
};

/// Stages of both maps in the order in which they are applied.
pub(super) struct Maps<W: Word> {
    pub coeffs_to_slots: Vec<LinearTransform<W>>,
    pub slots_to_coeffs: Vec<LinearTransform<W>>,
}

impl<W: Word> Maps<W> {
    pub fn new<R: ReductionSpec>(
        params: &RaisingParams<R, W>,
        storage: PlaintextStorage,
    ) -> Result<Self, Error> {
        let (spec, levels, slots) = (params.spec(), params.levels(), params.slots());
        let mut back = coeffs_to_slots_stages(slots, spec.coeffs_to_slots)?;
        let mut there = slots_to_coeffs_stages(slots, spec.slots_to_coeffs)?;
        if params.packs_parts() {
            // 2n slots: w and -i w, whose real parts are those of the coefficients and the imaginary ones.
            let halves = |second: Complex| [vec![Complex::ONE; slots], vec![second; slots]].concat();
            if let Some(last) = back.last_mut() {
                *last = last.repeated(2 * slots)?;
                last.scale_rows(&halves(-Complex::I))?;
            }
            // Real and imaginary part are joined by the first stage, and by a rotation by n after the last.
            if let Some(first) = there.first_mut() {
                *first = first.repeated(2 * slots)?;
                first.scale_columns(&halves(Complex::I))?;
            }
        }
        // Slots y at scale K q0 N/2n before, y/2 at half the scale of the reduction after: parts are sums of two.
        let raised = params
            .base_modulus()
            .mul(Scale::new(f64::from(spec.reduction.range())))
            .mul(Scale::new((params.n() / (2 * slots)) as f64));
        let to_slots = params.eval_scale().div(raised.mul(Scale::new(2.0)));
        let to_coeffs = match spec.order {
            StageOrder::CoeffsToSlotsFirst => params.scale().div(params.reduced_scale()),
            StageOrder::SlotsToCoeffsFirst => params.raised_message_scale().div(params.scale()),
        };
        let encode = |matrices: &[Diagonals], top, ratio| encoded(params, matrices, top, ratio, storage);
        Ok(Self {
            coeffs_to_slots: encode(&back, levels.coeffs_to_slots, to_slots)?,
            slots_to_coeffs: encode(&there, levels.slots_to_coeffs, to_coeffs)?,
        })
    }

    /// Bytes of encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(LinearTransform::memory_bytes).sum()
    }
}

/// The stages of slots-to-coefficients for slots at the lowest level that has room for them and at the scale of the set, after which
/// a slot of 1 is `turns` of q0 in a coefficient at level 0: the same automorphisms as those of the set's own map.
pub(in crate::bootstrapping) fn slots_to_base<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    turns: f64,
    storage: PlaintextStorage,
) -> Result<Vec<LinearTransform<W>>, Error> {
    let stages = params.spec().slots_to_coeffs;
    let ratio = params.base_modulus().mul(Scale::new(turns)).div(params.scale());
    encoded(params, &slots_to_coeffs_stages(params.slots(), stages)?, stages, ratio, storage)
}

/// Bytes of the diagonals of [`slots_to_base`] in memory.
pub(in crate::bootstrapping) fn slots_to_base_bytes<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    storage: PlaintextStorage,
) -> u64 {
    let stages = params.spec().slots_to_coeffs;
    // The shapes were listed when the set was validated.
    slots_to_coeffs_shapes(params.slots(), stages).map_or(0, |shapes| {
        let bytes = |(i, shape)| LinearTransform::memory_bytes_for(params.ckks(), shape, stages - i, storage);
        shapes.iter().enumerate().map(bytes).sum()
    })
}

/// Stages from level `top` down which multiply the scale by `ratio` in all. It is spread evenly, so that no stage's
/// diagonals are left with few bits.
fn encoded<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    matrices: &[Diagonals],
    top: usize,
    ratio: Scale,
    storage: PlaintextStorage,
) -> Result<Vec<LinearTransform<W>>, Error> {
    let primes = &params.ckks().rlwe().spec().levels;
    let even = Scale::new(libm::pow(ratio.to_f64(), 1.0 / matrices.len() as f64));
    let mut left = ratio;
    let mut out = Vec::with_capacity(matrices.len());
    for (i, matrix) in matrices.iter().enumerate() {
        let own = if i + 1 == matrices.len() { left } else { even };
        left = left.div(even);
        let scale = Scale::product(primes[top - i].iter().copied()).mul(own);
        out.push(LinearTransform::new(params.ckks(), matrix, top - i, scale, storage)?);
    }
    Ok(out)
}
