//! `refloat key-sets`: what an operator sees and removes of the key sets on a server.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use ureq::http::HeaderMap;

use super::address::Address;
use super::connection::{Ask, Connection, NETWORK, words};
use super::failure::Failure;
use super::output::{Output, bytes, table};
use crate::id::Id;
use crate::service::key_sets::{KeySetDocument, KeySetsDocument, LARGEST_PAGE, USUAL_PAGE};

const EXAMPLES: &str = "\
The server answers at the address of its setting server.metrics_listen, and only who asks from its own machine.
Examples:
  refloat key-sets list --operator http://127.0.0.1:9090
  refloat key-sets list --limit 1000 --operator http://127.0.0.1:9090
  refloat key-sets remove 00112233445566778899aabbccddeeff --operator http://127.0.0.1:9090";

/// How long the server may be silent.
const PATIENCE: Duration = Duration::from_mins(1);

/// Arguments of `refloat key-sets`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists key sets with their sizes and when they were used, in the order of their identifiers.
    List(ListArguments),
    /// Removes a key set of any owner. Its client finds it missing, and can upload it again.
    Remove(RemoveArguments),
}

/// Where operators are answered.
#[derive(Args)]
struct Operator {
    /// The operators' listener of the server, at the address of its setting server.metrics_listen.
    #[arg(long = "operator", value_name = "URL", env = "REFLOAT_OPERATOR")]
    url: String,
}

/// Arguments of `refloat key-sets list`.
#[derive(Args)]
struct ListArguments {
    /// Begins after this key set: the last one of the list before.
    #[arg(long, value_name = "ID")]
    after: Option<Id>,
    /// Key sets to list at most, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = USUAL_PAGE as u16, value_parser = clap::value_parser!(u16).range(1..=LARGEST_PAGE as i64))]
    limit: u16,
    #[command(flatten)]
    operator: Operator,
}

/// Arguments of `refloat key-sets remove`.
#[derive(Args)]
struct RemoveArguments {
    /// The key set, as `refloat key-sets list` names it.
    #[arg(value_name = "ID")]
    id: Id,
    #[command(flatten)]
    operator: Operator,
}

impl Operator {
    fn connect(&self, output: &Output) -> Result<Connection, Failure> {
        let address = Address::parse("--operator", &self.url)?;
        Connection::new(&address, HeaderMap::new(), PATIENCE, None, output.clone())
    }
}

/// Adds where to ask, if the server cannot be reached.
fn unreached(failure: Failure) -> Failure {
    if failure.code != NETWORK {
        return failure;
    }
    let detail =
        format!("{}; --operator is the address of its setting server.metrics_listen", failure.detail);
    Failure { detail, ..failure }
}

/// Lists key sets, or removes one.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.command {
        Command::List(arguments) => list(arguments, output),
        Command::Remove(arguments) => remove(arguments, output),
    }
}

fn list(arguments: &ListArguments, output: &Output) -> Result<(), Failure> {
    let after = arguments.after.map_or(String::new(), |id| format!("&after={id}"));
    let path = format!("/v1/key-sets?limit={}{after}", arguments.limit);
    let connection = arguments.operator.connect(output)?;
    let page: KeySetsDocument = connection.document(Ask::get(&path)).map_err(unreached)?;
    output.result(&page, || text(&page))
}

fn remove(arguments: &RemoveArguments, output: &Output) -> Result<(), Failure> {
    let id = arguments.id;
    let connection = arguments.operator.connect(output)?;
    connection.send(Ask::delete(&format!("/v1/key-sets/{id}"))).map_err(|failure| {
        match failure.code.as_str() {
            "NOT_FOUND" if failure.detail.starts_with("there is no key set") => {
                let detail = format!("there is no key set {id}; refloat key-sets list shows which there are");
                Failure { detail, ..failure }
            }
            _ => unreached(failure),
        }
    })?;
    output.result(&json!({ "id": id, "removed": true }), || {
        format!("key set {id} is removed; its client has to upload it again before the next job")
    })
}

fn text(page: &KeySetsDocument) -> String {
    let heading =
        ["key set", "parameters", "state", "size", "jobs", "size of jobs", "changed", "last job", "API key"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(page.key_sets.iter().map(row));
    let listed = if page.key_sets.is_empty() { "no key sets\n".to_owned() } else { table(&rows) };
    let taken = format!("all key sets take {} of {}", bytes(page.bytes), bytes(page.most_bytes));
    let more = page.next.as_ref().map_or(String::new(), |next| {
        format!("\nmore follow: refloat key-sets list --after {}", words(next))
    });
    format!("{listed}{taken}{more}")
}

fn row(set: &KeySetDocument) -> Vec<String> {
    // To the second, and on one line.
    let time =
        |time: &str| words(time).split('.').next().unwrap_or_default().trim_end_matches('Z').to_owned();
    let public = if set.public { ", public" } else { "" };
    vec![
        words(&set.id),
        words(&set.params),
        format!("{}{public}", words(&set.state)),
        bytes(set.bytes),
        set.jobs.to_string(),
        bytes(set.job_bytes),
        time(&set.changed_at),
        set.last_job_at.as_deref().map_or_else(|| "-".to_owned(), time),
        set.api_key.as_deref().map_or_else(|| "-".to_owned(), words),
    ]
}
