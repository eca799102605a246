//! What the tests of this folder share: the demonstration set, its keys, and sets of other numbers.

use std::sync::OnceLock;

use refloat::bootstrapping::scheme_switching::{
    Comparison, LinkEvaluator, LinkKeys, LinkParams, LinkPreset, LinkSecretKey, LinkSpec, Phase, Range,
    Reduction,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::cggi_preset;
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiSpec};
use refloat::schemes::ckks::{Ciphertext, Complex};

pub struct World {
    pub params: LinkParams<Reduction>,
    pub secret: LinkSecretKey<Reduction>,
    pub evaluator: LinkEvaluator<Reduction>,
}

pub fn make(seed: u8) -> World {
    of_params(LinkPreset::named("toy-link").unwrap().params().unwrap(), seed)
}

pub fn of_params(params: LinkParams<Reduction>, seed: u8) -> World {
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
    let keys = LinkKeys::generate(&secret).unwrap();
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients).unwrap();
    World { params, secret, evaluator }
}

/// A set of the toy's numbers whose gates have the prime, the digits and the rotation of `fbs16-50`, in a smaller ring.
pub fn wide() -> World {
    let mut spec = LinkPreset::named("toy-link").unwrap().params().unwrap().spec().clone();
    let CggiSpec { method, prime, base_log, digits, .. } = (cggi_preset("fbs16-50").unwrap().spec)();
    let (switch_base_log, switch_digits) = (1, 18);
    spec.cggi =
        CggiSpec { log_n: 9, method, prime, base_log, digits, switch_base_log, switch_digits, ..spec.cggi };
    of_params(LinkParams::new(&spec).unwrap(), 4)
}

/// The demonstration set with other numbers.
pub fn of_spec(change: impl FnOnce(&mut LinkSpec<Reduction>)) -> World {
    let mut spec = LinkPreset::named("toy-link").unwrap().params().unwrap().spec().clone();
    change(&mut spec);
    of_params(LinkParams::new(&spec).unwrap(), 6)
}

/// How numbers at the scale of the set are compared.
pub fn comparison(world: &World, range: Range) -> Comparison {
    world.params.comparison(range, world.params.ckks().scale()).unwrap()
}

pub fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| make(1))
}

pub fn encrypt(world: &World, numbers: &[f64], level: usize, seed: u8) -> Ciphertext<u64> {
    let slots: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
    world.secret.ckks().encrypt(&slots, level, &Seed::from_bytes([seed; 32])).unwrap()
}

/// The first numbers of a ciphertext as phases.
pub fn extract(world: &World, numbers: &[f64], range: Range) -> Vec<Phase> {
    let x = encrypt(world, numbers, world.params.input_level(), 5);
    let slots: Vec<usize> = (0..numbers.len()).collect();
    world.evaluator.extract(&x, &slots, range, &mut ()).unwrap()
}

pub fn decrypt_bits(world: &World, bits: &[CggiCiphertext<u64>]) -> Vec<bool> {
    world.secret.cggi().decrypt_bits(bits).unwrap()
}

pub fn decrypt_ranks(world: &World, ranks: &[CggiCiphertext<u64>]) -> Vec<usize> {
    ranks.iter().map(|rank| world.secret.cggi().decrypt(rank).unwrap() as usize).collect()
}
