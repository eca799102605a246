//! Ciphertexts of SHIP.

use refloat::{bootstrapping::ckks_ship::ShipParams, params::ShipPreset};

use crate::{ckks_ciphertext::ckks_ciphertext, presets};

ckks_ciphertext!(ShipPreset, ShipParams, u32);
