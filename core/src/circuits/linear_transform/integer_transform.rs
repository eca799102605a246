//! A matrix of BGV slots made ready for ciphertexts of one level.

use alloc::{format, vec::Vec};

use super::{
    babies_giants::{BabyGiantSteps, Step},
    encoded::{EncodedTransform, PlaintextStorage},
    ntt_stages::IntegerStageShape,
    slot_matrix::SlotMatrix,
};
use crate::{
    arith::{PrimePower, Word},
    error::Error,
    rlwe::{GaloisSource, RlweContext},
    schemes::bgv::{BgvCiphertext, BgvContext, BgvEvaluator, LinearGain},
    trace::Counters,
};

/// A linear map of integer slots, encoded for ciphertexts at one level and for one power of p.
pub struct IntegerTransform<W: Word> {
    encoded: EncodedTransform<W>,
    ring: PrimePower,
    gain: LinearGain,
}

impl<W: Word> IntegerTransform<W> {
    /// Encodes the diagonals of `matrix` for ciphertexts at `level`, whose plaintexts are modulo its P.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix of no diagonals, of other slots than the ring's or modulo another prime;
    /// [`Error::LevelMismatch`] at level 0 and above the highest.
    pub fn new(
        context: &BgvContext<W>,
        matrix: &SlotMatrix,
        level: usize,
        storage: PlaintextStorage,
    ) -> Result<Self, Error> {
        let (rlwe, ring, columns) = (context.rlwe(), matrix.ring(), matrix.columns());
        let modulus = context.modulus(ring.exponent())?;
        if matrix.slots() != context.slots() || modulus.ring() != ring {
            return Err(Error::InvalidArgument(format!(
                "a matrix of {} slots modulo powers of {}, a set of {} slots modulo powers of {}; make it for these",
                matrix.slots(),
                ring.prime(),
                context.slots(),
                context.plaintexts().prime
            )));
        }
        let centred = |step: Step| {
            let rotation = step.rotation;
            Step {
                rotation: if 2 * rotation > columns as i64 { rotation - columns as i64 } else { rotation },
                ..step
            }
        };
        let own = matrix.steps();
        let steps: Vec<Step> = own.iter().copied().map(centred).collect();
        let (steps, gap) = (BabyGiantSteps::of_steps(&steps, columns), columns / matrix.period());
        let gain = context.noise().gain(own.len(), steps.giants().len(), |i| {
            modulus.encoder().encode(matrix.get(own[i]).unwrap_or_default())
        })?;
        let diagonal = |giant: Step, step: Step| {
            let diagonal = matrix.get(step).unwrap_or_default();
            // sigma_g^-1 of it; giant steps do not swap rows.
            let back = Step::rotation(-giant.rotation);
            modulus.encoder().encode(&matrix.moved(back, diagonal))
        };
        let encoded = EncodedTransform::new(rlwe, level, steps, gap, storage, diagonal)?;
        Ok(Self { encoded, ring, gain })
    }

    /// The map of the slots of `x`: one level down.
    ///
    /// `x` may be above the level of the transform; it is brought down first.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`]; [`Error::PlaintextMismatch`] if the plaintexts of `x` are modulo another
    /// power; [`Error::InvalidArgument`] if `x` was not relinearised; [`Error::MissingKey`] naming a step without a key;
    /// [`Error::Limit`] for the noise.
    pub fn apply(
        &self,
        evaluator: &BgvEvaluator<W>,
        x: &BgvCiphertext<W>,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        if x.ring() != self.ring {
            return Err(Error::PlaintextMismatch(format!(
                "a map of slots modulo {}^{}, a ciphertext of plaintexts modulo {}^{}; encode it for these",
                self.ring.prime(),
                self.ring.exponent(),
                x.ring().prime(),
                x.ring().exponent()
            )));
        }
        let x = evaluator.drop_to_level(x, self.level())?;
        let pair = self.encoded.apply(&x.pair()?, keys, counters)?;
        evaluator.mapped(&x, pair, &self.gain)
    }

    /// The level of the ciphertexts it takes.
    pub fn level(&self) -> usize {
        self.encoded.level()
    }

    /// The steps, of which it needs the keys.
    pub fn steps(&self) -> &BabyGiantSteps {
        self.encoded.steps()
    }

    /// How it multiplies noise.
    pub fn gain(&self) -> &LinearGain {
        &self.gain
    }

    /// Bytes that [`Self::new`] keeps in memory for a matrix of this shape.
    pub(crate) fn memory_bytes_for(
        rlwe: &RlweContext<W>,
        shape: &IntegerStageShape,
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let columns = rlwe.n() / 2;
        let steps = BabyGiantSteps::of_steps(&shape.steps, columns);
        EncodedTransform::memory_bytes_for(rlwe, &steps, columns / shape.period, level, storage)
    }

    /// How a matrix of this shape is expected to multiply noise, with coefficients of diagonals as good as uniform.
    pub(crate) fn expected_gain(
        rlwe: &RlweContext<W>,
        shape: &IntegerStageShape,
        ring: PrimePower,
    ) -> LinearGain {
        let steps = BabyGiantSteps::of_steps(&shape.steps, rlwe.n() / 2);
        let coefficients = 2 * shape.period * steps.steps().len();
        LinearGain::of_uniform(coefficients, ring.value() as f64, steps.giants().len())
    }

    /// Bytes kept in memory.
    pub fn memory_bytes(&self) -> usize {
        self.encoded.memory_bytes()
    }
}
