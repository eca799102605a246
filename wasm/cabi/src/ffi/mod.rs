//! The boundary to C, and all `unsafe` code of this crate.
//!
//! Arguments are wrappers of the pointers that C passes. Only C makes them, so the requirements of the header can be relied upon: a pointer
//! that is not NULL points to what its type says, for as long as the call lasts. Everything else is checked: NULL, alignment, lengths,
//! text, and whether an object has the expected type.
#![allow(unsafe_code)]

mod callbacks;
#[cfg(target_family = "wasm")]
pub mod host;
mod memory;
mod object;

use std::panic::{AssertUnwindSafe, catch_unwind};

use refloat::scrub::scrubbed;

use crate::status::{Failure, INTERNAL, OK, remember};

pub use callbacks::{PartReader, Progress, User};
pub use memory::{Array, Flag, Place, Room, SeedBytes, Text};
pub use object::{In, Opaque, Out, Own};

/// The result of every fallible function.
pub type Result<T> = core::result::Result<T, Failure>;

/// The result of functions that cannot fail and give nothing: C's `void`.
pub type Void = ();

/// An argument that C passed, and its checked form.
pub trait Argument {
    /// The checked argument.
    type Value<'a>
    where
        Self: 'a;

    /// Whether a call with such an argument has secrets on its stack.
    const SECRET: bool = false;

    /// Checks the argument called `name`.
    fn take<'a>(&'a self, name: &'static str) -> Result<Self::Value<'a>>;
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl Argument for $type {
            type Value<'a> = $type;

            fn take(&self, _name: &'static str) -> Result<$type> {
                Ok(*self)
            }
        })*
    };
}

plain!(i32, u32, usize, User);

/// Runs the body of a function: a failure becomes a code, and its message that of the calling thread. If `secret`, the stack that the body
/// used is wiped.
pub fn status_of(secret: bool, body: impl FnOnce() -> Result<()>) -> i32 {
    let caught = || catch_unwind(AssertUnwindSafe(body));
    let outcome = if secret { scrubbed(caught) } else { caught() };
    let outcome = outcome.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Failure::new(INTERNAL, format!("a bug of refloat, please report it: {said}")))
    });
    match outcome {
        Ok(()) => OK,
        Err(failure) => remember(failure),
    }
}

/// Declares functions for C. Arguments have the wrapper types of [`ffi`](self); the body gets their checked values. A function without a
/// return type gives a `rf_status`. After `"method":` a function `name` is `rf_method_name` in C; otherwise it keeps its name.
/// `tests/header.rs` compares the functions with the header.
macro_rules! export {
    ($method:literal: $($(#[$attribute:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $($crate::ffi::export!(
            @one [$(#[$attribute])*] [concat!("rf_", $method, "_", stringify!($name))]
            $name ($($arg: $type),*) [$($result)?] $body
        );)*
    };
    ($($(#[$attribute:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $($crate::ffi::export!(
            @one [$(#[$attribute])*] [stringify!($name)] $name ($($arg: $type),*) [$($result)?] $body
        );)*
    };
    (@one [$(#[$attribute:meta])*] [$($symbol:tt)*] $name:ident ($($arg:ident: $type:ty),*) [] $body:block) => {
        $(#[$attribute])*
        #[allow(unsafe_code)]
        #[unsafe(export_name = $($symbol)*)]
        pub extern "C" fn $name($($arg: $type),*) -> i32 {
            const SECRET: bool = false $(|| <$type as $crate::ffi::Argument>::SECRET)*;
            $crate::ffi::status_of(SECRET, || {
                $(let $arg = $crate::ffi::Argument::take(&$arg, stringify!($arg))?;)*
                $body
            })
        }
    };
    (@one [$(#[$attribute:meta])*] [$($symbol:tt)*] $name:ident ($($arg:ident: $type:ty),*) [$result:ty] $body:block) => {
        $(#[$attribute])*
        #[allow(unsafe_code)]
        #[unsafe(export_name = $($symbol)*)]
        pub extern "C" fn $name($($arg: $type),*) -> $result $body
    };
}

pub(crate) use export;
