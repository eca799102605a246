//! Gives the shared library the name that programs ask the loader for. It ends with the major version of the functions, so that no program
//! is run with a library whose functions differ.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,librefloat_c.so.1");
    }
}
