//! A matrix of BGV slots made ready for ciphertexts of one level.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::{
    babies_giants::{BabyGiantSteps, Step},
    encoded::{EncodedTransform, PlaintextStorage},
    hypercube::HypercubeMatrix,
    ntt_stages::IntegerStageShape,
    slot_matrix::SlotMatrix,
};
use crate::{
    arith::{PrimePower, Word},
    error::Error,
    par,
    rlwe::{GaloisSource, RlweContext},
    schemes::bgv::{BgvCiphertext, BgvContext, BgvEvaluator, LinearGain, Terms, slots::Hypercube},
    trace::Counters,
};

/// A linear map of integer slots, encoded for ciphertexts at one level and for one power of p.
pub struct IntegerTransform<W: Word> {
    encoded: EncodedTransform<W>,
    ring: PrimePower,
    gain: LinearGain,
}

impl<W: Word> IntegerTransform<W> {
    /// Encodes the diagonals of `matrix` for ciphertexts at `level` with plaintexts modulo P, the modulus of the matrix.
    ///
    /// The noise of a result is estimated. For up to 4 diagonals, and for diagonals with one value in each row, the estimate holds whatever
    /// the noise of the argument is. Otherwise it assumes that the images of that noise under the steps of the matrix are independent. They
    /// are for fresh noise and for that of products and roundings; but if a matrix maps noise to something that its own steps leave
    /// unchanged, and is applied again to the result, the noise can exceed the estimate.
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
        // sigma_g^-1 of every diagonal, g its giant step, and the rotation of g; giant steps do not swap rows.
        let diagonals = par::try_map(steps.steps().len(), |i| {
            let step = steps.steps()[i];
            let giant = steps.giant_of(step).rotation;
            let moved = matrix.moved(Step::rotation(-giant), matrix.get(step).unwrap_or_default());
            Ok::<_, Error>((giant, modulus.encoder().encode_integers(&moved)?))
        })?;
        let terms = Terms::of(diagonals.len(), matrix.period());
        let gain = context.noise().gain(steps.giants().len(), terms, &diagonals);
        let places: BTreeMap<Step, usize> = steps.steps().iter().copied().zip(0..).collect();
        let encoded = EncodedTransform::new(rlwe, level, steps, gap, storage, |_, step| {
            Ok(places.get(&step).map(|&place| diagonals[place].1.clone()).unwrap_or_default())
        })?;
        Ok(Self { encoded, ring, gain })
    }

    /// [`Self::new`] for the slots of a ring of odd index.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_hypercube(
        context: &BgvContext<W>,
        matrix: &HypercubeMatrix,
        level: usize,
        storage: PlaintextStorage,
    ) -> Result<Self, Error> {
        let (rlwe, ring, shape) = (context.rlwe(), matrix.ring(), matrix.shape());
        let modulus = context.modulus(ring.exponent())?;
        let cube = context.hypercube().filter(|&cube| cube == matrix.cube() && modulus.ring() == ring);
        let Some(index) = cube.map(Hypercube::index) else {
            return Err(Error::InvalidArgument(format!(
                "a matrix of a rectangle of slots modulo powers of {}, a set of {} slots modulo powers of {}; make it for these",
                ring.prime(),
                context.slots(),
                context.plaintexts().prime
            )));
        };
        let (polynomials, steps) = (rlwe.ring(), shape.divided(rlwe.ring()));
        let sub = |x: i64, y: i64| ring.centered(ring.reduce_signed(x - y));
        let (dimension, kept) = (matrix.dimension(), shape.repeated);
        let diagonals = par::try_map(steps.steps().len(), |i| {
            let step = steps.steps()[i];
            let diagonal = modulus.encoder().encode_along(dimension, &matrix.entries_of(step))?;
            let squares = context.noise().repeated_squares(&diagonal, kept);
            let giant = shape.group.element(polynomials, steps.giant_of(step));
            let mut moved = index.substitute(polynomials.inverse(giant).value(), &diagonal, sub);
            moved.truncate(diagonal.len());
            Ok::<_, Error>((squares, moved))
        })?;
        let (squares, moved): (Vec<_>, Vec<_>) = diagonals.into_iter().unzip();
        let terms = Terms::of(squares.len(), shape.period);
        let gain = LinearGain::of_squares(steps.giants().len(), terms, squares);
        let places: BTreeMap<Step, usize> = steps.steps().iter().copied().zip(0..).collect();
        let group = (steps, shape.group);
        let form = shape.form(polynomials);
        let encoded = EncodedTransform::of_group(rlwe, level, group, form, storage, |_, step| {
            let mut all = places.get(&step).map(|&place| moved[place].clone()).unwrap_or_default();
            all.resize(polynomials.degree(), 0);
            Ok(all)
        })?;
        Ok(Self { encoded, ring, gain })
    }

    /// Applies the map to the slots of `x`; the result is one level down.
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
    ) -> Result<BgvCiphertext<W>, Error> {
        self.apply_counted(evaluator, x, keys, &mut Counters::default())
    }

    /// [`Self::apply`], for a run that counts its work.
    pub(crate) fn apply_counted(
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
        let (x, pair) = evaluator.drop_to_level(x, self.level())?.into_pair()?;
        let pair = self.encoded.apply_counted(&pair, keys, counters)?;
        evaluator.mapped(&x, pair, &self.gain)
    }

    /// The level of the ciphertexts it takes.
    pub fn level(&self) -> usize {
        self.encoded.level()
    }

    /// The division of its steps; [`BabyGiantSteps::keys`] are those it needs keys for.
    pub fn steps(&self) -> &BabyGiantSteps {
        self.encoded.steps()
    }

    /// How the map multiplies noise.
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
        let ring = rlwe.ring();
        EncodedTransform::memory_bytes_for(rlwe, &shape.divided(ring), shape.form(ring), level, storage)
    }

    /// How a matrix of this shape is expected to multiply noise, taking the coefficients of its diagonals as uniform.
    pub(crate) fn expected_gain(
        rlwe: &RlweContext<W>,
        shape: &IntegerStageShape,
        ring: PrimePower,
    ) -> LinearGain {
        let steps = shape.divided(rlwe.ring());
        let diagonals = steps.steps().len();
        let terms = Terms::of(diagonals, shape.period);
        LinearGain::of_uniform(
            (diagonals, 2 * shape.period),
            ring.value() as f64,
            steps.giants().len(),
            terms,
        )
    }

    /// Bytes kept in memory.
    pub fn memory_bytes(&self) -> usize {
        self.encoded.memory_bytes()
    }
}
