//! Rings of two axes against polynomials modulo the cyclotomic polynomial, written out.

use num_bigint::BigInt;
use refloat::Error;
use refloat::arith::{Word, primes::primitive_root};
use refloat::random::Seed;
use refloat::ring::{Basis, Binomial, Cyclotomic, SmallPoly, from_integers};
use refloat_tests::cyclotomic::{Cyclotomic as Oracle, cyclotomic_polynomial};
use refloat_tests::rns::{Lottery, primes};

use super::written_out::{assert_division_and_lifting, assert_group, assert_product, samples};

/// Degree and odd part.
const RINGS: [(usize, u64); 6] = [(4, 3), (32, 3), (8, 5), (32, 5), (32, 17), (128, 17)];

fn ring((n, odd): (usize, u64)) -> (Cyclotomic, Oracle) {
    let ring = Cyclotomic::new(n, odd).expect("a ring");
    (ring, Oracle::new(ring.columns(), odd as usize))
}

fn basis<W: Word>(ring: Cyclotomic, bits: &[f64]) -> Basis<W> {
    Basis::over(ring, &primes(ring.index() as usize / 2, bits)).expect("primes of the ring")
}

#[test]
fn cyclotomic_polynomials_are_the_known_ones() {
    let known = |index: usize, c: &[i32]| {
        assert_eq!(cyclotomic_polynomial(index), c.iter().map(|&c| c.into()).collect::<Vec<BigInt>>());
    };
    known(1, &[-1, 1]);
    known(12, &[1, 0, -1, 0, 1]);
    known(20, &[1, 0, -1, 0, 1, 0, -1, 0, 1]);
}

fn transforms_evaluate<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(11);
    for place in RINGS {
        let (ring, _) = ring(place);
        let basis: Basis<W> = basis(ring, bits);
        for x in samples(&basis, &mut lottery) {
            let values = x.clone().into_eval();
            for i in 0..basis.len() {
                let m = basis.modulus(i);
                let psi = primitive_root(m, 2 * ring.columns() as u64).expect("a prime of the ring");
                let omega = primitive_root(m, ring.odd_part()).expect("a prime of the ring");
                let shift = usize::BITS - ring.columns().trailing_zeros();
                for (at, &found) in values.row(i).iter().enumerate() {
                    let (row, column) = (at / ring.columns() + 1, at % ring.columns());
                    let y = m.pow(psi, 2 * (column.reverse_bits() >> shift) as u64 + 1);
                    let z = m.pow(omega, row as u64);
                    let mut expected = W::ZERO;
                    for (place, &c) in x.row(i).iter().enumerate() {
                        let (k, i) = (place / ring.columns() + 1, place % ring.columns());
                        let power = m.mul(m.pow(y, i as u64), m.pow(z, k as u64));
                        expected = m.add(expected, m.mul(c, power));
                    }
                    assert_eq!(found, expected, "{place:?}, value {at}");
                }
            }
            assert_eq!(values.into_coeff().data(), x.data(), "{place:?}");
        }
    }
}

#[test]
fn values_are_those_at_all_roots_of_unity() {
    transforms_evaluate::<u32>(&[31.0, 14.0]);
    transforms_evaluate::<u64>(&[61.0, 50.0, 49.0]);
}

fn products_are_modulo_phi<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(12);
    for place in RINGS {
        let (ring, oracle) = ring(place);
        let basis: Basis<W> = basis(ring, bits);
        let all = samples(&basis, &mut lottery);
        for x in &all {
            for y in &all {
                assert_product(&place, &oracle, x, y);
            }
        }
    }
}

#[test]
fn products_are_those_modulo_the_cyclotomic_polynomial() {
    products_are_modulo_phi::<u32>(&[31.0, 24.0]);
    products_are_modulo_phi::<u64>(&[61.0, 50.0]);
}

#[test]
fn automorphisms_are_substitutions_and_a_group() {
    let mut lottery = Lottery::new(13);
    for place in RINGS {
        let (ring, oracle) = ring(place);
        let basis: Basis<u64> = basis(ring, &[50.0]);
        assert_group(&place, (ring, &oracle), lottery.poly(&basis));
    }
}

/// In the basis of both axes.
#[test]
fn division_and_lifting_are_exact() {
    let (ring, _) = ring((32, 5));
    let whole: Basis<u64> = basis(ring, &[50.0, 40.0, 45.0]);
    assert_division_and_lifting(Lottery::new(14).poly(&whole));
}

/// The error of a ring of two axes, plus its own Z^0 in every row, is one of independent coefficients: of those that a second
/// draw from the same stream gives.
#[test]
fn errors_are_drawn_for_every_root_of_unity() {
    let stream = || Seed::from_bytes([3; 32]).derive("errors", &[]).stream();
    for place in RINGS {
        let (ring, _) = ring(place);
        let (columns, odd) = (ring.columns(), ring.odd_part() as usize);
        let all = SmallPoly::error(columns * odd, &mut stream());
        let (first, rest) = all.coefficients().split_at(columns);
        let error = SmallPoly::error_in(ring, Binomial::Coins21, &mut stream());
        for (i, (&found, &own)) in error.coefficients().iter().zip(rest).enumerate() {
            assert_eq!(i32::from(found), i32::from(own) - i32::from(first[i % columns]), "{place:?}");
        }
        assert_eq!(error.coefficients().len(), ring.degree());
    }
    // A ring of one axis draws what it always did.
    let plain = Cyclotomic::new(64, 1).expect("a ring");
    let [own, before] =
        [SmallPoly::error_in(plain, Binomial::Coins21, &mut stream()), SmallPoly::error(64, &mut stream())];
    assert_eq!(own.coefficients(), before.coefficients());
}

#[test]
fn primes_of_another_ring_are_refused() {
    let ring = Cyclotomic::new(32, 5).expect("a ring");
    // 1 modulo 16 and not modulo 5, and the other way round.
    for prime in [97, 31, 241 * 7] {
        assert!(matches!(Basis::<u64>::over(ring, &[prime]), Err(Error::InvalidArgument(_))), "{prime}");
    }
    let [one, two] = [Cyclotomic::new(32, 1), Cyclotomic::new(32, 5)]
        .map(|ring| Basis::<u64>::over(ring.expect("a ring"), &[641]).expect("1 modulo 320"));
    assert!(!one.same_as(&two) && !one.is_prefix_of(&two));
    assert_ne!(
        from_integers(&one, &[1; 32]).into_eval().data(),
        from_integers(&two, &[1; 32]).into_eval().data()
    );
}
