//! The suite, instantiated for every backend and word.

use super::{rows, transforms};
use crate::arith::all_backends;
use crate::arith::{Kernels, Word};

/// Backends that every processor of this build has, so that their suites cannot be skipped, each with the bits of its words.
const CERTAIN: &[(&str, u32)] = if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    &[("scalar", 32), ("scalar", 64), ("neon", 32), ("neon", 64)]
} else if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
    &[("scalar", 32), ("scalar", 64), ("simd128", 32)]
} else {
    &[("scalar", 32), ("scalar", 64)]
};

/// The backend of this name, or `None` (with a message) where the CPU may lack it and does.
fn find<W: Word>(name: &str) -> Option<&'static dyn Kernels<W>> {
    let found = all_backends::<W>().into_iter().find(|k| k.name() == name);
    if found.is_none() {
        assert!(!CERTAIN.contains(&(name, W::BITS)), "no backend {name} for words of {} bits", W::BITS);
        println!("backend {name} is not usable here: its suite is skipped");
    }
    found
}

macro_rules! kernel_suite {
    ($module:ident, $word:ty, $name:literal) => {
        mod $module {
            use super::*;

            macro_rules! laws {
                ($test:ident, $law:path) => {
                    #[test]
                    fn $test() {
                        if let Some(k) = find::<$word>($name) {
                            $law(k);
                        }
                    }
                };
            }

            laws!(evaluates_in_bit_reversed_order, transforms::evaluates_in_bit_reversed_order);
            laws!(multiplies_like_schoolbook, transforms::multiplies_like_schoolbook);
            laws!(one_and_two_rows, rows::one_and_two_rows);
            laws!(sums_of_products, rows::sums_of_products);
            laws!(tiled_keys, rows::tiled_keys);
            laws!(permutations, rows::permutations);
            laws!(automorphisms, rows::automorphisms);
            laws!(permutation_out_of_range, rows::permutation_out_of_range);
            laws!(changes_of_modulus, rows::changes_of_modulus);
            laws!(basis_conversion, rows::basis_conversion);
            laws!(overflow_rounding, rows::overflow_rounding);

            #[test]
            fn transforms_equal_scalar() {
                if let Some(k) = find::<$word>($name) {
                    transforms::equals_scalar(k, all_backends::<$word>()[0]);
                }
            }
        }
    };
}

kernel_suite!(scalar_u32, u32, "scalar");
kernel_suite!(scalar_u64, u64, "scalar");
kernel_suite!(avx2_u32, u32, "avx2");
kernel_suite!(avx2_u64, u64, "avx2");
kernel_suite!(avx512_u32, u32, "avx512");
kernel_suite!(avx512_u64, u64, "avx512");
kernel_suite!(neon_u32, u32, "neon");
kernel_suite!(neon_u64, u64, "neon");
kernel_suite!(simd128_u32, u32, "simd128");

#[test]
fn scalar_is_always_there_and_names_are_distinct() {
    fn check<W: Word>() {
        let names: Vec<&str> = all_backends::<W>().iter().map(|k| k.name()).collect();
        assert_eq!(names[0], "scalar");
        assert!(names.iter().enumerate().all(|(i, name)| !names[..i].contains(name)));
        assert!(names.contains(&W::kernels().name()));
    }
    check::<u32>();
    check::<u64>();
}
