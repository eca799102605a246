//! Row operations against wide integers.

use super::{Random, extreme_rows, primes_for, wide};
use crate::arith::{Kernels, KeyProduct, KeyRows, LeftRows, Modulus, Shoup, Word, row_to_lines};

/// Lengths around every vector width and block size, powers of two and not.
const LENGTHS: [usize; 14] = [0, 1, 2, 3, 7, 8, 15, 16, 33, 64, 100, 511, 1025, 4096];

fn moduli<W: Word>() -> Vec<Modulus<W>> {
    let mut moduli = primes_for::<W>(2);
    moduli.push(Modulus::new(5).unwrap());
    moduli
}

fn all_ones<W: Word>() -> u64 {
    u64::MAX >> (64 - W::BITS)
}

pub(super) fn one_and_two_rows<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(21);
    for m in moduli::<W>() {
        let p = u128::from(m.value_u64());
        for n in LENGTHS {
            let rows = extreme_rows::<W>(m.value_u64(), n, &mut random);
            let wild = extreme_rows::<W>(all_ones::<W>(), n, &mut random);
            for (i, a) in rows.iter().enumerate() {
                let b = &rows[(i + random.below(2) as usize) % rows.len()];
                let s = m.shoup(W::from_u64([1, m.value_u64() - 1, random.below(m.value_u64())][i % 3]));
                let (wide_a, wide_b, wide_s) = (wide(a), wide(b), u128::from(s.value.to_u64()));
                let check = |name: &str, f: &dyn Fn(&mut [W]), expected: &dyn Fn(u128, u128) -> u128| {
                    let mut out = a.clone();
                    f(&mut out);
                    let expected: Vec<u128> =
                        wide_a.iter().zip(&wide_b).map(|(&a, &b)| expected(a, b)).collect();
                    assert_eq!(wide(&out), expected, "{name}, {n} words modulo {p}");
                };
                check("add", &|x| k.add_assign(&m, x, b), &|a, b| (a + b) % p);
                check("sub", &|x| k.sub_assign(&m, x, b), &|a, b| (a + p - b) % p);
                check("neg", &|x| k.neg_assign(&m, x), &|a, _| (p - a) % p);
                check("mul", &|x| k.mul_assign(&m, x, b), &|a, b| a * b % p);
                check("mul_scalar", &|x| k.mul_scalar_assign(&m, x, &s), &|a, _| a * wide_s % p);
                check("mul_scalar_add", &|x| k.mul_scalar_add_assign(&m, x, b, &s), &|a, b| {
                    (a + b * wide_s) % p
                });
                check("sub_mul_scalar", &|x| k.sub_mul_scalar_assign(&m, x, b, &s), &|a, b| {
                    (a + p - b) * wide_s % p
                });
                let any = &wild[i];
                let mut out = any.clone();
                k.mul_scalar_assign(&m, &mut out, &s);
                let expected: Vec<u128> = wide(any).iter().map(|&x| x % p * wide_s % p).collect();
                assert_eq!(wide(&out), expected, "mul_scalar of any words modulo {p}");
                let mut out = a.clone();
                k.mul_scalar_add_assign(&m, &mut out, any, &s);
                let expected: Vec<u128> =
                    wide_a.iter().zip(wide(any)).map(|(&a, x)| (a + x % p * wide_s) % p).collect();
                assert_eq!(wide(&out), expected, "mul_scalar_add of any words modulo {p}");
            }
        }
    }
}

/// Sums of up to 100 terms, also where all products are the largest possible.
pub(super) fn sums_of_products<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(22);
    for m in moduli::<W>() {
        let p = u128::from(m.value_u64());
        for (n, terms) in [
            (0, 3),
            (1, 100),
            (24, 0),
            (24, 1),
            (40, 3),
            (513, 4),
            (64, 5),
            (1024, 8),
            (100, 16),
            (16, 17),
            (1500, 9),
            (40, 100),
            (67, 100),
        ] {
            for largest in [false, true] {
                let row = |random: &mut Random, n: usize| {
                    if largest {
                        vec![W::from_u64(m.value_u64() - 1); n]
                    } else {
                        random.row(m.value_u64(), n)
                    }
                };
                let lhs: Vec<Vec<W>> = (0..terms).map(|_| row(&mut random, n)).collect();
                let key = row(&mut random, 2 * n * terms);
                let start = [row(&mut random, n), row(&mut random, n)];
                let lhs: Vec<&[W]> = lhs.iter().map(Vec::as_slice).collect();
                let scalars: Vec<Shoup<W>> =
                    row(&mut random, terms).into_iter().map(|s| m.shoup(s)).collect();
                let mut out = start[0].clone();
                k.add_multiples(&m, &mut out, &lhs, &scalars);
                let sum = |i: usize| {
                    lhs.iter().zip(&scalars).fold(u128::from(start[0][i].to_u64()), |sum, (x, s)| {
                        (sum + u128::from(x[i].to_u64()) * u128::from(s.value.to_u64())) % p
                    })
                };
                let expected: Vec<u128> = (0..n).map(sum).collect();
                assert_eq!(wide(&out), expected, "{terms} multiples of {n} words modulo {p}");
                let half = |part: usize| -> Vec<&[W]> {
                    (0..terms).map(|j| &key[(2 * j + part) * n..(2 * j + part + 1) * n]).collect()
                };
                for accumulate in [false, true] {
                    let expected = |part: usize| -> Vec<u128> {
                        (0..n)
                            .map(|i| {
                                let first = if accumulate { u128::from(start[part][i].to_u64()) } else { 0 };
                                lhs.iter().zip(half(part)).fold(first, |sum, (a, b)| {
                                    (sum + u128::from(a[i].to_u64()) * u128::from(b[i].to_u64())) % p
                                })
                            })
                            .collect()
                    };
                    let [mut out0, mut out1] = start.clone();
                    k.key_product(&m, &mut out0, &mut out1, &lhs, &key, accumulate);
                    assert_eq!(wide(&out0), expected(0), "{terms} terms of {n} words modulo {p}");
                    assert_eq!(wide(&out1), expected(1), "{terms} terms of {n} words modulo {p}");
                    let mut out = start[1].clone();
                    k.inner_product(&m, &mut out, &lhs, &half(1), accumulate);
                    assert_eq!(wide(&out), expected(1), "{terms} terms of {n} words modulo {p}");
                }
            }
        }
    }
}

/// Several lanes, keys in tiles of all sizes, and samples in the middle of a key, against sums taken one row at a time.
pub(super) fn tiled_keys<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(27);
    for m in moduli::<W>() {
        for (n, tile) in
            [(64, 64), (64, 16), (64, 8), (64, 2), (2048, 512), (2048, 256), (8, 1), (1024, 1024)]
        {
            for (samples, first, terms, lanes) in [(1, 0, 1, 1), (9, 2, 6, 2), (40, 0, 40, 3), (21, 17, 4, 7)]
            {
                let mut row = |n: usize| -> Vec<W> { random.row(m.value_u64(), n) };
                let key = row(2 * n * samples);
                let lhs: Vec<Vec<Vec<W>>> =
                    (0..lanes).map(|_| (0..terms).map(|_| row(n)).collect()).collect();
                let start: Vec<[Vec<W>; 2]> = (0..lanes).map(|_| [row(n), row(n)]).collect();
                let key_row = |sample: usize, part: usize| -> Vec<W> {
                    let at = |t: usize| ((t * samples + sample) * 2 + part) * tile;
                    (0..n / tile).flat_map(|t| &key[at(t)..at(t) + tile]).copied().collect()
                };
                for accumulate in [false, true] {
                    let mut outs = start.clone();
                    let views: Vec<Vec<&[W]>> =
                        lhs.iter().map(|rows| rows.iter().map(Vec::as_slice).collect()).collect();
                    let key = KeyRows::new(&key, tile, samples);
                    let key = key.range(first, terms).followed_by((lanes == 2).then_some(key));
                    let mut products: Vec<KeyProduct<'_, W>> = outs
                        .iter_mut()
                        .zip(&views)
                        .map(|([b, a], lhs)| KeyProduct { out: [b, a], lhs: LeftRows::whole(lhs), key })
                        .collect();
                    k.key_products(&m, &mut products, accumulate);
                    for ((out, start), lhs) in outs.iter().zip(&start).zip(&lhs) {
                        for part in 0..2 {
                            let mut expected =
                                if accumulate { start[part].clone() } else { vec![W::ZERO; n] };
                            for (j, lhs) in lhs.iter().enumerate() {
                                for ((sum, &a), b) in
                                    expected.iter_mut().zip(lhs).zip(key_row(first + j, part))
                                {
                                    *sum = m.add(*sum, m.mul(a, b));
                                }
                            }
                            assert_eq!(
                                out[part], expected,
                                "{n} words in tiles of {tile}, {terms} of {samples} samples"
                            );
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn permutations<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(23);
    for m in moduli::<W>() {
        for n in LENGTHS {
            let x: Vec<W> = random.row(m.value_u64(), n);
            let start: Vec<W> = random.row(m.value_u64(), n);
            let mut perm: Vec<u32> = (0..n as u32).collect();
            for i in (1..n).rev() {
                perm.swap(i, random.below(i as u64 + 1) as usize);
            }
            let expected: Vec<W> = perm.iter().map(|&j| x[j as usize]).collect();
            let mut out = start.clone();
            k.permute(&mut out, &x, &perm);
            assert_eq!(out, expected);
            let mut out = start.clone();
            k.permute_add_assign(&m, &mut out, &x, &perm);
            let expected: Vec<W> = start.iter().zip(&expected).map(|(&a, &b)| m.add(a, b)).collect();
            assert_eq!(out, expected);
            // Some words of the sum, from anywhere in the row.
            for part in [0..n / 2, n / 3..n] {
                let mut out = start[part.clone()].to_vec();
                k.permute_add_assign(&m, &mut out, &x, &perm[part.clone()]);
                assert_eq!(out, expected[part]);
            }
        }
    }
}

/// Automorphisms, which take each pack from one pack, also to lines.
pub(super) fn automorphisms<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(27);
    for m in moduli::<W>() {
        for n in [2, 4, 8, 16, 32, 64, 512] {
            let x: Vec<W> = random.row(m.value_u64(), n);
            for g in [1, 3, 5, n | 1, 2 * n - 1] {
                let reversed = |j: usize| j.reverse_bits() >> (usize::BITS - n.trailing_zeros());
                let perm: Vec<u32> =
                    (0..n).map(|j| reversed(g * (2 * reversed(j) + 1) % (2 * n) / 2) as u32).collect();
                let expected: Vec<W> = perm.iter().map(|&j| x[j as usize]).collect();
                let mut out = vec![W::ZERO; n];
                k.permute(&mut out, &x, &perm);
                assert_eq!(out, expected);
                let (mut out, mut lines) = (vec![W::ZERO; 3 * n], vec![W::ZERO; 3 * n]);
                for j in 0..3 {
                    // Halves are permuted too: each comes from one half.
                    for (half, perm) in perm.chunks_exact(n / 2).enumerate().filter(|_| n >= 64) {
                        let (size, origin) = (n / 2, perm[0] as usize / (n / 2) * (n / 2));
                        let out = &mut out[half * 3 * size..][..3 * size];
                        k.permute_to_lines(out, (j, 3), &x[origin..][..size], perm, origin as u32);
                    }
                    if n < 64 {
                        k.permute_to_lines(&mut out, (j, 3), &x, &perm, 0);
                    }
                    row_to_lines(&expected, (j, 3), &mut lines);
                }
                assert_eq!(out, lines);
            }
        }
    }
}

/// An index outside the row must stop the call, in every backend, rather than read elsewhere.
pub(super) fn permutation_out_of_range<W: Word>(k: &dyn Kernels<W>) {
    for (n, at, index) in [(64usize, 13usize, 64u32), (64, 63, u32::MAX), (5, 4, 5), (64, 0, 1 << 31)] {
        let x = vec![W::ONE; n];
        let mut perm = vec![0; n];
        perm[at] = index;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut out = vec![W::ZERO; n];
            k.permute(&mut out, &x, &perm);
            k.permute_to_lines(&mut out, (0, 1), &x, &perm, 0);
        }));
        assert!(outcome.is_err(), "index {index} of {n}");
    }
}

pub(super) fn changes_of_modulus<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(24);
    let moduli = moduli::<W>();
    for from in &moduli {
        for to in &moduli {
            for n in [3, 16, 77, 520] {
                for x in extreme_rows::<W>(from.value_u64(), n, &mut random) {
                    let mut out = vec![W::ONE; n];
                    k.lift_centered(from, to, &mut out, &x);
                    let (p, q) = (i128::from(from.value_u64()), i128::from(to.value_u64()));
                    for (out, &x) in out.iter().zip(&x) {
                        let x = i128::from(x.to_u64());
                        let centered = if 2 * x > p { x - p } else { x };
                        assert_eq!(i128::from(out.to_u64()), centered.rem_euclid(q), "{p} to {q}");
                    }
                }
            }
        }
        let n = 131;
        let p = i128::from(from.value_u64());
        let bound = (1i64 << 62) - 1;
        let signed: Vec<Vec<i64>> = vec![
            (0..n).map(|_| random.next() as i64 >> 2).collect(),
            (0..n).map(|_| random.next() as i64 >> 40).collect(),
            (0..n)
                .map(|i| {
                    [0, 1, -1, bound, -bound, from.value_u64() as i64, -(from.value_u64() as i64)][i % 7]
                })
                .collect(),
        ];
        for x in signed {
            let mut out = vec![W::ONE; n];
            k.reduce_i64(from, &mut out, &x);
            let expected: Vec<u128> = x.iter().map(|&x| i128::from(x).rem_euclid(p) as u128).collect();
            assert_eq!(wide(&out), expected, "integers modulo {p}");
        }
    }
}

/// Residues of one integer modulo `sources`, recombined modulo `to`, for 1 to 20 sources.
pub(super) fn basis_conversion<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(25);
    let bits = f64::from(W::MAX_MODULUS_BITS);
    for count in [0usize, 1, 2, 5, 8, 20] {
        for (bits, n) in [(bits - 0.05, 37), (bits - 3.0, 16), (20.0, 200)] {
            let sources: Vec<Modulus<W>> = crate::arith::primes::ntt_primes(bits, 64)
                .filter(|p| p >> W::MAX_MODULUS_BITS == 0)
                .take(count)
                .map(|p| Modulus::new(p).unwrap())
                .collect();
            let inv_d: Vec<f64> = sources.iter().map(|d| 1.0 / d.value_u64() as f64).collect();
            for largest in [false, true] {
                let ys: Vec<Vec<W>> = sources
                    .iter()
                    .map(|d| {
                        if largest {
                            vec![W::from_u64(d.value_u64() - 1); n]
                        } else {
                            random.row(d.value_u64(), n)
                        }
                    })
                    .collect();
                let ys: Vec<&[W]> = ys.iter().map(Vec::as_slice).collect();
                let mut v = vec![W::ONE; n];
                k.crt_overflow(&mut v, &ys, &inv_d);
                for (i, v) in v.iter().enumerate() {
                    let mut sum = 0.0;
                    for (y, inv_d) in ys.iter().zip(&inv_d) {
                        sum += y[i].to_u64() as f64 * inv_d;
                    }
                    assert_eq!(v.to_u64(), (sum + 0.5).floor() as u64);
                }
                for to in moduli::<W>() {
                    let p = u128::from(to.value_u64());
                    let w: Vec<_> = (0..count)
                        .map(|_| {
                            let value =
                                if largest { to.value_u64() - 1 } else { random.below(to.value_u64()) };
                            to.shoup(W::from_u64(value))
                        })
                        .collect();
                    let d = to.shoup(W::from_u64(random.below(to.value_u64())));
                    let mut out = vec![W::ONE; n];
                    k.crt_combine(&to, &mut out, &ys, &w, &v, &d);
                    for i in 0..n {
                        let sum = ys.iter().zip(&w).fold(0, |sum, (y, w)| {
                            (sum + u128::from(y[i].to_u64()) * u128::from(w.value.to_u64())) % p
                        });
                        let overflow = u128::from(v[i].to_u64()) * u128::from(d.value.to_u64()) % p;
                        assert_eq!(u128::from(out[i].to_u64()), (sum + p - overflow) % p);
                    }
                }
            }
        }
    }
}

/// The rounding of ties, and sums whose value depends on the order of their terms.
pub(super) fn overflow_rounding<W: Word>(k: &dyn Kernels<W>) {
    let n = 19;
    let words = |x: u64| vec![W::from_u64(x); n];
    for (ys, inv_d, expected) in [
        (vec![1], vec![0.5], 1),
        (vec![3], vec![0.5], 2),
        (vec![1], vec![0.499_999_999_999_999_9], 0),
        (vec![1, 1, 1], vec![1.0, 2f64.powi(-53), 2f64.powi(-53)], 1),
        (vec![1, 1, 1], vec![0.5 - 2f64.powi(-53), 2f64.powi(-55), 2f64.powi(-55)], 0),
        (vec![1, 1, 1], vec![2f64.powi(-55), 2f64.powi(-55), 0.5 - 2f64.powi(-53)], 1),
    ] {
        let rows: Vec<Vec<W>> = ys.into_iter().map(words).collect();
        let rows: Vec<&[W]> = rows.iter().map(Vec::as_slice).collect();
        let mut v = words(7);
        k.crt_overflow(&mut v, &rows, &inv_d);
        let mut sum = 0.0f64;
        for (row, d) in rows.iter().zip(&inv_d) {
            sum += row[0].to_u64() as f64 * d;
        }
        assert_eq!(((sum + 0.5) as u64, v), (expected, words(expected)), "{inv_d:?}");
    }
}
