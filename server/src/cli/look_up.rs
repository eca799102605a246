//! `refloat look-up`.

use clap::Args;
use refloat::schemes::cggi::{CggiCiphertext, Encoding};
use refloat::wire::WireWord;
use serde_json::json;

use super::bits;
use super::circuit::RunArguments;
use super::failure::Failure;
use super::output::Output;
use super::server_arguments::ServerArguments;
use crate::gates::LOOK_UP;
use crate::look_ups::{LookUpJob, parse_encoding};
use crate::registry::Registry;

const EXAMPLES: &str = "\
Examples:
  refloat encrypt --key keys --integers 3,5,7 --messages 8 --out x.ct
  refloat look-up --table 0,1,4,1,0,1,4,1 --keys keys --in x.ct --out y.ct
  refloat look-up --table 0,0,0,1,0,1,1,1 --output bit --keys keys --in x.ct --out y.ct --server http://127.0.0.1:7878";

/// Arguments of `refloat look-up`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The results for messages 0, 1, 2 and so on.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    table: Vec<u32>,
    /// What the results are encoded as: "bit", "padded N" or "cyclic N" [default: as the inputs].
    #[arg(long, value_name = "ENCODING", value_parser = parse_encoding)]
    output: Option<Encoding>,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Looks up every ciphertext.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    if arguments.run.is_wide()? {
        run_over::<u64>(arguments, registry, output)
    } else {
        run_over::<u32>(arguments, registry, output)
    }
}

fn run_over<W: WireWord>(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let (run, server) = (&arguments.run, &arguments.server);
    let out = run.out_file()?;
    let (params, lists) = bits::read_lists::<W>(&run.input)?;
    let inputs = lists.concat();
    let same = inputs.first().map_or(Encoding::Bit, |first: &CggiCiphertext<W>| first.encoding());
    let encoding = arguments.output.unwrap_or(same);
    let job = LookUpJob { table: arguments.table.clone(), output: encoding, inputs };
    let bytes = job.to_bytes(&params)?;
    // A job that does not fit is refused before anything is sent.
    LookUpJob::from_bytes(&params, &bytes)?;
    let count = job.inputs.len();
    let work = (LOOK_UP, &bytes[..], count);
    let (results, seconds) = run.job((server, registry), (&params, &job.inputs), work, output)?;
    let written = bits::write_list(out, &params, &results)?;
    let value = json!({
        "params": params.name(), "lookUps": count, "seconds": seconds, "server": server.url, "bytes": written,
        "out": run.out,
    });
    output.result(&value, || {
        format!(
            "{count} look-ups into {}, {seconds:.3} s, {:.2} ms each",
            run.out.display(),
            1e3 * seconds / count.max(1) as f64
        )
    })
}
