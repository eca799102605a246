//! A linear map of polynomials by automorphisms, made ready for ciphertexts of one level of any scheme.

use alloc::{format, sync::Arc, vec, vec::Vec};
use core::fmt;

use super::babies_giants::{BabyGiantSteps, Step, StepGroup};
use crate::{
    arith::{Word, in_lines, line, row_to_lines},
    error::Error,
    par,
    ring::{Basis, Cyclotomic, Scratch},
    rlwe::RlweContext,
};

/// How the encoded diagonals of linear maps are kept: memory against time. The results are the same, bit for bit.
///
/// Evaluators of methods with large maps take this setting when they are made, and the modules of these methods export it. Take
/// [`Self::Evaluated`] if there is enough memory, and [`Self::Coefficients`] otherwise; `diagonal_bytes` of the parameters says how much
/// either takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaintextStorage {
    /// Residues modulo Q_l P in evaluation domain, a row for each diagonal and prime: faster.
    Evaluated,
    /// One integer of 8 bytes for each coefficient, reduced and transformed every time it is used: smaller. Diagonals that repeat so often
    /// that all their rows take no more memory are kept as [`Self::Evaluated`] keeps them.
    Coefficients,
}

/// The form that all diagonals of a map are known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagonalForm {
    /// Polynomials in X^gap, a power of two.
    InPowers(usize),
    /// In a ring of odd index, with values in `m_1` - 1 rows of `m_2` - 1 words: the numbers of rows and of words in each, divisors of
    /// these, that are repeated to fill the degree. With one row the diagonals are polynomials in `X_2`.
    Repeated([usize; 2]),
}

impl fmt::Display for DiagonalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InPowers(gap) => write!(f, "in X^{gap}"),
            Self::Repeated([1, _]) => f.write_str("in X_2 alone"),
            Self::Repeated([rows, words]) => write!(f, "of {rows} rows of {words} words that repeat"),
        }
    }
}

/// What is kept of a diagonal. A polynomial in X^gap has N / gap coefficients and N / gap values, and each value stands `gap` times in a
/// row in evaluation order: one line is kept for each run of equal words, if a run is longer than a line. Of repeated rows each word is
/// kept once.
#[derive(Clone, Copy)]
struct Repetition {
    /// Words that one line stands for.
    run: usize,
    /// Words of the lines of a row.
    width: usize,
    /// Distance between coefficients that may differ from 0.
    gap: usize,
    /// Number of coefficients that are kept.
    coefficients: usize,
    /// Rows, and words of each, that are repeated.
    repeated: Option<[usize; 2]>,
}

impl Repetition {
    fn of<W: Word>(ring: Cyclotomic, form: DiagonalForm) -> Self {
        let (line, n) = (line::<W>(), ring.width());
        let whole = Self { run: line, width: n, gap: 1, coefficients: ring.degree(), repeated: None };
        match form {
            DiagonalForm::InPowers(gap) if gap > line => {
                Self { run: gap, width: n / gap * line, gap, coefficients: n / gap, ..whole }
            }
            DiagonalForm::InPowers(_) => whole,
            DiagonalForm::Repeated(kept) => {
                let coefficients = if kept[0] == 1 { ring.columns() } else { ring.degree() };
                Self { coefficients, repeated: Some(kept), ..whole }
            }
        }
    }

    /// Words of a row that are kept.
    fn kept(self) -> usize {
        self.repeated.map_or(self.width, |[rows, words]| rows * words)
    }

    /// `storage`, or [`PlaintextStorage::Evaluated`] if that takes no more memory.
    fn storage(self, storage: PlaintextStorage, n: usize, limbs: usize) -> PlaintextStorage {
        if self.kept() * limbs <= n { PlaintextStorage::Evaluated } else { storage }
    }
}

/// The map x -> sum_k D_k sigma_k(x) of polynomials, for integer polynomials D_k and automorphisms sigma_k, on ciphertexts
/// at one level.
///
/// D_k is called a diagonal: its slots are a diagonal of a matrix that acts on slots. What the slots are, and the scale of the diagonals,
/// is for the scheme to decide.
pub struct EncodedTransform<W: Word> {
    pub(super) rlwe: RlweContext<W>,
    pub(super) level: usize,
    pub(super) steps: BabyGiantSteps,
    pub(super) group: StepGroup,
    pub(super) giants: Vec<Giant>,
    repetition: Repetition,
    /// Modulo Q_top P, where `top` is the level it was encoded for: `level`, except after [`EncodedTransform::lowered`].
    rows: Arc<Rows<W>>,
    top: usize,
}

/// The diagonals of one giant step: those of baby steps `first .. first + count`.
#[derive(Clone)]
pub(super) struct Giant {
    pub step: Step,
    pub first: usize,
    pub count: usize,
    /// Number of diagonals of the giant steps before this one.
    pub before: usize,
}

/// Encoded diagonals, giant step by giant step.
enum Rows<W: Word> {
    /// `[limb][giant]`, the rows of its diagonals in lines, one for each run of equal words; or, of repeated rows,
    /// `[limb][diagonal]`, the words of each.
    Evaluated(Vec<W>),
    /// `[diagonal]`, the coefficients that may differ from 0.
    Coefficients(Vec<i64>),
}

impl<W: Word> EncodedTransform<W> {
    /// Encodes the diagonals of all steps for ciphertexts at `level`.
    ///
    /// `diagonal(g, k)` gives sigma_g^-1(D_k) for a giant step g and one of the steps k, as [`BabyGiantSteps::steps`] has it: N integer
    /// coefficients, where only every `gap`-th may differ from 0. `gap` is a power of two.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0 and above the highest; [`Error::InvalidArgument`] for no steps, for a `gap` that is not a power of
    /// two up to N/2, for another number of coefficients or a non-zero one between multiples of `gap`; any error of `diagonal`.
    pub fn new(
        rlwe: &RlweContext<W>,
        level: usize,
        steps: BabyGiantSteps,
        gap: usize,
        storage: PlaintextStorage,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Self, Error> {
        let form = DiagonalForm::InPowers(gap);
        Self::of_group(rlwe, level, (steps, StepGroup::Rotations), form, storage, diagonal)
    }

    /// [`Self::new`] for steps that stand for automorphisms of a group, and for diagonals of any form.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::InvalidArgument`] for repeated rows in a ring that is not of odd index, or for numbers of rows and words
    /// that do not divide its own.
    pub fn of_group(
        rlwe: &RlweContext<W>,
        level: usize,
        (steps, group): (BabyGiantSteps, StepGroup),
        form: DiagonalForm,
        storage: PlaintextStorage,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Self, Error> {
        rlwe.rescale(level)?;
        if steps.steps().is_empty() {
            return Err(Error::InvalidArgument(
                "a matrix without diagonals gives zero; there is nothing to evaluate".into(),
            ));
        }
        check_form(rlwe.ring(), form)?;
        let giants = giants_of(&steps);
        let repetition = Repetition::of::<W>(rlwe.ring(), form);
        let rows = Arc::new(Rows::Coefficients(Vec::new()));
        let mut out = Self { rlwe: rlwe.clone(), level, steps, group, giants, repetition, rows, top: level };
        out.rows = Arc::new(Rows::Coefficients(out.collect(form, diagonal)?));
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

    /// The division of its steps; [`BabyGiantSteps::keys`] are those it needs keys for.
    pub fn steps(&self) -> &BabyGiantSteps {
        &self.steps
    }

    /// Bytes that [`Self::new`] keeps in memory for these steps, at a level of the chain.
    pub(crate) fn memory_bytes_for(
        rlwe: &RlweContext<W>,
        steps: &BabyGiantSteps,
        form: DiagonalForm,
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let diagonals = giants_of(steps).iter().map(|giant| giant.count).sum::<usize>() as u64;
        let limbs = rlwe.qp(level).len();
        let repetition = Repetition::of::<W>(rlwe.ring(), form);
        let bytes = match repetition.storage(storage, rlwe.width(), limbs) {
            PlaintextStorage::Evaluated => repetition.kept() * limbs * size_of::<W>(),
            PlaintextStorage::Coefficients => repetition.coefficients * size_of::<i64>(),
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
                let (first, kept) =
                    (self.row_of(limb) * self.diagonals() + giant.before, self.repetition.kept());
                let own = &rows[first * kept..][..giant.count * kept];
                let Some(repeated) = self.repetition.repeated else { return own };
                memory.resize(giant.count * width, W::ZERO);
                let mut row = vec![W::ZERO; n];
                for (j, words) in own.chunks_exact(kept).enumerate() {
                    repeat(words, repeated, self.basis().ring(), &mut row);
                    self.keep_lines(&row, (j, giant.count), memory);
                }
                memory
            }
            Rows::Coefficients(_) => {
                memory.resize(giant.count * width, W::ZERO);
                let mut row = vec![W::ZERO; n];
                self.for_each_row(limb, giant, &mut row, |j, row| {
                    self.keep_lines(row, (j, giant.count), memory);
                });
                memory
            }
        }
    }

    /// The index of a prime's row: special primes come after those of level `top`.
    fn row_of(&self, limb: usize) -> usize {
        let own = self.rlwe.q(self.level).len();
        if limb < own { limb } else { self.rlwe.q(self.top).len() + limb - own }
    }

    /// Copies a whole row into the lines of row `j` of `count`.
    fn keep_lines(&self, row: &[W], (j, count): (usize, usize), out: &mut [W]) {
        if self.repetition.gap == 1 {
            return row_to_lines(row, (j, count), out);
        }
        let line = line::<W>();
        for (run, lines) in row.chunks_exact(self.repetition.run).zip(out.chunks_exact_mut(count * line)) {
            lines[j * line..][..line].copy_from_slice(&run[..line]);
        }
    }

    /// Transforms the coefficients of a giant step's diagonals into `row`, one after the other, and hands each to `take`.
    fn for_each_row(&self, limb: usize, giant: &Giant, row: &mut [W], mut take: impl FnMut(usize, &[W])) {
        let Rows::Coefficients(rows) = &*self.rows else { return };
        let mut scratch = Scratch::default();
        let diagonals = rows.chunks_exact(self.repetition.coefficients);
        for (j, diagonal) in diagonals.skip(giant.before).take(giant.count).enumerate() {
            self.transform(limb, diagonal, row, &mut scratch);
            take(j, row);
        }
    }

    /// Number of transforms that evaluating the diagonals takes each time.
    pub(super) fn plaintext_ntts(&self) -> u64 {
        match &*self.rows {
            Rows::Evaluated(_) => 0,
            Rows::Coefficients(_) => (self.diagonals() * self.basis().len()) as u64,
        }
    }

    /// `[diagonal]`: the coefficients of all diagonals that may differ from 0, giant step by giant step.
    fn collect(
        &self,
        form: DiagonalForm,
        diagonal: impl Fn(Step, Step) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<Vec<i64>, Error> {
        let (n, gap, kept) = (self.rlwe.n(), self.repetition.gap, self.repetition.coefficients);
        let products = |giant: &Giant| {
            let babies = &self.steps.babies()[giant.first..giant.first + giant.count];
            let step = giant.step;
            babies.iter().map(move |&baby| (step, step.combine(baby)))
        };
        let wanted: Vec<(Step, Step)> = self.giants.iter().flat_map(products).collect();
        let announced = |i: usize| match form {
            DiagonalForm::InPowers(gap) => i.is_multiple_of(gap),
            DiagonalForm::Repeated(_) => i < kept,
        };
        let mut out = vec![0; wanted.len() * kept];
        let filled = par::try_map(wanted.len(), |i| {
            let (giant, step) = wanted[i];
            if self.steps.steps().binary_search(&step).is_err() {
                return Ok(Vec::new());
            }
            let mut all = diagonal(giant, step)?;
            if all.len() != n {
                return Err(Error::InvalidArgument(format!(
                    "a diagonal of {} coefficients in a ring of degree {n}; give one for every power of X",
                    all.len()
                )));
            }
            if let Some(i) = (0..n).find(|&i| !announced(i) && all[i] != 0) {
                return Err(Error::InvalidArgument(format!(
                    "the diagonal of {step} has coefficient {} at place {i}, and diagonals {form} were announced; give a form that all \
                     of them have",
                    all[i]
                )));
            }
            if gap > 1 {
                return Ok(all.into_iter().step_by(gap).collect());
            }
            all.truncate(kept);
            all.shrink_to_fit();
            Ok(all)
        })?;
        for (out, own) in out.chunks_exact_mut(kept).zip(filled) {
            out[..own.len()].copy_from_slice(&own);
        }
        Ok(out)
    }

    fn evaluate_rows(&self) -> Vec<W> {
        let (kept, all) = (self.repetition.kept(), self.diagonals());
        let mut out = vec![W::ZERO; self.basis().len() * all * kept];
        par::for_each_chunk_mut(&mut out, all * kept, |limb, rows| {
            let (mut memory, mut row) = (Vec::new(), vec![W::ZERO; self.basis().n()]);
            for giant in &self.giants {
                let own = &mut rows[giant.before * kept..][..giant.count * kept];
                let Some(repeated) = self.repetition.repeated else {
                    own.copy_from_slice(self.giant_lines(limb, giant, &mut memory));
                    continue;
                };
                let mut words = own.chunks_exact_mut(kept);
                self.for_each_row(limb, giant, &mut row, |_, row| {
                    words.next().into_iter().for_each(|own| keep(row, repeated, self.basis().ring(), own));
                });
            }
        });
        out
    }

    /// The whole row of a diagonal.
    fn transform(&self, limb: usize, coefficients: &[i64], out: &mut [W], scratch: &mut Scratch<W>) {
        let (basis, kernels, gap) = (self.basis(), self.basis().kernels(), self.repetition.gap);
        let (own, others) = out.split_at_mut(coefficients.len());
        kernels.reduce_i64(basis.modulus(limb), own, coefficients);
        others.fill(W::ZERO);
        // From the last to the first: no word is overwritten before it has moved.
        for i in (1..coefficients.len()).rev().filter(|_| gap > 1) {
            out[i * gap] = core::mem::replace(&mut out[i], W::ZERO);
        }
        basis.row(limb).forward(out, scratch);
    }
}

/// [`Error::InvalidArgument`] for a form that no diagonal of a ring has.
fn check_form(ring: Cyclotomic, form: DiagonalForm) -> Result<(), Error> {
    let odd = ring.odd_index().is_some();
    match form {
        DiagonalForm::InPowers(gap) => {
            let largest = if odd { 1 } else { ring.degree() / 2 };
            if gap.is_power_of_two() && gap <= largest {
                return Ok(());
            }
            Err(Error::InvalidArgument(format!(
                "diagonals in X^{gap} in a ring of degree {}; give a power of two, {largest} at most",
                ring.degree()
            )))
        }
        DiagonalForm::Repeated([rows, words]) => {
            let divides = |part: usize, all: usize| part > 0 && all.is_multiple_of(part);
            if odd && divides(rows, ring.rows()) && divides(words, ring.columns()) {
                return Ok(());
            }
            Err(Error::InvalidArgument(format!(
                "diagonals of {rows} rows of {words} words in a ring of {} rows of {}; give divisors of these in a ring of odd index",
                ring.rows(),
                ring.columns()
            )))
        }
    }
}

/// Copies the words of a row that are repeated in it.
fn keep<W: Copy>(row: &[W], [_, words]: [usize; 2], ring: Cyclotomic, out: &mut [W]) {
    for (out, row) in out.chunks_exact_mut(words).zip(row.chunks_exact(ring.columns())) {
        out.copy_from_slice(&row[..words]);
    }
}

/// Fills a row by repeating these words; what is behind its rows stays.
fn repeat<W: Copy>(own: &[W], [rows, words]: [usize; 2], ring: Cyclotomic, out: &mut [W]) {
    for (i, out) in out.chunks_exact_mut(ring.columns()).take(ring.rows()).enumerate() {
        let own = &own[i % rows * words..][..words];
        out.chunks_exact_mut(words).for_each(|out| out.copy_from_slice(own));
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
