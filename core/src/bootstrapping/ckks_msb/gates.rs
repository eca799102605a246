//! Bits: bootstrapping without a table, and gates as tables.

use alloc::{format, vec::Vec};

use super::{
    evaluator::{MsbEvaluator, one},
    fraction::whole,
    numbers::Numbers,
    readout::Readout,
    rounding::Rounding,
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::Observer,
};

impl<W: Word> MsbEvaluator<W> {
    /// BinBoot: bits, refreshed at the level of outputs with their errors squared: (1 - e^(2 pi i b / 2)) / 2 takes no table and
    /// no level (Bae, Cheon, Kim, Stehlé, ePrint 2024/767).
    ///
    /// At half the scale of the set bits are read as they are; at another scale they are multiplied by a constant first, which takes a
    /// level. Results are at the scale of the set. The former error is in their imaginary parts, which the next reading drops.
    ///
    /// # Errors
    /// As [`Self::modulo`] with a modulus of 2.
    pub fn bin_boot<'x>(
        &self,
        bits: impl Into<Numbers<'x, W>>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let x = self.fraction(bits.into(), 2.0)?;
        one(self.read(x.numbers(), &Readout::binary(), Rounding::None, keys, observer)?)
    }

    /// GateBoot: gates of up to seven bits, refreshed, any number of gates in one pass. Bit j of a gate is its value where the inputs are
    /// the bits of j, the first one the lowest: 0b1000 is the conjunction of two, 0b0110 their sum modulo 2.
    ///
    /// For m inputs, bits at the scale of the set over 2^m are read as they are, and results are at that scale too; from another scale it
    /// takes a level. All inputs have the same scale, and are bits up to noise.
    ///
    /// # Errors
    /// As [`Self::look_up`] and [`Self::modulo`]; [`Error::InvalidArgument`] for no input, for more than seven or than the set has tables
    /// for, and for gates of more inputs than are given.
    pub fn gate_boot(
        &self,
        inputs: &[&Ciphertext<W>],
        gates: &[u128],
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let most = self.params().largest_base().ilog2() as usize;
        let [first, rest @ ..] = inputs else {
            return Err(Error::InvalidArgument(format!("a gate without inputs; give 1 to {most}")));
        };
        if inputs.len() > most {
            return Err(Error::InvalidArgument(format!(
                "gates of {} bits, and {} has tables for up to {most}; divide them",
                inputs.len(),
                self.params().name()
            )));
        }
        let count = 1u32 << inputs.len();
        if let Some(i) = gates.iter().position(|gate| gate.checked_shr(count).unwrap_or(0) != 0) {
            return Err(Error::InvalidArgument(format!(
                "gate {i} is {:#b}, of more than the {count} values that {} bits have; give one bit of the table for each value",
                gates[i],
                inputs.len()
            )));
        }
        let ckks = self.ckks();
        let mut sum = (*first).clone();
        for (i, bit) in rest.iter().enumerate() {
            sum = ckks.add(&sum, &ckks.multiply_integer(bit, 2 << i)?)?;
        }
        let x = self.fraction(Numbers::up_to(&sum, count.into()), count.into())?;
        let value = |gate: u128, j: u32| DoubleDouble::ratio((gate >> j & 1) as i64, count.into()).into();
        let tables: Vec<Vec<ComplexDoubleDouble>> =
            gates.iter().map(|&gate| (0..count).map(|j| value(gate, j)).collect()).collect();
        let results = self.look_up(x.numbers(), &tables, keys, observer)?;
        Ok(results.into_iter().map(|bit| whole(bit, count.into())).collect())
    }
}
