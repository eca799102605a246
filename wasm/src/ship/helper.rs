//! Helpers for bootstraps that run in another instance.

use std::sync::Arc;

use js_sys::Uint8Array;
use refloat::{bootstrapping::ckks_ship::ShipHelper, scrub::scrubbed, wire};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{
    Sets,
    bootstrap::{evaluator, reserve},
};
use crate::{failure::Result, split::Helper};

/// Bytes of memory that tracks take for each coefficient of the ring.
const TRACK_BYTES: usize = 5 << 10;

#[wasm_bindgen]
impl Helper {
    /// Makes what a set's tracks need in every run, before there is a run.
    pub fn prepare(preset: &str) -> Result<()> {
        let (_, params) = Sets::named(preset)?;
        reserve(&params, TRACK_BYTES);
        evaluator(&params).map(|_| ())
    }

    /// A helper for the stage that `brief` describes. `secret` is the wire form of the secret key, if the tasks need it: it is wiped here,
    /// and the key is held until the helper is freed.
    pub fn begin(preset: &str, brief: &Uint8Array, secret: Option<Uint8Array>) -> Result<Helper> {
        scrubbed(|| {
            let lent = secret.map(|bytes| {
                let lent = Zeroizing::new(bytes.to_vec());
                bytes.fill(0, 0, bytes.length());
                lent
            });
            let (_, params) = Sets::named(preset)?;
            let key = lent.map(|bytes| wire::secret_key_from_bytes(&params, &bytes)).transpose()?;
            if key.is_some() {
                reserve(&params, TRACK_BYTES);
            }
            let helper = ShipHelper::new(evaluator(&params)?, &brief.to_vec(), key.map(Arc::new))?;
            Ok(Helper::new(helper))
        })
    }
}
