//! From CKKS to DM/CGGI and back.

mod decision_tree;
mod rankings;
mod steps;
mod ways;
mod wire;
