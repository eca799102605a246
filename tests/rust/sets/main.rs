//! Parameter sets: lists, and what estimates say of them.

mod estimates;
mod lists;
mod security;
