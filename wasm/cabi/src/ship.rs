//! SHIP.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        ckks_ship::{ShipEvaluator, ShipKeys as CoreKeys, ShipKeysBuilder, ShipParams, ShipSpec},
        method::{Preset, SlotMode},
    },
    params::DEFAULT_PRESET,
    schemes::ckks::Ciphertext as CoreCiphertext,
};

use crate::{
    ckks::{Ciphertext, CkksClient, CkksMethod},
    ffi::{
        Array, Flag, In, Out, Own, PartReader, Place, Progress, Room, SeedBytes, Text, User, Void, export,
    },
    keys::Keys,
    method::{Keyed, Method},
    progress::Listener,
    secret::Secret,
    sets::{self, Kept},
};

/// Largest ring whose matrix is kept in the memory of a page.
#[cfg(target_family = "wasm")]
const MATRIX_KEPT_UP_TO: usize = 1 << 11;

impl Keyed for ShipParams {
    type Spec = ShipSpec;
    const SECURE: &'static str = DEFAULT_PRESET;
    const SECRET: &'static str = "rf_ship_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<ShipParams> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<ShipSpec>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl Method for ShipParams {
    const KEYS: &'static str = "rf_ship_keys";
    type Builder = ShipKeysBuilder;
    type Keys = (ShipEvaluator, CoreKeys);

    fn builder(&self, key_id: [u8; 16]) -> ShipKeysBuilder {
        CoreKeys::builder(self, key_id)
    }

    fn add(builder: &mut ShipKeysBuilder, index: usize, part: &[u8]) -> Result<(), Error> {
        builder.add(index, part)
    }

    fn finish(builder: ShipKeysBuilder) -> Result<Self::Keys, Error> {
        let keys = builder.finish()?;
        let params = keys.params();
        #[cfg(target_family = "wasm")]
        if params.n() > MATRIX_KEPT_UP_TO {
            return Ok((ShipEvaluator::compact(params)?, keys));
        }
        Ok((ShipEvaluator::new(params)?, keys))
    }
}

impl CkksClient for ShipParams {
    const CIPHERTEXT: &'static str = "rf_ship_ciphertext";
}

impl CkksMethod for ShipParams {
    fn multiply(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext,
        y: &CoreCiphertext,
    ) -> Result<CoreCiphertext, Error> {
        evaluator.multiply(x, y, keys)
    }

    fn bootstrap(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext,
        mode: SlotMode,
        listener: &mut Listener,
    ) -> Result<CoreCiphertext, Error> {
        evaluator.bootstrap(x, mode, keys, listener)
    }
}

type ShipSecret = Secret<ShipParams>;
type ShipKeys = Keys<ShipParams>;
type ShipCiphertext = Ciphertext<ShipParams>;

export! {
    fn rf_ship_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<ShipParams>())
    }

    fn rf_ship_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<ShipSecret>) {
        ShipSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_ship_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<ShipSecret>) {
        ShipSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_ship_secret_to_bytes(secret: In<ShipSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_ship_secret_free(secret: Own<ShipSecret>) -> Void {
        secret.free();
    }

    fn rf_ship_set(secret: In<ShipSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_ship_slots(secret: In<ShipSecret>, slots: Place<usize>) {
        slots.put(secret.set.params.slots());
        Ok(())
    }

    fn rf_ship_key_id(secret: In<ShipSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_ship_server_token(secret: In<ShipSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_ship_key_part_count(secret: In<ShipSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_ship_key_part(
        secret: In<ShipSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }

    fn rf_ship_keys_new(secret: In<ShipSecret>, progress: Progress, user: User, out: Out<ShipKeys>) {
        ShipKeys::generate(secret, progress, user).map(|keys| out.give(keys))
    }

    fn rf_ship_keys_from_parts(set: Text, key_id: Array<u8>, read: PartReader, user: User, out: Out<ShipKeys>) {
        ShipKeys::collect(set, key_id.exactly()?, read, user).map(|keys| out.give(keys))
    }

    fn rf_ship_keys_free(keys: Own<ShipKeys>) -> Void {
        keys.free();
    }

    fn rf_ship_encrypt(
        secret: In<ShipSecret>,
        values: Array<f64>,
        count: usize,
        mode: i32,
        level: i32,
        seed: SeedBytes,
        out: Out<ShipCiphertext>,
    ) {
        ShipCiphertext::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
    }

    fn rf_ship_decrypt(
        secret: In<ShipSecret>,
        x: In<ShipCiphertext>,
        mode: i32,
        out: Room<f64>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.numbers(mode)?)?;
        out.fill(capacity, &length, &x.decrypt(secret, mode)?)
    }

    fn rf_ship_level(x: In<ShipCiphertext>, level: Place<usize>) {
        level.put(x.level());
        Ok(())
    }

    fn rf_ship_add(x: In<ShipCiphertext>, y: In<ShipCiphertext>, out: Out<ShipCiphertext>) {
        x.add(y).map(|sum| out.give(sum))
    }

    fn rf_ship_subtract(x: In<ShipCiphertext>, y: In<ShipCiphertext>, out: Out<ShipCiphertext>) {
        x.subtract(y).map(|difference| out.give(difference))
    }

    fn rf_ship_multiply(keys: In<ShipKeys>, x: In<ShipCiphertext>, y: In<ShipCiphertext>, out: Out<ShipCiphertext>) {
        x.multiply(y, keys).map(|product| out.give(product))
    }

    fn rf_ship_exhaust(x: In<ShipCiphertext>, out: Out<ShipCiphertext>) {
        x.exhaust().map(|exhausted| out.give(exhausted))
    }

    fn rf_ship_bootstrap(
        keys: In<ShipKeys>,
        x: In<ShipCiphertext>,
        mode: i32,
        progress: Progress,
        user: User,
        out: Out<ShipCiphertext>,
    ) {
        x.bootstrap(keys, mode, progress, user).map(|refreshed| out.give(refreshed))
    }

    fn rf_ship_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<ShipCiphertext>) {
        ShipCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_ship_ciphertext_to_bytes(x: In<ShipCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_ship_ciphertext_free(x: Own<ShipCiphertext>) -> Void {
        x.free();
    }
}
