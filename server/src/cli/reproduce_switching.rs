//! `refloat reproduce scheme-switching`: from slots to gates and back, and the largest of sixteen numbers.

use std::time::Instant;

use refloat::bootstrapping::scheme_switching::{
    LinkEvaluator, LinkKeys, LinkParams, LinkPreset, LinkSecretKey, Range, Reduction,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Stream;
use refloat::schemes::ckks::{Ciphertext, Complex};
use serde::Serialize;
use serde_json::json;

use super::bench::thread_counts;
use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::machine::{self, Machine};
use super::measure;
use super::output::{Output, table};
use super::peer::openfhe;
use super::progress;

/// Source to compare with.
const SOURCE: &str = "Al Badawi, Polyakov, \"Demystifying Bootstrapping in Fully Homomorphic Encryption\" (ePrint 2023/149), has no figure \
                      of an argmax: its rule is to compare up to 100 slots by scheme switching";

/// How many numbers are ranked.
const COUNT: usize = 16;

/// The least distance between them, as a share of the range.
const DISTANCE: f64 = 1.0 / 29.0;

/// Slots whose phases are measured.
const PHASES: usize = 512;

/// log2 of the share of close numbers to be compared wrongly, from which the deviation is estimated: one in eight.
const CLOSE: f64 = -3.0;

/// How often bits are brought back to slots.
const BIT_RUNS: usize = 4;

/// What to measure.
pub struct Request {
    /// Names of sets; where none is given, the default.
    pub sets: Vec<String>,
    /// Rankings for each number of threads; the fastest counts, and all of them have to be right.
    pub runs: usize,
    /// Whether to measure OpenFHE as well, on the same machine in the same run.
    pub openfhe: bool,
    /// Bytes that may be taken.
    pub budget: Option<u64>,
}

/// One figure.
#[derive(Debug, Serialize)]
struct Row {
    suite: &'static str,
    metric: String,
    /// The noise model's value, if the figure is one of noise.
    model: Option<f64>,
    measured: f64,
    unit: &'static str,
    threads: Option<usize>,
    params: &'static str,
    machine: String,
    note: String,
}

/// The metric of the deviation of signs.
const SIGNS: &str = "signs, deviation";

/// The metric of the whole of a ranking.
const ARGMAX: &str = "argmax of 16, slots to slots";

/// The metric that decides whether a run succeeded.
const WRONG: &str = "wrong winners";

/// Measures and prints.
///
/// # Errors
/// [`Failure`] for an unknown set, for too little memory, and after printing if a winner was wrong.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let own = vec![LinkPreset::all()[0].name.to_owned()];
    let mut rows = Vec::new();
    for name in if request.sets.is_empty() { &own } else { &request.sets } {
        rows.extend(Bench::new(name, request, output)?.rows(&machine, request.runs, output)?);
    }
    let beside = if request.openfhe { Some(peer(&mut rows, &machine, request, output)?) } else { None };
    let value = json!({
        "suite": "scheme-switching", "source": SOURCE, "machine": machine, "rows": rows, "openfhe": beside,
    });
    output.result(&value, || {
        let own = text(&rows, &machine, request.runs);
        beside.as_ref().map_or(own.clone(), |beside| format!("{own}\nOpenFHE: {beside}\n"))
    })?;
    let wrong: f64 = rows.iter().filter(|row| row.metric == WRONG).map(|row| row.measured).sum();
    if wrong < 0.5 {
        return Ok(());
    }
    Err(Failure {
        code: "WRONG_RESULT".to_owned(),
        detail: format!("{wrong} of the largest numbers were not found; please report this"),
    })
}

/// Adds a row for OpenFHE's argmin beside ours on one thread. Returns in words what was measured, or why nothing was.
fn peer(
    rows: &mut Vec<Row>,
    machine: &Machine,
    request: &Request,
    output: &Output,
) -> Result<String, Failure> {
    // OpenFHE's runs take so long that three have to do.
    let runs = request.runs.min(3);
    let set = request.sets.first().map_or(LinkPreset::all()[0].name, String::as_str);
    let secure = LinkPreset::named(set)?.secure();
    // Our figures are printed whatever becomes of the other library.
    let theirs = match openfhe::argmin(COUNT, runs, 1, secure, output) {
        Ok(Ok(theirs)) => theirs,
        Ok(Err(why)) => return Ok(format!("not measured: {why}")),
        Err(failure) => return Ok(format!("not measured: {}", failure.detail)),
    };
    let own = rows.iter().find(|row| row.metric == ARGMAX && row.threads == Some(1)).map(|row| row.measured);
    rows.push(Row {
        suite: "scheme-switching",
        metric: "argmin of 16, slots to slots".to_owned(),
        model: None,
        measured: theirs.fastest(),
        unit: "s",
        threads: Some(1),
        params: "OpenFHE",
        machine: machine.line(),
        note: format!("fastest of {runs}, ring of {}, keys made in {:.1} s", theirs.ring, theirs.key_seconds),
    });
    let ratio = own.map_or(f64::NAN, |own| theirs.fastest() / own);
    Ok(format!("{ratio:.2} times the time of ours on one thread; {} of {runs} answers wrong", theirs.wrong))
}

/// Fresh keys and evaluator of a set.
struct Bench {
    name: &'static str,
    params: LinkParams<Reduction>,
    secret: LinkSecretKey<Reduction>,
    evaluator: LinkEvaluator<Reduction>,
}

/// Seconds of a ranking: to gates, comparisons and look-ups, back to slots.
#[derive(Clone, Copy)]
struct Seconds {
    to_gates: f64,
    ranking: f64,
    to_slots: f64,
}

/// Errors of bits in slots.
///
/// The noise of gates moves a bit towards the other value only, because the sine is flat where bits are; the noise of slots moves it either
/// way. So the mean of the signed errors comes from gates, and the deviation from that mean comes almost entirely from slots.
struct BitErrors {
    gates: f64,
    slots: f64,
    mean: f64,
    worst: f64,
}

impl Seconds {
    fn all(self) -> f64 {
        self.to_gates + self.ranking + self.to_slots
    }
}

impl Bench {
    fn new(name: &str, request: &Request, output: &Output) -> Result<Self, Failure> {
        let preset = LinkPreset::named(name)?;
        let params = preset.params()?;
        machine::check_memory(params.name(), params.expanded_key_bytes(), request.budget)?;
        let spinner = progress::spinner(output, &format!("{name}: making keys"));
        let secret = LinkSecretKey::generate(&params, &fresh_seed()?);
        let keys = LinkKeys::generate(&secret)?;
        spinner.set_message(format!("{name}: encoding diagonals"));
        let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Evaluated)?;
        spinner.finish_and_clear();
        Ok(Self { name: preset.name, params, secret, evaluator })
    }

    fn encrypt(&self, numbers: &[f64]) -> Result<Ciphertext<u64>, Failure> {
        let slots: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
        Ok(self.secret.ckks().encrypt(&slots, self.params.input_level(), &fresh_seed()?)?)
    }

    /// Mean square and maximum of the errors of phases; errors are in turns.
    fn phases(&self, stream: &mut Stream) -> Result<[f64; 2], Failure> {
        let numbers: Vec<f64> =
            (0..PHASES).map(|_| f64::from(stream.below(1 << 20)) / f64::from(1 << 20)).collect();
        let slots: Vec<usize> = (0..PHASES).collect();
        let phases = self.evaluator.extract(&self.encrypt(&numbers)?, &slots, Range::Unit, &mut ())?;
        let (mut sum, mut worst) = (0.0, 0.0f64);
        for (phase, number) in phases.iter().zip(&numbers) {
            let error = self.secret.inspect_phase(phase)? - Range::Unit.turns() * number;
            sum += error * error / PHASES as f64;
            worst = worst.max(error.abs());
        }
        Ok([sum, worst])
    }

    /// The deviation, in turns, of the phases whose signs are compared: by the model, and as estimated from the share of wrong comparisons
    /// of close numbers. The model gives that share once its deviation is multiplied by the ratio of the distances.
    fn signs(&self) -> Result<[f64; 2], Failure> {
        let comparison = self.params.comparison(Range::Unit, self.params.ckks().scale())?;
        let distance = comparison.least_distance(CLOSE).unwrap_or(1.0);
        let first: Vec<f64> = (0..PHASES).map(|i| i as f64 / (2 * PHASES) as f64).collect();
        let second = first.iter().map(|x| x + distance);
        let numbers: Vec<f64> = first.iter().copied().chain(second).collect();
        let slots: Vec<usize> = (0..2 * PHASES).collect();
        let phases = self.evaluator.extract(&self.encrypt(&numbers)?, &slots, Range::Unit, &mut ())?;
        let mut wrong = 0.0;
        for (x, y) in phases.iter().zip(&phases[PHASES..]) {
            let larger = self.evaluator.at_least(y, x, &mut ())?;
            wrong += f64::from(u8::from(!self.secret.cggi().decrypt_bit(&larger)?));
        }
        let model = comparison.deviation().unwrap_or(f64::NAN);
        let as_if = comparison.least_distance((wrong / PHASES as f64).log2()).unwrap_or(f64::NAN);
        Ok([model, model * distance / as_if])
    }

    /// Seconds to bring `count` fresh bits to slots, the fastest of some runs.
    fn way_back(&self, count: usize) -> Result<f64, Failure> {
        let bits = self.secret.cggi().encrypt_bits(&vec![true; count], &fresh_seed()?);
        let mut fastest = f64::INFINITY;
        for _ in 0..BIT_RUNS {
            let began = Instant::now();
            self.evaluator.to_slots(&bits, &mut ())?;
            fastest = fastest.min(began.elapsed().as_secs_f64());
        }
        Ok(fastest)
    }

    /// Errors in slots of `count` random bits that went through a gate.
    fn bits(&self, count: usize, stream: &mut Stream) -> Result<BitErrors, Failure> {
        let mut of = BitErrors { gates: 0.0, slots: 0.0, mean: 0.0, worst: 0.0 };
        let share = 1.0 / (count * BIT_RUNS) as f64;
        let mut square = 0.0;
        for _ in 0..BIT_RUNS {
            let clear: Vec<bool> = (0..count).map(|_| stream.below(2) == 1).collect();
            let bits = self.secret.cggi().encrypt_bits(&clear, &fresh_seed()?);
            let refreshed = bits.iter().map(|bit| self.evaluator.cggi().refresh(bit, &mut ()));
            let bits = refreshed.collect::<Result<Vec<_>, _>>()?;
            let found = self.secret.ckks().decrypt(&self.evaluator.to_slots(&bits, &mut ())?)?;
            for (slot, &bit) in found.reveal_to_key_owner().iter().zip(&clear) {
                let towards_the_other = if bit { 1.0 - slot.re } else { slot.re };
                of.gates += towards_the_other * share;
                square += towards_the_other * towards_the_other * share;
                of.mean += towards_the_other.abs() * share;
                of.worst = of.worst.max(towards_the_other.abs());
            }
        }
        of.slots = (square - of.gates * of.gates).max(0.0).sqrt();
        Ok(of)
    }

    /// Finds the largest of sixteen numbers in a random order, at least [`DISTANCE`] apart. Returns the times and whether it was found.
    fn rank(&self, stream: &mut Stream) -> Result<(Seconds, bool), Failure> {
        let mut numbers: Vec<f64> = (0..COUNT).map(|i| i as f64 * DISTANCE).collect();
        for i in (1..COUNT).rev() {
            numbers.swap(i, stream.below(i as u32 + 1) as usize);
        }
        let x = self.encrypt(&numbers)?;
        let slots: Vec<usize> = (0..COUNT).collect();
        let began = Instant::now();
        let phases = self.evaluator.extract(&x, &slots, Range::Unit, &mut ())?;
        let to_gates = began.elapsed().as_secs_f64();
        let winner = self.evaluator.argmax(&phases, &mut ())?;
        let ranking = began.elapsed().as_secs_f64() - to_gates;
        let mask = self.evaluator.to_slots(&winner, &mut ())?;
        let to_slots = began.elapsed().as_secs_f64() - to_gates - ranking;
        let found = self.secret.ckks().decrypt(&mask)?;
        let largest = (COUNT - 1) as f64 * DISTANCE;
        let right = found.reveal_to_key_owner().iter().take(COUNT).zip(&numbers).all(|(slot, &number)| {
            let wanted = f64::from(u8::from(number >= largest));
            (slot.re - wanted).abs() < 0.25
        });
        Ok((Seconds { to_gates, ranking, to_slots }, right))
    }

    fn rows(&self, machine: &Machine, runs: usize, output: &Output) -> Result<Vec<Row>, Failure> {
        let row = |metric: &str, model: Option<f64>, measured: f64, unit, threads, note: &str| Row {
            suite: "scheme-switching",
            metric: metric.to_owned(),
            model,
            measured,
            unit,
            threads,
            params: self.name,
            machine: machine.line(),
            note: note.to_owned(),
        };
        let mut stream = fresh_seed()?.stream();
        let noise = self.params.noise();
        let spinner = progress::spinner(output, &format!("{}: noise", self.name));
        let [square, worst] = self.phases(&mut stream)?;
        let mut rows = vec![
            row(
                "slots to gates, deviation",
                Some(0.5 * noise.extraction.log2()),
                0.5 * square.log2(),
                "log2 of a turn",
                None,
                "of 512 slots",
            ),
            row("slots to gates, worst", None, worst.log2(), "log2 of a turn", None, "of 512 slots"),
        ];
        spinner.set_message(format!("{}: signs", self.name));
        let [model, measured] = self.signs()?;
        let how = "by the wrong ones of 512 comparisons of numbers that are close";
        rows.push(row(SIGNS, Some(model.log2()), measured.log2(), "log2 of a turn", None, how));
        let runs_of_bits = format!("of {BIT_RUNS} runs");
        let counts: Vec<usize> =
            [64, 1024].into_iter().filter(|&count| count <= self.params.most_bits()).collect();
        let back = |count: usize, metric: &str| format!("gates to slots, {count} bits, {metric}");
        for &count in &counts {
            let of = self.bits(count, &mut stream)?;
            let what = |metric: &str| back(count, metric);
            let model = Some(noise.bit_error(count, 1.0).log2());
            let gates = "mean of the errors towards the other bit";
            rows.push(row(&what("noise of gates"), model, of.gates.max(0.0).log2(), "log2", None, gates));
            rows.push(row(
                &what("noise of slots"),
                None,
                of.slots.log2(),
                "log2",
                None,
                "deviation from that mean",
            ));
            rows.push(row(&what("mean error"), None, of.mean.log2(), "log2", None, "of both"));
            rows.push(row(&what("worst error"), None, of.worst.log2(), "log2", None, &runs_of_bits));
        }
        let comparison = self.params.comparison(Range::Unit, self.params.ckks().scale())?;
        let least = comparison.least_distance(-128.0).unwrap_or(f64::INFINITY);
        let what = "of numbers in [0, 1], for a wrong order with 2^-128";
        rows.push(row("least distance", None, least, "", None, what));
        let mut wrong = 0;
        for threads in thread_counts(&[], machine) {
            spinner.set_message(format!("{}: {threads} thread(s)", self.name));
            let pool = measure::pool(threads)?;
            let mut best: Option<Seconds> = None;
            for _ in 0..runs {
                let (seconds, right) = pool.install(|| self.rank(&mut stream))?;
                wrong += usize::from(!right);
                best = Some(best.filter(|best| best.all() <= seconds.all()).unwrap_or(seconds));
            }
            let Some(best) = best else { continue };
            for &count in &counts {
                let seconds = pool.install(|| self.way_back(count))?;
                rows.push(row(&back(count, "time"), None, seconds, "s", Some(threads), &runs_of_bits));
            }
            let note = format!("fastest of {runs}");
            let rotations = (COUNT * (COUNT - 1) / 2 + COUNT) as f64;
            for (metric, seconds, unit) in [
                (ARGMAX, best.all(), "s"),
                ("slots to gates", best.to_gates, "s"),
                ("120 comparisons and 16 look-ups", best.ranking, "s"),
                ("one of them", best.ranking / rotations * 1e3, "ms"),
                ("gates to slots", best.to_slots, "s"),
            ] {
                rows.push(row(metric, None, seconds, unit, Some(threads), &note));
            }
        }
        spinner.finish_and_clear();
        rows.push(row(WRONG, None, wrong as f64, "", None, "of all runs"));
        let wire: usize = self.params.key_parts().iter().map(|part| part.bytes).sum();
        rows.push(row("evaluation keys, wire", None, wire as f64, "bytes", None, "seeded and packed"));
        let memory = self.evaluator.keys().memory_bytes() as f64;
        rows.push(row("evaluation keys, memory", None, memory, "bytes", None, "expanded"));
        let security = self.params.security();
        rows.push(row(
            "security between the schemes",
            None,
            security.bits,
            "bits",
            None,
            &security.statement,
        ));
        Ok(rows)
    }
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let mut cells =
        vec![["set", "metric", "model", "measured", "unit", "threads", "note"].map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let digits = if row.unit == "s" { 3 } else { 2 };
        let shown = |value: f64| {
            if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.digits$}") }
        };
        vec![
            row.params.to_owned(),
            row.metric.clone(),
            row.model.map_or("-".to_owned(), shown),
            shown(row.measured),
            row.unit.to_owned(),
            row.threads.map_or("-".to_owned(), |threads| threads.to_string()),
            row.note.clone(),
        ]
    }));
    format!(
        "{SOURCE}\nmeasured: {}, {runs} rankings for each number of threads\n\n{}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_set_gives_every_row_and_no_wrong_winner() {
        let output = Output::new(true);
        let request = Request { sets: Vec::new(), runs: 2, openfhe: false, budget: None };
        let bench = Bench::new("toy-link", &request, &output).unwrap();
        let rows = bench.rows(&Machine::here(), 2, &output).unwrap();
        let of = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap();
        assert!(of(WRONG).measured.abs() < 0.5);
        let deviation = of("slots to gates, deviation");
        assert!((deviation.measured - deviation.model.unwrap()).abs() < 0.3, "{deviation:?}");
        let signs = of(SIGNS);
        // From 512 comparisons, the estimate is off by a tenth of a bit; the model is a bound.
        assert!((-0.8..0.3).contains(&(signs.measured - signs.model.unwrap())), "{signs:?}");
        // From 256 bits, the mean square is off by a tenth, so by more than half a bit once in a thousand runs.
        let bits = of("gates to slots, 64 bits, noise of gates");
        assert!((bits.measured - bits.model.unwrap()).abs() < 0.6, "{bits:?}");
        assert!(text(&rows, &Machine::here(), 2).contains("argmax of 16"));
        assert!(Bench::new("n15+fbs16-50", &Request { budget: Some(1 << 20), ..request }, &output).is_err());
    }
}
