//! The one description of a parameter set.
//!
//! A method describes its sets here, once: the server's list, the command line, the page and the TypeScript types are made
//! of it. With the feature `openapi` it has a serialised form and a schema.
//!
//! What slots hold is a [`SlotMode`]: [`NumberSecret`](super::NumberSecret) takes it with the numbers that it encrypts, for every method of
//! CKKS. Calls of SHIP alone take it for a bootstrap as well, because what it evaluates depends on it: complex slots are two halves, each
//! with its blind rotations, real ones are one, and bits are cleaned. The other methods bootstrap all slots alike, whatever they hold.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
#[cfg(feature = "openapi")]
use {
    serde::{Deserialize, Serialize},
    utoipa::ToSchema,
};

use super::{Messages, Preset, Promise, SetSpec};
use crate::{
    circuits::linear_transform::PlaintextStorage,
    error::{Error, hex},
    trace::StageInfo,
};

/// What a parameter set is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Scheme {
    /// CKKS ciphertexts of many slots, refreshed by SHIP or by conventional bootstrapping.
    Ckks,
    /// DM/CGGI: lists of encrypted bits, and circuits of gates on them. A set has one slot and no levels;
    /// its `logQP` is that of the ring modulus, its `logQ0P` that of the short key's.
    Cggi,
    /// BGV ciphertexts of many slots of integers modulo a prime power, exact.
    Bgv,
}

impl Scheme {
    /// Stable name: `ckks`, `cggi` or `bgv`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ckks => "ckks",
            Self::Cggi => "cggi",
            Self::Bgv => "bgv",
        }
    }
}

/// What the slots of a ciphertext hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema), serde(rename_all = "lowercase"))]
pub enum SlotMode {
    /// Real numbers.
    Real,
    /// Complex numbers.
    Complex,
    /// Bits.
    Bits,
    /// Integers modulo the `modulus` of the set.
    Integers,
}

impl SlotMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Real, Self::Complex, Self::Bits, Self::Integers];

    /// Stable name: `real`, `complex`, `bits` or `integers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Complex => "complex",
            Self::Bits => "bits",
            Self::Integers => "integers",
        }
    }

    /// Whether a set whose slots hold this takes values of `other`: real numbers are complex ones without an imaginary part, and
    /// other values do not mix.
    pub fn takes(self, other: Self) -> bool {
        self.kind() == other.kind()
    }

    /// What such slots hold, in words: `real and complex numbers`, `bits` or `integers`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Real | Self::Complex => "real and complex numbers",
            Self::Bits => "bits",
            Self::Integers => "integers",
        }
    }
}

/// One stage of a bootstrapping method, known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema))]
pub struct Stage {
    /// Stable identifier.
    pub id: String,
    /// Human-readable title.
    pub title: String,
    /// Formula in plain text.
    pub symbol: String,
    /// Levels consumed.
    pub levels: usize,
}

impl From<&StageInfo> for Stage {
    fn from(stage: &StageInfo) -> Self {
        Self {
            id: stage.id.to_owned(),
            title: stage.title.to_owned(),
            symbol: stage.symbol.to_owned(),
            levels: stage.levels,
        }
    }
}

/// One separately uploaded piece of an evaluation key set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema))]
pub struct Part {
    /// Position in the set, from 0.
    pub index: usize,
    /// What it is.
    pub label: String,
    /// Exact length in bytes.
    pub bytes: usize,
}

impl Part {
    /// Numbers pieces in order.
    pub fn list(parts: impl IntoIterator<Item = (String, usize)>) -> Vec<Self> {
        let numbered = parts.into_iter().enumerate();
        numbered.map(|(index, (label, bytes))| Self { index, label, bytes }).collect()
    }
}

/// What a set for gates and look-ups has in addition.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema), serde(rename_all = "camelCase"))]
pub struct GateInfo {
    /// How the accumulator is rotated: `ginx-binary`, `ginx-unrolled`, `ginx-ternary`, `lmkcdey`, `ntru` or `ap`.
    pub rotation: String,
    /// Dimension of the short key: steps of a blind rotation by the bits of a binary key.
    pub lwe_dimension: usize,
    /// Integers below this are what look-ups are promised for; 2 for a set of bits.
    pub messages: u32,
    /// log2 of the probability, computed from the noise, that a two-input gate is wrong.
    pub gate_log_failure: f64,
}

/// What a set that compares numbers in slots by gates has in addition.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema), serde(rename_all = "camelCase"))]
pub struct OrderInfo {
    /// Most numbers that are ranked at once.
    pub ranked: usize,
    /// log2 of the probability with which a comparison of numbers at that distance is wrong, at most.
    pub log_failure: f64,
    /// How far apart numbers in [-1, 1] have to be for that; left out where no distance is enough.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub least_signed: Option<f64>,
    /// How far apart numbers in [0, 1] have to be for that; left out where no distance is enough.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub least_unit: Option<f64>,
    /// Stages of a comparison whose results are slots, in order.
    pub stages: Vec<Stage>,
}

/// Something else there is to say of a set, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema))]
pub struct Fact {
    /// What it is.
    pub label: String,
    /// Its value, with its unit.
    pub value: String,
}

impl Fact {
    /// A fact.
    pub fn new(label: &str, value: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into() }
    }

    /// A fact: the size of the diagonals of linear transforms, evaluated and as coefficients, from their bytes.
    pub(in crate::bootstrapping) fn diagonals(bytes: impl Fn(PlaintextStorage) -> u64) -> Self {
        let megabytes = |storage| bytes(storage) / 1_000_000;
        let [evaluated, coefficients] =
            [PlaintextStorage::Evaluated, PlaintextStorage::Coefficients].map(megabytes);
        Self::new("diagonals", format!("{evaluated} MB evaluated, {coefficients} MB as coefficients"))
    }
}

/// What there is to know of a parameter set: its claims, its sizes, and how it bootstraps.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "openapi", derive(Serialize, Deserialize, ToSchema), serde(rename_all = "camelCase"))]
pub struct SetInfo {
    /// What it is for.
    pub scheme: Scheme,
    /// Identifier of the method that refreshes its ciphertexts, such as `ckks-ship`.
    pub method: String,
    /// Name, such as `ship13`.
    pub name: String,
    /// Human-readable title.
    pub title: String,
    /// For a set of an earlier version, whose keys are still accepted: the set to make new keys of.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub successor: Option<String>,
    /// What the slots hold, unless a job says otherwise.
    pub mode: SlotMode,
    /// What integers in slots are modulo, for sets of integers.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub modulus: Option<u64>,
    /// Integers in a slot, for sets of integers: 1, or more where a slot is an element of a Galois ring, given by that number of coordinates in a
    /// normal basis. Messages have them next to each other, slot after slot.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub slot_degree: Option<usize>,
    /// Whether the set claims to be secure. One that does not protects nothing, and is for tests and demonstrations.
    pub secure: bool,
    /// Where the numbers come from.
    #[cfg_attr(feature = "openapi", serde(default), schema(required))]
    pub source: String,
    /// Estimated classical security in bits.
    pub security_bits: f64,
    /// The estimate in a sentence, with its assumptions.
    pub security_statement: String,
    /// Name of the security policy the set was checked against.
    pub policy: String,
    /// First 16 bytes of the digest of the canonical parameters, in hexadecimal: objects of different sets do not mix.
    pub fingerprint: String,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Slots of a ciphertext.
    pub slots: usize,
    /// log2 of the largest modulus under the main key.
    #[cfg_attr(feature = "openapi", serde(rename = "logQP"))]
    pub log_qp: f64,
    /// log2 of the largest modulus under the sparse or ephemeral key.
    #[cfg_attr(feature = "openapi", serde(rename = "logQ0P"))]
    pub log_q0p: f64,
    /// Highest level of the chain.
    pub max_level: usize,
    /// Level a ciphertext is bootstrapped from.
    pub input_level: usize,
    /// Level of a fresh ciphertext, and of one that was bootstrapped.
    pub output_level: usize,
    /// Bits of precision that the set promises in the worst slot after one bootstrap, for the messages of `promisedFor`.
    /// After k with nothing computed between them it is log2(k) less; a computation multiplies the errors before it by its
    /// slope. 1 for a set of gates or of integers, whose promise is `logFailure`.
    pub promised_bits: f64,
    /// Bits of precision in the mean over the slots, where the set promises them as well.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub promised_mean_bits: Option<f64>,
    /// For which messages precision is promised, in words: `every message with parts in [-1, 1]`, `messages that are random
    /// with mean zero`, `every message of bits`, or `every message of integers over their modulus, in [0, 1)`. For sets of CKKS.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub promised_for: Option<String>,
    /// Bits that a further round of META-BTS gains, for sets of numbers.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub gain_bits: Option<u32>,
    /// log2 of the probability, promised, that a gate's result is wrong, or a slot of integers after a bootstrap; for conventional
    /// bootstrapping and modular reduction, that a bootstrap of random coefficients fails, for as many digits as the set can read.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub log_failure: Option<f64>,
    /// Stages of the bootstrapping, in order.
    pub stages: Vec<Stage>,
    /// Independent blind rotations; 1 where there are none.
    pub tracks: usize,
    /// Levels of the product tree; 0 where there is none.
    pub tree_levels: usize,
    /// Pieces of the evaluation key set; left out of the list unless asked for.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub key_parts: Vec<Part>,
    /// Number of pieces of the evaluation key set.
    pub parts: usize,
    /// Bytes of the whole evaluation key set on the wire.
    pub key_bytes: u64,
    /// Bytes of a ciphertext on the wire at each level from 0; of one bit for a set of gates.
    pub ciphertext_bytes: Vec<usize>,
    /// Bytes of the evaluation key set when loaded for use, with what is precomputed for it.
    pub expanded_key_bytes: u64,
    /// What a set for gates and look-ups has in addition.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub gates: Option<GateInfo>,
    /// What a set that compares numbers in slots by gates has in addition.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Option::is_none"))]
    pub orders: Option<OrderInfo>,
    /// Further facts about the set, for people.
    #[cfg_attr(feature = "openapi", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub facts: Vec<Fact>,
}

impl SetInfo {
    /// What follows from the preset and the parts of its evaluation keys, for a set of one slot of bits and no levels. The
    /// method fills in the rest.
    pub fn of<S: SetSpec>(preset: &Preset<S>, scheme: Scheme, key_parts: Vec<Part>) -> Self {
        let promise = preset.promise();
        let (promised_bits, promised_mean_bits, promised_for, log_failure) = match promise {
            Promise::Precision { worst, mean, messages } => {
                (worst, mean, Some(messages.words().to_owned()), None)
            }
            Promise::Exact { log_failure } | Promise::Gate { log_failure } => {
                (1.0, None, None, Some(log_failure))
            }
        };
        Self {
            scheme,
            method: S::METHOD.id.to_owned(),
            name: preset.name.to_owned(),
            title: preset.title.to_owned(),
            successor: preset.successor().map(ToOwned::to_owned),
            mode: SlotMode::Bits,
            modulus: None,
            slot_degree: None,
            secure: preset.secure(),
            source: preset.source.to_owned(),
            security_bits: 0.0,
            security_statement: String::new(),
            policy: preset.policy.name().to_owned(),
            fingerprint: hex(&preset.fingerprint()),
            log_n: 0,
            slots: 1,
            log_qp: 0.0,
            log_q0p: 0.0,
            max_level: 0,
            input_level: 0,
            output_level: 0,
            promised_bits,
            promised_mean_bits,
            promised_for,
            gain_bits: None,
            log_failure,
            stages: Vec::new(),
            tracks: 1,
            tree_levels: 0,
            parts: key_parts.len(),
            key_bytes: key_parts.iter().map(|part| part.bytes as u64).sum(),
            key_parts,
            ciphertext_bytes: Vec::new(),
            expanded_key_bytes: 0,
            gates: None,
            orders: None,
            facts: Vec::new(),
        }
    }

    /// Numbers in a ciphertext: one per slot, or one for each coordinate of every slot.
    pub fn numbers(&self) -> usize {
        self.slots * self.slot_degree.unwrap_or(1)
    }

    /// What the set promises of one bootstrap.
    pub fn promise(&self) -> Promise {
        let log_failure = self.log_failure.unwrap_or(0.0);
        match (&self.promised_for, &self.gates) {
            (Some(words), _) => {
                let known = Messages::ALL.into_iter().find(|messages| messages.words() == words.as_str());
                let messages = known.unwrap_or(Messages::ZeroMean);
                Promise::Precision { worst: self.promised_bits, mean: self.promised_mean_bits, messages }
            }
            (None, Some(_)) => Promise::Gate { log_failure },
            (None, None) => Promise::Exact { log_failure },
        }
    }

    /// The largest ciphertext of the set, in bytes.
    pub fn largest_ciphertext(&self) -> usize {
        self.ciphertext_bytes.iter().copied().max().unwrap_or(0)
    }
}

/// Checked parameters of a set.
pub trait ParamSet: Sized {
    /// The numbers they are made of.
    type Spec: SetSpec;

    /// Checks the numbers and their security policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that do not fit together or the word, [`Error::Insecure`] if the policy is not
    /// met.
    fn checked(spec: &Self::Spec) -> Result<Self, Error>;

    /// Describes the set of `preset`; `self` are its parameters.
    fn info(&self, preset: &Preset<Self::Spec>) -> SetInfo;

    /// Facts for people that [`Self::info`] does not have.
    fn facts(&self, _preset: &Preset<Self::Spec>) -> Vec<Fact> {
        Vec::new()
    }
}
