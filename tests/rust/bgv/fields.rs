//! Slots that are elements of the field of 65537^4: chains of general bootstraps, what is computed between them, programs.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvParams, BgvPreset};
use refloat::circuits::polynomial::{Plan, Polynomial, PolynomialBasis};
use refloat::circuits::program::{Bootstraps::WhereNeeded, Builder, Program};
use refloat::schemes::bgv::{BgvCiphertext, BgvEncoder};
use refloat::security;
use refloat_tests::keyed_bgv::{KeyedBgv, Refreshes};

fn world() -> &'static KeyedBgv<u64> {
    static WORLD: OnceLock<KeyedBgv<u64>> = OnceLock::new();
    WORLD.get_or_init(|| KeyedBgv::named("toy-bgv-gf4"))
}

fn encoder() -> &'static BgvEncoder {
    world().params.context().message_modulus().encoder()
}

fn product(x: &[u64], y: &[u64]) -> Vec<u64> {
    encoder().multiply(x, y).expect("whole slots")
}

/// An integer in every slot.
fn everywhere(c: i64) -> Vec<u64> {
    let params = &world().params;
    world().coordinates(&vec![params.messages().reduce_signed(c); params.context().slots()])
}

/// Slots taken from elsewhere.
fn moved(x: &[u64], from: impl Fn(usize) -> usize) -> Vec<u64> {
    (0..x.len() / 4).flat_map(|slot| x[4 * from(slot)..][..4].to_vec()).collect()
}

fn rotated(x: &[u64], steps: usize) -> Vec<u64> {
    moved(x, |slot| slot / 128 * 128 + (slot + steps) % 128)
}

#[test]
fn the_set_says_what_it_is() {
    let (world, context) = (world(), world().params.context());
    assert_eq!((context.slots(), context.slot_degree(), world.params.n()), (256, 4, 1024));
    assert_eq!((world.params.levels().input, world.params.levels().output), (0, 3));
    let stages: Vec<&str> = world.params.stages().iter().map(|stage| stage.id).collect();
    let wanted = ["prepare", "mod_raise", "coeffs_to_slots", "unpack", "digit_removal", "slots_to_coeffs"];
    assert_eq!(stages, wanted);
    let plan = Plan::new(std::slice::from_ref(world.params.removal().polynomial().expect("one digit")))
        .expect("one polynomial");
    assert_eq!((world.params.removal().degree(), plan.levels()), (109, 7));
    assert!((-146.5..-146.0).contains(&world.params.log2_failure()), "{}", world.params.log2_failure());
}

/// The ephemeral secret is one of those secrets of weight 32 that have at most one coefficient for each of the 2^14 powers of Y.
#[test]
fn the_secure_set_counts_what_its_ephemeral_secret_loses() {
    let preset = BgvPreset::named("bgv16-gf4").expect("a set");
    let params: BgvParams = preset.params().expect("a sound set");
    let (context, report) = (params.context(), params.security());
    assert_eq!((context.slots(), context.slot_degree(), params.n()), (16384, 4, 65536));
    assert_eq!((params.levels().input, params.levels().output), (0, 10));
    assert!(params.log2_failure() <= preset.promised && preset.promised <= -128.0);
    let binomial = |n: u32| (0..32).map(|i| (f64::from(n - i) / f64::from(i + 1)).log2()).sum::<f64>();
    let lost = binomial(65536) - binomial(16384) - 32.0 * 2.0;
    assert!((0.032..0.034).contains(&lost), "{lost}");
    for (own, lost) in report.instances.iter().zip([0.0, lost]) {
        let whole = security::check(&[own.instance], report.policy).expect("a secure set").bits;
        assert!((whole - own.bits.expect("an estimate") - lost).abs() < 1e-6, "{}", own.instance.name);
        assert!(whole - lost >= report.bits && report.bits >= 128.0, "{}", report.bits);
    }
}

#[test]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    let world = world();
    let mut message = world.random(1);
    let mut x = world.encrypt(&message, world.params.levels().output, 1);
    let mut refreshes = Refreshes::new(world, 2.0);
    for round in 0..100 {
        while x.level() > 0 {
            x = world.square(&x);
            message = product(&message, &message);
        }
        let shift = world.random(100 + round);
        x = world.bootstrapper.bgv().add_plain(&x, &shift).expect("room");
        message = world.sum(&message, &shift);
        x = refreshes.refresh(&x, &message);
    }
    // Keys of all that is computed between bootstraps.
    let bgv = world.bootstrapper.bgv();
    for log in 0..7 {
        let turned = bgv.rotate(&x, 1 << log, &world.keys).expect("a power of two");
        assert_eq!(world.decrypt(&turned), rotated(&message, 1 << log));
    }
    let swapped = bgv.swap_rows(&x, &world.keys).expect("a key");
    assert_eq!(world.decrypt(&swapped), moved(&message, |slot| (slot + 128) % 256));
    // x^65537: sixteen squares, and once more.
    let mut power = message.clone();
    for _ in 0..16 {
        power = product(&power, &power);
    }
    power = product(&power, &message);
    let image = bgv.frobenius(&x, 1, &world.keys).expect("a key");
    assert_eq!(world.decrypt(&image), power);
}

#[test]
fn slots_are_multiplied_in_the_clear_as_they_are_given() {
    let encoder = encoder();
    // Z times Z^4 is 1, whose coordinates are -1.
    let (z, z4) = ([1, 0, 0, 0], [0, 0, 0, 1]);
    assert_eq!(encoder.multiply(&z, &z4), Ok(vec![65536; 4]));
    assert_eq!(encoder.coordinates_of(&[1, 65538]), vec![65536; 8]);
    let many = vec![0; 1028];
    for (x, y) in
        [(&z[..], &many[..8]), (&z[..3], &z4[..3]), (&many[..], &many[..]), (&[65537, 0, 0, 0][..], &z[..])]
    {
        assert!(matches!(encoder.multiply(x, y), Err(Error::InvalidArgument(_))), "{} values", x.len());
    }
}

/// Constants and coefficients are integers of the ring that a slot is an element of.
fn program() -> Program {
    let polynomial =
        |c: &[f64]| Polynomial::new(PolynomialBasis::Monomial, c.iter().copied()).expect("finite");
    let mut builder = Builder::new();
    let (x, y) = (builder.input("x"), builder.input("y"));
    let product = builder.multiply(x, y);
    let turned = builder.rotate(product, 5);
    let cubic = builder.polynomial(turned, &polynomial(&[5.0, -3.0, 0.0, 2.0]));
    let weights = builder.constant((0..256).map(|i| f64::from(i * 131 % 7919) - 4000.0));
    let scaled = builder.multiply(cubic, weights);
    let shifted = builder.add(scaled, weights);
    let large = builder.constant([40000.0]);
    let larger = builder.multiply(shifted, large);
    let swapped = builder.conjugate(larger);
    let last = builder.subtract(large, swapped);
    builder.output("cubic", cubic);
    builder.output("last", last);
    builder.finish().expect("a program")
}

#[test]
fn programs_compute_with_elements_of_galois_rings() {
    let (world, program) = (world(), program());
    let (ring, output) = (world.params.messages(), world.params.levels().output);
    let [x, y] = [1, 2].map(|seed| world.random(seed));
    let inputs = [world.encrypt(&x, output, 1), world.encrypt(&y, output, 2)];
    let plan = world.plan(&program, &inputs, WhereNeeded).expect("a plan");
    assert!((1..=4).contains(&plan.inserted()), "{} bootstraps", plan.inserted());
    let found =
        world.bootstrapper.run_program(&plan, &world.keys, &inputs, &mut ()).expect("a plan of this set");
    for ((_, shape), found) in plan.outputs().zip(&found) {
        assert_eq!((found.level(), found.factor()), (shape.level, shape.factor));
        assert!(found.noise() <= shape.noise);
    }
    let t = rotated(&product(&x, &y), 5);
    let cube = product(&product(&t, &t), &t);
    let terms = [(5, everywhere(1)), (-3, t), (2, cube)];
    let cubic =
        terms.iter().fold(vec![0; 1024], |sum, (c, term)| world.sum(&sum, &product(term, &everywhere(*c))));
    let weights: Vec<u64> = (0..256).map(|i| ring.reduce_signed(i * 131 % 7919 - 4000)).collect();
    let weights = world.coordinates(&weights);
    let shifted = world.sum(&product(&cubic, &weights), &weights);
    let larger = product(&shifted, &everywhere(-40000));
    let last = world.sum(&everywhere(40000), &moved(&larger, |slot| (slot + 128) % 256));
    assert!(world.decrypt(&found[0]) == cubic && world.decrypt(&found[1]) == last);
}

/// If slots are integers of the ring, a program gives the same as on slots of integers.
#[test]
fn programs_on_integers_in_slots_are_those_of_integers() {
    let (world, program) = (world(), program());
    let integers = [3, 4].map(|seed| world.integers(seed));
    let output = world.params.levels().output;
    let encrypt = |x: &Vec<u64>| world.encrypt(&world.coordinates(x), output, 3);
    let inputs: Vec<BgvCiphertext> = integers.iter().map(encrypt).collect();
    let plan = world.plan(&program, &inputs, WhereNeeded).expect("a plan");
    let found =
        world.bootstrapper.run_program(&plan, &world.keys, &inputs, &mut ()).expect("a plan of this set");
    let clear = program
        .evaluate_integers(world.params.messages(), world.params.context().slots() / 2, &integers)
        .expect("whole numbers");
    for (found, clear) in found.iter().zip(&clear) {
        assert!(world.decrypt(found) == world.coordinates(clear));
    }
}
