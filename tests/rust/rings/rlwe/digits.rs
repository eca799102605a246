//! Digits recompose, and divisions round once.

use num_bigint::BigInt;
use refloat::arith::Word;
use refloat::ring::{Basis, Eval, Poly};
use refloat::rlwe::RlweSpec;
use refloat::trace::Counters;
use refloat_tests::ring::{centred, product, round_div};
use refloat_tests::rns::{Lottery, to_big};

use super::setup::{Keys, narrow_chains, wide_chains};

fn digits_recompose<W: Word>(spec: &RlweSpec) {
    let keys = Keys::<W>::new(spec, 1);
    let context = &keys.context;
    let mut lottery = Lottery::new(11);
    for level in 0..=context.max_level() {
        let (q, qp) = (context.q(level), context.qp(level));
        let q_primes: Vec<u64> = q.primes().collect();
        let modulus = product(&q_primes);
        // Ends of the range beside uniform values.
        let mut x = lottery.poly(q);
        for (i, row) in x.rows_mut() {
            let p = q_primes[i];
            for (entry, value) in row.iter_mut().zip([0, 1, p - 1]) {
                *entry = W::from_u64(value);
            }
        }
        let values = to_big(&x);
        let digits = context.decompose(level, &x.into_eval(), &mut Counters::default());
        assert_eq!((digits.level(), digits.count()), (level, context.digit_count(level)));
        let mut sum = vec![BigInt::ZERO; spec.n];
        for (j, members) in spec.digits.iter().take(digits.count()).enumerate() {
            let own: Vec<u64> = members.iter().filter_map(|&i| q_primes.get(i).copied()).collect();
            let d = product(&own);
            let rows = (0..qp.len()).flat_map(|limb| digits.row(limb, j)).collect();
            let digit = to_big(&Poly::<W, Eval>::from_rows(qp, rows).into_coeff());
            // One integer in all primes of Q P, centred.
            let expected: Vec<BigInt> = values.iter().map(|x| centred(x, &d)).collect();
            assert_eq!(digit, expected, "level {level}, digit {j}");
            // The gadget element: 1 modulo the primes of the digit, 0 modulo the others.
            let rest = &modulus / &d;
            let g = &rest * rest.modinv(&d).expect("coprime");
            sum.iter_mut().zip(&digit).for_each(|(sum, digit)| *sum += digit * &g);
        }
        let sum: Vec<BigInt> = sum.iter().map(|x| centred(x, &modulus)).collect();
        assert_eq!(sum, values, "level {level}");
    }
}

#[test]
fn gadget_digits_are_centred_and_recompose() {
    narrow_chains(16).iter().for_each(digits_recompose::<u32>);
    narrow_chains(16).iter().for_each(digits_recompose::<u64>);
    wide_chains(16).iter().for_each(digits_recompose::<u64>);
}

fn divisions_round_once<W: Word>(spec: &RlweSpec) {
    let context = Keys::<W>::new(spec, 2).context;
    let special = product(&spec.special);
    let mut lottery = Lottery::new(12);
    for level in 0..=context.max_level() {
        let (q, dropped) = (context.q(level), product(&spec.levels[level]));
        let x = lottery.poly(context.qp(level));
        let lower = (level > 0).then(|| context.q(level - 1));
        let rounded = |x: &[BigInt], d: &BigInt, to: &Basis<W>| -> Vec<BigInt> {
            let to = product(&to.primes().collect::<Vec<_>>());
            x.iter().map(|x| centred(&round_div(x, d), &to)).collect()
        };
        let down = |by: &refloat::ring::ModDown<W>, x: &Poly<W, _>| {
            to_big(&by.apply(Poly::clone(x).into_eval()).into_coeff())
        };
        assert_eq!(down(context.mod_down(level), &x), rounded(&to_big(&x), &special, q), "level {level}");
        let Some(lower) = lower else {
            for refused in [context.rescale(0).err(), context.mod_down_rescale(0).err()] {
                assert_eq!(refused.expect("nothing below").code(), "LEVEL_MISMATCH");
            }
            continue;
        };
        let y = lottery.poly(q);
        let rescale = context.rescale(level).expect("a level below");
        assert_eq!(down(rescale, &y), rounded(&to_big(&y), &dropped, lower), "level {level}");
        let merged = context.mod_down_rescale(level).expect("a level below");
        let both = &special * &dropped;
        assert_eq!(down(merged, &x), rounded(&to_big(&x), &both, lower), "level {level}");
    }
    let above = context.max_level() + 1;
    for refused in [context.rescale(above).err(), context.mod_down_rescale(above).err()] {
        let refused = refused.expect("no such level");
        assert_eq!(refused.code(), "LEVEL_MISMATCH");
        assert!(refused.to_string().contains(&above.to_string()), "{refused}");
    }
}

#[test]
fn rescaling_and_division_by_p_round_once_even_together() {
    narrow_chains(16).iter().for_each(divisions_round_once::<u32>);
    wide_chains(16).iter().for_each(divisions_round_once::<u64>);
}
