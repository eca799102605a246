//! One decomposition or one block of keys for several products.

use refloat::arith::Word;
use refloat::ring::{Automorphism, GaloisElement, centered_f64};
use refloat::rlwe::{Digits, GadgetTarget, Pair, RlweSpec, SampleBlock, switching_sample};
use refloat::trace::Counters;
use refloat_tests::rns::Lottery;

use super::setup::{Keys, narrow_chains, wide_chains};

fn same<W: Word>(x: &Pair<W>, y: &Pair<W>) -> bool {
    x.b.data() == y.b.data() && x.a.data() == y.a.data()
}

fn hoisting_is_exact<W: Word>(spec: &RlweSpec) {
    let keys = Keys::<W>::new(spec, 5);
    let (context, top, n) = (&keys.context, keys.context.max_level(), spec.n);
    let mut lottery = Lottery::new(15);
    for level in [top, 0] {
        let x = keys.exact(level, &vec![3; n], &mut lottery);
        let mut counters = Counters::default();
        let digits = context.decompose(level, &x.a, &mut counters);
        let mut total = Pair::zero(context.q(level));
        for steps in [1, 2, -3] {
            let element = GaloisElement::rotation(steps, n);
            let g = Automorphism::new(n, element);
            let key = keys.secret.galois_key(context, &keys.seeds, top, element);
            let mut out = Pair::zero(context.qp(level));
            context.key_product(&[&digits], &key, &mut out, false, &mut counters);
            context.add_special_multiple(&mut out.b, &x.b);
            // Adding a permuted pair is adding the permutation.
            let mut permuted = out.clone();
            permuted.automorphism_add_assign(&out, &g);
            let mut expected = out.clone();
            expected.add_assign(&out.automorphism(&g));
            assert!(same(&permuted, &expected));
            let hoisted = context.divide_by_special(level, out.automorphism(&g), &mut counters);
            let separate = context.automorphism(level, &x, &g, &key, &mut counters);
            assert!(same(&hoisted, &separate), "rotation by {steps} at level {level}");
            total.add_assign(&hoisted);
        }
        let phase = centered_f64(&keys.phase(&total).into_coeff());
        // 3 (1 + X + ...) rotated three times: each coefficient is ± 3 in each term.
        assert!(phase.iter().all(|x| x.abs() < 9.0 + 24.0 * keys.switching_variance(level).sqrt()));
    }
}

#[test]
fn one_decomposition_serves_several_keys() {
    narrow_chains(32).iter().for_each(hoisting_is_exact::<u32>);
    wide_chains(32).iter().for_each(hoisting_is_exact::<u64>);
}

fn memory_is_reusable<W: Word>(spec: &RlweSpec) {
    let keys = Keys::<W>::new(spec, 10);
    let (context, top) = (&keys.context, keys.context.max_level());
    let key = keys.secret.relinearization_key(context, &keys.seeds, top);
    let mut lottery = Lottery::new(19);
    let mut used = Digits::default();
    // Up and down again: what an earlier, larger value left behind must not show.
    for level in [0, top, 0, top] {
        let mut counters = [Counters::default(); 2];
        let x = lottery.poly(context.q(level)).into_eval();
        let fresh = context.decompose(level, &x, &mut counters[0]);
        context.decompose_into(level, &x, &mut used, &mut counters[1]);
        assert_eq!((used.level(), used.count()), (level, fresh.count()));
        for limb in 0..context.qp(level).len() {
            assert!((0..fresh.count()).all(|j| fresh.row(limb, j) == used.row(limb, j)), "level {level}");
        }
        let dirty = |basis, lottery: &mut Lottery| Pair {
            b: lottery.poly(basis).into_eval(),
            a: lottery.poly(basis).into_eval(),
        };
        let mut sum = dirty(context.qp(level), &mut lottery);
        sum.set_zero();
        context.key_product(&[&used], &key, &mut sum, true, &mut counters[1]);
        let mut clean = dirty(context.qp(level), &mut lottery);
        context.key_product(&[&fresh], &key, &mut clean, false, &mut counters[0]);
        assert!(same(&sum, &clean), "level {level}");
        let mut into = dirty(context.q(level), &mut lottery);
        context.divide_by_special_into(level, &mut sum, &mut into, &mut counters[1]);
        assert!(same(&into, &context.divide_by_special(level, clean, &mut counters[0])), "level {level}");
        assert_eq!(counters[0], counters[1]);
    }
}

#[test]
fn memory_used_before_changes_nothing() {
    narrow_chains(16).iter().for_each(memory_is_reusable::<u32>);
    wide_chains(16).iter().for_each(memory_is_reusable::<u64>);
}

fn vectors_add_up<W: Word>(spec: &RlweSpec) {
    let keys = Keys::<W>::new(spec, 6);
    let (context, top) = (&keys.context, keys.context.max_level());
    let count = context.digit_count(top);
    let s = keys.secret.eval();
    let sources = [s.mul(s), s.automorphism(&Automorphism::conjugation(spec.n))];
    let special = context.special().len();
    let mut both = SampleBlock::zero(context.qp(top), special, 2 * count);
    let mut each: Vec<SampleBlock<W>> = Vec::new();
    for (i, u) in sources.iter().enumerate() {
        let mut one = SampleBlock::zero(context.qp(top), special, count);
        for digit in 0..count {
            let name = ([77, 0, 0, 0], i * count + digit);
            let target = GadgetTarget { level: top, digit };
            let sample = switching_sample(context, &keys.seeds, name, target, u, s);
            both.set(i * count + digit, &sample);
            one.set(digit, &sample);
        }
        each.push(one);
    }
    let mut lottery = Lottery::new(16);
    for level in 0..=top {
        let mut counters = Counters::default();
        let x: Vec<_> = (0..2).map(|_| lottery.poly(context.q(level)).into_eval()).collect();
        let digits: Vec<_> = x.iter().map(|x| context.decompose(level, x, &mut counters)).collect();
        let mut together = Pair::zero(context.qp(level));
        context.key_product(&[&digits[0], &digits[1]], &both, &mut together, false, &mut counters);
        let mut apart = Pair::zero(context.qp(level));
        for (digits, key) in digits.iter().zip(&each) {
            context.key_product(&[digits], key, &mut apart, true, &mut counters);
        }
        assert!(same(&together, &apart), "level {level}");
        // And what was there before is kept, or not.
        context.key_product(&[&digits[0]], &each[0], &mut apart, false, &mut counters);
        context.key_product(&[&digits[1]], &each[1], &mut apart, true, &mut counters);
        assert!(same(&together, &apart), "level {level}");
    }
}

#[test]
fn gadget_vectors_of_one_block_add_up_at_every_level() {
    narrow_chains(16).iter().for_each(vectors_add_up::<u32>);
    wide_chains(16).iter().for_each(vectors_add_up::<u64>);
}
