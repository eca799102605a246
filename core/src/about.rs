//! What this build is and which kernels it runs.

use alloc::{
    format,
    string::{String, ToString},
};

use crate::{
    arith::{Word, backend_choice, self_check},
    error::Error,
    par,
};

/// Facts about the library in use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// Version of the crate.
    pub version: &'static str,
    /// Kernels in use for 32-bit words.
    pub backend_u32: &'static str,
    /// Kernels in use for 64-bit words.
    pub backend_u64: &'static str,
    /// Why a forced choice of kernels could not be met, if it could not.
    pub backend_complaint: Option<String>,
    /// Threads the current pool offers.
    pub threads: usize,
    /// Architecture of the build.
    pub target: &'static str,
}

/// Compares the kernels in use with the scalar ones on random and extreme residues, and says in a
/// sentence what was compared.
///
/// # Errors
/// [`Error::InvalidArgument`] if the build or the machine computes wrongly.
pub fn check_kernels(seed: u64) -> Result<String, Error> {
    let narrow = format!("32-bit words: {} agree", self_check::<u32>(seed)?.join(", "));
    if ONE_WIDE_BACKEND {
        return Ok(format!("{narrow}; 64-bit words: scalar"));
    }
    Ok(format!("{narrow}; 64-bit words: {} agree", self_check::<u64>(seed)?.join(", ")))
}

/// In WebAssembly 64-bit words have only the scalar kernels, so there is nothing to compare. Nothing there uses them either: naming them
/// here would be all that brings them into the module.
const ONE_WIDE_BACKEND: bool = cfg!(target_arch = "wasm32");

/// Facts about the library in use.
pub fn about() -> About {
    About {
        version: env!("CARGO_PKG_VERSION"),
        backend_u32: u32::kernels().name(),
        backend_u64: if ONE_WIDE_BACKEND { "scalar" } else { u64::kernels().name() },
        backend_complaint: backend_choice().err().map(|e| e.to_string()),
        threads: par::threads(),
        target: if cfg!(target_arch = "wasm32") {
            "wasm32"
        } else if cfg!(target_arch = "x86_64") {
            "x86_64"
        } else if cfg!(target_arch = "aarch64") {
            "aarch64"
        } else {
            "other"
        },
    }
}
