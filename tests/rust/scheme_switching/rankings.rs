//! Numbers in slots compared by gates, and bits brought back into slots, on the demonstration set.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::ckks_msb::{Numbers, Radix, RootsSpec};
use refloat::bootstrapping::scheme_switching::{
    Comparison, LinkBootstrapper, LinkEvaluator, LinkKeys, LinkKeysBuilder, LinkParams, LinkPartKind,
    LinkPreset, LinkSecretKey, LinkSpec, OrderRun, Phase, Range, Reduction,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::{Bootstraps, InputShape, Plan, Program};
use refloat::params::{cggi_preset, msb_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiSpec, Encoding};
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::wire::{ciphertext_to_bytes, secret_key_from_bytes, secret_key_to_bytes, verify_link_part};
use refloat_tests::measure::{assert_within, bits, mean_square, uniform};

pub struct World {
    pub params: LinkParams<Reduction>,
    pub secret: LinkSecretKey<Reduction>,
    pub evaluator: LinkEvaluator<Reduction>,
}

fn make(seed: u8) -> World {
    of_params(LinkPreset::named("toy-link").unwrap().params().unwrap(), seed)
}

fn of_params(params: LinkParams<Reduction>, seed: u8) -> World {
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
    let keys = LinkKeys::generate(&secret).unwrap();
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients).unwrap();
    World { params, secret, evaluator }
}

/// A set of the toy's numbers whose gates have the prime, the digits and the rotation of `fbs16-50`, in a smaller ring.
fn wide() -> World {
    let mut spec = LinkPreset::named("toy-link").unwrap().params().unwrap().spec().clone();
    let CggiSpec { method, prime, base_log, digits, .. } = (cggi_preset("fbs16-50").unwrap().spec)();
    let (switch_base_log, switch_digits) = (1, 18);
    spec.cggi =
        CggiSpec { log_n: 9, method, prime, base_log, digits, switch_base_log, switch_digits, ..spec.cggi };
    of_params(LinkParams::new(&spec).unwrap(), 4)
}

/// The demonstration set with other numbers.
fn of_spec(change: impl FnOnce(&mut LinkSpec<Reduction>)) -> World {
    let mut spec = LinkPreset::named("toy-link").unwrap().params().unwrap().spec().clone();
    change(&mut spec);
    of_params(LinkParams::new(&spec).unwrap(), 6)
}

/// How numbers at the scale of the set are compared.
fn comparison(world: &World, range: Range) -> Comparison {
    world.params.comparison(range, world.params.ckks().scale()).unwrap()
}

pub fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| make(1))
}

fn encrypt(world: &World, numbers: &[f64], level: usize, seed: u8) -> Ciphertext<u64> {
    let slots: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
    world.secret.ckks().encrypt(&slots, level, &Seed::from_bytes([seed; 32])).unwrap()
}

/// The first numbers of a ciphertext as phases.
fn extract(world: &World, numbers: &[f64], range: Range) -> Vec<Phase> {
    let x = encrypt(world, numbers, world.params.input_level(), 5);
    let slots: Vec<usize> = (0..numbers.len()).collect();
    world.evaluator.extract(&x, &slots, range, &mut ()).unwrap()
}

fn decrypt_bits(world: &World, bits: &[CggiCiphertext<u64>]) -> Vec<bool> {
    world.secret.cggi().decrypt_bits(bits).unwrap()
}

fn decrypt_ranks(world: &World, ranks: &[CggiCiphertext<u64>]) -> Vec<usize> {
    ranks.iter().map(|rank| world.secret.cggi().decrypt(rank).unwrap() as usize).collect()
}

#[test]
fn every_slot_becomes_a_phase_with_the_noise_of_the_model() {
    let (mut errors, mut model) = (Vec::new(), 0.0);
    for seed in [1, 2, 3] {
        let world = make(seed);
        let count = world.params.ckks().slots();
        let ramp: Vec<f64> = (0..count).map(|i| 2.0 * i as f64 / count as f64 - 1.0).collect();
        let corners: Vec<f64> = (0..count).map(|i| if i.is_multiple_of(3) { 1.0 } else { -1.0 }).collect();
        let positive: Vec<f64> = uniform(count, 2).iter().map(|x| x.abs()).collect();
        for (range, numbers) in [
            (Range::Signed, uniform(count, 1)),
            (Range::Signed, ramp),
            (Range::Signed, corners),
            (Range::Signed, vec![0.0; count]),
            (Range::Unit, positive),
            (Range::Unit, vec![1.0; count]),
            (Range::Grid { bits: 3 }, (0..count).map(|i| (i % 8) as f64 / 8.0).collect()),
        ] {
            let phases = extract(&world, &numbers, range);
            for (phase, number) in phases.iter().zip(&numbers) {
                let error = world.secret.inspect_phase(phase).unwrap() - range.turns() * number;
                errors.push(error - error.round());
            }
        }
        model = world.params.noise().extraction;
    }
    assert_within(mean_square(errors.iter().copied()), model, 0.1, "from slots to gates");
    let worst = errors.iter().fold(0.0f64, |worst, x| worst.max(x.abs()));
    assert!(worst < 6.5 * model.sqrt(), "{worst}");
}

#[test]
fn levels_above_and_single_slots_do_as_well() {
    let world = world();
    let numbers = uniform(world.params.ckks().slots(), 3);
    let top = world.params.ckks().levels().output;
    assert_eq!(top, world.params.input_level() + 2);
    let x = encrypt(world, &numbers, top, 6);
    let chosen = [1023, 0, 512, 3, 3];
    let phases = world.evaluator.extract(&x, &chosen, Range::Signed, &mut ()).unwrap();
    for (phase, slot) in phases.iter().zip(chosen) {
        let error = world.secret.inspect_phase(phase).unwrap() - Range::Signed.turns() * numbers[slot];
        assert!(error.abs() < 1e-5, "{slot}: {error}");
    }
}

#[test]
fn an_order_is_wrong_as_often_as_the_model_says() {
    let world = world();
    let count = 512;
    // The second half of the slots holds what the first is compared with.
    for (range, distance) in [(Range::Unit, 0.002), (Range::Signed, 0.004)] {
        let probability = comparison(world, range).log2_wrong(distance).exp2();
        assert!((0.05..0.3).contains(&probability), "{probability}");
        let first: Vec<f64> = (0..count).map(|i| 0.25 + i as f64 / 1024.0).collect();
        let numbers: Vec<f64> = first.iter().copied().chain(first.iter().map(|x| x + distance)).collect();
        let phases = extract(world, &numbers, range);
        let mut wrong = 0.0;
        for i in 0..count {
            let (x, y) = (&phases[i], &phases[count + i]);
            let larger = world.evaluator.at_least(y, x, &mut ()).unwrap();
            wrong += f64::from(u8::from(!world.secret.cggi().decrypt_bit(&larger).unwrap()));
        }
        let (mean, deviation) =
            (count as f64 * probability, (count as f64 * probability * (1.0 - probability)).sqrt());
        // 99.9 % of the normal distribution, and the model's tolerance of 10 % in the deviation.
        assert!((wrong - mean).abs() < 3.3 * deviation + 0.15 * mean, "{wrong}, {mean} expected");
    }
    let unit = comparison(world, Range::Unit);
    assert!(unit.log2_wrong(0.05) < -100.0 && unit.rotations() == 1);
    // The nearer, the more often, and the inverse of it.
    let least = unit.least_distance(-40.0).unwrap();
    assert!((unit.log2_wrong(least) + 40.0).abs() < 1e-6, "{least}");
    assert!(unit.least_distance(-80.0).unwrap() > least && unit.least_distance(-1e9).is_none());
    // Two numbers: one pair. More of them, and look-ups of their ranks, add up.
    let ranks = |count, tables| world.params.log2_wrong_ranks(&unit, count, tables, least);
    assert!((ranks(2, 0) + 40.0).abs() < 1e-6);
    assert!((ranks(16, 0) + 40.0 - 120f64.log2()).abs() < 1e-6);
    let far = |tables| world.params.log2_wrong_ranks(&unit, 16, tables, 0.1);
    assert!(far(1) > far(0) + 100.0 && (far(4) - far(1) - 2.0).abs() < 1e-6, "{} {}", far(0), far(1));
}

/// With digits of six bits and a key switch of few, so that exact comparisons are wrong now and then.
#[test]
fn an_exact_order_is_wrong_no_oftener_than_all_of_its_rotations() {
    let world = of_spec(|spec| {
        spec.cggi.switch_digits = 6;
        spec.cggi.log_failure = -4.0;
        spec.log_failure = -4.0;
    });
    let (bits, pairs) = (8, 512);
    let exact = comparison(&world, Range::Grid { bits });
    assert_eq!(exact.rotations(), 3);
    let bound = exact.log2_wrong(0.0).exp2();
    // More than any one of them may be.
    assert!(bound > (-4f64).exp2() && bound < 3.0 * (-4f64).exp2(), "{bound}");
    // Equal numbers, and neighbours of which the first is the smaller: the differences that are nearest to another sign.
    let first: Vec<f64> = (0..pairs).map(|i| f64::from(i % 255) / 256.0).collect();
    let second = first.iter().enumerate().map(|(i, x)| x + (i % 2) as f64 / 256.0);
    let numbers: Vec<f64> = first.iter().copied().chain(second).collect();
    let phases = extract(&world, &numbers, Range::Grid { bits });
    let mut wrong = 0.0;
    for (i, (x, y)) in phases.iter().zip(&phases[first.len()..]).enumerate() {
        let bit = world.evaluator.at_least(x, y, &mut ()).unwrap();
        wrong += f64::from(u8::from(world.secret.cggi().decrypt_bit(&bit).unwrap() != i.is_multiple_of(2)));
    }
    let (mean, deviation) = (pairs as f64 * bound, (pairs as f64 * bound * (1.0 - bound)).sqrt());
    assert!(wrong < mean + 3.3 * deviation && wrong > mean / 10.0, "{wrong}, at most {mean} expected");
}

#[test]
fn a_grid_takes_the_drift_of_scales_that_its_budget_has_room_for() {
    let world = of_spec(|spec| spec.log_failure = -70.0);
    let range = Range::Grid { bits: 10 };
    let own = world.params.ckks().scale();
    let drifted = |drift: f64| own.mul(Scale::new(1.0 + drift));
    let of = |drift: f64| world.params.comparison(range, drifted(drift));
    let step = (-13f64).exp2();
    assert!(of(0.0).is_ok());
    for drift in [2.0 * step, -2.0 * step] {
        assert_eq!(of(drift).unwrap_err().code(), "LIMIT");
    }
    // Numbers as far off as there is just room for: neighbours, and those that are furthest apart.
    let (mut room, mut beyond) = (0.0, 2.0 * step);
    for _ in 0..30 {
        let middle = 0.5 * (room + beyond);
        *(if of(middle).is_ok() { &mut room } else { &mut beyond }) = middle;
    }
    assert!(room > 0.1 * step, "{room}");
    let values = [0, 1, 2, 511, 512, 513, 1022, 1023];
    for (drift, fits) in [(room, true), (-room, true), (1.01 * beyond, false)] {
        let numbers: Vec<f64> = values.iter().map(|&k| (1.0 + drift) * f64::from(k) / 1024.0).collect();
        let x = encrypt(&world, &numbers, world.params.input_level(), 41).relabelled(drifted(drift));
        let slots: Vec<usize> = (0..values.len()).collect();
        let phases = world.evaluator.extract(&x, &slots, range, &mut ()).unwrap();
        for (i, x) in phases.iter().enumerate() {
            for (j, y) in phases.iter().enumerate() {
                match world.evaluator.at_least(x, y, &mut ()) {
                    Ok(bit) => {
                        assert!(
                            fits && world.secret.cggi().decrypt_bit(&bit).unwrap() == (i >= j),
                            "{i}, {j}"
                        );
                    }
                    Err(error) => {
                        assert!(!fits && error.code() == "LIMIT", "{drift}: {error}");
                        // Not the noise: the scale, both of them, and what to do.
                        let said = error.to_string();
                        for part in ["at scale 2^", "scale of the set", "fewer bits"] {
                            assert!(said.contains(part), "{said}");
                        }
                    }
                }
            }
            let bit = world.evaluator.above(x, 512.0 / 1024.0, &mut ());
            assert_eq!(bit.is_ok(), fits);
            assert!(bit.is_err() || world.secret.cggi().decrypt_bit(&bit.unwrap()).unwrap() == (i >= 4));
        }
        // Plans say it before anything is computed.
        let program = Program::parse("x = input\nm = argmax x 8 grid 10\nm = output m").unwrap();
        let shape = InputShape { level: x.level(), scale: x.scale() };
        let target = world.params.program_target().unwrap();
        let plan = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten);
        assert_eq!(plan.err().map(|error| error.code()), (!fits).then_some("LIMIT"));
    }
}

#[test]
fn all_orders_of_five_numbers_are_ranked() {
    let world = world();
    let values = [0.1, 0.3, 0.5, 0.7, 0.9];
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..values.len() {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let rest: Vec<usize> = (0..values.len()).filter(|i| !order.contains(i)).collect();
            rest.into_iter().map(move |i| [order.clone(), vec![i]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 120);
    let all: Vec<f64> = orders.iter().flatten().map(|&i| values[i]).collect();
    let phases = extract(world, &all, Range::Unit);
    for (order, numbers) in orders.iter().zip(phases.chunks_exact(values.len())) {
        let ranks = world.evaluator.ranks(numbers, &mut ()).unwrap();
        assert_eq!(decrypt_ranks(world, &ranks), *order);
    }
    for (order, numbers) in orders.iter().zip(phases.chunks_exact(values.len())).step_by(17) {
        let is = |wanted: fn(usize) -> bool| order.iter().map(|&i| wanted(i)).collect::<Vec<bool>>();
        let evaluator = &world.evaluator;
        assert_eq!(decrypt_bits(world, &evaluator.argmax(numbers, &mut ()).unwrap()), is(|rank| rank == 4));
        assert_eq!(decrypt_bits(world, &evaluator.argmin(numbers, &mut ()).unwrap()), is(|rank| rank == 0));
        assert_eq!(decrypt_bits(world, &evaluator.top(numbers, 2, &mut ()).unwrap()), is(|rank| rank >= 3));
        assert_eq!(decrypt_bits(world, &evaluator.top(numbers, 5, &mut ()).unwrap()), [true; 5]);
    }
}

#[test]
fn two_to_sixteen_numbers_are_ranked_whatever_they_are() {
    let world = world();
    for count in [2, 3, 16] {
        let numbers: Vec<f64> =
            (0..count).map(|i| (i * 7 % count) as f64 / count as f64 * 2.0 - 1.0).collect();
        let phases = extract(world, &numbers, Range::Signed);
        let ranks = world.evaluator.ranks(&phases, &mut ()).unwrap();
        assert_eq!(decrypt_ranks(world, &ranks), (0..count).map(|i| i * 7 % count).collect::<Vec<_>>());
    }
    // Equal ones are ordered somehow; each pair once.
    let phases = extract(world, &[0.5; 6], Range::Unit);
    let ranks = decrypt_ranks(world, &world.evaluator.ranks(&phases, &mut ()).unwrap());
    assert_eq!(ranks.iter().sum::<usize>(), 15);
}

#[test]
fn numbers_on_a_grid_are_compared_exactly() {
    let world = world();
    let bits = 4;
    let unit = |k: usize| k as f64 / f64::from(1 << bits);
    let numbers: Vec<f64> = (0..1 << bits).map(unit).collect();
    let phases = extract(world, &numbers, Range::Grid { bits });
    for (i, x) in phases.iter().enumerate() {
        for (j, y) in phases.iter().enumerate() {
            let bit = world.evaluator.at_least(x, y, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), i >= j, "{i}, {j}");
        }
    }
    for (threshold, least) in [(0.0, 0), (1.0 / 16.0, 1), (0.51, 9), (0.9, 15), (1.0, 16)] {
        for (i, x) in phases.iter().enumerate() {
            let bit = world.evaluator.above(x, threshold, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), i >= least, "{i}, {threshold}");
        }
    }
    // Of equal ones the first is the larger.
    let tied = extract(world, &[3, 7, 7, 0, 7, 0].map(unit), Range::Grid { bits });
    let ranks = world.evaluator.ranks(&tied, &mut ()).unwrap();
    assert_eq!(decrypt_ranks(world, &ranks), [2, 5, 4, 1, 3, 0]);
    let first = world.evaluator.argmax(&tied, &mut ()).unwrap();
    assert_eq!(decrypt_bits(world, &first), [false, true, false, false, false, false]);
}

#[test]
fn ten_bits_are_compared_exactly_under_a_prime_of_fifty() {
    let world = wide();
    let bits = 10;
    let values = [0, 1, 2, 3, 15, 16, 127, 128, 511, 512, 513, 767, 768, 1022, 1023];
    let numbers: Vec<f64> = values.iter().map(|&k| f64::from(k) / f64::from(1 << bits)).collect();
    let phases = extract(&world, &numbers, Range::Grid { bits });
    for (i, x) in phases.iter().enumerate() {
        for j in [0, i.saturating_sub(1), i, (i + 1).min(values.len() - 1), values.len() - 1] {
            let bit = world.evaluator.at_least(x, &phases[j], &mut ()).unwrap();
            assert_eq!(
                world.secret.cggi().decrypt_bit(&bit).unwrap(),
                i >= j,
                "{} and {}",
                values[i],
                values[j]
            );
        }
    }
    let ranks = world.evaluator.ranks(&phases, &mut ()).unwrap();
    assert_eq!(decrypt_ranks(&world, &ranks), (0..values.len()).collect::<Vec<_>>());
}

#[test]
fn thresholds_of_real_numbers() {
    let world = world();
    let numbers = [-1.0, -0.6, -0.1, 0.1, 0.6, 1.0];
    let phases = extract(world, &numbers, Range::Signed);
    for threshold in [-0.8, -0.3, 0.0, 0.3, 0.8] {
        for (x, phase) in numbers.iter().zip(&phases) {
            let bit = world.evaluator.above(phase, threshold, &mut ()).unwrap();
            assert_eq!(world.secret.cggi().decrypt_bit(&bit).unwrap(), *x >= threshold, "{x}, {threshold}");
        }
    }
    for wrong in [-1.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = world.evaluator.above(&phases[0], wrong, &mut ()).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn bits_come_back_in_their_slots() {
    let world = world();
    let most = world.params.most_bits();
    assert_eq!(most, 512);
    for count in [1, 2, 3, 64, 100, 512] {
        for pattern in 0..3 {
            let wanted = match pattern {
                0 => vec![1.0; count],
                1 => vec![0.0; count],
                _ => bits(count, count as u64),
            };
            let clear: Vec<bool> = wanted.iter().map(|&bit| bit > 0.5).collect();
            let encrypted = world.secret.cggi().encrypt_bits(&clear, &Seed::from_bytes([8; 32]));
            let slots = world.evaluator.to_slots(&encrypted, &mut ()).unwrap();
            assert_eq!(slots.level(), world.params.output_level());
            assert!(slots.scale().matches(world.params.ckks().scale()));
            let found = world.secret.ckks().decrypt(&slots).unwrap();
            let found = found.reveal_to_key_owner();
            let errors: Vec<f64> = found
                .iter()
                .zip(wanted.iter().chain(std::iter::repeat(&0.0)))
                .map(|(slot, bit)| (slot.re - bit).abs().max(slot.im.abs()))
                .collect();
            // Errors are squares of the noise: 25 of its variances for the worst. Fresh bits have next to none of their own.
            let expected = world.params.noise().bit_error(count, 0.0);
            let own = errors[..count].iter().fold(0.0f64, |worst, &x| worst.max(x));
            let rest = errors[count..].iter().fold(0.0f64, |worst, &x| worst.max(x));
            assert!(
                own < 25.0 * expected + 1e-6 && rest < 1e-6,
                "{count}: {own}, {rest}, {expected} expected"
            );
            if count == 512 {
                let mean = errors[..count].iter().sum::<f64>() / count as f64;
                assert_within(mean, expected, 0.2, "mean error of 512 bits");
            }
        }
    }
}

#[test]
fn what_was_ranked_masks_what_is_in_slots() {
    let world = world();
    let numbers = [0.3, 0.1, 0.8, 0.6];
    let x = encrypt(world, &numbers, world.params.input_level(), 9);
    let phases = world.evaluator.extract(&x, &[0, 1, 2, 3], Range::Unit, &mut ()).unwrap();
    let top = world.evaluator.top(&phases, 2, &mut ()).unwrap();
    let mask = world.evaluator.to_slots(&top, &mut ()).unwrap();
    let keys = world.evaluator.keys().ckks();
    let product = world.evaluator.ckks().multiply(&mask, &x, keys).unwrap();
    let found = world.secret.ckks().decrypt(&product).unwrap();
    for (slot, wanted) in found.reveal_to_key_owner().iter().zip([0.0, 0.0, 0.8, 0.6, 0.0]) {
        assert!((slot.re - wanted).abs() < 1e-3, "{slot:?}, {wanted}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (world, other) = (world(), make(77));
    let code = |error: Error| error.code();
    let level = world.params.input_level();
    let x = encrypt(world, &[0.5, 0.25], level, 10);
    let extract =
        |x: &Ciphertext<u64>, slots: &[usize], range| world.evaluator.extract(x, slots, range, &mut ());
    assert_eq!(extract(&x, &[1024], Range::Unit).unwrap_err().code(), "INVALID_ARGUMENT");
    for bits in [0, 11] {
        assert_eq!(extract(&x, &[0], Range::Grid { bits }).unwrap_err().code(), "INVALID_ARGUMENT");
    }
    let low = encrypt(world, &[0.5], level - 1, 11);
    assert_eq!(code(extract(&low, &[0], Range::Unit).unwrap_err()), "LEVEL_MISMATCH");
    let scaled = x.clone().relabelled(Scale::exp2(41.0));
    assert_eq!(code(extract(&scaled, &[0], Range::Unit).unwrap_err()), "SCALE_MISMATCH");
    let foreign = encrypt(&other, &[0.5, 0.25], level, 12);
    assert_eq!(code(extract(&foreign, &[0], Range::Unit).unwrap_err()), "PARAMS_MISMATCH");

    let phases = extract(&x, &[0, 1], Range::Unit).unwrap();
    let theirs = other.evaluator.extract(&foreign, &[0, 1], Range::Unit, &mut ()).unwrap();
    let at_least = |x, y| world.evaluator.at_least(x, y, &mut ()).map(|_| ());
    assert_eq!(code(at_least(&phases[0], &theirs[0]).unwrap_err()), "PARAMS_MISMATCH");
    assert_eq!(code(world.secret.inspect_phase(&theirs[0]).unwrap_err()), "PARAMS_MISMATCH");
    let near = x.clone().relabelled(world.params.ckks().scale().mul(Scale::new(1.0 + 1e-6)));
    let near = extract(&near, &[0], Range::Unit).unwrap();
    assert_eq!(code(at_least(&phases[0], &near[0]).unwrap_err()), "SCALE_MISMATCH");
    let signed = extract(&x, &[0], Range::Signed).unwrap();
    assert_eq!(code(at_least(&phases[0], &signed[0]).unwrap_err()), "INVALID_ARGUMENT");
    for count in [0, 1, 17] {
        let many = vec![phases[0].clone(); count];
        assert_eq!(code(world.evaluator.ranks(&many, &mut ()).unwrap_err()), "INVALID_ARGUMENT");
        assert_eq!(code(world.evaluator.top(&phases, count + 3, &mut ()).unwrap_err()), "INVALID_ARGUMENT");
    }
    assert_eq!(code(world.evaluator.top(&phases, 0, &mut ()).unwrap_err()), "INVALID_ARGUMENT");

    let gates = world.secret.cggi();
    let to_slots = |bits: &[CggiCiphertext<u64>]| world.evaluator.to_slots(bits, &mut ()).map(|_| ());
    assert_eq!(code(to_slots(&[]).unwrap_err()), "INVALID_ARGUMENT");
    let bit = gates.encrypt_bit(true, &Seed::from_bytes([13; 32]));
    assert_eq!(code(to_slots(&vec![bit; 513]).unwrap_err()), "INVALID_ARGUMENT");
    let integers =
        gates.encrypt(Encoding::Padded { messages: 16 }, &[3], &Seed::from_bytes([14; 32])).unwrap();
    assert_eq!(code(to_slots(&integers).unwrap_err()), "INVALID_ARGUMENT");
    let foreign = other.secret.cggi().encrypt_bits(&[true], &Seed::from_bytes([15; 32]));
    assert_eq!(code(to_slots(&foreign).unwrap_err()), "PARAMS_MISMATCH");

    // A grid whose steps the noise of the gates' prime of 30 bits reaches.
    let fine = extract(&x, &[0, 1], Range::Grid { bits: 10 }).unwrap();
    let error = at_least(&fine[0], &fine[1]).unwrap_err();
    assert!(error.code() == "LIMIT" && error.to_string().contains("the noise of a bootstrap"), "{error}");
}

#[test]
fn keys_of_another_set_and_sets_that_do_not_fit_are_refused() {
    let spec = world().params.spec().clone();
    let changed = [
        // Degrees, moduli and secrets in turn.
        (|spec| spec.ckks.log_slots = 9) as fn(&mut LinkSpec<_>),
        |spec| spec.ckks.ephemeral = None,
        |spec| spec.cggi.log_n = 12,
        |spec| spec.prime = 22_806_528,
        |spec| spec.special = spec.prime,
    ];
    for (i, change) in changed.into_iter().enumerate() {
        let mut spec = spec.clone();
        change(&mut spec);
        assert!(LinkParams::new(&spec).is_err(), "{i}");
    }
    // The key from slots to gates has to be as secure as the policy says.
    let strict = (LinkPreset::named("n15+fbs16-50").unwrap()).params().unwrap();
    let mut weak = strict.spec().clone();
    weak.prime = 1_073_479_681;
    let error = LinkParams::new(&weak).err().unwrap();
    assert_eq!(error.code(), "INSECURE", "{error}");

    let mut renumbered = spec;
    renumbered.log_failure = -64.0;
    let other = LinkParams::new(&renumbered).unwrap();
    let keys = LinkKeys::generate(&world().secret).unwrap();
    let error = LinkEvaluator::new(&other, keys, PlaintextStorage::Coefficients).err().unwrap();
    assert_eq!(error.code(), "PARAMS_MISMATCH");
}

#[test]
fn every_named_set_is_sound() {
    for preset in LinkPreset::all() {
        let params = preset.params().unwrap();
        assert_eq!(params.name(), preset.name);
        assert_eq!(params.security().policy.is_secure(), preset.secure());
        assert!(!preset.secure() || params.security().bits >= 128.0, "{}", params.security().bits);
        assert!(params.output_level() >= params.ckks().levels().output, "{}", preset.name);
        assert_eq!(params.most_ranked(), 16);
    }
    assert_eq!(LinkPreset::named("n17").unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn keys_travel_in_parts_and_do_the_same() {
    let world = world();
    let (params, key_id) = (&world.params, world.secret.key_id());
    // The key of a file, to make parts with.
    let secret: LinkSecretKey<Reduction> =
        secret_key_from_bytes(params, &secret_key_to_bytes(&world.secret)).unwrap();
    let mut builder = LinkKeysBuilder::new(params, key_id);
    let mut kinds = [0; 5];
    for part in params.key_parts().iter().rev() {
        let bytes = secret.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes, "{}", part.label);
        verify_link_part(params, key_id, part.index, &bytes).unwrap();
        let code =
            |key_id, bytes: &[u8]| verify_link_part(params, key_id, part.index, bytes).unwrap_err().code();
        assert_eq!(code([0; 16], &bytes), "PARAMS_MISMATCH", "{}", part.label);
        assert_eq!(code(key_id, &bytes[..bytes.len() - 1]), "BAD_BYTES", "{}", part.label);
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        assert_eq!(code(key_id, &damaged), "BAD_BYTES", "{}", part.label);
        assert!(builder.add(part.index, &damaged).is_err());
        assert!(
            verify_link_part(params, key_id, (part.index + 1) % params.key_parts().len(), &bytes).is_err()
        );
        assert!(builder.missing().contains(&part.index));
        builder.add(part.index, &bytes).unwrap();
        assert!(!builder.missing().contains(&part.index));
        let kind = match part.kind {
            LinkPartKind::Slots(_) => 0,
            LinkPartKind::Gates(_) => 1,
            LinkPartKind::Packing(_) => 2,
            LinkPartKind::ToGates => 3,
            LinkPartKind::ToSlots => 4,
        };
        kinds[kind] += 1;
    }
    assert!(kinds[0] > 10 && kinds[1] >= 2 && kinds[2..] == [1, 1, 1], "{kinds:?}");
    let last = params.key_parts().len();
    assert_eq!(secret.key_part(last).unwrap_err().code(), "INVALID_ARGUMENT");
    assert_eq!(LinkKeysBuilder::new(params, key_id).finish().err().unwrap().code(), "MISSING_KEY");

    let keys = builder.finish().unwrap();
    assert_eq!((keys.key_id(), keys.memory_bytes()), (key_id, world.evaluator.keys().memory_bytes()));
    let evaluator = LinkEvaluator::new(params, keys, PlaintextStorage::Coefficients).unwrap();
    let phases = extract(world, &[0.2, 0.9, 0.6], Range::Unit);
    let [own, theirs] = [&world.evaluator, &evaluator].map(|evaluator| {
        let winner = evaluator.argmax(&phases, &mut ()).unwrap();
        let slots = evaluator.to_slots(&winner, &mut ()).unwrap();
        (winner, slots.parts().iter().map(|part| part.data().to_vec()).collect::<Vec<_>>())
    });
    assert!(own == theirs);
}

#[test]
fn the_observer_sees_every_stage_and_can_cancel() {
    use refloat::trace::{Observer, StageEvent};
    use std::ops::ControlFlow;

    struct Watch {
        seen: Vec<&'static str>,
        progress: usize,
        stop_at: Option<&'static str>,
    }
    impl Observer for Watch {
        fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
            match event {
                StageEvent::Exit { stage, .. } => self.seen.push(stage),
                StageEvent::Progress { .. } => self.progress += 1,
                _ => {}
            }
            if self.stop_at == Some(event.stage()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let world = world();
    let x = encrypt(world, &[0.1, 0.2, 0.3], world.params.input_level(), 3);
    let all = |watch: &mut Watch| {
        let phases = world.evaluator.extract(&x, &[0, 1, 2], Range::Unit, watch)?;
        let winner = world.evaluator.argmax(&phases, watch)?;
        world.evaluator.to_slots(&winner, watch).map(|_| ())
    };
    let mut watch = Watch { seen: Vec::new(), progress: 0, stop_at: None };
    all(&mut watch).unwrap();
    let stages = refloat::bootstrapping::scheme_switching::STAGES;
    assert_eq!(watch.seen, stages.map(|stage| stage.id));
    assert!(watch.progress >= 2);
    for stage in stages {
        let mut watch = Watch { seen: Vec::new(), progress: 0, stop_at: Some(stage.id) };
        assert_eq!(all(&mut watch).unwrap_err().code(), "ABORTED", "{}", stage.id);
    }
}

#[test]
fn programs_ask_for_the_order_of_slots() {
    let world = world();
    let text = "x = input
        y = multiply x x
        m = argmax y 5 unit
        r = rank y 5 unit
        s = sign x 5
        z = multiply m x
        m = output m
        r = output r
        s = output s
        z = output z";
    let program = Program::parse(text).unwrap();
    let slots = world.params.ckks().slots();
    let mut numbers = vec![0.0; slots];
    numbers[..5].copy_from_slice(&[0.3, -0.9, 0.5, -0.1, 0.7]);
    let x = encrypt(world, &numbers, world.params.ckks().levels().output, 21);
    let clear: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
    let clear = program.evaluate(slots, &[clear]).unwrap();
    let target = world.params.program_target().unwrap();
    let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
    // Two questions about y, of one set of comparisons; one about x.
    assert!(plan.digit_passes() >= 3 && plan.bootstraps() == 0);
    // Three questions about two values: the sum of what may go wrong, for numbers that are far enough apart.
    let (limit, failure) = (world.params.spec().log_failure, plan.log2_failure().unwrap());
    assert!(failure > limit && failure < limit + 6.0, "{failure}");
    assert!((0.01..0.1).contains(&plan.least_distance()), "{}", plan.least_distance());
    let method = LinkBootstrapper::new(world.evaluator.clone());
    let found = method.run_program(&plan, &[x], &mut ()).unwrap();
    for (found, clear) in found.iter().zip(&clear) {
        let found = world.secret.ckks().decrypt(found).unwrap();
        for (a, b) in found.reveal_to_key_owner().iter().zip(clear) {
            assert!((a.re - b.re).abs() < 5e-3, "{a:?}, {b:?}");
        }
    }
    // On a grid each comparison is several rotations, and all of them count.
    let plan_of = |question: &str| {
        let program = Program::parse(&format!("x = input\nm = {question}\nm = output m")).unwrap();
        let shape = InputShape { level: 5, scale: world.params.ckks().scale() };
        let plan = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).unwrap();
        (plan.digit_passes(), plan.log2_failure().unwrap(), plan.least_distance())
    };
    let [unit, grid] = ["argmax x 16 unit", "argmax x 16 grid 9"].map(plan_of);
    let rotations = comparison(world, Range::Grid { bits: 9 }).rotations();
    assert!(rotations >= 3);
    assert_eq!((unit.0, grid.0), (1 + 136usize.div_ceil(90), 1 + (120 * rotations + 16).div_ceil(90)));
    assert!(grid.1 < unit.1 && grid.1 < limit && grid.2 == 0.0, "{grid:?}, {unit:?}");
    // From 0 no number in [-1, 1] is further than 1: signs have the distance of numbers in [0, 1].
    let least = |range| comparison(world, range).least_distance(limit).unwrap();
    assert_eq!(plan_of("sign x 5").2.to_bits(), least(Range::Unit).to_bits());
    assert!(least(Range::Unit) < 0.6 * least(Range::Signed));

    for (text, part) in [
        ("x = input\nm = argmax x 17\nm = output m", "17 numbers"),
        ("x = input\nm = sign x 513\nm = output m", "513 numbers"),
        ("x = input\nm = argmax x 4 grid 11\nm = output m", "11 bits"),
        ("x = input\nm = mod x 1\nm = output m", "modular reduction"),
    ] {
        let program = Program::parse(text).unwrap();
        let shape = InputShape { level: 5, scale: world.params.ckks().scale() };
        let error = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).err().unwrap().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn questions_in_steps_and_in_programs_give_the_same_bytes() {
    let world = world();
    let (params, context) = (&world.params, world.params.ckks().ckks());
    // Above the levels where numbers are compared, bits come back: what a message may have is less.
    let highest = params.ckks().levels().output;
    assert!(params.output_level() > highest, "{} of {highest}", params.output_level());
    let target = params.program_target().unwrap();
    let method = LinkBootstrapper::new(world.evaluator.clone());
    let mut numbers = vec![0.0; params.ckks().slots()];
    numbers[..4].copy_from_slice(&[0.25, 0.875, 0.5, 0.875]);
    let x = encrypt(world, &numbers, highest, 22);
    let numbers: Vec<Complex> = numbers.into_iter().map(Complex::from).collect();
    for questions in [
        &["argmax y 5 grid 4"] as &[_],
        &["argmin y 5 grid 4"],
        &["rank y 5 grid 4"],
        &["top y 5 2 grid 4"],
        &["sign y 4"],
        &["rank y 3 unit", "argmin y 3 unit"],
        &["sign y 4", "sign y 4"],
    ] {
        let nodes = questions.iter().enumerate().map(|(i, question)| format!("z{i} = {question}\n"));
        let outputs = (0..questions.len()).map(|i| format!("z{i} = output z{i}\n"));
        let text = format!("y = input\n{}{}", nodes.collect::<String>(), outputs.collect::<String>());
        let program = Program::parse(&text).unwrap();
        let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
        let planned = method.run_program(&plan, core::slice::from_ref(&x), &mut ()).unwrap();

        let readings = program.readings().unwrap();
        let mut run = OrderRun::new(&world.evaluator, &x, readings.as_slice().into()).unwrap();
        while !run.step(&mut ()).unwrap() {}
        let stepped = run.finish().unwrap();

        let exact = program.evaluate(numbers.len(), core::slice::from_ref(&numbers)).unwrap();
        assert_eq!((planned.len(), stepped.len()), (questions.len(), questions.len()));
        for (i, question) in questions.iter().enumerate() {
            assert_eq!((planned[i].level(), stepped[i].level()), (highest, highest), "{question}");
            let found = world.secret.ckks().decrypt(&stepped[i]).unwrap();
            for (a, b) in found.reveal_to_key_owner().iter().zip(&exact[i]) {
                assert!((a.re - b.re).abs() < 5e-3, "{question}: {a:?}, {b:?}");
            }
            let [planned, stepped] =
                [&planned[i], &stepped[i]].map(|x| ciphertext_to_bytes(context, x).unwrap());
            assert!(planned == stepped, "{question}");
        }
    }
}

#[test]
fn integers_are_compared_by_gates_and_reduced_by_digits_under_one_key_set() {
    let toy = world().params.spec();
    let spec = LinkSpec {
        name: "toy-msb11 with gates".into(),
        ckks: (msb_preset("toy-msb11").unwrap().spec)(),
        cggi: toy.cggi.clone(),
        prime: toy.prime,
        special: toy.special,
        log_failure: toy.log_failure,
    };
    let params: LinkParams<RootsSpec> = LinkParams::new(&spec).unwrap();
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([31; 32]));
    let keys = LinkKeys::generate(&secret).unwrap();
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients).unwrap();
    let values = [3, 14, 7, 0, 15, 8];
    let slots: Vec<Complex> = values.iter().map(|&k| Complex::new(f64::from(k) / 16.0, 0.0)).collect();
    let level = params.ckks().levels().output;
    let x = secret.ckks().encrypt(&slots, level, &Seed::from_bytes([32; 32])).unwrap();
    let phases = evaluator.extract(&x, &[0, 1, 2, 3, 4, 5], Range::Grid { bits: 4 }, &mut ()).unwrap();
    let winner = evaluator.argmax(&phases, &mut ()).unwrap();
    let found = secret.cggi().decrypt_bits(&winner).unwrap();
    assert_eq!(found, values.map(|k| k == 15));
    let mask = evaluator.to_slots(&winner, &mut ()).unwrap();
    let mask = secret.ckks().decrypt(&mask).unwrap();
    let radix = Radix::new(&[16]).unwrap();
    let keys = evaluator.keys().ckks();
    let fresh = evaluator.ckks().int_boot(Numbers::up_to(&x, 1.0), &radix, keys, &mut ()).unwrap();
    let fresh = secret.ckks().decrypt(&fresh).unwrap();
    for (i, &k) in values.iter().enumerate() {
        let (mask, fresh) = (mask.reveal_to_key_owner()[i].re, fresh.reveal_to_key_owner()[i].re);
        assert!((mask - f64::from(u8::from(k == 15))).abs() < 1e-3, "{i}: {mask}");
        assert!((fresh * 16.0 - f64::from(k)).abs() < 1e-4, "{i}: {fresh}");
    }
}
