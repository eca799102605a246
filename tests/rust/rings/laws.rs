//! Laws of RNS polynomials against big integers: products, automorphisms, base conversion, exact
//! division, and integers in and out. Both words; every backend of the machine.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::prelude::*;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{
    Automorphism, BaseConverter, Basis, Coeff, Domain, GaloisElement, ModDown, Poly, SmallPoly, centered_f64,
    from_integers, switch_modulus, uniform_rows,
};
use refloat_tests::ring::{automorphism, centred, negacyclic_product, product, residue, round_div, to_f64};
use refloat_tests::rns::{Lottery, basis, from_big, primes, to_big};

fn modulus<W: Word>(basis: &Basis<W>) -> BigInt {
    product(&basis.primes().collect::<Vec<_>>())
}

fn same<W: Word, D: Domain>(x: &Poly<W, D>, y: &Poly<W, D>) -> bool {
    x.basis().same_as(y.basis()) && x.data() == y.data()
}

/// Modulo `q` and centred, coefficient by coefficient.
fn reduced(x: &[BigInt], q: &BigInt) -> Vec<BigInt> {
    x.iter().map(|x| centred(x, q)).collect()
}

/// Every residue the largest there is: minus one, in every prime.
fn all_largest<W: Word>(basis: &Basis<W>) -> Poly<W, Coeff> {
    from_big(basis, &vec![-BigInt::one(); basis.n()])
}

fn products_are_negacyclic<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(1);
    for log_n in 1..=7 {
        let basis: Basis<W> = basis(1 << log_n, bits);
        let q = modulus(&basis);
        let (x, y) = (lottery.poly(&basis), lottery.poly(&basis));
        for (x, y) in [(&x, &y), (&x, &all_largest(&basis)), (&all_largest(&basis), &all_largest(&basis))] {
            let expected = reduced(&negacyclic_product(&to_big(x), &to_big(y)), &q);
            let found = x.clone().into_eval().mul(&y.clone().into_eval()).into_coeff();
            assert_eq!(to_big(&found), expected, "degree 2^{log_n}");
        }
    }
}

#[test]
fn products_are_the_negacyclic_ones() {
    products_are_negacyclic::<u32>(&[31.0, 20.0, 9.5]);
    products_are_negacyclic::<u64>(&[61.0, 31.0, 9.5]);
}

fn sums_are_those_of_integers<W: Word>(bits: &[f64]) {
    let basis: Basis<W> = basis(16, bits);
    let q = modulus(&basis);
    let mut lottery = Lottery::new(2);
    let (x, y) = (lottery.poly(&basis), all_largest(&basis));
    let (big_x, big_y) = (to_big(&x), to_big(&y));
    let pairwise = |op: fn(&BigInt, &BigInt) -> BigInt| -> Vec<BigInt> {
        big_x.iter().zip(&big_y).map(|(x, y)| centred(&op(x, y), &q)).collect()
    };
    let changed = |change: &dyn Fn(&mut Poly<W, Coeff>)| {
        let mut out = x.clone();
        change(&mut out);
        to_big(&out)
    };
    assert_eq!(changed(&|out| out.add_assign(&y)), pairwise(|x, y| x + y));
    assert_eq!(changed(&|out| out.sub_assign(&y)), pairwise(|x, y| x - y));
    assert_eq!(changed(&Poly::neg_assign), pairwise(|x, _| -x));
    for factor in [0, 1, -1, 12345, i64::MAX, i64::MIN] {
        let expected: Vec<BigInt> = big_x.iter().map(|x| centred(&(x * factor), &q)).collect();
        assert_eq!(changed(&|out| out.mul_integer_assign(factor)), expected, "times {factor}");
    }
    let lower = modulus(&basis.prefix(2));
    assert_eq!(to_big(&x.truncated(2)), reduced(&big_x, &lower));
    assert!(same(&x.truncated(2), &x.truncated_to(&basis.prefix(2))));
}

#[test]
fn sums_and_multiples_are_those_of_integers() {
    sums_are_those_of_integers::<u32>(&[31.0, 24.0, 9.5]);
    sums_are_those_of_integers::<u64>(&[61.0, 50.0, 9.5]);
}

fn automorphisms_permute_evaluations<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(3);
    for n in [2usize, 4, 8, 16, 32] {
        let basis: Basis<W> = basis(n, bits);
        let q = modulus(&basis);
        let x = lottery.poly(&basis);
        let (big, eval) = (to_big(&x), x.into_eval());
        for g in (1..2 * n).step_by(2) {
            let element = GaloisElement::new(g as u64, n).expect("odd and below 2N");
            let image = eval.automorphism(&Automorphism::new(n, element));
            let expected = reduced(&automorphism(&big, g), &q);
            assert_eq!(to_big(&image.clone().into_coeff()), expected, "N = {n}, g = {g}");
            let back = element.inverse(n);
            assert_eq!(g as u64 * back.value() % (2 * n as u64), 1, "N = {n}, g = {g}");
            assert!(same(&image.automorphism(&Automorphism::new(n, back)), &eval));
            for h in (1..2 * n).step_by(6) {
                let step = |g| Automorphism::new(n, GaloisElement::new(g as u64, n).expect("odd"));
                let twice = image.automorphism(&step(h));
                assert!(same(&twice, &eval.automorphism(&step(g * h % (2 * n)))), "N = {n}: {g}, {h}");
            }
        }
    }
}

#[test]
fn automorphisms_permute_evaluations_as_they_do_coefficients() {
    automorphisms_permute_evaluations::<u32>(&[31.0, 10.0]);
    automorphisms_permute_evaluations::<u64>(&[61.0, 10.0]);
}

#[test]
fn galois_elements_are_powers_of_five_and_minus_one() {
    for n in [2usize, 4, 8, 1024, 1 << 17] {
        let modulus = 2 * n as u64;
        let mut power = 1;
        for t in 0..(n / 2).min(40) as i64 {
            assert_eq!(GaloisElement::rotation(t, n).value(), power, "N = {n}, rotation by {t}");
            let right = GaloisElement::rotation(-t, n);
            assert_eq!(right.value() as u128 * u128::from(power) % u128::from(modulus), 1);
            assert_eq!(right, GaloisElement::rotation(n as i64 / 2 - t, n), "a full turn");
            power = power * 5 % modulus;
        }
        assert_eq!(GaloisElement::conjugation(n).value(), modulus - 1);
        for far in [i64::MIN, i64::MAX] {
            let near = far.rem_euclid(n as i64 / 2);
            assert_eq!(GaloisElement::rotation(far, n), GaloisElement::rotation(near, n));
        }
        for bad in [0, 2, modulus, modulus + 1, u64::MAX] {
            let error = GaloisElement::new(bad, n).expect_err("even or not below 2N");
            assert_eq!(error.code(), "INVALID_ARGUMENT");
            assert!(error.to_string().contains(&bad.to_string()), "{error}");
            assert!(error.to_string().contains(&modulus.to_string()), "{error}");
        }
    }
}

/// Values that try a conversion from modulus `d` (odd): small ones, the ends, and what is around the
/// quarters.
fn extremes(d: &BigInt) -> Vec<BigInt> {
    let half: BigInt = (d - 1) / 2;
    let mut out = vec![BigInt::zero(), BigInt::one(), half.clone(), &half - 1, d / 3, d / 4];
    out.extend(out.clone().into_iter().map(|x| -x));
    out
}

/// The documented exception: with several primes, a value this close to ± D/2 may be taken for the
/// one on the other side.
fn ambiguous(x: &BigInt, d: &BigInt, count: usize) -> bool {
    count > 1 && (d - x.abs() * 2) << 48u32 <= *d
}

fn conversion_is_exact<W: Word>(from: &Basis<W>, to: &Basis<W>, x: &[BigInt]) {
    let d = modulus(from);
    let converter = BaseConverter::new(from, to);
    let mut prepared = from_big(from, x);
    prepared.rows_mut().for_each(|(i, row)| converter.prepare(i, row));
    let source = converter.source((0..from.len()).map(|i| prepared.row(i)).collect());
    let mut found = Poly::<W, Coeff>::zero(to);
    for (target, row) in found.rows_mut() {
        source.row_into(target, row);
    }
    for (t, x) in x.iter().enumerate() {
        let other = if x.is_negative() { x + &d } else { x - &d };
        let agrees = |value: &BigInt| {
            to.primes().enumerate().all(|(i, p)| found.row(i)[t].to_u64() == residue(value, p))
        };
        let exact = agrees(x) || (ambiguous(x, &d, from.len()) && agrees(&other));
        assert!(exact, "{x} modulo {d}, from {} primes", from.len());
    }
}

fn conversions_are_exact<W: Word>(sources: &[f64], targets: &[f64]) {
    let n = 32;
    // One search for all primes, so that the two bases share none.
    let all: Vec<u64> = primes(n, &[sources, targets].concat());
    let (sources, targets) = all.split_at(sources.len());
    let to: Basis<W> = Basis::new(n, targets).expect("primes");
    let mut lottery = Lottery::new(4);
    for count in 1..=sources.len() {
        let from: Basis<W> = Basis::new(n, &sources[..count]).expect("primes");
        let d = modulus(&from);
        let mut x = extremes(&d);
        x.resize_with(n, || lottery.centred(&d));
        conversion_is_exact(&from, &to, &x);
        // Once more with every value in every lane of a vector.
        for shift in 1..8 {
            x.rotate_left(shift);
            conversion_is_exact(&from, &to, &x);
        }
    }
}

#[test]
fn base_conversion_is_exact_and_centred() {
    conversions_are_exact::<u32>(&[30.9, 30.8, 29.0, 12.0], &[31.0, 30.0, 20.0, 8.0]);
    conversions_are_exact::<u32>(&[12.0, 11.0, 10.0, 9.0], &[31.0, 30.0, 20.0, 8.0]);
    conversions_are_exact::<u32>(&[20.0, 19.0], &[31.0, 12.0]);
    conversions_are_exact::<u64>(&[60.9, 60.8, 59.0, 12.0], &[61.0, 45.0, 20.0, 8.0]);
    conversions_are_exact::<u64>(&[12.0, 11.0, 10.0, 9.0], &[61.0, 45.0, 8.0]);
    conversions_are_exact::<u64>(&[30.0, 50.0, 40.0], &[61.0, 31.0, 8.0]);
}

#[test]
fn small_products_are_exact_up_to_the_very_ends() {
    // D is far below 2^48 here: no value is ambiguous.
    let d = modulus(&basis::<u32>(8, &[12.0, 11.0, 10.0]));
    assert!(!ambiguous(&((&d - 1) / 2), &d, 3));
    assert!(ambiguous(&((BigInt::one() << 60u32) / 2), &((BigInt::one() << 60u32) + 1), 2));
}

fn division_is_round<W: Word>(keep: &[f64], drop: &[f64]) {
    let n = 16;
    let all: Basis<W> = basis(n, &[keep, drop].concat());
    let (kept, dropped) = (all.prefix(keep.len()), all.select(keep.len()..all.len()));
    let (q, d) = (modulus(&kept), modulus(&dropped));
    let total = &q * &d;
    let down = ModDown::new(&kept, &dropped);
    let mut lottery = Lottery::new(5);
    // Multiples of D with the remainders that are hardest to round, then random ones.
    let mut x: Vec<BigInt> =
        extremes(&d).iter().map(|r| centred(&(lottery.centred(&q) * &d + r), &total)).collect();
    x.resize_with(n, || lottery.centred(&total));
    x.push((&total - 1) / 2);
    x.push((1 - &total) / 2);
    for x in [&x[..n], &x[x.len() - n..]] {
        let found = to_big(&down.apply(from_big(&all, x).into_eval()).into_coeff());
        for (x, found) in x.iter().zip(found) {
            let exact = centred(&round_div(x, &d), &q);
            let remainder = centred(x, &d);
            let other = &exact + if remainder.is_positive() { 1 } else { -1 };
            let ends = ambiguous(&remainder, &d, drop.len()) && found == centred(&other, &q);
            assert!(found == exact || ends, "round({x} / {d}) = {exact}, found {found}");
        }
    }
}

#[test]
fn mod_down_rounds_to_the_nearest() {
    division_is_round::<u32>(&[31.0, 20.0, 10.0], &[30.0]);
    division_is_round::<u32>(&[20.0], &[31.0]);
    division_is_round::<u32>(&[28.0, 9.0], &[31.0, 30.5]);
    division_is_round::<u32>(&[28.0, 9.0, 15.0], &[31.0, 30.5, 12.0, 25.0]);
    division_is_round::<u32>(&[25.0, 9.0], &[12.0, 11.0]);
    division_is_round::<u64>(&[61.0, 20.0, 10.0], &[60.0]);
    division_is_round::<u64>(&[30.0], &[61.0]);
    division_is_round::<u64>(&[50.0, 9.0], &[61.0, 60.5, 31.0]);
    division_is_round::<u64>(&[25.0, 9.0], &[12.0, 11.0]);
}

proptest! {
    #[test]
    fn any_value_converts_and_divides(start: u64, count in 1usize..=4) {
        let bits = [29.3, 30.5, 21.0, 27.0];
        let (d, q) = (&bits[..count], [30.2, 17.0]);
        conversions_of(start, d, &q);
        let all: Basis<u64> = basis(8, &[&q[..], d].concat());
        let (kept, dropped) = (all.prefix(2), all.select(2..2 + count));
        let (x, whole) = (Lottery::new(start).poly(&all), modulus(&dropped));
        let expected: Vec<BigInt> =
            to_big(&x).iter().map(|x| centred(&round_div(x, &whole), &modulus(&kept))).collect();
        let found = ModDown::new(&kept, &dropped).apply(x.into_eval()).into_coeff();
        prop_assert_eq!(to_big(&found), expected);
    }
}

fn conversions_of(start: u64, from: &[f64], to: &[f64]) {
    let all = primes(8, &[from, to].concat());
    let from: Basis<u32> = Basis::new(8, &all[..from.len()]).expect("primes");
    let to: Basis<u32> = Basis::new(8, &all[from.len()..]).expect("primes");
    conversion_is_exact(&from, &to, &to_big(&Lottery::new(start).poly(&from)));
}

fn modulus_switches_are_round<V: Word, W: Word>(from: f64, to: f64) {
    let (from, to): (Basis<V>, Basis<W>) = (basis(16, &[from]), basis(16, &[to]));
    let (p, q) = (modulus(&from), modulus(&to));
    let mut lottery = Lottery::new(23);
    let mut row: Vec<V> = lottery.poly(&from).row(0).to_vec();
    let p_word = from.modulus(0).value_u64();
    let edges = [0, 1, p_word / 2 - 1, p_word / 2, p_word / 2 + 1, p_word - 2, p_word - 1];
    row.extend(edges.map(V::from_u64));
    let switched = switch_modulus(&row, from.modulus(0), to.modulus(0));
    for (&x, &y) in row.iter().zip(&switched) {
        assert!(BigInt::from(y.to_u64()) < q);
        let expected = round_div(&(centred(&BigInt::from(x.to_u64()), &p) * &q), &p);
        assert_eq!(centred(&BigInt::from(y.to_u64()), &q), centred(&expected, &q), "{x} of {p} to {q}");
    }
    if q > p {
        assert_eq!(switch_modulus(&switched, to.modulus(0), from.modulus(0)), row);
    }
}

#[test]
fn modulus_switches_round_to_the_nearest() {
    for (from, to) in [(30.0, 22.0), (22.0, 30.0), (30.9, 30.8), (12.0, 30.9)] {
        modulus_switches_are_round::<u32, u32>(from, to);
        modulus_switches_are_round::<u64, u32>(from, to);
        modulus_switches_are_round::<u32, u64>(from, to);
    }
    for (from, to) in [(60.9, 30.0), (30.0, 60.9), (60.9, 60.8), (42.0, 30.0), (50.0, 60.0)] {
        modulus_switches_are_round::<u64, u64>(from, to);
    }
}

fn doubles_are_near<W: Word>(bits: &[f64]) {
    let basis: Basis<W> = basis(32, bits);
    let q = modulus(&basis);
    let mut lottery = Lottery::new(6);
    let mut x = extremes(&q);
    // Small values beside large moduli: exact below 2^52.
    x.extend([1i64 << 40, 1 - (1 << 52), (1 << 52) - 1, 7].map(BigInt::from).map(|x| centred(&x, &q)));
    x.resize_with(32, || lottery.centred(&q));
    for (found, x) in centered_f64(&from_big(&basis, &x)).into_iter().zip(&x) {
        let near = x.to_f64().expect("finite");
        let allowed =
            if x.bits() <= 52 { 0.0 } else { near.abs() * 4.0 * bits.len() as f64 * 2f64.powi(-53) };
        assert!((found - near).abs() <= allowed, "{x} became {found}");
    }
}

#[test]
fn centred_doubles_are_exact_when_small_and_near_when_large() {
    doubles_are_near::<u32>(&[31.0]);
    doubles_are_near::<u32>(&[10.0, 31.0, 20.0, 9.5]);
    doubles_are_near::<u32>(&[31.0, 30.9, 30.8, 30.7, 30.6]);
    doubles_are_near::<u64>(&[61.0]);
    doubles_are_near::<u64>(&[10.0, 61.0, 31.0]);
    doubles_are_near::<u64>(&[61.0, 60.9, 60.8]);
}

fn integers_are_reduced<W: Word>(bits: &[f64]) {
    const LARGEST: i64 = (1 << 62) - 1;
    let mut lottery = Lottery::new(7);
    for n in [2usize, 4, 8, 64] {
        let basis: Basis<W> = basis(n, bits);
        let mut x = vec![LARGEST, -LARGEST, 1 << 61, -(1 << 61), 0, 1, -1];
        x.extend(basis.primes().flat_map(|p| [p as i64, -(p as i64), p as i64 - 1, 1 - p as i64]));
        x.resize_with(n.max(x.len()).next_multiple_of(n), || (lottery.word() >> 2) as i64 - (1 << 61));
        for x in x.chunks_exact(n) {
            let expected: Vec<BigInt> = x.iter().map(|&x| x.into()).collect();
            assert!(same(&from_integers(&basis, x), &from_big(&basis, &expected)), "{x:?}");
        }
    }
}

#[test]
fn integers_up_to_two_to_the_62_are_reduced() {
    integers_are_reduced::<u32>(&[31.0, 16.0, 8.5]);
    integers_are_reduced::<u64>(&[61.0, 31.0, 8.5]);
}

#[test]
fn small_polynomials_have_the_same_residues_in_every_basis() {
    let coefficients: Vec<i8> = (0..16).map(|i| [-128, -21, -1, 0, 1, 21, 127, 2][i % 8]).collect();
    let small = SmallPoly::from_coefficients(coefficients.clone());
    let basis: Basis<u32> = basis(16, &[31.0, 10.0]);
    let expected: Vec<BigInt> = coefficients.iter().map(|&x| x.into()).collect();
    assert!(same(&small.to_poly(&basis), &from_big(&basis, &expected)));
    let mut stream = Seed::from_bytes([3; 32]).stream();
    let ternary = SmallPoly::ternary(4096, &mut stream);
    let count = |v: i8| ternary.coefficients().iter().filter(|&&x| x == v).count();
    let counts = [-1, 0, 1].map(count);
    assert_eq!(counts.iter().sum::<usize>(), 4096);
    // Six standard deviations of a share of a third.
    assert!(counts.iter().all(|&c| (c as f64 - 4096.0 / 3.0).abs() < 6.0 * 30.2), "{counts:?}");
    let error = SmallPoly::error(4096, &mut stream);
    let mean = error.coefficients().iter().map(|&e| f64::from(e)).sum::<f64>() / 4096.0;
    let square = error.coefficients().iter().map(|&e| f64::from(e).powi(2)).sum::<f64>() / 4096.0;
    assert!(mean.abs() < 6.0 * 3.24 / 64.0 && (square - 10.5).abs() < 6.0 * 10.5 * 1.42 / 64.0);
}

#[test]
fn uniform_rows_mean_the_same_in_both_words() {
    let bits = [30.9, 21.0, 10.0];
    let (narrow, wide): (Basis<u32>, Basis<u64>) = (basis(64, &bits), basis(64, &bits));
    let seed = Seed::from_bytes([9; 32]);
    let narrow_rows: Vec<u64> =
        uniform_rows(&narrow, &mut seed.stream()).into_iter().map(u64::from).collect();
    assert_eq!(narrow_rows, uniform_rows(&wide, &mut seed.stream()));
    for (row, p) in narrow_rows.chunks(64).zip(narrow.primes()) {
        assert!(
            row.iter().all(|&x| x < p) && row.iter().any(|&x| x > p / 2) && row.iter().any(|&x| x < p / 2)
        );
    }
}

/// Rows of residues, some of them the largest.
fn row<W: Word>(lottery: &mut Lottery, p: u64, n: usize) -> Vec<W> {
    let value = |r: u64| match r % 8 {
        0 => p - 1,
        1 => 0,
        2 => p / 2,
        3 => p / 2 + 1,
        _ => r % p,
    };
    (0..n).map(|_| W::from_u64(value(lottery.word() >> 1))).collect()
}

fn backends_agree<W: Word>(bits: &[f64]) {
    let mut lottery = Lottery::new(8);
    let all = W::all_kernels();
    assert_eq!(all[0].name(), "scalar");
    for n in [2usize, 8, 32, 256] {
        let basis: Basis<W> = basis(n, bits);
        for (i, p) in basis.primes().enumerate() {
            let (m, ntt) = (basis.modulus(i), basis.row(i).ntt());
            let other = basis.modulus((i + 1) % basis.len());
            let (x, y, z) = (row(&mut lottery, p, n), row(&mut lottery, p, n), row(&mut lottery, p, n));
            let key: Vec<W> = row(&mut lottery, p, 4 * n);
            let integers: Vec<i64> = (0..n).map(|_| (lottery.word() >> 1) as i64 - (1 << 62)).collect();
            let integers: Vec<i64> = integers.into_iter().map(|x| x.max(1 - (1 << 62))).collect();
            let factor = m.shoup(x[0]);
            let permutation = Automorphism::conjugation(n);
            let mut seen: Option<Vec<Vec<W>>> = None;
            for kernels in &all {
                let mut results: Vec<Vec<W>> = Vec::new();
                let mut keep = |start: &[W], change: &dyn Fn(&mut [W])| {
                    let mut out = start.to_vec();
                    change(&mut out);
                    results.push(out);
                };
                keep(&x, &|out| kernels.ntt_forward(ntt, out));
                keep(&x, &|out| kernels.ntt_inverse(ntt, out));
                keep(&x, &|out| kernels.add_assign(m, out, &y));
                keep(&x, &|out| kernels.sub_assign(m, out, &y));
                keep(&x, &|out| kernels.neg_assign(m, out));
                keep(&x, &|out| kernels.mul_assign(m, out, &y));
                keep(&x, &|out| kernels.mul_scalar_assign(m, out, &factor));
                keep(&x, &|out| kernels.mul_scalar_add_assign(m, out, &y, &factor));
                keep(&x, &|out| kernels.sub_mul_scalar_assign(m, out, &y, &factor));
                keep(&x, &|out| kernels.permute(out, &y, permutation.permutation()));
                keep(&x, &|out| kernels.permute_add_assign(m, out, &y, permutation.permutation()));
                keep(&x, &|out| kernels.lift_centered(m, other, out, &y));
                keep(&x, &|out| kernels.reduce_i64(m, out, &integers));
                for accumulate in [false, true] {
                    keep(&x, &|out| kernels.inner_product(m, out, &[&x, &y], &[&y, &z], accumulate));
                    keep(&x, &|out| kernels.key_product(m, out, &mut z.clone(), &[&x, &y], &key, accumulate));
                    keep(&x, &|out| kernels.key_product(m, &mut z.clone(), out, &[&x, &y], &key, accumulate));
                }
                keep(&x, &|out| kernels.crt_overflow(out, &[&x, &y, &z], &[1.0 / p as f64; 3]));
                let small: Vec<W> = x.iter().map(|x| W::from_u64(x.to_u64() % 4)).collect();
                let weights = [factor, m.shoup(y[1]), m.shoup(z[1])];
                keep(&x, &|out| kernels.crt_combine(m, out, &[&x, &y, &z], &weights, &small, &factor));
                match &seen {
                    None => seen = Some(results),
                    Some(first) => {
                        for (op, (a, b)) in first.iter().zip(&results).enumerate() {
                            assert_eq!(a, b, "operation {op}, {}, p = {p}, n = {n}", kernels.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_backend_gives_the_same_words() {
    backends_agree::<u32>(&[31.0, 30.0, 20.0, 13.5]);
    backends_agree::<u64>(&[61.0, 50.0, 31.0, 13.5]);
}

#[test]
fn a_basis_refuses_what_it_cannot_use() {
    let refused = |n: usize, primes: &[u64], said: &str| {
        for error in [Basis::<u32>::new(n, primes).err(), Basis::<u64>::new(n, primes).err()] {
            let error = error.expect("refused");
            assert_eq!(error.code(), "INVALID_ARGUMENT");
            assert!(error.to_string().contains(said), "{error}");
        }
    };
    refused(16, &[97, 193, 97], "prime 97 appears twice");
    refused(16, &[101], "101"); // prime, not 1 modulo 32
    refused(16, &[1057], "1057"); // 1 modulo 32, but 7 * 151
    refused(16, &[16], "16");
    refused(16, &[0], "0");
    refused(16, &[u64::MAX], "18446744073709551615");
    refused(12, &[97], "12");
    refused(0, &[97], "0");
    let wide = primes(16, &[31.5])[0];
    let error = Basis::<u32>::new(16, &[wide]).err().expect("too wide");
    assert!(error.to_string().contains(&wide.to_string()) && error.to_string().contains("2^31"), "{error}");
    assert!(Basis::<u64>::new(16, &[wide]).is_ok());
}

#[test]
fn a_basis_is_the_product_of_its_primes() {
    let whole: Basis<u32> = basis(16, &[30.0, 20.0, 25.0, 10.0]);
    let log: f64 = whole.primes().map(|p| (p as f64).log2()).sum();
    assert!((whole.log2() - log).abs() < 1e-12);
    assert!(whole.prefix(2).concat(&whole.select([2, 3])).same_as(&whole));
    assert!(!whole.select([1, 0]).same_as(&whole.prefix(2)));
    assert!(whole.prefix(2).is_prefix_of(&whole) && whole.is_prefix_of(&whole));
    assert!(!whole.is_prefix_of(&whole.prefix(2)) && !whole.select([1, 0]).is_prefix_of(&whole));
    assert!(whole.prefix(0).is_empty() && whole.prefix(0).log2().abs() < 1e-300);
    // to_f64 of the oracle agrees with the logarithm, so that the noise tests may use either.
    let big = to_f64(&[modulus(&whole)])[0].log2();
    assert!((big - log).abs() < 1e-9 && modulus(&whole).is_odd());
}
