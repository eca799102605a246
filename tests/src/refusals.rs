//! What an error has to say.

use refloat::Error;

/// Fails unless the result is an error of this code, in words that name all sides.
///
/// # Panics
/// If it is not.
pub fn refused<T>(result: Result<T, Error>, code: &str, sides: &[&str]) {
    let error = result.err().unwrap_or_else(|| panic!("accepted; {code} expected, naming {sides:?}"));
    assert_eq!(error.code(), code, "{error}");
    for side in sides {
        assert!(error.to_string().contains(side), "{error:?} does not name {side:?}");
    }
}
