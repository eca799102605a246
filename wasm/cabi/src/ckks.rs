//! Ciphertexts of every method of CKKS.

use std::sync::Arc;

use refloat::{
    bootstrapping::method::{NumberSecret, NumberSet, SlotMode},
    schemes::ckks::{self, CkksEvaluator},
    wire::{self, CkksSet},
};
use zeroize::Zeroizing;

use crate::{
    entropy::seed_for,
    ffi::{Opaque, Progress, Result, User},
    keys::Keys,
    level::level_of,
    method::{Keyed, Method},
    progress::Listener,
    secret::Secret,
    sets::{self, Set},
    status::Failure,
};

/// What slots of CKKS hold, indexed by the number in the header.
pub const MODES: [SlotMode; 3] = [SlotMode::Real, SlotMode::Complex, SlotMode::Bits];

/// A ciphertext of the core.
type Inner<P> = ckks::Ciphertext<<P as CkksSet>::Word>;

/// A method of CKKS, as far as the owners of secret keys need it.
pub trait CkksClient:
    CkksSet + NumberSet<<Self as CkksSet>::Word> + Keyed<Secret: NumberSecret<<Self as CkksSet>::Word>>
{
    /// Name of ciphertexts in the header.
    const CIPHERTEXT: &'static str;
    /// Name of public keys in the header.
    const PUBLIC_KEY: &'static str;
}

/// A method of CKKS whose ciphertexts are multiplied and bootstrapped here.
pub trait CkksMethod: CkksClient + Method {
    /// x y, relinearised and rescaled.
    fn multiply(
        keys: &Self::Keys,
        x: &Inner<Self>,
        y: &Inner<Self>,
    ) -> core::result::Result<Inner<Self>, refloat::Error>;

    /// The same slots at the output level.
    fn bootstrap(
        keys: &Self::Keys,
        x: &Inner<Self>,
        mode: SlotMode,
        listener: &mut Listener,
    ) -> core::result::Result<Inner<Self>, refloat::Error>;
}

/// Encrypts for the owner of a secret key, and decrypts nothing.
pub struct PublicKey<P: CkksClient> {
    set: Arc<Set<P>>,
    inner: ckks::PublicKey<<P as CkksSet>::Word>,
}

impl<P: CkksClient> Opaque for PublicKey<P> {
    const NAME: &'static str = P::PUBLIC_KEY;
    // Calls with a public key have messages on their stack.
    const SECRET: bool = true;
}

impl<P: CkksClient> PublicKey<P> {
    /// The public key of a secret key.
    pub fn of(secret: &Secret<P>) -> Result<Self> {
        let inner = secret.key.main_secret()?.public_key(secret.set.params.public_key_level())?;
        Ok(Self { set: Arc::clone(&secret.set), inner })
    }

    /// Reads the wire form, for any set.
    pub fn from_bytes(bytes: &[u8], allow_insecure: bool) -> Result<Self> {
        let set = sets::of_bytes::<P>(bytes)?;
        sets::refuse_insecure::<P>(set.name, set.secure || allow_insecure)?;
        let inner = wire::public_key_from_bytes(&set.params, bytes)?;
        Ok(Self { set, inner })
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::public_key_to_bytes(&self.set.params, &self.inner)
    }

    /// Public identifier of the key that decrypts.
    pub fn key_id(&self) -> [u8; 16] {
        self.inner.key_id()
    }

    /// Encrypts numbers as [`Ciphertext::encrypt`] does.
    pub fn encrypt(
        &self,
        values: &[f64],
        mode: i32,
        level: i32,
        seed: Option<Zeroizing<[u8; 32]>>,
    ) -> Result<Ciphertext<P>> {
        let params = &self.set.params;
        let mode = slot_mode(mode, params)?;
        let level = level_of(level, params.output_level(), params.input_level())?;
        let randomness = seed_for(self.set.name, self.set.secure, seed)?;
        let inner = params.encrypt_numbers_for(&self.inner, values, mode, level, &randomness)?;
        Ok(Ciphertext { set: Arc::clone(&self.set), inner })
    }
}

/// An encrypted vector.
pub struct Ciphertext<P: CkksClient> {
    set: Arc<Set<P>>,
    inner: Inner<P>,
}

impl<P: CkksClient> Opaque for Ciphertext<P> {
    const NAME: &'static str = P::CIPHERTEXT;
}

impl<P: CkksClient> Ciphertext<P> {
    /// Encrypts numbers at a level, given by its number or by name.
    pub fn encrypt(
        secret: &Secret<P>,
        values: &[f64],
        mode: i32,
        level: i32,
        seed: Option<Zeroizing<[u8; 32]>>,
    ) -> Result<Self> {
        let params = &secret.set.params;
        let mode = slot_mode(mode, params)?;
        let level = level_of(level, params.output_level(), params.input_level())?;
        let inner = secret.key.encrypt_numbers(values, mode, level, &secret.randomness(seed)?)?;
        Ok(Self { set: Arc::clone(&secret.set), inner })
    }

    /// How many numbers a decryption gives.
    pub fn numbers(&self, mode: i32) -> Result<usize> {
        let each = if slot_mode(mode, &self.set.params)? == SlotMode::Complex { 2 } else { 1 };
        Ok(each * self.set.params.slots())
    }

    /// Decrypts, for the owner of the key, who is the caller.
    pub fn decrypt(&self, secret: &Secret<P>, mode: i32) -> Result<Zeroizing<Vec<f64>>> {
        let mode = slot_mode(mode, &secret.set.params)?;
        let values = secret.key.decrypt_numbers(&self.inner, mode)?;
        Ok(Zeroizing::new(values.reveal_to_key_owner().clone()))
    }

    /// Reads the wire form, for any set.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let set = sets::of_bytes::<P>(bytes)?;
        let inner = wire::ciphertext_from_bytes(set.params.ckks(), bytes)?;
        Ok(Self { set, inner })
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(wire::ciphertext_to_bytes(self.set.params.ckks(), &self.inner)?)
    }

    /// Length of the wire form.
    pub fn byte_len(&self) -> usize {
        wire::ciphertext_len(self.set.params.ckks(), self.inner.level(), self.inner.components())
    }

    /// Its level.
    pub fn level(&self) -> usize {
        self.inner.level()
    }

    /// x + y.
    pub fn add(&self, other: &Self) -> Result<Self> {
        Ok(self.sibling(self.evaluator().add(&self.inner, &other.inner)?))
    }

    /// x - y.
    pub fn subtract(&self, other: &Self) -> Result<Self> {
        Ok(self.sibling(self.evaluator().sub(&self.inner, &other.inner)?))
    }

    /// The same slots at the level where all multiplications have been spent.
    pub fn exhaust(&self) -> Result<Self> {
        let level = self.set.params.input_level();
        Ok(self.sibling(self.evaluator().drop_to_level(&self.inner, level)?))
    }

    fn evaluator(&self) -> CkksEvaluator<P::Word> {
        CkksEvaluator::new(self.set.params.ckks())
    }

    fn sibling(&self, inner: Inner<P>) -> Self {
        Self { set: Arc::clone(&self.set), inner }
    }
}

impl<P: CkksMethod> Ciphertext<P> {
    /// x y.
    pub fn multiply(&self, other: &Self, keys: &Keys<P>) -> Result<Self> {
        Ok(self.sibling(P::multiply(&keys.ready, &self.inner, &other.inner)?))
    }

    /// The same slots at the output level.
    pub fn bootstrap(&self, keys: &Keys<P>, mode: i32, progress: Progress, user: User) -> Result<Self> {
        let mode = slot_mode(mode, &keys.set().params)?;
        let refreshed = P::bootstrap(&keys.ready, &self.inner, mode, &mut Listener::new(progress, user))?;
        Ok(self.sibling(refreshed))
    }
}

/// What slots hold, by its number in the header.
fn slot_mode(mode: i32, params: &impl CkksSet) -> Result<SlotMode> {
    let known = usize::try_from(mode).ok().and_then(|mode| MODES.get(mode).copied());
    let Some(known) = known else {
        return Err(Failure::invalid(format!("{mode} is not a mode; pass RF_REAL, RF_COMPLEX or RF_BITS")));
    };
    if params.mode().takes(known) {
        return Ok(known);
    }
    Err(Failure::invalid(format!(
        "slots of this set hold {}, not {}; choose another set",
        params.mode().kind(),
        known.name()
    )))
}
