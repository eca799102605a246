//! From CKKS to DM/CGGI and back.

mod comparison_choice;
mod decision_tree;
mod gates_to_slots;
mod keys;
mod noise;
mod programs;
mod rankings;
mod refusals;
mod setup;
mod steps;
mod wire;
