//! Integers of more bits than one look-up takes: digits, floor, sign and comparison (Liu, Micciancio, Polyakov, ASIACRYPT
//! 2022; `EvalDecomp`, `EvalFloor`, `EvalSign` in OpenFHE).
//!
//! An integer x of w bits is a residue modulo 2^w, at x / 2^w of the turn. Multiplied by 2^(w-k), its phase is that of x modulo 2^k, which
//! a look-up reads. After subtracting that, the rest is the residue of floor(x / 2^k) modulo 2^(w-k), at the same phase. The noise is
//! multiplied as well, which limits w and the bits that a set can take at once, first of all for the lowest digit. The sets with 50-bit
//! primes exist because of this noise growth.

use alloc::{format, string::String, vec::Vec};

use super::{
    evaluator::CggiEvaluator,
    sign_plan::{NoisyResidue, SignPlan},
};
use crate::{
    arith::Word,
    error::Error,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, Encoding, Gate},
    trace::Observer,
};

impl<W: Word> CggiEvaluator<W> {
    /// The digits of a residue modulo 2^w, lowest first, `bits` bits each (the last one may have fewer), in the encoding
    /// `output`. Three rotations a digit, two for the last.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an input that is not a residue modulo a power of two, digits of no bits, or an output that
    /// does not hold them; [`Error::Limit`] if the noise would break the promise of the set (see [`Self::accepting`]): take
    /// fewer bits at a time; [`Error::ParamsMismatch`], [`Error::Cancelled`] as [`Self::look_up`].
    pub fn digits(
        &self,
        x: &CggiCiphertext<W>,
        bits: u32,
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<W>>, Error> {
        let mut left = width(x)?;
        let mut digits = Vec::new();
        let mut rest = x.clone();
        loop {
            let taken = bits.min(left);
            let low = self.add_padding(&self.low_bits(&rest, taken)?, observer)?;
            digits.push(self.look_up(&low, &identity(taken), output, observer)?);
            if taken == left {
                return Ok(digits);
            }
            rest = self.without(&rest, &low, taken, observer)?;
            left -= taken;
        }
    }

    /// floor(x / 2^bits) modulo 2^(w-bits), for a residue x modulo 2^w. Two rotations.
    ///
    /// # Errors
    /// As [`Self::digits`]; [`Error::InvalidArgument`] unless at least one bit is left.
    pub fn floor(
        &self,
        x: &CggiCiphertext<W>,
        bits: u32,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let width = width(x)?;
        if bits >= width {
            return Err(Error::InvalidArgument(format!(
                "the lowest {bits} bits of an integer of {width} are taken off; leave at least one"
            )));
        }
        let low = self.add_padding(&self.low_bits(x, bits)?, observer)?;
        self.without(x, &low, bits, observer)
    }

    /// Whether x, a residue modulo 2^w read as an integer from -2^(w-1) to 2^(w-1) - 1, is negative: a bit. As many
    /// bits are taken off at a time as the promise allows.
    ///
    /// # Errors
    /// As [`Self::digits`]; [`Error::Limit`] if not even one bit can be taken off.
    pub fn is_negative(
        &self,
        x: &CggiCiphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let residue = NoisyResidue { width: width(x)?, noise: f64::from(x.weight()), offset: 0.0 };
        let plan = SignPlan::new(self.params().noise(), residue, self.log_failure())
            .ok_or_else(|| too_noisy(residue, self.params().name()))?;
        self.look_up_sign(x, &plan, [0, 1], Encoding::Bit, observer)
    }

    /// The first of two messages of `output` if x, read as in [`Self::is_negative`], is at least 0, and the second if it is negative. The
    /// plan has to be for a residue of the width and noise of x.
    pub(in crate::bootstrapping) fn look_up_sign(
        &self,
        x: &CggiCiphertext<W>,
        plan: &SignPlan,
        [at_least_zero, negative]: [u32; 2],
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let mut rest = x.clone();
        for digit in plan.digits() {
            let low = CggiCiphertext { weight: digit.weight, ..self.low_bits(&rest, digit.bits)? };
            let low = self.add_padding(&low, observer)?;
            rest = self.without(&rest, &low, digit.bits, observer)?;
        }
        let half = rest.encoding().messages() / 2;
        let table: Vec<u32> =
            (0..2 * half).map(|m| if m >= half { negative } else { at_least_zero }).collect();
        self.look_up(&rest, &table, output, observer)
    }

    /// x < y as a bit, for residues modulo 2^w that hold integers below 2^(w-1), so that the sign of the difference
    /// tells.
    ///
    /// # Errors
    /// As [`Self::is_negative`].
    pub fn less(
        &self,
        x: &CggiCiphertext<W>,
        y: &CggiCiphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let difference = self.weighted_sum(&[(1, x), (-1, y)], 0)?;
        self.is_negative(&difference, observer)
    }

    /// x = y as a bit, for integers as in [`Self::less`]: neither is less.
    ///
    /// # Errors
    /// As [`Self::is_negative`].
    pub fn equal(
        &self,
        x: &CggiCiphertext<W>,
        y: &CggiCiphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let (less, more) = (self.less(x, y, observer)?, self.less(y, x, observer)?);
        self.gate(Gate::Nor, &[&less, &more], observer)
    }

    /// (x - low) / 2^bits, where `low` is x modulo 2^bits with padding.
    fn without(
        &self,
        x: &CggiCiphertext<W>,
        low: &CggiCiphertext<W>,
        bits: u32,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let digit = self.look_up(low, &identity(bits), x.encoding(), observer)?;
        let rest = self.weighted_sum(&[(1, x), (-1, &digit)], 0)?;
        let encoding = Encoding::Cyclic { messages: x.encoding().messages() >> bits };
        CggiCiphertext::new(
            self.params(),
            self.keys().key_id(),
            encoding,
            rest.weight(),
            rest.sample().clone(),
        )
    }

    /// x modulo 2^bits, as a residue: no rotation.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an input that is not a residue modulo a power of two, or more bits than it has;
    /// [`Error::ParamsMismatch`] for a ciphertext of other keys.
    pub fn low_bits(&self, x: &CggiCiphertext<W>, bits: u32) -> Result<CggiCiphertext<W>, Error> {
        self.check_key(x)?;
        let width = width(x)?;
        if !(1..=width).contains(&bits) {
            return Err(Error::InvalidArgument(format!(
                "{bits} bits of an integer of {width}; take 1 to {width}"
            )));
        }
        let params = self.params();
        let mut sample = LweSample::trivial(params.n(), W::ZERO);
        sample.add_multiple(params.modulus(), 1 << (width - bits), x.sample());
        let weight = u64::from(x.weight()) << (2 * (width - bits));
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        let encoding = Encoding::Cyclic { messages: 1 << bits };
        CggiCiphertext::new(params, self.keys().key_id(), encoding, weight, sample)
    }
}

/// The table of m -> m for messages of `bits` bits.
fn identity(bits: u32) -> Vec<u32> {
    (0..1 << bits).collect()
}

/// The error for a residue whose sign cannot be read.
pub(in crate::bootstrapping) fn too_noisy(residue: NoisyResidue, set: &str) -> Error {
    let NoisyResidue { width, noise, offset } = residue;
    let offset =
        if offset > 0.0 { format!(", {offset:.1e} of a turn off its place,") } else { String::new() };
    Error::Limit(format!(
        "the sign of an integer of {width} bits with {noise:.3} times the noise of a bootstrap{offset} would be wrong more often than \
         set {set} accepts; take fewer bits, a set of larger modulus, or accept more failures"
    ))
}

/// w, for a residue modulo 2^w.
fn width<W: Word>(x: &CggiCiphertext<W>) -> Result<u32, Error> {
    match x.encoding() {
        Encoding::Cyclic { messages } if messages.is_power_of_two() => Ok(messages.trailing_zeros()),
        other => Err(Error::InvalidArgument(format!(
            "digits are taken of residues modulo a power of two, not of {}; encrypt under such a modulus",
            other.describe()
        ))),
    }
}
