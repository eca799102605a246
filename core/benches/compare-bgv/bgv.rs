//! refloat's exact integers beside those of fhe.rs and Lattigo, on one thread, one after the other: encryption, sums, products and
//! rotations of 32768 integers modulo 65537.
//!
//! `cargo run --release --manifest-path core/benches/compare-bgv/Cargo.toml [-- ROUNDS]`; Lattigo is measured where Go is. Every result
//! is decrypted and compared with the clear one.

mod ours;
mod theirs;

/// p, in all libraries.
const PRIME: u64 = 65537;

/// Least seconds of operations on ciphertexts of 32768 integers, modulo a Q of about 287 bits.
struct Operations {
    name: &'static str,
    log_q: f64,
    /// Encoding and encryption by the secret key.
    encrypt: f64,
    add: f64,
    /// A product, relinearised, and rescaled where the scheme has levels.
    multiply: f64,
    rotate: f64,
    /// Slots of all results that differ from the clear ones.
    wrong: usize,
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(10, |rounds| rounds.parse().expect("the number of rounds"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!("refloat's backend: {}, fastest of {rounds}", refloat::about().backend_u64);
    let operations = pool.install(|| ours::operations(rounds)).expect("operations of a named set");
    let mut all = vec![operations, theirs::fhe_rs(rounds).expect("fhe.rs")];
    match theirs::lattigo(rounds) {
        Ok(operations) => all.push(operations),
        Err(why) => println!("Lattigo is left out: {why}"),
    }
    println!(
        "\n{:28} {:>7} {:>10} {:>10} {:>10} {:>10} {:>6}",
        "", "log2 Q", "encrypt", "add", "multiply", "rotate", "wrong"
    );
    for Operations { name, log_q, encrypt, add, multiply, rotate, wrong } in &all {
        let [encrypt, add, multiply, rotate] =
            [encrypt, add, multiply, rotate].map(|seconds| format!("{:.2} ms", 1e3 * seconds));
        println!("{name:28} {log_q:7.1} {encrypt:>10} {add:>10} {multiply:>10} {rotate:>10} {wrong:6}");
    }
    for other in &all[1..] {
        let ratio = |of: fn(&Operations) -> f64| of(other) / of(&all[0]);
        println!(
            "{} takes {:.2} times refloat's time to encrypt, {:.2} to add, {:.2} to multiply, {:.2} to rotate",
            other.name,
            ratio(|o| o.encrypt),
            ratio(|o| o.add),
            ratio(|o| o.multiply),
            ratio(|o| o.rotate)
        );
    }
}

/// Values that are neither constant nor in order.
fn message(slots: usize) -> Vec<u64> {
    (0..slots as u64).map(|i| i * 48271 % PRIME).collect()
}

/// The least time of some runs, and the last result.
fn least<T>(rounds: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..rounds.max(1) {
        let start = std::time::Instant::now();
        last = Some(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, last.expect("a run"))
}

fn wrong(found: &[u64], expected: impl Fn(usize) -> u64) -> usize {
    found.iter().enumerate().filter(|&(i, &x)| x != expected(i)).count()
}

/// Slot i after a rotation of both rows to the left by one.
fn rotated(values: &[u64], i: usize) -> u64 {
    let half = values.len() / 2;
    values[i / half * half + (i + 1) % half]
}
