//! SHIP: sets, secret keys and ciphertexts in the module `client`, and also bootstrapping in `full`.

#[cfg(feature = "full")]
mod arithmetic;
#[cfg(feature = "full")]
mod bootstrap;
#[cfg(feature = "full")]
mod helper;
#[cfg(feature = "full")]
mod program;

use refloat::{
    bootstrapping::ckks_ship::{ShipParams, ShipSecretKey},
    params::ShipPreset,
};

use crate::ckks::ckks_surface;

ckks_surface!(ShipPreset, ShipParams, ShipSecretKey, u32, "ship13");
