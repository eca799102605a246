//! AP: the accumulator is multiplied by X^(s_i c B^j) for every digit c of every exponent -a_i in base B, by a key for each
//! value of c.
//!
//! Alperin-Sheriff, Peikert (CRYPTO 2014); Ducas, Micciancio (EUROCRYPT 2015). The keys take n B log_B(2N) samples: for
//! comparison with the others only.

use alloc::{vec, vec::Vec};

use super::{
    accumulator::Evaluated,
    rotation::{BlindRotation, With},
    rotation_key::{RotationKey, RotationSample, monomial, rgsw_sample},
    test_vector::{TestVector, turned_sample},
};
use crate::{
    arith::Word,
    rlwe::lwe::{Exponents, Grid},
    schemes::cggi::{CggiParams, CggiSecretKey},
};

/// The method; its key is, for each coordinate, each digit and each value of it from 1, the RGSW of X^(s_i c B^j).
#[derive(Clone)]
pub(super) struct Ap;

/// One step: multiply by what this product of the key stands for.
#[derive(Clone, Copy)]
pub(super) struct Product(usize);

/// The digits of exponents: place of the lowest bit, and number of bits.
fn digits<W: Word>(params: &CggiParams<W>) -> impl Iterator<Item = (u32, u32)> {
    params.spec().method.exponent_digits(params.log_2n()).scan(0, |place, bits| {
        let here = *place;
        *place += bits;
        Some((here, bits))
    })
}

/// Products of one coordinate.
fn per_coordinate<W: Word>(params: &CggiParams<W>) -> usize {
    digits(params).map(|(_, bits)| (1 << bits) - 1).sum()
}

impl<W: Word> RotationKey<W> for Ap {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        vec![(params.spec().lwe_dimension * per_coordinate(params), params.rgsw().rgsw_samples())]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let params = secret.params();
        let samples = params.rgsw().rgsw_samples();
        let (product, row) = (index / samples, index % samples);
        let each = per_coordinate(params);
        let (coordinate, mut rest) = (product / each, product % each);
        let mut exponent = 0;
        for (place, bits) in digits(params) {
            let values = (1 << bits) - 1;
            if rest < values {
                exponent = (rest + 1) << place;
                break;
            }
            rest -= values;
        }
        let payload = monomial(params, secret.short.coefficients()[coordinate].into(), exponent);
        rgsw_sample(secret, index, row, &payload, &secret.ring_eval)
    }
}

impl<W: Word> BlindRotation<W> for Ap {
    const GRID: Grid = Grid::All;

    type Step = Product;

    type Accumulator = Evaluated<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Product> {
        let (order, each) = (1u32 << params.log_2n(), per_coordinate(params));
        let mut steps = Vec::new();
        for (coordinate, &a) in exponents.a.iter().enumerate() {
            let (exponent, mut first) = ((order - a) % order, coordinate * each);
            for (place, bits) in digits(params) {
                let values = (1u32 << bits) - 1;
                let digit = exponent >> place & values;
                if digit != 0 {
                    steps.push(Product(first + digit as usize - 1));
                }
                first += values as usize;
            }
        }
        steps
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Evaluated<W> {
        Evaluated::new(params, turned_sample(params, test, exponents))
    }

    fn step(
        &self,
        Product(index): Product,
        Evaluated { parts, .. }: &mut Evaluated<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let rgsw = params.rgsw();
        let length = rgsw.rgsw_samples() * 2 * rgsw.n();
        rgsw.external_product(&key[index * length..][..length], parts, scratch, counters);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{
        params::cggi_preset,
        schemes::cggi::{CggiSpec, RotationMethod},
    };

    #[test]
    fn digits_add_up_to_the_inner_product() {
        for base_log in [1, 3, 4, 8] {
            let toy = (cggi_preset("toy-bool-ap").unwrap().spec)();
            let method = RotationMethod::Ap { base_log };
            let params =
                CggiParams::<u32>::new(&CggiSpec { name: "test".to_string(), method, ..toy }).unwrap();
            let order = 1u32 << params.log_2n();
            let n = params.spec().lwe_dimension;
            let a: Vec<u32> = (0..n as u32).map(|i| i * i * 37 % order).collect();
            let s: Vec<i64> = (0..n as i64).map(|i| i * 7 % 3 - 1).collect();
            let steps = Ap.plan(&params, &Exponents { a: a.clone(), b: 0 });
            let each = per_coordinate::<u32>(&params);
            let found = steps.iter().fold(0i64, |sum, &Product(index)| {
                let (coordinate, mut rest) = (index / each, index % each);
                for (place, bits) in digits::<u32>(&params) {
                    let values = (1usize << bits) - 1;
                    if rest < values {
                        return sum + s[coordinate] * ((rest as i64 + 1) << place);
                    }
                    rest -= values;
                }
                unreachable!("within the coordinate")
            });
            let expected = a.iter().zip(&s).fold(0, |sum, (&a, &s)| sum - i64::from(a) * s);
            assert_eq!((found - expected).rem_euclid(order.into()), 0, "digits of {base_log} bits");
        }
    }
}
