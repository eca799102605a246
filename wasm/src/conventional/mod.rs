//! Conventional CKKS bootstrapping: the counterpart of the modules `client` and `full` for SHIP.

mod arithmetic;
mod bootstrap;
mod clamp;
mod program;
mod reduction;

use refloat::{
    bootstrapping::ckks_conventional::{ConventionalParams, ConventionalSecretKey},
    params::ConventionalPreset,
};

use crate::ckks::ckks_surface;

ckks_surface!(ConventionalPreset, ConventionalParams, ConventionalSecretKey, u64, "n15");
