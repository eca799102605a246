//! DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers.

mod ciphertext;
mod circuit;
mod evaluation;
mod helper;
mod presets;
mod run;
mod secret;
