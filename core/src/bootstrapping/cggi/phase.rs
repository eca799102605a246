//! The sign of any LWE phase, whether or not it encodes a message.

use super::{evaluator::CggiEvaluator, run::CggiRun, test_vector::TestVector};
use crate::{
    arith::Word,
    error::Error,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, Encoding},
    trace::Observer,
};

impl<W: Word> CggiEvaluator<W> {
    /// 1 in the encoding `output` if the phase of a sample under the ring key is in \[0, 1/2) of a turn, and 0 otherwise: one rotation.
    /// Near the two borders the result may be either.
    pub(in crate::bootstrapping) fn sign_of_phase(
        &self,
        sample: LweSample<W>,
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let params = self.params();
        let ((zero, denominator), (one, _)) = (output.turns(0), output.turns(1));
        let test = TestVector::sign(params, params.turns(one - zero, 2 * denominator));
        let middle = params.turns(one + zero, 2 * denominator);
        CggiRun::new(self.shared_keys(), sample, test, output).with_offset(middle).finish(observer)
    }
}
