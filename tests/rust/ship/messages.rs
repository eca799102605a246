//! SHIP keeps its promise for every message, and for several bootstraps in a row what is left of it.

use refloat::bootstrapping::method::SlotMode;
use refloat::bootstrapping::real_messages;
use refloat::params::ship_preset;
use refloat_tests::precision::Precision;
use refloat_tests::toy::toy;

#[test]
fn structured_messages_keep_the_promise_and_chains_what_is_left_of_it() {
    let (setup, preset) = (toy(), ship_preset("toy10").unwrap());
    for message in real_messages(setup.evaluator.params().slots(), 3) {
        let values: Vec<f64> = message.slots.iter().map(|z| z.re).collect();
        let mut x = setup.encrypt(&values, SlotMode::Real);
        // The errors of a few are the sine's, which pulls every value towards the root of 3/4: they add up.
        let longest = if message.name == "all 1" { 6 } else { 1 };
        for k in 1..=longest {
            let exhausted = setup.evaluator.exhaust(&x).unwrap();
            x = setup.bootstrap(&exhausted, SlotMode::Real);
            let found = Precision::of(&setup.decrypt(&x, SlotMode::Real), &values).max_bits();
            let [_, promised] = preset.promise().after(k).precision().unwrap();
            assert!(found >= promised, "{}, {k} in a row: {found} of {promised} bits", message.name);
        }
    }
}
