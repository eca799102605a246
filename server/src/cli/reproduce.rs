//! `refloat reproduce`: published figures beside those of this machine.

use clap::{Args, ValueEnum};
use refloat::bootstrapping::scheme_switching::LinkPreset;

use super::failure::Failure;
use super::output::Output;
use super::reproduce_bgv;
use super::reproduce_crossing;
use super::reproduce_demystifying;
use super::reproduce_modular::{self, Set};
use super::reproduce_seal;
use super::reproduce_ship::{self, ShipRow};
use super::reproduce_switching;

const EXAMPLES: &str = "\
Examples:
  refloat reproduce ship --json > ship.json
  refloat reproduce ship --rows param15 --rows param16
  refloat reproduce cggi
  refloat reproduce seal-bootstrapping --set 1 --slots 10 --slots 12
  refloat reproduce ckks-openfhe
  refloat reproduce modular-reduction --table 5 --table 6
  refloat reproduce modular-reduction --rings
  refloat reproduce bgv --set bgv15 --runs 5
  refloat reproduce bgv --mode general --set toy-bgv-gf4
  refloat reproduce bgv --set V-A --mode general --runs 1 --allow-insecure
  refloat reproduce bgv --polynomials
  refloat reproduce scheme-switching --runs 1000
  refloat reproduce scheme-switching --crossing --runs 3
  refloat reproduce scheme-switching --peer openfhe
  refloat reproduce demystifying --set bool-128 --set n16";

/// Arguments of `refloat reproduce`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Arguments {
    /// What to reproduce.
    suite: Suite,
    /// Bootstrappings per figure; the fastest counts [default: 3, 5 of `bgv`, 10 of
    /// `scheme-switching`, and 30 of gates].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,
    /// Published rows of `ship` [default: ship13, bits and ship14; the others take 8 and 11 GB].
    #[arg(long)]
    rows: Vec<ShipRow>,
    /// Sets: numbers of `seal-bootstrapping`, 1 to 12 [default: all]; own, paper or toy of `modular-reduction` [default: own];
    /// names of sets of `bgv` [default: bgv15] and `scheme-switching` [default: n15+fbs16-50], and of `demystifying` [default: all of
    /// its table].
    #[arg(long)]
    set: Vec<String>,
    /// For `bgv`: the polynomials that read digits, with their degrees and costs. `--set` then names published sets too.
    #[arg(long, conflicts_with = "mode")]
    polynomials: bool,
    /// For `bgv`: what bootstraps refresh, an integer in each slot, or all coordinates of slots of several [default: what the set has].
    #[arg(long)]
    mode: Option<reproduce_bgv::Mode>,
    /// For `bgv`: published sets too, with chains of our own, which have 79 to 87 bits of security by the lattice estimator.
    #[arg(long)]
    allow_insecure: bool,
    /// Tables of `modular-reduction`, after its name: `modular-reduction --table 5 6` [default: all].
    #[arg(long, num_args = 1.., value_parser = ["5", "6", "7", "8", "10"])]
    table: Vec<String>,
    /// For `modular-reduction`: products of integers modulo small n instead of tables, beside those of BGV.
    #[arg(long)]
    rings: bool,
    /// For `scheme-switching`: from how many comparisons on digits are the cheaper way; on one thread.
    #[arg(long)]
    crossing: bool,
    /// For `scheme-switching`: another library beside ours in the same run: OpenFHE's argmin, where Python (`$PYTHON`) has its package
    /// `openfhe`.
    #[arg(long, value_parser = ["openfhe"])]
    peer: Option<String>,
    /// log2 of the numbers of slots of `seal-bootstrapping`, 10 to 15 [default: 10].
    #[arg(long, value_name = "LOG", value_parser = clap::value_parser!(u32).range(10..=15))]
    slots: Vec<u32>,
    /// GiB that conventional bootstrapping may take: with less, diagonals are transformed at every use, and then keys are read
    /// from a temporary file as they are used [default: what is available].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
}

/// A published set of figures.
#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// CKKS bootstrapping of "SHIP" (Cheon, Hanrot, Kim, Stehlé).
    Ship,
    /// Gates and look-ups of DM/CGGI.
    Cggi,
    /// Conventional CKKS bootstrapping with sparse packing, on SEAL.
    SealBootstrapping,
    /// Conventional CKKS bootstrapping of OpenFHE, in one round and in two.
    CkksOpenfhe,
    /// Modular reduction in CKKS (Kim, Noh).
    ModularReduction,
    /// BGV bootstrapping by removal of a small digit (Ma, Huang, Wang, Wang).
    Bgv,
    /// From CKKS to DM/CGGI and back, and the largest of sixteen numbers.
    SchemeSwitching,
    /// The comparison of bootstrapping methods of a survey (Al Badawi, Polyakov).
    Demystifying,
}

impl Suite {
    /// The name of a suite without `--set`, and what to do instead of giving it.
    fn fixed_sets(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Ship => Some(("ship", "leave it out, or choose rows by --rows")),
            Self::Cggi => Some(("cggi", "leave it out")),
            Self::CkksOpenfhe => Some(("ckks-openfhe", "leave it out")),
            _ => None,
        }
    }

    /// The failure for `--set` with a suite that always measures the same sets.
    fn without_sets(self, sets: &[String]) -> Failure {
        let (name, repair) = self.fixed_sets().unwrap_or_default();
        Failure::usage(format!(
            "--set {}: `reproduce {name}` always measures the sets of its source; {repair}",
            sets.join(", ")
        ))
    }
}

/// Measures and prints.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let runs = |default| arguments.runs.map_or(default, usize::from);
    let budget = arguments.memory.map(|gib| u64::from(gib) << 30);
    match arguments.suite {
        Suite::Bgv if arguments.polynomials => reproduce_bgv::polynomials::run(&arguments.set, output),
        _ if arguments.rings && !matches!(arguments.suite, Suite::ModularReduction) => {
            Err(Failure::usage("--rings is for `reproduce modular-reduction`"))
        }
        _ if arguments.allow_insecure && !matches!(arguments.suite, Suite::Bgv) => {
            Err(Failure::usage("--allow-insecure is for `reproduce bgv`"))
        }
        _ if arguments.mode.is_some() && !matches!(arguments.suite, Suite::Bgv) => {
            Err(Failure::usage("--mode is for `reproduce bgv`"))
        }
        _ if arguments.peer.is_some() && !matches!(arguments.suite, Suite::SchemeSwitching) => {
            Err(Failure::usage("--peer is for `reproduce scheme-switching`"))
        }
        _ if arguments.crossing && !matches!(arguments.suite, Suite::SchemeSwitching) => {
            Err(Failure::usage("--crossing is for `reproduce scheme-switching`"))
        }
        _ if arguments.polynomials => Err(Failure::usage("--polynomials is for `reproduce bgv`")),
        _ if !arguments.set.is_empty() && arguments.suite.fixed_sets().is_some() => {
            Err(arguments.suite.without_sets(&arguments.set))
        }
        Suite::Ship => reproduce_ship::run(&arguments.rows, runs(3), budget, output),
        Suite::Cggi => super::reproduce_cggi::run(runs(30), output),
        Suite::SealBootstrapping => {
            let (sets, slots) = (named(&arguments.set, "1 to 12", seal_set)?, arguments.slots.clone());
            reproduce_seal::run(&reproduce_seal::Request { sets, slots, runs: runs(3), budget }, output)
        }
        Suite::Bgv => {
            let own = |name: &String| Ok(reproduce_bgv::set(name, None)?.name.to_owned());
            let sets = arguments.set.iter().map(own).collect::<Result<_, Failure>>()?;
            reproduce_bgv::run(
                &reproduce_bgv::Request {
                    sets,
                    mode: arguments.mode,
                    runs: runs(5),
                    threads: Vec::new(),
                    budget,
                    allow_insecure: arguments.allow_insecure,
                },
                output,
            )
        }
        Suite::SchemeSwitching => {
            let known = LinkPreset::all().iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
            let sets = named(&arguments.set, &known, |name| {
                LinkPreset::named(name).ok().map(|set| set.name.to_owned())
            })?;
            if arguments.peer.is_some() && (arguments.crossing || sets.len() > 1) {
                return Err(Failure::usage(
                    "--peer runs beside the argmin of one set: leave --crossing out, and give at most one --set",
                ));
            }
            if arguments.crossing {
                let request = reproduce_crossing::Request { sets, runs: runs(3), budget };
                return reproduce_crossing::run(&request, output);
            }
            let request = reproduce_switching::Request {
                sets,
                runs: runs(10),
                openfhe: arguments.peer.is_some(),
                budget,
            };
            reproduce_switching::run(&request, output)
        }
        Suite::Demystifying => {
            let known = reproduce_demystifying::sets()?;
            let find = |name: &str| known.iter().find(|known| *known == name).cloned();
            let sets = named(&arguments.set, &known.join(", "), find)?;
            let request =
                reproduce_demystifying::Request { sets, runs: runs(3), gate_runs: runs(30), budget };
            reproduce_demystifying::run(&request, output)
        }
        Suite::CkksOpenfhe => super::reproduce_openfhe::run(runs(3), budget, output),
        Suite::ModularReduction => {
            let sets = named(&arguments.set, "own, paper, toy", |name| Set::from_str(name, true).ok())?;
            let tables = arguments.table.iter().filter_map(|table| table.parse::<u8>().ok()).collect();
            let request = reproduce_modular::Request { tables, sets, runs: runs(1), budget };
            if arguments.rings && !request.tables.is_empty() {
                return Err(Failure::usage(
                    "--table with --rings: products are of no table; give one of the two",
                ));
            }
            if arguments.rings {
                return reproduce_modular::rings::run(&request, output);
            }
            reproduce_modular::run(&request, output)
        }
    }
}

/// The sets that `--set` names.
fn named<T>(names: &[String], known: &str, find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Failure> {
    let unknown = |name: &String| Failure::usage(format!("--set {name}: this suite has {known}"));
    names.iter().map(|name| find(name).ok_or_else(|| unknown(name))).collect()
}

fn seal_set(name: &str) -> Option<u32> {
    name.parse().ok().filter(|set| (1..=12).contains(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_a_suite_lacks_are_refused_with_those_it_has() {
        assert_eq!(named(&["12".into()], "1 to 12", seal_set).unwrap(), [12]);
        assert!(named(&["13".into()], "1 to 12", seal_set).unwrap_err().detail.contains("1 to 12"));
    }
}
