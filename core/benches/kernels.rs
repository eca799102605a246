//! Time of the row kernels per backend and word: best of many short batches, one thread.
//!
//! `cargo bench -p refloat --bench kernels [-- FILTER]` prints one line per kernel, prime and backend; a
//! filter keeps the lines that contain it. Rows are those of a ring of degree 8192.
//!
//! The lines "key_product / read" compare the product with a key that is in no cache with a plain loop that reads the same
//! number of bytes: median of the ratios of calls that take turns.

use refloat::arith::all_backends;
use refloat::arith::{Kernels, KeyProduct, KeyRows, LeftRows, Modulus, NttTable, Word, line, primes};
use std::hint::black_box;
use std::time::Instant;

const N: usize = 8192;
const TERMS: usize = 16;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for bits in [29.9, 30.9] {
        word::<u32>(bits, &filter);
    }
    for bits in [29.9, 49.9, 60.9] {
        word::<u64>(bits, &filter);
    }
}

fn word<W: Word>(bits: f64, filter: &str) {
    let p = primes::ntt_primes(bits, 2 * N as u64).find(|&p| (p as f64).log2() < bits.ceil()).unwrap();
    let m = Modulus::<W>::new(p).unwrap();
    let to =
        primes::ntt_primes(bits - 2.0, 2 * N as u64).next().map(|p| Modulus::<W>::new(p).unwrap()).unwrap();
    let table = NttTable::new(m, N).unwrap();
    let mut state = 1u64;
    let mut row = |count: usize| -> Vec<W> {
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                m.reduce_u64(state >> 3)
            })
            .collect()
    };
    let (mut a, b, mut c) = (row(N), row(N), row(N));
    let digits: Vec<Vec<W>> = (0..TERMS).map(|_| row(N)).collect();
    let digits: Vec<&[W]> = digits.iter().map(Vec::as_slice).collect();
    // Far larger than the caches, as evaluation keys are.
    let far = 64 * 2 * TERMS * N / (W::BITS as usize / 32);
    let key: Vec<W> = row(far);
    let near = &key[..2 * TERMS * N];
    let near_rows: Vec<&[W]> = near.chunks_exact(2 * N).map(|rows| &rows[..N]).collect();
    let shoup = m.shoup(b[0]);
    let factors: Vec<_> = (0..TERMS).map(|i| to.shoup(to.reduce_u64(b[i].to_u64()))).collect();
    let inverses: Vec<f64> = (0..TERMS).map(|_| 1.0 / p as f64).collect();
    let perm: Vec<u32> = (0..N as u32).map(|j| j.wrapping_mul(5) % N as u32).collect();
    let signed: Vec<i64> = a.iter().map(|x| x.to_u64() as i64 - (p / 2) as i64).collect();
    let butterflies = (N / 2 * N.trailing_zeros() as usize) as f64;
    let words = N as f64;
    let macs = (2 * TERMS * N) as f64;

    for k in all_backends::<W>() {
        let k: &'static dyn Kernels<W> = k;
        let label = format!("u{} {bits:4.1}-bit prime {:10}", W::BITS, k.name());
        let line = |kernel: &str, unit: &str, count: f64, run: &mut dyn FnMut()| {
            let label = format!("{label} {kernel:22}");
            if label.contains(filter) {
                let nanoseconds = best(run);
                println!("{label} {:9.2} us {:8.3} ns/{unit}", nanoseconds / 1e3, nanoseconds / count);
            }
        };
        line("ntt_forward", "butterfly", butterflies, &mut || k.ntt_forward(&table, black_box(&mut a)));
        line("ntt_inverse", "butterfly", butterflies, &mut || k.ntt_inverse(&table, black_box(&mut a)));
        line("add_assign", "word", words, &mut || k.add_assign(&m, black_box(&mut a), &b));
        line("mul_assign", "word", words, &mut || k.mul_assign(&m, black_box(&mut a), &b));
        line("mul_scalar_add_assign", "word", words, &mut || {
            k.mul_scalar_add_assign(&m, black_box(&mut a), &b, &shoup);
        });
        line("sub_mul_scalar_assign", "word", words, &mut || {
            k.sub_mul_scalar_assign(&m, black_box(&mut a), &b, &shoup);
        });
        line("lift_centered", "word", words, &mut || k.lift_centered(&to, &m, black_box(&mut c), &b));
        line("reduce_i64", "word", words, &mut || k.reduce_i64(&m, black_box(&mut c), &signed));
        line("permute", "word", words, &mut || k.permute(black_box(&mut c), &b, &perm));
        line("permute_add_assign", "word", words, &mut || {
            k.permute_add_assign(&m, black_box(&mut a), &b, &perm);
        });
        line("inner_product (cached)", "product", macs / 2.0, &mut || {
            k.inner_product(&m, black_box(&mut c), &digits, &near_rows, true);
        });
        line("key_product (cached)", "product", macs, &mut || {
            key_product(&m, k, black_box(&mut a), &mut c, &digits, near);
        });
        let mut keys = key.chunks_exact(2 * TERMS * N).cycle();
        line("key_product (memory)", "product", macs, &mut || {
            key_product(&m, k, black_box(&mut a), &mut c, &digits, keys.next().unwrap());
        });
        if format!("{label} key_product / read").contains(filter) {
            let chunk = 2 * TERMS * N;
            let (time, ratio) = beside_reading(&key, chunk, |key| {
                key_product(&m, k, black_box(&mut a), &mut c, &digits, key);
            });
            let rate = size_of_val(&key[..chunk]) as f64 / time;
            println!(
                "{label} key_product / read     {:9.2} us {ratio:8.3} x reading, {rate:.1} GB/s",
                time / 1e3
            );
        }
        line("crt_overflow", "word", words * TERMS as f64, &mut || {
            k.crt_overflow(black_box(&mut c), &digits, &inverses);
        });
        let counts = vec![W::ONE; N];
        line("crt_combine", "word", words * TERMS as f64, &mut || {
            k.crt_combine(&to, black_box(&mut c), &digits, &factors, &counts, &factors[0]);
        });
        // Later kernels rely on residues.
        a.copy_from_slice(&b);
    }
}

/// The product for one lane, with a key in tiles of two kibibytes a row.
fn key_product<W: Word>(
    m: &Modulus<W>,
    k: &dyn Kernels<W>,
    out0: &mut [W],
    out1: &mut [W],
    lhs: &[&[W]],
    key: &[W],
) {
    let (lhs, key) = (LeftRows::whole(lhs), KeyRows::new(key, line::<W>(), lhs.len()));
    k.key_products(m, &mut [KeyProduct { out: [out0, out1], lhs, key }], true);
}

/// Median nanoseconds of one call on a chunk, and median ratio to reading a chunk. Both walk through `words`, half of it apart.
fn beside_reading<W: Word>(words: &[W], chunk: usize, mut run: impl FnMut(&[W])) -> (f64, f64) {
    let chunks: Vec<&[W]> = words.chunks_exact(chunk).collect();
    let mut pairs = Vec::new();
    for i in 0..4 * chunks.len() {
        let start = Instant::now();
        run(chunks[i % chunks.len()]);
        let own = start.elapsed().as_nanos() as f64;
        let start = Instant::now();
        black_box(read(chunks[(i + chunks.len() / 2) % chunks.len()]));
        pairs.push((own, own / start.elapsed().as_nanos() as f64));
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    (median(pairs.iter().map(|x| x.0).collect()), median(pairs.iter().map(|x| x.1).collect()))
}

/// Reads all words, in 32 streams of additions, of which the compiler makes vectors.
fn read<W: Word>(words: &[W]) -> [W; 32] {
    let mut sums = [W::ZERO; 32];
    for words in words.as_chunks::<32>().0 {
        for (sum, &word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(word);
        }
    }
    sums
}

/// Nanoseconds of one call: the least mean of batches of about a millisecond within half a second.
fn best(run: &mut dyn FnMut()) -> f64 {
    run();
    let once = Instant::now();
    run();
    let batch = (1_000_000 / once.elapsed().as_nanos().max(1)).clamp(1, 10_000) as u32;
    let begin = Instant::now();
    let mut least = f64::INFINITY;
    while begin.elapsed().as_millis() < 250 {
        let start = Instant::now();
        for _ in 0..batch {
            run();
        }
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(batch));
    }
    least
}
