//! What JavaScript is told about a parameter set, whatever its method.

use js_sys::Float64Array;
use refloat::{params::successor, security::SecurityReport, trace::StageInfo};
use wasm_bindgen::JsValue;

use crate::object::{Fields, array, hex};

/// A set, as the TypeScript type `GluePreset`.
pub struct Description<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub method: &'a str,
    pub mode: &'a str,
    pub secure: bool,
    pub source: &'a str,
    pub security: &'a SecurityReport,
    pub fingerprint: [u8; 16],
    pub log_n: u32,
    pub slots: usize,
    pub log_qp: f64,
    pub log_q0_p: f64,
    pub max_level: usize,
    pub input_level: usize,
    pub output_level: usize,
    pub promised_bits: f64,
    pub promised_for: &'a str,
    /// Of a set of numbers.
    pub gain_bits: Option<u32>,
    pub stages: &'a [StageInfo],
    pub tracks: usize,
    pub tree_levels: usize,
    /// Label and bytes of each part of the keys.
    pub parts: (Vec<&'a str>, Vec<usize>),
    /// Bytes of a ciphertext by level.
    pub ciphertext_bytes: Vec<usize>,
}

impl Description<'_> {
    /// The object.
    pub fn done(self) -> JsValue {
        let stages = self.stages.iter().map(|stage| {
            Fields::new()
                .with("id", stage.id)
                .with("title", stage.title)
                .with("symbol", stage.symbol)
                .with("levels", stage.levels as f64)
                .done()
        });
        // Hundreds of parts: two values instead of an object each, which would take longer than all the rest.
        let (labels, bytes) = self.parts;
        let bytes: Vec<f64> = bytes.into_iter().map(|bytes| bytes as f64).collect();
        let ciphertexts = self.ciphertext_bytes.iter().map(|&bytes| JsValue::from(bytes as f64));
        Fields::new()
            .with("name", self.name)
            .with("title", self.title)
            .with("successor", successor(self.name))
            .with("method", self.method)
            .with("mode", self.mode)
            .with("secure", self.secure)
            .with("source", self.source)
            .with("securityBits", self.security.bits)
            .with("securityStatement", self.security.statement.as_str())
            .with("policy", self.security.policy.name())
            .with("fingerprint", hex(&self.fingerprint))
            .with("logN", f64::from(self.log_n))
            .with("slots", self.slots as f64)
            .with("logQP", self.log_qp)
            .with("logQ0P", self.log_q0_p)
            .with("maxLevel", self.max_level as f64)
            .with("inputLevel", self.input_level as f64)
            .with("outputLevel", self.output_level as f64)
            .with("promisedBits", self.promised_bits)
            .with("promisedFor", self.promised_for)
            .with("gainBits", self.gain_bits.map(f64::from))
            .with("stages", array(stages))
            .with("tracks", self.tracks as f64)
            .with("treeLevels", self.tree_levels as f64)
            .with("partLabels", labels.join("\n"))
            .with("partBytes", Float64Array::from(bytes.as_slice()))
            .with("keyBytes", bytes.iter().sum::<f64>())
            .with("ciphertextBytes", array(ciphertexts))
            .done()
    }
}
