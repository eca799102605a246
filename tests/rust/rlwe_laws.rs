//! Laws of hybrid key switching and of the encapsulation: digits recompose, switched ciphertexts
//! decrypt, and the noise they gain is the one the formula says, at every level.

use num_bigint::BigInt;
use refloat::Error;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Automorphism, Basis, Eval, GaloisElement, Poly, SmallPoly, centered_f64, from_integers};
use refloat::rlwe::{
    Digits, EncapsulationContext, EncapsulationDigits, GadgetTarget, KeySeeds, Pair, RlweContext, RlweSpec,
    SampleBlock, SecretKey, SparseSecret, expand_a, switching_sample,
};
use refloat::security::{SecretDistribution, SecurityPolicy};
use refloat::trace::Counters;
use refloat_tests::ring::{automorphism, centred, product, round_div};
use refloat_tests::rns::{Lottery, primes, to_big};

/// Variance of a coefficient of an error: CBD(21).
const ERROR: f64 = 10.5;

/// A chain with one list of prime sizes per level.
fn spec(n: usize, levels: &[&[f64]], special: &[f64], digits: &[&[usize]]) -> RlweSpec {
    let mut all = primes(n, &[&levels.concat(), special].concat()).into_iter();
    let mut take = |count: usize| all.by_ref().take(count).collect::<Vec<u64>>();
    let levels = levels.iter().map(|level| take(level.len())).collect();
    let special = take(special.len());
    let digits = digits.iter().map(|d| d.to_vec()).collect();
    RlweSpec {
        n,
        levels,
        special,
        digits,
        secret: SecretDistribution::Ternary,
        policy: SecurityPolicy::InsecureForTests,
    }
}

struct Keys<W: Word> {
    context: RlweContext<W>,
    secret: SecretKey<W>,
    seeds: KeySeeds,
}

impl<W: Word> Keys<W> {
    fn new(spec: &RlweSpec, seed: u8) -> Self {
        let context = RlweContext::new(spec).expect("a sound chain");
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(&context, &seed);
        Self { context, secret, seeds: KeySeeds::derive(&seed) }
    }

    /// (m - a s, a) modulo Q_level with uniform a: a ciphertext without noise.
    fn exact(&self, level: usize, message: &[i64], lottery: &mut Lottery) -> Pair<W> {
        let q = self.context.q(level);
        let a = lottery.poly(q).into_eval();
        let mut b = from_integers(q, message).into_eval();
        b.sub_assign(&a.mul(&self.secret.modulo_q(q)));
        Pair { b, a }
    }

    /// b + a s.
    fn phase(&self, x: &Pair<W>) -> Poly<W, Eval> {
        let mut out = x.a.mul(&self.secret.modulo_q(x.a.basis()));
        out.add_assign(&x.b);
        out
    }

    fn weight(&self) -> f64 {
        weight(self.secret.small())
    }

    /// sum_j D_j^2 / 12 · N σ^2 / P^2, and the rounding of the division by P.
    fn switching_variance(&self, level: usize) -> f64 {
        let spec = self.context.spec();
        let q: Vec<u64> = self.context.q(level).primes().collect();
        let digit = |members: &Vec<usize>| -> f64 {
            let own: Vec<f64> = members.iter().filter_map(|&i| q.get(i)).map(|&p| p as f64).collect();
            if own.is_empty() { 0.0 } else { own.iter().product::<f64>().powi(2) }
        };
        let special: f64 = spec.special.iter().map(|&p| p as f64).product();
        let squares: f64 = spec.digits.iter().map(digit).sum();
        squares / 12.0 * spec.n as f64 * ERROR / special.powi(2) + (1.0 + self.weight()) / 12.0
    }
}

fn weight(secret: &SmallPoly) -> f64 {
    secret.coefficients().iter().map(|&c| f64::from(c).powi(2)).sum()
}

fn mean_square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64
}

fn assert_within(measured: f64, expected: f64, what: &str) {
    let ratio = measured / expected;
    assert!((0.85..1.15).contains(&ratio), "{what}: variance {measured:.4}, formula {expected:.4}");
}

/// Chains with digits of one prime and of several, levels of one prime and of two.
fn narrow_chains(n: usize) -> Vec<RlweSpec> {
    vec![
        spec(n, &[&[28.0], &[27.0], &[27.5]], &[28.0], &[&[0], &[1], &[2]]),
        spec(n, &[&[28.0], &[20.0, 21.0], &[27.0]], &[26.0, 23.0], &[&[0, 2], &[3, 1]]),
        spec(n, &[&[24.0, 22.0], &[25.0]], &[31.0, 14.5], &[&[2, 0], &[1]]),
        spec(n, &[&[26.0], &[18.0], &[19.0], &[30.0]], &[30.5], &[&[0], &[3, 1], &[2]]),
    ]
}

fn wide_chains(n: usize) -> Vec<RlweSpec> {
    vec![
        spec(n, &[&[60.5], &[50.0], &[45.0, 31.0]], &[60.0], &[&[0], &[1], &[2], &[3]]),
        spec(n, &[&[50.0], &[40.0], &[41.0]], &[48.0, 44.0], &[&[0, 2], &[1]]),
    ]
}

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
                // A switch without noise would be no switch.
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

#[test]
fn keys_are_functions_of_their_seed() {
    let spec = &narrow_chains(32)[1];
    let (keys, again, other) =
        (Keys::<u32>::new(spec, 7), Keys::<u32>::new(spec, 7), Keys::<u32>::new(spec, 8));
    let wide = Keys::<u64>::new(spec, 7);
    let level = keys.context.max_level();
    let block = |k: &Keys<u32>, level| k.secret.relinearization_key(&k.context, &k.seeds, level);
    let rows = |block: &SampleBlock<u32>, limb: usize| {
        let rows = |index| -> Vec<u32> {
            let Pair { b, a } = block.get(index);
            [b.row(limb), a.row(limb)].concat()
        };
        (0..block.samples()).flat_map(rows).collect::<Vec<u32>>()
    };
    let (first, second, third) = (block(&keys, level), block(&again, level), block(&other, level));
    let wide_block = wide.secret.relinearization_key(&wide.context, &wide.seeds, level);
    let wide_rows = |limb: usize| -> Vec<u64> {
        let samples = (0..wide_block.samples()).map(|index| wide_block.get(index));
        samples.flat_map(|Pair { b, a }| [b.row(limb), a.row(limb)].concat()).collect()
    };
    for limb in 0..first.basis().len() {
        assert_eq!(rows(&first, limb), rows(&second, limb));
        assert_ne!(rows(&first, limb), rows(&third, limb));
        let widened: Vec<u64> = rows(&first, limb).into_iter().map(u64::from).collect();
        assert_eq!(widened, wide_rows(limb), "the word changes no key");
    }
    assert_eq!(first.memory_bytes(), first.basis().len() * first.samples() * 2 * 32 * 4);
    // Names, places and levels have streams of their own.
    let (basis, public) = (keys.context.qp(level), keys.seeds.public());
    let a = |block, index| expand_a(public, block, index, basis).data().to_vec();
    assert_eq!(a([1, 2, 3, 4], 5), a([1, 2, 3, 4], 5));
    let different = [a([1, 2, 3, 4], 5), a([1, 2, 3, 4], 6), a([0, 2, 3, 4], 5), a([1, 2, 4, 3], 5)];
    for (i, x) in different.iter().enumerate() {
        assert!(different[..i].iter().all(|y| x != y));
    }
    // A sample is (b, a) with the seeded a, and b + a v small: an error, and an odd one out if v is wrong.
    let v = keys.secret.eval();
    let sample = keys.seeds.sample([9; 4], 1, v, None);
    assert_eq!(sample.a.data(), a([9; 4], 1));
    let mut error = sample.a.mul(v);
    error.add_assign(&sample.b);
    let error = centered_f64(&error.into_coeff());
    assert!(error.iter().all(|e| e.abs() <= 21.0) && error.iter().any(|e| *e != 0.0), "{error:?}");
    let lower = block(&keys, 0);
    assert_ne!(lower.get(0).b.row(0), first.get(0).b.row(0), "levels do not share streams");
}

#[test]
fn secrets_have_the_same_residues_at_every_level() {
    let keys = Keys::<u32>::new(&narrow_chains(64)[1], 9);
    let (context, small) = (&keys.context, keys.secret.small());
    assert!(small.coefficients().iter().all(|c| (-1..=1).contains(c)));
    for level in 0..=context.max_level() {
        let (q, qp) = (context.q(level), context.qp(level));
        assert_eq!(keys.secret.modulo_q(q).data(), small.to_poly(q).into_eval().data());
        let special = context.special().len();
        assert_eq!(keys.secret.modulo_qp(qp, special).data(), small.to_poly(qp).into_eval().data());
        // sigma_g of the target of a Galois key is the secret again.
        let element = GaloisElement::rotation(3, 64);
        let target = keys.secret.galois_target(context, level, element);
        let back = target.automorphism(&Automorphism::new(64, element));
        assert_eq!(back.data(), small.to_poly(qp).into_eval().data());
    }
}

fn encapsulation_digits_are_exact<W: Word>(q0: &[f64], digits: EncapsulationDigits) {
    let n = 32;
    let all = primes(n, &[q0, &[30.0]].concat());
    let (q0, special) = all.split_at(q0.len());
    let context = EncapsulationContext::<W>::new(n, q0, special[0], digits).expect("sound");
    let modulus = product(q0);
    let mut lottery = Lottery::new(17);
    let half = (&modulus - 1i64) / 2i64;
    let mut values: Vec<BigInt> = [0i64, 1, -1].map(BigInt::from).into();
    values.extend([half.clone(), -&half, half - 1i64]);
    values.resize_with(n, || lottery.centred(&modulus));
    let a = refloat_tests::rns::from_big(context.q0(), &values);
    let found = context.decompose(&a);
    assert_eq!(found.len(), context.digit_count());
    let w = context.digit_bits();
    for (t, value) in values.iter().enumerate() {
        if digits == EncapsulationDigits::PerPrime {
            for (&p, digit) in q0.iter().zip(&found) {
                assert_eq!(BigInt::from(digit[t]), centred(value, &p.into()));
            }
        } else {
            let sum: BigInt = found.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << w) + digit[t]);
            assert_eq!(sum, *value, "digits of {value}");
        }
        // Balanced: at most half the base, the last one a carry more.
        let largest = 1i64 << (w - 1);
        assert!(found.iter().all(|digit| digit[t].abs() <= largest + 1), "{value}");
    }
}

#[test]
fn encapsulation_digits_recompose_exactly() {
    for count in [1, 2, 3, 5, 16] {
        encapsulation_digits_are_exact::<u32>(&[26.7], EncapsulationDigits::Balanced { count });
        encapsulation_digits_are_exact::<u64>(&[60.9], EncapsulationDigits::Balanced { count });
        encapsulation_digits_are_exact::<u32>(&[8.0], EncapsulationDigits::Balanced { count });
    }
    encapsulation_digits_are_exact::<u32>(&[26.7], EncapsulationDigits::PerPrime);
    encapsulation_digits_are_exact::<u32>(&[20.0, 21.0, 31.0], EncapsulationDigits::PerPrime);
}

/// h coefficients ± 1, spread out.
fn sparse(n: usize, h: usize) -> SparseSecret {
    let mut coefficients = vec![0i8; n];
    for k in 0..h {
        coefficients[k * n / h + k % 5] = if k % 3 == 0 { -1 } else { 1 };
    }
    SparseSecret::new(SmallPoly::from_coefficients(coefficients))
}

fn encapsulation_noise<W: Word>(q0: &[f64], special: f64, digits: EncapsulationDigits) {
    let (n, h) = (512, 31);
    let chain = spec(n, &[q0, &[25.0]], &[special, 30.0], &[&(0..=q0.len()).collect::<Vec<_>>()]);
    let (base, prime) = (&chain.levels[0], chain.special[0]);
    let context = EncapsulationContext::<W>::new(n, base, prime, digits).expect("sound");
    // The spread of uniform digits: the whole base but for the last, which covers what is left.
    let count = context.digit_count();
    let whole = base.iter().map(|&p| p as f64).product::<f64>();
    let width = |j: usize| match digits {
        EncapsulationDigits::PerPrime => base[j] as f64,
        EncapsulationDigits::Balanced { .. } if j + 1 < count => f64::from(context.digit_bits()).exp2(),
        EncapsulationDigits::Balanced { .. } => whole / (f64::from(context.digit_bits()) * j as f64).exp2(),
    };
    let squares: f64 = (0..count).map(|j| width(j).powi(2)).sum();
    let expected = squares / 12.0 * n as f64 * ERROR / (prime as f64).powi(2) + (1.0 + h as f64) / 12.0;
    let mut lottery = Lottery::new(18);
    let mut measured = 0.0;
    let trials = 12;
    for trial in 0..trials {
        let keys = Keys::<W>::new(&chain, 80 + trial);
        let secret = sparse(n, h);
        let samples = secret.encapsulation_samples(&context, &keys.secret, &keys.seeds, [3; 4]);
        let mut key = SampleBlock::zero(context.q0p(), 1, count);
        samples.iter().enumerate().for_each(|(j, sample)| key.set(j, sample));
        let message: Vec<i64> = (0..n as i64).map(|t| (t * 37) % 1001 - 500).collect();
        let x = keys.exact(0, &message, &mut lottery);
        let mut counters = Counters::default();
        let (b, a) = context.apply(&x, &key, &mut counters);
        let mut phase = a.into_eval().mul(&secret.small().to_poly(context.q0()).into_eval());
        phase.add_assign(&b.into_eval());
        let phase = centered_f64(&phase.into_coeff());
        let noise: Vec<f64> = phase.iter().zip(&message).map(|(x, &m)| x - m as f64).collect();
        measured += mean_square(&noise) / f64::from(trials);
        assert_eq!(counters.key_switch, 1);
    }
    assert_within(measured, expected, &format!("{digits:?}, {} primes", q0.len()));
}

#[test]
fn encapsulated_ciphertexts_decrypt_under_the_sparse_secret() {
    encapsulation_noise::<u32>(&[27.0], 28.0, EncapsulationDigits::Balanced { count: 1 });
    encapsulation_noise::<u32>(&[27.0], 15.5, EncapsulationDigits::Balanced { count: 2 });
    encapsulation_noise::<u32>(&[24.0], 14.0, EncapsulationDigits::Balanced { count: 3 });
    encapsulation_noise::<u32>(&[20.0, 21.0], 22.0, EncapsulationDigits::PerPrime);
    encapsulation_noise::<u64>(&[50.0], 52.0, EncapsulationDigits::Balanced { count: 1 });
}

fn refused<T>(result: Result<T, Error>, said: &str) {
    let error = result.err().unwrap_or_else(|| panic!("accepted, should have said {said:?}"));
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn chains_that_cannot_work_are_refused() {
    let good = spec(16, &[&[28.0], &[27.0], &[26.0]], &[28.0], &[&[0, 2], &[1]]);
    assert!(RlweContext::<u32>::new(&good).is_ok());
    let changed = |change: &dyn Fn(&mut RlweSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        RlweContext::<u32>::new(&spec)
    };
    let insecure = changed(&|s| s.policy = SecurityPolicy::Strict128).err().expect("109 bits at N = 16");
    assert_eq!(insecure.code(), "INSECURE");
    refused(changed(&|s| s.n = 12), "12");
    refused(changed(&|s| s.n = 4), "from 8");
    refused(changed(&|s| s.n = 1 << 18), "131072");
    refused(changed(&|s| s.levels.clear()), "at least one prime");
    refused(changed(&|s| s.levels[1].clear()), "at least one prime");
    refused(changed(&|s| s.special.clear()), "one special prime");
    refused(changed(&|s| s.levels = vec![vec![97]; 257]), "257 levels");
    refused(changed(&|s| s.special = s.levels[0].clone()), "twice");
    refused(changed(&|s| s.levels[0][0] += 2), &(good.levels[0][0] + 2).to_string());
    refused(changed(&|s| s.digits = vec![vec![0, 1]]), "prime 2 is in no gadget digit");
    refused(changed(&|s| s.digits = vec![vec![0, 1], vec![1, 2]]), "prime 1 is in two");
    refused(changed(&|s| s.digits = vec![vec![0, 1], vec![2, 3]]), "names prime 3");
    refused(changed(&|s| s.digits = vec![vec![0, 1, 2], vec![]]), "empty");
    refused(changed(&|s| s.digits = vec![vec![1], vec![0, 2]]), "ordered");
}

#[test]
fn encapsulations_that_cannot_work_are_refused() {
    let p = primes(16, &[28.0, 27.0, 26.0]);
    let new = |q0: &[u64], special, digits| EncapsulationContext::<u32>::new(16, q0, special, digits);
    let balanced = |count| EncapsulationDigits::Balanced { count };
    refused(new(&p[..2], p[2], balanced(1)), "2 primes");
    refused(new(&p[..1], p[2], balanced(0)), "0 digits");
    refused(new(&p[..1], p[2], balanced(17)), "17 digits");
    refused(new(&p[..1], p[0], balanced(1)), "twice");
    refused(new(&[], p[0], EncapsulationDigits::PerPrime), "at least one");
    refused(new(&p[..1], p[0] + 2, balanced(1)), &(p[0] + 2).to_string());
}
