//! Sets that link numbers to gates: the counterpart of the modules `client` and `full` for SHIP, and the order of numbers in slots.

mod arithmetic;
mod bootstrap;
mod order;
mod program;

use refloat::{
    bootstrapping::scheme_switching::{LinkParams, LinkSecretKey, Reduction},
    params::LinkPreset,
};

use crate::ckks::ckks_surface;

ckks_surface!(LinkPreset, LinkParams<Reduction>, LinkSecretKey<Reduction>, u64, "n15+fbs16-50");
