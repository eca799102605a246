//! The evaluator: modular reduction, bits and digits in the usual number systems, by name.

use alloc::vec::Vec;

use super::{
    fraction::{Fraction, whole},
    noise,
    numbers::Numbers,
    radix::Radix,
    readout::Readout,
    rounding::Rounding,
    run::MsbRun,
    spec::RootsSpec,
};
use crate::{
    arith::{ComplexDoubleDouble, Word},
    bootstrapping::raising::{KeySource, RaisingEvaluator},
    error::Error,
    schemes::ckks::Ciphertext,
    trace::Observer,
};

/// Reads digits of ciphertexts of one set.
///
/// What is read is real: imaginary parts are dropped. Inputs are at the level of inputs or above; results are at the level of
/// outputs less the levels of the deepest table, [`Readout::levels`], but those of bits and functions at the level that their
/// own tables leave.
pub type MsbEvaluator<W = u64> = RaisingEvaluator<RootsSpec, W>;

impl<W: Word> MsbEvaluator<W> {
    /// Everything a readout reads of fractions; see [`MsbRun::new`].
    ///
    /// # Errors
    /// As [`MsbRun::new`]; [`Error::Cancelled`] if the observer says so; [`Error::MissingKey`].
    pub fn read<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        readout: &Readout,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        run(MsbRun::new(self, numbers, readout, rounding)?, keys, observer)
    }

    /// [`Self::read`] for two numbers of every slot, which takes three quarters of the time of two readings; see [`MsbRun::of_two`].
    ///
    /// # Errors
    /// As [`MsbRun::of_two`] and [`Self::read`].
    pub fn read_two(
        &self,
        numbers: [Numbers<'_, W>; 2],
        readout: &Readout,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<[Vec<Ciphertext<W>>; 2], Error> {
        let mut of_x = run(MsbRun::of_two(self, numbers, readout, rounding)?, keys, observer)?;
        let of_y = of_x.split_off(of_x.len() / 2);
        Ok([of_x, of_y])
    }

    /// IntBoot: fractions j/T modulo 1, refreshed, in \[0, 1).
    ///
    /// Where T is large, a bound of the numbers ([`Numbers::up_to`]) is needed: without one they may go up to 2^20, and in the noise of
    /// such numbers `msb16` cannot read 15 bits. This holds for everything that reads digits without a rounding.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn int_boot<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        one(self.read(numbers, &Readout::digits(radix)?, Rounding::None, keys, observer)?)
    }

    /// HalfIntBoot: coefficients j/T over q0 modulo 1, refreshed, in slots; see [`MsbRun::of_coefficients`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn half_int_boot<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let readout = Readout::digits(radix)?;
        one(run(MsbRun::of_coefficients(self, numbers, &readout, Rounding::None)?, keys, observer)?)
    }

    /// Boot: real numbers modulo 1, refreshed and rounded to multiples of 1/T; in \[0, 1), or in \[-1/2, 1/2) if `centred`.
    ///
    /// A number near an end of that range may come back at the other end.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn boot<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        radix: &Radix,
        centred: bool,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let readout = if centred { Readout::centred(radix)? } else { Readout::digits(radix)? };
        one(self.read(numbers, &readout, Rounding::Ephemeral, keys, observer)?)
    }

    /// Mod: real numbers x modulo `modulus`, in \[0, `modulus`), refreshed and rounded to multiples of `modulus` / T, for |x| up to
    /// 2^20 times the modulus: below a modulus of 1 a bound of x is to be stated ([`Numbers::up_to`]).
    ///
    /// The result is at the scale of the set over the modulus. A number at that scale is read as it is; at another one it is
    /// multiplied by a constant first, which takes a level. A number near 0 may come back near the modulus.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::InvalidArgument`] for a modulus outside 2^-20 to 2^20, or for larger numbers;
    /// [`Error::LevelMismatch`] if a product would leave x below the level of inputs.
    pub fn modulo<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        modulus: f64,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let x = self.fraction(numbers.into(), modulus)?;
        Ok(whole(self.boot(x.numbers(), radix, false, keys, observer)?, modulus))
    }

    /// IntMod: integers z modulo n, in \[0, n), refreshed, at the scale of the set over n, for |z| up to 2^20 n.
    ///
    /// Integers at that scale are read as they are: encrypt z / n and relabel it ([`Ciphertext::relabelled`]). At the scale of the set they
    /// are multiplied by a constant first, which takes a level. The smaller the bounds of `numbers`, the fewer digits their noise makes
    /// necessary: [`Self::int_mod_bases`] gives the bases, of one pass each, and the error of the result. For sums and products of integers
    /// there is [`ResidueEvaluator`](super::ResidueEvaluator), which keeps account of the error.
    ///
    /// # Errors
    /// As [`Self::int_mod_bases`] and [`Self::read`].
    pub fn int_mod<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        modulus: u64,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let (x, radix, _) = self.prepare_int_mod(numbers.into(), modulus)?;
        let y = one(self.read(x.numbers(), &Readout::digits(&radix)?, Rounding::None, keys, observer)?)?;
        Ok(whole(y, modulus as f64))
    }

    /// The bases in which [`Self::int_mod`] reads numbers, and the error of its results as they decrypt, to be stated when they are read
    /// again ([`Numbers::off_by`]).
    ///
    /// # Errors
    /// As [`Self::modulo`]; as [`Radix::of_modulus`] for an n with a prime factor above [`MsbParams::largest_base`](super::MsbParams::largest_base);
    /// [`Error::InvalidArgument`] for numbers so large, or off by so much, that no digits of n could be read in their noise.
    pub fn int_mod_bases<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        modulus: u64,
    ) -> Result<(Radix, f64), Error> {
        let (_, radix, off) = self.prepare_int_mod(numbers.into(), modulus)?;
        Ok((radix, off))
    }

    fn prepare_int_mod(
        &self,
        numbers: Numbers<'_, W>,
        modulus: u64,
    ) -> Result<(Fraction<W>, Radix, f64), Error> {
        // A modulus with too large a factor is refused first.
        Radix::of_modulus(modulus, self.params().largest_base())?;
        let x = self.fraction(numbers, modulus as f64)?;
        let off = noise::as_coefficients(self.params(), &x.numbers())?;
        let radix = Radix::bearing(modulus, self.params().largest_base(), off)?;
        let left = radix.left_of(off) + modulus as f64 * noise::of_reading(self.params());
        Ok((x, radix, left))
    }

    /// The bits of floor(T x), x real and read modulo 1, the lowest first. With [`Rounding::Ephemeral`] bit b is wrong in a share of 1.33 /
    /// 2^b of the slots: read five bits more than are used, and ignore the first five results.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::bits`].
    pub fn bits<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        radix: &Radix,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(numbers, &Readout::bits(radix)?, rounding, keys, observer)
    }

    /// Functions of j for fractions j/t modulo 1, each given by its t values. Gates of bits are such functions
    /// ([`Self::gate_boot`]).
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::tables`].
    pub fn look_up<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        functions: &[Vec<ComplexDoubleDouble>],
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(numbers, &Readout::tables(functions, None)?, Rounding::None, keys, observer)
    }

    /// Functions of floor(t x) for real x modulo 1, each given by its t values: x is rounded to multiples of 1/(t g), and a guard digit in
    /// base g is subtracted. Within a few of those steps of a multiple of 1/t the result may be the neighbour's value: in a share of 1.33 /
    /// g of the slots if x is uniform.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::tables`]; [`Error::InvalidArgument`] for g below [`LEAST_GUARD`](super::LEAST_GUARD).
    pub fn quantise<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        functions: &[Vec<ComplexDoubleDouble>],
        guard: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(numbers, &Readout::tables(functions, Some(guard))?, Rounding::Ephemeral, keys, observer)
    }
}

pub(super) fn run<W: Word>(
    mut run: MsbRun<'_, W>,
    keys: &dyn KeySource<W>,
    observer: &mut dyn Observer,
) -> Result<Vec<Ciphertext<W>>, Error> {
    while !run.step(keys, observer)? {}
    run.finish()
}

pub(super) fn one<W: Word>(mut results: Vec<Ciphertext<W>>) -> Result<Ciphertext<W>, Error> {
    results.pop().ok_or_else(|| Error::InvalidArgument("a readout without results".into()))
}
