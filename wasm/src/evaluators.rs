//! Evaluators of sets, which live as long as the instance.

use std::{cell::RefCell, thread::LocalKey};

#[cfg(feature = "diagonals")]
use refloat::circuits::linear_transform::PlaintextStorage;

use crate::failure::Result;

/// Evaluators of sets, by fingerprint. Runs borrow them, so they live as long as the instance.
pub type Evaluators<E> = RefCell<Vec<([u8; 16], &'static E)>>;

/// The evaluator of a set, made when it is first needed.
pub fn evaluator<E>(
    known: &'static LocalKey<Evaluators<E>>,
    fingerprint: [u8; 16],
    make: impl FnOnce() -> Result<E>,
) -> Result<&'static E> {
    let own =
        |all: &Vec<([u8; 16], &'static E)>| all.iter().find(|(own, _)| *own == fingerprint).map(|(_, e)| *e);
    if let Some(evaluator) = known.with_borrow(own) {
        return Ok(evaluator);
    }
    let evaluator: &'static E = Box::leak(Box::new(make()?));
    known.with_borrow_mut(|all| all.push((fingerprint, evaluator)));
    Ok(evaluator)
}

/// How diagonals are kept between runs in a ring of degree `n`: those of large rings would fill a page's memory.
#[cfg(feature = "diagonals")]
pub fn diagonals(n: usize) -> PlaintextStorage {
    if n <= 1 << 11 { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients }
}
