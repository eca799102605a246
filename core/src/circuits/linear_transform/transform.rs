//! A matrix made ready for ciphertexts of one level.

use alloc::{format, vec, vec::Vec};

use super::{babies_giants::BabyGiantSteps, diagonals::Diagonals};
use crate::{
    arith::{Word, row_to_lines},
    error::Error,
    par,
    ring::Basis,
    schemes::ckks::{CkksContext, Complex, Scale},
};

/// How the encoded diagonals are kept. The results are the same, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaintextStorage {
    /// Residues modulo Q_l P in evaluation domain: the fastest, and as many words per diagonal as there are primes.
    Evaluated,
    /// One integer per coefficient, reduced and transformed whenever they are used.
    Coefficients,
}

/// A linear map of slots, encoded for ciphertexts at one level.
pub struct LinearTransform<W: Word> {
    pub(super) context: CkksContext<W>,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) steps: BabyGiantSteps,
    pub(super) giants: Vec<Giant>,
    pub(super) rows: Rows<W>,
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
pub(super) enum Rows<W: Word> {
    /// `[limb][giant]`, the rows of its diagonals in lines.
    Evaluated(Vec<W>),
    /// `[diagonal][n]`.
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
        let steps = BabyGiantSteps::of(&shifts);
        let giants = giants_of(&shifts, &steps);
        let mut out = Self {
            context: context.clone(),
            level,
            scale,
            steps,
            giants,
            rows: Rows::Coefficients(Vec::new()),
        };
        out.rows = Rows::Coefficients(out.encode(matrix)?);
        if storage == PlaintextStorage::Evaluated {
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

    /// Bytes that [`Self::new`] keeps in memory for a matrix with these shifts, ascending, at a level of the context.
    pub(crate) fn memory_bytes_for(
        context: &CkksContext<W>,
        shifts: &[i64],
        level: usize,
        storage: PlaintextStorage,
    ) -> u64 {
        let giants = giants_of(shifts, &BabyGiantSteps::of(shifts));
        let words = (giants.iter().map(|giant| giant.count).sum::<usize>() * context.rlwe().n()) as u64;
        match storage {
            PlaintextStorage::Evaluated => words * (context.rlwe().qp(level).len() * size_of::<W>()) as u64,
            PlaintextStorage::Coefficients => words * size_of::<i64>() as u64,
        }
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

    /// The rows of one giant step modulo prime `limb`, in lines.
    pub(super) fn giant_rows<'a>(&'a self, limb: usize, giant: &Giant, memory: &'a mut Vec<W>) -> &'a [W] {
        let n = self.basis().n();
        match &self.rows {
            Rows::Evaluated(rows) => &rows[(limb * self.diagonals() + giant.before) * n..][..giant.count * n],
            Rows::Coefficients(rows) => {
                memory.resize(giant.count * n, W::ZERO);
                let mut row = vec![W::ZERO; n];
                for (j, diagonal) in rows.chunks_exact(n).skip(giant.before).take(giant.count).enumerate() {
                    self.transform(limb, diagonal, &mut row);
                    row_to_lines(&row, (j, giant.count), memory);
                }
                memory
            }
        }
    }

    /// Transforms that evaluating the diagonals takes each time.
    pub(super) fn plaintext_ntts(&self) -> u64 {
        match &self.rows {
            Rows::Evaluated(_) => 0,
            Rows::Coefficients(_) => (self.diagonals() * self.basis().len()) as u64,
        }
    }

    /// `[diagonal][n]`: integer coefficients of rot_-g(D_(g+b)).
    fn encode(&self, matrix: &Diagonals) -> Result<Vec<i64>, Error> {
        let (slots, n) = (self.context.slots(), self.context.rlwe().n());
        let wanted: Vec<(i64, i64)> = self
            .giants
            .iter()
            .flat_map(|g| self.steps.babies()[g.first..g.first + g.count].iter().map(|&baby| (g.step, baby)))
            .collect();
        let encoded = par::try_map(wanted.len(), |i| {
            let (giant, baby) = wanted[i];
            let Some(diagonal) = matrix.get(giant + baby) else {
                return Ok(vec![0; n]);
            };
            let period = diagonal.len();
            let turned: Vec<Complex> = (0..slots as i64)
                .map(|slot| diagonal[(slot - giant).rem_euclid(period as i64) as usize])
                .collect();
            self.context.encoder().encode(&turned, self.scale)
        })?;
        Ok(encoded.concat())
    }

    fn evaluate_rows(&self) -> Vec<W> {
        let (n, all) = (self.basis().n(), self.diagonals());
        let mut out = vec![W::ZERO; self.basis().len() * all * n];
        par::for_each_chunk_mut(&mut out, all * n, |limb, rows| {
            let mut memory = Vec::new();
            for giant in &self.giants {
                let lines = self.giant_rows(limb, giant, &mut memory);
                rows[giant.before * n..][..giant.count * n].copy_from_slice(lines);
            }
        });
        out
    }

    fn transform(&self, limb: usize, coefficients: &[i64], out: &mut [W]) {
        let (basis, kernels) = (self.basis(), self.basis().kernels());
        kernels.reduce_i64(basis.modulus(limb), out, coefficients);
        kernels.ntt_forward(basis.row(limb).ntt(), out);
    }
}

/// Giant steps with the run of baby steps from their first to their last diagonal.
fn giants_of(shifts: &[i64], steps: &BabyGiantSteps) -> Vec<Giant> {
    let mut before = 0;
    let giant = |&step: &i64| {
        let own = |baby: &i64| shifts.binary_search(&(step + baby)).is_ok();
        let first = steps.babies().iter().position(own).unwrap_or_default();
        let last = steps.babies().iter().rposition(own).unwrap_or_default();
        let out = Giant { step, first, count: last + 1 - first, before };
        before += out.count;
        out
    };
    steps.giants().iter().map(giant).collect()
}
