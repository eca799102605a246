//! Tracks of a bootstrapping computed in another worker, which holds a copy of the secret key.

use std::sync::Arc;

use js_sys::{Float64Array, Uint8Array};
use refloat::{
    bootstrapping::ckks_ship::{
        Phases, ShipParams, ShipRun, ShipSecretKey, TrackFactors, TrackWorker as CoreWorker,
    },
    scrub::scrubbed,
    trace::Counters,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    SecretKey, Sets,
    bootstrap::{evaluator, reserve},
};
use crate::{
    ckks,
    failure::{Failure, Result},
};

/// Numbers that say how much work a track took: transforms, row products, key switches.
const COUNTERS: usize = 3;

/// Memory that tracks take for each coefficient of the ring.
const TRACK_BYTES: usize = 5 << 10;

/// A track as it travels between workers: each factor in the wire form of a ciphertext, one after
/// the other, and the counters of the work.
#[wasm_bindgen]
pub struct Track {
    factors: Vec<Vec<u8>>,
    counters: Counters,
}

#[wasm_bindgen]
impl Track {
    /// The factors in wire form, of one length each.
    pub fn bytes(&self) -> Uint8Array {
        Uint8Array::from(self.factors.concat().as_slice())
    }

    /// The counters as numbers.
    pub fn counters(&self) -> Float64Array {
        let Counters { ntt, limb_mac, key_switch } = self.counters;
        Float64Array::from([ntt, limb_mac, key_switch].map(|x| x as f64).as_slice())
    }
}

/// Computes tracks of one run with the secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct TrackWorker {
    worker: CoreWorker<'static>,
    secret: Arc<ShipSecretKey>,
}

#[wasm_bindgen]
impl TrackWorker {
    /// Makes what the tracks of a set need whatever the run, before there is one.
    pub fn prepare(preset: &str) -> Result<()> {
        let (_, params) = Sets::named(preset)?;
        reserve(&params, TRACK_BYTES);
        evaluator(&params).map(|_| ())
    }

    /// For the run whose `ShipRun.phases()` these are.
    pub fn begin(secret: &SecretKey, mode: Option<String>, phases: &Float64Array) -> Result<TrackWorker> {
        let params = secret.key.params();
        reserve(params, TRACK_BYTES);
        let mode = ckks::mode(mode, params)?;
        let mut b = phases.to_vec();
        let a = b.split_off(b.len() / 2);
        let phases = Phases::from_turns(params, b, a)?;
        let worker = CoreWorker::new(evaluator(params)?, &phases, mode)?;
        Ok(TrackWorker { worker, secret: secret.key.clone() })
    }

    /// One track, its keys made sample by sample and dropped.
    pub fn track(&mut self, track: usize) -> Result<Track> {
        let result = scrubbed(|| self.worker.track(&self.secret, track))?;
        let context = self.secret.params().ckks();
        let factors = result.factors.iter().map(|factor| wire::ciphertext_to_bytes(context, factor));
        Ok(Track { factors: factors.collect::<core::result::Result<_, _>>()?, counters: result.counters })
    }
}

/// The public phases of a run that is past its encapsulation: the second half of the array belongs
/// to the second component.
pub fn phases(run: &ShipRun<'_>) -> Option<Float64Array> {
    let phases = run.phases()?;
    Some(Float64Array::from([phases.b(), phases.a()].concat().as_slice()))
}

/// Hands a run a track that came from a worker.
pub fn supply(
    run: &mut ShipRun<'_>,
    params: &ShipParams,
    track: usize,
    bytes: &Uint8Array,
    counters: &Float64Array,
) -> Result<()> {
    let (bytes, counters) = (bytes.to_vec(), counters.to_vec());
    let numbers: [f64; COUNTERS] = counters.as_slice().try_into().map_err(|_| {
        Failure::invalid(format!("{COUNTERS} counters belong to a track, not {}", counters.len()))
    })?;
    let [ntt, limb_mac, key_switch] = numbers.map(|x| x as u64);
    let length = wire::ciphertext_len(params.ckks(), params.max_level(), 2);
    let factors = bytes.chunks(length).map(|factor| wire::ciphertext_from_bytes(params.ckks(), factor));
    let factors = factors.collect::<core::result::Result<_, _>>()?;
    let counters = Counters { ntt, limb_mac, key_switch };
    Ok(run.supply_track(track, &TrackFactors { factors, counters })?)
}
