//! Modular reduction, digit by digit: the counterpart of the modules `client` and `full` for SHIP, and readings of digits.

mod arithmetic;
mod bootstrap;
mod program;
mod reading;

use refloat::{
    bootstrapping::ckks_msb::{MsbParams, MsbSecretKey},
    params::MsbPreset,
};

use crate::ckks::ckks_surface;

ckks_surface!(MsbPreset, MsbParams, MsbSecretKey, u64, "msb16");
