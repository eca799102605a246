//! Programs on CKKS ciphertexts: jobs of the sets whose methods run them.

use refloat::Error;
use refloat::circuits::program::{
    Bootstraps, Builder, InputShape, MAX_BYTES, MAX_INPUTS, Plan, Program, Target,
};
use refloat::schemes::ckks::{Ciphertext, CkksContext};
use refloat::wire::{self, WireWord, frame};

use crate::engine::{BOOTSTRAP, Operation};
use crate::id::{Id, hex};

/// Operation: multiply by itself, relinearise and rescale, which takes a level.
pub const SQUARE: &str = "square";

/// Operation: multiply by the next ciphertext, relinearise and rescale, which takes a level.
pub const MULTIPLY: &str = "multiply";

/// Operation: evaluate a program, which comes with its inputs.
pub const PROGRAM: &str = "program";

/// Named operations as a program: a chain of nodes from its first input, in which each [`MULTIPLY`] takes the next input.
///
/// # Errors
/// [`Error::InvalidArgument`] for an operation that is not `known`.
pub fn of_operations(operations: &[Operation], known: &[&str]) -> Result<Program, Error> {
    let mut builder = Builder::new();
    let mut x = builder.input("ciphertext");
    for (index, operation) in operations.iter().enumerate() {
        let name = operation.name();
        if name == PROGRAM {
            return Err(Error::InvalidArgument(
                "a program is the only operation of its job; write the other operations into it".into(),
            ));
        }
        let place = format!("operation {}, {name}", index + 1);
        x = match name {
            _ if !known.contains(&name) => {
                return Err(Error::InvalidArgument(format!(
                    "{name} is not an operation on ciphertexts of this set; take one of: {}",
                    known.join(", ")
                )));
            }
            MULTIPLY => {
                let y = builder.input(&format!("operand of {place}"));
                builder.multiply(x, y)
            }
            BOOTSTRAP => builder.bootstrap(x),
            _ => builder.multiply(x, x),
        };
        builder.name(x, &place);
    }
    builder.output("result", x);
    builder.finish()
}

/// A program and what it is applied to.
///
/// Bytes: 1 if bootstraps are to be put in where levels run out, 0 if not; the length of the program as u32, little-endian; the
/// program; the ciphertexts of its inputs, one after the other, in the order of the program. The result is the ciphertexts of
/// its outputs, one after the other.
pub struct ProgramJob<W: WireWord = u64> {
    /// The program.
    pub program: Program,
    /// Who places bootstraps.
    pub bootstraps: Bootstraps,
    /// A ciphertext for each input.
    pub inputs: Vec<Ciphertext<W>>,
}

/// Bytes before the program.
const HEAD: usize = 5;

/// Most bytes that the values of a program may take at once.
const MAX_HELD: u64 = 1 << 30;

/// Most bootstraps of a program: four times those of a job of single operations.
const MAX_BOOTSTRAPS: usize = 64;

/// Most ciphertexts of a job, at the level that a bootstrap leaves: a body is held in memory.
const MAX_CIPHERTEXTS: usize = 16;

impl<W: WireWord> ProgramJob<W> {
    /// Reads an untrusted job of a set.
    ///
    /// # Errors
    /// The program or a ciphertext is not understood, or there is not one for each input.
    pub fn from_bytes(context: &CkksContext<W>, bytes: &[u8]) -> Result<Self, Error> {
        let (bootstraps, program, list) = parts(bytes)?;
        Ok(Self { program, bootstraps, inputs: list_from_bytes(context, list)? })
    }

    /// The bytes of the job.
    ///
    /// # Errors
    /// The ciphertexts are of another set.
    pub fn to_bytes(&self, context: &CkksContext<W>) -> Result<Vec<u8>, Error> {
        Ok(body(&self.program, self.bootstraps, &list_to_bytes(context, &self.inputs)?))
    }

    /// Plans the job for a set, with the keys of `key`.
    ///
    /// # Errors
    /// Those of [`Plan::new`], which name the node; [`Error::ParamsMismatch`] for a ciphertext of another key;
    /// [`Error::Limit`] for more bootstraps or memory than a job may take.
    pub fn plan(&self, target: &Target, key: Id) -> Result<Plan<'_>, Error> {
        for (name, input) in self.program.input_names().zip(&self.inputs) {
            if input.key_id() != key.0 {
                return Err(Error::ParamsMismatch(format!(
                    "input \"{name}\" is under key {}, the evaluation keys belong to {key}; use those of the ciphertext's key",
                    hex(&input.key_id())
                )));
            }
            if input.components() != 2 {
                return Err(Error::InvalidArgument(format!(
                    "input \"{name}\" has {} components, programs take 2; relinearise it first",
                    input.components()
                )));
            }
        }
        let shapes: Vec<InputShape> = self.inputs.iter().map(InputShape::of).collect();
        let plan = Plan::new(&self.program, target, &shapes, self.bootstraps)?;
        check_size(plan.passes(), plan.peak_bytes())?;
        Ok(plan)
    }
}

/// The parts of an untrusted body of a job: who places bootstraps, the program, and the ciphertexts of its inputs, one after the
/// other.
///
/// # Errors
/// The bytes are not such a body, or the program is not understood.
pub fn parts(bytes: &[u8]) -> Result<(Bootstraps, Program, &[u8]), Error> {
    let parts = || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        let (program, list) = rest.split_at_checked(length as usize)?;
        Some((*[Bootstraps::AsWritten, Bootstraps::WhereNeeded].get(usize::from(head[0]))?, program, list))
    };
    let (bootstraps, program, list) = parts().ok_or_else(|| {
        Error::BadBytes(format!(
            "{} bytes are not a program with its inputs: 0 or 1, the length of the program as 4 bytes, the program, ciphertexts",
            bytes.len()
        ))
    })?;
    Ok((bootstraps, Program::from_bytes(program)?, list))
}

/// Largest body of a job, in bytes, with ciphertexts of `ciphertext` bytes.
pub fn largest(ciphertext: usize) -> usize {
    HEAD + MAX_BYTES + MAX_CIPHERTEXTS * ciphertext
}

/// The body of a job, from the ciphertexts of its inputs in wire form, one after the other.
pub fn body(program: &Program, bootstraps: Bootstraps, inputs: &[u8]) -> Vec<u8> {
    let program = program.to_bytes();
    let mut bytes = vec![u8::from(bootstraps == Bootstraps::WhereNeeded)];
    bytes.extend_from_slice(&(program.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&program);
    bytes.extend_from_slice(inputs);
    bytes
}

/// Bytes of the outputs of a program.
pub fn result_bytes<W: WireWord>(context: &CkksContext<W>, plan: &Plan<'_>) -> u64 {
    plan.outputs().map(|output| wire::ciphertext_len(context, output.level, 2) as u64).sum()
}

/// Checks that a job takes no more of the server than one may.
///
/// # Errors
/// [`Error::Limit`] for more.
pub fn check_size(bootstraps: usize, held: u64) -> Result<(), Error> {
    if bootstraps > MAX_BOOTSTRAPS {
        return Err(Error::Limit(format!(
            "the program takes {bootstraps} bootstraps, every pass that reads a digit counted, and a job at most {MAX_BOOTSTRAPS}; \
             split it into jobs"
        )));
    }
    if held > MAX_HELD {
        return Err(Error::Limit(format!(
            "the program holds {held} bytes of ciphertexts at once, and a job may hold {MAX_HELD}; use values soon after they \
             are computed, or split it into jobs"
        )));
    }
    Ok(())
}

/// Writes ciphertexts, one after the other.
///
/// # Errors
/// One is of another set.
pub fn list_to_bytes<W: WireWord>(
    context: &CkksContext<W>,
    list: &[Ciphertext<W>],
) -> Result<Vec<u8>, Error> {
    let parts: Vec<Vec<u8>> =
        list.iter().map(|x| wire::ciphertext_to_bytes(context, x)).collect::<Result<_, _>>()?;
    Ok(parts.concat())
}

/// Reads untrusted ciphertexts, one after the other.
///
/// # Errors
/// One is not a ciphertext of the set, or there are too many.
pub fn list_from_bytes<W: WireWord>(
    context: &CkksContext<W>,
    bytes: &[u8],
) -> Result<Vec<Ciphertext<W>>, Error> {
    split_list(bytes)?.into_iter().map(|one| wire::ciphertext_from_bytes(context, one)).collect()
}

/// Splits ciphertexts, one after the other, into the bytes of each.
///
/// # Errors
/// The bytes are not such a list, or there are too many.
pub fn split_list(mut bytes: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        if list.len() == MAX_INPUTS {
            return Err(Error::Limit(format!("more than {MAX_INPUTS} ciphertexts; split the program")));
        }
        let stated = usize::try_from(frame::peek(bytes)?.payload_len).unwrap_or(usize::MAX);
        let length = frame::len(stated.min(bytes.len()));
        let (one, rest) = bytes.split_at_checked(length).ok_or_else(|| {
            Error::BadBytes(format!(
                "ciphertext {} states {stated} bytes of payload, and {} bytes are left; send it whole",
                list.len(),
                bytes.len()
            ))
        })?;
        list.push(one);
        bytes = rest;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::ckks_conventional::{
        ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
    };
    use refloat::bootstrapping::program::ProgramMethod;
    use refloat::circuits::linear_transform::PlaintextStorage;
    use refloat::circuits::program::Builder;
    use refloat::params::conventional_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::Complex;

    use super::*;

    #[test]
    fn jobs_come_back_and_are_done() {
        let params = conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let key = Id(secret.key_id());
        let values = vec![Complex::new(0.5, -0.25); params.slots()];
        let input = secret.encrypt(&values, 1, &Seed::from_bytes([6; 32])).unwrap();
        let mut builder = Builder::new();
        let (x, y) = (builder.input("x"), builder.input("y"));
        let product = builder.multiply(x, y);
        let fourth = builder.multiply(product, product);
        builder.output("product", product);
        builder.output("fourth", fourth);
        let program = builder.finish().unwrap();
        let job = ProgramJob { program, bootstraps: Bootstraps::WhereNeeded, inputs: vec![input.clone(); 2] };
        let bytes = job.to_bytes(params.ckks()).unwrap();
        assert!(bytes.len() < largest(wire::ciphertext_len(params.ckks(), params.levels().output, 2)));
        let back = ProgramJob::from_bytes(params.ckks(), &bytes).unwrap();
        assert_eq!(back.to_bytes(params.ckks()).unwrap(), bytes);
        let keys = ConventionalKeys::generate(&secret).unwrap();
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Coefficients).unwrap();
        let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };
        let target = params.program_target().unwrap();
        let plan = back.plan(&target, key).unwrap();
        let outputs = method.run_program(&plan, &back.inputs, &mut ()).unwrap();
        let result = list_to_bytes(params.ckks(), &outputs).unwrap();
        assert_eq!(result_bytes(params.ckks(), &plan), result.len() as u64);
        let result = list_from_bytes(params.ckks(), &result).unwrap();
        let square = values[0] * values[0];
        for (found, expected) in result.iter().zip([square, square * square]) {
            let found = secret.decrypt(found).unwrap();
            assert!(found.reveal_to_key_owner().iter().all(|&z| (z + -expected).abs() < 1e-3));
        }

        let error = |job: &ProgramJob| job.plan(&target, key).err().unwrap();
        let written = ProgramJob { bootstraps: Bootstraps::AsWritten, ..back };
        let refused = error(&written);
        assert_eq!(refused.code(), "LEVEL_MISMATCH");
        assert!(refused.to_string().contains("node 3 (multiply)"), "{refused}");
        let back = ProgramJob::from_bytes(params.ckks(), &bytes).unwrap();
        assert_eq!(back.plan(&target, Id([0; 16])).err().unwrap().code(), "PARAMS_MISMATCH");
        let few = ProgramJob { inputs: vec![input], ..back };
        assert_eq!(error(&few).code(), "INVALID_ARGUMENT");
        for length in (0..bytes.len()).step_by(97) {
            let read = ProgramJob::from_bytes(params.ckks(), &bytes[..length]);
            assert!(read.is_err() || read.is_ok_and(|job| job.plan(&target, key).is_err()), "{length}");
        }
        let mut damaged = bytes.clone();
        damaged[0] = 2;
        assert_eq!(ProgramJob::from_bytes(params.ckks(), &damaged).err().unwrap().code(), "BAD_BYTES");
    }

    #[test]
    fn jobs_that_would_take_the_server_are_refused() {
        let params = conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let input = secret.encrypt(&[Complex::ONE], 1, &Seed::from_bytes([6; 32])).unwrap();
        let target = params.program_target().unwrap();
        let planned = |count: usize| {
            let mut builder = Builder::new();
            let x = builder.input("x");
            let last = (0..count).fold(x, |x, _| builder.bootstrap(x));
            builder.output("y", last);
            let (program, bootstraps) = (builder.finish().unwrap(), Bootstraps::AsWritten);
            let job = ProgramJob { program, bootstraps, inputs: vec![input.clone()] };
            job.plan(&target, Id(secret.key_id())).map(|plan| plan.bootstraps())
        };
        assert_eq!(planned(MAX_BOOTSTRAPS).unwrap(), MAX_BOOTSTRAPS);
        let refused = planned(MAX_BOOTSTRAPS + 1).unwrap_err();
        assert!(refused.code() == "LIMIT" && refused.to_string().contains("65 bootstraps"), "{refused}");
        let refused = check_size(1, MAX_HELD + 1).unwrap_err();
        assert!(refused.code() == "LIMIT" && refused.to_string().contains("1073741825 bytes"), "{refused}");
        assert!(check_size(1, MAX_HELD).is_ok());
    }
}
