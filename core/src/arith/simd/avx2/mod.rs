//! AVX2: eight 32-bit or four 64-bit lanes.
//!
//! SAFETY, for every block here and in the sub-modules: the only value of a token type is reached through
//! [`Avx2::detect`], which returns it only where the CPU has AVX2, BMI1, BMI2 and FMA; loads and stores go through references to
//! whole packs and are unaligned.

/// Intrinsics, allowed by the token.
macro_rules! avx2 {
    ($e:expr) => {
        // SAFETY: users of this hold lanes, or values made from them, whose token proves AVX2 and FMA; loads and stores are
        // unaligned, through references to whole packs.
        unsafe { $e }
    };
}

pub(in crate::arith) mod reals;
pub(in crate::arith) mod words32;
pub(in crate::arith) mod words64;

/// Proof that the CPU has AVX2 (and BMI1, BMI2 and FMA, which came with it).
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

static TOKEN: Avx2 = Avx2(());

impl Avx2 {
    /// The token, if the CPU has the instructions.
    pub(crate) fn detect() -> Option<&'static Self> {
        #[cfg(feature = "std")]
        let usable = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("fma");
        #[cfg(not(feature = "std"))]
        let usable = cfg!(all(
            target_feature = "avx2",
            target_feature = "bmi1",
            target_feature = "bmi2",
            target_feature = "fma"
        ));
        usable.then_some(&TOKEN)
    }
}
