//! The systems by name.

use alloc::{format, vec::Vec};

use super::{
    noise,
    numbers::Numbers,
    radix::{MAX_MODULUS, Radix},
    readout::Readout,
    run::{MsbRun, Rounding},
    spec::{LARGEST_MESSAGE, RootsSpec},
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    bootstrapping::raising::{KeySource, RaisingEvaluator},
    error::Error,
    schemes::{
        ckks::{Ciphertext, Scale},
        evaluator::Leveled,
    },
    trace::{Counters, Observer},
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

    /// IntBoot: fractions j/T modulo 1, refreshed, in \[0, 1).
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

    /// Boot^k: real numbers in \[0, T^(k-1)), refreshed and rounded to multiples of 1/T: k times the bits of [`Self::boot`].
    ///
    /// What is above the point is divided by T, one level each time, and read as integers: x, and for several blocks what the
    /// tables leave of a block, are `blocks` - 1 levels above inputs. The result is at the scale of the set. A number near 0 may
    /// come back near T^(k-1). The observer sees the digits of each block counted from 1.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::InvalidArgument`] for no block, for T^(k-1) above [`LARGEST_MESSAGE`], or for several blocks in
    /// bases that do not bear what the rounding of the first one leaves: they do from about T = 2^10 in two digits on;
    /// [`Error::LevelMismatch`] for too few levels.
    pub fn boot_blocks(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        blocks: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let (modulus, digits) = (radix.modulus(), Readout::digits(radix)?);
        let mut largest = self.check_blocks(x, radix, &digits, blocks)?;
        let mut off = 0.0;
        let mut rest = x.clone();
        let mut sum: Option<Ciphertext<W>> = None;
        let mut weight = 1i64;
        for block in 0..blocks {
            let rounding = if block == 0 { Rounding::Ephemeral } else { Rounding::None };
            let numbers = Numbers::up_to(&rest, largest);
            let part = one(run(MsbRun::deviating(self, numbers, off, &digits, rounding)?, keys, observer)?)?;
            if block + 1 < blocks {
                off = self.off_above(&rest, largest, modulus);
                rest = self.divide(&self.ckks().sub(&rest, &part)?, modulus as f64)?;
                largest = (largest / modulus as f64).max(1.0);
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
    /// Integers at that scale are read as they are: encrypt z / n and relabel it
    /// ([`Ciphertext::relabelled`]), or add and multiply results. At the scale of the set they are multiplied by a constant
    /// first, which takes a level. The smaller the bound of `numbers`, the fewer digits their noise makes necessary.
    ///
    /// # Errors
    /// As [`Self::modulo`]; as [`Radix::of_modulus`] for an n with a prime factor above [`MsbParams::largest_base`];
    /// [`Error::InvalidArgument`] for numbers so large that no digits of n could be read in their noise.
    pub fn int_mod<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        modulus: u64,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        // Refused first, by its factor.
        Radix::of_modulus(modulus, self.params().largest_base())?;
        let x = self.fraction(numbers.into(), modulus as f64)?;
        let off = x.off + noise::of_slots(self.params(), x.largest);
        let radix = Radix::bearing(modulus, self.params().largest_base(), off)?;
        let readout = Readout::digits(&radix)?;
        let reading = MsbRun::deviating(self, x.numbers(), x.off, &readout, Rounding::None)?;
        Ok(whole(one(run(reading, keys, observer)?)?, modulus as f64))
    }

    /// The bits of floor(T x), x real and read modulo 1, the lowest first. With [`Rounding::Ephemeral`] bit b is another one in a
    /// share of 1.33 / 2^b of the slots: take five more than are used.
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

    /// Functions of j for fractions j/t modulo 1, each given by its t values. With t = 4 and j = 2 a + b for two bits, they are
    /// the gates of two inputs (GateBoot).
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

    /// Functions of floor(t x) for real x modulo 1, each given by its t values: x is rounded to multiples of 1/(t g), and a guard
    /// digit in base g taken off. Within a few of those steps of a multiple of 1/t the neighbour's value may come: in a share of
    /// 1.33 / g of slots that are anywhere.
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

    /// x over `modulus` at the scale of the set: the same residues where x is at that scale over the modulus, and otherwise a
    /// product by a constant, one level down.
    pub(super) fn fraction(&self, numbers: Numbers<'_, W>, modulus: f64) -> Result<Fraction<W>, Error> {
        check_modulus(modulus)?;
        let x = numbers.ciphertext();
        self.params().check_set(x)?;
        let (scale, lowest) = (self.params().scale(), self.params().levels().input);
        let bound = numbers.largest(scale)?;
        let largest = bound / modulus;
        // Scales come to within 2^-45.
        if largest > LARGEST_MESSAGE * (1.0 + 1e-9) {
            return Err(Error::InvalidArgument(format!(
                "numbers up to {bound} modulo {modulus}; they may be 2^20 times the modulus: state a smaller bound of the numbers, \
                 or take a larger modulus"
            )));
        }
        if x.scale().matches(scale.div(Scale::new(modulus))) {
            return Ok(Fraction { x: x.clone().relabelled(scale), largest, off: 0.0 });
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
        Ok(Fraction { x: self.divide(x, modulus)?, largest, off: self.off_divided(x, bound) })
    }

    /// x / `modulus` at the scale of the set, one level down.
    fn divide(&self, x: &Ciphertext<W>, modulus: f64) -> Result<Ciphertext<W>, Error> {
        let inverse = DoubleDouble::ONE / DoubleDouble::new(modulus);
        let scale = self.params().scale();
        self.ckks().multiply_constant_rescale(x, inverse.into(), scale, &mut Counters::default())
    }

    /// What a division takes numbers up to `largest` off by: its constant is rounded to a multiple of the scale of x over that of
    /// the product.
    fn off_divided(&self, x: &Ciphertext<W>, largest: f64) -> f64 {
        let product = self.params().scale().mul(self.ckks().label_of_level(x.level()));
        largest / (2.0 * product.div(x.scale()).to_f64())
    }

    /// What is above the point of a block of numbers up to `largest`, over `modulus`, is off by: the rounding of the block, and a
    /// division.
    fn off_above(&self, x: &Ciphertext<W>, largest: f64, modulus: u64) -> f64 {
        noise::of_rounding(self.params(), modulus) / modulus as f64 + self.off_divided(x, largest)
    }

    /// What can be wrong with [`Self::boot_blocks`]; otherwise the bound of its numbers.
    fn check_blocks(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        digits: &Readout,
        blocks: u32,
    ) -> Result<f64, Error> {
        let (params, modulus) = (self.params(), radix.modulus());
        let above = blocks.checked_sub(1);
        let range = above.and_then(|above| modulus.checked_pow(above)).filter(|&range| range <= MAX_MODULUS);
        let (Some(above), Some(range)) = (above, range) else {
            return Err(Error::InvalidArgument(format!(
                "{blocks} blocks in base {modulus}; take at least one, and numbers below base^(blocks - 1) up to {MAX_MODULUS}"
            )));
        };
        let levels = params.levels();
        let deepest = digits.levels().max().unwrap_or(0);
        let (needed, left) = (levels.input + above as usize, levels.output.saturating_sub(deepest));
        if x.level() < needed || (above > 0 && left < needed) {
            return Err(Error::LevelMismatch(format!(
                "{blocks} blocks are read from level {needed} on; the ciphertext is at {}, and tables in bases {:?} leave results at \
                 level {left}: read them earlier, read fewer, or take smaller bases",
                x.level(),
                radix.bases()
            )));
        }
        if above > 0 {
            let largest = (range as f64 / modulus as f64).max(1.0);
            let off = self.off_above(x, range as f64, modulus);
            digits.check_noise(off + noise::of_slots(params, largest)).map_err(|_| {
                Error::InvalidArgument(format!(
                    "{blocks} blocks in bases {:?}: the rounding of the first is taken for digits of the next; take two digits, and \
                     bases whose product is 1024 or more",
                    radix.bases()
                ))
            })?;
        }
        Ok(range as f64)
    }
}

/// Whether numbers are read modulo `modulus`.
pub(super) fn check_modulus(modulus: f64) -> Result<(), Error> {
    const LARGEST: f64 = MAX_MODULUS as f64;
    if (1.0 / LARGEST..=LARGEST).contains(&modulus) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!("numbers modulo {modulus}; take a modulus from 2^-20 to 2^20")))
}

/// Numbers over a modulus, at the scale of a set.
pub(super) struct Fraction<W: Word> {
    x: Ciphertext<W>,
    /// Bound of their absolute values.
    largest: f64,
    /// What the division took them off by.
    off: f64,
}

impl<W: Word> Fraction<W> {
    pub(super) fn numbers(&self) -> Numbers<'_, W> {
        Numbers::up_to(&self.x, self.largest)
    }

    pub(super) fn off(&self) -> f64 {
        self.off
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

fn one<W: Word>(mut results: Vec<Ciphertext<W>>) -> Result<Ciphertext<W>, Error> {
    results.pop().ok_or_else(|| Error::InvalidArgument("a readout without results".into()))
}

/// The fraction times `modulus`, by its scale alone.
pub(super) fn whole<W: Word>(x: Ciphertext<W>, modulus: f64) -> Ciphertext<W> {
    let scale = x.scale().div(Scale::new(modulus));
    x.relabelled(scale)
}
