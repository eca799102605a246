//! Conventional bootstrapping of CKKS.

use core::ffi::c_char;

use refloat::{
    Error,
    bootstrapping::{
        ckks_conventional::{
            ConventionalEvaluator, ConventionalKeys as CoreKeys, ConventionalKeysBuilder, ConventionalParams,
            ConventionalSpec,
        },
        method::{Preset, SlotMode},
    },
    circuits::linear_transform::PlaintextStorage,
    params::DEFAULT_CONVENTIONAL_PRESET,
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

/// Largest ring whose diagonals are kept evaluated: those of `n16` would take more memory than its keys.
const DIAGONALS_EVALUATED_UP_TO: usize = 1 << 11;

impl Keyed for ConventionalParams {
    type Spec = ConventionalSpec;
    const SECURE: &'static str = DEFAULT_CONVENTIONAL_PRESET;
    const SECRET: &'static str = "rf_conventional_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<ConventionalParams> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<ConventionalSpec>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl Method for ConventionalParams {
    const KEYS: &'static str = "rf_conventional_keys";
    type Builder = ConventionalKeysBuilder;
    type Keys = (ConventionalEvaluator, CoreKeys);

    fn builder(&self, key_id: [u8; 16]) -> ConventionalKeysBuilder {
        CoreKeys::builder(self, key_id)
    }

    fn add(builder: &mut ConventionalKeysBuilder, index: usize, part: &[u8]) -> Result<(), Error> {
        builder.add(index, part)
    }

    fn finish(builder: ConventionalKeysBuilder) -> Result<Self::Keys, Error> {
        let params = builder.params().clone();
        let keep = params.n() <= DIAGONALS_EVALUATED_UP_TO;
        let storage = if keep { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients };
        let keys = builder.finish()?;
        Ok((ConventionalEvaluator::new(&params, storage)?, keys))
    }
}

impl CkksClient for ConventionalParams {
    const CIPHERTEXT: &'static str = "rf_conventional_ciphertext";
}

impl CkksMethod for ConventionalParams {
    fn multiply(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext<u64>,
        y: &CoreCiphertext<u64>,
    ) -> Result<CoreCiphertext<u64>, Error> {
        evaluator.multiply(x, y, keys)
    }

    fn bootstrap(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext<u64>,
        _mode: SlotMode,
        listener: &mut Listener,
    ) -> Result<CoreCiphertext<u64>, Error> {
        evaluator.bootstrap(x, keys, listener)
    }
}

type ConventionalSecret = Secret<ConventionalParams>;
type ConventionalKeys = Keys<ConventionalParams>;
type ConventionalCiphertext = Ciphertext<ConventionalParams>;

export! {
    fn rf_conventional_sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, &sets::names::<ConventionalParams>())
    }

    fn rf_conventional_secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<ConventionalSecret>) {
        ConventionalSecret::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
    }

    fn rf_conventional_secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<ConventionalSecret>) {
        ConventionalSecret::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
    }

    fn rf_conventional_secret_to_bytes(secret: In<ConventionalSecret>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &secret.to_bytes())
    }

    fn rf_conventional_secret_free(secret: Own<ConventionalSecret>) -> Void {
        secret.free();
    }

    fn rf_conventional_set(secret: In<ConventionalSecret>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
        out.fill_text(capacity, &length, secret.set.name)
    }

    fn rf_conventional_slots(secret: In<ConventionalSecret>, slots: Place<usize>) {
        slots.put(secret.set.params.slots());
        Ok(())
    }

    fn rf_conventional_key_id(secret: In<ConventionalSecret>, out: Room<u8>) {
        out.put(&secret.key_id())
    }

    fn rf_conventional_server_token(secret: In<ConventionalSecret>, origin: Text, out: Room<u8>) {
        out.put(&secret.server_token(origin))
    }

    fn rf_conventional_key_part_count(secret: In<ConventionalSecret>, parts: Place<usize>) {
        parts.put(secret.key_parts());
        Ok(())
    }

    fn rf_conventional_key_part(
        secret: In<ConventionalSecret>,
        index: usize,
        out: Room<u8>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, secret.key_part_len(index)?)?;
        out.fill(capacity, &length, &secret.key_part(index)?)
    }

    fn rf_conventional_keys_new(secret: In<ConventionalSecret>, progress: Progress, user: User, out: Out<ConventionalKeys>) {
        ConventionalKeys::generate(secret, progress, user).map(|keys| out.give(keys))
    }

    fn rf_conventional_keys_from_parts(set: Text, key_id: Array<u8>, read: PartReader, user: User, out: Out<ConventionalKeys>) {
        ConventionalKeys::collect(set, key_id.exactly()?, read, user).map(|keys| out.give(keys))
    }

    fn rf_conventional_keys_free(keys: Own<ConventionalKeys>) -> Void {
        keys.free();
    }

    fn rf_conventional_encrypt(
        secret: In<ConventionalSecret>,
        values: Array<f64>,
        count: usize,
        mode: i32,
        level: i32,
        seed: SeedBytes,
        out: Out<ConventionalCiphertext>,
    ) {
        ConventionalCiphertext::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
    }

    fn rf_conventional_decrypt(
        secret: In<ConventionalSecret>,
        x: In<ConventionalCiphertext>,
        mode: i32,
        out: Room<f64>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.numbers(mode)?)?;
        out.fill(capacity, &length, &x.decrypt(secret, mode)?)
    }

    fn rf_conventional_level(x: In<ConventionalCiphertext>, level: Place<usize>) {
        level.put(x.level());
        Ok(())
    }

    fn rf_conventional_add(x: In<ConventionalCiphertext>, y: In<ConventionalCiphertext>, out: Out<ConventionalCiphertext>) {
        x.add(y).map(|sum| out.give(sum))
    }

    fn rf_conventional_subtract(x: In<ConventionalCiphertext>, y: In<ConventionalCiphertext>, out: Out<ConventionalCiphertext>) {
        x.subtract(y).map(|difference| out.give(difference))
    }

    fn rf_conventional_multiply(keys: In<ConventionalKeys>, x: In<ConventionalCiphertext>, y: In<ConventionalCiphertext>, out: Out<ConventionalCiphertext>) {
        x.multiply(y, keys).map(|product| out.give(product))
    }

    fn rf_conventional_exhaust(x: In<ConventionalCiphertext>, out: Out<ConventionalCiphertext>) {
        x.exhaust().map(|exhausted| out.give(exhausted))
    }

    fn rf_conventional_bootstrap(
        keys: In<ConventionalKeys>,
        x: In<ConventionalCiphertext>,
        mode: i32,
        progress: Progress,
        user: User,
        out: Out<ConventionalCiphertext>,
    ) {
        x.bootstrap(keys, mode, progress, user).map(|refreshed| out.give(refreshed))
    }

    fn rf_conventional_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<ConventionalCiphertext>) {
        ConventionalCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_conventional_ciphertext_to_bytes(x: In<ConventionalCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_conventional_ciphertext_free(x: Own<ConventionalCiphertext>) -> Void {
        x.free();
    }
}
