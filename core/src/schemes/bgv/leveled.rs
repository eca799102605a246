//! BGV as a scheme with levels: labels are factors, and constants are integers.

use alloc::vec::Vec;

use super::{ciphertext::BgvCiphertext, evaluator::BgvEvaluator, factor::Factor};
use crate::{
    arith::Word, error::Error, ring::Poly, rlwe::SampleBlock, schemes::evaluator::Leveled, trace::Counters,
};

impl<W: Word> Leveled for BgvEvaluator<W> {
    type Ciphertext = BgvCiphertext<W>;
    type Coefficient = i64;
    type Label = Factor;
    type RelinearizationKey = SampleBlock<W>;

    fn level(&self, x: &BgvCiphertext<W>) -> usize {
        x.level
    }

    fn label(&self, x: &BgvCiphertext<W>) -> Factor {
        x.factor
    }

    fn label_of_level(&self, level: usize) -> Factor {
        self.context().level_factor(level)
    }

    fn at_label(&self, x: BgvCiphertext<W>, label: Factor) -> Result<BgvCiphertext<W>, Error> {
        x.check_same_factor(label)?;
        Ok(x)
    }

    fn check_operand(&self, x: &BgvCiphertext<W>, key: &SampleBlock<W>, target: Factor) -> Result<(), Error> {
        x.two_parts()?;
        x.check_ring(target.ring())?;
        self.context().rlwe().check_key(key, x.level)
    }

    fn empty_sum(&self, like: &BgvCiphertext<W>, level: usize, label: Factor) -> BgvCiphertext<W> {
        self.zero_like(like, level, label)
    }

    fn add_constant_assign(&self, sum: &mut BgvCiphertext<W>, c: &i64) -> Result<(), Error> {
        self.add_constant_to(sum, *c)
    }

    fn add_multiple_assign(
        &self,
        sum: &mut BgvCiphertext<W>,
        x: &BgvCiphertext<W>,
        c: &i64,
    ) -> Result<(), Error> {
        self.add_multiples_to(sum, &[(x, *c)])
    }

    fn add_multiples_assign(
        &self,
        sum: &mut BgvCiphertext<W>,
        terms: &[(&BgvCiphertext<W>, &i64)],
    ) -> Result<(), Error> {
        let terms: Vec<_> = terms.iter().map(|&(x, &c)| (x, c)).collect();
        self.add_multiples_to(sum, &terms)
    }

    fn multiply_integer_assign(&self, x: &mut BgvCiphertext<W>, k: i64) -> Result<(), Error> {
        self.multiply_integer_to(x, k)
    }

    fn add_to(&self, x: BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.combine(x, y, Poly::add_assign)
    }

    fn tensor(&self, x: &BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.tensor(x, y)
    }

    /// Sums are checked for their noise here, where they are complete.
    fn reduce(
        &self,
        x: &BgvCiphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        Self::check_noise(x)?;
        if x.components() == 3 {
            return self.relinearize_rescale_counted(x, key, counters);
        }
        counters.ntt += 2 * self.context().rlwe().rescale(x.level)?.ntts();
        self.rescale(x)
    }
}
