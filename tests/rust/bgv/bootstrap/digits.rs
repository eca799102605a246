//! How often digits exceed a bound: the digits of ciphertexts against sums of uniform numbers, and both against the probability by which a
//! set is accepted or refused.
//!
//! A digit is the product of a uniform polynomial and the ephemeral secret over q0, rounded. If 1 and the powers of an axis add up to 0,
//! and one of them is not in the basis, a coefficient of the secret adds to a digit two coefficients of the polynomial along this axis, or
//! one at its ends. Along two such axes a coefficient of the polynomial can be added by two of the secret, and so occur twice.

use std::cmp::Ordering;
use std::collections::HashMap;

use refloat::bootstrapping::bgv::{BgvParams, BgvSpec, published_sets};
use refloat::bootstrapping::log2_quotient_exceeds;
use refloat::trace::Counters;
use refloat_tests::bgv::{odd_index, tiny, two_axes};
use refloat_tests::keyed_bgv::KeyedBgv;
use refloat_tests::rns::Lottery;

/// Powers below `order` of a root of unity; one may be `missing` from the basis, and equals minus the sum of the others.
#[derive(Clone, Copy)]
struct Axis {
    order: usize,
    missing: Option<usize>,
}

impl Axis {
    fn basis(self) -> Vec<usize> {
        (0..self.order).filter(|&e| Some(e) != self.missing).collect()
    }

    /// The coefficients, with their signs, whose sum is the coefficient of power `to` of a product with the power `by`. Signs do not
    /// matter where no power is missing, since nothing is added up there.
    fn terms(self, to: usize, by: usize) -> Vec<(usize, i32)> {
        let at = |e: usize| (e + self.order - by) % self.order;
        let taken_off = self.missing.map(|missing| (at(missing), -1));
        [(at(to), 1)].into_iter().chain(taken_off).filter(|&(e, _)| Some(e) != self.missing).collect()
    }
}

/// A ring whose basis consists of the products of the powers of two axes.
#[derive(Clone, Copy)]
struct Ring([Axis; 2]);

impl Ring {
    /// How many coefficients of a uniform polynomial occur once, and how many twice, in a random coefficient of its product with a random
    /// secret. The secret has one coefficient at most for each power of the second axis.
    fn terms(self, weight: u32, lottery: &mut Lottery) -> (usize, usize) {
        let Self([rows, columns]) = self;
        let (all_rows, mut free) = (rows.basis(), columns.basis());
        let mut draw = |from: usize| lottery.word() as usize % from;
        let to = [all_rows[draw(all_rows.len())], free[draw(free.len())]];
        let mut sums = vec![0i32; rows.order * columns.order];
        for _ in 0..weight {
            let (row, column) = (all_rows[draw(all_rows.len())], free.swap_remove(draw(free.len())));
            let sign = if draw(2) == 0 { 1 } else { -1 };
            for (i, a) in rows.terms(to[0], row) {
                for (j, b) in columns.terms(to[1], column) {
                    sums[i * columns.order + j] += sign * a * b;
                }
            }
        }
        let count = |times: i32| sums.iter().filter(|sum| sum.abs() == times).count();
        assert!(sums.iter().all(|sum| sum.abs() <= 2), "none is there more than twice");
        (count(1), count(2))
    }

    /// The probability that a digit exceeds each bound, the mean over `secrets` random secrets and coefficients.
    fn law<const BOUNDS: usize>(
        self,
        weight: u32,
        bounds: [u32; BOUNDS],
        secrets: usize,
        fine: usize,
    ) -> [f64; BOUNDS] {
        let mut lottery = Lottery::new(77);
        let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
        for _ in 0..secrets {
            *numbers.entry(self.terms(weight, &mut lottery)).or_default() += 1;
        }
        let mut sum = [0.0; BOUNDS];
        for (&terms, &times) in &numbers {
            let density = Density::of(terms, fine);
            for (sum, &bound) in sum.iter_mut().zip(&bounds) {
                *sum += density.beyond(f64::from(bound) + 0.5) * times as f64 / secrets as f64;
            }
        }
        sum
    }
}

/// The probabilities of a sum of uniform numbers between -1/2 and 1/2, in steps: each number has `fine` values of the same probability.
struct Density {
    fine: usize,
    values: Vec<f64>,
}

impl Density {
    fn of((once, twice): (usize, usize), fine: usize) -> Self {
        let mut values = vec![1.0];
        for stride in [vec![1; once], vec![2; twice]].concat() {
            let mut sum = vec![0.0; values.len() + stride * (fine - 1)];
            for step in 0..fine {
                sum[stride * step..].iter_mut().zip(&values).for_each(|(sum, x)| *sum += x / fine as f64);
            }
            values = sum;
        }
        Self { fine, values }
    }

    /// The probability of a sum beyond y or -y, plus half of that of a sum of exactly y or -y.
    fn beyond(&self, y: f64) -> f64 {
        let (middle, end) = ((self.values.len() - 1) as f64 / 2.0, y * self.fine as f64);
        let part = |i: usize| match (i as f64 - middle).abs().total_cmp(&end) {
            Ordering::Less => 0.0,
            Ordering::Equal => 0.5,
            Ordering::Greater => 1.0,
        };
        self.values.iter().enumerate().map(|(i, p)| p * part(i)).sum()
    }
}

/// The share of the digits of general bootstraps that exceed each bound, under several keys.
fn observed<const BOUNDS: usize>(
    spec: &BgvSpec,
    bounds: [u32; BOUNDS],
    keys: u8,
    runs: u64,
) -> [f64; BOUNDS] {
    let q0 = spec.chain.levels[0][0] as f64;
    let (mut beyond, mut all) = ([0; BOUNDS], 0);
    for key in 0..keys {
        let set = KeyedBgv::<u64>::seeded(spec, key);
        for i in 0..runs {
            let x = set.encrypt(&set.random(i), 0, i);
            let prepared =
                set.bootstrapper.prepare(&x, &set.keys, &mut Counters::default()).expect("level 0");
            let phase = set.secret.decrypt_prepared(&prepared).expect("our own");
            let digits = phase.reveal_to_key_owner().iter().map(|&x| (x as f64 / q0).round().abs());
            for digit in digits {
                all += 1;
                for (beyond, &bound) in beyond.iter_mut().zip(&bounds) {
                    *beyond += usize::from(digit > f64::from(bound));
                }
            }
        }
    }
    beyond.map(|beyond| beyond as f64 / all as f64)
}

/// The share that is computed for a set.
fn computed(spec: &BgvSpec, bound: u32) -> f64 {
    let params = BgvParams::<u64>::new(&BgvSpec { bound, ..spec.clone() }).expect("a sound set");
    params.log2_failure().exp2() / params.n() as f64
}

#[test]
fn sums_are_those_of_irwin_and_hall() {
    for (weight, bound) in [(8, 1), (16, 2), (32, 4)] {
        let (found, exact) = (
            Density::of((weight, 0), 64).beyond(f64::from(bound) + 0.5),
            log2_quotient_exceeds(weight as u32, bound),
        );
        assert!((found.log2() - exact).abs() < 0.02, "{weight}, {bound}: {found}");
    }
    // Two numbers, one of them twice: beyond 1 are the two corners with |u + 2 v| > 1, an eighth of the square.
    assert!((Density::of((1, 1), 256).beyond(1.0) - 0.125).abs() < 0.01);
}

#[test]
fn digits_of_one_axis_exceed_their_bound_as_often_as_computed() {
    for bound in [2, 3, 4] {
        let set = KeyedBgv::<u64>::new(&tiny(bound));
        let q0 = set.params.spec().chain.levels[0][0] as f64;
        let (mut beyond, mut all) = (0, 0);
        for i in 0..400 {
            let x = set.encrypt(&set.random(i), set.params.levels().input, i);
            let mut work = Counters::default();
            let base = set.bootstrapper.slots_to_coeffs(&x, &set.keys, &mut work).expect("an input");
            let prepared = set.bootstrapper.prepare(&base, &set.keys, &mut work).expect("level 0");
            let phase = set.secret.decrypt_prepared(&prepared).expect("our own");
            let phase = phase.reveal_to_key_owner();
            beyond += phase.iter().filter(|&&x| (x as f64 / q0).round().abs() > f64::from(bound)).count();
            all += phase.len();
        }
        let found = beyond as f64 / all as f64;
        let law = 2f64.powf(set.params.log2_failure()) / set.params.n() as f64;
        let without_noise = 2f64.powf(log2_quotient_exceeds(32, bound));
        assert!(law >= without_noise && law < 1.2 * without_noise);
        assert!(
            (found / law).ln().abs() < 1.2f64.ln(),
            "bound {bound}: {found} of the digits, computed {law}"
        );
    }
}

/// A set counts two uniform numbers for every coefficient of the ephemeral secret, though one pair in d lacks one of them: it computes an
/// upper bound, which is not far above.
#[test]
fn digits_of_two_axes_exceed_their_bound_as_often_as_they_should() {
    let mut spec = two_axes((64, 5), 97, 1.0);
    // So large a weight that bounds are met, one for every power of Y.
    (spec.ephemeral.weight, spec.bound) = (16, 4);
    let bounds = [2, 3, 4];
    let ring = Ring([Axis { order: 5, missing: Some(0) }, Axis { order: 16, missing: None }]);
    let law = ring.law(16, bounds, 4000, 32);
    let found = observed(&spec, bounds, 4, 100);
    for ((bound, law), found) in bounds.into_iter().zip(law).zip(found) {
        let computed = computed(&spec, bound);
        assert!(
            (found / law).ln().abs() < 1.2f64.ln(),
            "bound {bound}: {found} of the digits, should be {law}"
        );
        assert!(
            found < computed && (1.0..2.0).contains(&(computed / law)),
            "bound {bound}: {law}, computed {computed}"
        );
    }
}

/// A set that claims no security counts four different uniform numbers for every coefficient of the ephemeral secret. That is a bound,
/// because what an axis of four powers lacks at its ends outweighs the numbers that occur twice.
#[test]
fn digits_of_an_odd_index_exceed_their_bound_as_often_as_they_should() {
    for (index, prime, [first, second]) in [(215, 8191, [5, 43]), (301, 127, [7, 43])] {
        let mut spec = odd_index((index, prime, 1), true);
        (spec.ephemeral.weight, spec.bound) = (16, 5);
        let bounds = [3, 4, 5];
        let ring = Ring([first, second].map(|order| Axis { order, missing: Some(order - 1) }));
        let law = ring.law(16, bounds, 4000, 32);
        let found = observed(&spec, bounds, 4, 60);
        for ((bound, law), found) in bounds.into_iter().zip(law).zip(found) {
            let computed = computed(&spec, bound);
            assert!(
                (found / law).ln().abs() < 1.2f64.ln(),
                "{index}, bound {bound}: {found} of the digits, should be {law}"
            );
            assert!(
                found < computed && (1.0..3.0).contains(&(computed / law)),
                "{index}, bound {bound}: {law}, computed {computed}"
            );
        }
    }
}

/// A set that claims security is bounded by the worst secret that could be drawn, for which every number occurs twice. The bound on that
/// is Chernoff's, 4.5 bits above. Random secrets are far from it.
#[test]
fn the_bound_of_secure_sets_of_odd_index_is_that_of_the_worst_secret() {
    let set = published_sets().iter().find(|set| set.name == "V-A-128").expect("a set");
    let params = BgvParams::<u64>::new(&(set.spec)()).expect("a sound set");
    let (weight, bound) = (params.spec().ephemeral.weight, params.spec().bound);
    let computed = params.log2_failure() - (params.n() as f64).log2();
    let worst = Density::of((0, 2 * weight as usize), 64).beyond(f64::from(bound) + 0.5).log2();
    assert!((0.0..5.0).contains(&(computed - worst)), "2^{computed} of the digits, at worst 2^{worst}");
    let ring = Ring([97, 523].map(|order| Axis { order, missing: Some(order - 1) }));
    let [random] = ring.law(weight, [bound], 12, 16);
    assert!(random.log2() < worst - 100.0, "2^{} of the digits, at worst 2^{worst}", random.log2());
}
