//! Gadget payloads: what a switching key encrypts.

use super::context::RlweContext;
use crate::{
    arith::Word,
    ring::{Eval, Poly},
};

/// The level and digit a gadget sample belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GadgetTarget {
    /// Level of the key: samples live modulo Q_level P.
    pub level: usize,
    /// Position among the digits that exist at the level.
    pub digit: usize,
}

/// P g_j u modulo Q_l P: P u on the primes of digit j, zero elsewhere.
pub fn gadget_payload<W: Word>(
    context: &RlweContext<W>,
    target: GadgetTarget,
    u: &Poly<W, Eval>,
) -> Poly<W, Eval> {
    let tables = context.level(target.level);
    debug_assert!(u.basis().len() >= tables.q.len());
    let mut out = Poly::zero(&tables.qp);
    let kernels = tables.qp.kernels();
    for &row in &tables.digits[target.digit].own {
        let destination = out.row_mut(row);
        destination.copy_from_slice(u.row(row));
        kernels.mul_scalar_assign(tables.qp.modulus(row), destination, &context.special_mod_q()[row]);
    }
    out
}
