//! A matrix made ready for ciphertexts of one level.

use alloc::{format, vec, vec::Vec};

use super::{babies_giants::BabyGiantSteps, diagonals::Diagonals, special_fft::StageShape};
use crate::{
    arith::{Word, in_lines, line, row_to_lines},
    error::Error,
    par,
    ring::Basis,
    schemes::ckks::{CkksContext, Complex, Scale},
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

/// What repeated entries save. A diagonal that repeats after p of S slots is a polynomial in X^(S/p), which has 2p
/// coefficients, and 2p values that stand S/p times beside each other in evaluation order. A line is kept for each run of
/// equal words, if there is more than a line in a run.
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
    fn of<W: Word>(context: &CkksContext<W>, period: usize) -> Self {
        let (n, line, times) = (context.rlwe().n(), line::<W>(), context.slots() / period);
        if times > line {
            Self { run: times, width: n / times * line, gap: times }
        } else {
            Self { run: line, width: n, gap: 1 }
        }
    }

    /// `storage`, or better if that takes no more.
    fn storage(self, storage: PlaintextStorage, n: usize, limbs: usize) -> PlaintextStorage {
        if self.width * limbs <= n { PlaintextStorage::Evaluated } else { storage }
    }
}

/// A linear map of slots, encoded for ciphertexts at one level.
pub struct LinearTransform<W: Word> {
    pub(super) context: CkksContext<W>,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) steps: BabyGiantSteps,
    pub(super) giants: Vec<Giant>,
    repetition: Repetition,
    rows: Rows<W>,
}

/// The diagonals of one giant step: those of baby steps `first .. first + count`.
pub(super) struct Giant {
    pub step: i64,
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
        context.rlwe().rescale(level)?;
        if matrix.slots() > context.slots() {
            return Err(Error::InvalidArgument(format!(
                "a matrix of {} slots, a ring of {}; take a larger ring",
                matrix.slots(),
                context.slots()
            )));
        }
        let shifts = matrix.shifts();
        if shifts.is_empty() {
            return Err(Error::InvalidArgument(
                "a matrix without diagonals gives zero; there is nothing to evaluate".into(),
            ));
        }
        let steps = BabyGiantSteps::of(&shifts, context.slots());
        let giants = giants_of(&steps);
        let repetition = Repetition::of(context, matrix.period());
        let mut out = Self {
            context: context.clone(),
            level,
            scale,
            steps,
            giants,
            repetition,
            rows: Rows::Coefficients(Vec::new()),
        };
        out.rows = Rows::Coefficients(out.encode(matrix)?);
        let (n, limbs) = (out.basis().n(), out.basis().len());
        if repetition.storage(storage, n, limbs) == PlaintextStorage::Evaluated {
            out.rows = Rows::Evaluated(out.evaluate_rows());
        }
        Ok(out)
    }

    /// The level of the ciphertexts it takes.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The scale of the diagonals.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Rotations whose Galois keys it needs, ascending.
    pub fn rotations(&self) -> Vec<i64> {
        self.steps.rotations()
    }

    /// Bytes that [`Self::new`] keeps in memory for a matrix of this shape, at a level of the context.
    pub(crate) fn memory_bytes_for(
        context: &CkksContext<W>,
        shape: &StageShape,
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let giants = giants_of(&BabyGiantSteps::of(&shape.shifts, context.slots()));
        let diagonals = giants.iter().map(|giant| giant.count).sum::<usize>() as u64;
        let (n, limbs) = (context.rlwe().n(), context.rlwe().qp(level).len());
        let repetition = Repetition::of(context, shape.period);
        let bytes = match repetition.storage(storage, n, limbs) {
            PlaintextStorage::Evaluated => repetition.width * limbs * size_of::<W>(),
            PlaintextStorage::Coefficients => n / repetition.gap * size_of::<i64>(),
        };
        diagonals * bytes as u64
    }

    /// Bytes kept in memory.
    pub fn memory_bytes(&self) -> usize {
        match &self.rows {
            Rows::Evaluated(rows) => size_of_val(rows.as_slice()),
            Rows::Coefficients(rows) => size_of_val(rows.as_slice()),
        }
    }

    /// Q_l P.
    pub(super) fn basis(&self) -> &Basis<W> {
        self.context.rlwe().qp(self.level)
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
        match &self.rows {
            Rows::Evaluated(rows) => {
                &rows[(limb * self.diagonals() + giant.before) * width..][..giant.count * width]
            }
            Rows::Coefficients(rows) => {
                memory.resize(giant.count * width, W::ZERO);
                let mut row = vec![W::ZERO; n];
                let diagonals = rows.chunks_exact(n / self.repetition.gap);
                for (j, diagonal) in diagonals.skip(giant.before).take(giant.count).enumerate() {
                    self.transform(limb, diagonal, &mut row);
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
        match &self.rows {
            Rows::Evaluated(_) => 0,
            Rows::Coefficients(_) => (self.diagonals() * self.basis().len()) as u64,
        }
    }

    /// `[diagonal][n / gap]`: integer coefficients of rot_-g(D_(g+b)).
    fn encode(&self, matrix: &Diagonals) -> Result<Vec<i64>, Error> {
        let (slots, n, gap) = (self.context.slots(), self.context.rlwe().n(), self.repetition.gap);
        let wanted: Vec<(i64, i64)> = self
            .giants
            .iter()
            .flat_map(|g| self.steps.babies()[g.first..g.first + g.count].iter().map(|&baby| (g.step, baby)))
            .collect();
        let encoded = par::try_map(wanted.len(), |i| {
            let (giant, baby) = wanted[i];
            let Some(diagonal) = matrix.get(giant + baby) else {
                return Ok(vec![0; n / gap]);
            };
            let period = diagonal.len();
            let turned: Vec<Complex> = (0..slots as i64)
                .map(|slot| diagonal[(slot - giant).rem_euclid(period as i64) as usize])
                .collect();
            let all = self.context.encoder().encode(&turned, self.scale)?;
            Ok(all.into_iter().step_by(gap).collect())
        })?;
        Ok(encoded.concat())
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
    fn transform(&self, limb: usize, coefficients: &[i64], out: &mut [W]) {
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
        kernels.ntt_forward(basis.row(limb).ntt(), out);
    }
}

/// Giant steps with the run of baby steps from their first to their last diagonal.
fn giants_of(steps: &BabyGiantSteps) -> Vec<Giant> {
    let mut before = 0;
    let giant = |&step: &i64| {
        let own = |baby: &i64| steps.shifts().binary_search(&(step + baby)).is_ok();
        let first = steps.babies().iter().position(own).unwrap_or_default();
        let last = steps.babies().iter().rposition(own).unwrap_or_default();
        let out = Giant { step, first, count: last + 1 - first, before };
        before += out.count;
        out
    };
    steps.giants().iter().map(giant).collect()
}
