//! BGV in rings of odd index, whose slots are rectangles of elements of Galois rings, against arithmetic in the clear.

use num_bigint::BigInt;
use refloat::Error;
use refloat::ring::{Cyclotomic, GaloisElement};
use refloat::rlwe::{GaloisKeys, RlweSpec};
use refloat::schemes::bgv::slots::{GaloisRing, Hypercube};
use refloat::schemes::bgv::{BgvEncoder, PlaintextSpec, PrimePower};
use refloat_tests::bgv::{BgvChain, SAMPLES, Textbook, log_deviation};
use refloat_tests::chain::spec_of_odd_index;
use refloat_tests::cyclotomic::Cyclotomic as Oracle;
use refloat_tests::ring::residue;
use refloat_tests::rns::Lottery;

/// Two factors of the index, primes or a product of two of them and a third one; p; exponent; the slots: rows, columns, coordinates; and
/// whether one automorphism turns the columns.
type Set = ([usize; 2], u64, u32, [usize; 3], bool);
const SETS: [Set; 8] = [
    ([5, 17], 2, 3, [4, 2, 8], false),
    ([15, 17], 2, 5, [8, 2, 8], false),
    ([15, 7], 41, 2, [8, 3, 2], true),
    ([3, 43], 257, 2, [2, 21, 2], true),
    ([5, 43], 8191, 1, [4, 6, 7], true),
    ([5, 41], 8191, 1, [4, 10, 4], false),
    ([3, 97], 65537, 1, [2, 16, 6], false),
    ([7, 43], 127, 2, [6, 6, 7], true),
];

fn ring([p, q]: [usize; 2]) -> Cyclotomic {
    Cyclotomic::of_odd_index((p * q) as u64).expect("odd primes")
}

fn chain(([p, q], prime, exponent, ..): Set) -> BgvChain<u64> {
    let spec = spec_of_odd_index((p * q) as u64, &[50.0, 45.0, 46.0, 45.5, 44.5], &[50.0, 50.5], 2);
    BgvChain::of(&spec, PlaintextSpec { prime, exponent, largest_exponent: exponent + 1 })
}

fn random(count: usize, below: u64, seed: u64) -> Vec<u64> {
    let mut lottery = Lottery::new(seed);
    (0..count).map(|_| lottery.word() % below).collect()
}

fn integers(x: &[i64]) -> Vec<BigInt> {
    x.iter().map(|&x| x.into()).collect()
}

fn reduced(x: &[BigInt], by: u64) -> Vec<u64> {
    x.iter().map(|x| residue(x, by)).collect()
}

/// Slots rotated to the left along a dimension.
fn rotated(x: &[u64], [rows, columns, d]: [usize; 3], dimension: usize, steps: usize) -> Vec<u64> {
    // Of 15: two rows of four.
    let width = if rows == 8 { 4 } else { rows };
    let turned = |row: usize| (row / width + steps / width) % (rows / width) * width + (row + steps) % width;
    let mut out = Vec::with_capacity(x.len());
    for slot in 0..rows * columns {
        let (row, column) = (slot / columns, slot % columns);
        let from = if dimension == 0 { (turned(row), column) } else { (row, (column + steps) % columns) };
        out.extend_from_slice(&x[(from.0 * columns + from.1) * d..][..d]);
    }
    out
}

#[test]
fn encoding_is_an_isomorphism_of_rings() {
    for (place @ [p, q], prime, exponent, shape @ [rows, columns, d], good) in SETS {
        let (polynomials, oracle) = (ring(place), Oracle::of_odd_index(p, q));
        let p_k = PrimePower::new(prime, exponent).expect("a prime");
        let encoder = BgvEncoder::new(p_k, polynomials).expect("slots");
        let cube = encoder.hypercube().expect("an odd index");
        assert_eq!((cube.dimensions(), cube.slot_degree()), ([rows, columns], d));
        assert_eq!((cube.is_good(0), cube.is_good(1)), (true, good), "{place:?}");
        let n = polynomials.degree();
        assert_eq!((n, encoder.slots(), encoder.slot_degree()), (rows * columns * d, rows * columns, d));
        let [x, y] = [1, 2].map(|seed| random(n, p_k.value(), seed));
        let [a, b] = [&x, &y].map(|x| encoder.encode(x).expect("values that fit"));
        let unsigned = |x: &[i64]| reduced(&integers(x), p_k.value());
        assert_eq!(encoder.decode(unsigned(&a)).as_ref(), Ok(&x));
        let product = oracle.product_in_basis(&integers(&a), &integers(&b));
        assert_eq!(encoder.decode(reduced(&product, p_k.value())), encoder.multiply(&x, &y), "{place:?}");
        // X_2 is zeta in the first column, and integers are constants.
        let mut monomial = vec![0; n];
        monomial[1] = 1;
        let values = encoder.decode(monomial).expect("as many as the degree");
        let zeta: Vec<u64> = (0..d).map(|i| u64::from(i == 1)).collect();
        assert!(values.chunks(columns * d).all(|row| row[..d] == zeta));
        let constant = encoder.encode_integers(&vec![5; rows * columns]).expect("integers");
        assert_eq!(constant[0], p_k.centered(5));
        assert!(constant[1..].iter().all(|&c| c == 0));
        // Automorphisms are rotations, and powers modulo p.
        let powers = oracle.to_powers(&integers(&a));
        let image = |g: GaloisElement| {
            let image = oracle.from_powers(&oracle.automorphism(&powers, g.value() as usize));
            encoder.decode(reduced(&image, p_k.value())).expect("as many as the degree")
        };
        for steps in 0..rows {
            assert_eq!(image(cube.rotation(0, steps as i64)), rotated(&x, shape, 0, steps), "{place:?}");
        }
        for steps in [0, 1, columns / 2, columns - 1] {
            let (found, expected) = (image(cube.rotation(1, steps as i64)), rotated(&x, shape, 1, steps));
            let same = found.chunks(d).zip(expected.chunks(d)).enumerate().filter(|(_, (a, b))| a == b);
            let wanted = (0..rows * columns).filter(|slot| good || slot % columns + steps < columns);
            assert_eq!(
                same.map(|(slot, _)| slot).collect::<Vec<_>>(),
                wanted.collect::<Vec<_>>(),
                "{place:?}"
            );
        }
        let galois = GaloisRing::new(p_k, q as u64).expect("a ring");
        for i in 0..d {
            let expected: Vec<u64> = x.chunks(d).flat_map(|slot| galois.frobenius(slot, i)).collect();
            assert_eq!(image(cube.frobenius(i)), expected, "{place:?}, power {i}");
        }
    }
}

#[test]
fn ciphertexts_compute_on_slots() {
    for set @ (_, prime, exponent, shape @ [_, columns, d], good) in SETS {
        let chain = chain(set);
        let (context, evaluator) = (&chain.context, &chain.evaluator);
        let (cube, top) = (context.hypercube().expect("an odd index"), chain.top());
        let (n, modulus) = (context.rlwe().n(), prime.pow(exponent));
        let encoder = context.message_modulus().encoder();
        let [x, y] = [3, 4].map(|seed| random(n, modulus, seed));
        let [a, b] = [(&x, 1), (&y, 2)].map(|(x, seed)| chain.encrypt(x, top, seed));
        assert_eq!(chain.decrypt(&a), x);
        let sum: Vec<u64> = x.iter().zip(&y).map(|(x, y)| (x + y) % modulus).collect();
        assert_eq!(chain.decrypt(&evaluator.add(&a, &b).expect("one set")), sum);
        assert_eq!(chain.decrypt(&evaluator.add_plain(&a, &y).expect("slots")), sum);
        let product = encoder.multiply(&x, &y).expect("whole slots");
        let multiplied = evaluator.multiply(&a, &b, &chain.relinearization).expect("a level");
        assert_eq!(chain.decrypt(&multiplied), product);
        assert_eq!(chain.decrypt(&evaluator.multiply_plain(&a, &y).expect("slots")), product);
        let constant = evaluator.add_constant(&multiplied, -7).expect("room");
        let seven = encoder.coordinates_of(&vec![7; context.slots()]);
        let less: Vec<u64> = product.iter().zip(&seven).map(|(x, y)| (x + modulus - y) % modulus).collect();
        assert_eq!(chain.decrypt(&constant), less);
        // A square of a square, and its coefficients.
        let square = |x: &_| evaluator.multiply(x, x, &chain.relinearization).expect("a level");
        let clear = |x: &Vec<u64>| encoder.multiply(x, x).expect("whole slots");
        assert_eq!(chain.decrypt(&square(&square(&multiplied))), clear(&clear(&product)));
        // Rotations and powers of the Frobenius automorphism.
        let wrapped = [cube.rotation(1, 2), cube.rotation(1, 2 - columns as i64)];
        let elements = [
            cube.rotation(0, 1),
            cube.rotation(0, cube.places(0, -1)),
            context.frobenius_element(1).expect("odd"),
        ];
        let keys: GaloisKeys<u64> = chain.keys_of(elements.into_iter().chain(wrapped));
        for (dimension, steps) in [(0, 1), (1, 2), (1, 2 - columns as i64)] {
            let found = evaluator.rotate_dimension(&multiplied, dimension, steps, &keys).expect("a key");
            let forward = if dimension == 0 { 1 } else { 2 };
            assert_eq!(chain.decrypt(&found), rotated(&product, shape, dimension, forward), "{set:?}");
        }
        let there = evaluator.rotate_dimension(&a, 0, 1, &keys).expect("a key");
        let back = evaluator.rotate_dimension(&there, 0, -1, &keys).expect("a key");
        assert_eq!(chain.decrypt(&back), x, "{set:?}");
        assert_eq!(evaluator.rotate_dimension(&a, 1, 0, &keys).map(|x| chain.decrypt(&x)), Ok(x.clone()));
        let galois = GaloisRing::new(encoder.ring(), (shape[1] * d + 1) as u64).expect("a ring");
        let image: Vec<u64> = x.chunks(d).flat_map(|slot| galois.frobenius(slot, 1)).collect();
        assert_eq!(chain.decrypt(&evaluator.frobenius(&a, 1, &keys).expect("a key")), image, "good: {good}");
        for refused in [
            evaluator.rotate(&a, 1, &keys),
            evaluator.swap_rows(&a, &keys),
            evaluator.rotate_dimension(&a, 2, 1, &keys),
        ] {
            assert!(matches!(refused, Err(Error::InvalidArgument(_))));
        }
    }
}

/// Ciphertexts times P are those of the textbook, coefficient by coefficient in the powerful basis.
#[test]
fn ciphertexts_are_those_of_the_textbook() {
    for set @ ([p, q], prime, exponent, ..) in SETS {
        let (chain, oracle) = (chain(set), Oracle::of_odd_index(p, q));
        let times = |x: &[BigInt], y: &[BigInt]| oracle.product_in_basis(x, y);
        let (context, evaluator, modulus) = (&chain.context, &chain.evaluator, prime.pow(exponent));
        let (n, encoder) = (context.rlwe().n(), context.message_modulus().encoder());
        let [x, y] = [5, 6].map(|seed| random(n, modulus, seed));
        let [a, b] = [(&x, 3), (&y, 4)].map(|(x, seed)| chain.encrypt(x, 2, seed));
        let [textbook_a, textbook_b] = [&a, &b].map(Textbook::from_scaled);
        let tensor = evaluator.tensor(&a, &b).expect("two components");
        assert_eq!(Textbook::from_scaled(&tensor), textbook_a.multiply_in(&textbook_b, times));
        let rescaled = evaluator.rescale(&a).expect("a level");
        let divisor = BigInt::from(context.rlwe().spec().levels[2][0]);
        assert_eq!(Textbook::from_scaled(&rescaled), textbook_a.switch(&divisor));
        let secret: Vec<BigInt> = chain.secret.small().coefficients().iter().map(|&c| c.into()).collect();
        let phase = Textbook::from_scaled(&rescaled).phase_in(&secret, times);
        let f = rescaled.factor().value();
        let message: Vec<BigInt> =
            encoder.encode(&x).expect("values that fit").iter().map(|&c| BigInt::from(c) * f).collect();
        assert_eq!(reduced(&phase, modulus), reduced(&message, modulus));
    }
}

/// How many ciphertexts have their noise compared with a law, and how many of them one key has.
const CIPHERTEXTS: [u64; 2] = [1000, 5];

/// The deviation of coefficients. Those of one ciphertext depend on each other here, because the same number is subtracted from all along
/// an axis. So there are many ciphertexts, and many keys, as the length of a secret varies in rings with an axis this short.
#[test]
fn noise_is_as_estimated() {
    for set @ (_, prime, exponent, ..) in SETS {
        let one = chain(set);
        let (model, n) = (one.context.noise(), one.context.rlwe().n());
        let floor = model.deviation(model.rounding()).log2();
        let mut found = [(); 3].map(|()| (Vec::new(), 0.0));
        let [all, each] = CIPHERTEXTS;
        for key in 0..all / each {
            let chain = BgvChain::seeded(&one.context, key as u8);
            for i in 0..each {
                let message = random(n, prime.pow(exponent), each * key + i);
                let fresh = chain.encrypt(&message, chain.top(), i);
                let rescaled = chain.evaluator.rescale(&fresh).expect("a level");
                let product =
                    chain.evaluator.multiply(&fresh, &fresh, &chain.relinearization).expect("a level");
                for ((noise, said), x) in found.iter_mut().zip([&fresh, &rescaled, &product]) {
                    noise.extend(chain.noise(x));
                    *said = model.deviation(x.noise()).log2();
                }
            }
        }
        for (what, (noise, said)) in ["fresh", "rescaled", "product"].into_iter().zip(found) {
            assert!(noise.len() >= SAMPLES);
            let found = log_deviation(&noise);
            assert!(found < said + 0.1, "{what} of {set:?}: 2^{found:.2}, said to be 2^{said:.2}");
            // Fresh noise counts the worst plaintext; a product has some of its operands' noise besides.
            let near = match what {
                "fresh" => f64::INFINITY,
                "rescaled" => 0.15,
                _ => 0.3,
            };
            assert!(
                (found - floor).abs() < near,
                "{what} of {set:?}: 2^{found:.2}, the law says 2^{floor:.2}"
            );
        }
    }
}

#[test]
fn sets_that_do_not_fit_are_refused() {
    let spec = |index| spec_of_odd_index(index, &[50.0, 45.0], &[50.0], 1);
    let refused = |spec: &RlweSpec, prime| {
        let plaintexts = PlaintextSpec { prime, exponent: 1, largest_exponent: 1 };
        assert!(matches!(plaintexts.check(spec), Err(Error::InvalidArgument(_))), "{prime}");
    };
    // 43 divides the index, 431 is 1 modulo 43, and the order of 257 modulo 5 is 4 and modulo 43 is 2.
    for prime in [43, 431, 257] {
        refused(&spec(215), prime);
    }
    let other = RlweSpec { n: 192, ..spec(215) };
    refused(&other, 8191);
    assert!(Hypercube::new(Cyclotomic::new(32, 5).expect("a ring"), 97).is_err());
    let [one, two] = [215, 129].map(|index| RlweSpec { odd_part: index, ..spec(215) }.fingerprint());
    assert_ne!(one, two);
}
