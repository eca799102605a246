//! Validated parameters by the name of their set: validating takes a moment, and tables are made once.

use std::{cell::RefCell, thread::LocalKey};

use refloat::Error;

/// Parameters of the sets that were asked for.
pub type Checked<P> = RefCell<Vec<(&'static str, P)>>;

/// The parameters of a set, by `validate` if they were not asked for before.
pub fn checked<P: Clone>(
    sets: &'static LocalKey<Checked<P>>,
    name: &'static str,
    validate: impl FnOnce() -> Result<P, Error>,
) -> Result<P, Error> {
    let known =
        sets.with_borrow(|sets| sets.iter().find(|(own, _)| *own == name).map(|(_, params)| params.clone()));
    if let Some(params) = known {
        return Ok(params);
    }
    let params = validate()?;
    sets.with_borrow_mut(|sets| sets.push((name, params.clone())));
    Ok(params)
}
