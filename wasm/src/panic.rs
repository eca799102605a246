//! What remains to be said after a panic.
//!
//! A panic stops the instance with a trap. The hook keeps its message, so that the caller can tell
//! a panic from memory that ran out, which traps without one.

use std::{cell::RefCell, panic};

use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs the hook; runs once, when the module is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    panic::set_hook(Box::new(|info| {
        MESSAGE.with_borrow_mut(|message| *message = Some(info.to_string()));
    }));
}

/// The message of the panic that stopped the instance, if one did.
#[wasm_bindgen(js_name = panicMessage)]
pub fn panic_message() -> Option<String> {
    MESSAGE.with_borrow(Clone::clone)
}
