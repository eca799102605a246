//! The row operations of DM/CGGI against wide integers, on every backend.

use super::{Random, extreme_rows};
use crate::arith::backends::gates::{all_u32, all_u64};
use crate::arith::kernels::gates::{
    DigitCut, GateKernels, PAIR_KEYS, TURN_RUN, Turns, product_fits, rough_bound, unrolled_fits,
};
use crate::arith::{Modulus, NttTable, Word};

/// Lengths around every vector width.
const LENGTHS: [usize; 8] = [1, 2, 7, 8, 16, 33, 64, 256];

/// Primes, bits of a digit, and numbers of digits.
const CUTS: [(u64, u32, usize); 7] = [
    (134_215_681, 8, 2),
    (134_215_681, 7, 3),
    (134_215_681, 27, 1),
    (134_215_681, 1, 5),
    (1_073_692_673, 9, 2),
    (1_073_692_673, 7, 4),
    (7681, 13, 1),
];

fn cut<W: Word>(p: u64, base_log: u32, digits: usize) -> DigitCut<W> {
    let drop = (u64::BITS - p.leading_zeros()) - base_log * digits as u32;
    let halves: u64 = (0..digits as u32).map(|k| 1 << (drop + k * base_log + base_log - 1)).sum();
    let bias = ((1 << drop) >> 1) + halves - p / 2;
    let word = W::from_u64;
    DigitCut { p: word(p), half: word(p / 2), bias: word(bias), drop, base_log, digits }
}

/// Digit `k` of a residue, by the documented formula.
fn digit<W: Word>(cut: &DigitCut<W>, x: u64, k: usize) -> u64 {
    let [p, half, bias] = [cut.p, cut.half, cut.bias].map(|x| i128::from(x.to_u64()));
    let above = ((i128::from(x) + half) % p + bias) >> (cut.drop + k as u32 * cut.base_log);
    let base = 1i128 << cut.base_log;
    let kept = if k + 1 == cut.digits { above } else { above % base };
    (kept - base / 2).rem_euclid(p) as u64
}

fn digits_of_rows<W: Word>(k: &dyn GateKernels<W>, p: u64, base_log: u32, digits: usize) {
    let cut = cut::<W>(p, base_log, digits);
    let m = Modulus::<W>::new(p).unwrap();
    let mut random = Random::new(p);
    for n in LENGTHS {
        for x in extreme_rows::<W>(p, n, &mut random) {
            let expected = |row: &[W]| -> Vec<W> {
                let of = |k: usize| row.iter().map(move |x| (x.to_u64(), k)).collect::<Vec<_>>();
                (0..digits).flat_map(of).map(|(x, k)| W::from_u64(digit(&cut, x, k))).collect()
            };
            let mut out = vec![W::ONE; digits * n];
            k.digits(&cut, &mut out, &x);
            assert_eq!(out, expected(&x), "{}: {digits} digits modulo {p}", k.name());
            let mut mirrored = vec![W::ZERO; 3 * n];
            k.add_mirrored(&m, &mut mirrored, &x);
            let negative: Vec<W> = x.iter().map(|&x| m.neg(x)).collect();
            assert_eq!(mirrored, [x.clone(), negative, x.clone()].concat(), "{}", k.name());
            for exponent in [0, 1, n - 1, n, n + 1, 2 * n - 1, 2 * n] {
                let turned: Vec<W> = (0..n)
                    .map(|j| {
                        let from = (j + 2 * n - exponent % (2 * n)) % (2 * n);
                        let value = if from < n { x[from] } else { m.neg(x[from - n]) };
                        m.sub(value, x[j])
                    })
                    .collect();
                k.turned_digits(&cut, &mut out, &mirrored, exponent);
                assert_eq!(out, expected(&turned), "{}: X^{exponent}, degree {n}", k.name());
            }
            let y = random.row::<W>(p, n);
            k.add_mirrored(&m, &mut mirrored, &y);
            for j in 0..n {
                let sum = m.add(x[j], y[j]);
                assert_eq!([mirrored[j], mirrored[n + j], mirrored[2 * n + j]], [sum, m.neg(sum), sum]);
            }
        }
    }
}

fn sums_of_rows<W: Word>(k: &dyn GateKernels<W>) {
    let mut random = Random::new(5);
    for width in [1, 7, 16, 65, 638] {
        for count in [0, 1, 7, 8, 9, 40] {
            let wide: Vec<u32> = (0..50 * width).map(|_| random.next() as u32).collect();
            let narrow: Vec<u16> = wide.iter().map(|&x| x as u16).collect();
            let chosen: Vec<(u32, i16)> =
                (0..count).map(|_| (random.below(50) as u32, random.below(9) as i16 - 4)).collect();
            let start: Vec<u32> = (0..width).map(|_| random.next() as u32).collect();
            let expected: Vec<u32> = (0..width)
                .map(|j| {
                    let sum = chosen.iter().fold(i128::from(start[j]), |sum, &(row, factor)| {
                        sum + i128::from(wide[row as usize * width + j]) * i128::from(factor)
                    });
                    sum.rem_euclid(1 << 32) as u32
                })
                .collect();
            let mut sum = start.clone();
            k.add_rows_wide(&mut sum, &wide, &chosen);
            assert_eq!(sum, expected, "{}: {count} rows of {width}", k.name());
            let mut sum: Vec<u16> = start.iter().map(|&x| x as u16).collect();
            k.add_rows_narrow(&mut sum, &narrow, &chosen);
            assert!(sum.iter().zip(&expected).all(|(&x, &y)| x == y as u16), "{}", k.name());
        }
    }
}

#[test]
fn digits_are_the_documented_ones_on_every_backend() {
    for (p, base_log, digits) in CUTS {
        for k in all_u32() {
            digits_of_rows(k, p, base_log, digits);
        }
        for k in all_u64() {
            digits_of_rows(k, p, base_log, digits);
        }
    }
    for k in all_u64() {
        digits_of_rows(k, 1_125_899_906_826_241, 23, 1);
        digits_of_rows(k, 1_125_899_906_826_241, 10, 4);
    }
}

#[test]
fn rows_add_up_on_every_backend() {
    all_u32().into_iter().for_each(sums_of_rows);
    all_u64().into_iter().for_each(sums_of_rows);
}

/// Products of the largest words and of random ones, against wide integers.
fn sums_of_products<W: Word>(k: &dyn GateKernels<W>, p: u64) {
    let m = Modulus::<W>::new(p).unwrap();
    let mut random = Random::new(p);
    for (n, terms) in [(16, 1), (64, 2), (256, 4), (32, 6), (1024, 8), (16, 11)] {
        for rough in [false, true] {
            if !product_fits::<W>(p, n, terms, rough) {
                continue;
            }
            let largest = if rough { rough_bound(p, n).unwrap() } else { p - 1 };
            for extreme in [false, true] {
                let rows: Vec<W> = if extreme {
                    vec![W::from_u64(largest); terms * n]
                } else {
                    random.row(largest + 1, terms * n)
                };
                for columns in [1, 2] {
                    let key: Vec<W> = if extreme {
                        vec![W::from_u64(p - 1); columns * terms * n]
                    } else {
                        random.row(p, columns * terms * n)
                    };
                    let mut prepared = vec![W::ZERO; key.len()];
                    k.prepare_key(&m, &mut prepared, &key, columns * terms);
                    let mut out = vec![W::ONE; columns * n];
                    let mut parts: Vec<&mut [W]> = out.chunks_exact_mut(n).collect();
                    k.gate_product(&m, &mut parts, &rows, &prepared, rough);
                    for (column, out) in out.chunks_exact(n).enumerate() {
                        for (j, found) in out.iter().enumerate() {
                            let sum = (0..terms).fold(0u128, |sum, t| {
                                let factor = key[(columns * t + column) * n + j].to_u64();
                                (sum + u128::from(rows[t * n + j].to_u64()) * u128::from(factor))
                                    % u128::from(p)
                            });
                            let found = u128::from(found.to_u64());
                            assert_eq!(found, sum, "{}: {terms} terms modulo {p}", k.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn products_with_prepared_keys_are_exact_on_every_backend() {
    for p in [7681u64, 134_215_681, 1_073_692_673] {
        for k in all_u32() {
            sums_of_products(k, p);
        }
    }
    for p in [134_215_681u64, 1_125_899_906_826_241] {
        for k in all_u64() {
            sums_of_products(k, p);
        }
    }
    assert!(
        product_fits::<u32>(134_215_681, 1024, 8, true) && !product_fits::<u32>(134_215_681, 1024, 11, true)
    );
    assert!(product_fits::<u32>(1_073_692_673, 2048, 8, false));
    assert!(
        !product_fits::<u32>(1_073_692_673, 2048, 1, true)
            && !product_fits::<u32>(1_073_692_673, 2048, 13, false)
    );
}

/// Digits times four turned keys, where all words are the largest, or random; against wide integers.
fn unrolled_products<W: Word>(k: &dyn GateKernels<W>, p: u64) {
    let m = Modulus::<W>::new(p).unwrap();
    let mut random = Random::new(p);
    for (n, terms) in [(64, 2), (128, 4), (64, 1), (256, 6), (64, 8)] {
        for rough in [false, true] {
            if !unrolled_fits::<W>(p, n, terms, rough) {
                continue;
            }
            let largest = if rough { rough_bound(p, n).unwrap() } else { p - 1 };
            for extreme in [false, true] {
                let mut take = |bound: u64, count: usize| -> Vec<W> {
                    if extreme { vec![W::from_u64(bound - 1); count] } else { random.row(bound, count) }
                };
                let rows = take(largest + 1, terms * n);
                let key = take(p, PAIR_KEYS * terms * 2 * n);
                let mut turns = Turns::new(n);
                for low in &mut turns.low {
                    low.copy_from_slice(&take(p, TURN_RUN));
                }
                for high in &mut turns.high {
                    for (high, value) in high.iter_mut().zip(take(p, 3)) {
                        *high = m.shoup(value);
                    }
                }
                let mut prepared = vec![W::ZERO; key.len()];
                k.prepare_unrolled(&m, n, &mut prepared, &key);
                let mut out = [vec![W::ONE; n], vec![W::ONE; n]];
                let [out0, out1] = &mut out;
                k.unrolled_product(&m, [out0, out1], &rows, &prepared, &turns, rough);
                let p = u128::from(p);
                let word = |x: W| u128::from(x.to_u64());
                for (column, out) in out.iter().enumerate() {
                    for (j, &found) in out.iter().enumerate() {
                        let sum = (0..terms).fold(0, |sum, t| {
                            let key = |number: usize| word(key[((number * terms + t) * 2 + column) * n + j]);
                            let turned = (0..3).fold(key(0), |sum, i| {
                                let high = word(turns.high[j / TURN_RUN][i].value);
                                (sum + word(turns.low[i][j % TURN_RUN]) * high % p * key(i + 1)) % p
                            });
                            (sum + word(rows[t * n + j]) * turned) % p
                        });
                        assert_eq!(word(found), sum, "{}: {terms} terms modulo {p}", k.name());
                    }
                }
            }
        }
    }
}

#[test]
fn unrolled_products_are_exact_on_every_backend() {
    for p in [7681u64, 134_215_681, 1_073_692_673] {
        for k in all_u32() {
            unrolled_products(k, p);
        }
    }
    for p in [134_215_681u64, 1_125_899_906_826_241, 1_152_921_504_606_830_593] {
        for k in all_u64() {
            unrolled_products(k, p);
        }
    }
    // The existing parameter sets.
    assert!(unrolled_fits::<u32>(134_215_681, 1024, 4, true));
    assert!(unrolled_fits::<u32>(1_073_692_673, 2048, 4, false));
    assert!(unrolled_fits::<u64>(1_125_899_906_826_241, 2048, 2, false));
}

#[test]
fn rough_transforms_are_bounded_and_congruent_on_every_backend() {
    let mut random = Random::new(9);
    for n in [16, 64, 128, 256, 1024] {
        for p in [12_289u64, 134_215_681] {
            let Ok(table) = NttTable::<u32>::new(Modulus::new(p).unwrap(), n) else { continue };
            let bound = rough_bound(p, n).unwrap();
            for x in extreme_rows::<u32>(p, n, &mut random) {
                let mut exact = x.clone();
                u32::kernels().ntt_forward(&table, &mut exact);
                let mut first: Option<Vec<u32>> = None;
                for k in all_u32() {
                    let mut out = x.clone();
                    k.ntt_forward_rough(&table, &mut out);
                    assert!(out.iter().all(|&x| u64::from(x) <= bound), "{}: beyond {bound}", k.name());
                    let reduced: Vec<u32> = out.iter().map(|&x| x % p as u32).collect();
                    assert_eq!(reduced, exact, "{}: degree {n} modulo {p}", k.name());
                    // Where every backend has the stages without reductions, even the words are the same.
                    if n >= 512 {
                        assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "{}", k.name());
                    }
                }
            }
        }
    }
}

/// The order is a permutation of the ordinary one, and the inverse takes it back.
#[test]
fn own_orders_hold_the_same_evaluations_on_every_backend() {
    fn check<W: Word>(k: &dyn GateKernels<W>, p: u64, n: usize) {
        let Ok(table) = NttTable::<W>::new(Modulus::new(p).unwrap(), n) else { return };
        let mut random = Random::new(n as u64);
        for x in extreme_rows::<W>(p, n, &mut random) {
            for rough in [false, true] {
                if rough && (W::BITS > 32 || rough_bound(p, n).is_none()) {
                    continue;
                }
                let (mut own, mut ordinary) = (x.clone(), x.clone());
                k.evaluate(&table, &mut own, rough, &x);
                W::kernels().ntt_forward(&table, &mut ordinary);
                k.reorder(&table, &mut ordinary);
                let mut reduced: Vec<W> = own.iter().map(|x| W::from_u64(x.to_u64() % p)).collect();
                assert_eq!(reduced, ordinary, "{}: degree {n} modulo {p}", k.name());
                assert!(rough || reduced == own);
                k.interpolate(&table, &mut reduced, &x);
                assert_eq!(reduced, x, "{}: degree {n} modulo {p}", k.name());
            }
        }
    }
    for n in [16, 64, 128, 256, 512, 1024, 2048] {
        for p in [12_289, 134_215_681, 1_073_692_673, 2_013_265_921] {
            for k in all_u32() {
                check(k, p, n);
            }
            for k in all_u64() {
                check(k, p, n);
            }
        }
        for k in all_u64() {
            check(k, 1_125_899_906_826_241, n);
        }
    }
}
