//! Evaluation keys from the parts in which they travel.

use super::params::BgvParams;
use crate::{
    arith::Word,
    bootstrapping::raising::{RaisingKeys, key_source, raising_key_set},
    error::Error,
    schemes::bgv::BgvCiphertext,
};

impl<W: Word> RaisingKeys<W> {
    /// [`Error::ParamsMismatch`] unless they belong to the owner of a ciphertext. What is computed with those of somebody else
    /// decrypts to something, and it is wrong: [`BgvEvaluator`](crate::schemes::bgv::BgvEvaluator) does not know whose they are.
    pub fn check_owner(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        key_source::check(self, x.identity())
    }
}

raising_key_set!([W: Word] BgvParams<W>, W);
