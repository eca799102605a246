//! What travels, of every method.

mod hostile;
mod key_parts;
