//! What every ring has to do, against the polynomials that the oracle writes out.

use std::fmt::Debug;

use num_bigint::BigInt;
use num_traits::One;
use refloat::arith::Word;
use refloat::ring::{Automorphism, BaseConverter, Basis, Coeff, Cyclotomic, ModDown, Poly};
use refloat_tests::cyclotomic::Cyclotomic as Oracle;
use refloat_tests::ring::{centred, product, round_div};
use refloat_tests::rns::{Lottery, from_big, to_big};

/// Random polynomials, and one whose residues are all the largest.
pub fn samples<W: Word>(basis: &Basis<W>, lottery: &mut Lottery) -> [Poly<W, Coeff>; 3] {
    let largest = from_big(basis, &vec![-BigInt::one(); basis.degree()]);
    [lottery.poly(basis), lottery.poly(basis), largest]
}

/// Checks the product of two polynomials.
pub fn assert_product<W: Word>(place: &impl Debug, oracle: &Oracle, x: &Poly<W, Coeff>, y: &Poly<W, Coeff>) {
    let q = product(&x.basis().primes().collect::<Vec<_>>());
    let found = x.clone().into_eval().mul(&y.clone().into_eval()).into_coeff();
    let [x, y, found] = [x, y, &found].map(|x| oracle.to_powers(&to_big(x)));
    assert_eq!(reduced(&found, &q), reduced(&oracle.product(&x, &y), &q), "{place:?}");
}

/// Checks all automorphisms of a ring on a polynomial modulo one prime: they are substitutions, each has an inverse, and two in a row
/// are one.
pub fn assert_group(place: &impl Debug, (ring, oracle): (Cyclotomic, &Oracle), x: Poly<u64, Coeff>) {
    let q = BigInt::from(x.basis().modulus(0).value());
    let powers = oracle.to_powers(&to_big(&x));
    let x = x.into_eval();
    let elements: Vec<_> = (0..ring.index()).filter_map(|g| ring.element(g).ok()).collect();
    assert_eq!(elements.len(), ring.degree());
    let h = elements[elements.len() / 3];
    for &g in &elements {
        let image = x.automorphism(&Automorphism::over(ring, g));
        let found = oracle.to_powers(&to_big(&image.clone().into_coeff()));
        let expected = oracle.automorphism(&powers, g.value() as usize);
        assert_eq!(reduced(&found, &q), reduced(&expected, &q), "{place:?}, X^{}", g.value());
        let back = image.automorphism(&Automorphism::over(ring, ring.inverse(g)));
        assert_eq!(back.data(), x.data(), "{place:?}, X^{}", g.value());
        let both = x.automorphism(&Automorphism::over(ring, ring.combine(g, h)));
        assert_eq!(image.automorphism(&Automorphism::over(ring, h)).data(), both.data());
    }
}

/// Checks the division of a polynomial modulo three primes by the last two, and the way back to those: coefficients are rounded and
/// lifted one by one. Returns the quotient.
pub fn assert_division_and_lifting(x: Poly<u64, Coeff>) -> Poly<u64, Coeff> {
    let (keep, drop) = (x.basis().prefix(1), x.basis().select([1, 2]));
    let d = product(&drop.primes().collect::<Vec<_>>());
    let q = BigInt::from(keep.modulus(0).value());
    let expected: Vec<BigInt> = to_big(&x).iter().map(|x| centred(&round_div(x, &d), &q)).collect();
    let found = ModDown::new(&keep, &drop).apply(x.into_eval()).into_coeff();
    assert_eq!(to_big(&found), expected);
    let converter = BaseConverter::new(&keep, &drop);
    let source = converter.source(vec![found.row(0)]);
    let mut lifted = Poly::<u64, Coeff>::zero(&drop);
    lifted.for_each_row_mut(|i, row| source.row_into(i, row));
    assert_eq!(to_big(&lifted), expected);
    found
}

fn reduced(x: &[BigInt], q: &BigInt) -> Vec<BigInt> {
    x.iter().map(|x| centred(x, q)).collect()
}
