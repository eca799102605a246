//! Keys and secrets as functions of their seed.

use refloat::ring::{Automorphism, GaloisElement, centered_f64};
use refloat::rlwe::{Pair, SampleBlock, expand_a};

use super::setup::{Keys, narrow_chains};

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
