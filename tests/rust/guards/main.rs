//! Guards of the tree: layers, methods, messages, operating systems, sizes of files.

mod circles;
mod counters;
mod layering;
mod messages;
mod methods;
mod size_budget;
mod systems;
