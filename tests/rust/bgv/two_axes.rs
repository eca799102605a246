//! BGV in rings of two axes, whose slots are elements of Galois rings, against arithmetic of these in the clear.

use std::collections::BTreeMap;

use refloat::Error;
use refloat::circuits::linear_transform::{
    IntegerTransform, PlaintextStorage, Step, integer_coeffs_to_slots_stages, integer_slots_to_coeffs_stages,
};
use refloat::ring::Cyclotomic;
use refloat::schemes::bgv::{BgvCiphertext, BgvEncoder, PlaintextSpec, PrimePower};
use refloat::security::SecurityPolicy;
use refloat_tests::bgv::{BgvChain, SAMPLES, log_deviation};
use refloat_tests::chain::spec_of_two_axes;
use refloat_tests::rns::Lottery;

/// Degree, odd part, and p.
const SETS: [((usize, u64), u64); 3] = [((32, 5), 97), ((32, 3), 257), ((128, 17), 113)];

fn chain(place: (usize, u64), prime: u64) -> BgvChain<u64> {
    let spec = spec_of_two_axes(place, &[50.0, 40.0, 41.0, 40.5, 39.5], &[50.0, 50.5], 2);
    assert_eq!(spec.policy, SecurityPolicy::InsecureForTests);
    BgvChain::of(&spec, PlaintextSpec { prime, exponent: 1, largest_exponent: 2 })
}

/// (Z/P)\[T\]/Phi_m'(T); elements are given by their coordinates in T, T^2, ..
struct Slots {
    ring: PrimePower,
    odd: usize,
}

impl Slots {
    fn of(chain: &BgvChain<u64>) -> Self {
        let ring = chain.context.message_modulus().ring();
        Self { ring, odd: chain.context.rlwe().ring().odd_part() as usize }
    }

    fn degree(&self) -> usize {
        self.odd - 1
    }

    fn integer(&self, c: u64) -> Vec<u64> {
        vec![self.ring.neg(self.ring.reduce(c)); self.degree()]
    }

    fn product(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        // By powers of T, T^0 among them, which is minus the sum of the others.
        let mut powers = vec![0; self.odd];
        for (i, &x) in x.iter().enumerate() {
            for (j, &y) in y.iter().enumerate() {
                let at = &mut powers[(i + j + 2) % self.odd];
                *at = self.ring.add(*at, self.ring.mul(x, y));
            }
        }
        powers[1..].iter().map(|&c| self.ring.sub(c, powers[0])).collect()
    }

    fn power(&self, x: &[u64], exponent: u64) -> Vec<u64> {
        (0..exponent).fold(self.integer(1), |power, _| self.product(&power, x))
    }

    /// An operation on every slot.
    fn each(&self, x: &[u64], f: impl Fn(&[u64]) -> Vec<u64>) -> Vec<u64> {
        x.chunks(self.degree()).flat_map(f).collect()
    }

    /// An operation on every pair of slots.
    fn pairs(&self, x: &[u64], y: &[u64], f: impl Fn(&[u64], &[u64]) -> Vec<u64>) -> Vec<u64> {
        let d = self.degree();
        x.chunks(d).zip(y.chunks(d)).flat_map(|(x, y)| f(x, y)).collect()
    }

    fn sum(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        x.iter().zip(y).map(|(&x, &y)| self.ring.add(x, y)).collect()
    }
}

fn random(chain: &BgvChain<u64>, seed: u64) -> Vec<u64> {
    let mut lottery = Lottery::new(seed);
    let p = chain.context.message_modulus().ring().value();
    (0..chain.context.rlwe().n()).map(|_| lottery.word() % p).collect()
}

#[test]
fn slots_are_values_of_the_first_axis() {
    for ((n, odd), p) in SETS {
        let polynomials = Cyclotomic::new(n, odd).expect("a ring");
        for k in 1..=2 {
            let ring = PrimePower::new(p, k).expect("a prime");
            let encoder = BgvEncoder::new(ring, polynomials).expect("it splits");
            let (slots, degree) = (encoder.slots(), encoder.slot_degree());
            assert_eq!((slots, degree), (polynomials.columns(), odd as usize - 1));
            let zeta = ring.root_of_unity(2 * slots as u64).expect("it splits");
            let mut lottery = Lottery::new(k.into());
            let values: Vec<u64> = (0..n).map(|_| lottery.word() % ring.value()).collect();
            let coefficients = encoder.encode(&values).expect("as many as there are");
            assert!(coefficients.iter().all(|c| 2 * c.unsigned_abs() <= ring.value()));
            let order = 2 * slots as u64;
            let turns = std::iter::successors(Some(1), |e| Some(e * 5 % order)).take(slots / 2);
            let exponents: Vec<u64> = turns.clone().chain(turns.map(|e| order - e)).collect();
            for (slot, e) in exponents.into_iter().enumerate() {
                for coordinate in 0..degree {
                    let row = &coefficients[coordinate * slots..(coordinate + 1) * slots];
                    let at = ring.pow(zeta, e);
                    let value = row
                        .iter()
                        .rev()
                        .fold(0, |sum, &c| ring.add(ring.mul(sum, at), ring.reduce_signed(c)));
                    assert_eq!(value, values[slot * degree + coordinate], "{p}^{k}, slot {slot}");
                }
            }
            let residues = coefficients.iter().map(|&c| ring.reduce_signed(c)).collect();
            assert_eq!(encoder.decode(residues).as_ref(), Ok(&values));
            // An integer c has -c in every coordinate.
            let integers = &values[..slots];
            let spread: Vec<u64> = integers.iter().flat_map(|&c| vec![ring.neg(c); degree]).collect();
            assert_eq!(encoder.encode_integers(integers), encoder.encode(&spread));
            for wrong in [vec![0; n + 1], vec![ring.value()]] {
                assert!(matches!(encoder.encode(&wrong), Err(Error::InvalidArgument(_))));
            }
            assert_eq!(encoder.coordinates_of(integers), spread);
            let own = Slots { ring, odd: odd as usize };
            let turned = [&values[degree..], &values[..degree]].concat();
            let product = own.pairs(&values, &turned, |x, y| own.product(x, y));
            assert_eq!(encoder.multiply(&values, &turned).as_ref(), Ok(&product));
            assert!(encoder.encode_integers(&vec![0; slots + 1]).is_err());
            assert!(encoder.decode(vec![0; n - 1]).is_err());
        }
    }
}

#[test]
fn arithmetic_is_that_of_the_slots() {
    for (place, p) in SETS {
        let chain = chain(place, p);
        let (slots, top, evaluator) = (Slots::of(&chain), chain.top(), &chain.evaluator);
        let [x, y] = [1, 2].map(|seed| random(&chain, seed));
        let [cx, cy] = [(&x, 1), (&y, 2)].map(|(x, seed)| chain.encrypt(x, top, seed));
        let is = |found: &BgvCiphertext, expected: Vec<u64>, what: &str| {
            assert_eq!(chain.decrypt(found), expected, "{what}, p = {p}");
        };
        is(&cx, x.clone(), "fresh");
        is(&evaluator.add(&cx, &cy).expect("one set"), slots.sum(&x, &y), "sum");
        let product = evaluator.multiply(&cx, &cy, &chain.relinearization).expect("levels");
        let expected = slots.pairs(&x, &y, |x, y| slots.product(x, y));
        is(&product, expected.clone(), "product");
        // Squares down to the last level.
        let (mut square, mut clear) = (product, expected);
        while square.level() > 0 {
            square = evaluator.multiply(&square, &square, &chain.relinearization).expect("levels");
            clear = slots.each(&clear, |x| slots.product(x, x));
            is(&square, clear.clone(), "square");
        }
        let c = 12345 % p;
        let constant = evaluator.add_constant(&cx, c as i64).expect("room");
        is(&constant, slots.each(&x, |x| slots.sum(x, &slots.integer(c))), "plus an integer");
        let multiple = evaluator.multiply_integer(&cx, -(c as i64)).expect("room");
        is(&multiple, slots.each(&x, |x| slots.product(x, &slots.integer(p - c))), "times an integer");
        let unit = evaluator.multiply_unit(&cx, 5).expect("a unit");
        is(&unit, slots.each(&x, |x| slots.product(x, &slots.integer(5))), "times a unit");
        is(&evaluator.add_plain(&cx, &y).expect("room"), slots.sum(&x, &y), "plus slots");
        let plain = evaluator.multiply_plain(&cx, &y).expect("room");
        is(&plain, slots.pairs(&x, &y, |x, y| slots.product(x, y)), "times slots");
    }
}

#[test]
fn automorphisms_rotate_slots_and_raise_them_to_powers() {
    for (place, p) in SETS {
        let chain = chain(place, p);
        let (slots, context, evaluator) = (Slots::of(&chain), &chain.context, &chain.evaluator);
        let (d, columns) = (slots.degree(), context.slots() / 2);
        let element = |power: usize| context.frobenius_element(power as u32).expect("a set");
        let ring = context.rlwe().ring();
        let turns = [1i64, -2].map(|steps| ring.rotation(steps));
        let keys = chain.keys_of((1..d).map(element).chain(turns).chain([ring.inversion()]));
        let x = random(&chain, 7);
        let cx = chain.encrypt(&x, chain.top(), 7);
        let mut power = x.clone();
        for i in 0..=d {
            let image = match i % d {
                0 => cx.clone(),
                i => evaluator.frobenius(&cx, i as u32, &keys).expect("a key"),
            };
            assert_eq!(chain.decrypt(&image), power, "p = {p}, Frobenius to the power {i}");
            power = slots.each(&power, |x| slots.power(x, p));
        }
        let slot = |i: usize| &x[i * d..(i + 1) * d];
        for steps in [1i64, -2] {
            let turned = |i: usize| {
                i / columns * columns
                    + (i as i64 % columns as i64 + steps).rem_euclid(columns as i64) as usize
            };
            let expected: Vec<u64> = (0..2 * columns).flat_map(|i| slot(turned(i)).to_vec()).collect();
            let found = evaluator.rotate(&cx, steps, &keys).expect("a key");
            assert_eq!(chain.decrypt(&found), expected, "p = {p}, rotation by {steps}");
        }
        let swapped: Vec<u64> =
            (0..2 * columns).flat_map(|i| slot((i + columns) % (2 * columns)).to_vec()).collect();
        assert_eq!(chain.decrypt(&evaluator.swap_rows(&cx, &keys).expect("a key")), swapped, "p = {p}");
        assert!(matches!(evaluator.rotate(&cx, 3, &keys), Err(Error::MissingKey(_))));
    }
}

/// Maps of the first axis act on every coordinate.
#[test]
fn linear_maps_act_on_coordinates() {
    for (place, p) in SETS {
        let chain = chain(place, p);
        let (context, top) = (&chain.context, chain.top());
        let (ring, columns) = (context.message_modulus().ring(), context.slots() / 2);
        let there = integer_slots_to_coeffs_stages(ring, columns, 2).expect("stages");
        let back = integer_coeffs_to_slots_stages(ring, columns, 2).expect("stages");
        let x = random(&chain, 8);
        let (mut found, mut expected) = (chain.encrypt(&x, top, 8), x.clone());
        for (i, matrix) in there.iter().chain(&back).enumerate() {
            let storage = [PlaintextStorage::Evaluated, PlaintextStorage::Coefficients];
            let [map, again] = storage.map(|storage| {
                IntegerTransform::new(context, matrix, found.level(), storage).expect("it fits")
            });
            let element = |step: Step| step.element_in(context.rlwe().ring());
            let keys = chain.keys_of(map.steps().keys().into_iter().map(element));
            let apply =
                |map: &IntegerTransform<u64>| map.apply(&chain.evaluator, &found, &keys).expect("levels");
            let (image, other) = (apply(&map), apply(&again));
            assert!(image.parts().iter().zip(other.parts()).all(|(x, y)| x.data() == y.data()));
            found = image;
            let d = context.slot_degree();
            for coordinate in 0..d {
                let own: Vec<u64> = expected.iter().skip(coordinate).step_by(d).copied().collect();
                let mapped = matrix.apply(&own).expect("all slots");
                expected.iter_mut().skip(coordinate).step_by(d).zip(mapped).for_each(|(x, y)| *x = y);
            }
            assert_eq!(chain.decrypt(&found), expected, "p = {p}, stage {i}");
            let noise = chain.noise(&found);
            assert!(noise.iter().all(|x| x.abs() <= found.noise()), "p = {p}, stage {i}");
        }
        assert_eq!(expected, x);
    }
}

#[test]
fn noise_is_what_the_model_says() {
    let place = (1024, 5);
    let spec = spec_of_two_axes(place, &[50.0, 40.0, 41.0, 40.5, 39.5], &[50.0, 50.5], 2);
    // 1 modulo 512, and 3 modulo 5.
    let one = BgvChain::of(&spec, PlaintextSpec { prime: 18433, exponent: 1, largest_exponent: 1 });
    let model = one.context.noise();
    // For each operation and level: the noise coefficients under all keys, and the estimate.
    let mut found: BTreeMap<(&str, usize), (Vec<f64>, f64)> = BTreeMap::new();
    for key in 0..SAMPLES.div_ceil(place.0) as u8 {
        let chain = BgvChain::seeded(&one.context, key);
        let (context, evaluator) = (&chain.context, &chain.evaluator);
        let mut take = |what, x: &BgvCiphertext| {
            found.entry((what, x.level())).or_insert((Vec::new(), x.noise())).0.extend(chain.noise(x));
        };
        let x = chain.encrypt(&random(&chain, key.into()), chain.top(), 9);
        take("fresh", &x);
        let mut y = x.clone();
        while y.level() > 0 {
            y = evaluator.multiply(&y, &y, &chain.relinearization).expect("levels");
            take("square", &y);
        }
        let keys = chain.keys_of([context.frobenius_element(1).expect("a set")]);
        take("Frobenius", &evaluator.frobenius(&x, 1, &keys).expect("a key"));
        let low = evaluator.rescale(&x).expect("a level");
        take("Frobenius after a division", &evaluator.frobenius(&low, 1, &keys).expect("a key"));
    }
    for ((what, level), (noise, estimate)) in found {
        assert!(noise.len() >= SAMPLES);
        let (found, said) = (log_deviation(&noise), model.deviation(estimate).log2());
        assert!(found <= said + 0.1, "{what}, level {level}: 2^{found:.2}, said to be 2^{said:.2}");
        if what == "square" {
            // What a division leaves: the floor of noise, to 0.3 bit of its law.
            let law = model.deviation(model.rounding()).log2();
            assert!((found - law).abs() < 0.3, "level {level}: 2^{found:.2}, the law says 2^{law:.2}");
        }
    }
}

#[test]
fn other_primes_and_rings_are_refused() {
    let spec = |place| spec_of_two_axes(place, &[50.0, 40.0], &[50.5], 1);
    let check = |place, prime| {
        PlaintextSpec { prime, exponent: 1, largest_exponent: 1 }.check(&spec(place)).map(|_| ())
    };
    assert_eq!(check((32, 5), 97), Ok(()));
    // Not 1 modulo 16; 241 is 1 modulo 5, and 449 is 4: a square.
    for (place, prime) in [((32, 5), 103), ((32, 5), 241), ((32, 5), 449), ((32, 3), 97), ((32, 5), 5)] {
        match check(place, prime) {
            Err(Error::InvalidArgument(text)) => assert!(text.contains("modulo"), "{text}"),
            other => panic!("{place:?}, {prime}: {other:?}"),
        }
    }
    for odd_part in [0, 2, 7, 15, 257] {
        let other = refloat::rlwe::RlweSpec { odd_part, ..spec((32, 5)) };
        assert!(matches!(refloat::rlwe::RlweContext::<u64>::new(&other), Err(Error::InvalidArgument(_))));
    }
    let ckks = refloat::schemes::ckks::CkksContext::<u64>::from_spec(&spec((32, 5)));
    assert!(matches!(ckks.map(|_| ()), Err(Error::InvalidArgument(_))));
    // One fingerprint for each ring.
    let [one, two] =
        [5, 1].map(|odd_part| refloat::rlwe::RlweSpec { odd_part, ..spec((32, 5)) }.fingerprint());
    assert_ne!(one, two);
}
