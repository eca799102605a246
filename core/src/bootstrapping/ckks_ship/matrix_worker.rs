//! Products of stage 1 that are computed elsewhere than in their run, such as in another worker of a browser tab, or before the step
//! that needs them: group by group of diagonals.

use alloc::{format, vec::Vec};

use super::{
    evaluator::ShipEvaluator,
    keys::KeySource,
    run::{ShipRun, ShipState, check_run_key},
    slots_to_coeffs::SlotsToCoeffs,
    stages,
};
use crate::{
    arith::Word,
    error::Error,
    par,
    ring::{Basis, Poly},
    rlwe::{Pair, SampleBlock},
    schemes::ckks::{Ciphertext, Scale},
    trace::{Counters, Observer, StageEvent, emit},
};

/// What a [`MatrixWorker`] needs of a run, in plain and public numbers.
pub struct MatrixInput<W: Word = u32> {
    /// Scale of the ciphertext.
    pub scale: Scale,
    /// Its baby steps modulo q0 qs.
    pub steps: Vec<W>,
}

/// Multiplies groups of diagonals for a run that is elsewhere, with the same bits as the run itself.
pub struct MatrixWorker<'a, W: Word = u32> {
    evaluator: &'a ShipEvaluator<W>,
    products: Products<W>,
}

impl<'a, W: Word> MatrixWorker<'a, W> {
    /// For the run whose [`ShipRun::matrix_input`] it is.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of words or words that are not residues; [`Error::ScaleMismatch`]
    /// for a scale no ciphertext could have.
    pub fn new(evaluator: &'a ShipEvaluator<W>, input: MatrixInput<W>) -> Result<Self, Error> {
        let own = evaluator.matrix_of_scale(input.scale)?;
        let basis = own.as_ref().unwrap_or(&evaluator.matrix).narrow_basis().clone();
        let (baby, _) = evaluator.params().bsgs();
        check_residues(&basis, 2 * baby, &input.steps)?;
        let steps = SampleBlock::from_words(&basis, 0, baby, input.steps);
        Ok(Self { evaluator, products: Products { own, steps } })
    }

    /// The sum of one group, for [`ShipRun::supply_group`]: both components, prime by prime.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a group there is not.
    pub fn group(&self, group: usize) -> Result<Vec<W>, Error> {
        check_group(self.evaluator, group)?;
        let Pair { b, a } = self.products.sum(self.evaluator, group)?;
        Ok([b.into_rows(), a.into_rows()].concat())
    }
}

impl<W: Word> ShipRun<'_, W> {
    /// Groups of diagonals whose products may be computed ahead: of a run that has done no step, none later.
    pub fn groups_ahead(&self) -> usize {
        if matches!(self.state, ShipState::Input(_)) { self.evaluator.params().bsgs().1 } else { 0 }
    }

    /// Enters stage 1 and computes its baby steps ahead, and gives what a [`MatrixWorker`] needs.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] after the first step; [`Error::ParamsMismatch`] for other keys than the run's;
    /// [`Error::Cancelled`] if the observer breaks.
    pub fn matrix_input(
        &mut self,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<MatrixInput<W>, Error> {
        check_run_key(self.key_id, keys)?;
        let ShipState::Input(x) = &self.state else { return Err(too_late()) };
        let begun = if let Some(begun) = self.begun.take() {
            begun
        } else {
            emit(observer, &StageEvent::Enter { stage: stages::SLOTS_TO_COEFFS })?;
            Begun::new(self.evaluator, x, keys)?
        };
        let input = MatrixInput { scale: x.scale(), steps: begun.products.steps.words().to_vec() };
        self.begun = Some(begun);
        Ok(input)
    }

    /// Computes the products of a group ahead; the step takes them as they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless [`Self::matrix_input`] was called and there is such a group.
    pub fn multiply_ahead(&mut self, group: usize) -> Result<(), Error> {
        check_group(self.evaluator, group)?;
        let begun = self.begun.as_mut().ok_or_else(too_late)?;
        begun.sums[group] = Some(begun.products.sum(self.evaluator, group)?);
        Ok(())
    }

    /// Takes in what a [`MatrixWorker`] gave for a group.
    ///
    /// # Errors
    /// As [`Self::multiply_ahead`]; [`Error::InvalidArgument`] for another number of words, or words that are not
    /// residues.
    pub fn supply_group(&mut self, group: usize, words: &[W]) -> Result<(), Error> {
        check_group(self.evaluator, group)?;
        let begun = self.begun.as_mut().ok_or_else(too_late)?;
        let basis = begun.products.steps.basis();
        let half = basis.len() * basis.n();
        let (b, a) = words.split_at_checked(half).unwrap_or((words, &[]));
        check_residues(basis, 1, b)?;
        check_residues(basis, 1, a)?;
        begun.sums[group] =
            Some(Pair { b: Poly::from_rows(basis, b.to_vec()), a: Poly::from_rows(basis, a.to_vec()) });
        Ok(())
    }
}

/// Stage 1 of a run, begun ahead of its step.
pub(super) struct Begun<W: Word> {
    products: Products<W>,
    sums: Vec<Option<Pair<W>>>,
    counters: Counters,
}

impl<W: Word> Begun<W> {
    fn new(evaluator: &ShipEvaluator<W>, x: &Ciphertext<W>, keys: &dyn KeySource<W>) -> Result<Self, Error> {
        let input = evaluator.exhaust(x)?;
        let own = evaluator.matrix_of_scale(input.scale())?;
        let matrix = own.as_ref().unwrap_or(&evaluator.matrix);
        let (params, mut counters) = (evaluator.params(), Counters::default());
        let steps = matrix.baby_steps(params, &input.pair()?, keys.common(), &mut counters);
        let sums = (0..params.bsgs().1).map(|_| None).collect();
        Ok(Self { products: Products { own, steps }, sums, counters })
    }

    /// What [`ShipEvaluator::slots_to_coeffs`] gives for the same ciphertext.
    pub(super) fn finish(
        self,
        evaluator: &ShipEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let Self { products, mut sums, counters: work } = self;
        *counters += work;
        let missing: Vec<usize> = (0..sums.len()).filter(|&g| sums[g].is_none()).collect();
        let made = par::try_map(missing.len(), |i| products.sum(evaluator, missing[i]))?;
        for (group, sum) in missing.into_iter().zip(made) {
            sums[group] = Some(sum);
        }
        let sums: Vec<Pair<W>> = sums.into_iter().flatten().collect();
        let params = evaluator.params();
        let pair = products.matrix(evaluator).giant_steps(params, &sums, keys.common(), counters)?;
        Ok(x.with_pair(pair, 0, params.coefficient_scale()))
    }
}

/// The two factors: diagonals and baby steps.
struct Products<W: Word> {
    /// The matrix for a scale that is not the evaluator's.
    own: Option<SlotsToCoeffs<W>>,
    steps: SampleBlock<W>,
}

impl<W: Word> Products<W> {
    fn matrix<'a>(&'a self, evaluator: &'a ShipEvaluator<W>) -> &'a SlotsToCoeffs<W> {
        self.own.as_ref().unwrap_or(&evaluator.matrix)
    }

    fn sum(&self, evaluator: &ShipEvaluator<W>, group: usize) -> Result<Pair<W>, Error> {
        self.matrix(evaluator).group_sum(evaluator.params(), &self.steps, group)
    }
}

fn check_group<W: Word>(evaluator: &ShipEvaluator<W>, group: usize) -> Result<(), Error> {
    let (_, giant) = evaluator.params().bsgs();
    if group < giant {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "group {group} of diagonals given, set {} has 0 to {}",
        evaluator.params().name(),
        giant - 1
    )))
}

/// An error unless `words` are `rows` rows of residues for each prime, prime after prime.
fn check_residues<W: Word>(basis: &Basis<W>, rows: usize, words: &[W]) -> Result<(), Error> {
    let size = rows * basis.n();
    if words.len() != basis.len() * size {
        return Err(Error::InvalidArgument(format!(
            "{} words given, {rows} rows of {} residues modulo {} primes are {}",
            words.len(),
            basis.n(),
            basis.len(),
            basis.len() * size
        )));
    }
    for (limb, part) in words.chunks_exact(size).enumerate() {
        let p = basis.modulus(limb).value_u64();
        if let Some(x) = part.iter().find(|x| x.to_u64() >= p) {
            return Err(Error::InvalidArgument(format!("{} is not a residue modulo {p}", x.to_u64())));
        }
    }
    Ok(())
}

fn too_late() -> Error {
    Error::InvalidArgument(
        "products are computed ahead of the first step, once matrix_input has given the baby steps".into(),
    )
}
