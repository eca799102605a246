//! Time of the transforms of rings: least of many, one thread, the best backend.
//!
//! `cargo bench -p refloat --bench rings` prints one line per ring, for a prime near 2^49.9.

use refloat::arith::primes::ntt_primes;
use refloat::ring::{Basis, Cyclotomic, Scratch};
use std::hint::black_box;
use std::time::Instant;

/// Transforms of each ring, of which the fastest is printed.
const RUNS: usize = 40;

fn main() {
    // The rings of odd index are those of V-A, IV-A, III-A, I-A and II-A.
    let odd = [(97, 523), (43, 1051), (43, 1289), (29, 1321), (37, 1531)];
    let odd = odd.map(|(p, q)| (((p - 1) * (q - 1)) as usize, p * q));
    let rings = [(1 << 16, 1), (1 << 16, 5)].into_iter().chain(odd);
    for (n, odd) in rings {
        let ring = Cyclotomic::new(n, odd).expect("a ring");
        let prime =
            ntt_primes(49.9, ring.divisor_of_primes()).find(|p| p >> 50 == 0).expect("a prime of the ring");
        let basis = Basis::<u64>::over(ring, &[prime]).expect("a prime of the ring");
        let mut state = 1u64;
        let mut row: Vec<u64> = vec![0; ring.width()];
        for x in &mut row[..n] {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *x = (state >> 3) % prime;
        }
        let mut scratch = Scratch::default();
        let mut least = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            let begin = Instant::now();
            basis.row(0).forward(black_box(&mut row), &mut scratch);
            let between = Instant::now();
            basis.row(0).inverse(black_box(&mut row), &mut scratch);
            let times = [between - begin, between.elapsed()];
            for (least, time) in least.iter_mut().zip(times) {
                *least = least.min(time.as_secs_f64());
            }
        }
        let [forward, inverse] = least.map(|time| 1e3 * time);
        println!("index {:6}, degree {n:6}: forward {forward:.3} ms, inverse {inverse:.3} ms", ring.index());
    }
}
