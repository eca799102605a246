//! Operations on ciphertexts against those on slots.

use num_complex::Complex64;
use proptest::prelude::*;
use refloat::arith::Word;
use refloat::ring::{Automorphism, centered_f64};
use refloat::rlwe::RlweSpec;
use refloat::schemes::ckks::{Ciphertext, Scale};
use refloat_tests::rns::Lottery;

use super::setup::{ERROR, Toy, double, largest, pairwise, single, slots, wide};

fn operations_act_on_slots<W: Word>(chain: &(RlweSpec, Scale), seed: u8) {
    let toy = Toy::<W>::new(chain, seed);
    let (ev, top) = (&toy.evaluator, toy.top());
    let mut lottery = Lottery::new(seed.into());
    let count = toy.context.slots();
    let (x, y) = (slots(count, &mut lottery), slots(count, &mut lottery));
    let (cx, cy) = (toy.encrypt(&x, 1), toy.encrypt_at(&y, top - 1, 2));
    let fresh = toy.slot(ERROR);
    let encoding = toy.slot(1.0 / 12.0);
    let fresh_pair = 2.0 * fresh + 2.0 * encoding;
    toy.assert_holds(&cx, &x, fresh + encoding, "encryption");
    let sum = ev.add(&cx, &cy).expect("same key and scale");
    assert_eq!(sum.level(), top - 1, "the lower of the two");
    toy.assert_holds(&sum, &pairwise(&x, &y, |x, y| x + y), fresh_pair, "sum");
    let difference = ev.sub(&cy, &cx).expect("same key and scale");
    toy.assert_holds(&difference, &pairwise(&x, &y, |x, y| y - x), fresh_pair, "difference");
    toy.assert_holds(&ev.negate(&cx), &pairwise(&x, &x, |x, _| -x), fresh + encoding, "negation");

    // Plaintexts of the same level and of a higher one.
    for level in [top, top - 1] {
        let (plain, c) = (toy.plain(&y, top), ev.drop_to_level(&cx, level).expect("lower"));
        assert_eq!((c.level(), c.scale()), (level, cx.scale()));
        toy.assert_holds(&c, &x, fresh + encoding, "lower level");
        let sum = ev.add_plain(&c, &plain).expect("same scale");
        toy.assert_holds(&sum, &pairwise(&x, &y, |x, y| x + y), fresh_pair, "plain sum");
        let product = ev.multiply_plain(&c, &plain).expect("a level below");
        assert_eq!(product.scale(), c.scale().mul(plain.scale));
        let xy = pairwise(&x, &y, |x, y| x * y);
        // Each side's error meets factors of size up to sqrt(2).
        toy.assert_holds(&product, &xy, 1.5 * fresh_pair, "plain product");
        let rescaled = ev.rescale(&product).expect("not at level 0");
        assert_eq!((rescaled.level(), rescaled.components()), (level - 1, 2));
        let rounding = (toy.n() as f64 * toy.rounding()).sqrt() / rescaled.scale().to_f64();
        toy.assert_holds(&rescaled, &xy, 1.5 * fresh_pair + rounding, "rescaled product");
    }

    products_act_on_slots(&toy, (&x, &cx), (&y, &cy), fresh_pair);

    // Automorphisms, at the level of the key and below it.
    for steps in [0, 1, 3, -1, count as i64 / 2] {
        let g = Automorphism::rotation(toy.n(), steps);
        let key = toy.galois(&g, top);
        for c in [&cx, &ev.drop_to_level(&cx, 0).expect("lower")] {
            let rotated = ev.automorphism(c, &g, &key).expect("the key is there");
            let mut expected = x.clone();
            expected.rotate_left(steps.rem_euclid(count as i64) as usize);
            let noise = fresh + encoding + toy.slot(toy.switching(c.level()));
            toy.assert_holds(&rotated, &expected, noise, "rotation");
        }
    }
    let g = Automorphism::conjugation(toy.n());
    let conjugate = ev.automorphism(&cx, &g, &toy.galois(&g, top));
    let noise = fresh + encoding + toy.slot(toy.switching(top));
    toy.assert_holds(
        &conjugate.expect("the key is there"),
        &pairwise(&x, &x, |x, _| x.conj()),
        noise,
        "conj",
    );
}

fn products_act_on_slots<W: Word>(
    toy: &Toy<W>,
    (x, cx): (&[Complex64], &Ciphertext<W>),
    (y, cy): (&[Complex64], &Ciphertext<W>),
    fresh_pair: f64,
) {
    let (ev, level) = (&toy.evaluator, cy.level());
    let xy = pairwise(x, y, |x, y| x * y);
    let product = ev.tensor(cx, cy).expect("same key");
    assert_eq!((product.components(), product.level()), (3, level));
    assert_eq!(product.scale(), cx.scale().mul(cy.scale()));
    toy.assert_holds(&product, &xy, 1.5 * fresh_pair, "product of three components");
    // Three components add to two, on either side.
    let lone = ev.multiply_plain(cx, &toy.plain(y, cx.level())).expect("a plaintext of the level");
    let twice = pairwise(&xy, &xy, |x, _| x * 2.0);
    for (left, right) in [(&product, &lone), (&lone, &product)] {
        let sum = ev.add(left, right).expect("same scale");
        assert_eq!(sum.components(), 3);
        toy.assert_holds(&sum, &twice, 3.0 * fresh_pair, "mixed sum");
        let nothing = vec![Complex64::new(0.0, 0.0); x.len()];
        toy.assert_holds(
            &ev.sub(left, right).expect("same scale"),
            &nothing,
            3.0 * fresh_pair,
            "mixed difference",
        );
    }
    let switching = |scale: Scale| (toy.n() as f64 * toy.switching(level)).sqrt() / scale.to_f64();
    let relinearized = ev.relinearize(&product, &toy.relinearization).expect("three components");
    assert_eq!((relinearized.components(), relinearized.scale()), (2, product.scale()));
    let noise = 1.5 * fresh_pair + switching(product.scale());
    toy.assert_holds(&relinearized, &xy, noise, "relinearised");
    let separate = ev.rescale(&relinearized).expect("not at level 0");
    let merged = ev.multiply(cx, cy, &toy.relinearization);
    let merged = merged.expect("not at level 0");
    assert_eq!((merged.level(), merged.scale()), (level - 1, separate.scale()));
    let rounding = (toy.n() as f64 * toy.rounding()).sqrt() / merged.scale().to_f64();
    toy.assert_holds(&separate, &xy, noise + rounding, "relinearised, then rescaled");
    toy.assert_holds(&merged, &xy, noise + rounding, "relinearised and rescaled at once");
    // One rounding instead of two: they differ by less than one in each coefficient of each part.
    for (one, two) in merged.parts().iter().zip(separate.parts()) {
        let mut difference = one.clone();
        difference.sub_assign(two);
        assert!(largest(centered_f64(&difference.into_coeff())) <= 1.0);
    }
}

#[test]
fn operations_on_ciphertexts_act_on_slots() {
    operations_act_on_slots::<u32>(&single(64), 11);
    operations_act_on_slots::<u32>(&double(64), 12);
    operations_act_on_slots::<u64>(&double(64), 13);
    operations_act_on_slots::<u64>(&wide(64), 14);
    operations_act_on_slots::<u32>(&single(8), 15);
    operations_act_on_slots::<u64>(&wide(1024), 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_circuit_of_depth_one_holds(start: u64, steps in -40i64..40, level in 1usize..4, seed: u8) {
        let toy = Toy::<u32>::new(&double(16), seed);
        let mut lottery = Lottery::new(start);
        let (x, y, z) = (slots(8, &mut lottery), slots(8, &mut lottery), slots(8, &mut lottery));
        let g = Automorphism::rotation(16, steps);
        let key = toy.galois(&g, level);
        let ev = &toy.evaluator;
        // rot(x y + z p), p = x too, with z p at the product's scale.
        let (cx, cy, cz) = (toy.encrypt_at(&x, level, 1), toy.encrypt_at(&y, 3, 2), toy.encrypt(&z, 3));
        let product = ev.tensor(&cx, &cy)?;
        let sum = ev.add(&product, &ev.multiply_plain(&cz, &toy.plain(&x, 3))?)?;
        let flat = ev.rescale(&ev.relinearize(&sum, &toy.relinearization)?)?;
        let out = ev.automorphism(&flat, &g, &key)?;
        prop_assert_eq!(out.level(), level - 1);
        let mut expected: Vec<_> = (0..8).map(|i| x[i] * y[i] + z[i] * x[i]).collect();
        expected.rotate_left(steps.rem_euclid(8) as usize);
        let rounding = (16.0 * (2.0 * toy.switching(level) + toy.rounding())).sqrt() / out.scale().to_f64();
        toy.assert_holds(&out, &expected, 8.0 * toy.slot(ERROR) + rounding, "circuit");
    }
}
