//! Modular reduction in CKKS, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::bootstrapping::ckks_msb::MsbParams;

use crate::{ckks::CkksClient, exports::export_owner, method::keyed};

keyed!(MsbParams, secure: "msb16", secret: "rf_msb_secret", slots: MsbParams::slots);

impl CkksClient for MsbParams {
    const CIPHERTEXT: &'static str = "rf_msb_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_msb_public_key";
}

export_owner!("msb", MsbParams);
