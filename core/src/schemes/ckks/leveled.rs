//! CKKS as a scheme with levels: labels are scales.

use alloc::format;

use super::{ciphertext::Ciphertext, evaluator::CkksEvaluator, scale::Scale};
use crate::{
    arith::{ComplexDoubleDouble, Word},
    error::Error,
    rlwe::SampleBlock,
    schemes::evaluator::{Label, Leveled},
    trace::Counters,
};

/// Smallest ratio between the scale of a sum and that of a term: coefficients are multiples of its inverse.
const SMALLEST_RATIO: f64 = 256.0;

impl Label for Scale {
    fn mul(self, other: Self) -> Self {
        Self::mul(self, other)
    }

    fn div(self, other: Self) -> Self {
        Self::div(self, other)
    }
}

impl<W: Word> Leveled for CkksEvaluator<W> {
    type Ciphertext = Ciphertext<W>;
    type Coefficient = ComplexDoubleDouble;
    type Label = Scale;
    type RelinearizationKey = SampleBlock<W>;

    fn level(&self, x: &Ciphertext<W>) -> usize {
        x.level
    }

    fn label(&self, x: &Ciphertext<W>) -> Scale {
        x.scale
    }

    fn label_of_level(&self, level: usize) -> Scale {
        Scale::product(self.context().rlwe().spec().levels[level].iter().copied())
    }

    fn at_label(&self, x: Ciphertext<W>, label: Scale) -> Result<Ciphertext<W>, Error> {
        x.check_same_scale(label)?;
        Ok(x.relabelled(label))
    }

    fn check_operand(&self, x: &Ciphertext<W>, key: &SampleBlock<W>, _: Scale) -> Result<(), Error> {
        x.two_parts()?;
        self.context().rlwe().check_key(key, x.level)
    }

    fn empty_sum(&self, like: &Ciphertext<W>, level: usize, label: Scale) -> Ciphertext<W> {
        self.empty_sum(like, level, label)
    }

    fn add_constant_assign(&self, sum: &mut Ciphertext<W>, c: &ComplexDoubleDouble) -> Result<(), Error> {
        self.add_constant_assign(sum, *c)
    }

    /// Refused where coefficients would be rounded to less than 8 bits.
    fn add_multiple_assign(
        &self,
        sum: &mut Ciphertext<W>,
        x: &Ciphertext<W>,
        c: &ComplexDoubleDouble,
    ) -> Result<(), Error> {
        let ratio = sum.scale.div(x.scale);
        if ratio.to_f64() < SMALLEST_RATIO {
            return Err(Error::ScaleMismatch(format!(
                "a sum at scale 2^{:.1} of terms at scale 2^{:.1} would round coefficients to multiples of 2^{:.1}; \
                 raise the target scale, or lower that of the argument, towards the size of the primes",
                sum.log_scale(),
                x.log_scale(),
                -ratio.log2(),
            )));
        }
        self.add_multiple_assign(sum, x, *c)
    }

    fn multiply_integer_assign(&self, x: &mut Ciphertext<W>, k: i64) -> Result<(), Error> {
        self.multiply_integer_assign(x, k)
    }

    fn add_to(&self, x: Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.add_to(x, y)
    }

    fn tensor(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.tensor(x, y)
    }

    fn reduce(
        &self,
        x: &Ciphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        if x.components() == 3 {
            return self.relinearize_rescale_counted(x, key, counters);
        }
        counters.ntt += 2 * self.context().rlwe().rescale(x.level)?.ntts();
        self.rescale(x)
    }
}
