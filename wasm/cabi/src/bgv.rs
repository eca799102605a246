//! BGV, for the owners of secret keys: keys, integers, and the parts of evaluation keys.

use core::ffi::c_char;
use std::sync::Arc;

use refloat::{
    Error,
    bootstrapping::bgv::BgvParams,
    schemes::bgv::{BgvCiphertext as Inner, BgvEvaluator, BgvPublicKey as InnerPublicKey},
    wire,
};
use zeroize::Zeroizing;

use crate::{
    entropy::seed_for,
    exports::export_secret,
    ffi::{self, Array, Flag, In, Opaque, Out, Own, Place, Room, SeedBytes, Text, Void, export},
    level::level_of,
    method::keyed,
    secret::Secret,
    sets::{self, Set},
    status::Failure,
};

keyed!(BgvParams, secure: "bgv15", secret: "rf_bgv_secret", slots: |params: &Self| params.context().slots());

type BgvSecret = Secret<BgvParams>;

/// An encrypted vector of integers.
pub struct BgvCiphertext {
    set: Arc<Set<BgvParams>>,
    inner: Inner,
}

impl Opaque for BgvCiphertext {
    const NAME: &'static str = "rf_bgv_ciphertext";
}

impl BgvCiphertext {
    /// Encrypts integers at a level, given by its number or by name.
    fn encrypt(
        secret: &BgvSecret,
        values: &[u32],
        level: i32,
        seed: Option<Zeroizing<[u8; 32]>>,
    ) -> ffi::Result<Self> {
        let level = level_in(&secret.set, level)?;
        let inner = secret.key.encrypt(&wide(values), level, &secret.randomness(seed)?)?;
        Ok(Self { set: Arc::clone(&secret.set), inner })
    }

    /// Decrypts, for the owner of the key, who is the caller.
    fn decrypt(&self, secret: &BgvSecret) -> ffi::Result<Zeroizing<Vec<u32>>> {
        let slots = secret.key.decrypt(&self.inner)?;
        let narrow = slots.reveal_to_key_owner().iter().map(|&value| u32::try_from(value));
        let wide = |_| {
            Failure::invalid("integers of this set have more than 32 bits; take one with a smaller modulus")
        };
        Ok(Zeroizing::new(narrow.collect::<Result<_, _>>().map_err(wide)?))
    }

    /// Reads the wire form, for any set.
    fn from_bytes(bytes: &[u8]) -> ffi::Result<Self> {
        let set = sets::of_bytes::<BgvParams>(bytes)?;
        let inner = wire::bgv_ciphertext_from_bytes(set.params.context(), bytes)?;
        Ok(Self { set, inner })
    }

    /// The wire form.
    fn to_bytes(&self) -> ffi::Result<Vec<u8>> {
        Ok(wire::bgv_ciphertext_to_bytes(self.set.params.context(), &self.inner)?)
    }

    /// Length of the wire form.
    fn byte_len(&self) -> usize {
        wire::bgv_ciphertext_len(self.set.params.context(), self.inner.level(), self.inner.components())
    }

    /// The result of an operation on two ciphertexts, once they have the same factor.
    fn combine(
        &self,
        other: &Self,
        operation: fn(&BgvEvaluator, &Inner, &Inner) -> Result<Inner, Error>,
    ) -> ffi::Result<Self> {
        let evaluator = BgvEvaluator::new(self.set.params.context());
        let (x, y) = evaluator.at_one_factor(&self.inner, &other.inner)?;
        Ok(Self { set: Arc::clone(&self.set), inner: operation(&evaluator, &x, &y)? })
    }
}

/// A level for messages, by its number or by name.
fn level_in(set: &Set<BgvParams>, level: i32) -> ffi::Result<usize> {
    let levels = set.params.levels();
    level_of(level, levels.output, levels.input)
}

/// Integers as the core takes them.
fn wide(values: &[u32]) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(values.iter().map(|&value| value.into()).collect())
}

/// Encrypts for the owner of a secret key, and decrypts nothing.
pub struct BgvPublicKey {
    set: Arc<Set<BgvParams>>,
    inner: InnerPublicKey,
}

impl Opaque for BgvPublicKey {
    const NAME: &'static str = "rf_bgv_public_key";
    // Calls with a public key have messages on their stack.
    const SECRET: bool = true;
}

impl BgvPublicKey {
    /// The public key of a secret key.
    fn of(secret: &BgvSecret) -> ffi::Result<Self> {
        Ok(Self { set: Arc::clone(&secret.set), inner: secret.key.public_key()? })
    }

    /// Reads the wire form, for any set.
    fn from_bytes(bytes: &[u8], allow_insecure: bool) -> ffi::Result<Self> {
        let set = sets::of_bytes::<BgvParams>(bytes)?;
        sets::refuse_insecure::<BgvParams>(set.name, set.secure || allow_insecure)?;
        let (context, level) = (set.params.context(), set.params.levels().output);
        let inner = wire::bgv_public_key_from_bytes(context, level, bytes)?;
        Ok(Self { set, inner })
    }

    /// The wire form.
    fn to_bytes(&self) -> Vec<u8> {
        wire::bgv_public_key_to_bytes(self.set.params.context(), &self.inner)
    }

    /// Encrypts integers as [`BgvCiphertext::encrypt`] does.
    fn encrypt(
        &self,
        values: &[u32],
        level: i32,
        seed: Option<Zeroizing<[u8; 32]>>,
    ) -> ffi::Result<BgvCiphertext> {
        let (set, level) = (&self.set, level_in(&self.set, level)?);
        let randomness = seed_for(set.name, set.secure, seed)?;
        let inner = self.inner.encrypt(set.params.context(), &wide(values), level, &randomness)?;
        Ok(BgvCiphertext { set: Arc::clone(set), inner })
    }
}

export_secret!("bgv", BgvParams);

export! {
    fn rf_bgv_modulus(secret: In<BgvSecret>, modulus: Place<u64>) {
        modulus.put(secret.set.params.messages().value());
        Ok(())
    }

    fn rf_bgv_slot_degree(secret: In<BgvSecret>, integers: Place<usize>) {
        integers.put(secret.set.params.context().slot_degree());
        Ok(())
    }

    fn rf_bgv_encrypt(
        secret: In<BgvSecret>,
        values: Array<u32>,
        count: usize,
        level: i32,
        seed: SeedBytes,
        out: Out<BgvCiphertext>,
    ) {
        BgvCiphertext::encrypt(secret, values.of(count)?, level, seed).map(|x| out.give(x))
    }

    fn rf_bgv_public_key_new(secret: In<BgvSecret>, out: Out<BgvPublicKey>) {
        BgvPublicKey::of(secret).map(|key| out.give(key))
    }

    fn rf_bgv_public_key_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<BgvPublicKey>) {
        BgvPublicKey::from_bytes(bytes.of(count)?, allow_insecure).map(|key| out.give(key))
    }

    fn rf_bgv_public_key_to_bytes(key: In<BgvPublicKey>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.fill(capacity, &length, &key.to_bytes())
    }

    fn rf_bgv_public_key_id(key: In<BgvPublicKey>, out: Room<u8>) {
        out.put(&key.inner.key_id())
    }

    fn rf_bgv_encrypt_for(
        key: In<BgvPublicKey>,
        values: Array<u32>,
        count: usize,
        level: i32,
        seed: SeedBytes,
        out: Out<BgvCiphertext>,
    ) {
        key.encrypt(values.of(count)?, level, seed).map(|x| out.give(x))
    }

    fn rf_bgv_public_key_free(key: Own<BgvPublicKey>) -> Void {
        key.free();
    }

    fn rf_bgv_decrypt(
        secret: In<BgvSecret>,
        x: In<BgvCiphertext>,
        out: Room<u32>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.set.params.n())?;
        out.fill(capacity, &length, &x.decrypt(secret)?)
    }

    fn rf_bgv_level(x: In<BgvCiphertext>, level: Place<usize>) {
        level.put(x.inner.level());
        Ok(())
    }

    fn rf_bgv_capacity(x: In<BgvCiphertext>, bits: Place<f64>) {
        bits.put(x.inner.capacity());
        Ok(())
    }

    fn rf_bgv_add(x: In<BgvCiphertext>, y: In<BgvCiphertext>, out: Out<BgvCiphertext>) {
        x.combine(y, BgvEvaluator::add).map(|sum| out.give(sum))
    }

    fn rf_bgv_subtract(x: In<BgvCiphertext>, y: In<BgvCiphertext>, out: Out<BgvCiphertext>) {
        x.combine(y, BgvEvaluator::sub).map(|difference| out.give(difference))
    }

    fn rf_bgv_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<BgvCiphertext>) {
        BgvCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_bgv_ciphertext_to_bytes(x: In<BgvCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_bgv_ciphertext_free(x: Own<BgvCiphertext>) -> Void {
        x.free();
    }
}
