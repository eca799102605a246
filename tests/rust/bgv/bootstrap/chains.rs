//! Bootstraps in chains, with squares between.

use std::collections::BTreeSet;

use refloat::bootstrapping::bgv::BgvPreset;
use refloat::circuits::polynomial::Plan;
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::bgv::tiny;
use refloat_tests::keyed_bgv::{KeyedBgv, Refreshes};

use super::stages::{follow, of_32_slots};
use super::{squared, worn};

/// A hundred bootstraps, with as many squares between as there are levels for.
fn stays_right(set: &KeyedBgv<u64>) {
    let floor = set.params.context().noise().rounding();
    let modulus = set.params.context().rlwe().q(set.params.levels().output).log2();
    let promised = modulus - (2.0 * 2.1 * floor * set.params.messages().value() as f64).log2();
    let mut message = set.random(4);
    let mut x = set.encrypt(&message, set.params.levels().output, 3);
    let mut refreshes = Refreshes::new(set, 2.1);
    for round in 0..100u64 {
        // Squares go to 0 and 1: a sum keeps the slots moving.
        for _ in 0..set.params.levels().left() {
            x = set.square(&x);
            message = squared(set, &message);
        }
        let shift = set.random(100 + round);
        x = set.bootstrapper.bgv().add_plain(&x, &shift).expect("room");
        message = set.sum(&message, &shift);
        x = refreshes.refresh(&x, &message);
        set.check_noise(&x, 0.1, "bootstrap");
        assert!(x.capacity() >= promised, "room for as many products");
    }
    let values: BTreeSet<u64> = message.into_iter().collect();
    assert!(values.len() > 16, "slots that have become the same");
}

#[test]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    stays_right(&KeyedBgv::new(&tiny(15)));
    // The 32 coefficients of one result are too few to be held to the estimate; those of all results are not.
    KeyedBgv::<u64>::new(&of_32_slots()).chained(100, 2.1).check_noise(0.1);
    stays_right(&KeyedBgv::named("toy-bgv10"));
}

#[test]
fn toy_bgv10_is_refreshed_between_squares() {
    let preset = BgvPreset::named("toy-bgv10").expect("a set");
    let set = KeyedBgv::<u64>::named(preset.name);
    let params = &set.params;
    assert_eq!(params.fingerprint(), preset.fingerprint());
    assert_eq!((params.n(), params.messages().value(), params.levels().left()), (1024, 65537, 2));
    let plan = Plan::new(std::slice::from_ref(params.removal().polynomial().expect("one digit")))
        .expect("one polynomial");
    assert_eq!((params.removal().degree(), plan.key_switches(), plan.levels()), (61, 13, 6));
    assert!(params.log2_failure() <= preset.promised, "{}", params.log2_failure());
    let mut message = set.random(5);
    let mut x = set.encrypt(&message, params.levels().output, 4);
    for _ in 0..2 {
        x = worn(&set, &mut message, x);
        x = follow(&set, &x, &message);
    }
    rotates_by_hand(&set, &x, &message);
}

/// Messages modulo p^2, whose digits are removed modulo p^3.
#[test]
fn toy_bgv7_is_refreshed_modulo_a_square() {
    let set = KeyedBgv::<u64>::named("toy-bgv7");
    let params = &set.params;
    assert_eq!((params.n(), params.messages().value(), params.levels().left()), (128, 66049, 2));
    assert_eq!(
        (
            params.raised().value(),
            params.removal().degree(),
            params.removal().polynomial().expect("one digit").levels()
        ),
        (16_974_593, 91, 7)
    );
    stays_right(&set);
    let mut message = set.random(7);
    // Multiples of p too, which have no inverse.
    message[..4].copy_from_slice(&[0, 257, 66048, 257 * 256]);
    let mut x = set.encrypt(&message, params.levels().output, 6);
    for _ in 0..3 {
        x = worn(&set, &mut message, x);
        x = follow(&set, &x, &message);
    }
    rotates_by_hand(&set, &x, &message);
}

/// A result is rotated by powers of two, and its rows swapped: there are keys of its level for both.
fn rotates_by_hand(set: &KeyedBgv<u64>, x: &BgvCiphertext<u64>, message: &[u64]) {
    let (bgv, columns) = (set.bootstrapper.bgv(), message.len() / 2);
    assert_eq!(x.level(), set.params.levels().output);
    for steps in (0..columns.ilog2()).map(|log| 1 << log) {
        let turned = bgv.rotate(x, steps as i64, &set.keys).expect("a power of two");
        let slot = |i: usize| message[i / columns * columns + (i + steps) % columns];
        assert_eq!(set.decrypt(&turned), (0..message.len()).map(slot).collect::<Vec<_>>(), "by {steps}");
    }
    let swapped = bgv.swap_rows(x, &set.keys).expect("a key");
    assert_eq!(set.decrypt(&swapped), [&message[columns..], &message[..columns]].concat());
}
