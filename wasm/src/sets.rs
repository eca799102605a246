//! The named sets of a method, as they are described to JavaScript and asked for by it.

use std::{cell::RefCell, marker::PhantomData, thread::LocalKey};

use js_sys::Float64Array;
use refloat::bootstrapping::method::{ParamSet, Preset, SetInfo};
use wasm_bindgen::JsValue;

use crate::{
    failure::{Result, refuse_insecure},
    object::{Fields, array},
};

/// Checked parameters of the sets asked for so far, kept because checking takes a moment; their tables are made once.
pub type Checked<P> = RefCell<Vec<(&'static str, P)>>;

/// Parameters of a method that pages use.
pub trait PageParams: ParamSet + Clone + 'static {
    /// The set to take instead of a toy.
    const SECURE: &'static str;

    /// The cache of sets that were asked for.
    fn kept() -> &'static LocalKey<Checked<Self>>;
}

/// The named sets of a method with parameters `P`.
pub struct Sets<P>(PhantomData<P>);

/// A set and its checked parameters.
type Found<P> = (&'static Preset<<P as ParamSet>::Spec>, P);

impl<P: PageParams> Sets<P> {
    /// A set by name, current or of an earlier version.
    pub fn named(name: &str) -> Result<Found<P>> {
        Self::found(Preset::readable_named(name)?)
    }

    /// A current set by name, which must be secure unless `allow_insecure` is set.
    pub fn allowed(name: &str, allow_insecure: bool) -> Result<Found<P>> {
        let preset = Preset::<P::Spec>::named(name)?;
        Self::check_allowed(preset, allow_insecure)?;
        Self::found(preset)
    }

    /// Refuses a set that is not secure unless `allow_insecure` is set.
    pub fn check_allowed(preset: &Preset<P::Spec>, allow_insecure: bool) -> Result<()> {
        refuse_insecure(preset.name, preset.secure() || allow_insecure, P::SECURE)
    }

    /// The set with a fingerprint.
    pub fn by_fingerprint(fingerprint: [u8; 16]) -> Result<Found<P>> {
        Self::found(Preset::by_fingerprint(&fingerprint)?)
    }

    /// The description of a set, current or of an earlier version, as the TypeScript type `GlueSet`.
    pub fn described(name: &str) -> Result<JsValue> {
        let (preset, params) = Self::named(name)?;
        Ok(object_of(params.info(preset)))
    }

    /// The descriptions of all sets whose keys this version reads.
    #[cfg(feature = "ckks")]
    pub fn all_described() -> Result<JsValue> {
        let described: Result<Vec<JsValue>> =
            Preset::<P::Spec>::readable().map(|preset| Self::described(preset.name)).collect();
        Ok(array(described?))
    }

    fn found(preset: &'static Preset<P::Spec>) -> Result<Found<P>> {
        let own = |sets: &Vec<(&'static str, P)>| {
            sets.iter().find(|(name, _)| *name == preset.name).map(|(_, params)| params.clone())
        };
        if let Some(params) = P::kept().with_borrow(own) {
            return Ok((preset, params));
        }
        let params: P = preset.checked()?;
        P::kept().with_borrow_mut(|sets| sets.push((preset.name, params.clone())));
        Ok((preset, params))
    }
}

/// A description as the TypeScript type `GlueSet`: the fields of its serialised form, but with the hundreds of key parts as two values
/// instead of an object each, which would take longer than everything else.
fn object_of(info: SetInfo) -> JsValue {
    let stages = info.stages.iter().map(|stage| {
        Fields::new()
            .with("id", stage.id.as_str())
            .with("title", stage.title.as_str())
            .with("symbol", stage.symbol.as_str())
            .with("levels", stage.levels as f64)
            .done()
    });
    let gates = info.gates.as_ref().map(|gates| {
        Fields::new()
            .with("rotation", gates.rotation.as_str())
            .with("lweDimension", gates.lwe_dimension as f64)
            .with("messages", gates.messages)
            .with("gateLogFailure", gates.gate_log_failure)
            .done()
    });
    let labels: Vec<&str> = info.key_parts.iter().map(|part| part.label.as_str()).collect();
    let bytes: Vec<f64> = info.key_parts.iter().map(|part| part.bytes as f64).collect();
    let ciphertexts = info.ciphertext_bytes.iter().map(|&bytes| JsValue::from(bytes as f64));
    Fields::new()
        .with("scheme", info.scheme.name())
        .with("method", info.method)
        .with("name", info.name)
        .with("title", info.title)
        .with("successor", info.successor)
        .with("mode", info.mode.name())
        .with("modulus", info.modulus.map(|modulus| modulus as f64))
        .with("slotDegree", info.slot_degree.map(|degree| degree as f64))
        .with("secure", info.secure)
        .with("source", info.source)
        .with("securityBits", info.security_bits)
        .with("securityStatement", info.security_statement)
        .with("policy", info.policy)
        .with("fingerprint", info.fingerprint)
        .with("logN", info.log_n)
        .with("slots", info.slots as f64)
        .with("logQP", info.log_qp)
        .with("logQ0P", info.log_q0p)
        .with("maxLevel", info.max_level as f64)
        .with("inputLevel", info.input_level as f64)
        .with("outputLevel", info.output_level as f64)
        .with("promisedBits", info.promised_bits)
        .with("promisedMeanBits", info.promised_mean_bits)
        .with("promisedFor", info.promised_for)
        .with("gainBits", info.gain_bits)
        .with("logFailure", info.log_failure)
        .with("stages", array(stages))
        .with("tracks", info.tracks as f64)
        .with("treeLevels", info.tree_levels as f64)
        .with("partLabels", labels.join("\n"))
        .with("partBytes", Float64Array::from(bytes.as_slice()))
        .with("parts", info.parts as f64)
        .with("keyBytes", info.key_bytes as f64)
        .with("ciphertextBytes", array(ciphertexts))
        .with("expandedKeyBytes", info.expanded_key_bytes as f64)
        .with("gates", gates)
        .done()
}
