//! refloat's transforms beside those of the crate `tfhe-ntt`, in the same run.
//!
//! `cargo bench --manifest-path core/benches/compare/Cargo.toml [-- FILTER]` measures every row with criterion, whose
//! unit here is the ratio of the two times: the two run by turns, so that a busy machine delays both. The table printed
//! in the end has the medians of all samples. refloat's inverse includes the factor 1/n, tfhe-ntt's does not. Both choose their
//! instructions for the CPU by themselves.

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, Throughput};
use refloat::arith::{Modulus, NttTable, Word, primes};
use std::time::{Duration, Instant};
use tfhe_ntt::{prime32, prime64};

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(Ratio)
        .without_plots()
        .sample_size(25)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
        .configure_from_args();
    let mut table = Vec::new();
    for bits in [31, 50, 60] {
        for log_n in 12..=16 {
            let n = 1 << log_n;
            let p = largest_prime(bits, n);
            if bits == 31 {
                let plan = prime32::Plan::try_new(n, p as u32).expect("a plan for a prime of 31 bits");
                rows::<u32, _>(&mut criterion, &mut table, bits, n, p, &plan);
            } else {
                let plan = prime64::Plan::try_new(n, p).expect("a plan for a prime of 64 bits");
                rows::<u64, _>(&mut criterion, &mut table, bits, n, p, &plan);
            }
        }
    }
    let backend = refloat::arith::backend_name::<u32>();
    println!("\nrefloat ({backend}): least time in ns per butterfly, and median ratio to tfhe-ntt");
    println!("| prime | n | forward | ratio | inverse | ratio |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for row in table.chunks_exact(2) {
        let cells: Vec<String> =
            row.iter().map(|x| format!("{:.3} | {:.2}", x.nanoseconds, x.ratio)).collect();
        println!("| {} bits | 2^{} | {} |", row[0].bits, row[0].n.ilog2(), cells.join(" | "));
    }
}

/// The two directions of the other crate.
trait Plan<W> {
    fn forward(&self, row: &mut [W]);
    fn inverse(&self, row: &mut [W]);
    /// `a = a b / n`.
    fn multiply(&self, a: &mut [W], b: &[W]);
}

macro_rules! plan {
    ($plan:ty, $word:ty) => {
        impl Plan<$word> for $plan {
            fn forward(&self, row: &mut [$word]) {
                self.fwd(row);
            }
            fn inverse(&self, row: &mut [$word]) {
                self.inv(row);
            }
            fn multiply(&self, a: &mut [$word], b: &[$word]) {
                self.mul_assign_normalize(a, b);
            }
        }
    };
}

plan!(prime32::Plan, u32);
plan!(prime64::Plan, u64);

/// Results for one prime, degree and direction.
struct Row {
    bits: u32,
    n: usize,
    nanoseconds: f64,
    ratio: f64,
}

/// Measures both directions for one prime and one degree.
fn rows<W: Word, P: Plan<W>>(
    criterion: &mut Criterion<Ratio>,
    table: &mut Vec<Row>,
    bits: u32,
    n: usize,
    p: u64,
    plan: &P,
) {
    let m = Modulus::<W>::new(p).expect("an odd modulus");
    let t = NttTable::new(m, n).expect("a prime that is 1 modulo 2n");
    let k = W::kernels();
    let row = |seed: u64| -> Vec<W> {
        (1..=n as u64)
            .map(|i| m.reduce_u64(i.wrapping_mul(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect()
    };
    let product = {
        let (mut a, mut b) = (row(1), row(3));
        k.ntt_forward(&t, &mut a);
        k.ntt_forward(&t, &mut b);
        k.mul_assign(&m, &mut a, &b);
        k.ntt_inverse(&t, &mut a);
        a
    };
    let (mut a, mut b) = (row(1), row(3));
    plan.forward(&mut a);
    plan.forward(&mut b);
    plan.multiply(&mut a, &b);
    plan.inverse(&mut a);
    assert!(a == product, "the two crates disagree on a product modulo {p}, degree {n}");

    for forward in [true, false] {
        let direction = if forward { "forward" } else { "inverse" };
        let (mut ours, mut theirs) = (row(1), row(1));
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        let mut group = criterion.benchmark_group(format!("{bits} bits/{direction}"));
        group.bench_function(format!("2^{}", n.ilog2()), |bencher| {
            bencher.iter_custom(|count| {
                let (mut our_time, mut their_time) = (Duration::ZERO, Duration::ZERO);
                for _ in 0..count {
                    let start = Instant::now();
                    if forward {
                        k.ntt_forward(&t, &mut ours)
                    } else {
                        k.ntt_inverse(&t, &mut ours)
                    }
                    our_time += start.elapsed();
                    let start = Instant::now();
                    if forward {
                        plan.forward(&mut theirs)
                    } else {
                        plan.inverse(&mut theirs)
                    }
                    their_time += start.elapsed();
                }
                let [our_time, their_time] = [our_time, their_time].map(|time| time.as_nanos() as f64);
                pairs.push((our_time / count as f64, our_time / their_time));
                our_time / their_time * count as f64
            });
        });
        group.finish();
        if !pairs.is_empty() {
            let least = pairs.iter().map(|x| x.0).fold(f64::INFINITY, f64::min);
            let butterflies = (n / 2 * n.ilog2() as usize) as f64;
            let ratio = median(pairs.iter().map(|x| x.1).collect());
            table.push(Row { bits, n, nanoseconds: least / butterflies, ratio });
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The largest prime below `2^bits` that is 1 modulo `2n`.
fn largest_prime(bits: u32, n: usize) -> u64 {
    let step = 2 * n as u64;
    let mut candidates = (1..).map(|k| (1u64 << bits) - k * step + 1);
    candidates.find(|&p| primes::is_prime(p)).expect("there is such a prime")
}

/// Our time in units of theirs.
struct Ratio;

impl Measurement for Ratio {
    type Intermediate = Instant;
    type Value = f64;

    fn start(&self) -> Instant {
        Instant::now()
    }
    fn end(&self, start: Instant) -> f64 {
        start.elapsed().as_nanos() as f64
    }
    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }
    fn zero(&self) -> f64 {
        0.0
    }
    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Ratio {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        "x tfhe-ntt"
    }
    fn scale_throughputs(&self, _typical: f64, _unit: &Throughput, _values: &mut [f64]) -> &'static str {
        "x tfhe-ntt"
    }
    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "x tfhe-ntt"
    }
}
