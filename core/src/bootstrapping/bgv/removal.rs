//! Digit removal: by one polynomial for a single small digit, or digit by digit where p is small.
//!
//! Reading digits one after the other takes no level for constants: every argument and the quotient are sums of integer multiples of
//! products, with integers of at most half of P. The sums have the factor of x, except the quotient: its factor becomes the wanted one in a
//! last division, which takes off the noise that the integers add.

use alloc::{format, vec::Vec};

use super::spec::BgvSpec;
use crate::{
    arith::{PrimePower, Word},
    circuits::{
        digit_removal::{AllDigits, DigitReader, DigitValue, digit_beside, small_digit},
        polynomial::{Plan, Polynomial, PolynomialEvaluator},
    },
    error::Error,
    schemes::{
        bgv::{BgvCiphertext, BgvEvaluator, BgvShape, Factor, Rehearsal},
        evaluator::{Label, Leveled},
    },
    trace::Counters,
};

/// How I + p^t y modulo p^e becomes the multiple p^t y, or I itself.
#[derive(Debug, Clone)]
pub enum Removal {
    /// By x - D(x), D(I + p^t y) = I for |I| <= B, 2B < p; coefficients modulo p^e, nearest to 0.
    Small(Polynomial<i64>),
    /// By D alone, whose value is subtracted from the message: D(I + p^t y) = I, or D(I + step J) = I for |J| <= B as well.
    Apart(Polynomial<i64>),
    /// By reading all t digits.
    All(AllDigits),
}

impl Removal {
    /// The removal of a set, and the number of levels that it takes.
    pub(super) fn of(spec: &BgvSpec) -> Result<(Self, usize), Error> {
        let plaintexts = spec.plaintexts();
        let ring = PrimePower::new(plaintexts.prime, plaintexts.largest_exponent)?;
        let (t, bound) = (spec.digit_exponent, u64::from(spec.bound));
        spec.approach.check(ring, t)?;
        if spec.approach.is_apart() {
            let digit = apart(spec, ring)?;
            let levels = Plan::new(core::slice::from_ref(&digit))?.levels();
            return Ok((Self::Apart(digit), levels));
        }
        if ring.prime() > AllDigits::LARGEST_PRIME || 2 * bound < ring.prime() {
            let small = small(ring, t, bound)?;
            let levels = Plan::new(core::slice::from_ref(&small))?.levels();
            return Ok((Self::Small(small), levels));
        }
        let digits = AllDigits::small(ring, t, bound)?;
        // t < e, so p^t is below 2^61. Half of 2^t is not among the digits that are read.
        let largest = (ring.prime().pow(t) - 1) / 2;
        if bound > largest {
            return Err(Error::InvalidArgument(format!(
                "digits up to {bound} beside multiples of {}^{t}, {t} digits are up to {largest}; take a smaller bound, or more digits",
                ring.prime()
            )));
        }
        // One more for a division.
        let levels = digits.levels() + 1;
        Ok((Self::All(digits), levels))
    }

    /// The polynomial of one small digit; none if all digits are read.
    pub fn polynomial(&self) -> Option<&Polynomial<i64>> {
        match self {
            Self::Small(polynomial) | Self::Apart(polynomial) => Some(polynomial),
            Self::All(_) => None,
        }
    }

    /// The degree of that polynomial, or the largest degree of the polynomials that read one digit each.
    pub fn degree(&self) -> usize {
        match self {
            Self::Small(polynomial) | Self::Apart(polynomial) => polynomial.degree(),
            Self::All(digits) => digits.readers().iter().map(DigitReader::degree).max().unwrap_or(0),
        }
    }

    /// The multiple p^t y, or the digit alone where it is apart, with the factor `target`, modulo p^e.
    pub(super) fn evaluate<E>(
        &self,
        evaluator: &E,
        key: &E::RelinearizationKey,
        x: &E::Ciphertext,
        target: Factor,
        counters: &mut Counters,
    ) -> Result<E::Ciphertext, Error>
    where
        E: Relabelling,
    {
        match self {
            Self::Small(polynomial) | Self::Apart(polynomial) => {
                PolynomialEvaluator::new(evaluator, key).evaluate_counted(polynomial, x, target, counters)
            }
            Self::All(digits) => Reading { evaluator, key, digits }.evaluate(x, target, counters),
        }
    }
}

/// D, which reads digits apart from the message; its coefficients are nearest to 0.
fn apart(spec: &BgvSpec, ring: PrimePower) -> Result<Polynomial<i64>, Error> {
    let (t, bound) = (spec.digit_exponent, u64::from(spec.bound));
    if spec.approach.step().is_none() && 2 * bound >= ring.prime() {
        return Err(Error::InvalidArgument(format!(
            "digits up to {bound} modulo {} are several, which are read from the raised message alone; take Approach::Raised, or a bound \
             below {}/2",
            ring.prime(),
            ring.prime()
        )));
    }
    let digit = match spec.approach.step() {
        Some(step) => digit_beside(ring, step, bound)?,
        None => small_digit(ring, t, bound)?,
    };
    Polynomial::of_integers(digit.into_iter().map(|c| ring.centered(c)))
}

/// x - D(x) modulo p^e, coefficients nearest to 0.
fn small(ring: PrimePower, t: u32, bound: u64) -> Result<Polynomial<i64>, Error> {
    let mut digit = small_digit(ring, t, bound)?;
    for c in &mut digit {
        *c = ring.neg(*c);
    }
    // For B = 0, D has no coefficients at all.
    digit.resize(digit.len().max(2), 0);
    digit[1] = ring.add(digit[1], 1);
    Polynomial::of_integers(digit.into_iter().map(|c| ring.centered(c)))
}

/// A scheme whose ciphertexts can be given another factor, and another power of p, without a change of their words.
pub(super) trait Relabelling: Leveled<Coefficient = i64, Label = Factor> {
    /// The same words with this factor.
    fn relabelled(&self, x: Self::Ciphertext, factor: Factor) -> Self::Ciphertext;

    /// sum += the sum of all c x, every x read with the factor of the sum.
    fn add_relabelled_assign(
        &self,
        sum: &mut Self::Ciphertext,
        terms: &[(&Self::Ciphertext, i64)],
    ) -> Result<(), Error>;
}

impl<W: Word> Relabelling for BgvEvaluator<W> {
    fn relabelled(&self, x: BgvCiphertext<W>, factor: Factor) -> BgvCiphertext<W> {
        x.relabelled(factor)
    }

    fn add_relabelled_assign(
        &self,
        sum: &mut BgvCiphertext<W>,
        terms: &[(&BgvCiphertext<W>, i64)],
    ) -> Result<(), Error> {
        self.add_words_to(sum, terms)
    }
}

impl<W: Word> Relabelling for Rehearsal<W> {
    fn relabelled(&self, x: BgvShape, factor: Factor) -> BgvShape {
        BgvShape { factor, ..x }
    }

    fn add_relabelled_assign(&self, sum: &mut BgvShape, terms: &[(&BgvShape, i64)]) -> Result<(), Error> {
        let factor = sum.factor;
        terms.iter().try_for_each(|&(x, c)| self.add_multiple_assign(sum, &self.relabelled(*x, factor), &c))
    }
}

/// The evaluation of a removal digit by digit.
struct Reading<'a, E: Leveled> {
    evaluator: &'a E,
    key: &'a E::RelinearizationKey,
    digits: &'a AllDigits,
}

impl<E: Relabelling> Reading<'_, E> {
    fn evaluate(
        &self,
        x: &E::Ciphertext,
        target: Factor,
        counters: &mut Counters,
    ) -> Result<E::Ciphertext, Error> {
        let (ring, readers) = (self.digits.ring(), self.digits.readers());
        self.evaluator.check_operand(x, self.key, target)?;
        let mut x = x.clone();
        self.evaluator.add_constant_assign(&mut x, &(self.digits.shift() as i64))?;
        let own = self.evaluator.label(&x);
        let mut values: Vec<Vec<E::Ciphertext>> = Vec::with_capacity(readers.len());
        for (j, reader) in (0..).zip(readers) {
            let rest = self.rest(&x, &values, |i| j + 1 - i, own)?;
            let argument = self.evaluator.relabelled(rest, own.modulo(ring.exponent() - j)?);
            values.push(self.values(reader, &argument, counters)?);
        }
        let level = self.level_of_rest(&x, &values, |i| ring.exponent() - i);
        let before = target.mul(self.evaluator.label_of_level(level.max(1)));
        let rest = self.rest(&x, &values, |i| ring.exponent() - i, before)?;
        self.evaluator.reduce(&rest, self.key, counters)
    }

    /// All values of a reader.
    fn values(
        &self,
        reader: &DigitReader,
        argument: &E::Ciphertext,
        counters: &mut Counters,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let mut out: Vec<E::Ciphertext> = Vec::with_capacity(reader.values().len());
        for value in reader.values() {
            let next = match value {
                DigitValue::Argument => argument.clone(),
                &DigitValue::Product(a, b) => {
                    let product = self.evaluator.tensor(&out[a], &out[b])?;
                    self.evaluator.reduce(&product, self.key, counters)?
                }
                DigitValue::Sum(terms) => {
                    let level = terms.iter().map(|&(i, _)| self.evaluator.level(&out[i])).min();
                    let factor = terms
                        .first()
                        .map_or(Factor::one(reader.ring()), |&(i, _)| self.evaluator.label(&out[i]));
                    let mut sum = self.evaluator.empty_sum(argument, level.unwrap_or(0), factor);
                    let ring = reader.ring().with_exponent(reader.precision(out.len()))?;
                    let terms: Vec<_> = terms
                        .iter()
                        .map(|&(i, c)| (&out[i], self.multiplier(&out[i], ring.reduce(c), ring, factor)))
                        .collect();
                    self.evaluator.add_relabelled_assign(&mut sum, &terms)?;
                    sum
                }
            };
            out.push(next);
        }
        Ok(out)
    }

    /// The lowest level among the terms of [`Self::rest`].
    fn level_of_rest(
        &self,
        x: &E::Ciphertext,
        values: &[Vec<E::Ciphertext>],
        precision: impl Fn(u32) -> u32,
    ) -> usize {
        let terms = (0..).zip(values).zip(self.digits.readers()).flat_map(|((i, values), reader)| {
            let terms = reader.digit(precision(i)).unwrap_or_default();
            terms.into_iter().map(|(value, _)| self.evaluator.level(&values[value]))
        });
        terms.chain([self.evaluator.level(x)]).min().unwrap_or(0)
    }

    /// x minus the sum of p^i `d_i` over all digits that `values` has, each modulo p to the power that `precision` gives for i. The result
    /// has the factor `factor` modulo p^e.
    fn rest(
        &self,
        x: &E::Ciphertext,
        values: &[Vec<E::Ciphertext>],
        precision: impl Fn(u32) -> u32,
        factor: Factor,
    ) -> Result<E::Ciphertext, Error> {
        let level = self.level_of_rest(x, values, &precision);
        let mut sum = self.evaluator.empty_sum(x, level, factor);
        self.evaluator.add_multiple_assign(&mut sum, x, &1)?;
        let mut terms = Vec::new();
        for ((i, values), reader) in (0..).zip(values).zip(self.digits.readers()) {
            let ring = reader.ring().with_exponent(precision(i))?;
            for (value, c) in reader.digit(precision(i)).unwrap_or_default() {
                let value = &values[value];
                terms.push((value, self.multiplier(value, ring.neg(ring.reduce(c)), ring, factor)));
            }
        }
        self.evaluator.add_relabelled_assign(&mut sum, &terms)?;
        Ok(sum)
    }

    /// The integer that multiplies the words of a value v modulo p^(e - i) in order to add c p^i v modulo p^e to a sum with the factor F:
    /// p^i v f/F has the same words as v with its factor f. The integer is reduced modulo `ring`, since no more of the sum is used, and
    /// small integers leave less noise.
    fn multiplier(&self, value: &E::Ciphertext, c: u64, ring: PrimePower, factor: Factor) -> i64 {
        let quotient = factor.div(self.evaluator.label(value));
        ring.centered(ring.mul(c, ring.reduce(quotient.value())))
    }
}
