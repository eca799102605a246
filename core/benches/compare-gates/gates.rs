//! refloat's gates and look-ups beside those of tfhe-rs, in one process on one thread, and, where
//! Python has it, beside OpenFHE's.
//!
//! `cargo run --release --manifest-path core/benches/compare-gates/Cargo.toml [-- ROUNDS]` takes every contender once a
//! round, so that a busy machine delays all alike, and prints the fastest time of each and the median over the rounds
//! of the ratio of refloat's time to its. OpenFHE runs afterwards, in a process of its own: there the ratio is that of
//! the fastest times. Every result is decrypted and compared before anything is timed. The Python is
//! `REFLOAT_PYTHON`, or `python3`.

mod openfhe;
mod ours;
mod theirs;

use std::time::Instant;

/// Something to be timed.
pub struct Contender {
    /// What is compared with what.
    pub row: Row,
    /// Library and parameter set.
    pub name: String,
    /// Probability of a wrong result, as its authors state it.
    pub failure: String,
    /// Seconds to make the evaluation keys, on one thread.
    pub keys: f64,
    /// One gate or look-up.
    pub run: Box<dyn FnMut()>,
    /// Seconds of each round.
    pub seconds: Vec<f64>,
}

/// What is compared with what.
#[derive(Clone, Copy, PartialEq)]
pub enum Row {
    /// One NAND.
    Gate,
    /// One look-up of any function of 4 bits after a padding bit. tfhe-rs calls 2 of the 4 carry.
    FourBits,
    /// One look-up of any function modulo 8, without padding.
    ModuloEight,
}

impl Row {
    const ALL: [(Self, &str); 3] = [
        (Self::Gate, "NAND"),
        (Self::FourBits, "any function of 4 bits and a padding bit"),
        (Self::ModuloEight, "any function modulo 8, no padding"),
    ];
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(30, |rounds| rounds.parse().expect("the number of rounds"));
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first use of the pool");
    let about = refloat::about();
    println!(
        "refloat's backends: {} (32-bit words), {} (64-bit words)",
        about.backend_u32, about.backend_u64
    );
    println!("making keys ...");
    let mut ours = ours::contenders().expect("keys of the named sets");
    let mut theirs = theirs::contenders();
    for round in 0..=rounds {
        for contender in ours.iter_mut().chain(&mut theirs) {
            let start = Instant::now();
            (contender.run)();
            let time = start.elapsed().as_secs_f64();
            // The first round warms up.
            if round > 0 {
                contender.seconds.push(time);
            }
        }
    }
    let python = openfhe::times(rounds);
    for (row, title) in Row::ALL {
        let ours: Vec<&Contender> = ours.iter().filter(|contender| contender.row == row).collect();
        let names = ours.iter().map(|own| own.name.trim_start_matches("refloat ").to_owned());
        println!("\n{title}");
        print_row("", "failure", "keys s", "ms", names);
        for contender in ours.iter().copied().chain(theirs.iter().filter(|contender| contender.row == row)) {
            let ratios = ours.iter().map(|own| {
                let ratios = own.seconds.iter().zip(&contender.seconds).map(|(own, other)| own / other);
                format!("{:.2}", median(ratios.collect()))
            });
            let (keys, time) = (contender.keys, 1e3 * least(&contender.seconds));
            print_row(
                &contender.name,
                &contender.failure,
                &format!("{keys:.2}"),
                &format!("{time:.2}"),
                ratios,
            );
        }
        for (_, name, keys, seconds) in python.iter().filter(|time| time.0 == row) {
            let ratios = ours.iter().map(|own| format!("{:.2}", least(&own.seconds) / seconds));
            print_row(name, "-", &format!("{keys:.2}"), &format!("{:.2}", 1e3 * seconds), ratios);
        }
    }
    println!("\nThe last columns: time of that set of refloat divided by the time of the line.");
}

fn print_row(name: &str, failure: &str, keys: &str, time: &str, ratios: impl Iterator<Item = String>) {
    let ratios: String = ratios.map(|ratio| format!(" {ratio:>16}")).collect();
    println!("{name:40} {failure:>9} {keys:>7} {time:>8}{ratios}");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
