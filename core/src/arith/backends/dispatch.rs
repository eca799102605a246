//! The choice of a backend, made once: the best one the CPU can run, unless one is forced. A module of WebAssembly without an operating
//! system has no environment: there the choice is made when building, and the kernels of other backends are linked only by code that
//! compares them. How many words the registers of the candidates hold is in `simd/lanes.rs`.

use crate::arith::MachineWord;
use crate::arith::kernels::Kernels;
use crate::arith::simd::scalar::Scalar;
use crate::error::Error;
use alloc::{format, string::String, vec::Vec};

/// Names of all backends, usable here or not.
const NAMES: [&str; 5] = ["scalar", "avx2", "avx512", "neon", "simd128"];

/// The forced backend, or `None` where the choice is left to the library.
///
/// A backend is forced when building, by `RUSTFLAGS='--cfg refloat_backend="scalar"'` (or `"avx2"`, `"avx512"`, `"neon"`), or, with the
/// `std` feature, when starting, by the environment variable `REFLOAT_BACKEND`, which has precedence.
///
/// # Errors
/// [`Error::InvalidArgument`] if the forced one is unknown or cannot run here. That does not stop the program: the best backend is used.
pub fn backend_choice() -> Result<Option<&'static str>, Error> {
    let Some((wanted, place)) = forced() else { return Ok(None) };
    let usable: Vec<&'static str> = all_u32().iter().map(|k| k.name()).collect();
    if let Some(&name) = usable.iter().find(|&&name| name == wanted) {
        return Ok(Some(name));
    }
    let fault = if NAMES.contains(&wanted.as_str()) { "cannot run here" } else { "is unknown" };
    let (best, usable) = (usable.last().copied().unwrap_or_default(), usable.join(", "));
    Err(Error::InvalidArgument(format!(
        "backend \"{wanted}\" chosen by {place} {fault}, so {best} is used; take one of {usable}"
    )))
}

/// The name asked for, and where it was asked for.
fn forced() -> Option<(String, &'static str)> {
    #[cfg(feature = "std")]
    if let Some(name) = std::env::var_os("REFLOAT_BACKEND").filter(|name| !name.is_empty()) {
        return Some((name.to_string_lossy().into_owned(), "REFLOAT_BACKEND"));
    }
    forced_when_built().map(|name| (name.into(), "refloat_backend at build time"))
}

const fn forced_when_built() -> Option<&'static str> {
    if cfg!(refloat_backend = "scalar") {
        Some("scalar")
    } else if cfg!(refloat_backend = "avx2") {
        Some("avx2")
    } else if cfg!(refloat_backend = "avx512") {
        Some("avx512")
    } else if cfg!(refloat_backend = "neon") {
        Some("neon")
    } else {
        None
    }
}

/// The candidate called `name`, or the best one if there is no name or it has no kernels for this word.
fn choose<W: MachineWord>(candidates: Candidates<W>, name: Option<&str>) -> &'static dyn Kernels<W> {
    let usable = || candidates.iter().rev().flatten();
    let named = usable().find(|k| name.is_none_or(|name| k.name() == name));
    *named.or_else(|| usable().next()).expect("plain words are always usable")
}

/// Backends from plain to best; `None` for those that cannot run here.
type Candidates<W> = [Option<&'static dyn Kernels<W>>; 3];

macro_rules! per_word {
    ($word:ty, $candidates:ident, $all:ident, $select:ident) => {
        /// The backends usable for this word, from plain to best.
        pub(crate) fn $all() -> Vec<&'static dyn Kernels<$word>> {
            $candidates().into_iter().flatten().collect()
        }

        /// The backend for this word, chosen at the first call.
        #[cfg(all(feature = "std", not(all(target_arch = "wasm32", target_os = "unknown"))))]
        pub(crate) fn $select() -> &'static dyn Kernels<$word> {
            static CHOSEN: std::sync::OnceLock<&'static dyn Kernels<$word>> = std::sync::OnceLock::new();
            *CHOSEN.get_or_init(|| choose($candidates(), backend_choice().ok().flatten()))
        }

        /// The backend for this word, which depends on nothing but the build.
        #[cfg(any(not(feature = "std"), all(target_arch = "wasm32", target_os = "unknown")))]
        pub(crate) fn $select() -> &'static dyn Kernels<$word> {
            choose($candidates(), forced_when_built())
        }
    };
}

per_word!(u32, candidates_u32, all_u32, select_u32);
per_word!(u64, candidates_u64, all_u64, select_u64);

static SCALAR_U32: Scalar<u32> = Scalar::new();
static SCALAR_U64: Scalar<u64> = Scalar::new();

#[cfg(target_arch = "x86_64")]
mod machine {
    use super::{Candidates, SCALAR_U32, SCALAR_U64};
    use crate::arith::kernels::Kernels;
    use crate::arith::simd::{avx2::Avx2, avx512::Avx512, ifma::Ifma};

    pub(super) fn candidates_u32() -> Candidates<u32> {
        [
            Some(&SCALAR_U32),
            Avx2::detect().map(|token| token as &dyn Kernels<u32>),
            Avx512::detect().map(|token| token as &dyn Kernels<u32>),
        ]
    }

    pub(super) fn candidates_u64() -> Candidates<u64> {
        [
            Some(&SCALAR_U64),
            Avx2::detect().map(|token| token as &dyn Kernels<u64>),
            Ifma::detect().map(|token| token as &dyn Kernels<u64>),
        ]
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod machine {
    use super::{Candidates, SCALAR_U32, SCALAR_U64};
    use crate::arith::simd::neon::Neon;

    pub(super) fn candidates_u32() -> Candidates<u32> {
        [Some(&SCALAR_U32), None, Some(&Neon)]
    }

    pub(super) fn candidates_u64() -> Candidates<u64> {
        [Some(&SCALAR_U64), None, Some(&Neon)]
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod machine {
    use super::{Candidates, SCALAR_U32, SCALAR_U64};
    use crate::arith::simd::simd128::Simd128;

    pub(super) fn candidates_u32() -> Candidates<u32> {
        [Some(&SCALAR_U32), None, Some(&Simd128)]
    }

    pub(super) fn candidates_u64() -> Candidates<u64> {
        [Some(&SCALAR_U64), None, None]
    }
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod machine {
    use super::{Candidates, SCALAR_U32, SCALAR_U64};

    pub(super) fn candidates_u32() -> Candidates<u32> {
        [Some(&SCALAR_U32), None, None]
    }

    pub(super) fn candidates_u64() -> Candidates<u64> {
        [Some(&SCALAR_U64), None, None]
    }
}

use machine::{candidates_u32, candidates_u64};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_its_backend_and_any_other_the_best() {
        for candidate in all_u32() {
            assert_eq!(choose(candidates_u32(), Some(candidate.name())).name(), candidate.name());
        }
        for absent in [Some("simd512"), None] {
            assert_eq!(choose(candidates_u32(), absent).name(), all_u32().last().unwrap().name());
        }
    }

    #[test]
    fn the_choice_in_force_is_the_one_reported() {
        match backend_choice() {
            Ok(Some(name)) => assert_eq!(select_u32().name(), name),
            Ok(None) => assert_eq!(select_u32().name(), all_u32().last().unwrap().name()),
            Err(complaint) => {
                // `npm test` reads here that the machine cannot run the backend that was asked for.
                println!("{complaint}");
                assert!(complaint.to_string().contains(select_u32().name()));
            }
        }
    }
}
