//! Thin BGV bootstrapping on toys: every stage as the holder of the key sees it, chains, failures, refusals.

mod chains;
mod digits;
mod multiples_of_q0;
mod noise;
mod runs;
mod sets;
mod stages;

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{BgvParams, BgvSpec};
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::keyed_bgv::KeyedBgv;

/// The message about a set that does not fit.
fn refusal(spec: &BgvSpec) -> String {
    match BgvParams::<u64>::new(spec) {
        Err(Error::InvalidArgument(text)) => text,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a set that does not fit"),
    }
}

/// The square of a message of integers.
fn squared<W: Word>(set: &KeyedBgv<W>, message: &[u64]) -> Vec<u64> {
    let ring = set.params.messages();
    message.iter().map(|&m| ring.mul(m, m)).collect()
}

/// Squares down to the lowest level of an input.
fn worn<W: Word>(set: &KeyedBgv<W>, message: &mut Vec<u64>, mut x: BgvCiphertext<W>) -> BgvCiphertext<W> {
    while x.level() > set.params.levels().input {
        x = set.square(&x);
        *message = squared(set, message);
    }
    x
}
