//! BFV: textbook ciphertexts over big integers, taken in and given back.

use num_bigint::BigInt;
use refloat::Error;
use refloat::ring::{Eval, Poly};
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::bgv::BgvChain;
use refloat_tests::chain::KEY_ID;
use refloat_tests::ring::{centred, negacyclic_product, poly, product, round_div};
use refloat_tests::rns::{Lottery, from_big, to_big};

const N: usize = 64;

/// Messages modulo 257^2.
fn chain() -> BgvChain<u64> {
    BgvChain::new(N, (&[50.0, 40.0, 41.0, 40.5, 39.5], &[50.0, 50.5], 2), (257, 2, 2))
}

fn secret(chain: &BgvChain<u64>) -> Vec<BigInt> {
    chain.secret.small().coefficients().iter().map(|&s| s.into()).collect()
}

fn modulus(chain: &BgvChain<u64>, level: usize) -> BigInt {
    product(&chain.context.rlwe().q(level).primes().collect::<Vec<_>>())
}

/// Textbook encryption: c_0 = round(Q m/P) + e - c_1 s, with errors of at most 20.
fn bfv_encrypt(
    chain: &BgvChain<u64>,
    slots: &[u64],
    level: usize,
    lottery: &mut Lottery,
) -> [Vec<BigInt>; 2] {
    let q = modulus(chain, level);
    let ring = chain.context.message_modulus().ring();
    let m = poly(&chain.context.message_modulus().encoder().encode(slots).expect("reduced"));
    let c1: Vec<BigInt> = (0..N).map(|_| lottery.centred(&q)).collect();
    let product = negacyclic_product(&c1, &secret(chain));
    let p = BigInt::from(ring.value());
    let c0 = m.iter().zip(&product).map(|(m, product)| {
        let error = BigInt::from(lottery.word() % 41) - 20;
        centred(&(round_div(&(m * &q), &p) + error - product), &q)
    });
    [c0.collect(), c1]
}

/// Textbook decryption: round(P/Q (c_0 + c_1 s)) modulo P, and the largest noise of a coefficient.
fn bfv_decrypt(chain: &BgvChain<u64>, level: usize, parts: [Vec<BigInt>; 2]) -> (Vec<u64>, BigInt) {
    let (q, p) = (modulus(chain, level), BigInt::from(chain.context.message_modulus().ring().value()));
    let [c0, c1] = parts;
    let phase = negacyclic_product(&c1, &secret(chain));
    let mut most = BigInt::ZERO;
    let coefficients: Vec<u64> = c0
        .iter()
        .zip(phase)
        .map(|(c0, product)| {
            let phase = centred(&(c0 + product), &q);
            let m = round_div(&(&phase * &p), &q);
            let noise = &phase - round_div(&(&m * &q), &p);
            most = most.clone().max(noise.magnitude().clone().into());
            let m = centred(&m, &p);
            u64::try_from(if m < BigInt::ZERO { m + &p } else { m }).expect("below P")
        })
        .collect();
    (chain.context.message_modulus().encoder().decode(coefficients).expect("reduced"), most)
}

fn taken_in(chain: &BgvChain<u64>, level: usize, parts: &[Vec<BigInt>; 2]) -> BgvCiphertext<u64> {
    let basis = chain.context.rlwe().q(level);
    let parts = parts.each_ref().map(|part| from_big(basis, part).into_eval());
    chain
        .context
        .from_bfv(KEY_ID, (level, 2), parts, chain.context.noise().fresh())
        .expect("words of this level")
}

fn given_back(x: &BgvCiphertext<u64>) -> [Vec<BigInt>; 2] {
    let [c0, c1] = x.parts() else { panic!("two components") };
    [c0, c1].map(|part| to_big(&part.clone().into_coeff()))
}

fn random(lottery: &mut Lottery, p: u64) -> Vec<u64> {
    (0..N).map(|_| lottery.word() % p).collect()
}

#[test]
fn textbook_ciphertexts_are_taken_in_word_for_word() {
    let chain = chain();
    let (bgv, ring) = (&chain.evaluator, chain.context.message_modulus().ring());
    let mut lottery = Lottery::new(40);
    for level in 0..=chain.top() {
        let corners = [
            vec![0; N],
            vec![ring.value() - 1; N],
            vec![ring.value() / 2; N],
            random(&mut lottery, ring.value()),
        ];
        for m in corners {
            let parts = bfv_encrypt(&chain, &m, level, &mut lottery);
            assert_eq!(bfv_decrypt(&chain, level, parts.clone()).0, m, "the textbook's own");
            let x = taken_in(&chain, level, &parts);
            assert_eq!((chain.decrypt(&x), given_back(&x)), (m, parts), "level {level}");
            // It is a ciphertext of BFV already.
            assert_eq!(given_back(&bgv.to_bfv(&x).expect("one")), given_back(&x));
        }
    }
    // Arithmetic goes on from there.
    let level = chain.top();
    let [a, b] = [random(&mut lottery, ring.value()), random(&mut lottery, ring.value())];
    let [x, y] = [&a, &b].map(|m| taken_in(&chain, level, &bfv_encrypt(&chain, m, level, &mut lottery)));
    let product = bgv.multiply(&x, &y, &chain.relinearization).expect("room");
    let wanted: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| ring.mul(a, b)).collect();
    assert_eq!(chain.decrypt(&product), wanted);
    let sum: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| ring.add(a, b)).collect();
    assert_eq!(chain.decrypt(&bgv.add(&x, &y).expect("one factor")), sum);
}

#[test]
fn the_textbook_decrypts_what_is_given_back() {
    let chain = chain();
    let (bgv, ring) = (&chain.evaluator, chain.context.message_modulus().ring());
    let mut lottery = Lottery::new(41);
    let m = random(&mut lottery, ring.value());
    let fresh = chain.encrypt(&m, chain.top(), 1);
    let square: Vec<u64> = m.iter().map(|&m| ring.mul(m, m)).collect();
    let squared = bgv.multiply(&fresh, &fresh, &chain.relinearization).expect("room");
    for (x, wanted) in [(&fresh, &m), (&squared, &square)] {
        for level in 1..=x.level() {
            let x = bgv.drop_to_level(x, level).expect("below");
            let there = bgv.to_bfv(&x).expect("a level");
            assert_eq!(there.level(), level - 1);
            assert_eq!(there.factor(), chain.context.bfv_factor(level - 1, 2).expect("a level"));
            let (found, noise) = bfv_decrypt(&chain, level - 1, given_back(&there));
            assert_eq!(&found, wanted, "level {level}");
            // What the ciphertext says of its noise holds in BFV too, up to the rounding of Q m/P.
            assert!(noise <= BigInt::from(there.noise().ceil() as u64 + 1), "noise of {noise}");
            assert_eq!(&chain.decrypt(&there), wanted);
        }
    }
    // The factor of the level below needs no product.
    let below = chain.context.bfv_factor(2, 2).expect("a level");
    let x = bgv.at_factor(&chain.encrypt(&m, 4, 2), below).expect("a level");
    let there = bgv.to_bfv(&x).expect("a level");
    assert_eq!((x.level(), there.level()), (3, 2));
    assert_eq!(bfv_decrypt(&chain, 2, given_back(&there)).0, m);
}

#[test]
fn what_is_no_ciphertext_of_the_set_is_refused() {
    let chain = chain();
    let (bgv, rlwe) = (&chain.evaluator, chain.context.rlwe());
    let zeros = |level: usize| [(); 2].map(|()| Poly::<u64, Eval>::zero(rlwe.q(level)));
    let from = |shape, parts, noise| chain.context.from_bfv(KEY_ID, shape, parts, noise);
    assert!(matches!(from((2, 2), zeros(1), 1.0), Err(Error::ParamsMismatch(_))));
    assert!(matches!(from((9, 2), zeros(1), 1.0), Err(Error::LevelMismatch(_))));
    assert!(matches!(from((1, 3), zeros(1), 1.0), Err(Error::InvalidArgument(_))));
    for noise in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(matches!(from((1, 2), zeros(1), noise), Err(Error::InvalidArgument(_))));
    }
    assert!(matches!(from((1, 2), zeros(1), 2f64.powi(80)), Err(Error::Limit(_))));
    // At the lowest level there is no level to spend.
    let low = chain.encrypt(&[1, 2], 0, 3);
    assert_ne!(low.factor(), chain.context.bfv_factor(0, 2).expect("a level"));
    assert!(matches!(bgv.to_bfv(&low), Err(Error::LevelMismatch(_))));
}
