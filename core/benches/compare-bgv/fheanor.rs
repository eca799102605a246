//! The bootstrap of fheanor, whose digits are removed by the same polynomial of degree 61: N = 2^10, p = 65537, an ephemeral secret of
//! weight 32.

use feanor_math::{
    homomorphism::Homomorphism,
    integer::*,
    primitive_int::StaticRing,
    ring::*,
    rings::{extension::FreeAlgebraStore, zn::ZnRingStore},
    seq::{VectorFn, VectorView},
};
use fheanor::{
    bgv::{
        bootstrap::{SparseKeyEncapsulationKey, ThinBootstrapper},
        modswitch::DefaultModswitchStrategy,
        noise_estimator::NaiveBGVNoiseEstimator,
        *,
    },
    ciphertext_ring::indices::RNSFactorIndexList,
    gadget_product::digits::*,
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{Bootstrap, PRIME, least, message};

/// Bits of Q, with room for key switching in it, to try in turn: `toy-bgv10` has 741 with its special primes.
const SIZES: [usize; 4] = [741, 900, 1050, 1200];

/// The first size after which something is left.
pub fn bootstrap(rounds: usize) -> Bootstrap {
    let mut tried = SIZES.map(|log_q| move |rounds| bootstrap_at(log_q, rounds)).into_iter();
    let fits = tried.find(|run| {
        let found = run(1);
        found.wrong == 0 && found.capacity > 0.0
    });
    fits.expect("a size that leaves something")(rounds)
}

fn bootstrap_at(bits: usize, rounds: usize) -> Bootstrap {
    let (integers, big) = (StaticRing::<i64>::RING, BigIntRing::RING);
    let mut rng = StdRng::from_seed([1; 32]);
    let params = Pow2BGV::new(1 << 11);
    let plaintexts = params.create_plaintext_ring(int_cast(PRIME as i64, big, integers));
    let ciphertexts = params.create_ciphertext_ring(bits - 10..bits + 10);
    let digits = RNSGadgetVectorDigitIndices::select_digits(5, ciphertexts.base_ring().len());
    let strategy = DefaultModswitchStrategy::<_, _, false>::new(NaiveBGVNoiseEstimator);
    let bootstrapper = ThinBootstrapper::build_pow2(
        &params,
        &plaintexts,
        &ciphertexts,
        1,
        Some(15),
        3,
        &digits,
        strategy,
        None,
    );
    let raised = bootstrapper.intermediate_plaintext_ring();
    let distribution = SecretKeyDistribution::UniformTernary;
    let secret = Pow2BGV::gen_sk(&ciphertexts, &mut rng, distribution);
    let rotations = Pow2BGV::gen_gks(
        raised,
        &ciphertexts,
        &mut rng,
        &secret,
        bootstrapper.required_galois_keys(&plaintexts),
        &digits,
        3.2,
    );
    let relinearization = Pow2BGV::gen_rk(raised, &ciphertexts, &mut rng, &secret, &digits, 3.2);
    let ephemeral = SparseKeyEncapsulationKey::new(raised, &ciphertexts, &secret, 2, 32, &mut rng, 3.2);

    let slots = plaintexts.rank();
    // Every polynomial holds an integer in each slot.
    let values = message(slots);
    let message = plaintexts
        .from_canonical_basis(values.iter().map(|&x| plaintexts.base_ring().int_hom().map(x as i32)));
    let x = Pow2BGV::enc_sym(&plaintexts, &ciphertexts, &mut rng, &message, &secret, 3.2);
    let none = RNSFactorIndexList::empty();
    let (seconds, result) = least(rounds, || {
        let x = Pow2BGV::clone_ct(&plaintexts, &ciphertexts, &x);
        bootstrapper.bootstrap_thin(
            &none,
            x,
            &relinearization,
            &rotations,
            distribution,
            Some(&ephemeral),
            None,
        )
    });
    let lower = Pow2BGV::mod_switch_down_C(&ciphertexts, &result.dropped_rns_factor_indices);
    let secret = Pow2BGV::mod_switch_sk(&lower, &ciphertexts, &secret);
    let capacity = Pow2BGV::noise_budget(&plaintexts, &lower, &result.data, &secret) as f64;
    let found = Pow2BGV::dec(&plaintexts, &lower, result.data, &secret);
    let (found, expected) =
        (plaintexts.wrt_canonical_basis(&found), plaintexts.wrt_canonical_basis(&message));
    let wrong = (0..slots).filter(|&i| !plaintexts.base_ring().eq_el(&found.at(i), &expected.at(i))).count();
    let log_q = big.abs_log2_ceil(ciphertexts.base_ring().modulus()).expect("not zero") as f64;
    Bootstrap { name: "fheanor 0.11.9", slots, log_q, seconds, capacity, wrong }
}
