//! poulpy-ckks, through its public interface.

use std::time::Instant;

use poulpy_ckks::api::{
    CKKSAllOpsTmpBytes, CKKSDecryptOps, CKKSEncodingHostOps, CKKSEncryptOps, CKKSShipOps,
};
use poulpy_ckks::layouts::{
    CKKSCiphertextAlloc, CKKSCiphertextOwned, CKKSPlaintextAlloc, ShipKeySet, ShipKeysLayout, ShipPlan,
    ShipSecretSpec,
};
use poulpy_ckks::{CKKSInfos, CKKSModuleInfos, GLWEPlaintextMeta, Scale, SetCKKSInfos, SlotsKind};
use poulpy_core::TransferInto;
use poulpy_core::api::{
    GLWESecretPreparedFactory, GLWESecretSampling, GLWESwitchingKeyPreparedFactory,
    GLWETensorKeyPreparedFactory,
};
use poulpy_core::layouts::{
    Base2K, Dnum, GLWEAutomorphismKeyLayout, GLWELayout, GLWESecretAlloc, GLWESecretLayout,
    GLWETensorKeyLayout, LWEInfos, Rank, TorusPrecision,
};
use poulpy_hal::api::{ScratchOwnedAlloc, ScratchOwnedBorrow};
use poulpy_hal::layouts::{DataView, HostBytesBackend, Module, ScratchOwned};
use poulpy_hal::source::Source;
use refloat::security::{Instance, SecretDistribution, SecurityPolicy, check};

use crate::{Contender, LOG_N, message, precision};

#[cfg(feature = "avx512")]
type Backend = poulpy_cpu_avx512::FFT64Avx512;
#[cfg(not(feature = "avx512"))]
type Backend = poulpy_cpu_avx::FFT64Avx;

/// Weight of the sparse secret. It has to divide N, so the product tree has a level more than with 31.
const WEIGHT: usize = 32;
/// Half of the window of a non-zero coefficient, as in the paper.
const WINDOW: usize = 175;

/// A choice of the numbers that poulpy-ckks leaves to its user.
pub struct Set {
    pub name: &'static str,
    /// Bits of a limb, and of the modulus that is bootstrapped from: the sparse secret's modulus has twice as many.
    pub base2k: usize,
    /// Limbs of a digit of the keys.
    pub digit: usize,
    /// Bits of the scale.
    pub log_delta: usize,
    /// Bits of the modulus above the scale when the bootstrap is done.
    pub room: usize,
    /// Bits of the factor by which a message is smaller than the modulus it is bootstrapped from.
    pub log_gamma: usize,
    /// Largest number of keys of a multiplexer.
    pub branches: usize,
    /// Rotations done by masks.
    pub columns: usize,
}

/// Sets within the bounds of `refloat::security`. poulpy-ckks names none; while it prepares keys, it holds them twice.
pub const SETS: &[Set] = &[
    Set {
        name: "160-2",
        base2k: 20,
        digit: 2,
        log_delta: 19,
        room: 8,
        log_gamma: 3,
        branches: 4,
        columns: 22,
    },
    Set {
        name: "180-2",
        base2k: 18,
        digit: 2,
        log_delta: 22,
        room: 4,
        log_gamma: 4,
        branches: 3,
        columns: 14,
    },
];

/// Name of the backend.
pub fn backend() -> &'static str {
    std::any::type_name::<Backend>()
}

impl Set {
    fn plan(&self) -> ShipPlan {
        let Self { log_delta, room, log_gamma, branches, columns, .. } = *self;
        ShipPlan::new(LOG_N as usize, log_gamma, log_delta, room, WEIGHT, WINDOW, branches, columns)
            .expect("a valid plan")
    }

    /// Bits of a digit of the keys, of the ciphertexts, and of the largest modulus.
    fn bits(&self) -> (usize, usize, usize) {
        let (digit, width) = (self.digit * self.base2k, self.plan().raised_k(self.base2k));
        (digit, width, width.next_multiple_of(digit) + digit)
    }

    /// The bounds that the set meets, and estimates by the tables of `refloat::security`.
    fn security(&self) -> String {
        let dense = Instance {
            name: "dense secret",
            log_n: LOG_N,
            secret: SecretDistribution::Ternary,
            log_modulus: self.bits().2 as f64,
            sigma: 3.2,
        };
        // The tables have points for a weight of 31, which is not more than 32.
        let choices_per_block = 2 * (2 * WINDOW as u32 + 1);
        let secret = SecretDistribution::BlockSparse { weight: 31, choices_per_block };
        let sparse =
            Instance { name: "sparse secret", secret, log_modulus: 2.0 * self.base2k as f64, ..dense };
        let policies = [SecurityPolicy::Strict128, SecurityPolicy::HeStandard2018];
        let met = policies.into_iter().find_map(|policy| check(&[dense, sparse], policy).ok());
        met.map_or_else(
            || format!("below the bounds: {:?}", check(&[dense, sparse], policies[1]).err()),
            |report| report.statement,
        )
    }
}

/// Makes keys, bootstraps `rounds` times and once before, decrypts.
pub fn run(set: &Set, rounds: usize) -> Contender {
    let (n, plan) = (1usize << LOG_N, set.plan());
    let (digit, width, log_qp) = set.bits();
    let base2k = Base2K(set.base2k as u32);
    let bits = |bits: usize| TorusPrecision(bits as u32);
    let module = Module::<Backend>::new(n as u64);
    let host = Module::<HostBytesBackend>::new(n as u64);
    let secret_layout = GLWESecretLayout { n: n.into(), rank: Rank(1) };
    let mut secret = module.glwe_secret_alloc_from_infos(&secret_layout);
    module.glwe_secret_fill_ternary_prob(&mut secret, 2.0 / 3.0, &mut Source::new([1; 32]));
    let mut secret_host = host.glwe_secret_alloc_from_infos(&secret_layout);
    secret.transfer_into(&mut secret_host);
    let mut prepared = module.glwe_secret_prepared_alloc_from_infos(&secret_layout);
    module.glwe_secret_prepare(&mut prepared, &secret);
    let sparse = ShipSecretSpec::sample(&plan, &mut Source::new([2; 32]));

    let dnum = Dnum(width.div_ceil(digit) as u32);
    let (rank, k_digit, k_aux) = (Rank(1), bits(digit), bits(digit));
    let layout = ShipKeysLayout {
        mux_dsize: set.digit,
        tensor_key: GLWETensorKeyLayout { n: n.into(), base2k, dnum, k_aux, rank, k_digit },
        conjugation_key: GLWEAutomorphismKeyLayout { n: n.into(), base2k, dnum, k_aux, rank, k_digit },
        complex: false,
    };
    let meta = |log_delta| GLWEPlaintextMeta {
        scale: Scale::Log(log_delta),
        slots: SlotsKind::Complex,
        log_sparsity: 0,
    };
    let mut result: CKKSCiphertextOwned<Backend> = module.ckks_ciphertext_alloc(base2k, bits(width));
    result.set_meta(meta(set.log_delta));
    let largest = GLWELayout { n: n.into(), base2k, k: bits(width), rank };
    let widest = module.ckks_plaintext_alloc(largest.n, base2k, bits(width));
    let bytes =
        module.ckks_all_ops_with_atk_tmp_bytes(&result, &widest, &layout.tensor_key, &layout.conjugation_key);
    let mut scratch = ScratchOwned::<Backend>::alloc(4 * bytes);
    let (mut error, mut mask) = (Source::new([3; 32]), Source::new([4; 32]));

    let start = Instant::now();
    let unprepared = ShipKeySet::generate::<Backend, f64>(
        &module,
        &host,
        &plan,
        base2k,
        &sparse,
        &secret_host,
        &layout,
        &mut error,
        &mut mask,
        &mut scratch.borrow(),
    )
    .expect("keys");
    let keys = unprepared.prepare(&module, &mut scratch.borrow()).expect("prepared keys");
    drop(unprepared);
    let key_seconds = start.elapsed().as_secs_f64();
    let mux_key = module.glwe_switching_key_prepared_bytes_of(base2k, dnum, k_digit, k_aux, Rank(2), rank);
    let tracks = keys.index_keys().iter().map(|track| {
        let masks: usize = track.masks().iter().map(|mask| mask.data().len()).sum();
        masks + mux_key * track.mux_keys().iter().map(Vec::len).sum::<usize>()
    });
    let key_bytes = tracks.sum::<usize>()
        + module.glwe_tensor_key_prepared_bytes_of_from_infos(&layout.tensor_key)
        + module.glwe_switching_key_prepared_bytes_of(base2k, dnum, k_digit, k_aux, rank, rank);

    // The message sits in coefficients, at the modulus 2^base2k.
    let gamma = (set.log_gamma as f64).exp2();
    let message = message(n / 2);
    let mut coefficients: Vec<f64> = message.iter().map(|x| x / gamma).collect();
    coefficients.resize(n, 0.0);
    let mut plaintext =
        module.ckks_plaintext_alloc_from_slots(module.ckks_max_slots(), base2k, bits(set.base2k));
    plaintext.set_meta(meta(set.base2k));
    module
        .ckks_encode_coeffs_host_into(&mut plaintext, &coefficients, &mut scratch.borrow())
        .expect("an encoding");
    let mut exhausted: CKKSCiphertextOwned<Backend> = module.ckks_ciphertext_alloc(base2k, bits(set.base2k));
    module
        .ckks_encrypt_sk(&mut exhausted, &plaintext, &prepared, &mut error, &mut mask, &mut scratch.borrow())
        .expect("an encryption");

    let bytes =
        CKKSShipOps::<Backend, f64>::ckks_ship_bootstrap_tmp_bytes(&module, &result, &exhausted, &keys);
    let mut arena = ScratchOwned::<Backend>::alloc(bytes.expect("keys that fit"));
    let mut seconds = Vec::new();
    for _ in 0..=rounds {
        let start = Instant::now();
        CKKSShipOps::<Backend, f64>::ckks_ship_bootstrap_into(
            &module,
            &mut result,
            &exhausted,
            &keys,
            &mut arena.borrow(),
        )
        .expect("a bootstrap");
        seconds.push(start.elapsed().as_secs_f64());
    }

    let room = result.log_budget();
    let mut plaintext = module.ckks_plaintext_alloc(result.n(), base2k, bits(result.log_delta() + room));
    plaintext.set_meta(meta(result.log_delta()));
    module.ckks_decrypt(&mut plaintext, &result, &prepared, &mut scratch.borrow()).expect("a decryption");
    let (mut re, mut im) = (vec![0.0f64; n / 2], vec![0.0f64; n / 2]);
    module
        .ckks_decode_slots_host_into(&plaintext, &mut re, &mut im, &mut scratch.borrow())
        .expect("a decoding");
    Contender {
        name: format!("poulpy-ckks {}", set.name),
        security: set.security(),
        log_qp: log_qp as f64,
        log_sparse: 2.0 * set.base2k as f64,
        room: room as f64,
        key_seconds,
        key_bytes,
        whole: None,
        half: crate::least(&seconds[1..]),
        core: None,
        bits: precision(&re, &message),
    }
}
