//! Circuits that several schemes evaluate.

mod arithmetic;
mod encoded_transform;
mod leveled_integers;
mod program_graph;
