//! Look-ups of one table on a list of encrypted integers: a job of a DM/CGGI set.

use std::fmt::Write;

use rayon::prelude::*;
use refloat::Error;
use refloat::bootstrapping::cggi::CggiEvaluator;
use refloat::circuits::netlist::STAGE;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, Encoding};
use refloat::trace::{Counters, Observer, StageEvent, emit};
use refloat::wire::{self, WireWord};

use crate::gates::{framed, split};

/// A table, the encoding of its entries, and what is looked up.
///
/// Bytes: length of the text as u32, little-endian; the text; the list of ciphertexts. The text is the encoding, a colon and the
/// entries, such as `padded 8: 0 1 4 1 0 1 4 1`; encodings are `bit`, `padded N` and `cyclic N`.
pub struct LookUpJob<W: WireWord = u32> {
    /// An entry for each message.
    pub table: Vec<u32>,
    /// The encoding of the results.
    pub output: Encoding,
    /// Ciphertexts of one encoding.
    pub inputs: Vec<CggiCiphertext<W>>,
}

impl<W: WireWord> LookUpJob<W> {
    /// The bytes of the job.
    ///
    /// # Errors
    /// The ciphertexts are of another set or of several keys.
    pub fn to_bytes(&self, params: &CggiParams<W>) -> Result<Vec<u8>, Error> {
        let mut text = match self.output {
            Encoding::Bit => "bit:".to_owned(),
            Encoding::Padded { messages } => format!("padded {messages}:"),
            Encoding::Cyclic { messages } => format!("cyclic {messages}:"),
        };
        for entry in &self.table {
            let _ = write!(text, " {entry}");
        }
        framed(&text, params, &self.inputs)
    }

    /// Reads an untrusted job of the set.
    ///
    /// # Errors
    /// The text or the list is not understood, the ciphertexts are of several encodings, or the table has another number of
    /// entries than they have messages.
    pub fn from_bytes(params: &CggiParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let (text, list) = split(bytes)?;
        let (output, entries) = text.split_once(':').ok_or_else(|| no_table(text))?;
        let output = parse_encoding(output)?;
        let table: Vec<u32> = entries
            .split_whitespace()
            .take(Encoding::MAX_RESIDUES as usize + 1)
            .map(|entry| entry.parse().map_err(|_| no_table(entry)))
            .collect::<Result<_, _>>()?;
        let inputs = wire::cggi_ciphertexts_from_bytes(params, list)?;
        let encoding = inputs.first().map_or(Encoding::Bit, |input: &CggiCiphertext<W>| input.encoding());
        if let Some(other) = inputs.iter().find(|input| input.encoding() != encoding) {
            return Err(Error::InvalidArgument(format!(
                "the list holds {} and {}; look up those of one encoding at a time",
                encoding.describe(),
                other.encoding().describe()
            )));
        }
        if table.len() != encoding.messages() as usize || table.iter().any(|&m| m >= output.messages()) {
            return Err(Error::InvalidArgument(format!(
                "a table of {} entries for {}, to {}; give an entry for each of its {} messages, below {}",
                table.len(),
                encoding.describe(),
                output.describe(),
                encoding.messages(),
                output.messages()
            )));
        }
        Ok(Self { table, output, inputs })
    }

    /// Looks up all inputs, as many at a time as there are threads, and returns the results in order.
    ///
    /// # Errors
    /// Those of [`CggiEvaluator::look_up`].
    pub fn run(
        &self,
        evaluator: &CggiEvaluator<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<W>>, Error> {
        let stage = STAGE.id;
        emit(observer, &StageEvent::Enter { stage })?;
        let (mut results, total) = (Vec::with_capacity(self.inputs.len()), self.inputs.len());
        for group in self.inputs.chunks(rayon::current_num_threads()) {
            let done: Result<Vec<_>, Error> = group
                .par_iter()
                .map(|input| evaluator.look_up(input, &self.table, self.output, &mut ()))
                .collect();
            results.extend(done?);
            emit(observer, &StageEvent::Progress { stage, done: results.len(), total })?;
        }
        let log_q = evaluator.params().modulus().log2();
        let counters = Counters::default();
        emit(observer, &StageEvent::Exit { stage, level: 0, log_q, log_scale: log_q, counters })?;
        Ok(results)
    }
}

/// Reads `bit`, `padded N` or `cyclic N`.
///
/// # Errors
/// [`Error::InvalidArgument`] for anything else, or a number of messages that is not supported.
pub fn parse_encoding(text: &str) -> Result<Encoding, Error> {
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    let number = |text: &str| text.parse::<u32>().ok();
    let encoding = match words[..] {
        ["bit"] => Some(Encoding::Bit),
        ["padded", messages] => number(messages).map(|messages| Encoding::Padded { messages }),
        ["cyclic", messages] => number(messages).map(|messages| Encoding::Cyclic { messages }),
        _ => None,
    };
    let encoding = encoding.ok_or_else(|| {
        let shown: String = text.chars().take(32).collect();
        Error::InvalidArgument(format!("encoding {shown:?} is none of \"bit\", \"padded N\", \"cyclic N\""))
    })?;
    encoding.check()?;
    Ok(encoding)
}

fn no_table(text: &str) -> Error {
    let shown: String = text.chars().take(32).collect();
    Error::InvalidArgument(format!(
        "{shown:?} is not a part of a table; write its encoding and its entries, such as \"padded 8: 0 1 4 1 0 1 4 1\""
    ))
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::cggi::CggiKeys;
    use refloat::params::cggi_preset;
    use refloat::random::Seed;
    use refloat::schemes::cggi::CggiSecretKey;

    use super::*;

    #[test]
    fn jobs_come_back_and_are_done() {
        let params = cggi_preset("toy-fbs").unwrap().params().unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let input = Encoding::Padded { messages: 8 };
        let messages = [7, 0, 3, 5, 1];
        let inputs = secret.encrypt(input, &messages, &Seed::from_bytes([6; 32])).unwrap();
        let table: Vec<u32> = (0..8).map(|m| m * m % 5).collect();
        let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).unwrap());
        for output in [Encoding::Padded { messages: 8 }, Encoding::Cyclic { messages: 5 }] {
            let job = LookUpJob { table: table.clone(), output, inputs: inputs.clone() };
            let bytes = job.to_bytes(&params).unwrap();
            let back = LookUpJob::from_bytes(&params, &bytes).unwrap();
            assert_eq!((&back.table, back.output, &back.inputs), (&table, output, &inputs));
            let results = back.run(&evaluator, &mut ()).unwrap();
            let found: Vec<u32> = results.iter().map(|x| secret.decrypt(x).unwrap()).collect();
            assert_eq!(found, messages.map(|m| table[m as usize]));
        }
        let bit = secret.encrypt_bits(&[true], &Seed::from_bytes([7; 32]));
        let mixed = [inputs.clone(), bit].concat();
        for (table, output, inputs) in [
            (vec![0; 7], Encoding::Padded { messages: 8 }, inputs.clone()),
            (vec![5; 8], Encoding::Cyclic { messages: 5 }, inputs.clone()),
            (vec![0; 8], Encoding::Padded { messages: 8 }, mixed),
        ] {
            let bytes = LookUpJob { table, output, inputs }.to_bytes(&params).unwrap();
            let error = LookUpJob::from_bytes(&params, &bytes).err().unwrap();
            assert_eq!(error.code(), "INVALID_ARGUMENT", "{error}");
        }
        for text in ["padded 8", "padded 99: 0", "padded 8: x 1", "tree 8: 1", ": 1", "bit 2: 0 1"] {
            let bytes = framed(text, &params, &inputs).unwrap();
            let error = LookUpJob::from_bytes(&params, &bytes).err().unwrap();
            assert_eq!(error.code(), "INVALID_ARGUMENT", "{text}: {error}");
        }
    }
}
