//! DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers.

mod ciphertext;
#[cfg(feature = "full")]
mod circuit;
#[cfg(feature = "full")]
mod evaluation;
mod presets;
#[cfg(feature = "full")]
mod run;
mod secret;
