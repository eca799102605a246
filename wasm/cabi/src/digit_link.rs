//! Sets for modular reduction that are linked to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        ckks_msb::RootsSpec,
        method::Preset,
        scheme_switching::{LinkParams, LinkSpec},
    },
};

use crate::{
    ckks::{Ciphertext, CkksClient},
    ffi::{Array, Flag, In, Out, Own, Place, Room, SeedBytes, Text, Void, export},
    method::Keyed,
    secret::Secret,
    sets::{self, Kept},
};

impl Keyed for LinkParams<RootsSpec> {
    type Spec = LinkSpec<RootsSpec>;
    const SECURE: &'static str = "msb16+fbs16-50";
    const SECRET: &'static str = "rf_digit_link_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<LinkParams<RootsSpec>> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<LinkSpec<RootsSpec>>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.ckks().slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for LinkParams<RootsSpec> {
    const CIPHERTEXT: &'static str = "rf_digit_link_ciphertext";
}

type DigitLinkSecret = Secret<LinkParams<RootsSpec>>;
type DigitLinkCiphertext = Ciphertext<LinkParams<RootsSpec>>;

export! {
    fn rf_digit_link_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<LinkParams<RootsSpec>>())
    }

    fn rf_digit_link_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<DigitLinkSecret>) {
        DigitLinkSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_digit_link_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<DigitLinkSecret>) {
        DigitLinkSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_digit_link_secret_to_bytes(secret: In<DigitLinkSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_digit_link_secret_free(secret: Own<DigitLinkSecret>) -> Void {
        secret.free();
    }

    fn rf_digit_link_set(secret: In<DigitLinkSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_digit_link_slots(secret: In<DigitLinkSecret>, slots: Place<usize>) {
        slots.put(Keyed::slots(&secret.set.params));
        Ok(())
    }

    fn rf_digit_link_key_id(secret: In<DigitLinkSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_digit_link_server_token(secret: In<DigitLinkSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_digit_link_key_part_count(secret: In<DigitLinkSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_digit_link_key_part(
        secret: In<DigitLinkSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }

    fn rf_digit_link_encrypt(
        secret: In<DigitLinkSecret>,
        values: Array<f64>,
        count: usize,
        mode: i32,
        level: i32,
        seed: SeedBytes,
        out: Out<DigitLinkCiphertext>,
    ) {
        DigitLinkCiphertext::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
    }

    fn rf_digit_link_decrypt(
        secret: In<DigitLinkSecret>,
        x: In<DigitLinkCiphertext>,
        mode: i32,
        out: Room<f64>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.numbers(mode)?)?;
        out.fill(capacity, &length, &x.decrypt(secret, mode)?)
    }

    fn rf_digit_link_level(x: In<DigitLinkCiphertext>, level: Place<usize>) {
        level.put(x.level());
        Ok(())
    }

    fn rf_digit_link_add(x: In<DigitLinkCiphertext>, y: In<DigitLinkCiphertext>, out: Out<DigitLinkCiphertext>) {
        x.add(y).map(|sum| out.give(sum))
    }

    fn rf_digit_link_subtract(x: In<DigitLinkCiphertext>, y: In<DigitLinkCiphertext>, out: Out<DigitLinkCiphertext>) {
        x.subtract(y).map(|difference| out.give(difference))
    }

    fn rf_digit_link_exhaust(x: In<DigitLinkCiphertext>, out: Out<DigitLinkCiphertext>) {
        x.exhaust().map(|exhausted| out.give(exhausted))
    }

    fn rf_digit_link_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<DigitLinkCiphertext>) {
        DigitLinkCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_digit_link_ciphertext_to_bytes(x: In<DigitLinkCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_digit_link_ciphertext_free(x: Own<DigitLinkCiphertext>) -> Void {
        x.free();
    }
}
