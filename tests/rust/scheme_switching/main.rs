//! From CKKS to DM/CGGI and back.

mod back;
mod decision_tree;
mod keys;
mod noise;
mod programs;
mod rankings;
mod refusals;
mod setup;
mod steps;
mod ways;
mod wire;
