//! Objects of sets for modular reduction on the wire: every bit counts, and wrong bytes are refused with both sides named.

use std::sync::OnceLock;

use refloat::schemes::ckks::{Ciphertext, Scale};
use refloat::wire::{ciphertext_from_bytes, ciphertext_to_bytes, secret_key_from_bytes, secret_key_to_bytes};
use refloat_tests::hostile::Reader;

use super::{toy10, toy11};

/// An integer over a modulus, at its scale and the lowest level.
fn residue() -> &'static Ciphertext<u64> {
    static RESIDUE: OnceLock<Ciphertext<u64>> = OnceLock::new();
    RESIDUE.get_or_init(|| {
        let setup = toy10();
        let scale = setup.params.scale().div(Scale::from_integer(24));
        setup.encrypt(&[17.0 / 24.0, -5.0 / 24.0], 0).relabelled(scale)
    })
}

#[test]
fn wrong_bytes_are_refused() {
    for reader in Reader::of_ckks(&toy10().secret, residue()) {
        // A bit of every byte, each time another one.
        reader.takes_only_good_bytes(9);
    }
}

#[test]
fn what_travelled_is_what_did_not_and_another_set_is_named() {
    let bytes = ciphertext_to_bytes(toy10().params.ckks(), residue()).unwrap();
    let again = ciphertext_from_bytes(toy10().params.ckks(), &bytes).unwrap();
    assert_eq!(again.scale(), residue().scale());
    assert_eq!(ciphertext_to_bytes(toy10().params.ckks(), &again).unwrap(), bytes);
    let error = ciphertext_from_bytes(toy11().params.ckks(), &bytes).map(drop).unwrap_err();
    assert_eq!(error.code(), "PARAMS_MISMATCH");
    let secret = secret_key_to_bytes(&toy10().secret);
    let error = secret_key_from_bytes(&toy11().params, &secret).map(drop).unwrap_err();
    assert_eq!(error.code(), "PARAMS_MISMATCH");
    // A ciphertext of the other set that did not travel.
    let readout = refloat::bootstrapping::ckks_msb::Radix::new(&[8]).unwrap();
    let error =
        toy11().evaluator.int_boot(residue(), &readout, &toy11().keys, &mut ()).map(drop).unwrap_err();
    assert_eq!(error.code(), "PARAMS_MISMATCH");
}
