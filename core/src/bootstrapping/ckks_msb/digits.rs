//! How a set reads the digits that a program asks for: bases, rounding, and which results to return.

use alloc::{format, vec, vec::Vec};

use super::{
    fraction::check_modulus,
    noise,
    radix::{MAX_MODULUS, Radix},
    readout::{LEAST_GUARD, Readout},
    rounding::Rounding,
    spec::{LARGEST_MESSAGE, MsbParams},
};
use crate::{
    arith::{ComplexDoubleDouble, Word},
    circuits::program::{InputShape, Known, PlannedDigits, Reading, Readings},
    error::Error,
    schemes::ckks::{Complex, Scale},
};

/// Bits that are read below those of a [`Reading::Bit`], and dropped: rounding gets the lowest ones wrong.
const GUARD_BITS: u32 = LEAST_GUARD.ilog2();

/// How readings of the same digits are made.
pub(super) struct Digits {
    /// The modulus by which numbers are divided first.
    pub modulus: f64,
    /// Bound of the numbers.
    pub largest: f64,
    /// Bound of their errors.
    pub off: f64,
    pub readout: Readout,
    pub rounding: Rounding,
    /// Which result of the readout each reading is.
    pub places: Vec<usize>,
}

impl Digits {
    /// The digits of numbers at a scale, up to 2^20 and up to 2^20 times their modulus.
    pub fn of<W: Word>(
        params: &MsbParams<W>,
        scale: Scale,
        Readings { list: readings, known }: Readings<'_>,
    ) -> Result<Self, Error> {
        let base = params.largest_base();
        let places = (0..readings.len()).collect();
        let rounded = |modulus: f64, readout: Readout, places: Vec<usize>| {
            let Known { largest, off } = bounds(params, scale, modulus, known)?;
            Ok(Self { modulus, largest, off, readout, rounding: Rounding::Ephemeral, places })
        };
        match readings {
            [Reading::Modulo { modulus, bits, centred }] => {
                check_modulus(*modulus)?;
                check_bits(*bits, MAX_MODULUS.ilog2())?;
                let radix = radix_of_bits(*bits, base)?;
                let readout = if *centred { Readout::centred(&radix) } else { Readout::digits(&radix) }?;
                rounded(*modulus, readout, places)
            }
            [Reading::Integer { modulus }] => {
                let n = *modulus as f64;
                // A modulus with too large a factor is refused first.
                Radix::of_modulus(*modulus, base)?;
                let off = off(params, scale, n, bounds(params, scale, n, known)?);
                let readout = Readout::digits(&Radix::bearing(*modulus, base, off)?)?;
                Ok(Self { rounding: Rounding::None, ..rounded(n, readout, places)? })
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
                let read = |base| Readout::bits(&radix_of_bits(bits + GUARD_BITS, base)?);
                let mut readout = read(base)?;
                // Bits of every digit but the last take a level more, which puts the digit together.
                if params.check_levels(&readout, false).is_err() && base > 2 {
                    readout = read(base / 2)?;
                }
                rounded(1.0, readout, readings.iter().map(place).collect())
            }
            [Reading::LookUp(table) | Reading::LookUpExact(table), ..] if table.len() > base as usize => {
                Err(Error::InvalidArgument(format!(
                    "a table of {} values; {} looks up in tables of 2 to {base}",
                    table.len(),
                    params.name()
                )))
            }
            [Reading::LookUp(_), ..] => {
                rounded(1.0, Readout::tables(&tables(readings), Some(LEAST_GUARD.min(base)))?, places)
            }
            [Reading::LookUpExact(_), ..] => {
                let readout = Readout::tables(&tables(readings), None)?;
                Ok(Self { rounding: Rounding::None, ..rounded(1.0, readout, places)? })
            }
            [Reading::Order(_), ..] => Err(Error::InvalidArgument(format!(
                "{} compares digit by digit, and not the slots of one value; take keys of a set that links numbers to gates",
                params.name()
            ))),
            _ => Err(Error::InvalidArgument("no readings, or the same one twice; give each once".into())),
        }
    }

    /// The error of the numbers when their digits are read, over their modulus.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a larger error than digits are read in, or than a rounding leaves.
    fn check_noise<W: Word>(&self, params: &MsbParams<W>, scale: Scale) -> Result<f64, Error> {
        let grid = self.readout.grid();
        let off = off(params, scale, self.modulus, Known { largest: self.largest, off: self.off });
        let borne = match self.rounding {
            Rounding::None => self.readout.bears(off),
            rounding => off <= noise::of_rounding(params, rounding, grid),
        };
        if borne {
            return Ok(off);
        }
        Err(Error::InvalidArgument(format!(
            "digits of {grid} steps of numbers up to {} that are off by up to 2^{:.1} of their modulus, on {}: some would be wrong in \
             that noise; take fewer steps, reduce the numbers earlier, or take another set",
            self.largest,
            libm::log2(off),
            params.name()
        )))
    }

    /// The level at which numbers of a scale have to be, and the levels and scales of the results.
    ///
    /// # Errors
    /// For tables that take too many levels, numbers too large to be read, or values of tables that are not messages.
    pub fn plan<W: Word>(
        &self,
        params: &MsbParams<W>,
        scale: Scale,
        readings: &[&Reading],
    ) -> Result<PlannedDigits, Error> {
        let levels = params.levels();
        params.check_levels(&self.readout, false)?;
        let off = self.check_noise(params, scale)?;
        let of_readout = self.readout.levels_of_results();
        let result = |&place: &usize| InputShape {
            level: levels.output.saturating_sub(of_readout.get(place).copied().unwrap_or_default()),
            scale: params.scale().div(Scale::new(self.modulus)),
        };
        check_tables(params, readings, self.places.iter().map(result))?;
        Ok(PlannedDigits {
            level: levels.input + usize::from(!stands(params, scale, self.modulus)),
            results: self.places.iter().map(result).collect(),
            known: readings.iter().map(|reading| self.known_of(params, reading, off)).collect(),
            passes: self.readout.passes(),
            held: vec![levels.output; self.readout.values_held(&self.places)],
            // Each pass raises once; the error of its rounding was checked to be small enough.
            log_failure: params.log2_failure().map(|one| one + libm::log2(self.readout.passes() as f64)),
            least_distance: 0.0,
            seconds: self.readout.passes() as f64 * params.seconds_of_pass(),
        })
    }

    /// The bounds of a result, for numbers with the error `off` over their modulus: integers are below the modulus.
    fn known_of<W: Word>(&self, params: &MsbParams<W>, reading: &Reading, off: f64) -> Option<Known> {
        let Reading::Integer { .. } = reading else { return None };
        let left = self.readout.left_of(off) / self.readout.grid() as f64 + noise::of_reading(params);
        Some(Known { largest: self.modulus - 1.0, off: self.modulus * left })
    }
}

/// Bounds of numbers at a scale that are read over a modulus: those of all messages, or `known` ones, with an error of at least that of an
/// input.
fn bounds<W: Word>(
    params: &MsbParams<W>,
    scale: Scale,
    modulus: f64,
    known: Option<Known>,
) -> Result<Known, Error> {
    let share = params.scale().div(scale).to_f64();
    let all = Known {
        largest: (LARGEST_MESSAGE * share).min(LARGEST_MESSAGE * modulus),
        off: noise::of_input(params) * share,
    };
    let Some(known) = known else { return Ok(all) };
    if known.largest > all.largest {
        return Err(Error::InvalidArgument(format!(
            "numbers that may come to {:e}, and up to {:e} are read modulo {modulus}; reduce them earlier",
            known.largest, all.largest
        )));
    }
    // A bound above 0 also for what is 0 in every slot.
    Ok(Known { largest: known.largest.max(1e-6 * all.largest), off: known.off.max(all.off) })
}

/// The error of numbers when their digits are read, over their modulus.
fn off<W: Word>(params: &MsbParams<W>, scale: Scale, modulus: f64, Known { largest, off }: Known) -> f64 {
    let map = noise::of_first_map(params, largest / modulus);
    off / modulus + off_divided(params, scale, modulus, largest) + map
}

/// Refuses more than `most` bits.
fn check_bits(bits: u32, most: u32) -> Result<(), Error> {
    if bits <= most {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{bits} bits; sets for modular reduction read 1 to {most} of them here"
    )))
}

/// Checks that the values of tables are messages where the results stand.
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

/// The error that a division adds to numbers up to `largest`, at whatever level it is done.
fn off_divided<W: Word>(params: &MsbParams<W>, scale: Scale, modulus: f64, largest: f64) -> f64 {
    if stands(params, scale, modulus) {
        return 0.0;
    }
    let levels = &params.ckks().rlwe().spec().levels[params.levels().input + 1..=params.levels().output];
    let primes = levels.iter().map(|primes| Scale::product(primes.iter().copied()));
    let off = primes.map(|prime| noise::of_division(params, scale, prime, largest));
    off.fold(0.0, f64::max)
}

/// Bases in which `bits` bits are read.
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
