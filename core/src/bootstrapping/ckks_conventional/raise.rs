//! ModRaise: the same coefficients modulo a much larger modulus.
//!
//! A ciphertext modulo q0 satisfies b + a s = m + q0 I over the integers once its residues are centred, and that holds
//! modulo any multiple of q0. I is small because s is: the main secret is left for an ephemeral sparse one before, and
//! taken up again after (Bossuat, Troncoso-Pastoriza, Hubaux, ACNS 2022).

use super::{
    key_source::{Direction, KeySource},
    params::ConventionalParams,
};
use crate::{
    arith::Word,
    error::Error,
    ring::{BaseConverter, Coeff, Eval, Poly},
    rlwe::Pair,
    schemes::ckks::{Ciphertext, Scale},
    trace::Counters,
};

/// The lift of residues modulo q0 to those modulo Q.
pub(super) struct Lift<W: Word> {
    params: ConventionalParams<W>,
    converter: BaseConverter<W>,
}

impl<W: Word> Lift<W> {
    pub fn new(params: &ConventionalParams<W>) -> Self {
        let rlwe = params.ckks().rlwe();
        let (low, high) = (rlwe.q(0), rlwe.q(rlwe.max_level()));
        let rest = high.select(low.len()..high.len());
        Self { params: params.clone(), converter: BaseConverter::new(low, &rest) }
    }

    /// Slots (m + q0 I) / (K q0) at scale K q0, at the highest level.
    pub fn raise(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let rlwe = self.params.ckks().rlwe();
        let top = rlwe.max_level();
        let pair = x.pair()?;
        let lifted = if let Some(context) = self.params.encapsulation() {
            let (b, a) = context.apply(&pair, &*keys.ephemeral_key(Direction::ToEphemeral)?, counters);
            let (b, a) = (self.lift(&b), self.lift(&a));
            let mut out = rlwe.switch(&a, top, &*keys.ephemeral_key(Direction::FromEphemeral)?, counters);
            rlwe.add_special_multiple(&mut out.b, &b);
            rlwe.divide_by_special(top, out, counters)
        } else {
            counters.ntt += 2 * rlwe.q(0).len() as u64;
            Pair { b: self.lift(&pair.b.into_coeff()), a: self.lift(&pair.a.into_coeff()) }
        };
        counters.ntt += 2 * rlwe.q(top).len() as u64;
        let range = Scale::new(f64::from(self.params.spec().reduction.range()));
        Ok(x.with_pair(lifted, top, self.params.base_modulus().mul(range)))
    }

    fn lift(&self, x: &Poly<W, Coeff>) -> Poly<W, Eval> {
        let rlwe = self.params.ckks().rlwe();
        let (low, basis) = (x.basis().len(), rlwe.q(rlwe.max_level()));
        let mut prepared = x.clone();
        prepared.for_each_row_mut(|i, row| self.converter.prepare(i, row));
        let source = self.converter.source((0..low).map(|i| prepared.row(i)).collect());
        let mut out = Poly::<W, Coeff>::zero(basis);
        out.for_each_row_mut(|i, row| match i.checked_sub(low) {
            None => row.copy_from_slice(x.row(i)),
            Some(target) => source.row_into(target, row),
        });
        out.into_eval()
    }
}
