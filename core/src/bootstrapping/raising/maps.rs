//! Coefficients-to-slots and slots-to-coefficients: the two linear maps of a set, encoded for its levels and scales.

use alloc::{vec, vec::Vec};

use super::{params::RaisingParams, reduction::ReductionSpec, spec::StageOrder};
use crate::{
    arith::{Word, complex::Complex},
    circuits::linear_transform::{
        Diagonals, LinearTransform, PlaintextStorage, StageShape, coeffs_to_slots_stages,
        slots_to_coeffs_shapes, slots_to_coeffs_stages,
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
            // 2n slots: w and -i w, whose real parts are the real and the imaginary parts of w.
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
        // Slots are y at scale K q0 N/2n before, and y/2 at half the scale of the reduction after: each part is a sum of two.
        let raised = params
            .base_modulus()
            .mul(Scale::new(f64::from(spec.reduction.range())))
            .mul(Scale::new((params.n() / (2 * slots)) as f64));
        let to_slots = params.eval_scale().div(raised.mul(Scale::new(2.0)));
        let to_coeffs = match spec.order {
            StageOrder::CoeffsToSlotsFirst => params.scale().div(params.reduced_scale()),
            StageOrder::SlotsToCoeffsFirst => params.raised_message_scale().div(params.scale()),
        };
        let even = vec![1.0; back.len()];
        let roundings = roundings(params)?;
        Ok(Self {
            coeffs_to_slots: encoded(params, (&back, &even), levels.coeffs_to_slots, to_slots, storage)?,
            slots_to_coeffs: encoded(
                params,
                (&there, &roundings),
                levels.slots_to_coeffs,
                to_coeffs,
                storage,
            )?,
        })
    }

    /// Bytes of encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(LinearTransform::memory_bytes).sum()
    }
}

/// The stages of slots-to-coefficients for slots at the lowest level that has room for them and at the scale of the set. After them
/// a slot of 1 is `turns` of q0 in a coefficient at level 0. They take the same automorphisms as the set's own map.
pub(in crate::bootstrapping) fn slots_to_base<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    turns: f64,
    storage: PlaintextStorage,
) -> Result<Vec<LinearTransform<W>>, Error> {
    let stages = params.spec().slots_to_coeffs;
    let ratio = params.base_modulus().mul(Scale::new(turns)).div(params.scale());
    let matrices = slots_to_coeffs_stages(params.slots(), stages)?;
    encoded(params, (&matrices, &roundings(params)?), stages, ratio, storage)
}

/// The shapes of the stages of [`slots_to_base`].
///
/// # Errors
/// [`Error::InvalidArgument`] for more stages than slots can be divided into.
pub(in crate::bootstrapping) fn slots_to_base_shapes<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
) -> Result<Vec<StageShape>, Error> {
    slots_to_coeffs_shapes(params.slots(), params.spec().slots_to_coeffs)
}

/// Bytes of the diagonals of [`slots_to_base`] in memory, of stages of these shapes.
pub(in crate::bootstrapping) fn slots_to_base_bytes<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    shapes: &[StageShape],
    storage: PlaintextStorage,
) -> u64 {
    let bytes =
        |(i, shape)| LinearTransform::memory_bytes_for(params.ckks(), shape, shapes.len() - i, storage);
    shapes.iter().enumerate().map(bytes).sum()
}

/// The error that slots-to-coefficients adds to numbers at the scale of the set, for sets that begin with it.
pub(in crate::bootstrapping) struct FirstMapNoise {
    /// Deviation of the error from rounding its diagonals, relative to the largest number.
    pub of_diagonals: f64,
    /// The error of the rescalings after all its stages, in units of that of one rescaling at the scale of the set.
    pub rescalings: f64,
}

impl FirstMapNoise {
    /// The noise of the map at the level of inputs.
    ///
    /// # Errors
    /// Those of an invalid number of stages.
    pub fn of<R: ReductionSpec, W: Word>(params: &RaisingParams<R, W>) -> Result<Self, Error> {
        let (roundings, top) = (roundings(params)?, params.levels().slots_to_coeffs);
        let ratio = params.raised_message_scale().div(params.scale());
        let scales = scales(params, &roundings, top, ratio);
        let primes = &params.ckks().rlwe().spec().levels;
        let (mut squares, mut rescalings, mut gained) = (0.0, 0.0, 1.0);
        for (i, (scale, rounding)) in scales.iter().zip(of_stages(params)?).enumerate() {
            squares += (rounding / scale.to_f64()) * (rounding / scale.to_f64());
            gained *= scale.div(Scale::product(primes[top - i].iter().copied())).to_f64();
            rescalings += 1.0 / gained;
        }
        Ok(Self { of_diagonals: libm::sqrt(squares), rescalings })
    }
}

/// Weights by which bits are distributed over the stages of slots-to-coefficients: the rounding errors of their diagonals where large
/// numbers go through them, and equal ones otherwise, as the rounding of ciphertexts outweighs that of diagonals there.
fn roundings<R: ReductionSpec, W: Word>(params: &RaisingParams<R, W>) -> Result<Vec<f64>, Error> {
    let own = of_stages(params)?;
    Ok(if R::LARGE_NUMBERS { own } else { vec![1.0; own.len()] })
}

/// Deviation of the error in a coefficient of the result of a stage of slots-to-coefficients if its diagonals are rounded to
/// integers, relative to the largest number and for diagonals at scale 1.
///
/// A diagonal that repeats after p slots is a polynomial of 2p coefficients, each rounded with a variance of 1/12. Their sum is
/// complex, and its real part has a variance of p/12. Every diagonal is rounded in every slot. The stage of the longest period has as
/// many diagonals as its rows have entries, each of the others nearly twice as many.
fn of_stages<R: ReductionSpec, W: Word>(params: &RaisingParams<R, W>) -> Result<Vec<f64>, Error> {
    let slots = params.slots();
    let shapes = slots_to_coeffs_shapes(slots, params.spec().slots_to_coeffs)?;
    let of_stage = |period: usize| libm::sqrt(period as f64 / 12.0 * if period == slots { 1.0 } else { 2.0 });
    Ok(shapes.iter().map(|shape| of_stage(shape.period)).collect())
}

/// Scales of the diagonals of stages from level `top` down which multiply the scale by `ratio` in all: as large as primes of the
/// levels, times shares of the ratio that are proportional to `roundings`, so that all stages weigh the same.
fn scales<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    roundings: &[f64],
    top: usize,
    ratio: Scale,
) -> Vec<Scale> {
    let primes = &params.ckks().rlwe().spec().levels;
    let stages = roundings.len() as f64;
    let even = Scale::new(libm::pow(ratio.to_f64(), 1.0 / stages));
    let mean = libm::exp2(roundings.iter().map(|&rounding| libm::log2(rounding)).sum::<f64>() / stages);
    let mut left = ratio;
    let share = |(i, rounding): (usize, &f64)| {
        let own = if i + 1 == roundings.len() { left } else { even.mul(Scale::new(rounding / mean)) };
        left = left.div(own);
        Scale::product(primes[top - i].iter().copied()).mul(own)
    };
    roundings.iter().enumerate().map(share).collect()
}

fn encoded<R: ReductionSpec, W: Word>(
    params: &RaisingParams<R, W>,
    (matrices, roundings): (&[Diagonals], &[f64]),
    top: usize,
    ratio: Scale,
    storage: PlaintextStorage,
) -> Result<Vec<LinearTransform<W>>, Error> {
    let scales = scales(params, roundings, top, ratio);
    let stages = matrices.iter().zip(scales).enumerate();
    stages
        .map(|(i, (matrix, scale))| LinearTransform::new(params.ckks(), matrix, top - i, scale, storage))
        .collect()
}
