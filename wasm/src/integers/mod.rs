//! Exact arithmetic on integers in slots, and its bootstrapping: keys, encryption, decryption, the parts of evaluation keys, and
//! all of it in the page.

mod arithmetic;
mod ciphertext;
mod evaluation;
mod presets;
mod program;
mod public_key;
mod removal;
mod run;
mod secret;
