//! Programs on sets for modular reduction: those of every CKKS set, and readings of digits.

use alloc::{format, sync::Arc, vec::Vec};
use core::fmt;

use super::{
    bootstrapper::{LARGEST_DRIFT, MsbBootstrapper},
    evaluator::MsbEvaluator,
    fraction::{check_modulus, whole},
    noise,
    numbers::Numbers,
    radix::{MAX_MODULUS, Radix},
    readout::{LEAST_GUARD, Readout},
    run::Rounding,
    spec::{LARGEST_MESSAGE, MsbParams},
    stages,
};
use crate::{
    arith::{ComplexDoubleDouble, Word},
    bootstrapping::{program, raising::KeySource},
    circuits::program::{DigitReader, InputShape, Modular, Plan, PlannedDigits, Reading, Refreshed, Target},
    error::Error,
    schemes::ckks::{Ciphertext, Complex, Scale},
    trace::Observer,
};

/// Bits that are read below those of a [`Reading::Bit`], and dropped: rounding gets the lowest ones wrong.
const GUARD_BITS: u32 = LEAST_GUARD.ilog2();

/// Bits of what a bootstrap of a program leaves.
const REFRESHED_BITS: u32 = 15;

/// The largest base in which they are read: three digits, or more where the set has few levels.
const REFRESHED_BASE: u32 = 32;

/// Levels that a bootstrap of a program leaves for products, if the set has them.
const PRODUCTS: usize = 2;

impl<W: Word> MsbParams<W> {
    /// What programs are planned for: the keys are those of bootstraps, and the rotations there are no keys for are composed of
    /// them. A bootstrap takes real slots in (-1/2, 1/2), and reads them in the bases of [`Self::refreshing_radix`].
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn program_target(&self) -> Result<Target, Error> {
        let levels = self.levels();
        let target = Target::new(self.ckks(), self.slots(), levels.output, self.scale())?;
        let radix = self.refreshing_radix()?;
        Ok(target
            .with_relinearization(levels.reduction)
            .with_galois(self.galois_elements())
            .with_bootstrapping(levels.input, self.refreshed_level())
            .with_refreshed(Refreshed::At(self.scale()))
            .with_scale_at(self.refreshed_level())
            // A message takes all of q0.
            .with_floor(1)
            .with_modular_bootstraps(Modular {
                scale: self.scale(),
                drift: LARGEST_DRIFT / radix.modulus() as f64,
                passes: radix.bases().len(),
            })
            .with_digits(Arc::new(Reader(self.clone()))))
    }

    /// The level that a bootstrap of a program leaves.
    pub fn refreshed_level(&self) -> usize {
        self.levels().output.saturating_sub(stages::of_tables(self.refreshing_base()))
    }

    fn refreshing_base(&self) -> u32 {
        let spare = self.levels().left().saturating_sub(PRODUCTS + 1).clamp(1, 16);
        REFRESHED_BASE.min(1 << spare).min(self.largest_base())
    }

    /// The bases in which bootstraps of programs read 15 bits: as large as leave levels for two products.
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn refreshing_radix(&self) -> Result<Radix, Error> {
        Radix::of_modulus(1 << REFRESHED_BITS, self.refreshing_base())
    }
}

impl<W: Word> MsbBootstrapper<'_, W> {
    /// Evaluates a plan that was made for [`MsbParams::program_target`], with a bootstrapper for [`MsbParams::refreshing_radix`].
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_program(
        &self,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        program::run(plan, self, Some(&self.keys()), Some(self.keys()), inputs, observer)
    }
}

/// What programs read of the digits of a ciphertext, all of it of the same digits.
pub(super) fn read_digits<W: Word>(
    evaluator: &MsbEvaluator<W>,
    x: &Ciphertext<W>,
    readings: &[&Reading],
    keys: &dyn KeySource<W>,
    observer: &mut dyn Observer,
) -> Result<Vec<Ciphertext<W>>, Error> {
    Digits::of(evaluator.params(), x.scale(), readings)?.read(evaluator, x, keys, observer)
}

/// What plans need to know of a set.
struct Reader<W: Word>(MsbParams<W>);

impl<W: Word> fmt::Debug for Reader<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "digits of {}", self.0.name())
    }
}

impl<W: Word> DigitReader for Reader<W> {
    fn plan(&self, scale: Scale, readings: &[&Reading]) -> Result<PlannedDigits, Error> {
        let (params, levels) = (&self.0, self.0.levels());
        let digits = Digits::of(params, scale, readings)?;
        params.check_levels(&digits.readout, false)?;
        digits.check_noise(params, scale)?;
        let of_readout = digits.readout.levels_of_results();
        let result = |&place: &usize| InputShape {
            level: levels.output.saturating_sub(of_readout.get(place).copied().unwrap_or_default()),
            scale: params.scale().div(Scale::new(digits.modulus)),
        };
        check_tables(params, readings, digits.places.iter().map(result))?;
        Ok(PlannedDigits {
            level: levels.input + usize::from(!stands(params, scale, digits.modulus)),
            results: digits.places.iter().map(result).collect(),
            passes: digits.readout.passes(),
        })
    }
}

/// How readings of the same digits are made.
struct Digits {
    /// What numbers are divided by first.
    modulus: f64,
    /// Bound of the numbers.
    largest: f64,
    readout: Readout,
    rounding: Rounding,
    /// Which result of the readout each reading is.
    places: Vec<usize>,
}

impl Digits {
    /// Of numbers at a scale, up to 2^20 and up to 2^20 times their modulus.
    fn of<W: Word>(params: &MsbParams<W>, scale: Scale, readings: &[&Reading]) -> Result<Self, Error> {
        let base = params.largest_base();
        let places = (0..readings.len()).collect();
        let bounded = |modulus: f64| {
            let most = LARGEST_MESSAGE * params.scale().div(scale).to_f64();
            most.min(LARGEST_MESSAGE * modulus)
        };
        let rounded = |modulus: f64, readout: Readout, places: Vec<usize>| Self {
            modulus,
            largest: bounded(modulus),
            readout,
            rounding: Rounding::Ephemeral,
            places,
        };
        match readings {
            [Reading::Modulo { modulus, bits, centred }] => {
                check_modulus(*modulus)?;
                check_bits(*bits, MAX_MODULUS.ilog2())?;
                let radix = radix_of_bits(*bits, base)?;
                let readout = if *centred { Readout::centred(&radix) } else { Readout::digits(&radix) }?;
                Ok(rounded(*modulus, readout, places))
            }
            [Reading::Integer { modulus }] => {
                let n = *modulus as f64;
                // Refused first, by its factor.
                Radix::of_modulus(*modulus, base)?;
                let off = off(params, scale, n, bounded(n));
                let readout = Readout::digits(&Radix::bearing(*modulus, base, off)?)?;
                Ok(Self { rounding: Rounding::None, ..rounded(n, readout, places) })
            }
            [first, others @ ..] if others.iter().any(|other| !first.shares_digits(other)) => Err(
                Error::InvalidArgument("readings that are not of the same digits; read them apart".into()),
            ),
            [Reading::Bit { bits, .. }, ..] => {
                let place = |reading: &&Reading| match reading {
                    Reading::Bit { index, .. } => (GUARD_BITS + index) as usize,
                    _ => 0,
                };
                check_bits(*bits, MAX_MODULUS.ilog2() - GUARD_BITS)?;
                let readout = Readout::bits(&radix_of_bits(bits + GUARD_BITS, base)?)?;
                Ok(rounded(1.0, readout, readings.iter().map(place).collect()))
            }
            [Reading::LookUp(table) | Reading::LookUpExact(table), ..] if table.len() > base as usize => {
                Err(Error::InvalidArgument(format!(
                    "a table of {} values; {} looks up in tables of 2 to {base}",
                    table.len(),
                    params.name()
                )))
            }
            [Reading::LookUp(_), ..] => {
                Ok(rounded(1.0, Readout::tables(&tables(readings), Some(LEAST_GUARD.min(base)))?, places))
            }
            [Reading::LookUpExact(_), ..] => {
                let readout = Readout::tables(&tables(readings), None)?;
                Ok(Self { rounding: Rounding::None, ..rounded(1.0, readout, places) })
            }
            _ => Err(Error::InvalidArgument("no readings, or the same one twice; give each once".into())),
        }
    }

    /// Whether exact numbers are read as they are.
    fn check_noise<W: Word>(&self, params: &MsbParams<W>, scale: Scale) -> Result<(), Error> {
        match self.rounding {
            Rounding::None if !self.readout.bears(off(params, scale, self.modulus, self.largest)) => {
                Err(Error::InvalidArgument(format!(
                    "digits of {} steps of numbers up to {}, on {}: some would be wrong in the noise of such numbers; take fewer steps, \
                     or another set",
                    self.readout.grid(),
                    self.largest,
                    params.name()
                )))
            }
            _ => Ok(()),
        }
    }

    fn read<W: Word>(
        &self,
        evaluator: &MsbEvaluator<W>,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let x = evaluator.fraction(Numbers::up_to(x, self.largest), self.modulus)?;
        let results = evaluator.read(x.numbers(), &self.readout, self.rounding, keys, observer)?;
        let mut results: Vec<_> = results.into_iter().map(Some).collect();
        let take = |&place: &usize| {
            let result = results.get_mut(place).and_then(Option::take);
            result.map(|x| whole(x, self.modulus)).ok_or_else(|| {
                Error::InvalidArgument(format!("no result {place} of a reading: a bug of the plan"))
            })
        };
        self.places.iter().map(take).collect()
    }
}

/// What numbers up to `largest` are off by when their digits are read, over their modulus.
fn off<W: Word>(params: &MsbParams<W>, scale: Scale, modulus: f64, largest: f64) -> f64 {
    let own = noise::of_input(params) * params.scale().div(scale).to_f64() / modulus;
    own + off_divided(params, scale, modulus, largest) + noise::of_first_map(params, largest / modulus)
}

/// Whether there are sets of so many bits.
fn check_bits(bits: u32, most: u32) -> Result<(), Error> {
    if bits <= most {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{bits} bits; sets for modular reduction read 1 to {most} of them here"
    )))
}

/// Whether the values of tables are messages where the results stand.
fn check_tables<W: Word>(
    params: &MsbParams<W>,
    readings: &[&Reading],
    results: impl Iterator<Item = InputShape>,
) -> Result<(), Error> {
    for (table, InputShape { level, scale }) in tables(readings).iter().zip(results) {
        let largest = table.iter().map(|z| z.abs()).fold(0.0, f64::max);
        let most = libm::exp2(params.ckks().rlwe().q(level).log2() - 2.0 - scale.log2());
        if largest > most.min(LARGEST_MESSAGE) {
            return Err(Error::InvalidArgument(format!(
                "a value {largest:e} in a table, and messages are up to {LARGEST_MESSAGE}; scale the table down"
            )));
        }
    }
    Ok(())
}

/// Whether numbers at a scale are read as they are, without a division by the modulus.
fn stands<W: Word>(params: &MsbParams<W>, scale: Scale, modulus: f64) -> bool {
    scale.matches(params.scale().div(Scale::new(modulus)))
}

/// What a division takes numbers up to `largest` off by, at whatever level.
fn off_divided<W: Word>(params: &MsbParams<W>, scale: Scale, modulus: f64, largest: f64) -> f64 {
    if stands(params, scale, modulus) {
        return 0.0;
    }
    let levels = &params.ckks().rlwe().spec().levels[params.levels().input + 1..=params.levels().output];
    let products = levels.iter().map(|primes| Scale::product(primes.iter().copied()).to_f64());
    let smallest = products.fold(f64::INFINITY, f64::min);
    let rescaled = noise::of_rescaling(params) / params.scale().to_f64();
    largest / (2.0 * params.scale().div(scale).to_f64() * smallest) + rescaled
}

/// Bases in which so many bits are read.
fn radix_of_bits(bits: u32, base: u32) -> Result<Radix, Error> {
    let modulus = 1u64.checked_shl(bits).unwrap_or(u64::MAX);
    Radix::of_modulus(modulus, 1 << base.ilog2())
}

fn tables(readings: &[&Reading]) -> Vec<Vec<ComplexDoubleDouble>> {
    let table = |reading: &&Reading| match reading {
        Reading::LookUp(table) | Reading::LookUpExact(table) => {
            table.iter().map(|&z: &Complex| z.into()).collect()
        }
        _ => Vec::new(),
    };
    readings.iter().map(table).collect()
}
