//! Sets as the owner of the data uses them on the command line: to generate keys, and to encrypt and decrypt slots of numbers or integers.
//! The server takes no part in this.

use std::collections::BTreeMap;

use refloat::Error;
use refloat::bootstrapping::method::{NumberSecret, NumberSet, ParamSet, Preset, SetSpec};
use refloat::circuits::program::{Compared, Plan};
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::wire::{self, CkksSet, SeededSecret, SeededSet, WireWord};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::encryptors::{CkksEncryptor, CkksPublic, IntegerEncryptor, is_public};
use crate::engine::{Described, SetInfo, SlotMode};
use crate::id::Id;
use crate::programs::ProgramJob;

/// How a set is found.
#[derive(Debug, Clone, Copy)]
pub enum SetQuery<'a> {
    /// By its name, among those that keys are made of.
    Name(&'a str),
    /// By the fingerprint in bytes that belong to it.
    Fingerprint([u8; 16]),
}

impl SetQuery<'_> {
    /// The set, if it is one of a method.
    pub fn preset<S: SetSpec>(self) -> Option<&'static Preset<S>> {
        match self {
            Self::Name(name) => Preset::all().iter().find(|preset| preset.name == name),
            Self::Fingerprint(fingerprint) => Preset::by_fingerprint(&fingerprint).ok(),
        }
    }

    /// The set, if it is one of the CKKS method with parameters `P`.
    ///
    /// # Errors
    /// None for a set of a released version.
    pub fn ckks<P>(self) -> Result<Option<KeyOwnerSet>, Error>
    where
        P: ParamSet + CkksSet + NumberSet<P::Word> + SeededSet + Clone + 'static,
        P::Secret: NumberSecret<P::Word> + 'static,
    {
        let Some(preset) = self.preset() else { return Ok(None) };
        Ok(Some(KeyOwnerSet::Ckks(Box::new(Described::<P>::of(preset)?))))
    }
}

/// A set that was found, by what can be done with its ciphertexts.
pub enum KeyOwnerSet {
    /// Of CKKS: numbers are encrypted and decrypted alike for every method.
    Ckks(Box<dyn CkksClient>),
    /// Of integers in slots, exact.
    Integers(Box<dyn IntegerClient>),
    /// Of another scheme, whose commands know its ciphertexts.
    Other(Box<dyn KeyClient>),
}

impl KeyOwnerSet {
    /// What every set has.
    pub fn keys(self) -> Box<dyn KeyClient> {
        match self {
            Self::Ckks(set) => set,
            Self::Integers(set) => set,
            Self::Other(set) => set,
        }
    }

    /// [`Self::keys`], borrowed.
    pub fn client(&self) -> &dyn KeyClient {
        match self {
            Self::Ckks(set) => set.as_ref(),
            Self::Integers(set) => set.as_ref(),
            Self::Other(set) => set.as_ref(),
        }
    }

    /// Whether programs of the set may read digits.
    ///
    /// # Errors
    /// None for a set of a released version.
    pub fn reads_digits(&self) -> Result<bool, Error> {
        match self {
            Self::Ckks(set) => set.reads_digits(),
            Self::Integers(_) | Self::Other(_) => Ok(false),
        }
    }

    /// Plans a program, given as the body of a job.
    ///
    /// # Errors
    /// The set cannot run the program on ciphertexts under `key`, or runs none.
    pub fn plan(&self, key: Id, body: &[u8]) -> Result<PlannedProgram, Error> {
        match self {
            Self::Ckks(set) => set.plan(key, body),
            Self::Integers(set) => set.plan(key, body),
            Self::Other(set) => {
                Err(Error::InvalidArgument(format!("{} runs no programs of slots", set.info().name)))
            }
        }
    }

    /// What computing on ciphertexts takes and leaves, as far as it is known before there are keys; `None` for a set without slots.
    ///
    /// # Errors
    /// None for a set of a released version.
    pub fn outline(&self) -> Result<Option<Outline>, Error> {
        match self {
            Self::Ckks(set) => set.outline().map(Some),
            Self::Integers(set) => set.outline().map(Some),
            Self::Other(_) => Ok(None),
        }
    }

    /// Reads a ciphertext that jobs refresh.
    ///
    /// # Errors
    /// The bytes are not a ciphertext of the set, or its ciphertexts are not refreshed one by one.
    pub fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextBytes, Error> {
        match self {
            Self::Ckks(set) => set.ciphertext(bytes),
            Self::Integers(set) => set.ciphertext(bytes),
            Self::Other(set) => Err(Error::ParamsMismatch(format!(
                "these bytes belong to {}, whose jobs are circuits and look-ups; give a ciphertext of numbers or integers in slots",
                set.info().name
            ))),
        }
    }
}

/// A set, for the owner of keys.
pub trait KeyClient {
    /// What there is to know of it.
    fn info(&self) -> &SetInfo;

    /// The secret key of a seed.
    fn secret(&self, seed: &Seed) -> Box<dyn KeySecret>;

    /// Reads a secret key of the set.
    ///
    /// # Errors
    /// The bytes are not a secret key of the set.
    fn read_secret(&self, bytes: &[u8]) -> Result<Box<dyn KeySecret>, Error>;
}

/// A set of CKKS.
pub trait CkksClient: KeyClient {
    /// Reads a secret key of the set, to encrypt and decrypt with.
    ///
    /// # Errors
    /// The bytes are not a secret key of the set.
    fn read_ckks_secret(&self, bytes: &[u8]) -> Result<Box<dyn CkksSecret>, Error>;

    /// Reads a key of the set to encrypt with: a public or a secret one.
    ///
    /// # Errors
    /// The bytes are neither.
    fn read_ckks_encryptor(&self, bytes: &[u8]) -> Result<Box<dyn CkksEncryptor>, Error>;

    /// Largest absolute value of the parts of messages.
    fn largest_message(&self) -> f64;

    /// Whether programs on its ciphertexts may read digits.
    ///
    /// # Errors
    /// None for a set that was checked.
    fn reads_digits(&self) -> Result<bool, Error>;

    /// What computing on its ciphertexts takes and leaves.
    ///
    /// # Errors
    /// None for a set that was checked.
    fn outline(&self) -> Result<Outline, Error>;

    /// Reads a ciphertext of the set.
    ///
    /// # Errors
    /// The bytes are not a ciphertext of the set.
    fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextBytes, Error>;

    /// Plans a program, given as the body of a job, whether or not jobs of the set may bring one.
    ///
    /// # Errors
    /// The set cannot run the program on ciphertexts under `key`.
    fn plan(&self, key: Id, body: &[u8]) -> Result<PlannedProgram, Error>;
}

/// A set of integers in slots.
pub trait IntegerClient: KeyClient {
    /// Reads a secret key of the set, to encrypt and decrypt with.
    ///
    /// # Errors
    /// The bytes are not a secret key of the set.
    fn read_integer_secret(&self, bytes: &[u8]) -> Result<Box<dyn IntegerSecret>, Error>;

    /// Reads a key of the set to encrypt with: a public or a secret one.
    ///
    /// # Errors
    /// The bytes are neither.
    fn read_integer_encryptor(&self, bytes: &[u8]) -> Result<Box<dyn IntegerEncryptor>, Error>;

    /// What computing on its ciphertexts takes and leaves.
    ///
    /// # Errors
    /// None for a set that was checked.
    fn outline(&self) -> Result<Outline, Error>;

    /// Reads a ciphertext of the set.
    ///
    /// # Errors
    /// The bytes are not a ciphertext of the set.
    fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextBytes, Error>;

    /// Plans a program, given as the body of a job.
    ///
    /// # Errors
    /// The set cannot run the program on ciphertexts under `key`.
    fn plan(&self, key: Id, body: &[u8]) -> Result<PlannedProgram, Error>;
}

/// What computing on the ciphertexts of a set takes and leaves: public before there are keys.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    /// Left rotations of the ring's slots there are keys for, in ascending order; others are composed of them.
    pub rotations: Vec<Rotation>,
    /// The highest level at which slots are conjugated, or rows swapped, if there is a key for it.
    pub inversion: Option<usize>,
    /// The highest level at which ciphertexts are multiplied, if there is a key for it.
    pub products: Option<usize>,
    /// log2 of the modulus at every level of messages, from 0 on.
    #[serde(rename = "logQ")]
    pub log_q: Vec<f64>,
}

/// A rotation there is a key for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rotation {
    /// Places to the left; to the right where it is negative.
    pub steps: i64,
    /// The highest level it is used at.
    pub level: usize,
}

impl Outline {
    /// Rotations by their `steps` to the left of rows of so many slots, each with its level: as few steps as can be.
    pub(crate) fn rotations(keys: &BTreeMap<i64, usize>, slots: usize) -> Vec<Rotation> {
        let (half, around) = (slots as i64 / 2, slots as i64);
        let nearest =
            |(&steps, &level)| Rotation { steps: if steps > half { steps - around } else { steps }, level };
        let mut out: Vec<Rotation> = keys.iter().map(nearest).collect();
        out.sort_unstable_by_key(|rotation| rotation.steps);
        out
    }
}

/// What a program comes to.
#[derive(Debug, Clone)]
pub struct PlannedProgram {
    /// Operations on ciphertexts.
    pub steps: usize,
    /// Key switches without those of bootstraps.
    pub key_switches: usize,
    /// Bootstraps in all.
    pub bootstraps: usize,
    /// Bootstraps that the program does not have.
    pub inserted: usize,
    /// Passes that read digits.
    pub digits: usize,
    /// log2 of the probability that a result is wrong, where it is known; of numbers that are at least so far apart, where they are
    /// compared.
    pub log_failure: Option<f64>,
    /// How far apart.
    pub least_distance: f64,
    /// How numbers are compared, on sets that have two ways.
    pub compared: Vec<ComparedBy>,
    /// Outputs that can be decrypted but not bootstrapped, where that is known.
    pub final_outputs: Vec<String>,
}

/// The way in which the numbers of some nodes are compared.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedBy {
    /// The nodes, as messages name them.
    pub nodes: Vec<String>,
    /// `gates` or `digits`.
    pub by: &'static str,
    /// Why, and what either way comes to.
    pub reason: String,
}

impl PlannedProgram {
    /// How often a result is wrong, in words; nothing where that is not known.
    pub fn failure(&self) -> Option<String> {
        let log = self.log_failure?;
        // Rounded to what is promised: up, both of them.
        let apart = if self.least_distance > 0.0 {
            let least = (self.least_distance * 1e4).ceil() / 1e4;
            format!(" where numbers that are compared are at least {least:.4} apart")
        } else {
            String::new()
        };
        let log = (log * 10.0).ceil() / 10.0;
        Some(format!(
            "beside errors of arithmetic, a result is wrong with a probability of at most 2^{log:.1}{apart}"
        ))
    }
}

fn compared(plan: &Plan<'_>, one: &Compared) -> ComparedBy {
    let nodes = one.nodes.iter().map(|&node| plan.program().describe(node)).collect();
    ComparedBy { nodes, by: one.way.name(), reason: one.reason() }
}

/// A ciphertext in wire form that was read, and what it says about itself.
pub struct CiphertextBytes {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The key it is under.
    pub key: Id,
    /// Its level.
    pub level: usize,
    /// log2 of its modulus.
    pub log_q: f64,
    /// log2 of its scale, if it is of CKKS.
    pub log_scale: Option<f64>,
    /// Bits that its noise may grow by, if it is of integers.
    pub capacity: Option<f64>,
}

impl CiphertextBytes {
    /// Of a ciphertext of CKKS, in wire form.
    pub(crate) fn new<W: WireWord>(ciphertext: &Ciphertext<W>, bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            key: Id(ciphertext.key_id()),
            level: ciphertext.level(),
            log_q: ciphertext.log_q(),
            log_scale: Some(ciphertext.log_scale()),
            capacity: None,
        }
    }
}

impl<P> KeyClient for Described<P>
where
    P: SeededSet,
    P::Secret: 'static,
{
    fn info(&self) -> &SetInfo {
        &self.info
    }

    fn secret(&self, seed: &Seed) -> Box<dyn KeySecret> {
        Box::new(self.params.secret(seed))
    }

    fn read_secret(&self, bytes: &[u8]) -> Result<Box<dyn KeySecret>, Error> {
        Ok(Box::new(wire::secret_key_from_bytes(&self.params, bytes)?))
    }
}

impl<P> CkksClient for Described<P>
where
    P: CkksSet + NumberSet<P::Word> + SeededSet + Clone + 'static,
    P::Secret: NumberSecret<P::Word> + 'static,
{
    fn read_ckks_secret(&self, bytes: &[u8]) -> Result<Box<dyn CkksSecret>, Error> {
        Ok(Box::new(wire::secret_key_from_bytes(&self.params, bytes)?))
    }

    fn read_ckks_encryptor(&self, bytes: &[u8]) -> Result<Box<dyn CkksEncryptor>, Error> {
        if is_public(bytes)? {
            let key = wire::public_key_from_bytes(&self.params, bytes)?;
            return Ok(Box::new(CkksPublic { params: self.params.clone(), key }));
        }
        Ok(Box::new(wire::secret_key_from_bytes(&self.params, bytes)?))
    }

    fn largest_message(&self) -> f64 {
        self.params.largest_message()
    }

    fn reads_digits(&self) -> Result<bool, Error> {
        Ok(self.params.target()?.reads_digits())
    }

    fn outline(&self) -> Result<Outline, Error> {
        let target = self.params.target()?;
        Ok(Outline {
            rotations: Outline::rotations(target.rotations(), self.params.ckks().slots()),
            inversion: target.conjugation(),
            products: target.relinearization(),
            log_q: target.log2_moduli().to_vec(),
        })
    }

    fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextBytes, Error> {
        Ok(CiphertextBytes::new(&wire::ciphertext_from_bytes(self.params.ckks(), &bytes)?, bytes))
    }

    fn plan(&self, key: Id, body: &[u8]) -> Result<PlannedProgram, Error> {
        let (job, target) = (ProgramJob::from_bytes(self.params.ckks(), body)?, self.params.target()?);
        let plan = job.plan(&target, key)?;
        Ok(PlannedProgram {
            steps: plan.steps(),
            key_switches: plan.key_switches(),
            bootstraps: plan.bootstraps(),
            inserted: plan.inserted(),
            digits: plan.digit_passes(),
            log_failure: plan.log2_failure(),
            least_distance: plan.least_distance(),
            compared: plan.compared().iter().map(|one| compared(&plan, one)).collect(),
            final_outputs: Vec::new(),
        })
    }
}

/// A secret key of whichever set.
pub trait KeySecret {
    /// Public identifier of the key set.
    fn key_id(&self) -> Id;

    /// The bytes of the key.
    fn to_bytes(&self) -> Zeroizing<Vec<u8>>;

    /// A piece of the evaluation keys.
    ///
    /// # Errors
    /// The set has no such piece.
    fn key_part(&self, index: usize) -> Result<Vec<u8>, Error>;
}

impl<S: SeededSecret> KeySecret for S {
    fn key_id(&self) -> Id {
        Id(SeededSecret::key_id(self))
    }

    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(wire::secret_key_to_bytes(self))
    }

    fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        SeededSecret::key_part(self, index)
    }
}

/// A secret key of whichever set of integers.
pub trait IntegerSecret: IntegerEncryptor {
    /// The bytes of the key with which others encrypt for the owner of this one.
    ///
    /// # Errors
    /// None for a key of a set that was checked.
    fn public_key(&self) -> Result<Vec<u8>, Error>;

    /// Decrypts to integers, as many of each slot as it holds.
    ///
    /// # Errors
    /// The bytes are not a ciphertext under the key.
    fn decrypt(&self, bytes: &[u8]) -> Result<Zeroizing<Vec<u64>>, Error>;
}

/// A secret key of whichever set of CKKS.
pub trait CkksSecret: CkksEncryptor {
    /// The bytes of the key with which others encrypt for the owner of this one.
    ///
    /// # Errors
    /// None for a key of a set that was checked.
    fn public_key(&self) -> Result<Vec<u8>, Error>;

    /// Decrypts to numbers: one a slot, or real and imaginary parts in turn.
    ///
    /// # Errors
    /// The bytes are not a ciphertext under the key, or the set does not serve the mode.
    fn decrypt(&self, bytes: &[u8], mode: SlotMode) -> Result<Zeroizing<Vec<f64>>, Error>;
}

impl<S> CkksSecret for S
where
    S: SeededSecret,
    S::Set: CkksSet,
    S: NumberSecret<<S::Set as CkksSet>::Word>,
{
    fn public_key(&self) -> Result<Vec<u8>, Error> {
        let key = self.main_secret()?.public_key(self.set().public_key_level())?;
        Ok(wire::public_key_to_bytes(self.set(), &key))
    }

    fn decrypt(&self, bytes: &[u8], mode: SlotMode) -> Result<Zeroizing<Vec<f64>>, Error> {
        let ciphertext = wire::ciphertext_from_bytes(self.set().ckks(), bytes)?;
        Ok(Zeroizing::new(self.decrypt_numbers(&ciphertext, mode)?.reveal_to_key_owner().clone()))
    }
}
