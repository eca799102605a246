//! The ring `Z[X]/(X^N + 1)` and its residue number systems, over big integers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// A polynomial with integer coefficients, lowest degree first.
pub type Poly = Vec<BigInt>;

/// A polynomial of machine integers.
pub fn poly<T: Copy + Into<BigInt>>(coefficients: &[T]) -> Poly {
    coefficients.iter().map(|&x| x.into()).collect()
}

/// The product modulo `X^N + 1`, by the definition.
///
/// # Panics
/// If the lengths differ.
pub fn negacyclic_product(x: &[BigInt], y: &[BigInt]) -> Poly {
    assert_eq!(x.len(), y.len(), "both factors belong to one ring");
    let n = x.len();
    let mut product = vec![BigInt::zero(); n];
    for (i, x) in x.iter().enumerate().filter(|(_, x)| !x.is_zero()) {
        for (j, y) in y.iter().enumerate() {
            if i + j < n {
                product[i + j] += x * y;
            } else {
                product[i + j - n] -= x * y;
            }
        }
    }
    product
}

/// The image of `x` under `X -> X^g`, `g` odd.
pub fn automorphism(x: &[BigInt], g: usize) -> Poly {
    let n = x.len();
    let mut image = vec![BigInt::zero(); n];
    for (i, x) in x.iter().enumerate() {
        let at = i * g % (2 * n);
        if at < n {
            image[at] += x;
        } else {
            image[at - n] -= x;
        }
    }
    image
}

/// The representative of `x` modulo `q` in `(-q/2, q/2]`.
pub fn centred(x: &BigInt, q: &BigInt) -> BigInt {
    let low = x.mod_floor(q);
    if &low * 2 > *q { low - q } else { low }
}

/// The integer nearest to `x / d`, `d > 0`; halves go away from zero.
pub fn round_div(x: &BigInt, d: &BigInt) -> BigInt {
    let doubled: BigInt = x.abs() * 2 + d;
    let magnitude = doubled.div_floor(&(d * 2));
    if x.is_negative() { -magnitude } else { magnitude }
}

/// The product of the moduli.
pub fn product(moduli: &[u64]) -> BigInt {
    moduli.iter().fold(BigInt::one(), |product, &m| product * m)
}

/// The residue of `x` modulo `m`, in `[0, m)`.
///
/// # Panics
/// Never: a residue of a 64-bit modulus fits.
pub fn residue(x: &BigInt, m: u64) -> u64 {
    x.mod_floor(&BigInt::from(m)).to_u64().expect("less than a 64-bit modulus")
}

/// The integer in `(-Q/2, Q/2]`, Q the product of pairwise coprime `moduli`, with these residues.
///
/// # Panics
/// If the moduli are not pairwise coprime.
pub fn recombine(residues: &[u64], moduli: &[u64]) -> BigInt {
    let q = product(moduli);
    let sum = residues.iter().zip(moduli).fold(BigInt::zero(), |sum, (&x, &m)| {
        let cofactor = &q / m;
        let inverse = cofactor.modinv(&BigInt::from(m)).expect("pairwise coprime moduli");
        sum + cofactor * (BigInt::from(x) * inverse).mod_floor(&BigInt::from(m))
    });
    centred(&sum, &q)
}

/// Coefficients as floating-point numbers.
///
/// # Panics
/// Never: every big integer has a nearest `f64`.
pub fn to_f64(x: &[BigInt]) -> Vec<f64> {
    x.iter().map(|x| x.to_f64().expect("a nearest number or infinity")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_to_the_n_is_minus_one() {
        let x3 = poly(&[0, 0, 0, 1]);
        assert_eq!(negacyclic_product(&x3, &x3), poly(&[0, 0, -1, 0]));
        assert_eq!(automorphism(&poly(&[1, 2, 3, 4]), 7), poly(&[1, -4, -3, -2]));
        assert_eq!(automorphism(&poly(&[1, 2, 3, 4]), 3), poly(&[1, 4, -3, 2]));
    }

    #[test]
    fn rounding_is_to_the_nearest() {
        for (x, d, rounded) in [(7, 2, 4), (-7, 2, -4), (6, 4, 2), (5, 4, 1), (-5, 4, -1), (0, 9, 0)] {
            assert_eq!(round_div(&x.into(), &d.into()), rounded.into(), "{x} / {d}");
        }
    }

    #[test]
    fn residues_recombine() {
        let moduli = [97, 65537, 2_147_483_647];
        for x in [0i64, 1, -1, 123_456_789, -987_654_321] {
            let residues = moduli.map(|m| residue(&x.into(), m));
            assert_eq!(recombine(&residues, &moduli), x.into());
        }
    }
}
