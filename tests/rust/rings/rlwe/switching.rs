//! Key switching at every level, and its noise.

use num_bigint::BigInt;
use refloat::arith::Word;
use refloat::ring::{Automorphism, GaloisElement, centered_f64, from_integers};
use refloat::rlwe::{Pair, RlweSpec};
use refloat::trace::Counters;
use refloat_tests::ring::automorphism;
use refloat_tests::rns::Lottery;

use super::setup::{Keys, assert_within, mean_square, narrow_chains, spec, wide_chains};

fn switches_keep_messages<W: Word>(spec: &RlweSpec) {
    let keys = Keys::<W>::new(spec, 3);
    let context = &keys.context;
    let n = spec.n;
    let mut lottery = Lottery::new(13);
    let message: Vec<i64> = (0..n).map(|_| (lottery.word() % 2001) as i64 - 1000).collect();
    let integers: Vec<BigInt> = message.iter().map(|&m| m.into()).collect();
    for key_level in 0..=context.max_level() {
        let relinearization = keys.secret.relinearization_key(context, &keys.seeds, key_level);
        for level in 0..=key_level {
            let q = context.q(level);
            let largest = 8.0 * keys.switching_variance(level).sqrt();
            let near = |found: &Pair<W>, expected: &[BigInt], what: &str| {
                let mut difference = keys.phase(found).into_coeff();
                difference.sub_assign(&refloat_tests::rns::from_big(q, expected));
                let worst = centered_f64(&difference).iter().fold(0.0f64, |m, x| m.max(x.abs()));
                assert!(worst < largest, "{what}, key {key_level}, level {level}: {worst} of {largest}");
                // A switch without noise would not be a switch.
                assert!(worst > 0.0, "{what}");
            };
            for g in [1, 3, 5, 25 % (2 * n as u64), 2 * n as u64 - 1] {
                let element = GaloisElement::new(g, n).expect("odd");
                let key = keys.secret.galois_key(context, &keys.seeds, key_level, element);
                let x = keys.exact(level, &message, &mut lottery);
                let g = Automorphism::new(n, element);
                let out = context.automorphism(level, &x, &g, &key, &mut Counters::default());
                near(&out, &automorphism(&integers, element.value() as usize), "automorphism");
            }
            // d0 + d1 s + d2 s^2 = m with uniform d1, d2.
            let (d1, d2) = (lottery.poly(q).into_eval(), lottery.poly(q).into_eval());
            let s = keys.secret.modulo_q(q);
            let mut high = d2.mul(&s);
            high.add_assign(&d1);
            let mut d0 = from_integers(q, &message).into_eval();
            d0.sub_assign(&high.mul(&s));
            let mut counters = Counters::default();
            let digits = context.decompose(level, &d2, &mut counters);
            let mut out = Pair::zero(context.qp(level));
            context.key_product(&[&digits], &relinearization, &mut out, false, &mut counters);
            context.add_special_multiple(&mut out.b, &d0);
            context.add_special_multiple(&mut out.a, &d1);
            near(&context.divide_by_special(level, out, &mut counters), &integers, "relinearisation");
            let (l, k, beta) = (q.len(), spec.special.len(), context.digit_count(level));
            assert_eq!(counters.ntt, (beta * (l + k) + 2 * (l + k)) as u64, "transforms");
            assert_eq!((counters.limb_mac, counters.key_switch), ((2 * beta * (l + k)) as u64, 1));
        }
    }
}

#[test]
fn keys_of_every_level_serve_that_level_and_those_below() {
    narrow_chains(64).iter().for_each(switches_keep_messages::<u32>);
    wide_chains(64).iter().for_each(switches_keep_messages::<u64>);
    // The smallest ring there is.
    switches_keep_messages::<u32>(&spec(8, &[&[20.0], &[15.0]], &[28.0], &[&[0], &[1]]));
}

fn switching_noise<W: Word>(spec: &RlweSpec, key_level: usize, level: usize) {
    let (mut measured, mut expected) = (0.0, 0.0);
    let mut lottery = Lottery::new(14);
    for trial in 0..12 {
        let keys = Keys::<W>::new(spec, 40 + trial);
        let element = GaloisElement::rotation(i64::from(trial) + 1, spec.n);
        let key = keys.secret.galois_key(&keys.context, &keys.seeds, key_level, element);
        let x = keys.exact(level, &vec![0; spec.n], &mut lottery);
        let g = Automorphism::new(spec.n, element);
        let out = keys.context.automorphism(level, &x, &g, &key, &mut Counters::default());
        measured += mean_square(&centered_f64(&keys.phase(&out).into_coeff()));
        expected += keys.switching_variance(level);
    }
    assert_within(measured, expected, &format!("key of level {key_level} at level {level} of {spec:?}"));
}

#[test]
fn switching_noise_is_that_of_the_formula() {
    for spec in narrow_chains(512) {
        let top = spec.levels.len() - 1;
        switching_noise::<u32>(&spec, top, top);
        switching_noise::<u32>(&spec, top, 1);
        switching_noise::<u32>(&spec, 1, 1);
        switching_noise::<u32>(&spec, top, 0);
    }
    for spec in wide_chains(512) {
        switching_noise::<u64>(&spec, 2, 2);
        switching_noise::<u64>(&spec, 2, 0);
    }
}
