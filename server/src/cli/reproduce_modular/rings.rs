//! Exact arithmetic modulo a small n, in two ways: residues in CKKS, which are reduced lazily, and BGV, which bootstraps.
//!
//! Both do the same computation: a fixed number of products in a row with residues that are units, and whatever refreshments they
//! need in between. The figure to compare is one product with its share of those. BGV needs an n for which its ring has slots;
//! residues need an n without a prime factor above 128. No n of this size is both, so each row states its own n.

use std::ops::ControlFlow;
use std::time::Instant;

use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvPreset, BgvSecretKey};
use refloat::bootstrapping::ckks_msb::{LOOK_UP, ResidueEvaluator, ResidueRing};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Stream;
use refloat::trace::{Observer, StageEvent};
use serde::Serialize;
use serde_json::json;

use super::{Bench, Request, Set};
use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::machine::{self, Machine};
use crate::cli::measure;
use crate::cli::output::{Output, table};
use crate::cli::progress;

/// Moduli of residues: a small composite, a prime, and one with several digits.
const MODULI: [u64; 3] = [24, 97, 1000];

/// Number of products in a row.
const PRODUCTS: usize = 12;

/// One ring.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    suite: &'static str,
    #[serde(rename = "row")]
    scheme: &'static str,
    params: &'static str,
    modulus: u64,
    slots: usize,
    products: usize,
    /// Reductions or bootstraps between the products.
    refreshed: usize,
    /// Seconds of the fastest product by itself; `None` if every product needed a refreshment.
    product_seconds: Option<f64>,
    /// Seconds of one reduction or bootstrap, on average.
    refresh_seconds: f64,
    /// Seconds of everything, divided by the number of products.
    seconds_per_product: f64,
    microseconds_per_product_and_slot: f64,
    wrong_slots: usize,
    threads: usize,
}

/// Seconds of a chain of products.
struct Chain {
    /// Seconds of each step, and the number of its refreshments.
    steps: Vec<(f64, usize)>,
    wrong: usize,
}

impl Chain {
    fn row(&self, scheme: &'static str, params: &'static str, modulus: u64, slots: usize) -> Row {
        let alone = self.steps.iter().filter(|(_, refreshed)| *refreshed == 0).map(|(seconds, _)| *seconds);
        let product = alone.reduce(f64::min);
        let total: f64 = self.steps.iter().map(|(seconds, _)| seconds).sum();
        let refreshed = self.steps.iter().map(|(_, refreshed)| refreshed).sum::<usize>();
        let products = self.steps.len();
        let between = (total - product.unwrap_or(0.0) * products as f64).max(0.0);
        Row {
            suite: "modular-reduction",
            scheme,
            params,
            modulus,
            slots,
            products,
            refreshed,
            product_seconds: product,
            refresh_seconds: between / refreshed.max(1) as f64,
            seconds_per_product: total / products as f64,
            microseconds_per_product_and_slot: 1e6 * total / (products * slots) as f64,
            wrong_slots: self.wrong,
            threads: 1,
        }
    }
}

/// Counts readings of digits.
#[derive(Default)]
struct Readings(usize);

impl Observer for Readings {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        // A reading goes on with the next digit after every digit but the last.
        if let StageEvent::Progress { stage: LOOK_UP, done, total } = event {
            self.0 += usize::from(done == total);
        }
        ControlFlow::Continue(())
    }
}

/// Measures and prints.
///
/// # Errors
/// [`Failure`] for sets that do not fit the memory, and after printing if a slot was wrong.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let sets = if request.sets.is_empty() { &[Set::Own][..] } else { &request.sets };
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for set in sets {
        let bench = Bench::new(set.preset(), request.runs, request.budget, output)?;
        let mut of_set = Vec::new();
        for modulus in MODULI {
            let spinner = progress::spinner(output, &format!("{}: integers modulo {modulus}", set.preset()));
            let row = bench.residues(modulus);
            spinner.finish_and_clear();
            match row {
                Err(why) if why.code == "INVALID_ARGUMENT" => of_set.push((modulus, why)),
                row => rows.push(row?),
            }
        }
        drop(bench);
        // A set may be too small for some of the moduli, but not for all.
        if of_set.len() == MODULI.len() {
            return Err(of_set.remove(0).1);
        }
        let told =
            |(modulus, why): (u64, Failure)| format!("{}, modulo {modulus}: {}", set.preset(), why.detail);
        refused.extend(of_set.into_iter().map(told));
        rows.push(bgv(*set, request, output)?);
    }
    let value = json!({ "suite": "modular-reduction", "machine": machine, "rows": rows, "refused": refused });
    output.result(&value, || text(&rows, &refused, &machine))?;
    let wrong: usize = rows.iter().map(|row| row.wrong_slots).sum();
    if wrong == 0 {
        return Ok(());
    }
    Err(Failure {
        code: "WRONG_RESULT".to_owned(),
        detail: format!("{wrong} slots differ from the clear result; please report this"),
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Random residues that have an inverse, so that their products stay varied.
fn units(stream: &mut Stream, modulus: u64, slots: usize) -> Vec<u64> {
    let below = u32::try_from(modulus).unwrap_or(u32::MAX);
    let mut unit = || loop {
        let x = u64::from(stream.below(below));
        if gcd(x, modulus) == 1 {
            return x;
        }
    };
    (0..slots).map(|_| unit()).collect()
}

fn multiply(wanted: &mut [u64], by: &[u64], modulus: u64) {
    for (x, y) in wanted.iter_mut().zip(by) {
        *x = *x * y % modulus;
    }
}

fn differing(found: &[u64], wanted: &[u64]) -> usize {
    found.iter().zip(wanted).filter(|(found, wanted)| found != wanted).count()
}

impl Bench {
    fn residues(&self, modulus: u64) -> Result<Row, Failure> {
        let ring = ResidueRing::new(&self.params, modulus)?;
        let evaluator = ResidueEvaluator::new(&self.evaluator, &ring, &self.keys)?;
        let (top, slots) = (self.params.levels().output, self.params.slots());
        let mut stream = fresh_seed()?.stream();
        let mut draw = || units(&mut stream, modulus, slots);
        let (mut wanted, by) = (draw(), draw());
        let mut x = ring.encrypt(&self.secret, &wanted, top, &fresh_seed()?)?;
        let mut y = ring.encrypt(&self.secret, &by, top, &fresh_seed()?)?;
        let mut steps = Vec::new();
        for _ in 0..PRODUCTS {
            let mut readings = Readings::default();
            let began = Instant::now();
            x = self.pool.install(|| evaluator.multiply(&mut x, &mut y, &mut readings))?;
            steps.push((began.elapsed().as_secs_f64(), readings.0));
            multiply(&mut wanted, &by, modulus);
        }
        let wrong = differing(ring.decrypt(&self.secret, &x)?.reveal_to_key_owner(), &wanted);
        Ok(Chain { steps, wrong }.row("residues in CKKS", self.preset, modulus, slots))
    }
}

fn bgv(set: Set, request: &Request, output: &Output) -> Result<Row, Failure> {
    let name = match set {
        Set::Own | Set::Paper => "bgv15",
        Set::Toy => "toy-bgv10",
    };
    let (preset, storage) = (BgvPreset::named(name)?, PlaintextStorage::Evaluated);
    let params = preset.params()?;
    let needed = 4 * params.key_bytes() + params.diagonal_bytes(storage);
    machine::check_memory(params.name(), needed, request.budget)?;
    let spinner = progress::spinner(output, &format!("{name}: making keys"));
    let secret = BgvSecretKey::generate(&params, &fresh_seed()?);
    let keys = BgvKeys::generate(&secret)?;
    let bootstrapper = BgvBootstrapper::new(&params, storage)?;
    let (levels, slots, modulus) = (params.levels(), params.n(), params.messages().value());
    let pool = measure::pool(1)?;
    spinner.set_message(format!("{name}: integers modulo {modulus}"));
    let mut stream = fresh_seed()?.stream();
    let mut draw = || units(&mut stream, modulus, slots);
    let (mut wanted, by) = (draw(), draw());
    let mut x = secret.encrypt(&wanted, levels.output, &fresh_seed()?)?;
    let y = secret.encrypt(&by, levels.output, &fresh_seed()?)?;
    let mut steps = Vec::new();
    for _ in 0..PRODUCTS {
        let spent = x.level() == levels.input;
        let began = Instant::now();
        x = pool.install(|| {
            if spent {
                x = bootstrapper.bootstrap(&x, &keys, &mut ())?;
            }
            bootstrapper.multiply(&x, &y, &keys)
        })?;
        steps.push((began.elapsed().as_secs_f64(), usize::from(spent)));
        multiply(&mut wanted, &by, modulus);
    }
    let wrong = differing(secret.decrypt(&x)?.reveal_to_key_owner(), &wanted);
    spinner.finish_and_clear();
    Ok(Chain { steps, wrong }.row("BGV", preset.name, modulus, slots))
}

fn text(rows: &[Row], refused: &[String], machine: &Machine) -> String {
    let heading = [
        "integers of",
        "set",
        "modulo",
        "slots",
        "s a product",
        "s a refresh",
        "refreshed",
        "s a product, all in",
        "us a slot",
        "wrong",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.scheme.to_owned(),
            row.params.to_owned(),
            row.modulus.to_string(),
            row.slots.to_string(),
            row.product_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.3}")),
            format!("{:.2}", row.refresh_seconds),
            format!("{} of {}", row.refreshed, row.products),
            format!("{:.3}", row.seconds_per_product),
            format!("{:.2}", row.microseconds_per_product_and_slot),
            row.wrong_slots.to_string(),
        ]
    }));
    let refused = refused.iter().map(|why| format!("refused: {why}\n")).collect::<Vec<_>>().concat();
    format!(
        "measured: {}, one thread, {PRODUCTS} products one after another\n\n{}{refused}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_exact_at_toy_size() {
        let request = Request { tables: vec![], sets: vec![Set::Toy], runs: 1, budget: None };
        let output = Output::new(true);
        let bench = Bench::new(Set::Toy.preset(), request.runs, request.budget, &output).unwrap();
        for modulus in MODULI {
            let row = bench.residues(modulus).unwrap();
            assert_eq!((row.wrong_slots, row.modulus, row.slots), (0, modulus, 1024), "{row:?}");
            // Both operands are reduced, as often as necessary.
            assert!(row.refreshed > 0 && row.product_seconds > Some(0.0), "{row:?}");
        }
        let row = bgv(Set::Toy, &request, &output).unwrap();
        assert_eq!((row.wrong_slots, row.modulus, row.slots), (0, 65537, 1024), "{row:?}");
        assert!((1..PRODUCTS).contains(&row.refreshed), "{row:?}");
        assert!(bgv(Set::Own, &Request { budget: Some(1 << 20), ..request }, &output).is_err());
    }

    #[test]
    fn units_have_inverses_and_errors_are_counted() {
        let mut stream = refloat::random::Seed::from_bytes([2; 32]).stream();
        let drawn = units(&mut stream, 24, 500);
        assert!(drawn.iter().all(|x| x % 2 == 1 && x % 3 != 0) && drawn.iter().any(|&x| x != drawn[0]));
        assert_eq!(differing(&[1, 2, 3], &[1, 5, 3]), 1);
        let chain = Chain { steps: vec![(0.5, 0), (2.5, 1), (1.0, 0)], wrong: 0 };
        let row = chain.row("BGV", "toy-bgv10", 65537, 4);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(row.product_seconds == Some(0.5) && close(row.refresh_seconds, 2.5), "{row:?}");
        assert!(close(row.seconds_per_product, 4.0 / 3.0) && row.refreshed == 1);
    }
}
