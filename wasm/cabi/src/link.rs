//! Sets that link numbers to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        method::Preset,
        scheme_switching::{LinkParams, LinkSpec, Reduction},
    },
};

use crate::{
    ckks::{Ciphertext, CkksClient},
    ffi::{Array, Flag, In, Out, Own, Place, Room, SeedBytes, Text, Void, export},
    method::Keyed,
    secret::Secret,
    sets::{self, Kept},
};

impl Keyed for LinkParams<Reduction> {
    type Spec = LinkSpec<Reduction>;
    const SECURE: &'static str = "n15+fbs16-50";
    const SECRET: &'static str = "rf_link_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<LinkParams<Reduction>> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<LinkSpec<Reduction>>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.ckks().slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for LinkParams<Reduction> {
    const CIPHERTEXT: &'static str = "rf_link_ciphertext";
}

type LinkSecret = Secret<LinkParams<Reduction>>;
type LinkCiphertext = Ciphertext<LinkParams<Reduction>>;

export! {
    fn rf_link_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<LinkParams<Reduction>>())
    }

    fn rf_link_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<LinkSecret>) {
        LinkSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_link_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<LinkSecret>) {
        LinkSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_link_secret_to_bytes(secret: In<LinkSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_link_secret_free(secret: Own<LinkSecret>) -> Void {
        secret.free();
    }

    fn rf_link_set(secret: In<LinkSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_link_slots(secret: In<LinkSecret>, slots: Place<usize>) {
        slots.put(Keyed::slots(&secret.set.params));
        Ok(())
    }

    fn rf_link_key_id(secret: In<LinkSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_link_server_token(secret: In<LinkSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_link_key_part_count(secret: In<LinkSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_link_key_part(
        secret: In<LinkSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }

    fn rf_link_encrypt(
        secret: In<LinkSecret>,
        values: Array<f64>,
        count: usize,
        mode: i32,
        level: i32,
        seed: SeedBytes,
        out: Out<LinkCiphertext>,
    ) {
        LinkCiphertext::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
    }

    fn rf_link_decrypt(
        secret: In<LinkSecret>,
        x: In<LinkCiphertext>,
        mode: i32,
        out: Room<f64>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.numbers(mode)?)?;
        out.fill(capacity, &length, &x.decrypt(secret, mode)?)
    }

    fn rf_link_level(x: In<LinkCiphertext>, level: Place<usize>) {
        level.put(x.level());
        Ok(())
    }

    fn rf_link_add(x: In<LinkCiphertext>, y: In<LinkCiphertext>, out: Out<LinkCiphertext>) {
        x.add(y).map(|sum| out.give(sum))
    }

    fn rf_link_subtract(x: In<LinkCiphertext>, y: In<LinkCiphertext>, out: Out<LinkCiphertext>) {
        x.subtract(y).map(|difference| out.give(difference))
    }

    fn rf_link_exhaust(x: In<LinkCiphertext>, out: Out<LinkCiphertext>) {
        x.exhaust().map(|exhausted| out.give(exhausted))
    }

    fn rf_link_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<LinkCiphertext>) {
        LinkCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_link_ciphertext_to_bytes(x: In<LinkCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_link_ciphertext_free(x: Own<LinkCiphertext>) -> Void {
        x.free();
    }
}
