//! Ciphertexts of SHIP.

use refloat::{bootstrapping::ckks_ship::ShipParams, params::Preset};

use crate::{ckks_ciphertext::ckks_ciphertext, presets};

ckks_ciphertext!(Preset, ShipParams, u32);
