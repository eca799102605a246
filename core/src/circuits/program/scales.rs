//! Bringing values to one scale, and sums of values times numbers.

use alloc::{format, vec::Vec};

use super::{
    lower::Planner,
    steps::{Action, Register},
};
use crate::{
    error::Error,
    schemes::ckks::{Complex, Scale},
};

/// Smallest log2 of a factor's scale: numbers are rounded to multiples of its inverse.
const SMALLEST_FACTOR: f64 = 12.0;
/// Largest log2 of a number times its scale.
const LARGEST_NUMBER: f64 = 60.0;

impl Planner<'_> {
    /// x brought to `scale` at `level`, which is below its own.
    pub(super) fn adjusted(
        &mut self,
        node: usize,
        x: Register,
        level: usize,
        scale: Scale,
    ) -> Result<Register, Error> {
        self.combine_to(node, alloc::vec![(x, Complex::ONE)], Complex::ZERO, (level, scale))
    }

    /// Both values, brought to one scale.
    pub(super) fn aligned(
        &mut self,
        node: usize,
        x: Register,
        y: Register,
    ) -> Result<(Register, Register), Error> {
        let (x, y) = (self.latest(x), self.latest(y));
        let (a, b) = (self.steps[x].clone(), self.steps[y].clone());
        if a.scale.matches(b.scale) {
            return Ok((x, y));
        }
        if a.level > b.level {
            return Ok((self.adjusted(node, x, b.level, b.scale)?, y));
        }
        if b.level > a.level {
            return Ok((x, self.adjusted(node, y, a.level, a.scale)?));
        }
        let (x, y) = match (self.levels(x), self.levels_after_bootstrap()) {
            (1.., _) => (x, y),
            (0, Some(1..)) => {
                let (x, y) = (self.with_levels(node, x, 1)?, self.with_levels(node, y, 1)?);
                if self.steps[x].scale.matches(self.steps[y].scale) {
                    return Ok((x, y));
                }
                (x, y)
            }
            (0, _) => {
                return Err(Error::ScaleMismatch(format!(
                    "its operands are at level {} with scales 2^{:.6} and 2^{:.6}, and no level is left to bring them \
                     together; encrypt the inputs one level higher",
                    a.level,
                    a.scale.log2(),
                    b.scale.log2()
                )));
            }
        };
        let level = self.steps[x].level.min(self.steps[y].level) - 1;
        let scale = self.target.scale(level);
        Ok((self.adjusted(node, x, level, scale)?, self.adjusted(node, y, level, scale)?))
    }

    /// Sum of values times numbers, plus a number, one level below the lowest of them.
    pub(super) fn combine(
        &mut self,
        node: usize,
        terms: Vec<(Register, Complex)>,
        number: Complex,
    ) -> Result<Register, Error> {
        let mut ready = Vec::with_capacity(terms.len());
        for (x, factor) in terms {
            ready.push((self.with_levels(node, x, 1)?, factor));
        }
        let lowest = ready.iter().map(|&(x, _)| self.steps[x].level).min().unwrap_or(1);
        let level = lowest.saturating_sub(1);
        self.combine_to(node, ready, number, (level, self.target.scale(level)))
    }

    fn combine_to(
        &mut self,
        node: usize,
        terms: Vec<(Register, Complex)>,
        number: Complex,
        (level, scale): (usize, Scale),
    ) -> Result<Register, Error> {
        for &(x, factor) in &terms {
            check_number(factor.abs(), self.factor_scale(x, level, scale)?)?;
        }
        check_number(number.abs(), scale)?;
        self.push(node, Action::Combine(terms, number), level, scale)
    }

    /// Scale of the factor that brings x to `scale` at `level`, which is below its own.
    pub(super) fn factor_scale(&self, x: Register, level: usize, scale: Scale) -> Result<Scale, Error> {
        let factor = scale.mul(self.target.primes[level + 1]).div(self.steps[x].scale);
        if factor.log2() >= SMALLEST_FACTOR {
            return Ok(factor);
        }
        Err(Error::ScaleMismatch(format!(
            "a value at scale 2^{:.1} is to be brought to 2^{:.1} at level {level}: factors would be rounded to multiples of \
             2^{:.1}; encrypt at the scale of the set",
            self.steps[x].scale.log2(),
            scale.log2(),
            -factor.log2()
        )))
    }
}

/// An error unless a number of a size at a scale is an integer that the encoder takes.
pub(super) fn check_number(size: f64, scale: Scale) -> Result<(), Error> {
    if size == 0.0 || libm::log2(size) + scale.log2() <= LARGEST_NUMBER {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "a number of size {size:.3e} at scale 2^{:.1} is beyond 2^{LARGEST_NUMBER}; scale the numbers down",
        scale.log2()
    )))
}
