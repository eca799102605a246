//! Version, codes, messages, and other functions that belong to no method.

use core::ffi::{CStr, c_char};

use refloat::{scrub::scrubbed, wire};

use crate::{
    entropy,
    ffi::{Array, Room, export},
    status::{self, Status},
};

/// Major version << 16 | minor version of the functions: a minor version adds functions, a major one changes or removes some.
pub const ABI: u32 = 1 << 16;

/// The version of the library with a NUL.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

export! {
    fn rf_abi_version() -> u32 {
        ABI
    }

    fn rf_version() -> *const c_char {
        VERSION.as_ptr()
    }

    fn rf_status_name(status: Status) -> *const c_char {
        status::name(status).as_ptr()
    }

    fn rf_last_error(out: Room<c_char>, capacity: usize) -> usize {
        out.fill_part(capacity, &status::last_message())
    }

    fn rf_seed(seed: Room<u8>) {
        scrubbed(|| seed.put(entropy::draw()?.as_slice()))
    }

    fn rf_digest(bytes: Array<u8>, count: usize, out: Room<u8>) {
        out.put(&wire::digest(bytes.of(count)?))
    }
}
