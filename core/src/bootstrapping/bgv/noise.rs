//! Expected noise at each stage of a set, and whether its levels have room for it.

use alloc::format;

use super::{params::BgvParams, unpack::unpacked_noise};
use crate::{
    arith::{PrimePower, Word},
    circuits::linear_transform::{IntegerStageShape, IntegerTransform},
    error::Error,
    ring::SmallPoly,
    schemes::bgv::{BgvShape, Factor, Rehearsal},
    trace::Counters,
};

/// Largest deviation of p^t m'/q0, the noise of a raised message in units of a digit. [`BgvParams::log2_failure`] counts it, and more noise
/// is refused. It is about 2^-6, which adds 0.6 bits to the failure of an ephemeral secret of weight 32 and digits up to 15 (2^-133.0
/// instead of 2^-133.6 at N = 2^15); half of it would take a q0 one bit longer.
pub const LARGEST_DEVIATION: f64 = 0.015;

/// Margin between the noise that a bootstrap takes or leaves and the noise that plans count on. The gains of its linear maps are the
/// expected ones, of which a map may have up to 0.3 bits more, a factor of 1.23, and coefficients of the removal depend on the factor of
/// its operand.
const MARGIN: f64 = 1.25;

impl<W: Word> BgvParams<W> {
    /// Deviation of p^t m'/q0, in units of a digit, for a ciphertext at level 0 with noise coefficients of this deviation. It is added to
    /// the digits of a raise. For type B the step takes the place of p^t, here and below.
    pub fn quotient_deviation(&self, coefficients: f64) -> f64 {
        let prepared = libm::hypot(coefficients, self.encapsulation_deviation());
        self.multiplied() * prepared / self.context().level_divisor(0)
    }

    /// The factor by which the words of a message are multiplied before the raise: p^r times p^t, or times the step.
    fn multiplied(&self) -> f64 {
        self.messages().value() as f64 * self.multiplier() as f64
    }

    /// The deviation that switching to the ephemeral secret adds: balanced digits times errors over p', and a rounding.
    fn encapsulation_deviation(&self) -> f64 {
        let context = self.encapsulation();
        let ephemeral = &self.spec().ephemeral;
        let digit = libm::exp2(f64::from(context.digit_bits()));
        let products = libm::sqrt((self.n() * context.digit_count()) as f64 / 12.0) * digit;
        let rounding = libm::sqrt((1.0 + f64::from(ephemeral.weight)) / 12.0);
        let model = self.context().noise();
        let errors = model.error_growth() * SmallPoly::ERROR_SIGMA;
        model.coefficient_growth() * (errors * products / ephemeral.prime as f64 + rounding)
    }

    /// The noise of a raised ciphertext: quotients times q0/p^e, a key switch and a rounding.
    pub(super) fn raised_noise(&self) -> f64 {
        let noise = self.context().noise();
        let quotients =
            libm::sqrt((1.0 + f64::from(self.spec().ephemeral.weight)) / 12.0) + LARGEST_DEVIATION;
        let step = self.context().level_divisor(0) / self.raised().value() as f64;
        noise.embedding(quotients * step) + noise.key_switch(self.levels().coeffs_to_slots) + noise.rounding()
    }

    /// The noise that products may leave: twice a rounding. A message that digits were subtracted from has its own rounding, theirs, and a
    /// little more.
    fn most(&self) -> f64 {
        let roundings = if self.is_apart() { 2.25 } else { 2.0 };
        roundings * self.context().noise().rounding()
    }

    /// The noise of raised multiples of q0, which have none of their own.
    pub(super) fn multiples_noise(&self) -> f64 {
        let noise = self.context().noise();
        noise.key_switch(self.levels().coeffs_to_slots) + noise.rounding()
    }

    /// The noise of a raised message from which digits are subtracted, at the level of the result and with the factor of the digits.
    ///
    /// # Errors
    /// As [`Self::mapped`].
    fn settled(&self) -> Result<f64, Error> {
        let (context, levels, shapes) = (self.context(), self.levels(), self.shapes());
        let (mut noise, mut level) = (self.raised_noise(), levels.coeffs_to_slots);
        if !self.is_general() {
            (noise, level) = (self.mapped(&shapes.coeffs_to_slots, self.raised(), noise)?, levels.removal);
        }
        let rescaled = |noise: f64, level| context.noise().rescaled(noise, context.level_divisor(level));
        while level > levels.output + 1 && rescaled(noise, level) < noise {
            (noise, level) = (rescaled(noise, level), level - 1);
        }
        // The largest integer by which a change of factor multiplies the noise.
        Ok(rescaled(noise * self.raised().value() as f64 / 2.0, levels.output + 1))
    }

    /// Expected noise after the maps of these shapes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming a level that does not hold it.
    fn mapped(
        &self,
        shapes: &[(usize, IntegerStageShape)],
        ring: PrimePower,
        noise: f64,
    ) -> Result<f64, Error> {
        let (context, model) = (self.context(), self.context().noise());
        shapes.iter().try_fold(noise, |noise, (level, shape)| {
            let gain = IntegerTransform::expected_gain(context.rlwe(), shape, ring);
            let noise = model.linear(noise, &gain, *level, context.level_divisor(*level));
            let (needs, has) = (libm::log2(noise * ring.value() as f64) + 1.0, context.rlwe().q(level - 1).log2());
            if needs <= has {
                return Ok(noise);
            }
            Err(Error::InvalidArgument(format!(
                "a linear map at level {level} leaves noise that takes a modulus of 2^{needs:.1}, and the levels below have \
                 2^{has:.1}; take larger primes for level {level}"
            )))
        })
    }

    /// The most noise, less a margin, that a ciphertext may have before a bootstrap.
    pub(super) fn noise_taken(&self) -> f64 {
        let (context, model) = (self.context(), self.context().noise());
        let raised = LARGEST_DEVIATION * context.level_divisor(0) / self.multiplied();
        let own = self.encapsulation_deviation();
        let base = model.embedding(libm::sqrt((raised - own) * (raised + own))) / model.coefficient_growth();
        if self.is_general() {
            return base / MARGIN;
        }
        let before = |noise: f64, (level, shape): &(usize, IntegerStageShape)| {
            let gain = IntegerTransform::expected_gain(context.rlwe(), shape, self.messages());
            let room = libm::exp2(context.rlwe().q(level - 1).log2() - 1.0) / self.messages().value() as f64;
            model.before_linear(noise.min(room), &gain, *level, context.level_divisor(*level))
        };
        self.shapes().slots_to_coeffs.iter().rev().fold(base, before) / MARGIN
    }

    /// The most noise, with a margin, that a bootstrap leaves.
    pub(super) fn noise_left(&self) -> Result<f64, Error> {
        // [`Self::check_noise`] lets coefficients-to-slots leave `most`.
        Ok(MARGIN * self.removed(self.most())?)
    }

    /// The noise at the end of a bootstrap whose slots have `noise` before the removal. A general bootstrap adds unpacking and
    /// slots-to-coefficients, and where digits are apart, the message from which they are subtracted adds its own.
    fn removed(&self, noise: f64) -> Result<f64, Error> {
        let (context, rehearsal) = (self.context(), Rehearsal::new(self.context()));
        let (level, factor) = (self.levels().removal, Factor::one(self.raised()));
        let noise = if self.is_general() { unpacked_noise(context, noise, level) } else { noise };
        let digits = BgvShape { level, factor, noise, components: 2 };
        let left = self.removal().evaluate(&rehearsal, &level, &digits, factor, &mut Counters::default())?;
        let mut noise = left.noise;
        if self.is_general() {
            let packed = noise * context.slot_degree() as f64;
            noise = self.mapped(&self.shapes().slots_to_coeffs, self.mapped_ring(), packed)?;
        }
        if self.is_apart() {
            noise += self.settled()?;
        }
        Ok(noise)
    }

    /// Checks that the noise products leave, about twice a rounding, survives a bootstrap and is no larger afterwards.
    pub(super) fn check_noise(&self) -> Result<(), Error> {
        let (model, shapes, levels) = (self.context().noise(), self.shapes(), self.levels());
        let most = self.most();
        let base = if self.is_general() {
            most
        } else {
            self.mapped(&shapes.slots_to_coeffs, self.messages(), most)?
        };
        let deviation = self.quotient_deviation(model.deviation(base));
        if deviation.is_nan() || deviation > LARGEST_DEVIATION {
            return Err(Error::InvalidArgument(format!(
                "when a message is raised its noise is 2^{:.1} of q0, and at most 2^{:.1} is allowed; take a larger q0, or \
                 larger primes for slots-to-coefficients",
                libm::log2(deviation),
                libm::log2(LARGEST_DEVIATION)
            )));
        }
        let mapped =
            if self.is_general() { levels.output + 1..=levels.slots_to_coeffs } else { 1..=levels.input };
        for level in (1..=levels.removal).filter(|level| !mapped.contains(level)) {
            let (stage, ring) = if level > levels.output {
                ("the removal", self.raised())
            } else {
                ("products", self.messages())
            };
            // With a prime of this size, the product of two such noises divided by it, plus one rounding, is again such a noise.
            let needed = ring.value() as f64 * most * most / (most - model.rounding());
            if self.context().level_divisor(level) < needed {
                return Err(Error::InvalidArgument(format!(
                    "level {level}, for {stage} modulo {}^{}, is 2^{:.1}, and noise does not grow from 2^{:.1} on; take a larger \
                     prime for it",
                    ring.prime(),
                    ring.exponent(),
                    libm::log2(self.context().level_divisor(level)),
                    libm::log2(needed)
                )));
            }
        }
        let raised = if self.is_apart() { self.multiples_noise() } else { self.raised_noise() };
        let digits = self.mapped(&shapes.coeffs_to_slots, self.raised(), raised)?;
        if digits <= most {
            return self.check_result(most);
        }
        Err(Error::InvalidArgument(format!(
            "coefficients-to-slots leaves noise of 2^{:.1} for the removal, which takes at most 2^{:.1}; take larger primes for \
             coefficients-to-slots",
            libm::log2(digits),
            libm::log2(most)
        )))
    }

    /// Checks that a bootstrap leaves at most the noise that it takes. Coordinates have more noise than the slots they were in, and digits
    /// that are read one after the other more than a product, which the levels of the removal have to absorb.
    fn check_result(&self, most: f64) -> Result<(), Error> {
        // Evaluating a removal fails if its noise outgrows its levels.
        let whole = self.is_general() || self.is_apart() || self.removal().polynomial().is_none();
        let left = if whole { self.removed(most).ok() } else { Some(most) };
        if left.is_some_and(|left| left <= most) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "a bootstrap leaves more noise than 2^{:.1}, which is what products take; take larger primes for the removal, or for \
             slots-to-coefficients",
            libm::log2(most)
        )))
    }
}
