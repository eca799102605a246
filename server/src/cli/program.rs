//! `refloat program`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use refloat::circuits::program::{Bootstraps, Program};
use serde_json::json;

use super::failure::Failure;
use super::keyfiles::in_file;
use super::message_files::read_file;
use super::outfile::OutFile;
use super::output::Output;
use super::place::Place;
use super::progress::stage_table;
use super::remote::Done;
use super::sets;
use crate::clients::{CiphertextBytes, ComparedBy, KeyOwnerSet, PlannedProgram};
use crate::engine::{Operation, SetInfo, Task};
use crate::engines::Engines;
use crate::programs::{self, PROGRAM};
use crate::registry::{Registry, SetFilter};

const EXAMPLES: &str = "\
PROGRAM is text, a line NAME = OPERATION ARGUMENTS for each value, or what Program.toBytes() of the npm
package gives:
  x = input
  y = polynomial x 0.5 0.25 0 -0.02      coefficients of 1, x, x^2, x^3
  z = multiply y x                       and add, subtract, negate, conjugate, rotate z -3, rotate-sum z 8,
  z2 = bootstrap z                       constant 0.5 0.25, chebyshev z -8 8 0.5 0.6
  c = clamp z2 0.05 0.125 31             z2 up to 1 - 0.125, its sign from 1 to 1 + 0.05, by degree 31
  score = output c
On sets of integers (bgv15) values, constants and coefficients are whole numbers modulo the set's p. There are the operations above but
chebyshev and clamp, `multiply x y` of slots of several integers is the product of their field, and `conjugate` exchanges the
two rows of slots. What is compared or rounded is not for programs on integers: the Rust library has both.
On sets for modular reduction there are also, for real numbers (a bootstrap keeps them in (-1/2, 1/2)):
  m = mod x 0.25 15                      x modulo 0.25 to 15 bits, in [0, 0.25); mod-centred: in [-0.125, 0.125)
  r = int-mod x 24                       integers modulo 24
  b = bit x 10 3                         bit 3, 0 the lowest, of floor(2^10 x), x modulo 1
  t = lut x 0 0.25 0.5 1                 a table of 4 values: that at floor(4 x); lut-exact: x is a multiple of 1/4
  q = quantise x 32                      the multiple of 1/32 below x modulo 1; quantise-nearest: the nearest one
On sets that link numbers to gates, and those of them for modular reduction:
  w = argmax x 16                        1 for the largest of the first 16 slots; argmin, rank, sign, top x 16 3; `by gates` or
                                         `by digits` at the end, where a set has both ways: the cheaper one is taken otherwise
Examples:
  refloat program score.txt                                         what it consists of
  refloat program score.txt --keys keys15 --in x.ct --out score.ct
  refloat program two.txt --keys keys15 --in a=1.ct --in b=2.ct --out sum=3.ct --out product=4.ct
  refloat program score.txt --keys keys15 --in x.ct --out score.ct --server http://127.0.0.1:7878";

/// Arguments of `refloat program`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// File with a program, as text or as bytes.
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// Folder of keys, or of evaluation keys alone, of a set that runs programs, such as n16.
    #[arg(long, value_name = "DIR", requires_all = ["input", "out"])]
    keys: Option<PathBuf>,
    /// Ciphertext of an input, the only one left or the one of that name; may be repeated.
    #[arg(long = "in", value_name = "[NAME=]FILE", requires = "keys")]
    input: Vec<String>,
    /// Ciphertext to write, of an output; may be repeated. Outputs that are not named are not written.
    #[arg(long, value_name = "[NAME=]FILE", requires = "keys")]
    out: Vec<String>,
    /// Does only the bootstraps that the program has, instead of putting in others where levels run out.
    #[arg(long, requires = "keys")]
    as_written: bool,
    #[command(flatten)]
    place: Place,
}

/// Describes a program, or runs it.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let program = read(&arguments.program)?;
    let Some(keys) = &arguments.keys else { return describe(&program, output) };
    let names: Vec<String> = program.input_names().map(str::to_owned).collect();
    let files = assign("input", &names, &arguments.input)?;
    let outputs: Vec<String> = program.output_names().map(str::to_owned).collect();
    let written = assign("output", &outputs, &arguments.out)?;
    let files: Vec<PathBuf> = names
        .iter()
        .zip(files)
        .map(|(name, file)| {
            file.ok_or_else(|| {
                Failure::usage(format!("the program has an input \"{name}\"; add --in {name}=FILE"))
            })
        })
        .collect::<Result<_, _>>()?;
    let out_files = out_files(&[&arguments.program], &files, &written)?;
    let bootstraps = if arguments.as_written { Bootstraps::AsWritten } else { Bootstraps::WhereNeeded };
    let files = Files { inputs: &files, written: &written, out: out_files };
    evaluate(&program, bootstraps, keys, files, &arguments.place, registry, output)
}

/// The remark on results that have too few levels left for a bootstrap.
pub fn without_bootstrap(results: &str, set: &SetInfo) -> String {
    format!(
        "{results} can be decrypted but not bootstrapped: bootstraps of {} begin at level {}; to go on computing, bootstrap before the last \
         product",
        set.name, set.input_level
    )
}

/// Files of a run, in the order of the inputs and outputs of its program.
pub struct Files<'a> {
    /// Ciphertexts of the inputs.
    pub inputs: &'a [PathBuf],
    /// Names of the files for outputs, where they are written.
    pub written: &'a [Option<PathBuf>],
    /// The files for outputs, opened.
    pub out: Vec<Option<OutFile>>,
}

/// Runs a program on ciphertexts of files, and writes its outputs.
pub fn evaluate(
    program: &Program,
    bootstraps: Bootstraps,
    keys: &Path,
    files: Files<'_>,
    place: &Place,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let Files { inputs: files, written, out: mut out_files } = files;
    let outputs: Vec<String> = program.output_names().map(str::to_owned).collect();
    let (set, inputs) = ciphertexts(registry, files.iter().map(PathBuf::as_path))?;
    let key = inputs[0].key;
    // For integers, the plan says which other sets have these operations.
    if program.reads_digits() && !matches!(set, KeyOwnerSet::Integers(_)) && !set.reads_digits()? {
        return Err(Failure::usage(format!(
            "{} reads no digits and does not compare, and the program does; take keys of a set for modular reduction, or of one that \
             links numbers to gates, which `refloat params` lists",
            set.client().info().name
        )));
    }
    let bytes: Vec<&[u8]> = inputs.iter().map(|input| &input.bytes[..]).collect();
    let body = programs::body(program, bootstraps, &bytes.concat());
    drop(inputs);
    // A job that does not fit is refused before any key is read.
    let operations = vec![Operation::new(PROGRAM)];
    let info = set.client().info();
    let engines = Engines::with(registry, SetFilter { only: Some(&info.name), ..SetFilter::all() })?;
    engines.check_operations(&info.name, &operations)?;
    let planned = set.plan(key, &body)?;
    let PlannedProgram { steps, key_switches, bootstraps, inserted, digits, ref compared, .. } = planned;
    let least_distance = Some(planned.least_distance).filter(|&least| least > 0.0);
    if let Some(failure) = planned.failure() {
        output.note(&format!("the plan has {steps} steps; {failure}"));
    }
    for ComparedBy { nodes, reason, .. } in compared {
        output.note(&format!("{} compared {reason}", nodes.join(", ")));
    }
    if !planned.final_outputs.is_empty() {
        output.note(&without_bootstrap(&planned.final_outputs.join(", "), info));
    }
    let task = Task { mode: info.mode, operations, rounds: 1 };
    let largest = outputs.len() * info.largest_ciphertext();
    let Done { bytes, seconds, stages } =
        place.who().run(registry, keys, (set.client(), key), (&task, &body, largest), output)?;
    let results = programs::split_list(&bytes)?.into_iter().map(|one| set.ciphertext(one.to_vec()));
    let results: Vec<CiphertextBytes> = results.collect::<Result<_, _>>()?;
    // Frees memory: both may be large.
    drop((body, bytes));
    if results.len() != outputs.len() || results.iter().any(|result| result.key != key) {
        return Err(Failure::network(
            "the server answered with other ciphertexts than the program's outputs",
        ));
    }
    let mut facts = Vec::new();
    for (((name, out), file), result) in outputs.iter().zip(written).zip(&mut out_files).zip(&results) {
        if let Some(file) = file.take() {
            file.write(&result.bytes)?;
        }
        facts.push(json!({ "name": name, "level": result.level, "out": out }));
    }
    let value = json!({
        "params": info.name, "steps": steps, "keySwitches": key_switches, "bootstraps": bootstraps, "inserted": inserted, "digits": digits,
        "compared": compared, "logFailure": planned.log_failure, "leastDistance": least_distance,
        "seconds": seconds, "server": place.server.url, "stages": stages, "outputs": facts,
    });
    output.result(&value, || {
        let mut text = format!(
            "{}{steps} steps, {key_switches} key switches between bootstraps; bootstraps: {bootstraps}, {inserted} of them put in{}{}, {seconds:.3} s",
            stage_table(&stages),
            if digits == 0 { String::new() } else { format!("; digits: {digits}") },
            planned.failure().map_or(String::new(), |failure| format!("; {failure}"))
        );
        for ((name, file), result) in outputs.iter().zip(written).zip(&results) {
            let place = file.as_ref().map_or("not written".to_owned(), |file| format!("into {}", file.display()));
            let _ = write!(text, "\n{name}: level {}, {place}", result.level);
        }
        text
    })
}

/// Reads a program from its file, which is text unless it begins with the mark of the binary form.
fn read(path: &Path) -> Result<Program, Failure> {
    let bytes = read_file(path)?;
    let program = if bytes.starts_with(b"rfprog") {
        Program::from_bytes(&bytes)
    } else {
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Failure::usage(format!("{} is neither text nor a program", path.display())))?;
        Program::parse(text)
    };
    program.map_err(|error| in_file(path, error))
}

/// Files in the order of `names`: `NAME=FILE` where NAME is among them, and the others in order.
fn assign(what: &str, names: &[String], given: &[String]) -> Result<Vec<Option<PathBuf>>, Failure> {
    let mut files: Vec<Option<PathBuf>> = vec![None; names.len()];
    let named = |text: &str| {
        let (name, file) = text.split_once('=')?;
        Some((names.iter().position(|known| known == name)?, file.to_owned()))
    };
    for (at, file) in given.iter().filter_map(|text| named(text)) {
        if files[at].replace(file.into()).is_some() {
            return Err(Failure::usage(format!("{what} \"{}\" is given twice", names[at])));
        }
    }
    for text in given.iter().filter(|text| named(text).is_none()) {
        // A path may contain = as well: then the file exists, or its folder comes before the sign.
        if let Some((name, _)) = text.split_once('=')
            && !name.contains(['/', '\\'])
            && !Path::new(text).exists()
        {
            return Err(Failure::usage(format!(
                "{text}: the program has no {what} \"{name}\"; {}; for a file of that name write ./{text}",
                if names.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("its {what}s are {}", names.join(", "))
                }
            )));
        }
        let free = files.iter_mut().find(|file| file.is_none()).ok_or_else(|| {
            Failure::usage(format!(
                "{text}: the program has {} {what}s ({}), and all have files",
                names.len(),
                names.join(", ")
            ))
        })?;
        *free = Some(text.into());
    }
    Ok(files)
}

/// Opens the files for outputs, which must differ from the files that are read and from each other.
pub fn out_files(
    also_read: &[&Path],
    inputs: &[PathBuf],
    outputs: &[Option<PathBuf>],
) -> Result<Vec<Option<OutFile>>, Failure> {
    let read: Vec<&Path> = also_read.iter().copied().chain(inputs.iter().map(PathBuf::as_path)).collect();
    let mut files: Vec<Option<OutFile>> = Vec::new();
    for path in outputs {
        let file = path.as_deref().map(|path| OutFile::open(path, &read)).transpose()?;
        if let (Some(path), Some(file)) = (path, &file)
            && files.iter().flatten().any(|other| file.collides(other))
        {
            return Err(Failure::usage(format!(
                "{} is to hold two outputs; give each a file of its own",
                path.display()
            )));
        }
        files.push(file);
    }
    Ok(files)
}

/// Reads at least one ciphertext; all must be of one set and one key.
pub fn ciphertexts<'a>(
    registry: &Registry,
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<(KeyOwnerSet, Vec<CiphertextBytes>), Failure> {
    let mut first: Option<(KeyOwnerSet, &Path)> = None;
    let mut files: Vec<CiphertextBytes> = Vec::new();
    for path in paths {
        let (set, file) = sets::read_refreshable(registry, path)?;
        match (&first, files.first()) {
            (Some((known, known_path)), Some(CiphertextBytes { key, .. }))
                if known.client().info().fingerprint != set.client().info().fingerprint
                    || *key != file.key =>
            {
                return Err(Failure::usage(format!(
                    "{} is under key {} of {}, {} under key {key} of {}; encrypt the inputs with one key",
                    path.display(),
                    file.key,
                    set.client().info().name,
                    known_path.display(),
                    known.client().info().name
                )));
            }
            (Some(_), _) => {}
            (None, _) => first = Some((set, path)),
        }
        files.push(file);
    }
    let (set, _) =
        first.ok_or_else(|| Failure::usage("the program has no input; there is nothing to compute on"))?;
    Ok((set, files))
}

fn describe(program: &Program, output: &Output) -> Result<(), Failure> {
    let inputs: Vec<&str> = program.input_names().collect();
    let outputs: Vec<&str> = program.output_names().collect();
    let nodes: Vec<String> = (0..program.nodes().len()).map(|index| program.describe(index)).collect();
    let value = json!({ "inputs": inputs, "outputs": outputs, "nodes": nodes });
    output.result(&value, || {
        format!("inputs   {}\noutputs  {}\n{}", inputs.join(" "), outputs.join(" "), nodes.join("\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_find_their_inputs() {
        let names = ["x", "y"].map(str::to_owned);
        let of = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            assign("input", &names, &given)
        };
        let file = |name: &str| Some(PathBuf::from(name));
        assert_eq!(of(&["1.ct", "2.ct"]).unwrap(), [file("1.ct"), file("2.ct")]);
        assert_eq!(of(&["1.ct", "x=2.ct"]).unwrap(), [file("2.ct"), file("1.ct")]);
        assert_eq!(of(&["y=a=b.ct"]).unwrap(), [None, file("a=b.ct")]);
        assert_eq!(of(&["./z=1.ct"]).unwrap(), [file("./z=1.ct"), None]);
        assert!(
            of(&["z=1.ct"]).unwrap_err().detail.contains("no input \"z\"; its inputs are x, y; for a file")
        );
        assert!(of(&["x=1", "x=2"]).unwrap_err().detail.contains("twice"));
        assert!(of(&["1", "2", "3"]).unwrap_err().detail.contains("2 inputs (x, y)"));
    }
}
