//! refloat's thin BGV bootstrap beside fheanor's in BFV, in one process on one thread.
//!
//! `RUSTC_BOOTSTRAP=1 cargo run --release --manifest-path core/benches/compare-fheanor/Cargo.toml --bin bgv [-- ROUNDS [SET ...]]` takes
//! all sets but `bgv15`, or those named. Times are those of the processor, the least of all rounds.

mod ours;
mod theirs;

use cpu_time::ThreadTime;
use theirs::{Ring, Theirs};

/// A set of refloat's, and parameters of fheanor for the same slots and plaintexts.
struct Case {
    set: &'static str,
    theirs: Theirs,
}

const CASES: &[Case] = &[
    // fheanor's own measurements of 257^2 and of 65537 are at N = 2^15 and a Q of 805 to 820 bits, with a main secret of weight 128 and
    // digits up to 6. Here the modulus, the secret and the bound are those of refloat's set.
    Case {
        set: "toy-bgv7",
        theirs: Theirs {
            ring: Ring::PowerOfTwo { log_index: 8 },
            prime: 257,
            modulus: 257 * 257,
            digits: 1,
            bound: Some(15),
            log_q: 630..645,
            rotation_digits: 7,
            relinearization_digits: 5,
            main_weight: None,
            ephemeral_weight: 32,
        },
    },
    Case {
        set: "toy-bgv10",
        theirs: Theirs {
            ring: Ring::PowerOfTwo { log_index: 11 },
            prime: 65537,
            modulus: 65537,
            digits: 1,
            bound: Some(15),
            log_q: 730..745,
            rotation_digits: 8,
            relinearization_digits: 5,
            main_weight: None,
            ephemeral_weight: 32,
        },
    },
    #[cfg(feature = "odd-index")]
    Case {
        set: "m21845-thin",
        theirs: Theirs {
            ring: Ring::Composite { factors: [257, 85] },
            prime: 2,
            modulus: 2,
            digits: 6,
            bound: None,
            log_q: 672..687,
            rotation_digits: 7,
            relinearization_digits: 5,
            main_weight: Some(120),
            ephemeral_weight: 20,
        },
    },
    Case {
        set: "bgv15",
        theirs: Theirs {
            ring: Ring::PowerOfTwo { log_index: 16 },
            prime: 65537,
            modulus: 65537,
            digits: 1,
            bound: Some(15),
            log_q: 852..867,
            rotation_digits: 8,
            relinearization_digits: 5,
            main_weight: None,
            ephemeral_weight: 32,
        },
    },
];

/// One library's part of a comparison.
#[derive(Default)]
struct Measured {
    name: String,
    security: String,
    /// log2 of the degree, and of the largest modulus of the main secret.
    degree: usize,
    log_q: f64,
    /// log2 of the largest modulus of the ephemeral secret.
    log_ephemeral: f64,
    slots: usize,
    /// Seconds to make the keys and whatever else is made once.
    setup: f64,
    /// Least seconds of a bootstrap, and of a product and an automorphism of its result.
    bootstrap: f64,
    multiply: f64,
    rotate: f64,
    /// Bits that noise may grow by: before the bootstrap, after it, and after one more product.
    budget: [f64; 3],
    /// Slots of all results that differ from the clear ones.
    wrong: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(3, |rounds| rounds.parse().expect("the number of rounds"));
    let names: Vec<String> = arguments.collect();
    println!("refloat's backend: {}, fastest of {rounds}", refloat::about().backend_u64);
    let mut wrong = 0;
    let chosen = |case: &&Case| match &names[..] {
        [] => case.set != "bgv15",
        names => names.iter().any(|name| name == case.set),
    };
    for case in CASES.iter().filter(chosen) {
        let ours = ours::run(case.set, rounds).expect("a bootstrap of a named set");
        print(&ours);
        let theirs = theirs::run(&case.theirs, rounds);
        print(&theirs);
        let ratio = |of: fn(&Measured) -> f64| of(&theirs) / of(&ours);
        println!(
            "  {} fheanor takes {:.2} times refloat's time to bootstrap, {:.2} to multiply, {:.2} to rotate",
            case.set,
            ratio(|own| own.bootstrap),
            ratio(|own| own.multiply),
            ratio(|own| own.rotate)
        );
        wrong += ours.wrong + theirs.wrong;
    }
    println!("\nwrong in all: {wrong}");
    assert_eq!(wrong, 0, "results that differ from the clear ones");
}

fn print(own: &Measured) {
    println!("\n{}: degree {}, {} slots", own.name, own.degree, own.slots);
    println!("  log2 Q {:.1}, of the ephemeral secret {:.1}", own.log_q, own.log_ephemeral);
    println!("  {}", own.security);
    println!("  made once: {:.1} s", own.setup);
    println!(
        "  bootstrap {:.2} ms, product {:.2} ms, automorphism {:.2} ms",
        1e3 * own.bootstrap,
        1e3 * own.multiply,
        1e3 * own.rotate
    );
    let [before, after, product] = own.budget;
    println!(
        "  budget {before:.0} bits before, {after:.0} after, {product:.0} after a product more; wrong {}",
        own.wrong
    );
}

/// Integers below the modulus that are neither constant nor in order.
fn message(slots: usize, modulus: u64) -> Vec<u64> {
    (1..=slots as u64).map(|i| (i * 48271 ^ (i * 48271) >> 7) % modulus).collect()
}

/// Seconds of the processor, and the result.
fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let result = run();
    (start.elapsed().as_secs_f64(), result)
}

/// The least time of some runs, and the last result.
fn least<T>(rounds: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let (mut best, mut last) = timed(&mut run);
    for _ in 1..rounds {
        let (seconds, result) = timed(&mut run);
        (best, last) = (best.min(seconds), result);
    }
    (best, last)
}
