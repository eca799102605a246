//! Rotations as pages name them.

use js_sys::Int32Array;

/// The steps of rotations, to the left where they are positive.
pub fn steps(rotations: Option<Int32Array>) -> Option<Vec<i64>> {
    Some(rotations?.to_vec().into_iter().map(i64::from).collect())
}
