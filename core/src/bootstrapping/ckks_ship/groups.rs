//! Products of stage 1, computed before its step, one group of diagonals at a time.

use alloc::vec::Vec;

use super::{evaluator::ShipEvaluator, keys::KeySource, slots_to_coeffs::SlotsToCoeffs};
use crate::{
    arith::Word,
    bootstrapping::method::split::{Reader, bad, put_words},
    error::Error,
    par,
    ring::{Basis, Poly},
    rlwe::{Pair, SampleBlock},
    schemes::ckks::{Ciphertext, Scale},
    trace::Counters,
};

/// Stage 1 of a run, begun ahead of its step.
pub(super) struct Begun<W: Word> {
    products: Products<W>,
    sums: Vec<Option<Pair<W>>>,
    counters: Counters,
}

impl<W: Word> Begun<W> {
    /// Computes the baby steps.
    pub(super) fn new(
        evaluator: &ShipEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<Self, Error> {
        let input = evaluator.exhaust(x)?;
        let own = evaluator.matrix_of_scale(input.scale())?;
        let matrix = own.as_ref().unwrap_or(&evaluator.matrix);
        let (params, mut counters) = (evaluator.params(), Counters::default());
        let steps = matrix.baby_steps(params, &input.pair()?, keys.common(), &mut counters);
        let sums = (0..params.bsgs().1).map(|_| None).collect();
        Ok(Self { products: Products { own, steps }, sums, counters })
    }

    /// Appends what [`Products::read`] reads; the numbers are public.
    pub(super) fn write(&self, scale: Scale, out: &mut Vec<u8>) {
        let (high, low) = scale.parts();
        put_words(&[high.to_bits(), low.to_bits()], out);
        put_words(self.products.steps.words(), out);
    }

    /// Computes the products of a group.
    pub(super) fn compute(&mut self, evaluator: &ShipEvaluator<W>, group: usize) -> Result<(), Error> {
        self.sums[group] = Some(self.products.sum(evaluator, group)?);
        Ok(())
    }

    /// Takes the sum of a group that was computed elsewhere.
    pub(super) fn supply(&mut self, group: usize, sum: &[u8]) -> Result<(), Error> {
        let mut sum = Reader(sum);
        let pair = read_pair(&mut sum, self.products.steps.basis())?;
        sum.end()?;
        self.sums[group] = Some(pair);
        Ok(())
    }

    /// The result, as [`ShipEvaluator::slots_to_coeffs`] gives it for the same ciphertext.
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
pub(super) struct Products<W: Word> {
    /// The matrix for a scale that is not the evaluator's.
    own: Option<SlotsToCoeffs<W>>,
    steps: SampleBlock<W>,
}

impl<W: Word> Products<W> {
    /// Reads the products of a run elsewhere, as [`Begun::write`] wrote them.
    pub(super) fn read(evaluator: &ShipEvaluator<W>, mut brief: Reader<'_>) -> Result<Self, Error> {
        let parts = brief.words::<u64>(2)?;
        let scale = Scale::from_parts(f64::from_bits(parts[0]), f64::from_bits(parts[1]));
        let scale = scale.ok_or_else(|| bad("no ciphertext has this scale"))?;
        let own = evaluator.matrix_of_scale(scale).map_err(|_| bad("no run of this set has this scale"))?;
        let basis = own.as_ref().unwrap_or(&evaluator.matrix).narrow_basis();
        let (baby, _) = evaluator.params().bsgs();
        let steps = SampleBlock::from_words(basis, 0, baby, read_rows(&mut brief, basis, 2 * baby)?);
        brief.end()?;
        Ok(Self { own, steps })
    }

    fn matrix<'a>(&'a self, evaluator: &'a ShipEvaluator<W>) -> &'a SlotsToCoeffs<W> {
        self.own.as_ref().unwrap_or(&evaluator.matrix)
    }

    /// The sum of a group.
    pub(super) fn sum(&self, evaluator: &ShipEvaluator<W>, group: usize) -> Result<Pair<W>, Error> {
        self.matrix(evaluator).group_sum(evaluator.params(), &self.steps, group)
    }
}

/// Appends what [`read_pair`] reads.
pub(super) fn put_pair<W: Word>(pair: &Pair<W>, out: &mut Vec<u8>) {
    put_words(pair.b.data(), out);
    put_words(pair.a.data(), out);
}

/// Reads both components, prime by prime.
pub(super) fn read_pair<W: Word>(bytes: &mut Reader<'_>, basis: &Basis<W>) -> Result<Pair<W>, Error> {
    let mut poly = || Ok::<_, Error>(Poly::from_rows(basis, read_rows(bytes, basis, 1)?));
    Ok(Pair { b: poly()?, a: poly()? })
}

/// Reads `rows` rows of residues for each prime, prime after prime.
fn read_rows<W: Word>(bytes: &mut Reader<'_>, basis: &Basis<W>, rows: usize) -> Result<Vec<W>, Error> {
    let rows = basis.primes().map(|p| bytes.residues(p, rows * basis.n()));
    Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
}
