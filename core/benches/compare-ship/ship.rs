//! refloat's SHIP bootstrap beside that of poulpy-ckks, in one process on one thread: 4096 real numbers in [-1, 1] at
//! N = 2^13.
//!
//! `RUSTFLAGS="-C target-cpu=native" cargo +nightly run --release --manifest-path core/benches/compare-ship/Cargo.toml
//! [--features avx512] [-- ROUNDS [SET ...]]` runs one after the other, each with its keys alone in memory, and prints
//! the fastest time of each. poulpy-ckks bootstraps half: its message starts in coefficients. refloat's time
//! without slots-to-coefficients is the one to set beside it.

mod ours;
mod theirs;

/// log2 of the ring degree.
const LOG_N: u32 = 13;

/// One bootstrap, measured.
struct Contender {
    name: String,
    security: String,
    /// log2 of the largest modulus of the dense secret, and of the sparse one.
    log_qp: f64,
    log_sparse: f64,
    /// Bits of the modulus above the scale when the bootstrap is done.
    room: f64,
    /// Seconds to make the evaluation keys, and their bytes in memory.
    key_seconds: f64,
    key_bytes: usize,
    /// Least seconds of a bootstrap: from slots to slots, from coefficients to slots, and blind rotation with product tree.
    whole: Option<f64>,
    half: f64,
    core: Option<f64>,
    /// -log2 of the largest and of the root-mean-square error.
    bits: (f64, f64),
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(5, |rounds| rounds.parse().expect("the number of rounds"));
    let names: Vec<String> = arguments.collect();
    let sets: Vec<&theirs::Set> = if names.is_empty() {
        theirs::SETS.iter().collect()
    } else {
        let find =
            |name: &String| theirs::SETS.iter().find(|set| set.name == name).expect("the name of a set");
        names.iter().map(find).collect()
    };
    println!("refloat's backend: {}", refloat::about().backend_u32);
    println!("poulpy-ckks's backend: {}\n", theirs::backend());
    let ours = ours::run("ship13", rounds).expect("a bootstrap of a named set");
    print(&ours);
    for set in sets {
        let theirs = theirs::run(set, rounds);
        print(&theirs);
        println!(
            "  times of refloat to it: from coefficients {:.2}, all {:.2}\n",
            ours.half / theirs.half,
            ours.whole.unwrap_or(ours.half) / theirs.half
        );
    }
}

fn print(contender: &Contender) {
    let Contender {
        name,
        security,
        log_qp,
        log_sparse,
        room,
        key_seconds,
        key_bytes,
        whole,
        half,
        core,
        bits,
    } = contender;
    println!("{name}: {security}");
    println!(
        "  log2 of the moduli {log_qp:.1} (dense secret), {log_sparse:.1} (sparse); {room:.1} bits above the scale left"
    );
    println!("  keys {:.2} GB, made in {key_seconds:.1} s", *key_bytes as f64 / 1e9);
    let ms = |seconds: f64| format!("{:.0} ms", 1e3 * seconds);
    let (whole, core) = (whole.map(ms), core.map(ms));
    println!("  from coefficients to slots {}", ms(*half));
    if let (Some(whole), Some(core)) = (whole, core) {
        println!("  from slots to slots {whole}; blind rotations and product tree {core}");
    }
    println!("  worst slot right to {:.2} bits, root mean square {:.2}", bits.0, bits.1);
}

/// Numbers spread evenly over [-1, 1].
fn message(slots: usize) -> Vec<f64> {
    (0..slots).map(|k| 2.0 * (k as f64 * 0.618_033_988_749_895).fract() - 1.0).collect()
}

/// -log2 of the largest and of the root-mean-square error.
fn precision(values: &[f64], expected: &[f64]) -> (f64, f64) {
    let errors = values.iter().zip(expected).map(|(x, y)| (x - y).abs());
    let (worst, sum) = errors.fold((0.0f64, 0.0), |(worst, sum), e| (worst.max(e), sum + e * e));
    (-worst.log2(), -(sum / expected.len() as f64).sqrt().log2())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
