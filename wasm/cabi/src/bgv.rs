//! Secret keys of BGV, and the parts of its evaluation keys.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        bgv::{BgvParams, BgvSpec},
        method::Preset,
    },
};

use crate::{
    ffi::{Array, Flag, In, Out, Own, Place, Room, SeedBytes, Text, Void, export},
    method::Keyed,
    secret::Secret,
    sets::{self, Kept},
};

impl Keyed for BgvParams {
    type Spec = BgvSpec;
    const SECURE: &'static str = "bgv15";
    const SECRET: &'static str = "rf_bgv_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<BgvParams> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<BgvSpec>) -> Result<Self, Error> {
        preset.params()
    }

    fn slots(&self) -> usize {
        self.context().slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

type BgvSecret = Secret<BgvParams>;

export! {
    fn rf_bgv_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<BgvParams>())
    }

    fn rf_bgv_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<BgvSecret>) {
        BgvSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_bgv_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<BgvSecret>) {
        BgvSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_bgv_secret_to_bytes(secret: In<BgvSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_bgv_secret_free(secret: Own<BgvSecret>) -> Void {
        secret.free();
    }

    fn rf_bgv_set(secret: In<BgvSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_bgv_slots(secret: In<BgvSecret>, slots: Place<usize>) {
        slots.put(secret.set.params.slots());
        Ok(())
    }

    fn rf_bgv_key_id(secret: In<BgvSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_bgv_server_token(secret: In<BgvSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_bgv_key_part_count(secret: In<BgvSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_bgv_key_part(
        secret: In<BgvSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }
}
