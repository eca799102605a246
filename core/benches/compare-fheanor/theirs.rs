//! Thin bootstrapping of fheanor, in BFV.

use std::ops::Range;

use cpu_time::ThreadTime;
use feanor_math::{
    homomorphism::Homomorphism,
    integer::{BigIntRing, int_cast},
    primitive_int::StaticRing,
    ring::{RingExtensionStore, RingStore},
    rings::{extension::FreeAlgebraStore, zn::ZnRingStore},
    seq::VectorView,
};
use fheanor::{
    bfv::{
        BFVInstantiation, Ciphertext, Pow2BFV, SecretKeyDistribution,
        bootstrap::{SparseKeyEncapsulationKey, ThinBootstrapper},
    },
    gadget_product::digits::RNSGadgetVectorDigitIndices,
    number_ring::{
        NumberRingQuotientStore,
        hypercube::{isomorphism::HypercubeIsomorphism, structure::HypercubeStructure},
    },
};
use refloat::security::{self, Instance, SecretDistribution, SecurityPolicy};

use crate::{Measured, least, message};

/// Standard deviation of errors.
const SIGMA: f64 = 3.2;

/// Steps of each linear map, and primes of the modulus of the ephemeral secret: as in fheanor's own measurements.
const MAP_LEVELS: usize = 4;
const EPHEMERAL_PRIMES: usize = 2;

/// The cyclotomic ring of an index.
pub enum Ring {
    PowerOfTwo {
        log_index: u32,
    },
    #[cfg(feature = "odd-index")]
    Composite {
        factors: [usize; 2],
    },
}

/// Parameters of a bootstrap.
pub struct Theirs {
    pub ring: Ring,
    pub prime: u64,
    /// Modulus of the plaintexts, a power of the prime.
    pub modulus: u64,
    /// Digits that are taken off, and the bound on a single one.
    pub digits: usize,
    pub bound: Option<i64>,
    pub log_q: Range<usize>,
    /// Digits of the gadget of rotations, and of that of products.
    pub rotation_digits: usize,
    pub relinearization_digits: usize,
    /// None for a ternary secret.
    pub main_weight: Option<usize>,
    pub ephemeral_weight: usize,
}

/// A bootstrap in either kind of ring: their types differ in name alone.
macro_rules! measure {
    ($scheme:ident, $params:ident, $build:ident, $cube:ident, $own:ident, $rounds:ident) => {{
        let (integers, big, mut rng) = (StaticRing::<i64>::RING, BigIntRing::RING, rand::rng());
        let begin = ThreadTime::now();
        let plain = $params.create_plaintext_ring(int_cast($own.modulus as i64, big, integers));
        let (ring, ring_of_products) = $params.create_ciphertext_rings($own.log_q.clone());
        let primes = ring.base_ring().len();
        let digits = |count: usize| RNSGadgetVectorDigitIndices::select_digits(count.min(primes), primes);
        let (rotations, products) = (digits($own.rotation_digits), digits($own.relinearization_digits));
        let bootstrapper = ThinBootstrapper::$build(
            &$params,
            &plain,
            &ring,
            $own.digits,
            $own.bound,
            MAP_LEVELS,
            &rotations,
            None,
        );
        let distribution = $own
            .main_weight
            .map_or(SecretKeyDistribution::UniformTernary, SecretKeyDistribution::SparseWithHwt);
        let secret = $scheme::gen_sk(&ring, &mut rng, distribution);
        let elements = bootstrapper.required_galois_keys(&plain);
        let galois = $scheme::gen_gks(&ring, &mut rng, &secret, elements, &rotations, SIGMA);
        let relinearization = $scheme::gen_rk(&ring, &mut rng, &secret, &products, SIGMA);
        let ephemeral = SparseKeyEncapsulationKey::new(
            bootstrapper.intermediate_plaintext_ring(),
            &ring,
            &secret,
            EPHEMERAL_PRIMES,
            $own.ephemeral_weight,
            &mut rng,
            SIGMA,
        );
        let setup = begin.elapsed().as_secs_f64();

        let cube = HypercubeStructure::$cube(
            plain.acting_galois_group(),
            int_cast($own.prime as i64, big, integers),
        );
        let slots = HypercubeIsomorphism::new(&plain, &cube, None);
        let values = message(slots.slot_count(), $own.modulus);
        let residue = |value: u64| plain.base_ring().coerce(&integers, value as i64);
        let clear = slots
            .from_slot_values(values.iter().map(|&value| slots.slot_ring().inclusion().map(residue(value))));
        let x = $scheme::enc_sym(&plain, &ring, &mut rng, &clear, &secret, SIGMA);
        let copy = |x: &Ciphertext<$scheme>| $scheme::clone_ct(&ring, x);

        let (bootstrap, fresh) = least($rounds, || {
            let (keys, ephemeral) = (&galois, Some(&ephemeral));
            bootstrapper.bootstrap_thin(
                &ring,
                &ring_of_products,
                copy(&x),
                &relinearization,
                keys,
                ephemeral,
                None,
            )
        });
        let (multiply, square) = least($rounds, || {
            $scheme::hom_mul(&plain, &ring, &ring_of_products, copy(&fresh), copy(&fresh), &relinearization)
        });
        let (element, key) = &galois[0];
        let (rotate, turned) = least($rounds, || $scheme::hom_galois(&ring, copy(&fresh), element, key));

        let decrypt = |x: &_| $scheme::dec(&plain, &ring, copy(x), &secret);
        let values_of = |x: &_| slots.get_slot_values(x).collect::<Vec<_>>();
        let differing = |x: &_, y: &_| {
            let (x, y) = (values_of(x), values_of(y));
            x.iter().zip(&y).filter(|(x, y)| !slots.slot_ring().eq_el(x, y)).count()
        };
        let wrong = differing(&decrypt(&fresh), &clear)
            + differing(&decrypt(&square), &plain.pow(plain.clone_el(&clear), 2))
            + differing(&decrypt(&turned), &plain.apply_galois_action(&clear, element));
        let budget = |x: &_| $scheme::noise_budget(&plain, &ring, x, &secret) as f64;
        let log = |ring: &fheanor::bfv::CiphertextRing<$scheme>| -> f64 {
            ring.base_ring().as_iter().map(|prime| (*prime.modulus() as f64).log2()).sum()
        };
        let (log_q, log_ephemeral) = (log(&ring), log(&ephemeral.C_sparse_sk));
        Measured {
            name: format!("fheanor 0.11.9 (BFV), modulo {}", $own.modulus),
            security: label($own, ring.rank(), log_q, log_ephemeral),
            degree: ring.rank(),
            log_q,
            log_ephemeral,
            slots: slots.slot_count(),
            setup,
            bootstrap,
            multiply,
            rotate,
            budget: [budget(&x), budget(&fresh), budget(&square)],
            wrong,
        }
    }};
}

/// Bootstraps a fresh ciphertext: every ciphertext is modulo the whole of Q, and a bootstrap begins by dropping most of it.
pub fn run(own: &Theirs, rounds: usize) -> Measured {
    match own.ring {
        Ring::PowerOfTwo { log_index } => {
            let params = Pow2BFV::new(1 << log_index);
            measure!(Pow2BFV, params, build_pow2, default_pow2_hypercube, own, rounds)
        }
        #[cfg(feature = "odd-index")]
        Ring::Composite { factors: [first, second] } => {
            use fheanor::bfv::CompositeBFV;

            let params = CompositeBFV::new(first, second);
            measure!(CompositeBFV, params, build_odd, halevi_shoup_hypercube, own, rounds)
        }
    }
}

/// The security of a set, by the tables that refloat's own sets are judged by.
fn label(own: &Theirs, degree: usize, log_q: f64, log_ephemeral: f64) -> String {
    let sparse = |weight: usize| SecretDistribution::Sparse { weight: weight as u32 };
    let instance = |name, secret, log_modulus| Instance {
        name,
        log_n: degree.ilog2(),
        secret,
        log_modulus,
        sigma: SIGMA,
    };
    let instances = [
        instance("main secret", own.main_weight.map_or(SecretDistribution::Ternary, sparse), log_q),
        instance("ephemeral secret", sparse(own.ephemeral_weight), log_ephemeral),
    ];
    match security::check(&instances, SecurityPolicy::Strict128) {
        Ok(report) => report.statement,
        Err(why) => why.to_string(),
    }
}
