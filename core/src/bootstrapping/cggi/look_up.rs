//! Functional bootstrapping: any function of a small encrypted integer.
//!
//! With a padding bit a table is one rotation: its windows fill the upper half of the circle. Without
//! padding the lower half must be the negative of the upper one, up to a constant; any other table takes
//! two rotations, the first of which makes the padding (after Liu, Micciancio, Polyakov, ASIACRYPT 2022,
//! `EvalFunc` in OpenFHE).

use alloc::{format, vec::Vec};

use super::{evaluator::CggiEvaluator, run::CggiRun, test_vector::TestVector};
use crate::{
    arith::Word,
    error::Error,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, CggiParams, Encoding},
    trace::Observer,
};

impl<W: Word> CggiEvaluator<W> {
    /// table\[m\] for an encrypted message m, in the encoding `output`.
    ///
    /// One rotation for integers with padding, for bits, and for residues whose table is odd up to a constant (the places of table\[m\] and
    /// table\[m + t/2\] add up to the same for every m); two for residues otherwise. An integer with padding that has left its range gives
    /// the value of another entry, with either sign.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a table of another length than the input has messages, or an entry
    /// that `output` does not have; [`Error::ParamsMismatch`] for a ciphertext of other keys;
    /// [`Error::Limit`] if the noise of the input would break the promise of the set (see
    /// [`Self::accepting`]); [`Error::Cancelled`] if the observer says so.
    pub fn look_up(
        &self,
        input: &CggiCiphertext<W>,
        table: &[u32],
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        check_table(input.encoding(), table, output)?;
        self.check_key(input)?;
        if let Some(run) = self.single_rotation(input, table, output)? {
            return run.finish(observer);
        }
        let padded = self.add_padding(input, observer)?;
        match self.single_rotation(&padded, table, output)? {
            Some(run) => run.finish(observer),
            None => Err(Error::InvalidArgument("an integer with padding has no padding".into())),
        }
    }

    /// A look-up of one rotation as a run that the caller drives.
    ///
    /// # Errors
    /// As [`Self::look_up`]; [`Error::InvalidArgument`] if it takes two rotations.
    pub fn look_up_run(
        &self,
        input: &CggiCiphertext<W>,
        table: &[u32],
        output: Encoding,
    ) -> Result<CggiRun<W>, Error> {
        check_table(input.encoding(), table, output)?;
        self.check_key(input)?;
        self.single_rotation(input, table, output)?.ok_or_else(|| {
            Error::InvalidArgument(
                "a table of residues that is not odd takes two rotations; add padding first, and look up then".into(),
            )
        })
    }

    /// Several tables of one integer with padding for one rotation (Carpov, Izabachène, Mollimard,
    /// CT-RSA 2019): each result has the noise of a bootstrap times the squared differences of
    /// neighbouring entries.
    ///
    /// # Errors
    /// As [`Self::look_up`]; [`Error::InvalidArgument`] for an input or output without padding.
    pub fn look_up_many(
        &self,
        input: &CggiCiphertext<W>,
        tables: &[&[u32]],
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<W>>, Error> {
        for table in tables {
            check_table(input.encoding(), table, output)?;
        }
        self.check_key(input)?;
        let (Encoding::Padded { messages }, Encoding::Padded { messages: outputs }) =
            (input.encoding(), output)
        else {
            return Err(Error::InvalidArgument(format!(
                "several look-ups at once take and give integers with padding, not {} and {}; look up one table at a \
                 time, or add padding first",
                input.encoding().describe(),
                output.describe()
            )));
        };
        self.check_promise(input.weight(), input.encoding().margin())?;
        let params = self.params();
        // Half a unit everywhere: (1 + X + .. + X^(N-1)) (1 - X) = 2 modulo X^N + 1.
        let half = TestVector::sign(params, params.turns(1, 4 * u64::from(outputs)));
        let shifted = shifted(params, input, 1, 4 * u64::from(messages));
        let accumulator = CggiRun::new(self.shared_keys(), shifted, half, output).rotate(observer)?;
        let [b, a] = accumulator.parts(params);
        tables.iter().map(|table| self.weighted_extract([&b, &a], table, output)).collect()
    }

    /// table\[x + columns y\] for two integers with padding in the same encoding, x below `columns`: the sum
    /// x + columns y must stay below the number of messages of the encoding.
    ///
    /// # Errors
    /// As [`Self::look_up`] and [`Self::weighted_sum`].
    pub fn look_up_two(
        &self,
        x: &CggiCiphertext<W>,
        y: &CggiCiphertext<W>,
        columns: u32,
        table: &[u32],
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let both = self.weighted_sum(&[(1, x), (i64::from(columns), y)], 0)?;
        self.look_up(&both, table, output, observer)
    }

    /// constant + sum of weights times integers of one encoding: no bootstrap. The sum must stay in the
    /// range of the encoding, which nobody can check here; residues wrap around. The noise grows with the
    /// squares of the weights.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no input, bits, or inputs of different encodings;
    /// [`Error::ParamsMismatch`] for ciphertexts of other keys; [`Error::Limit`] for weights whose squares
    /// exceed 2^16.
    pub fn weighted_sum(
        &self,
        terms: &[(i64, &CggiCiphertext<W>)],
        constant: u32,
    ) -> Result<CggiCiphertext<W>, Error> {
        let Some((_, first)) = terms.first() else {
            return Err(Error::InvalidArgument("a sum of no ciphertexts; give at least one".into()));
        };
        let (params, encoding) = (self.params(), first.encoding());
        if encoding == Encoding::Bit {
            return Err(Error::InvalidArgument(
                "bits are combined by gates; encrypt integers to add them".into(),
            ));
        }
        encoding.check_message(constant)?;
        let (numerator, denominator) = encoding.turns(constant);
        let mut sample = LweSample::trivial(params.n(), params.turns(numerator, denominator));
        let mut noise = 0u64;
        for &(weight, term) in terms {
            self.check_key(term)?;
            if term.encoding() != encoding {
                return Err(Error::InvalidArgument(format!(
                    "{} is added to {}; look both up into one encoding first",
                    term.encoding().describe(),
                    encoding.describe()
                )));
            }
            let square = weight.unsigned_abs().saturating_mul(weight.unsigned_abs());
            noise = noise.saturating_add(square.saturating_mul(term.weight().into()));
            sample.add_multiple(params.modulus(), weight, term.sample());
        }
        if noise > MAX_NOISE {
            return Err(Error::Limit(format!(
                "the sum carries {noise} times the noise of a bootstrap, and {MAX_NOISE} is the most; use smaller weights"
            )));
        }
        CggiCiphertext::new(params, self.keys().key_id(), encoding, noise as u32, sample)
    }

    /// A residue below t as an integer below t with padding: one rotation.
    ///
    /// Half the sample has the phase phi/2 or phi/2 + 1/2. A look-up tells in which half of the circle it lies, and moves it to the upper
    /// one.
    ///
    /// # Errors
    /// As [`Self::look_up`]; [`Error::InvalidArgument`] for an input that is not a residue.
    pub fn add_padding(
        &self,
        input: &CggiCiphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        self.check_key(input)?;
        let Encoding::Cyclic { messages } = input.encoding() else {
            return Err(Error::InvalidArgument(format!(
                "padding is added to residues, not to {}; leave it out where there is padding",
                input.encoding().describe()
            )));
        };
        let (params, m) = (self.params(), self.params().modulus());
        let half = |x: W| W::from_u64(x.to_u64() / 2);
        let halved =
            LweSample { a: input.sample().a.iter().map(|&x| half(x)).collect(), b: half(input.sample().b) };
        let (output, weight) = (Encoding::Padded { messages }, input.weight().div_ceil(4));
        self.check_promise(weight, output.margin())?;
        let halved = CggiCiphertext::new(params, self.keys().key_id(), output, weight, halved)?;
        let shifted = shifted(params, &halved, 1, 4 * u64::from(messages));
        // 1/4 in the upper half, -1/4 in the lower one.
        let quarter = TestVector::sign(params, params.turns(1, 4));
        let run = CggiRun::new(self.shared_keys(), shifted, quarter, output);
        let side = run.with_offset(params.turns(-1, 4)).finish(observer)?;
        let mut sample = halved.sample().clone();
        sample.add_multiple(m, 1, side.sample());
        CggiCiphertext::new(params, self.keys().key_id(), output, weight + 1, sample)
    }

    /// The run of a table that takes one rotation, `None` if it takes two.
    fn single_rotation(
        &self,
        input: &CggiCiphertext<W>,
        table: &[u32],
        output: Encoding,
    ) -> Result<Option<CggiRun<W>>, Error> {
        let params = self.params();
        let (test, offset, shifted) = match input.encoding() {
            Encoding::Padded { messages } => {
                let value = |w: usize| {
                    let (numerator, denominator) = output.turns(table[w]);
                    params.turns(numerator, denominator)
                };
                let test = TestVector::windows(params, table.len(), value);
                (test, W::ZERO, shifted(params, input, 1, 4 * u64::from(messages)))
            }
            Encoding::Bit | Encoding::Cyclic { .. } => {
                // A bit is a residue modulo 2 whose upper half is 1.
                let half = table.len() / 2;
                let Some(twice) = odd_around(table, output) else { return Ok(None) };
                let is_bit = input.encoding() == Encoding::Bit;
                let value = |w: usize| {
                    let (numerator, denominator) = output.turns(table[if is_bit { 1 } else { w }]);
                    params.turns(2 * numerator - twice, 2 * denominator)
                };
                let (_, denominator) = output.turns(0);
                let shift = i64::from(!is_bit);
                let shifted = shifted(params, input, shift, 2 * table.len() as u64);
                (TestVector::windows(params, half, value), params.turns(twice, 2 * denominator), shifted)
            }
        };
        self.check_promise(input.weight(), input.encoding().margin())?;
        Ok(Some(CggiRun::new(self.shared_keys(), shifted, test, output).with_offset(offset)))
    }

    /// The constant coefficient of (1 - X) T / 2 times the accumulator of half a unit, T the polynomial
    /// of the table: its coefficients are the differences of neighbouring entries.
    fn weighted_extract(
        &self,
        rotated: [&[W]; 2],
        table: &[u32],
        output: Encoding,
    ) -> Result<CggiCiphertext<W>, Error> {
        let (params, n) = (self.params(), self.params().n());
        let m = params.modulus();
        let mut sum = LweSample::trivial(n, W::ZERO);
        let noise = multi_value_noise(table);
        let mut before = -i64::from(table.last().copied().unwrap_or_default());
        for (w, &entry) in table.iter().enumerate() {
            let difference = i64::from(entry) - before;
            before = i64::from(entry);
            // The first coefficient of window w; X^k moves coefficient N - k to -(coefficient 0).
            let start = (w * n).div_ceil(table.len());
            let (index, sign) = if start == 0 { (0, 1) } else { (n - start, -1) };
            if difference != 0 {
                let part = LweSample::extract(m, rotated, index);
                sum.add_multiple(m, sign * difference, &part);
            }
        }
        if noise > MAX_NOISE {
            return Err(Error::Limit(format!(
                "the table's differences multiply the noise by {noise}, and {MAX_NOISE} is the most; look it up alone"
            )));
        }
        CggiCiphertext::new(params, self.keys().key_id(), output, noise as u32, sum)
    }

    /// Whether noise of this weight is taken for another message no more often than is accepted.
    pub(super) fn keeps_promise(&self, weight: u32, margin: f64) -> bool {
        self.params().noise().log2_failure(f64::from(weight), margin) <= self.log_failure()
    }

    /// Refuses noise that would be taken for another message too often.
    pub(super) fn check_promise(&self, weight: u32, margin: f64) -> Result<(), Error> {
        if self.keeps_promise(weight, margin) {
            return Ok(());
        }
        let failure = self.params().noise().log2_failure(f64::from(weight), margin);
        Err(Error::Limit(format!(
            "with {weight} times the noise of a bootstrap the look-up is wrong with probability 2^{failure:.1}, and 2^{} \
             is accepted; take fewer messages, look up before adding, or accept more",
            self.log_failure()
        )))
    }
}

/// The sample with its phase moved by a known part of a turn.
pub(super) fn shifted<W: Word>(
    params: &CggiParams<W>,
    input: &CggiCiphertext<W>,
    numerator: i64,
    denominator: u64,
) -> LweSample<W> {
    let mut sample = input.sample().clone();
    sample.b = params.modulus().add(sample.b, params.turns(numerator, denominator));
    sample
}

/// The sum of the squared differences of neighbouring entries, around the circle: the factor by which one rotation for several tables
/// multiplies the noise.
pub(super) fn multi_value_noise(table: &[u32]) -> u64 {
    let mut before = -i64::from(table.last().copied().unwrap_or_default());
    let mut noise = 0;
    for &entry in table {
        let difference = i64::from(entry) - before;
        before = i64::from(entry);
        noise += (difference * difference) as u64;
    }
    noise
}

/// Most noise of a sum, in multiples of a bootstrap's.
const MAX_NOISE: u64 = 1 << 16;

fn check_table(input: Encoding, table: &[u32], output: Encoding) -> Result<(), Error> {
    output.check()?;
    if table.len() != input.messages() as usize {
        return Err(Error::InvalidArgument(format!(
            "a table of {} entries for {}; give one entry for each of its {} messages",
            table.len(),
            input.describe(),
            input.messages()
        )));
    }
    let check = |(i, &entry)| {
        output.check_message(entry).map_err(|error: Error| error.within(&format!("entry {i} of the table")))
    };
    table.iter().enumerate().try_for_each(check)
}

/// The sum of the places of entries half a table apart, as a numerator over the output's denominator, if
/// it is the same for all.
fn odd_around(table: &[u32], output: Encoding) -> Option<i64> {
    if !table.len().is_multiple_of(2) {
        return None;
    }
    let (low, high) = table.split_at(table.len() / 2);
    let mut sums = low.iter().zip(high).map(|(&x, &y)| {
        let ((x, denominator), (y, _)) = (output.turns(x), output.turns(y));
        (x + y).rem_euclid(denominator as i64)
    });
    let first = sums.next()?;
    sums.all(|sum| sum == first).then_some(first)
}
