//! DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers.

use core::ffi::c_char;
use std::sync::Arc;

use refloat::{
    Error,
    bootstrapping::{
        cggi::{CggiEvaluator, CggiKeys, CggiKeysBuilder, key_parts},
        method::Preset,
    },
    circuits::netlist::{
        Netlist,
        arithmetic::{self, Form},
    },
    params::{CggiPreset, DEFAULT_CGGI_PRESET},
    schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, CggiSpec, Encoding, Gate},
    wire,
};
use zeroize::Zeroizing;

use crate::{
    exports::export_secret,
    ffi::{
        Array, Flag, In, Opaque, Out, Own, PartReader, Place, Progress, Result, Room, SeedBytes, Text, User,
        Void, export,
    },
    keys::{self, Keys},
    method::{Keyed, Method},
    progress::Listener,
    secret::Secret,
    sets::{self, Kept, Set},
    status::Failure,
};

impl Keyed for CggiParams {
    const SECURE: &'static str = DEFAULT_CGGI_PRESET;
    const SECRET: &'static str = "rf_gate_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<CggiParams> = Kept::new();
        &KEPT
    }

    fn includes(preset: &Preset<CggiSpec>) -> bool {
        // Keys here are over 32-bit words.
        let preset: &CggiPreset = preset;
        !preset.wide()
    }

    fn slots(&self) -> usize {
        1
    }

    fn part_lengths(&self) -> Vec<usize> {
        key_parts(self).into_iter().map(|part| part.bytes).collect()
    }
}

impl Method for CggiParams {
    const KEYS: &'static str = "rf_gate_keys";
    type Builder = CggiKeysBuilder;
    type Keys = CggiEvaluator;

    fn generate(
        secret: &CggiSecretKey,
        listener: &mut Listener,
    ) -> core::result::Result<CggiEvaluator, Error> {
        let keys = CggiKeys::generate(secret)?;
        keys::told(listener, 1, 1)?;
        Ok(CggiEvaluator::new(keys))
    }

    fn builder(&self, key_id: [u8; 16]) -> CggiKeysBuilder {
        CggiKeys::builder(self, key_id)
    }

    fn add(builder: &mut CggiKeysBuilder, index: usize, part: &[u8]) -> core::result::Result<(), Error> {
        builder.add(index, part)
    }

    fn finish(builder: CggiKeysBuilder) -> core::result::Result<CggiEvaluator, Error> {
        Ok(CggiEvaluator::new(builder.finish()?))
    }
}

type GateSecret = Secret<CggiParams>;
type GateKeys = Keys<CggiParams>;

/// One or several encrypted bits or integers, of one set and one key.
pub struct GateCiphertext {
    set: Arc<Set<CggiParams>>,
    list: Vec<CggiCiphertext>,
}

impl Opaque for GateCiphertext {
    const NAME: &'static str = "rf_gate_ciphertext";
}

impl GateCiphertext {
    fn encrypt(
        secret: &GateSecret,
        values: &[u32],
        messages: u32,
        seed: Option<Zeroizing<[u8; 32]>>,
    ) -> Result<Self> {
        if values.is_empty() {
            return Err(Failure::invalid("nothing to encrypt; pass at least one bit or integer"));
        }
        let list = secret.key.encrypt(encoding(messages), values, &secret.randomness(seed)?)?;
        Ok(Self { set: Arc::clone(&secret.set), list })
    }

    fn decrypt(&self, secret: &GateSecret) -> Result<Zeroizing<Vec<u32>>> {
        let mut values = Zeroizing::new(Vec::with_capacity(self.list.len()));
        for item in &self.list {
            values.push(secret.key.decrypt(item)?);
        }
        Ok(values)
    }

    fn slice(&self, start: usize, end: usize) -> Result<Self> {
        Ok(self.sibling(CggiCiphertext::items(&self.list, start, end)?.to_vec()))
    }

    fn join(&self, other: &Self) -> Result<Self> {
        let key = |x: &Self| x.list.first().map(CggiCiphertext::key_id);
        if self.set.name != other.set.name || key(self) != key(other) {
            return Err(Error::ParamsMismatch(format!(
                "a list of {} is joined to one of {} under another key; join lists of one key",
                self.set.name, other.set.name
            ))
            .into());
        }
        Ok(self.sibling(self.list.iter().chain(&other.list).cloned().collect()))
    }

    fn gate(&self, keys: &GateKeys, gate: &str) -> Result<Self> {
        let gate: Gate = gate.parse()?;
        let count = self.places(gate.arity(), "operands of the gate")?;
        let operands: Vec<Vec<&CggiCiphertext>> =
            (0..count).map(|i| self.list.iter().skip(i).step_by(count).collect()).collect();
        let calls: Vec<(Gate, &[&CggiCiphertext])> =
            operands.iter().map(|of| (gate, of.as_slice())).collect();
        Ok(self.sibling(keys.ready.gates(&calls)?))
    }

    fn look_up(&self, keys: &GateKeys, table: &[u32], messages: u32) -> Result<Self> {
        let output = encoding(messages);
        let results = self.list.iter().map(|x| keys.ready.look_up(x, table, output, &mut ()));
        Ok(self.sibling(results.collect::<core::result::Result<_, _>>()?))
    }

    fn weighted_sum(&self, keys: &GateKeys, weights: &[i32], constant: u32) -> Result<Self> {
        let count = self.places(weights.len(), "weights")?;
        let results = (0..count).map(|i| {
            let items = self.list.iter().skip(i).step_by(count);
            let terms: Vec<_> = weights.iter().map(|&weight| i64::from(weight)).zip(items).collect();
            keys.ready.weighted_sum(&terms, constant)
        });
        Ok(self.sibling(results.collect::<core::result::Result<_, _>>()?))
    }

    fn run(&self, keys: &GateKeys, circuit: &str, progress: Progress, user: User) -> Result<Self> {
        let plan = Netlist::parse(circuit)?.plan();
        let outputs = plan.run(&keys.ready, &self.list, &mut Listener::new(progress, user))?;
        Ok(self.sibling(outputs))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let set = sets::of_bytes::<CggiParams>(bytes)?;
        let list = wire::cggi_ciphertexts_from_bytes(&set.params, bytes)?;
        Ok(Self { set, list })
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(wire::cggi_ciphertexts_to_bytes(&self.set.params, &self.list)?)
    }

    fn byte_len(&self) -> usize {
        wire::cggi_ciphertexts_len(&self.set.params, self.list.len())
    }

    /// Number of items of each list, if `lists` lists of equal length follow one another.
    fn places(&self, lists: usize, what: &str) -> Result<usize> {
        match self.list.len().checked_div(lists) {
            Some(count) if count * lists == self.list.len() => Ok(count),
            _ => Err(Failure::invalid(format!(
                "{} items for {lists} {what}; pass as many items for each",
                self.list.len()
            ))),
        }
    }

    fn sibling(&self, list: Vec<CggiCiphertext>) -> Self {
        Self { set: Arc::clone(&self.set), list }
    }
}

/// Bits if `messages` is `RF_GATE_BITS`, otherwise integers below it.
pub fn encoding(messages: u32) -> Encoding {
    if messages == 0 { Encoding::Bit } else { Encoding::Padded { messages } }
}

fn circuit(kind: &str, width: usize, prefix: bool) -> Result<String> {
    let form = if prefix { Form::Prefix } else { Form::Ripple };
    Ok(arithmetic::named(kind, width, form)?.to_string())
}

export_secret!("gate", CggiParams);

export! {
    fn rf_gate_keys_new(secret: In<GateSecret>, progress: Progress, user: User, out: Out<GateKeys>) {
        GateKeys::generate(secret, progress, user).map(|keys| out.give(keys))
    }

    fn rf_gate_keys_from_parts(set: Text, key_id: Array<u8>, read: PartReader, user: User, out: Out<GateKeys>) {
        GateKeys::collect(set, key_id.exactly()?, read, user).map(|keys| out.give(keys))
    }

    fn rf_gate_keys_free(keys: Own<GateKeys>) -> Void {
        keys.free();
    }

    fn rf_gate_encrypt(
        secret: In<GateSecret>,
        values: Array<u32>,
        count: usize,
        messages: u32,
        seed: SeedBytes,
        out: Out<GateCiphertext>,
    ) {
        GateCiphertext::encrypt(secret, values.of(count)?, messages, seed).map(|x| out.give(x))
    }

    fn rf_gate_decrypt(
        secret: In<GateSecret>,
        x: In<GateCiphertext>,
        out: Room<u32>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.check(capacity, &length, x.list.len())?;
        out.fill(capacity, &length, &x.decrypt(secret)?)
    }

    fn rf_gate_length(x: In<GateCiphertext>, length: Place<usize>) {
        length.put(x.list.len());
        Ok(())
    }

    fn rf_gate_slice(x: In<GateCiphertext>, start: usize, end: usize, out: Out<GateCiphertext>) {
        x.slice(start, end).map(|part| out.give(part))
    }

    fn rf_gate_join(x: In<GateCiphertext>, y: In<GateCiphertext>, out: Out<GateCiphertext>) {
        x.join(y).map(|both| out.give(both))
    }

    fn rf_gate_evaluate(keys: In<GateKeys>, gate: Text, x: In<GateCiphertext>, out: Out<GateCiphertext>) {
        x.gate(keys, gate).map(|results| out.give(results))
    }

    fn rf_gate_look_up(
        keys: In<GateKeys>,
        x: In<GateCiphertext>,
        table: Array<u32>,
        count: usize,
        messages: u32,
        out: Out<GateCiphertext>,
    ) {
        x.look_up(keys, table.of(count)?, messages).map(|results| out.give(results))
    }

    fn rf_gate_weighted_sum(
        keys: In<GateKeys>,
        x: In<GateCiphertext>,
        weights: Array<i32>,
        count: usize,
        constant: u32,
        out: Out<GateCiphertext>,
    ) {
        x.weighted_sum(keys, weights.of(count)?, constant).map(|sums| out.give(sums))
    }

    fn rf_gate_circuit(
        kind: Text,
        width: usize,
        prefix: Flag,
        out: Room<c_char>,
        capacity: usize,
        length: Place<usize>,
    ) {
        out.fill_text(capacity, &length, &circuit(kind, width, prefix)?)
    }

    fn rf_gate_run(
        keys: In<GateKeys>,
        circuit: Text,
        x: In<GateCiphertext>,
        progress: Progress,
        user: User,
        out: Out<GateCiphertext>,
    ) {
        x.run(keys, circuit, progress, user).map(|results| out.give(results))
    }

    fn rf_gate_ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<GateCiphertext>) {
        GateCiphertext::from_bytes(bytes.of(count)?).map(|x| out.give(x))
    }

    fn rf_gate_ciphertext_to_bytes(x: In<GateCiphertext>, out: Room<u8>, capacity: usize, length: Place<usize>) {
        out.check(capacity, &length, x.byte_len())?;
        out.fill(capacity, &length, &x.to_bytes()?)
    }

    fn rf_gate_ciphertext_free(x: Own<GateCiphertext>) -> Void {
        x.free();
    }
}
