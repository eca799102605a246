//! DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers.

mod ciphertext;
mod circuit;
mod evaluation;
mod presets;
mod run;
mod secret;
mod shared;
