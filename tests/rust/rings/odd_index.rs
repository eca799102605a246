//! Rings of odd index against polynomials modulo the cyclotomic polynomial, written out.

use num_bigint::BigInt;
use num_traits::One;
use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::arith::{Word, primes::ntt_primes, primes::primitive_root};
use refloat::random::Seed;
use refloat::ring::{
    Basis, Binomial, Coeff, Cyclotomic, Poly, SmallPoly, centered_residues, from_integers, uniform_rows,
};
use refloat_tests::cyclotomic::Cyclotomic as Oracle;
use refloat_tests::rns::{Lottery, primes};

use super::written_out::{assert_division_and_lifting, assert_group, assert_product, samples};

/// Pairs of primes, and of a product of two primes and a third one.
const RINGS: [[usize; 2]; 7] = [[3, 5], [3, 7], [5, 7], [15, 7], [15, 17], [3, 43], [5, 43]];

fn ring([p, q]: [usize; 2]) -> (Cyclotomic, Oracle) {
    (Cyclotomic::of_odd_index((p * q) as u64).expect("odd primes"), Oracle::of_odd_index(p, q))
}

fn basis<W: Word>(ring: Cyclotomic, bits: &[f64]) -> Basis<W> {
    Basis::over(ring, &primes(ring.divisor_of_primes() as usize / 2, bits)).expect("primes of the ring")
}

fn transforms_evaluate<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(21);
    for place in RINGS {
        let (ring, oracle) = ring(place);
        let basis: Basis<W> = basis(ring, bits);
        let units = ring.odd_index().expect("an odd index").units();
        assert_eq!((basis.degree(), units.len()), (ring.degree(), ring.degree()));
        for x in samples(&basis, &mut lottery) {
            let values = x.clone().into_eval();
            for i in 0..basis.len() {
                let m = basis.modulus(i);
                let zeta = primitive_root(m, ring.index()).expect("a prime of the ring");
                for (&found, &k) in values.row(i).iter().zip(&units) {
                    let terms = oracle.basis().iter().zip(x.row(i));
                    let expected =
                        terms.fold(W::ZERO, |sum, (&e, &c)| m.add(sum, m.mul(c, m.pow(zeta, e as u64 * k))));
                    assert_eq!(found, expected, "{place:?}, the value at zeta^{k}");
                }
                assert!(values.row(i)[basis.degree()..].iter().all(|&x| x == W::ZERO));
            }
            assert_eq!(values.into_coeff().data(), x.data(), "{place:?}");
        }
    }
}

#[test]
fn values_are_those_at_all_roots_of_unity() {
    transforms_evaluate::<u32>(&[30.9, 29.0]);
    transforms_evaluate::<u64>(&[61.0, 50.0, 49.0, 38.0]);
}

#[test]
fn products_are_those_modulo_the_cyclotomic_polynomial() {
    let mut lottery = Lottery::new(22);
    for place in RINGS {
        let (ring, oracle) = ring(place);
        let basis: Basis<u64> = basis(ring, &[61.0, 50.0]);
        let all = samples(&basis, &mut lottery);
        for x in &all {
            assert_product(&place, &oracle, x, &all[1]);
        }
    }
}

#[test]
fn automorphisms_are_substitutions_and_a_group() {
    let mut lottery = Lottery::new(23);
    for place in &RINGS[..4] {
        let (ring, oracle) = ring(*place);
        let basis: Basis<u64> = basis(ring, &[50.0]);
        assert_group(place, (ring, &oracle), lottery.poly(&basis));
    }
}

/// In the powerful basis.
#[test]
fn division_and_lifting_are_exact() {
    let (ring, _) = ring([5, 7]);
    let whole: Basis<u64> = basis(ring, &[50.0, 40.0, 45.0]);
    let found = assert_division_and_lifting(Lottery::new(24).poly(&whole));
    let q = *whole.modulus(0);
    assert_eq!(centered_residues(&found, &q), found.row(0)[..ring.degree()]);
}

/// The error is one of independent coefficients of all powers of X, reduced modulo the cyclotomic polynomial.
#[test]
fn errors_are_drawn_for_every_power() {
    let stream = || Seed::from_bytes([3; 32]).derive("errors", &[]).stream();
    for [p, q] in RINGS {
        let (ring, oracle) = ring([p, q]);
        let all = SmallPoly::error(p * q, &mut stream());
        let mut powers = vec![BigInt::ZERO; p * q];
        for (at, &c) in all.coefficients().iter().enumerate() {
            powers[(q * (at / q) + p * (at % q)) % (p * q)] += c;
        }
        let error = SmallPoly::error_in(ring, Binomial::Coins21, &mut stream());
        let found: Vec<BigInt> = error.coefficients().iter().map(|&c| c.into()).collect();
        assert_eq!(found.len(), ring.degree());
        // A product with 1 is reduced.
        assert_eq!(oracle.to_powers(&found), oracle.product(&powers, &[BigInt::one()]), "{p} {q}");
    }
}

#[test]
fn rows_are_filled_up_with_zeros() {
    let (ring, _) = ring([5, 43]);
    let basis: Basis<u64> = basis(ring, &[50.0]);
    assert_eq!((ring.degree(), ring.width(), basis.n()), (168, 192, 192));
    let uniform = uniform_rows(&basis, &mut Seed::from_bytes([4; 32]).stream());
    assert!(uniform[..168].iter().all(|&x| x != 0) && uniform[168..].iter().all(|&x| x == 0));
    let small = from_integers(&basis, &vec![-3; 168]);
    assert!(small.row(0)[..168].iter().all(|&x| x == basis.modulus(0).value() - 3));
    assert!(small.row(0)[168..].iter().all(|&x| x == 0));
    let mut stream = Seed::from_bytes([5; 32]).stream();
    for weight in [0, 1, 32, 42] {
        let sparse = SmallPoly::sparse_ternary_in(ring, weight, &mut stream);
        assert_eq!(sparse.coefficients().len(), 168);
        assert_eq!(sparse.coefficients().iter().filter(|&&c| c != 0).count(), weight);
    }
}

/// Rows of this ring are long enough to be tasks of their own.
#[test]
fn words_are_the_same_on_any_number_of_threads() {
    let ring = Cyclotomic::of_odd_index(179 * 191).expect("two odd primes");
    let primes: Vec<u64> = ntt_primes(49.0, ring.divisor_of_primes()).take(2).collect();
    let basis = Basis::<u64>::over(ring, &primes).expect("primes of the ring");
    let mut stream = Seed::from_bytes([6; 32]).stream();
    let x = Poly::<u64, Coeff>::from_rows(&basis, uniform_rows(&basis, &mut stream));
    let run = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| x.clone().into_eval())
    };
    let values = run(1);
    assert_eq!(values.data(), run(3).data());
    let (m, pair) = (basis.modulus(0), ring.odd_index().expect("an odd index"));
    let zeta = primitive_root(m, ring.index()).expect("a prime of the ring");
    let [_, columns] = pair.orders();
    for (at, &k) in pair.units().iter().enumerate().step_by(5003) {
        let terms = x.row(0)[..ring.degree()].iter().enumerate();
        let expected = terms.fold(0, |sum, (place, &c)| {
            let exponent = pair.exponent([place / columns, place % columns]) as u64 * k % ring.index();
            m.add(sum, m.mul(c, m.pow(zeta, exponent)))
        });
        assert_eq!(values.row(0)[at], expected, "the value at zeta^{k}");
    }
    assert_eq!(values.into_coeff().data(), x.data());
}

#[test]
fn other_rings_and_primes_are_refused() {
    for (n, index) in [(168, 129), (84, 215), (192, 215), (4, 9), (48, 135), (96, 105), (14, 45), (6, 7)] {
        assert!(matches!(Cyclotomic::new(n, index), Err(Error::InvalidArgument(_))), "{n}, {index}");
    }
    // Convolutions by one transform, and by two.
    for (n, index) in [(24, 35), (624, 939)] {
        let ring = Cyclotomic::new(n, index).expect("a ring");
        // Not 1 modulo twice the length of the convolution, and not 1 modulo the index.
        let divisor = ring.divisor_of_primes();
        for part in [2, index] {
            let mut candidates = (1..1000).map(|k| divisor / part * k + 1).filter(|p| p % divisor != 1);
            let prime = candidates.find(|&p| refloat::arith::primes::is_prime(p)).expect("a prime");
            assert!(matches!(Basis::<u64>::over(ring, &[prime]), Err(Error::InvalidArgument(_))), "{prime}");
        }
    }
}
