//! CKKS sets in files, whatever the method that refreshes their ciphertexts.

use std::path::Path;

use refloat::bootstrapping::ckks_conventional::{ConventionalParams, ConventionalSecretKey};
use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
use refloat::params::{self, ConventionalPreset, ShipPreset};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::wire::{self, WireWord};
use zeroize::Zeroizing;

use super::data::read_file;
use super::failure::Failure;
use super::keyfiles::{self, KeySet, in_file};
use super::machine;
use crate::conventional::{ConventionalEngine, check_mode};
use crate::engine::{Engine, SlotMode};
use crate::id::Id;
use crate::plan::MemoryPlan;
use crate::ship::ShipEngine;

/// A set of CKKS.
pub enum CkksSet {
    /// Refreshed by SHIP.
    Ship(&'static ShipPreset, ShipParams),
    /// Refreshed by conventional bootstrapping.
    Conventional(&'static ConventionalPreset, ConventionalParams),
}

/// Says that keys are made of no set of this name: the one to take instead of a set of an earlier version, or all there are.
pub fn unknown_set(name: &str) -> Failure {
    if let Some(now) = params::successor(name) {
        return Failure::usage(format!(
            "{name} is the {now} of an earlier version: its keys and ciphertexts are read, and no new keys made of it; \
             take {now}"
        ));
    }
    let gates = params::CggiPreset::all().iter().map(|preset| preset.name);
    let all: Vec<&str> = CkksSet::names().into_iter().chain(gates).collect();
    Failure::usage(format!("no parameter set is called {name:?}; there are {}", all.join(", ")))
}

/// A secret key of one.
pub enum CkksSecret {
    /// Of a SHIP set.
    Ship(ShipSecretKey),
    /// Of a conventional set.
    Conventional(ConventionalSecretKey),
}

/// A ciphertext in wire form that was read, and what it says about itself.
pub struct CiphertextFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The key it is under.
    pub key: Id,
    /// Its level.
    pub level: usize,
    /// log2 of its modulus.
    pub log_q: f64,
    /// log2 of its scale.
    pub log_scale: f64,
}

impl CkksSet {
    /// The set of a name, if it is one of CKKS.
    pub fn named(name: &str) -> Result<Option<Self>, Failure> {
        if let Ok(preset) = params::preset(name) {
            return Ok(Some(Self::Ship(preset, preset.params()?)));
        }
        if let Ok(preset) = params::conventional_preset(name) {
            return Ok(Some(Self::Conventional(preset, preset.params()?)));
        }
        Ok(None)
    }

    /// Names of those that keys are made of.
    pub fn names() -> Vec<&'static str> {
        let conventional = params::ConventionalPreset::all().iter().map(|preset| preset.name);
        params::ShipPreset::all().iter().map(|preset| preset.name).chain(conventional).collect()
    }

    /// The set that bytes claim to belong to.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, refloat::Error> {
        let fingerprint = wire::frame::peek(bytes)?.fingerprint;
        if let Ok(preset) = params::ConventionalPreset::by_fingerprint(&fingerprint) {
            return Ok(Self::Conventional(preset, preset.params()?));
        }
        let preset = params::ShipPreset::by_fingerprint(&fingerprint)?;
        Ok(Self::Ship(preset, preset.params()?))
    }

    /// Name of the set.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ship(preset, _) => preset.name,
            Self::Conventional(preset, _) => preset.name,
        }
    }

    /// Whether the set claims security at all.
    pub fn secure(&self) -> bool {
        match self {
            Self::Ship(preset, _) => preset.secure(),
            Self::Conventional(preset, _) => preset.secure(),
        }
    }

    /// What the set claims.
    pub fn statement(&self) -> &str {
        match self {
            Self::Ship(_, params) => &params.security().statement,
            Self::Conventional(_, params) => &params.security().statement,
        }
    }

    /// What the slots hold by default.
    pub fn mode(&self) -> SlotMode {
        match self {
            Self::Ship(_, params) => params.mode(),
            Self::Conventional(..) => SlotMode::Real,
        }
    }

    /// Slots of a ciphertext.
    pub fn slots(&self) -> usize {
        match self {
            Self::Ship(_, params) => params.slots(),
            Self::Conventional(_, params) => params.slots(),
        }
    }

    /// Lowest level of the input of a bootstrap, and level of its result.
    pub fn levels(&self) -> [usize; 2] {
        match self {
            Self::Ship(_, params) => [params.input_level(), params.output_level()],
            Self::Conventional(_, params) => [params.levels().input, params.levels().output],
        }
    }

    /// Bytes of the largest ciphertext.
    pub fn largest_ciphertext(&self) -> usize {
        match self {
            Self::Ship(_, params) => wire::ciphertext_len(params.ckks(), params.max_level(), 2),
            Self::Conventional(_, params) => {
                wire::ciphertext_len(params.ckks(), params.levels().coeffs_to_slots, 2)
            }
        }
    }

    /// The evaluation keys that belong to a key.
    pub fn key_set(&self, key: Id) -> KeySet {
        let (fingerprint, sizes) = match self {
            Self::Ship(_, params) => {
                (params.fingerprint(), params.key_parts().iter().map(|part| part.bytes as u64).collect())
            }
            Self::Conventional(_, params) => {
                (params.fingerprint(), params.key_parts().iter().map(|part| part.bytes as u64).collect())
            }
        };
        KeySet::new(self.name(), fingerprint, key, sizes)
    }

    /// The secret key of a seed.
    pub fn secret(&self, seed: &Seed) -> CkksSecret {
        match self {
            Self::Ship(_, params) => CkksSecret::Ship(ShipSecretKey::generate(params, seed)),
            Self::Conventional(_, params) => {
                CkksSecret::Conventional(ConventionalSecretKey::generate(params, seed))
            }
        }
    }

    /// What computes with the set in at most `memory` bytes, or in what is available.
    pub fn engine(&self, memory: Option<u64>) -> Result<Box<dyn Engine>, Failure> {
        Ok(match self {
            Self::Ship(preset, _) => Box::new(ShipEngine::of([*preset])?),
            Self::Conventional(preset, params) => {
                let budget = memory.or_else(machine::available_memory);
                let plan = MemoryPlan::within(params, budget)
                    .map_err(|needed| Failure::memory(preset.name, needed, budget.unwrap_or(0)))?;
                Box::new(ConventionalEngine::of([*preset], plan.kept())?)
            }
        })
    }

    /// Reads a ciphertext of the set.
    pub fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextFile, refloat::Error> {
        match self {
            Self::Ship(_, params) => {
                let ciphertext = wire::ciphertext_from_bytes(params.ckks(), &bytes)?;
                Ok(CiphertextFile::new(&ciphertext, bytes))
            }
            Self::Conventional(_, params) => {
                let ciphertext = wire::ciphertext_from_bytes(params.ckks(), &bytes)?;
                Ok(CiphertextFile::new(&ciphertext, bytes))
            }
        }
    }
}

impl CkksSecret {
    /// Reads a secret key of any CKKS set, from its file or from the folder of keys.
    pub fn read(path: &Path) -> Result<(CkksSet, Self), Failure> {
        let path = keyfiles::secret_path(path);
        let bytes = read_file(&path)?;
        let read = || -> Result<_, refloat::Error> {
            let set = CkksSet::of_bytes(&bytes)?;
            let secret = match &set {
                CkksSet::Ship(_, params) => Self::Ship(wire::secret_key_from_bytes(params, &bytes)?),
                CkksSet::Conventional(_, params) => {
                    Self::Conventional(wire::secret_key_from_bytes(params, &bytes)?)
                }
            };
            Ok((set, secret))
        };
        read().map_err(|error| in_file(&path, error))
    }

    /// Public identifier of the key set.
    pub fn key_id(&self) -> Id {
        Id(match self {
            Self::Ship(secret) => secret.key_id(),
            Self::Conventional(secret) => secret.key_id(),
        })
    }

    /// The bytes of the key.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Ship(secret) => wire::secret_key_to_bytes(secret),
            Self::Conventional(secret) => wire::secret_key_to_bytes(secret),
        })
    }

    /// A piece of the evaluation keys.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, refloat::Error> {
        match self {
            Self::Ship(secret) => secret.key_part(index),
            Self::Conventional(secret) => secret.key_part(index),
        }
    }

    /// Encrypts numbers: one a slot, or real and imaginary parts in turn.
    pub fn encrypt(
        &self,
        values: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<CiphertextFile, refloat::Error> {
        match self {
            Self::Ship(secret) => {
                let ciphertext = secret.encrypt_at(values, mode, level, randomness)?;
                let bytes = wire::ciphertext_to_bytes(secret.params().ckks(), &ciphertext)?;
                Ok(CiphertextFile::new(&ciphertext, bytes))
            }
            Self::Conventional(secret) => {
                check_mode(secret.params(), mode)?;
                let slots: Vec<Complex> = match mode {
                    SlotMode::Complex => {
                        let part = |pair: &[f64], i: usize| pair.get(i).copied().unwrap_or(0.0);
                        values.chunks(2).map(|pair| Complex::new(part(pair, 0), part(pair, 1))).collect()
                    }
                    _ => values.iter().map(|&re| Complex::new(re, 0.0)).collect(),
                };
                let ciphertext = secret.encrypt(&Zeroizing::new(slots), level, randomness)?;
                let bytes = wire::ciphertext_to_bytes(secret.params().ckks(), &ciphertext)?;
                Ok(CiphertextFile::new(&ciphertext, bytes))
            }
        }
    }

    /// Decrypts to numbers: one a slot, or real and imaginary parts in turn.
    pub fn decrypt(&self, bytes: &[u8], mode: SlotMode) -> Result<Zeroizing<Vec<f64>>, refloat::Error> {
        match self {
            Self::Ship(secret) => {
                let ciphertext = wire::ciphertext_from_bytes(secret.params().ckks(), bytes)?;
                let values = secret.decrypt(&ciphertext, mode)?;
                Ok(Zeroizing::new(values.reveal_to_key_owner().clone()))
            }
            Self::Conventional(secret) => {
                check_mode(secret.params(), mode)?;
                let ciphertext = wire::ciphertext_from_bytes(secret.params().ckks(), bytes)?;
                let slots = secret.decrypt(&ciphertext)?;
                let parts = if mode == SlotMode::Complex { 2 } else { 1 };
                let values =
                    slots.reveal_to_key_owner().iter().flat_map(|z| [z.re, z.im].into_iter().take(parts));
                Ok(Zeroizing::new(values.collect()))
            }
        }
    }
}

impl CiphertextFile {
    /// Reads a ciphertext of any CKKS set.
    pub fn read(path: &Path) -> Result<(CkksSet, Self), Failure> {
        let bytes = read_file(path)?.to_vec();
        let read = || -> Result<_, refloat::Error> {
            let set = CkksSet::of_bytes(&bytes)?;
            let ciphertext = set.ciphertext(bytes)?;
            Ok((set, ciphertext))
        };
        read().map_err(|error| in_file(path, error))
    }

    fn new<W: WireWord>(ciphertext: &Ciphertext<W>, bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            key: Id(ciphertext.key_id()),
            level: ciphertext.level(),
            log_q: ciphertext.log_q(),
            log_scale: ciphertext.log_scale(),
        }
    }
}
