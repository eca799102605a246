//! A matrix of CKKS slots made ready for ciphertexts of one level.

use alloc::{format, vec::Vec};

use super::{
    babies_giants::{BabyGiantSteps, Step},
    diagonals::Diagonals,
    encoded::{DiagonalForm, EncodedTransform, PlaintextStorage},
    special_fft::StageShape,
};
use crate::{
    arith::Word,
    error::Error,
    rlwe::GaloisSource,
    schemes::ckks::{Ciphertext, CkksContext, CkksEvaluator, Complex, Scale},
    trace::Counters,
};

/// A linear map of slots, encoded for ciphertexts at one level.
pub struct LinearTransform<W: Word> {
    pub(super) encoded: EncodedTransform<W>,
    pub(super) scale: Scale,
}

impl<W: Word> LinearTransform<W> {
    /// Encodes the diagonals of `matrix` at `scale`, for ciphertexts at `level`; a matrix of fewer slots than the ring has
    /// acts on slots that repeat.
    ///
    /// The result of a ciphertext at scale S is at the level below and scale S · `scale` / q_level.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix of no diagonals or of more slots than the ring has, or entries too large
    /// for the scale; [`Error::LevelMismatch`] at level 0 and above the highest.
    pub fn new(
        context: &CkksContext<W>,
        matrix: &Diagonals,
        level: usize,
        scale: Scale,
        storage: PlaintextStorage,
    ) -> Result<Self, Error> {
        if matrix.slots() > context.slots() {
            return Err(Error::InvalidArgument(format!(
                "a matrix of {} slots, a ring of {}; take a larger ring",
                matrix.slots(),
                context.slots()
            )));
        }
        let (steps, gap) = steps_and_gap(context, &matrix.shifts(), matrix.period());
        let slots = context.slots() as i64;
        let diagonal = |giant: Step, step: Step| {
            let diagonal = matrix.get(step.rotation).unwrap_or_default();
            let places =
                (0..slots).map(|slot| (slot - giant.rotation).rem_euclid(matrix.slots() as i64) as usize);
            let turned: Vec<Complex> = places.map(|place| diagonal[place]).collect();
            context.encoder().encode(&turned, scale)
        };
        let encoded = EncodedTransform::new(context.rlwe(), level, steps, gap, storage, diagonal)?;
        Ok(Self { encoded, scale })
    }

    /// Applies the map to the slots of `x`; the result is one level down, at scale S · `scale` / q_level.
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
        keys: &dyn GaloisSource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.apply_counted(evaluator, x, keys, &mut Counters::default())
    }

    /// [`Self::apply`], for a run that counts its work.
    pub(crate) fn apply_counted(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let level = self.level();
        let (x, pair) = evaluator.drop_to_level(x, level)?.into_pair()?;
        let pair = self.encoded.apply_counted(&pair, keys, counters)?;
        let scale = evaluator.scale_after_rescale(x.scale().mul(self.scale), level);
        Ok(x.with_pair(pair, level - 1, scale))
    }

    /// The same map for ciphertexts at a lower level, sharing the diagonals. For a ciphertext at scale S the result is at scale S ·
    /// [`Self::scale`] / q_level, with the prime of that level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0, and above the level of this one.
    pub fn lowered(&self, level: usize) -> Result<Self, Error> {
        Ok(Self { encoded: self.encoded.lowered(level)?, scale: self.scale })
    }

    /// The level of the ciphertexts it takes.
    pub fn level(&self) -> usize {
        self.encoded.level()
    }

    /// The scale of the diagonals.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Rotations whose Galois keys it needs, ascending.
    pub fn rotations(&self) -> Vec<i64> {
        self.encoded.steps().rotations()
    }

    /// Bytes that [`Self::new`] keeps in memory for a matrix of this shape, at a level of the context.
    pub(crate) fn memory_bytes_for(
        context: &CkksContext<W>,
        shape: &StageShape,
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let (steps, gap) = steps_and_gap(context, &shape.shifts, shape.period);
        EncodedTransform::memory_bytes_for(
            context.rlwe(),
            &steps,
            DiagonalForm::InPowers(gap),
            level,
            storage,
        )
    }

    /// Bytes kept in memory.
    pub fn memory_bytes(&self) -> usize {
        self.encoded.memory_bytes()
    }
}

/// How a matrix of these shifts is evaluated: a diagonal that repeats after `period` of S slots is a polynomial in
/// X^(S / period).
fn steps_and_gap<W: Word>(
    context: &CkksContext<W>,
    shifts: &[i64],
    period: usize,
) -> (BabyGiantSteps, usize) {
    let slots = context.slots();
    (BabyGiantSteps::of(shifts, slots), slots / period)
}
