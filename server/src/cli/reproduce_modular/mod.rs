//! `refloat reproduce modular-reduction`: the tables of Kim, Noh, "Modular Reduction in CKKS", beside measurements on this machine.

mod baseline;
mod bits;
pub mod rings;

use std::time::Instant;

use clap::ValueEnum;
use rayon::ThreadPool;
use refloat::bootstrapping::ckks_msb::{
    MsbEvaluator, MsbKeys, MsbParams, MsbRun, MsbSecretKey, Numbers, Radix, Readout, Rounding,
};
use refloat::bootstrapping::raising::{RaisingParams, ReductionSpec};
use refloat::params::msb_preset;
use refloat::random::{Seed, Stream};
use refloat::schemes::ckks::{Ciphertext, Complex};
use serde::Serialize;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::machine::{self, Machine};
use crate::cli::measure::{self, Precision};
use crate::cli::output::{Output, table};
use crate::cli::progress;
use crate::memory_plan::MemoryPlan;

/// Source of the published figures.
const SOURCE: &str =
    "Kim, Noh, \"Modular Reduction in CKKS\": HEaaN, Intel Xeon Gold 6242, 2.8 GHz, one thread, 2^15 slots";

/// The base of the digits.
const BASE: u32 = 32;

/// A set that the tables are made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Set {
    /// msb16: primes of 48 bits.
    Own,
    /// msb16-paper: Parameters I, primes of 42 bits.
    Paper,
    /// toy-msb11, to see the rows in seconds: INSECURE, and nothing published is of its size.
    Toy,
}

impl Set {
    fn preset(self) -> &'static str {
        match self {
            Self::Own => "msb16",
            Self::Paper => "msb16-paper",
            Self::Toy => "toy-msb11",
        }
    }
}

/// What to measure.
pub struct Request {
    /// Numbers of tables; all if empty.
    pub tables: Vec<u8>,
    /// Sets; [`Set::Own`] if empty.
    pub sets: Vec<Set>,
    /// Runs of each row; the fastest time counts, and the worst precision.
    pub runs: usize,
    /// Bytes that may be taken.
    pub budget: Option<u64>,
}

/// A system of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    /// Multiples of 1/T, refreshed.
    IntBoot,
    /// Reals, refreshed and rounded to multiples of 1/T.
    Boot,
    /// Multiples of 1/T below a bound, modulo 1.
    IntMod { log_bound: u32 },
    /// Reals below a bound, modulo 1.
    Mod { log_bound: u32 },
    /// Reals in blocks of log2 T bits.
    Blocks { count: u32 },
}

/// A row of Tables 5 to 8: seconds, and bits of the mean and of the largest error.
struct Published {
    table: u8,
    system: System,
    digits: usize,
    figures: Option<[f64; 3]>,
}

const fn row(table: u8, system: System, digits: usize, figures: [f64; 3]) -> Published {
    Published { table, system, digits, figures: Some(figures) }
}

/// Tables 5 to 8. The rows of Table 6 are in the only order that fits its times and the text. Where the text gives the mean of
/// Table 8, it means the largest error.
const PUBLISHED: [Published; 28] = [
    row(5, System::IntBoot, 1, [14.7, 30.0, 25.7]),
    row(5, System::IntBoot, 2, [28.9, 30.0, 25.4]),
    row(5, System::IntBoot, 3, [42.6, 28.5, 22.1]),
    row(5, System::Boot, 1, [14.8, 3.32, 1.00]),
    row(5, System::Boot, 2, [28.7, 8.32, 5.74]),
    row(5, System::Boot, 3, [43.7, 13.3, 10.8]),
    row(6, System::IntMod { log_bound: 0 }, 1, [14.5, 30.0, 25.1]),
    row(6, System::IntMod { log_bound: 0 }, 2, [28.7, 30.0, 25.2]),
    row(6, System::IntMod { log_bound: 0 }, 3, [42.8, 28.5, 22.9]),
    row(6, System::IntMod { log_bound: 10 }, 1, [14.8, 30.0, 25.1]),
    row(6, System::IntMod { log_bound: 10 }, 2, [29.2, 29.9, 25.6]),
    row(6, System::IntMod { log_bound: 10 }, 3, [43.3, 28.1, 23.0]),
    row(6, System::IntMod { log_bound: 20 }, 1, [15.3, 20.1, 15.5]),
    row(6, System::IntMod { log_bound: 20 }, 2, [29.2, 14.9, 9.17]),
    row(6, System::IntMod { log_bound: 20 }, 3, [45.3, 3.24, 1.00]),
    row(7, System::Mod { log_bound: 0 }, 1, [14.4, 3.32, 1.00]),
    row(7, System::Mod { log_bound: 0 }, 2, [28.5, 8.32, 5.69]),
    row(7, System::Mod { log_bound: 0 }, 3, [43.2, 13.3, 10.7]),
    row(7, System::Mod { log_bound: 10 }, 1, [14.0, 3.32, 1.00]),
    row(7, System::Mod { log_bound: 10 }, 2, [27.3, 8.32, 5.73]),
    row(7, System::Mod { log_bound: 10 }, 3, [41.9, 13.3, 10.8]),
    row(7, System::Mod { log_bound: 20 }, 1, [15.1, 3.32, 1.00]),
    row(7, System::Mod { log_bound: 20 }, 2, [30.1, 8.32, 5.55]),
    row(7, System::Mod { log_bound: 20 }, 3, [44.9, 13.3, 10.6]),
    row(8, System::Blocks { count: 2 }, 1, [29.9, 3.58, 0.522]),
    row(8, System::Blocks { count: 2 }, 2, [58.4, 17.8, 12.7]),
    row(8, System::Blocks { count: 2 }, 3, [86.7, 27.8, 23.3]),
    Published { table: 8, system: System::Blocks { count: 3 }, digits: 2, figures: None },
];

/// One row, published and measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    suite: &'static str,
    table: u8,
    #[serde(rename = "row")]
    system: String,
    params: &'static str,
    digits: usize,
    published_seconds: Option<f64>,
    seconds: Option<f64>,
    published_mean_bits: Option<f64>,
    mean_bits: Option<f64>,
    published_worst_bits: Option<f64>,
    worst_bits: Option<f64>,
    /// Milliseconds per real number; there are 2^15 slots, and the paper divides by 2^14.
    milliseconds_per_slot: Option<f64>,
    threads: usize,
    note: String,
}

/// Measures and prints.
///
/// # Errors
/// [`Failure`] for sets that do not fit the memory, and those of the library.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let sets = if request.sets.is_empty() { &[Set::Own][..] } else { &request.sets };
    let wanted = |table: u8| request.tables.is_empty() || request.tables.contains(&table);
    let mut rows = Vec::new();
    for set in sets {
        let bench = Bench::new(set.preset(), request.runs, request.budget, output)?;
        for published in PUBLISHED.iter().filter(|published| wanted(published.table)) {
            rows.push(bench.row(published, output)?);
        }
        if wanted(10) {
            rows.extend(bench.bits(output)?);
        }
        // The keys of the baseline would not fit beside these.
        drop(bench);
        if wanted(10) {
            rows.extend(baseline::rows(*set, request, output)?);
        }
    }
    let value = json!({ "suite": "modular-reduction", "source": SOURCE, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &machine, request.runs))
}

/// Fresh keys and evaluator of a set, and one thread.
pub struct Bench {
    /// Name of the set.
    pub preset: &'static str,
    /// The set.
    pub params: MsbParams,
    /// The secret key.
    pub secret: MsbSecretKey,
    /// The evaluation keys.
    pub keys: MsbKeys,
    /// The evaluator.
    pub evaluator: MsbEvaluator,
    /// The thread.
    pub pool: ThreadPool,
    runs: usize,
}

/// The memory plan for a set and its keys within `budget` bytes, or within the available memory.
fn resident<R: ReductionSpec>(params: &RaisingParams<R>, budget: Option<u64>) -> Result<MemoryPlan, Failure> {
    let budget = budget.or_else(machine::available_memory);
    MemoryPlan::resident(params, budget)
        .map_err(|needed| Failure::memory(params.name(), needed, budget.unwrap_or(0)))
}

/// Figures to compare: the seconds of the fastest run, and the worst precision.
struct Measured {
    seconds: f64,
    precision: Precision,
}

impl Bench {
    /// Makes keys for `runs` runs of each row, within `budget` bytes.
    ///
    /// # Errors
    /// [`Failure`] for an unknown set or one that does not fit the memory, and the library's errors.
    pub fn new(
        preset: &'static str,
        runs: usize,
        budget: Option<u64>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let params = msb_preset(preset)?.params()?;
        let plan = resident(&params, budget)?;
        let spinner = progress::spinner(output, &format!("{preset}: making keys"));
        let secret = MsbSecretKey::generate(&params, &fresh_seed()?);
        let keys = MsbKeys::generate(&secret)?;
        spinner.set_message(format!("{preset}: encoding diagonals"));
        let evaluator = MsbEvaluator::new(&params, plan.storage())?;
        spinner.finish_and_clear();
        Ok(Self { preset, params, secret, keys, evaluator, pool: measure::pool(1)?, runs })
    }

    fn encrypt(&self, values: &[f64], level: usize) -> Result<Ciphertext<u64>, Failure> {
        let slots: Vec<Complex> = values.iter().map(|&x| Complex::new(x, 0.0)).collect();
        Ok(self.secret.encrypt(&slots, level, &fresh_seed()?)?)
    }

    fn decrypt(&self, x: &Ciphertext<u64>) -> Result<Vec<f64>, Failure> {
        Ok(self.secret.decrypt(x)?.reveal_to_key_owner().iter().map(|z| z.re).collect())
    }

    /// Runs one system on fresh inputs; the inner error is the reason why the set refuses it.
    fn measure(&self, system: System, digits: usize) -> Result<Result<Measured, String>, Failure> {
        let radix = Radix::new(&vec![BASE; digits])?;
        let modulus = radix.modulus() as f64;
        let mut best: Option<Measured> = None;
        for _ in 0..self.runs {
            let input = Input::draw(system, modulus, self.params.slots(), &fresh_seed()?);
            let x = self.encrypt(&input.values, self.params.levels().input + input.above)?;
            let began = Instant::now();
            let result = self.pool.install(|| match system {
                System::IntBoot | System::IntMod { .. } => {
                    // The paper's bases, however large the numbers are: the stated bound of 1 does not hold for all of them.
                    let numbers = Numbers::up_to(&x, 1.0);
                    self.evaluator.int_boot(numbers, &radix, &self.keys, &mut ())
                }
                System::Boot | System::Mod { .. } => {
                    self.evaluator.boot(&x, &radix, false, &self.keys, &mut ())
                }
                System::Blocks { count } => {
                    self.evaluator.boot_blocks(&x, &radix, count, &self.keys, &mut ())
                }
            });
            let seconds = began.elapsed().as_secs_f64();
            let result = match result {
                Err(refloat::Error::InvalidArgument(why) | refloat::Error::LevelMismatch(why)) => {
                    return Ok(Err(format!("refused: {why}")));
                }
                result => result?,
            };
            let precision = input.precision(&self.decrypt(&result)?);
            best = Some(match best {
                None => Measured { seconds, precision },
                Some(best) => best.and(&Measured { seconds, precision }),
            });
        }
        Ok(best.ok_or_else(|| "no run".to_owned()))
    }

    /// Whether integers below a stated bound are refused with `digits` digits, because of the noise that the bound implies.
    fn refuses(&self, digits: usize, log_bound: u32) -> Result<bool, Failure> {
        let readout = Readout::digits(&Radix::new(&vec![BASE; digits])?)?;
        let x = self.encrypt(&[0.0], self.params.levels().input)?;
        let numbers = Numbers::up_to(&x, f64::from(1u32 << log_bound));
        Ok(MsbRun::new(&self.evaluator, numbers, &readout, Rounding::None).is_err())
    }

    fn row(&self, published: &Published, output: &Output) -> Result<Row, Failure> {
        let Published { table, system, digits, figures } = *published;
        let spinner = progress::spinner(output, &format!("{}: Table {table}, {}", self.preset, name(system)));
        let measured = self.measure(system, digits)?;
        spinner.finish_and_clear();
        let (measured, mut notes) = match measured {
            Ok(measured) => (Some(measured), Vec::new()),
            Err(why) => (None, vec![why]),
        };
        if let (Some([_, mean, worst]), Some(measured)) = (figures, &measured) {
            let short = |what: &str, published: f64, own: f64| {
                (own < published).then(|| format!("{:.1} bits below the published {what}", published - own))
            };
            notes.extend(short("mean", mean, measured.precision.mean));
            notes.extend(short("worst slot", worst, measured.precision.worst));
        }
        if let (System::IntMod { log_bound }, Some(_)) = (system, &measured)
            && self.refuses(digits, log_bound)?
        {
            notes.push("refused in these bases where the bound of the numbers is stated".to_owned());
        }
        if let (System::Blocks { .. }, Some(_)) = (system, figures) {
            notes.push("error over the range".to_owned());
        }
        if matches!(system, System::Boot | System::Mod { .. } | System::Blocks { .. }) {
            notes.push("rounded under the ephemeral secret, the published under the main one: 1.3 bits of the difference".to_owned());
        }
        Ok(Row {
            suite: "modular-reduction",
            table,
            system: name(system),
            params: self.preset,
            digits,
            published_seconds: figures.map(|[seconds, ..]| seconds),
            seconds: measured.as_ref().map(|measured| measured.seconds),
            published_mean_bits: figures.map(|[_, mean, _]| mean),
            mean_bits: measured.as_ref().map(|measured| measured.precision.mean),
            published_worst_bits: figures.map(|[.., worst]| worst),
            worst_bits: measured.as_ref().map(|measured| measured.precision.worst),
            milliseconds_per_slot: measured
                .map(|measured| measured.seconds * 1e3 / self.params.slots() as f64),
            threads: 1,
            note: notes.join("; "),
        })
    }
}

impl Measured {
    /// The faster time, and the lower precision.
    fn and(&self, other: &Self) -> Self {
        let (a, b) = (&self.precision, &other.precision);
        Self {
            seconds: self.seconds.min(other.seconds),
            precision: Precision {
                worst: a.worst.min(b.worst),
                rms: a.rms.min(b.rms),
                mean: a.mean.min(b.mean),
            },
        }
    }
}

/// The input of a system, and the output it should give.
struct Input {
    values: Vec<f64>,
    wanted: Vec<f64>,
    /// Levels above the input level.
    above: usize,
    /// Errors are relative to this range of the numbers.
    range: f64,
    /// Whether a number at one end may come back at the other.
    wraps: bool,
}

impl Input {
    /// Uniform numbers of a system, `modulus` being T.
    fn draw(system: System, modulus: f64, slots: usize, seed: &Seed) -> Self {
        let mut stream = seed.stream();
        let (above, range, bound, integers) = match system {
            System::IntBoot => (0, 1.0, 1.0, true),
            System::Boot => (0, 1.0, 1.0, false),
            System::IntMod { log_bound } => (0, 1.0, f64::from(1u32 << log_bound), true),
            System::Mod { log_bound } => (0, 1.0, f64::from(1u32 << log_bound), false),
            System::Blocks { count } => {
                let range = modulus.powi(count as i32 - 1);
                (count as usize - 1, range, range, false)
            }
        };
        let fraction = |stream: &mut Stream| {
            if integers {
                f64::from(stream.below(modulus as u32)) / modulus
            } else {
                f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX)
            }
        };
        let blocks = matches!(system, System::Blocks { .. });
        let values: Vec<f64> = (0..slots)
            .map(|_| {
                if blocks {
                    return bound * fraction(&mut stream);
                }
                f64::from(stream.below(bound as u32)) + fraction(&mut stream)
            })
            .collect();
        let wanted = values.iter().map(|x| if blocks { *x } else { x.fract() }).collect();
        Self { values, wanted, above, range, wraps: !integers }
    }

    /// Precision from the errors over the range; if the numbers wrap around, an error is the distance around the circle.
    fn precision(&self, found: &[f64]) -> Precision {
        let errors: Vec<f64> = found
            .iter()
            .zip(&self.wanted)
            .map(|(x, y)| {
                let error = (x - y).abs() / self.range;
                if self.wraps { error.min((1.0 - error).abs()) } else { error }
            })
            .collect();
        Precision::of(&errors, &vec![0.0; errors.len()])
    }
}

fn name(system: System) -> String {
    let below = |log: u32| if log == 0 { "below 1".to_owned() } else { format!("below 2^{log}") };
    match system {
        System::IntBoot => "IntBoot".to_owned(),
        System::Boot => "Boot".to_owned(),
        System::IntMod { log_bound } => format!("IntMod, {}", below(log_bound)),
        System::Mod { log_bound } => format!("Mod, {}", below(log_bound)),
        System::Blocks { count } => format!("Boot^{count}"),
    }
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let heading = [
        "table",
        "row",
        "set",
        "digits",
        "s published",
        "ours",
        "mean published",
        "ours",
        "worst published",
        "ours",
        "ms a slot",
        "note",
    ];
    let number =
        |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.table.to_string(),
            row.system.clone(),
            row.params.to_owned(),
            row.digits.to_string(),
            number(row.published_seconds, 1),
            number(row.seconds, 2),
            number(row.published_mean_bits, 2),
            number(row.mean_bits, 2),
            number(row.published_worst_bits, 2),
            number(row.worst_bits, 2),
            number(row.milliseconds_per_slot, 3),
            row.note.clone(),
        ]
    }));
    format!(
        "published: {SOURCE}\nmeasured:  {}, one thread, fastest of {runs}, real slots; bits of the mean and of the largest error\n\n{}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_the_range_and_around_the_circle() {
        let input = Input { values: vec![], wanted: vec![0.25, 0.001], above: 0, range: 1.0, wraps: true };
        let found = input.precision(&[0.25, 0.999]);
        assert!((found.worst - -(0.002f64.log2())).abs() < 1e-6, "{found:?}");
        let integers = Input { wraps: false, ..input };
        assert!(integers.precision(&[0.25, 0.999]).worst < 0.01);
        let seed = Seed::from_bytes([1; 32]);
        let blocks = Input::draw(System::Blocks { count: 2 }, 1024.0, 4096, &seed);
        assert!(
            blocks.above == 1 && blocks.values.iter().any(|&x| x > 1000.0) && blocks.values == blocks.wanted
        );
        let large = Input::draw(System::IntMod { log_bound: 20 }, 1024.0, 4096, &seed);
        assert!(large.values.iter().any(|&x| x > f64::from(1 << 19)));
        assert!(large.wanted.iter().all(|x| (0.0..1.0).contains(x) && (x * 1024.0).fract() == 0.0));
    }

    #[test]
    fn the_toy_set_gives_every_kind_of_row() {
        let output = Output::new(true);
        let bench = Bench::new(Set::Toy.preset(), 1, None, &output).unwrap();
        let kinds = [
            System::IntBoot,
            System::Boot,
            System::IntMod { log_bound: 20 },
            System::Mod { log_bound: 20 },
            System::Blocks { count: 2 },
        ];
        for system in kinds {
            let published = PUBLISHED.iter().find(|row| row.system == system && row.digits == 2).unwrap();
            let row = bench.row(published, &output).unwrap();
            let [_, mean, worst] = published.figures.unwrap();
            assert!(row.mean_bits >= Some(mean) && row.worst_bits >= Some(worst), "{row:?}");
        }
        let [bits, number] = bench.bits(&output).unwrap();
        assert!(bits.mean_bits > Some(31.0) && bits.note.contains(" 0 of 1024"), "{bits:?}");
        assert!(number.mean_bits > Some(10.9) && number.worst_bits > Some(9.46), "{number:?}");
    }
}
