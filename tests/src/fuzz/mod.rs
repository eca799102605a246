//! Fuzz targets: one function for every reader of bytes that are stored, sent, or passed between the workers of a tab.
//!
//! A [`Target`] is used twice. `tests/rust/untrusted` gives each a bounded number of inputs that a [`Mutator`] makes from valid ones,
//! from a fixed seed, and counts the memory it takes; the programs of `tests/fuzz` give it the inputs of libFuzzer, which looks for
//! new paths through the code. `server/tests/support/fuzz.rs` has the targets of the server.

mod keys;
mod mutate;
mod objects;
mod programs;
mod shared;

pub use mutate::Mutator;

use std::panic::{AssertUnwindSafe, catch_unwind};

use refloat::wire::ObjectKind;
use refloat::wire::frame::{self, DIGEST_LEN};
use refloat::wire::header::HEADER_LEN;

/// A reader of untrusted bytes.
pub struct Target {
    /// Its name, and that of its program in `tests/fuzz`.
    pub name: &'static str,
    /// Valid inputs.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Reads any bytes, and says whether they were accepted. Panics if the reader does, or if what it accepts is not written as it was
    /// read.
    pub check: fn(&[u8]) -> bool,
    /// Limit on all bytes that `check` allocates, freed ones included: `(factor, constant)`, for `factor * input length + constant`.
    pub memory: (usize, usize),
}

/// The targets of the core.
pub const TARGETS: [Target; 20] = [
    objects::HEADER,
    objects::CKKS_CIPHERTEXT,
    objects::CKKS_PUBLIC_KEY,
    objects::BGV_CIPHERTEXT,
    objects::BGV_PUBLIC_KEY,
    objects::CGGI_CIPHERTEXTS,
    keys::SECRET_KEY,
    keys::SHIP_KEY_PART,
    keys::SWITCHING_KEY_PART,
    keys::CGGI_KEY_PART,
    keys::LINK_KEY_PART,
    programs::PROGRAM,
    programs::PROGRAM_TEXT,
    programs::INTEGER_PROGRAM,
    programs::NETLIST,
    shared::SHIP_BRIEF,
    shared::SHIP_GROUP,
    shared::SHIP_TRACK,
    shared::CIRCUIT_BRIEF,
    shared::GATE_RESULT,
];

/// Runs the target called `name`.
///
/// # Panics
/// If there is none, or if the target does.
pub fn check(targets: &[Target], name: &str, bytes: &[u8]) {
    let target = targets.iter().find(|target| target.name == name).expect("the name of a target");
    let _ = (target.check)(bytes);
}

/// Runs `check` on up to `inputs` mutated inputs, stopping early once they total `bytes` bytes. `check` answers as
/// [`Target::check`].
///
/// # Panics
/// If `check` does, if it accepts none or all of the inputs, since such a run tells nothing, or if the target refuses one of its
/// valid inputs.
pub fn short_run(target: &Target, seed: u64, (inputs, bytes): (usize, usize), check: impl Fn(&[u8]) -> bool) {
    let name = target.name;
    let corpus = (target.corpus)();
    for good in &corpus {
        assert!((target.check)(good), "{name}: a valid input is refused");
    }
    let (mut mutator, mut accepted, mut made, mut left) = (Mutator::new(seed), 0, 0, bytes);
    while made < inputs && left > 0 {
        let input = mutator.next_input(&corpus);
        left = left.saturating_sub(input.len());
        let result = catch_unwind(AssertUnwindSafe(|| check(&input)));
        accepted += usize::from(result.unwrap_or_else(|_| panic!("{name}: input {made} of seed {seed}")));
        made += 1;
    }
    println!("{name}: {accepted} of {made} inputs accepted");
    assert!(accepted > 0 && accepted < made, "{name}: {accepted} of {made} inputs accepted");
}

/// Kind, parameters and key of an object.
type Label = (ObjectKind, [u8; 16], [u8; 16]);

/// The bytes as they are, and with a good header, length and digest around their payload: almost no change gets past those otherwise.
fn sealed(bytes: &[u8], (kind, fingerprint, key_id): Label) -> impl Iterator<Item = Vec<u8>> {
    let payload = bytes.get(HEADER_LEN..).and_then(|rest| rest.split_last_chunk::<DIGEST_LEN>());
    let again = payload.map(|(payload, _)| frame::write(kind, fingerprint, key_id, payload));
    [bytes.to_vec()].into_iter().chain(again)
}

/// Whether `accept` takes any of the inputs; it is given all of them.
fn any(inputs: impl Iterator<Item = Vec<u8>>, accept: impl Fn(&[u8]) -> bool) -> bool {
    inputs.filter(|input| accept(input)).count() > 0
}
