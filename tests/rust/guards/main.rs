//! Guards of the tree: layers, methods, sizes of files.

mod circles;
mod layering;
mod methods;
mod size_budget;
