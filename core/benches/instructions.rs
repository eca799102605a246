//! Runs one kernel a given number of times, for tools that count instructions: `node tests/tools/instructions.mjs`.
//!
//! Rows have 1024 words. `words27`, `words30`, `words50`, `words60` are forward transforms modulo primes of 27, 30, 50 and 60
//! bits, and `back27`, `back30`, `back50`, `back60` the inverse ones; `key32`, `key50`, `key60` are sums of eight products with
//! both rows of a key; `gate` is the product of DM/CGGI, with four terms that a transform left unreduced.

use refloat::Error;
use refloat::arith::{Modulus, NttTable, Word, primes};

/// Words of a row.
const N: usize = 1024;
/// Terms of sums with keys, and with those of gates.
const TERMS: usize = 8;
const GATE_TERMS: usize = 4;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [kernel, times] = arguments.as_slice() else {
        println!("give a kernel and a number of times; see the head of this file");
        return Ok(());
    };
    let times: usize =
        times.parse().map_err(|_| Error::InvalidArgument(format!("{times} is not a number of times")))?;
    match kernel.as_str() {
        "words27" => transform::<u32>(27.0, true, times),
        "words30" => transform::<u32>(30.0, true, times),
        "words50" => transform::<u64>(49.9, true, times),
        "words60" => transform::<u64>(59.9, true, times),
        "back27" => transform::<u32>(27.0, false, times),
        "back30" => transform::<u32>(30.0, false, times),
        "back50" => transform::<u64>(49.9, false, times),
        "back60" => transform::<u64>(59.9, false, times),
        "key32" => key::<u32>(30.0, times),
        "key50" => key::<u64>(49.9, times),
        "key60" => key::<u64>(59.9, times),
        "gate" => gate(times),
        other => Err(Error::InvalidArgument(format!("there is no kernel {other}"))),
    }
}

fn modulus<W: Word>(bits: f64) -> Result<Modulus<W>, Error> {
    let below = |p: &u64| (*p as f64) < bits.ceil().exp2();
    let p = primes::ntt_primes(bits, 2 * N as u64).find(below).expect("a prime");
    Modulus::new(p)
}

/// Residues without a pattern.
fn rows<W: Word>(m: &Modulus<W>, count: usize) -> Vec<W> {
    let word = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % m.value_u64();
    (0..(count * N) as u64).map(|i| W::from_u64(word(i))).collect()
}

fn transform<W: Word>(bits: f64, forward: bool, times: usize) -> Result<(), Error> {
    let m = modulus::<W>(bits)?;
    let (table, mut row) = (NttTable::new(m, N)?, rows(&m, 1));
    let mut once = || {
        if forward {
            W::kernels().ntt_forward(&table, &mut row);
        } else {
            W::kernels().ntt_inverse(&table, &mut row);
        }
    };
    // Tables are made at the first use.
    once();
    for _ in 0..times {
        once();
    }
    std::hint::black_box(row);
    Ok(())
}

fn key<W: Word>(bits: f64, times: usize) -> Result<(), Error> {
    let m = modulus::<W>(bits)?;
    let (left, key) = (rows(&m, TERMS), rows(&m, 2 * TERMS));
    let left: Vec<&[W]> = left.chunks_exact(N).collect();
    let (mut b, mut a) = (vec![W::ZERO; N], vec![W::ZERO; N]);
    for _ in 0..times {
        W::kernels().key_product(&m, &mut b, &mut a, &left, &key, false);
    }
    std::hint::black_box((b, a));
    Ok(())
}

fn gate(times: usize) -> Result<(), Error> {
    let m = modulus::<u32>(27.0)?;
    let (left, key) = (rows(&m, GATE_TERMS), rows(&m, 2 * GATE_TERMS));
    let kernels = u32::gate_kernels();
    let mut prepared = vec![0; key.len()];
    kernels.prepare_key(&m, &mut prepared, &key, 2 * GATE_TERMS);
    let (mut b, mut a) = (vec![0; N], vec![0; N]);
    for _ in 0..times {
        kernels.gate_product(&m, &mut [&mut b, &mut a], &left, &prepared, true);
    }
    std::hint::black_box((b, a));
    Ok(())
}
