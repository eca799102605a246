//! `refloat reproduce scheme-switching --crossing`: the number of comparisons from which digits are cheaper than gates.
//!
//! Gates compare one pair per rotation, and switching to gates and back costs the same for any number of pairs. Digits compare all slots
//! of a ciphertext at once, in as many passes as the numbers have digits. So gates are cheaper for few comparisons, digits for many.

use std::time::Instant;

use rayon::ThreadPool;
use refloat::Error;
use refloat::bootstrapping::ckks_msb::{Radix, Rounding};
use refloat::bootstrapping::scheme_switching::{
    LinkEvaluator, LinkKeys, LinkParams, LinkPreset, LinkSecretKey, Range, Reduction,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Stream;
use refloat::schemes::ckks::Complex;
use serde::Serialize;
use serde_json::json;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::machine::{self, Machine};
use super::measure;
use super::output::{Output, table};
use super::progress;
use super::reproduce_modular::Bench;

/// Source of the figure to compare with.
const SOURCE: &str = "Al Badawi, Polyakov, \"Demystifying Bootstrapping in Fully Homomorphic Encryption\" (ePrint 2023/149), section 6: \
                      scheme switching for up to 100 slots";

/// The survey's rule: the number of comparisons up to which gates are cheaper.
const PUBLISHED: f64 = 100.0;

/// Numbers of comparisons by gates that are measured: two, to tell the fixed cost from the cost of each.
const COUNTS: [usize; 2] = [16, 64];

/// Bits of numbers that are compared exactly.
const BITS: [u32; 2] = [5, 10];

/// Real numbers are odd multiples of 1/`STEPS`, so at least that far from the threshold of 1/2.
const STEPS: u32 = 32;

/// What to measure.
pub struct Request {
    /// Names of sets that link numbers to gates; where none is given, the default.
    pub sets: Vec<String>,
    /// Runs of each measurement; the fastest counts.
    pub runs: usize,
    /// Bytes that may be taken.
    pub budget: Option<u64>,
}

/// One kind of comparison, by gates and by digits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    numbers: String,
    gates: &'static str,
    /// Rotations per comparison.
    rotations: usize,
    /// Seconds of switching to gates and back, and of one comparison.
    gates_fixed: f64,
    gates_each: f64,
    digits: &'static str,
    passes: usize,
    /// Comparisons of one ciphertext, and seconds of all of them.
    slots: usize,
    digits_seconds: f64,
    published: f64,
    /// Number of comparisons from which on digits are cheaper; `None` if more comparisons by gates took no longer, which noise may cause.
    crossing: Option<f64>,
    /// Most comparisons whose bits come back to slots at once. A crossing beyond that ignores that they come back in several lots.
    at_once: usize,
    /// Wrong comparisons, both ways together.
    wrong: usize,
}

/// Measures and prints.
///
/// # Errors
/// [`Failure`] for an unknown set, for too little memory, and after printing if a comparison was wrong.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let own = vec![LinkPreset::all()[0].name.to_owned()];
    let mut rows = Vec::new();
    for name in if request.sets.is_empty() { &own } else { &request.sets } {
        rows.extend(measured(name, request, output)?);
    }
    let value =
        json!({ "suite": "scheme-switching-crossing", "source": SOURCE, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &machine, request.runs))?;
    match rows.iter().map(|row| row.wrong).sum::<usize>() {
        0 => Ok(()),
        wrong => Err(Failure {
            code: "WRONG_RESULT".to_owned(),
            detail: format!("{wrong} comparisons were wrong; please report this"),
        }),
    }
}

/// The set for modular reduction to compare with a set that links numbers to gates.
fn digits_beside(link: &LinkPreset) -> &'static str {
    if link.secure() { "msb16" } else { "toy-msb11" }
}

/// Seconds of one way, and its wrong comparisons.
struct Timed {
    seconds: f64,
    wrong: usize,
}

fn measured(name: &str, request: &Request, output: &Output) -> Result<Vec<Row>, Failure> {
    let preset = LinkPreset::named(name)?;
    let mut stream = fresh_seed()?.stream();
    let gates = Gates::new(preset, request, output)?;
    let reals = format!("reals, 1/{STEPS} from the threshold; {} bits by digits", BITS[0]);
    let kinds = [(reals, Range::Unit, BITS[0])]
        .into_iter()
        .chain(BITS.map(|bits| (format!("{bits} bits, exactly"), Range::Grid { bits }, bits)));
    let mut found = Vec::new();
    for (numbers, range, bits) in kinds {
        let comparison = match gates.params.comparison(range, gates.params.ckks().scale()) {
            Ok(comparison) => comparison,
            // A toy has too much noise for the steps of a fine grid.
            Err(Error::Limit(why)) => {
                output.note(&format!("{name}: {numbers}: {why}"));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let spinner = progress::spinner(output, &format!("{name}: {numbers}"));
        let few = gates.compare(COUNTS[0], range, request.runs, &mut stream)?;
        let many = gates.compare(COUNTS[1], range, request.runs, &mut stream)?;
        spinner.finish_and_clear();
        found.push((numbers, bits, comparison.rotations(), few, many));
    }
    // One set in memory at a time.
    let at_once = gates.params.most_bits();
    drop(gates);
    let digits = Bench::new(digits_beside(preset), request.runs, request.budget, output)?;
    let mut rows = Vec::new();
    for (numbers, bits, rotations, few, many) in found {
        let spinner = progress::spinner(output, &format!("{}: {numbers}", digits.preset));
        let radix = Radix::of_modulus(2 << bits, digits.params.largest_base())?;
        let all = by_digits(&digits, &radix, request.runs, &mut stream)?;
        spinner.finish_and_clear();
        let [fixed, each] = line([COUNTS[0] as f64, few.seconds], [COUNTS[1] as f64, many.seconds]);
        rows.push(Row {
            numbers,
            gates: preset.name,
            rotations,
            gates_fixed: fixed,
            gates_each: each,
            digits: digits.preset,
            passes: radix.bases().len(),
            slots: digits.params.slots(),
            digits_seconds: all.seconds,
            published: PUBLISHED,
            crossing: crossing([fixed, each], all.seconds),
            at_once,
            wrong: few.wrong + many.wrong + all.wrong,
        });
    }
    Ok(rows)
}

/// The fixed cost and the cost of each, from the costs of two counts.
fn line([few, cost_of_few]: [f64; 2], [many, cost_of_many]: [f64; 2]) -> [f64; 2] {
    let each = (cost_of_many - cost_of_few) / (many - few);
    [cost_of_few - few * each, each]
}

/// The count at which a cost with a fixed part and a part for each reaches `other`: 0 if it is above `other` from the start, `None` if
/// it does not grow.
fn crossing([fixed, each]: [f64; 2], other: f64) -> Option<f64> {
    (each > 0.0).then(|| ((other - fixed) / each).max(0.0))
}

/// The fastest of some runs, with the wrong comparisons of all of them.
fn fastest(runs: usize, mut run: impl FnMut() -> Result<Timed, Failure>) -> Result<Timed, Failure> {
    let mut best = Timed { seconds: f64::INFINITY, wrong: 0 };
    for _ in 0..runs.max(1) {
        let Timed { seconds, wrong } = run()?;
        best = Timed { seconds: best.seconds.min(seconds), wrong: best.wrong + wrong };
    }
    Ok(best)
}

/// Comparisons by gates.
struct Gates {
    params: LinkParams<Reduction>,
    secret: LinkSecretKey<Reduction>,
    evaluator: LinkEvaluator<Reduction>,
    pool: ThreadPool,
}

impl Gates {
    fn new(preset: &LinkPreset, request: &Request, output: &Output) -> Result<Self, Failure> {
        let params = preset.params()?;
        machine::check_memory(params.name(), params.expanded_key_bytes(), request.budget)?;
        let spinner = progress::spinner(output, &format!("{}: making keys", preset.name));
        let secret = LinkSecretKey::generate(&params, &fresh_seed()?);
        let keys = LinkKeys::generate(&secret)?;
        let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Evaluated)?;
        spinner.finish_and_clear();
        Ok(Self { params, secret, evaluator, pool: measure::pool(1)? })
    }

    /// Compares `count` numbers with 1/2, from slots to slots.
    fn compare(
        &self,
        count: usize,
        range: Range,
        runs: usize,
        stream: &mut Stream,
    ) -> Result<Timed, Failure> {
        let slots: Vec<usize> = (0..count).collect();
        fastest(runs, || {
            let number = |_| match range {
                Range::Grid { bits } => f64::from(stream.below(1 << bits)) / f64::from(1u32 << bits),
                _ => f64::from(2 * stream.below(STEPS / 2) + 1) / f64::from(STEPS),
            };
            let numbers: Vec<f64> = slots.iter().map(number).collect();
            let message: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
            let x = self.secret.ckks().encrypt(&message, self.params.input_level(), &fresh_seed()?)?;
            let began = Instant::now();
            let larger = self.pool.install(|| {
                let phases = self.evaluator.extract(&x, &slots, range, &mut ())?;
                let bits = self.evaluator.all_above(&phases, 0.5, &mut ())?;
                self.evaluator.to_slots(&bits, &mut ())
            })?;
            let seconds = began.elapsed().as_secs_f64();
            let found = self.secret.ckks().decrypt(&larger)?;
            let is_wrong =
                |(slot, x): &(&Complex, &f64)| (slot.re - f64::from(u8::from(**x >= 0.5))).abs() > 0.25;
            let wrong = found.reveal_to_key_owner().iter().zip(&numbers).filter(is_wrong).count();
            Ok(Timed { seconds, wrong })
        })
    }
}

/// Comparisons by digits: the number in each slot with another one, both below half the modulus of the digits.
fn by_digits(bench: &Bench, radix: &Radix, runs: usize, stream: &mut Stream) -> Result<Timed, Failure> {
    let modulus = radix.modulus() as u32;
    let level = bench.params.levels().input;
    fastest(runs, || {
        let mut drawn =
            || -> Vec<u32> { (0..bench.params.slots()).map(|_| stream.below(modulus / 2)).collect() };
        let [x, y] = [drawn(), drawn()];
        let encrypt = |numbers: &[u32]| -> Result<_, Failure> {
            let slot = |&k: &u32| Complex::new(f64::from(k) / f64::from(modulus), 0.0);
            let message: Vec<Complex> = numbers.iter().map(slot).collect();
            Ok(bench.secret.encrypt(&message, level, &fresh_seed()?)?)
        };
        let both = (&encrypt(&x)?, &encrypt(&y)?);
        let began = Instant::now();
        let larger = bench
            .pool
            .install(|| bench.evaluator.at_least(both, radix, Rounding::None, &bench.keys, &mut ()))?;
        let seconds = began.elapsed().as_secs_f64();
        let found = bench.secret.decrypt(&larger)?;
        let wanted = x.iter().zip(&y).map(|(x, y)| f64::from(u8::from(x >= y)));
        let is_wrong = |(slot, wanted): &(&Complex, f64)| (slot.re - wanted).abs() > 0.25;
        let wrong = found.reveal_to_key_owner().iter().zip(wanted).filter(is_wrong).count();
        Ok(Timed { seconds, wrong })
    })
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let heading = [
        "numbers",
        "gates",
        "rotations",
        "there and back",
        "each",
        "digits",
        "passes",
        "all slots",
        "slots",
        "published",
        "crossing",
        "wrong",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.numbers.clone(),
            row.gates.to_owned(),
            row.rotations.to_string(),
            format!("{:.3} s", row.gates_fixed),
            format!("{:.2} ms", 1e3 * row.gates_each),
            row.digits.to_owned(),
            row.passes.to_string(),
            format!("{:.3} s", row.digits_seconds),
            row.slots.to_string(),
            format!("{:.0}", row.published),
            match row.crossing {
                None => "-".to_owned(),
                Some(count) if count > row.at_once as f64 => format!("over {}", row.at_once),
                Some(count) => format!("{count:.0}"),
            },
            row.wrong.to_string(),
        ]
    }));
    format!(
        "published: {SOURCE}\nmeasured:  {}, one thread, fastest of {runs}; fewer comparisons than the crossing are cheaper by gates\n\n{}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_where_they_are_equal() {
        let costs = line([16.0, 1.2], [64.0, 1.68]);
        assert!((costs[0] - 1.04).abs() < 1e-12 && (costs[1] - 0.01).abs() < 1e-12, "{costs:?}");
        let at = crossing(costs, 3.04).unwrap();
        assert!((at - 200.0).abs() < 1e-9 && (costs[0] + at * costs[1] - 3.04).abs() < 1e-9);
        assert!(crossing(costs, 0.5).unwrap().abs() < 1e-12);
        assert_eq!(crossing([1.0, 0.0], 3.0), None);
    }

    #[test]
    fn both_ways_compare_rightly_on_toys() {
        let request = Request { sets: Vec::new(), runs: 1, budget: None };
        let rows = measured("toy-link", &request, &Output::new(true)).unwrap();
        // Real numbers, and at least one grid: that of five bits.
        assert!(rows.len() >= 2 && rows.iter().all(|row| row.wrong == 0), "{rows:?}");
        assert_eq!((rows[0].rotations, rows[0].passes, rows[0].digits), (1, 1, "toy-msb11"));
        assert!(rows[1].rotations >= 1 && rows[1].numbers.starts_with("5 bits"));
        assert!(text(&rows, &Machine::here(), 1).contains("crossing"));
        let small = Request { budget: Some(1 << 20), ..request };
        assert!(measured("n15+fbs16-50", &small, &Output::new(true)).is_err());
    }
}
