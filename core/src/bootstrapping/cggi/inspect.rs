//! What the owner of the secret key sees of a run: for pictures, never for anybody else.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::run::{CggiRun, CggiState};
use crate::{
    arith::Word,
    error::{Error, hex},
    ring::{Coeff, Poly},
    schemes::cggi::CggiSecretKey,
};

/// The decrypted state of a run, noise included.
#[derive(Debug, Clone, PartialEq)]
pub enum CggiView {
    /// A phase, in turns from -1/2 to 1/2.
    Phase(f64),
    /// The coefficients of the accumulator's phase, in turns from -1/2 to 1/2.
    Polynomial(Vec<f64>),
}

impl<W: Word> CggiSecretKey<W> {
    /// Decrypts the state of a run under this key.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a run under other keys; [`Error::InvalidArgument`] for one that has
    /// failed.
    pub fn inspect_run(&self, run: &CggiRun<W>) -> Result<CggiView, Error> {
        if run.keys().key_id() != self.key_id() {
            return Err(Error::ParamsMismatch(format!(
                "the run uses evaluation keys of key {}, and this is key {}; look with its own key",
                hex(&run.keys().key_id()),
                hex(&self.key_id())
            )));
        }
        let (params, m) = (self.params(), self.params().modulus());
        let turns = |x: W| m.centered(x) as f64 / m.value_u64() as f64;
        let short = |a: &[u32], b: u32, log_modulus: u32| {
            let products = a.iter().zip(self.short.coefficients()).map(|(&x, &s)| x.wrapping_mul(s as u32));
            let phase = products.fold(b, u32::wrapping_add) << (32 - log_modulus);
            f64::from(phase as i32) / libm::exp2(32.0)
        };
        Ok(match run.state() {
            CggiState::Input(sample) | CggiState::Done(sample) => CggiView::Phase(turns(self.phase(sample))),
            CggiState::Switched(x) => CggiView::Phase(short(&x.a, x.b, x.log_q)),
            CggiState::Exponents(x) => CggiView::Phase(short(&x.a, x.b, params.log_2n())),
            CggiState::Rotating(rotation) => {
                let basis = params.rgsw().basis();
                let [b, a] = rotation.parts(params);
                let mut product = Zeroizing::new(Poly::<W, Coeff>::from_rows(basis, a).into_eval());
                product.mul_assign(&self.ring_eval);
                let product =
                    Zeroizing::new(core::mem::replace(&mut *product, Poly::zero(basis)).into_coeff());
                CggiView::Polynomial(
                    b.iter().zip(product.row(0)).map(|(&x, &y)| turns(m.add(x, y))).collect(),
                )
            }
            CggiState::Failed => {
                return Err(Error::InvalidArgument(
                    "the run ended with an error, and there is nothing to see; start a new one".into(),
                ));
            }
        })
    }
}
