//! Modular reduction in CKKS, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        ckks_msb::{MsbParams, MsbSpec},
        method::Preset,
    },
};

use crate::{
    ckks::{Ciphertext, CkksClient},
    ffi::{Array, Flag, In, Out, Own, Place, Room, SeedBytes, Text, Void, export},
    method::Keyed,
    secret::Secret,
    sets::{self, Kept},
};

impl Keyed for MsbParams {
    type Spec = MsbSpec;
    const SECURE: &'static str = "msb16";
    const SECRET: &'static str = "rf_msb_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<MsbParams> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<MsbSpec>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for MsbParams {
    const CIPHERTEXT: &'static str = "rf_msb_ciphertext";
}

type MsbSecret = Secret<MsbParams>;
type MsbCiphertext = Ciphertext<MsbParams>;

export! {
    fn rf_msb_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<MsbParams>())
    }

    fn rf_msb_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<MsbSecret>) {
        MsbSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_msb_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<MsbSecret>) {
        MsbSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_msb_secret_to_bytes(secret: In<MsbSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_msb_secret_free(secret: Own<MsbSecret>) -> Void {
        secret.free();
    }

    fn rf_msb_set(secret: In<MsbSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_msb_slots(secret: In<MsbSecret>, slots: Place<usize>) {
        slots.put(secret.set.params.slots());
        Ok(())
    }

    fn rf_msb_key_id(secret: In<MsbSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_msb_server_token(secret: In<MsbSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_msb_key_part_count(secret: In<MsbSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_msb_key_part(
        secret: In<MsbSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }

    fn rf_msb_encrypt(
        secret: In<MsbSecret>,
        values: Array<f64>,
        count: usize,
        mode: i32,
        level: i32,
        seed: SeedBytes,
        out: Out<MsbCiphertext>,
    ) {
        MsbCiphertext::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
    }

    fn rf_msb_decrypt(
        secret: In<MsbSecret>,
        x: In<MsbCiphertext>,
        mode: i32,
        out: Room<f64>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.numbers(mode)?)?;
        out.fill(capacity, &length, &x.decrypt(secret, mode)?)
    }

    fn rf_msb_level(x: In<MsbCiphertext>, level: Place<usize>) {
        level.put(x.level());
        Ok(())
    }

    fn rf_msb_add(x: In<MsbCiphertext>, y: In<MsbCiphertext>, out: Out<MsbCiphertext>) {
        x.add(y).map(|sum| out.give(sum))
    }

    fn rf_msb_subtract(x: In<MsbCiphertext>, y: In<MsbCiphertext>, out: Out<MsbCiphertext>) {
        x.subtract(y).map(|difference| out.give(difference))
    }

    fn rf_msb_exhaust(x: In<MsbCiphertext>, out: Out<MsbCiphertext>) {
        x.exhaust().map(|exhausted| out.give(exhausted))
    }

    fn rf_msb_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<MsbCiphertext>) {
        MsbCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_msb_ciphertext_to_bytes(x: In<MsbCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_msb_ciphertext_free(x: Own<MsbCiphertext>) -> Void {
        x.free();
    }
}
