//! Automorphisms of a ring against substitutions in the polynomials that the oracle writes out.

use std::fmt::Debug;

use num_bigint::BigInt;
use refloat::ring::{Automorphism, Coeff, Cyclotomic, Poly};
use refloat_tests::cyclotomic::Cyclotomic as Oracle;
use refloat_tests::ring::centred;

/// Checks all automorphisms of a ring on a polynomial modulo one prime, whose coefficients `coefficients` extracts: they are
/// substitutions, each has an inverse, and two in a row are one.
pub fn assert_group(
    place: &impl Debug,
    (ring, oracle): (Cyclotomic, &Oracle),
    x: Poly<u64, Coeff>,
    coefficients: impl Fn(&Poly<u64, Coeff>) -> Vec<BigInt>,
) {
    let q = BigInt::from(x.basis().modulus(0).value());
    let reduced = |x: &[BigInt]| x.iter().map(|x| centred(x, &q)).collect::<Vec<_>>();
    let powers = oracle.to_powers(&coefficients(&x));
    let x = x.into_eval();
    let elements: Vec<_> = (0..ring.index()).filter_map(|g| ring.element(g).ok()).collect();
    assert_eq!(elements.len(), ring.degree());
    let h = elements[elements.len() / 3];
    for &g in &elements {
        let image = x.automorphism(&Automorphism::over(ring, g));
        let found = oracle.to_powers(&coefficients(&image.clone().into_coeff()));
        let expected = oracle.automorphism(&powers, g.value() as usize);
        assert_eq!(reduced(&found), reduced(&expected), "{place:?}, X^{}", g.value());
        let back = image.automorphism(&Automorphism::over(ring, ring.inverse(g)));
        assert_eq!(back.data(), x.data(), "{place:?}, X^{}", g.value());
        let both = x.automorphism(&Automorphism::over(ring, ring.combine(g, h)));
        assert_eq!(image.automorphism(&Automorphism::over(ring, h)).data(), both.data());
    }
}
