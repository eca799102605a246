//! The identities of SHIP on plaintexts, exhaustively at small ring degrees, and the stored vectors
//! against the same model.

use num_complex::Complex64;
use refloat_tests::embedding;
use refloat_tests::ship::{
    Phase, Slots, SparseSecret, rotate_right, sine_model, slope_correction, slots_to_coeffs,
    slots_to_coeffs_by_diagonals,
};
use serde_json::Value;

/// A small reproducible generator: the tests need variety, not randomness.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn phase(&mut self, n: usize, q0: u64) -> Phase {
        let mut row = || (0..n).map(|_| self.below(q0)).collect();
        Phase { q0, a: row(), b: row() }
    }
}

/// N = 16, three windows of 4 that do not meet; the first crosses N.
fn tiny() -> SparseSecret {
    SparseSecret {
        n: 16,
        window: 4,
        theta: 2,
        radices: vec![2],
        positions: vec![0; 3],
        negative: vec![false; 3],
    }
}

/// N = 64, five windows of 18 that overlap (12.8 apart), two mux steps.
fn small() -> SparseSecret {
    SparseSecret {
        n: 64,
        window: 18,
        theta: 3,
        radices: vec![3, 2],
        positions: vec![0; 5],
        negative: vec![false; 5],
    }
}

fn assert_close(found: &[Complex64], expected: &[Complex64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).norm() < tolerance, "{what}, slot {i}: {x} is not {y}");
    }
}

/// `w^(b_i) prod_k F_(i - J_k) = w^((b + a s')_i)` in every coefficient.
fn assert_product_is_the_phase(phase: &Phase, secret: &SparseSecret) {
    let message = phase.decrypt(secret);
    for (i, &m) in message.iter().enumerate() {
        let product = (0..secret.weight()).fold(phase.root(phase.b[i]), |product, k| {
            product * phase.sequence(i + 2 * secret.n - secret.exponent(k))
        });
        let expected = phase.root(m.rem_euclid(phase.q0 as i64) as u64);
        assert!((product - expected).norm() < 1e-12, "coefficient {i} of {secret:?}");
    }
}

#[test]
fn the_product_of_the_factors_is_the_phase() {
    let mut rng = Lcg(1);
    // Every position of every factor with every choice of signs.
    for choice in 0..4usize.pow(3) {
        for signs in 0..8 {
            let secret = SparseSecret {
                positions: (0..3).map(|k| choice / 4usize.pow(k) % 4).collect(),
                negative: (0..3).map(|k| signs >> k & 1 == 1).collect(),
                ..tiny()
            };
            assert_product_is_the_phase(&rng.phase(16, 193), &secret);
        }
    }
    for _ in 0..500 {
        let secret = SparseSecret {
            positions: (0..5).map(|_| rng.below(18) as usize).collect(),
            negative: (0..5).map(|_| rng.below(2) == 1).collect(),
            ..small()
        };
        assert_product_is_the_phase(&rng.phase(64, 4_882_433), &secret);
    }
}

/// For one factor: the masks part the slots; the masked, rotated quarters are the window before its
/// rotation; the mux steps bring it to `F_(i - J)`. In both halves.
fn assert_factor_is_its_window(phase: &Phase, secret: &SparseSecret, k: usize) {
    let masks = secret.masks(k);
    for i in 0..secret.slots() {
        assert_eq!(masks.iter().filter(|mask| mask[i]).count(), 1, "slot {i} of {secret:?}");
    }
    assert!(masks.iter().filter(|mask| mask.contains(&true)).count() <= 2);
    for half in 0..2 {
        let column = phase.column(secret, k, half);
        let indexed: Slots =
            (0..secret.slots()).map(|i| phase.sequence(secret.column_index(k, half, i))).collect();
        assert_close(&column, &indexed, 1e-15, "column");
        let (r0, digits) = secret.digits(k);
        let total: usize = digits.iter().enumerate().map(|(step, &d)| secret.mux_rotation(k, step, d)).sum();
        assert_eq!(total, secret.offset(k) + secret.positions[k] - r0, "rotations add up");
        let steps = phase.mux_steps(secret, k, half);
        assert_close(steps.last().unwrap(), &phase.factor(secret, k, half), 1e-15, "last mux step");
        assert_close(&rotate_right(&column, total), &phase.factor(secret, k, half), 1e-15, "one rotation");
    }
}

#[test]
fn column_and_mux_give_the_window_for_every_secret() {
    let mut rng = Lcg(2);
    for base in [tiny(), small()] {
        let phase = rng.phase(base.n, 4_882_433);
        for k in 0..base.weight() {
            for position in 0..base.window {
                for negative in [false, true] {
                    let mut secret = base.clone();
                    secret.positions[k] = position;
                    secret.negative[k] = negative;
                    assert_factor_is_its_window(&phase, &secret, k);
                }
            }
        }
    }
}

#[test]
fn windows_cross_the_ring_degree_with_both_signs() {
    // The exhaustion above is worth nothing unless the wrapped case is in it.
    for base in [tiny(), small()] {
        let mut secret = base.clone();
        secret.positions[0] = base.window - 1;
        for negative in [false, true] {
            secret.negative[0] = negative;
            let at = base.window - 1 - base.window / 2;
            let expected = if negative { 1 } else { -1 };
            assert_eq!(secret.coefficients()[at], expected, "X^(N + {at}) is -X^{at}");
        }
    }
}

#[test]
fn conjugates_add_up_to_the_sine() {
    let mut rng = Lcg(3);
    let secret = SparseSecret { positions: vec![3, 0, 2], negative: vec![true, false, true], ..tiny() };
    let phase = rng.phase(16, 65537);
    let (q0, gamma) = (65537.0, 17.36);
    for half in 0..2 {
        let root = phase.tree(&secret, gamma, half).pop().unwrap().pop().unwrap();
        for (i, z) in root.iter().enumerate() {
            let m = phase.decrypt(&secret)[half * 8 + i] as f64 * gamma / q0;
            assert!((2.0 * z.re - sine_model(m, gamma, 0.0)).abs() < 1e-11);
        }
    }
}

#[test]
fn the_slope_correction_quarters_the_error() {
    for gamma in [17.36, 64.0] {
        let kappa = (2.0 * core::f64::consts::PI / gamma).powi(2) / 6.0;
        let worst = |eta: f64| {
            (0..=1000)
                .map(|i| f64::from(i) / 1000.0)
                .map(|m| (sine_model(m, gamma, eta) - m).abs())
                .fold(0.0, f64::max)
        };
        assert!((worst(0.0) / kappa - 1.0).abs() < 0.02, "{}", worst(0.0) / kappa);
        assert!((worst(slope_correction(gamma)) / (kappa / 4.0) - 1.0).abs() < 0.06);
    }
}

#[test]
fn slots_to_coeffs_puts_slots_into_coefficients() {
    let mut rng = Lcg(4);
    for s in [8, 32] {
        let mut real = || rng.below(2001) as f64 / 1000.0 - 1.0;
        let z: Slots = (0..s).map(|_| Complex64::new(real(), real())).collect();
        let out = slots_to_coeffs(&z);
        let coefficients = embedding::coefficients(&out);
        for (j, z) in z.iter().enumerate() {
            assert!((coefficients[j] - z.re).abs() < 1e-12 && (coefficients[s + j] - z.im).abs() < 1e-12);
        }
        for bs in [1, 2, 4, s] {
            assert_close(&slots_to_coeffs_by_diagonals(&z, bs), &out, 1e-12, "diagonals");
        }
    }
}

fn vectors() -> Value {
    let text = include_str!("../../vectors/ship-plaintext.json");
    serde_json::from_str(text).expect("the vectors are JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn integers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
}

fn naturals<T: TryFrom<i64>>(value: &Value) -> Vec<T> {
    integers(value).into_iter().map(|x| T::try_from(x).ok().expect("not negative")).collect()
}

fn slots(value: &Value) -> Slots {
    let pair = |z: &Value| Complex64::new(z[0].as_f64().unwrap(), z[1].as_f64().unwrap());
    value.as_array().unwrap().iter().map(pair).collect()
}

fn natural(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// Vectors are rounded to nine decimals.
const ROUNDED: f64 = 2e-9;

#[test]
fn the_stored_vectors_agree_with_the_model() {
    let v = vectors();
    let n = natural(&v["ring_degree"]);
    assert_eq!(naturals::<usize>(&v["slot_exponents"]), embedding::slot_exponents(n));
    let secret = SparseSecret {
        n,
        window: natural(&v["window"]),
        theta: natural(&v["theta"]),
        radices: naturals(&v["radices"]),
        positions: naturals(&v["secret"]["positions"]),
        negative: integers(&v["secret"]["signs"]).into_iter().map(|sign| sign < 0).collect(),
    };
    assert_eq!(secret.weight(), natural(&v["weight"]));
    let h = secret.weight();
    assert_eq!(
        (0..h).map(|k| secret.offset(k)).collect::<Vec<_>>(),
        naturals::<usize>(&v["secret"]["offsets"])
    );
    assert_eq!(
        (0..h).map(|k| secret.exponent(k)).collect::<Vec<_>>(),
        naturals::<usize>(&v["secret"]["exponents"])
    );
    assert_eq!(secret.coefficients(), integers(&v["secret"]["coefficients"]));

    let phase =
        Phase { q0: v["q0"].as_u64().unwrap(), a: naturals(&v["phase"]["a"]), b: naturals(&v["phase"]["b"]) };
    let message = phase.decrypt(&secret);
    assert_eq!(message, integers(&v["phase"]["message"]));
    let gamma = v["gamma"].as_f64().unwrap();
    let d0 = v["d0"].as_f64().unwrap();
    assert!((gamma - phase.q0 as f64 / d0).abs() < 1e-12);

    for (q, quarter) in phase.quarters().iter().enumerate() {
        assert_close(quarter, &slots(&v["quarters"][q]), ROUNDED, "quarter");
    }
    for k in 0..h {
        let stored = &v["factors"][k];
        let (r0, digits) = secret.digits(k);
        assert_eq!((r0, digits[0]), (natural(&stored["r0"]), natural(&stored["r1"])));
        for (q, mask) in secret.masks(k).iter().enumerate() {
            let bits: Vec<i64> = mask.iter().map(|&bit| i64::from(bit)).collect();
            assert_eq!(bits, integers(&stored["masks"][q]), "mask {q} of factor {k}");
        }
        for half in 0..2 {
            let stored = &stored["halves"][half];
            assert_close(&phase.column(&secret, k, half), &slots(&stored["column"]), ROUNDED, "column");
            let steps = phase.mux_steps(&secret, k, half);
            assert_eq!(steps.len(), stored["mux_steps"].as_array().unwrap().len());
            for (step, found) in steps.iter().enumerate() {
                assert_close(found, &slots(&stored["mux_steps"][step]), ROUNDED, "mux step");
            }
        }
    }
    for half in 0..2 {
        let stored = &v["halves"][half];
        assert_close(&phase.known_leaf(gamma, half), &slots(&stored["known_leaf"]), ROUNDED, "known leaf");
        let levels = phase.tree(&secret, gamma, half);
        assert_eq!(levels.len(), stored["tree_levels"].as_array().unwrap().len());
        for (level, nodes) in levels.iter().enumerate() {
            for (node, found) in nodes.iter().enumerate() {
                let expected = slots(&stored["tree_levels"][level][node]);
                assert_close(found, &expected, 2.0 * ROUNDED, "tree node");
            }
        }
        let root = &levels.last().unwrap()[0];
        let result = numbers(&stored["result"]);
        let over_d0 = numbers(&stored["message_over_d0"]);
        for i in 0..secret.slots() {
            let m = message[half * secret.slots() + i] as f64 / d0;
            assert!((over_d0[i] - m).abs() < ROUNDED);
            assert!((result[i] - 2.0 * root[i].re).abs() < 2.0 * ROUNDED);
            assert!((result[i] - sine_model(m, gamma, 0.0)).abs() < 2.0 * ROUNDED);
        }
    }
    let stored = &v["slots_to_coeffs"];
    let input = slots(&stored["input_slots"]);
    let output = slots(&stored["output_slots"]);
    assert_close(&slots_to_coeffs(&input), &output, 5e-9, "slots to coefficients");
    let coefficients = numbers(&stored["output_coefficients"]);
    assert_close(&embedding::slots(&coefficients), &output, 5e-9, "evaluation");
}
