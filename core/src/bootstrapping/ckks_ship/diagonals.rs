//! The matrix of stage 1 as diagonals: S plaintexts of N coefficients, and what is kept of them.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::params::ShipParams;
use crate::{
    arith::{Modulus, Word, complex::Complex, in_lines, to_lines},
    error::Error,
    par,
    ring::Basis,
    schemes::ckks::Scale,
};

/// What an evaluator keeps of the slots-to-coefficients matrix. The results are the same, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Diagonals {
    /// Residues modulo q0 qs, in evaluation domain, the fastest: 256 MiB at N = 2^13 with one prime per level, 2 GiB
    /// at N = 2^14 with two.
    Evaluated,
    /// One word per coefficient, transformed when they are used: 128 MiB at N = 2^13, 512 MiB at 2^14.
    Coefficients,
    /// Nothing: every bootstrap encodes them again, in the memory of one group of diagonals per thread.
    Remade,
}

impl Diagonals {
    /// [`Self::Evaluated`] where that takes a quarter of the evaluation keys' memory at most, as it does in all
    /// shipped sets of full size, [`Self::Coefficients`] elsewhere.
    pub fn for_params<W: Word>(params: &ShipParams<W>) -> Self {
        let fits = Self::Evaluated.memory_bytes(params) <= params.expanded_key_bytes() / 4;
        if fits { Self::Evaluated } else { Self::Coefficients }
    }

    /// Bytes kept in memory.
    pub fn memory_bytes<W: Word>(self, params: &ShipParams<W>) -> u64 {
        let rows = match self {
            Self::Evaluated => params.ckks().rlwe().q(params.input_level()).len(),
            Self::Coefficients => 1,
            Self::Remade => 0,
        };
        params.slots() as u64 * (rows * params.n() * size_of::<W>()) as u64
    }
}

/// The diagonals `d'_(g,j)[k] = V[k'][(k' + g bs + j) mod S]`, `k' = k - g bs`, of `V[k][j] = zeta^(5^k j)`, encoded
/// at one scale.
pub(super) struct Matrix<W: Word> {
    scale: Scale,
    basis: Basis<W>,
    /// A prime above twice the scale, to hold coefficients.
    carrier: Modulus<W>,
    /// zeta^t, t < 2N.
    roots: Vec<Complex>,
    /// 5^k modulo 2N.
    powers: Vec<u32>,
    kept: Diagonals,
    /// `[group]`: `[limb]` with the rows of the baby steps in lines if evaluated, `[baby][n]` modulo the carrier if
    /// coefficients.
    groups: Vec<Vec<W>>,
}

impl<W: Word> Matrix<W> {
    pub fn new(
        params: &ShipParams<W>,
        scale: Scale,
        basis: &Basis<W>,
        carrier: &Modulus<W>,
        kept: Diagonals,
    ) -> Result<Self, Error> {
        let (n, s, (baby, giant)) = (params.n(), params.slots(), params.bsgs());
        let powers = core::iter::successors(Some(1usize), |power| Some(power * 5 % (2 * n)));
        let mut out = Self {
            scale,
            basis: basis.clone(),
            carrier: *carrier,
            roots: (0..2 * n as u64).map(|t| Complex::root_of_unity(t, 2 * n as u64)).collect(),
            powers: powers.take(s).map(|power| power as u32).collect(),
            kept,
            groups: Vec::new(),
        };
        out.groups = match kept {
            Diagonals::Remade => Vec::new(),
            Diagonals::Coefficients => par::try_map(giant, |g| out.encode_group(params, g))?,
            Diagonals::Evaluated => par::try_map(giant, |g| {
                let coefficients = out.encode_group(params, g)?;
                let mut all = vec![W::ZERO; basis.len() * baby * n];
                let mut rows = vec![W::ZERO; baby * n];
                for (limb, lines) in all.chunks_exact_mut(baby * n).enumerate() {
                    out.transform(limb, &coefficients, &mut rows);
                    to_lines(&rows, n, lines);
                }
                Ok::<_, Error>(all)
            })?,
        };
        Ok(out)
    }

    /// A group, encoded now unless it was kept.
    pub fn group(&self, params: &ShipParams<W>, group: usize) -> Result<Group<'_, W>, Error> {
        let rows = match self.groups.get(group) {
            Some(kept) => Cow::Borrowed(kept.as_slice()),
            None => Cow::Owned(self.encode_group(params, group)?),
        };
        Ok(Group { matrix: self, rows })
    }

    /// Bytes kept in memory, as [`Diagonals::memory_bytes`] predicts.
    pub fn memory_bytes(&self) -> usize {
        self.groups.iter().map(|group| size_of_val(group.as_slice())).sum()
    }

    /// Whether [`Self::group`] costs an encoding.
    pub fn remade(&self) -> bool {
        self.kept == Diagonals::Remade
    }

    /// Transforms that the products of one group take.
    pub fn ntts_per_group(&self, baby: usize) -> u64 {
        if self.kept == Diagonals::Evaluated { 0 } else { (baby * self.basis.len()) as u64 }
    }

    /// `[baby][n]`, coefficient domain: residues modulo the carrier that stand for centred integers.
    ///
    /// Only the first diagonal of a group is transformed. From one to the next, slot k is multiplied by
    /// zeta^(5^(k - g bs)), except that one slot wraps around: with u = 5^-(g bs),
    ///
    /// d'_(j+1) = X^u d'_j + (1 - i) E, E one in slot S - 1 - j and zero elsewhere,
    ///
    /// and (1 - i) E has the coefficients 2/N (cos - sin)(pi t 5^(S-1-j) / N). So X^-(ju) d'_j gains N terms of a table
    /// with each j, and is rounded where the shift puts it.
    fn encode_group(&self, params: &ShipParams<W>, group: usize) -> Result<Vec<W>, Error> {
        let (n, s, (baby, _)) = (params.n(), params.slots(), params.bsgs());
        let (shift, scale, mask) = (group * baby, self.scale.to_f64(), 2 * n - 1);
        let slots: Vec<Complex> = (0..s)
            .map(|k| self.roots[(self.powers[(k + s - shift) & (s - 1)] as usize * k) & mask])
            .collect();
        let mut unshifted = params.ckks().encoder().coefficients(&slots)?;
        for x in &mut unshifted {
            *x *= scale;
        }
        let wraps: Vec<f64> = self.roots.iter().map(|z| (z.re - z.im) * (2.0 * scale / n as f64)).collect();
        let step = self.powers[(s - shift) & (s - 1)] as usize;
        let mut out = vec![W::ZERO; baby * n];
        for (j, row) in out.chunks_exact_mut(n).enumerate() {
            let shift = (j * step) & mask;
            if j > 0 {
                let power = self.powers[s - j] as usize;
                let mut index = (power * shift) & mask;
                for x in &mut unshifted {
                    *x += wraps[index];
                    index = (index + power) & mask;
                }
            }
            // X^(j u): coefficients that pass X^N change their sign.
            let (turn, sign) = (shift & (n - 1), if shift < n { 1.0 } else { -1.0 });
            let (low, high) = row.split_at_mut(turn);
            round_into(&self.carrier, high, &unshifted[..n - turn], sign);
            round_into(&self.carrier, low, &unshifted[n - turn..], -sign);
        }
        Ok(out)
    }

    /// Transforms coefficient rows of diagonals to the evaluation domain modulo prime `limb`.
    fn transform(&self, limb: usize, coefficients: &[W], rows: &mut [W]) {
        let (n, kernels) = (self.basis.n(), self.basis.kernels());
        for (row, x) in rows.chunks_exact_mut(n).zip(coefficients.chunks_exact(n)) {
            kernels.lift_centered(&self.carrier, self.basis.modulus(limb), row, x);
            kernels.ntt_forward(self.basis.row(limb).ntt(), row);
        }
    }
}

/// Residues of sign x rounded to integers, ties to even, for |x| < 2^51.
fn round_into<W: Word>(modulus: &Modulus<W>, out: &mut [W], x: &[f64], sign: f64) {
    // Adding 3/2 2^52 rounds a sum to an integer, which is then in the low bits.
    const INTEGERS: f64 = 6_755_399_441_055_744.0;
    let p = modulus.value_u64() as i64;
    for (out, &x) in out.iter_mut().zip(x) {
        let integer = (sign * x + INTEGERS).to_bits().wrapping_sub(INTEGERS.to_bits()) as i64;
        *out = W::from_u64((integer + (p & (integer >> 63))) as u64);
    }
}

/// The diagonals of one giant step.
pub(super) struct Group<'a, W: Word> {
    matrix: &'a Matrix<W>,
    rows: Cow<'a, [W]>,
}

impl<W: Word> Group<'_, W> {
    /// The evaluation-domain rows of diagonals `0..baby` modulo prime `limb` and their step, if they are kept in that form.
    pub fn evaluated(&self, limb: usize) -> Option<(Vec<&[W]>, usize)> {
        let basis = &self.matrix.basis;
        let size = self.rows.len() / basis.len();
        let lines = || in_lines(&self.rows[limb * size..(limb + 1) * size], basis.n());
        (self.matrix.kept == Diagonals::Evaluated).then(lines)
    }

    /// Calls `product` with the first index and the evaluation-domain rows of diagonals `0..baby` modulo prime
    /// `limb`, in order. The rows are transformed from coefficients a few at a time, and so stay in a second-level
    /// cache.
    pub fn for_each_batch(&self, limb: usize, mut product: impl FnMut(usize, &[&[W]])) {
        const BATCH: usize = 8;
        let n = self.matrix.basis.n();
        let mut rows = vec![W::ZERO; BATCH * n];
        for (i, coefficients) in self.rows.chunks(BATCH * n).enumerate() {
            let rows = &mut rows[..coefficients.len()];
            self.matrix.transform(limb, coefficients, rows);
            product(i * BATCH, &rows.chunks_exact(n).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{params, ring::from_integers, rlwe::RlweContext};

    #[test]
    fn diagonals_that_follow_from_each_other_are_those_of_the_encoder() {
        let params = params::ship_preset("toy10").unwrap().params().unwrap();
        let rlwe: &RlweContext<u32> = params.ckks().rlwe();
        let basis = rlwe.qp(params.input_level()).prefix(3);
        let scale = Scale::exp2(15.3);
        let matrix = Matrix::new(&params, scale, &basis, basis.modulus(2), Diagonals::Remade).unwrap();
        let (n, s, (baby, giant)) = (params.n(), params.slots(), params.bsgs());
        for group in [0, 1, giant - 1] {
            let found = matrix.encode_group(&params, group).unwrap();
            for (j, found) in found.chunks_exact(n).enumerate() {
                let entry = |k: usize| {
                    let row = (k + s - group * baby) % s;
                    let column = (row + group * baby + j) % s;
                    let power = (0..row).fold(1, |power, _| power * 5 % (2 * n));
                    Complex::root_of_unity((power * column % (2 * n)) as u64, 2 * n as u64)
                };
                let slots: Vec<Complex> = (0..s).map(entry).collect();
                let wanted = params.ckks().encoder().encode(&slots, scale).unwrap();
                let wanted = from_integers(&basis.select([2]), &wanted);
                assert!(wanted.row(0) == found, "group {group}, diagonal {j}");
            }
        }
    }
}
