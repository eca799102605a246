//! A linear map of polynomials by automorphisms, made ready for ciphertexts of one level of any scheme.

use alloc::{format, sync::Arc, vec, vec::Vec};

use super::babies_giants::{BabyGiantSteps, Step, StepGroup};
use crate::{
    arith::{Word, in_lines, line, row_to_lines},
    error::Error,
    par,
    ring::{Basis, Scratch},
    rlwe::RlweContext,
};

/// How the encoded diagonals are kept. The results are the same, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaintextStorage {
    /// Residues modulo Q_l P in evaluation domain: the fastest, and a row per diagonal and prime.
    Evaluated,
    /// One integer per coefficient, reduced and transformed whenever they are used; diagonals that repeat so often that
    /// all rows of one take no more than that are evaluated all the same.
    Coefficients,
}

/// What polynomials in a power of X save. One in X^gap has N / gap coefficients, and as many values, each of which stands
/// `gap` times beside itself in evaluation order. A line is kept for each run of equal words, if there is more than a line
/// in a run.
#[derive(Clone, Copy)]
struct Repetition {
    /// Words that one line stands for.
    run: usize,
    /// Words of the lines of a row.
    width: usize,
    /// Coefficients from one that may differ from 0 to the next.
    gap: usize,
}

impl Repetition {
    fn of<W: Word>(n: usize, gap: usize) -> Self {
        let line = line::<W>();
        if gap > line {
            Self { run: gap, width: n / gap * line, gap }
        } else {
            Self { run: line, width: n, gap: 1 }
        }
    }

    /// `storage`, or better if that takes no more.
    fn storage(self, storage: PlaintextStorage, n: usize, limbs: usize) -> PlaintextStorage {
        if self.width * limbs <= n { PlaintextStorage::Evaluated } else { storage }
    }
}

/// The map x -> sum_k D_k sigma_k(x) of polynomials, for integer polynomials D_k and automorphisms sigma_k, on ciphertexts
/// at one level.
///
/// D_k is called a diagonal: a polynomial that is that diagonal of a matrix of slots in its own slots. What slots are, and
/// at which scale the diagonals are, is the scheme's to know.
pub struct EncodedTransform<W: Word> {
    pub(super) rlwe: RlweContext<W>,
    pub(super) level: usize,
    pub(super) steps: BabyGiantSteps,
    pub(super) group: StepGroup,
    pub(super) giants: Vec<Giant>,
    repetition: Repetition,
    /// Modulo Q_top P for the level that it was encoded for, which is `level` but for [`EncodedTransform::lowered`].
    rows: Arc<Rows<W>>,
    top: usize,
}

/// The diagonals of one giant step: those of baby steps `first .. first + count`.
#[derive(Clone)]
pub(super) struct Giant {
    pub step: Step,
    pub first: usize,
    pub count: usize,
    /// Diagonals of the giant steps before.
    pub before: usize,
}

/// Encoded diagonals, giant step by giant step.
enum Rows<W: Word> {
    /// `[limb][giant]`, the rows of its diagonals in lines, one for each run of equal words.
    Evaluated(Vec<W>),
    /// `[diagonal][n / gap]`.
    Coefficients(Vec<i64>),
}

impl<W: Word> EncodedTransform<W> {
    /// Encodes the diagonals of all steps for ciphertexts at `level`.
    ///
    /// `diagonal(g, k)` is sigma_g^-1(D_k) for a giant step g and one of the steps k, as [`BabyGiantSteps::steps`] has it:
    /// N integer coefficients, of which only every `gap`-th may differ from 0, a power of two.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0 and above the highest; [`Error::InvalidArgument`] for no steps, for a `gap` that is
    /// no power of two up to N/2, for another number of coefficients or one between multiples of `gap` that is not 0; what
    /// `diagonal` gives.
    pub fn new(
        rlwe: &RlweContext<W>,
        level: usize,
        steps: BabyGiantSteps,
        gap: usize,
        storage: PlaintextStorage,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Self, Error> {
        Self::of_group(rlwe, level, (steps, StepGroup::Rotations), gap, storage, diagonal)
    }

    /// [`Self::new`] for steps that stand for automorphisms of a group.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_group(
        rlwe: &RlweContext<W>,
        level: usize,
        (steps, group): (BabyGiantSteps, StepGroup),
        gap: usize,
        storage: PlaintextStorage,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Self, Error> {
        rlwe.rescale(level)?;
        if steps.steps().is_empty() {
            return Err(Error::InvalidArgument(
                "a matrix without diagonals gives zero; there is nothing to evaluate".into(),
            ));
        }
        let odd = rlwe.ring().odd_index().is_some();
        if !gap.is_power_of_two() || gap > rlwe.n() / 2 || (odd && gap > 1) {
            return Err(Error::InvalidArgument(format!(
                "diagonals in X^{gap} in a ring of degree {}; give a power of two, {} at most",
                rlwe.n(),
                if odd { 1 } else { rlwe.n() / 2 }
            )));
        }
        let giants = giants_of(&steps);
        let repetition = Repetition::of::<W>(rlwe.width(), gap);
        let rows = Arc::new(Rows::Coefficients(Vec::new()));
        let mut out = Self { rlwe: rlwe.clone(), level, steps, group, giants, repetition, rows, top: level };
        out.rows = Arc::new(Rows::Coefficients(out.collect(gap, diagonal)?));
        let (n, limbs) = (out.basis().n(), out.basis().len());
        if repetition.storage(storage, n, limbs) == PlaintextStorage::Evaluated {
            out.rows = Arc::new(Rows::Evaluated(out.evaluate_rows()));
        }
        Ok(out)
    }

    /// The same integer diagonals for ciphertexts at a lower level, without a copy: residues modulo fewer primes.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0, and above the level of this one.
    pub fn lowered(&self, level: usize) -> Result<Self, Error> {
        if level > self.level {
            return Err(Error::LevelMismatch(format!(
                "a transform encoded for level {}, and level {level} is asked for; encode it for that level",
                self.level
            )));
        }
        self.rlwe.rescale(level)?;
        Ok(Self {
            rlwe: self.rlwe.clone(),
            level,
            steps: self.steps.clone(),
            group: self.group,
            giants: self.giants.clone(),
            repetition: self.repetition,
            rows: self.rows.clone(),
            top: self.top,
        })
    }

    /// The level of the ciphertexts it takes.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The steps, of which it needs the keys.
    pub fn steps(&self) -> &BabyGiantSteps {
        &self.steps
    }

    /// Bytes that [`Self::new`] keeps in memory for these steps, at a level of the chain.
    pub(crate) fn memory_bytes_for(
        rlwe: &RlweContext<W>,
        steps: &BabyGiantSteps,
        gap: usize,
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let diagonals = giants_of(steps).iter().map(|giant| giant.count).sum::<usize>() as u64;
        let (n, limbs) = (rlwe.width(), rlwe.qp(level).len());
        let repetition = Repetition::of::<W>(n, gap);
        let bytes = match repetition.storage(storage, n, limbs) {
            PlaintextStorage::Evaluated => repetition.width * limbs * size_of::<W>(),
            PlaintextStorage::Coefficients => rlwe.n() / repetition.gap * size_of::<i64>(),
        };
        diagonals * bytes as u64
    }

    /// Bytes kept in memory.
    pub fn memory_bytes(&self) -> usize {
        match &*self.rows {
            Rows::Evaluated(rows) => size_of_val(rows.as_slice()),
            Rows::Coefficients(rows) => size_of_val(rows.as_slice()),
        }
    }

    /// Q_l P.
    pub(super) fn basis(&self) -> &Basis<W> {
        self.rlwe.qp(self.level)
    }

    /// Diagonals, zeros between others included.
    pub(super) fn diagonals(&self) -> usize {
        self.giants.iter().map(|giant| giant.count).sum()
    }

    /// Neighbouring words of a row of [`Self::giant_rows`] that one line stands for.
    pub(super) fn run(&self) -> usize {
        self.repetition.run
    }

    /// The rows of one giant step modulo prime `limb`, and their step in words: lines, one for each run of equal words.
    pub(super) fn giant_rows<'a>(
        &'a self,
        limb: usize,
        giant: &Giant,
        memory: &'a mut Vec<W>,
    ) -> (Vec<&'a [W]>, usize) {
        in_lines(self.giant_lines(limb, giant, memory), self.repetition.width)
    }

    fn giant_lines<'a>(&'a self, limb: usize, giant: &Giant, memory: &'a mut Vec<W>) -> &'a [W] {
        let (n, width) = (self.basis().n(), self.repetition.width);
        match &*self.rows {
            Rows::Evaluated(rows) => {
                // Special primes come after those of the level.
                let own = self.rlwe.q(self.level).len();
                let limb = if limb < own { limb } else { self.rlwe.q(self.top).len() + limb - own };
                &rows[(limb * self.diagonals() + giant.before) * width..][..giant.count * width]
            }
            Rows::Coefficients(rows) => {
                memory.resize(giant.count * width, W::ZERO);
                let (mut row, mut scratch) = (vec![W::ZERO; n], Scratch::default());
                let diagonals = rows.chunks_exact(self.basis().degree() / self.repetition.gap);
                for (j, diagonal) in diagonals.skip(giant.before).take(giant.count).enumerate() {
                    self.transform(limb, diagonal, &mut row, &mut scratch);
                    self.keep_lines(&row, (j, giant.count), memory);
                }
                memory
            }
        }
    }

    /// Puts a whole row where row `j` of `count` has its lines.
    fn keep_lines(&self, row: &[W], (j, count): (usize, usize), out: &mut [W]) {
        if self.repetition.gap == 1 {
            return row_to_lines(row, (j, count), out);
        }
        let line = line::<W>();
        for (run, lines) in row.chunks_exact(self.repetition.run).zip(out.chunks_exact_mut(count * line)) {
            lines[j * line..][..line].copy_from_slice(&run[..line]);
        }
    }

    /// Transforms that evaluating the diagonals takes each time.
    pub(super) fn plaintext_ntts(&self) -> u64 {
        match &*self.rows {
            Rows::Evaluated(_) => 0,
            Rows::Coefficients(_) => (self.diagonals() * self.basis().len()) as u64,
        }
    }

    /// `[diagonal][n / gap]`: the coefficients of all diagonals, giant step by giant step.
    fn collect(
        &self,
        given: usize,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Vec<i64>, Error> {
        let (n, gap) = (self.rlwe.n(), self.repetition.gap);
        let products = |giant: &Giant| {
            let babies = &self.steps.babies()[giant.first..giant.first + giant.count];
            let step = giant.step;
            babies.iter().map(move |&baby| (step, step.combine(baby)))
        };
        let wanted: Vec<(Step, Step)> = self.giants.iter().flat_map(products).collect();
        let collected = par::try_map(wanted.len(), |i| {
            let (giant, step) = wanted[i];
            if self.steps.steps().binary_search(&step).is_err() {
                return Ok(vec![0; n / gap]);
            }
            let all = diagonal(giant, step)?;
            if all.len() != n {
                return Err(Error::InvalidArgument(format!(
                    "a diagonal of {} coefficients in a ring of degree {n}; give one for every power of X",
                    all.len()
                )));
            }
            if let Some(i) = (0..n).find(|&i| !i.is_multiple_of(given) && all[i] != 0) {
                return Err(Error::InvalidArgument(format!(
                    "the diagonal of {step} has coefficient {} at X^{i}, and diagonals in X^{given} were announced; give a gap that \
                     divides all its exponents",
                    all[i]
                )));
            }
            Ok(all.into_iter().step_by(gap).collect())
        })?;
        Ok(collected.concat())
    }

    fn evaluate_rows(&self) -> Vec<W> {
        let (width, all) = (self.repetition.width, self.diagonals());
        let mut out = vec![W::ZERO; self.basis().len() * all * width];
        par::for_each_chunk_mut(&mut out, all * width, |limb, rows| {
            let mut memory = Vec::new();
            for giant in &self.giants {
                let lines = self.giant_lines(limb, giant, &mut memory);
                rows[giant.before * width..][..giant.count * width].copy_from_slice(lines);
            }
        });
        out
    }

    /// The whole row of a diagonal.
    fn transform(&self, limb: usize, coefficients: &[i64], out: &mut [W], scratch: &mut Scratch<W>) {
        let (basis, kernels, gap) = (self.basis(), self.basis().kernels(), self.repetition.gap);
        let (own, others) = out.split_at_mut(coefficients.len());
        kernels.reduce_i64(basis.modulus(limb), own, coefficients);
        if gap > 1 {
            // From the last to the first: no word is overwritten before it has moved.
            others.fill(W::ZERO);
            for i in (1..coefficients.len()).rev() {
                out[i * gap] = core::mem::replace(&mut out[i], W::ZERO);
            }
        }
        basis.row(limb).forward(out, scratch);
    }
}

/// Giant steps with the run of baby steps from their first to their last diagonal.
fn giants_of(steps: &BabyGiantSteps) -> Vec<Giant> {
    let mut before = 0;
    let giant = |&step: &Step| {
        let own = |baby: &Step| steps.steps().binary_search(&step.combine(*baby)).is_ok();
        let first = steps.babies().iter().position(own).unwrap_or_default();
        let last = steps.babies().iter().rposition(own).unwrap_or_default();
        let out = Giant { step, first, count: last + 1 - first, before };
        before += out.count;
        out
    };
    steps.giants().iter().map(giant).collect()
}
