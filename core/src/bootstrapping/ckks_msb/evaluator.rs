//! The systems by name.

use alloc::{format, vec::Vec};

use super::{
    radix::{MAX_DIGIT, Radix},
    readout::{Readout, Yields},
    run::{MsbRun, Rounding},
    spec::RootsSpec,
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    bootstrapping::raising::{KeySource, RaisingEvaluator},
    error::Error,
    schemes::{
        ckks::{Ciphertext, Scale},
        evaluator::Leveled,
    },
    trace::Observer,
};

/// Reads digits of ciphertexts of one set.
///
/// What is read is real: imaginary parts are dropped. Inputs are at the level of inputs or above; results are at the level of
/// outputs less those that the tables take, [`Readout::levels`].
pub type MsbEvaluator<W = u64> = RaisingEvaluator<RootsSpec, W>;

impl<W: Word> MsbEvaluator<W> {
    /// Everything a readout reads of fractions; see [`MsbRun::new`].
    ///
    /// # Errors
    /// As [`MsbRun::new`]; [`Error::Cancelled`] if the observer says so; [`Error::MissingKey`].
    pub fn read(
        &self,
        x: &Ciphertext<W>,
        readout: &Readout,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let mut run = MsbRun::new(self, x, readout, rounding)?;
        while !run.step(keys, observer)? {}
        run.finish()
    }

    /// IntBoot: fractions j/T modulo 1, refreshed, in \[0, 1).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn int_boot(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        one(self.read(x, &Readout::digits(radix)?, Rounding::None, keys, observer)?)
    }

    /// HalfIntBoot: coefficients j/T over q0 modulo 1, refreshed, in slots; see [`MsbRun::of_coefficients`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn half_int_boot(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let readout = Readout::digits(radix)?;
        let mut run = MsbRun::of_coefficients(self, x, &readout, Rounding::None)?;
        while !run.step(keys, observer)? {}
        one(run.finish()?)
    }

    /// Boot: any real numbers modulo 1, refreshed and rounded to multiples of 1/T; in \[0, 1), or in \[-1/2, 1/2) if `centred`.
    ///
    /// A number near an end of that range may come back at the other end.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn boot(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        centred: bool,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let readout = if centred { Readout::centred(radix)? } else { Readout::digits(radix)? };
        one(self.read(x, &readout, Rounding::Ephemeral, keys, observer)?)
    }

    /// Boot^k: real numbers in \[0, T^(k-1)), refreshed and rounded to multiples of 1/T: k times the bits of [`Self::boot`].
    ///
    /// What is above the point is divided by T, one level each time, and read as integers; x is `blocks` - 1 levels above inputs.
    /// The result is at the scale of the set. A number near 0 may come back near T^(k-1).
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::InvalidArgument`] for T below 128, whose rounding would leave no integers, for no block, or for
    /// T^k above 2^60; [`Error::LevelMismatch`] for too few levels.
    pub fn boot_blocks(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        blocks: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let modulus = radix.modulus();
        let fits = modulus.checked_pow(blocks).is_some_and(|range| range <= 1 << 60);
        if blocks == 0 || modulus < 128 || !fits {
            return Err(Error::InvalidArgument(format!(
                "{blocks} blocks in base {modulus}; take at least one block, a base of 128 or more, and base^blocks up to 2^60"
            )));
        }
        let needed = self.params().levels().input + blocks as usize - 1;
        if x.level() < needed {
            return Err(Error::LevelMismatch(format!(
                "{blocks} blocks are read from level {needed} on, the ciphertext is at {}; read them earlier, or fewer",
                x.level()
            )));
        }
        let (digits, mut rest) = (Readout::digits(radix)?, x.clone());
        let mut sum: Option<Ciphertext<W>> = None;
        let mut weight = 1i64;
        for block in 0..blocks {
            let rounding = if block == 0 { Rounding::Ephemeral } else { Rounding::None };
            let part = one(self.read(&rest, &digits, rounding, keys, observer)?)?;
            if block + 1 < blocks {
                rest = self.fraction(&self.ckks().sub(&rest, &part)?, modulus as f64)?;
            }
            let part = self.ckks().multiply_integer(&part, weight)?;
            weight *= modulus as i64;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.ckks().add(&sum, &part)?,
            });
        }
        sum.ok_or_else(|| Error::InvalidArgument("no blocks".into()))
    }

    /// Mod: real numbers of any size modulo `modulus`, in \[0, `modulus`), refreshed and rounded to multiples of `modulus` / T.
    ///
    /// The result is at the scale of the set over the modulus. A number at that scale is read as it is; at another one it is
    /// multiplied by a constant first, which takes a level. A number near 0 may come back near the modulus.
    ///
    /// # Errors
    /// As [`Self::read`], and [`Self::fraction`].
    pub fn modulo(
        &self,
        x: &Ciphertext<W>,
        modulus: f64,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let x = self.fraction(x, modulus)?;
        Ok(whole(self.boot(&x, radix, false, keys, observer)?, modulus))
    }

    /// IntMod: integers of any size modulo n, in \[0, n), refreshed, at the scale of the set over n.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::fraction`]; as [`Radix::of_modulus`] for an n with a prime factor above
    /// [`Self::largest_base`].
    pub fn int_mod(
        &self,
        x: &Ciphertext<W>,
        modulus: u64,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let radix = Radix::of_modulus(modulus, self.largest_base())?;
        let x = self.fraction(x, modulus as f64)?;
        Ok(whole(self.int_boot(&x, &radix, keys, observer)?, modulus as f64))
    }

    /// The bits of floor(T x), x real and read modulo 1, the lowest first. With [`Rounding::Ephemeral`] the lowest four are
    /// noise.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::bits`].
    pub fn bits(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(x, &Readout::bits(radix)?, rounding, keys, observer)
    }

    /// Functions of j for fractions j/t modulo 1, each given by its t values. With t = 4 and j = 2 a + b for two bits, they are
    /// the gates of two inputs (GateBoot).
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::tables`].
    pub fn look_up(
        &self,
        x: &Ciphertext<W>,
        functions: &[Vec<ComplexDoubleDouble>],
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(x, &Readout::tables(functions, None)?, Rounding::None, keys, observer)
    }

    /// Functions of floor(t x) for real x modulo 1, each given by its t values: x is rounded to multiples of 1/(t g), and a guard
    /// digit in base g taken off. Within a few multiples of a multiple of 1/t, the neighbour's value may come.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Readout::tables`].
    pub fn quantise(
        &self,
        x: &Ciphertext<W>,
        functions: &[Vec<ComplexDoubleDouble>],
        guard: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.read(x, &Readout::tables(functions, Some(guard))?, Rounding::Ephemeral, keys, observer)
    }

    /// The largest base whose tables leave their results no lower than inputs are.
    pub fn largest_base(&self) -> u32 {
        let levels = self.params().levels();
        MAX_DIGIT.min(1 << levels.left().saturating_sub(1).min(16))
    }

    /// x over `modulus` at the scale of the set: the same residues where x is at that scale over the modulus, and otherwise a
    /// product by a constant, one level down.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless 2^-20 <= modulus <= 2^20; [`Error::LevelMismatch`] if a product would leave x below the
    /// level of inputs; [`Error::ParamsMismatch`].
    pub fn fraction(&self, x: &Ciphertext<W>, modulus: f64) -> Result<Ciphertext<W>, Error> {
        const LARGEST: f64 = 1_048_576.0;
        if !(1.0 / LARGEST..=LARGEST).contains(&modulus) {
            return Err(Error::InvalidArgument(format!(
                "numbers modulo {modulus}; take a modulus from 2^-20 to 2^20"
            )));
        }
        self.params().check_set(x)?;
        let (scale, lowest) = (self.params().scale(), self.params().levels().input);
        if x.scale().matches(scale.div(Scale::new(modulus))) {
            return Ok(x.clone().relabelled(scale));
        }
        if x.level() <= lowest {
            return Err(Error::LevelMismatch(format!(
                "numbers at scale 2^{:.6} and level {}: those modulo {modulus} are read at scale 2^{:.6}, or take a product by a \
                 constant above level {lowest}; encrypt at that scale, or read them earlier",
                x.log_scale(),
                x.level(),
                scale.div(Scale::new(modulus)).log2()
            )));
        }
        let factor = scale.mul(self.ckks().label_of_level(x.level())).div(x.scale());
        let inverse = DoubleDouble::ONE / DoubleDouble::new(modulus);
        let product = self.ckks().multiply_constant(x, inverse.into(), factor)?;
        Ok(self.ckks().rescale(&product)?.relabelled(scale))
    }

    /// Whether the tables have levels enough.
    pub(super) fn check_readout(&self, readout: &Readout) -> Result<(), Error> {
        let levels = self.params().levels();
        for i in 0..readout.passes() {
            let pass = readout.pass(i);
            let needed = match pass.yields {
                _ if readout.is_last(i) => 0,
                Yields::Bits => levels.input + 1,
                Yields::Digit | Yields::Guard | Yields::Values => levels.input,
            };
            let taken = pass.tables.levels();
            if levels.output < needed + taken {
                return Err(Error::LevelMismatch(format!(
                    "tables in base {} take {taken} levels and their results have to be at level {needed}; {} begins them at \
                     level {}: take smaller bases, or a set with more levels",
                    pass.base,
                    self.params().name(),
                    levels.output
                )));
            }
        }
        Ok(())
    }
}

fn one<W: Word>(mut results: Vec<Ciphertext<W>>) -> Result<Ciphertext<W>, Error> {
    results.pop().ok_or_else(|| Error::InvalidArgument("a readout without results".into()))
}

/// The fraction times `modulus`, by its scale alone.
fn whole<W: Word>(x: Ciphertext<W>, modulus: f64) -> Ciphertext<W> {
    let scale = x.scale().div(Scale::new(modulus));
    x.relabelled(scale)
}
