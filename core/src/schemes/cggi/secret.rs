//! Secret keys, encryption and decryption.

use alloc::{format, vec, vec::Vec};

use zeroize::{Zeroize, Zeroizing};

use super::{ciphertext::CggiCiphertext, encoding::Encoding, method::RotationMethod, params::CggiParams};
use crate::{
    arith::Word,
    error::{Error, hex},
    random::Seed,
    ring::{Eval, Poly, SmallPoly},
    rlwe::{KeySeeds, NtruSecret, lwe::LweSample},
    schemes::{identity::key_set_id, secret_key_identity},
    security::LweSecret,
};

/// Both secrets of a key set, the ring key z (dimension N, ternary, or the f of NTRU) and the short key s, and the
/// seed they came from. Wiped when dropped.
///
/// Deterministic: the same set and seed give the same keys, and every part of the evaluation keys can
/// be made again with the same bytes.
pub struct CggiSecretKey<W: Word = u32> {
    params: CggiParams<W>,
    seed: Seed,
    pub(crate) seeds: KeySeeds,
    key_id: [u8; 16],
    pub(crate) ring: SmallPoly,
    pub(crate) ring_eval: Poly<W, Eval>,
    /// f and its inverse, for NTRU.
    pub(crate) ntru: Option<NtruSecret<W>>,
    pub(crate) short: SmallPoly,
}

impl<W: Word> Drop for CggiSecretKey<W> {
    fn drop(&mut self) {
        self.ring_eval.zeroize();
    }
}

impl<W: Word> CggiSecretKey<W> {
    /// Derives the secrets of a key set from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(params: &CggiParams<W>, seed: &Seed) -> Self {
        // Bound to the parameter set, so that one seed never meets two moduli.
        let master = seed.derive("cggi key set", &words(params.fingerprint()));
        Self::of_master(params, seed, &master, KeySeeds::derive(&master))
    }

    /// The secrets of a master seed that is bound to a set, with the seeds of their evaluation keys.
    pub(crate) fn of_master(params: &CggiParams<W>, seed: &Seed, master: &Seed, seeds: KeySeeds) -> Self {
        let ring_seed = master.derive("cggi ring secret", &[]);
        let ntru = matches!(params.spec().method, RotationMethod::Ntru { .. })
            .then(|| NtruSecret::generate(params.rgsw(), &ring_seed));
        let ring = match &ntru {
            Some(ntru) => ntru.small.clone(),
            None => SmallPoly::ternary(params.n(), &mut ring_seed.stream()),
        };
        let ring_eval = ring.to_poly(params.rgsw().basis()).into_eval();
        let mut short = vec![0; params.spec().lwe_dimension];
        let mut stream = master.derive("cggi short secret", &[]).stream();
        match params.spec().lwe_secret {
            LweSecret::Binary => stream.binary(&mut short),
            LweSecret::Ternary => stream.ternary(&mut short),
        }
        let key_id = cggi_key_id(params, seeds.public());
        let short = SmallPoly::from_coefficients(short);
        Self { params: params.clone(), seed: seed.clone(), seeds, key_id, ring, ring_eval, ntru, short }
    }

    secret_key_identity!(CggiParams<W>);

    /// Encrypts bits, one ciphertext each. `randomness` must be fresh for every call.
    pub fn encrypt_bits(&self, bits: &[bool], randomness: &Seed) -> Vec<CggiCiphertext<W>> {
        let messages = Zeroizing::new(bits.iter().map(|&bit| u32::from(bit)).collect::<Vec<_>>());
        self.encrypt_all(Encoding::Bit, &messages, randomness)
    }

    /// Encrypts one bit. `randomness` must be fresh for every call.
    pub fn encrypt_bit(&self, bit: bool, randomness: &Seed) -> CggiCiphertext<W> {
        self.encrypt_one(Encoding::Bit, u32::from(bit), randomness, 0)
    }

    /// Encrypts messages in the encoding given, one ciphertext each. `randomness` must be fresh for
    /// every call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a message the encoding does not have, or an encoding that is not
    /// supported.
    pub fn encrypt(
        &self,
        encoding: Encoding,
        messages: &[u32],
        randomness: &Seed,
    ) -> Result<Vec<CggiCiphertext<W>>, Error> {
        encoding.check()?;
        // The error tells which message is out of range; without an error nothing is told but that none is.
        messages.iter().try_for_each(|&m| encoding.check_message(m))?;
        Ok(self.encrypt_all(encoding, messages, randomness))
    }

    /// Decrypts bits.
    ///
    /// A wrong result, however rare, leaks information about the key: give results to others only if the set's
    /// probability of failure is negligible for the whole computation (2^-128 a gate for `bool-128`).
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key; [`Error::InvalidArgument`] for one that
    /// holds no bit.
    pub fn decrypt_bits(&self, ciphertexts: &[CggiCiphertext<W>]) -> Result<Vec<bool>, Error> {
        ciphertexts.iter().map(|ciphertext| self.decrypt_bit(ciphertext)).collect()
    }

    /// Decrypts one bit.
    ///
    /// # Errors
    /// As [`Self::decrypt_bits`].
    pub fn decrypt_bit(&self, ciphertext: &CggiCiphertext<W>) -> Result<bool, Error> {
        if ciphertext.encoding() != Encoding::Bit {
            return Err(Error::InvalidArgument(format!(
                "the ciphertext holds {}, not a bit; decrypt it with `decrypt`",
                ciphertext.encoding().describe()
            )));
        }
        Ok(self.decrypt(ciphertext)? == 1)
    }

    /// Decrypts the message, whatever the encoding. Noise may have carried an integer with padding
    /// below 0 or beyond t: such a phase counts as the nearest message.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt(&self, ciphertext: &CggiCiphertext<W>) -> Result<u32, Error> {
        let phase = self.phase_of(ciphertext)?;
        let p = self.params.modulus().value_u64();
        // The circle in `parts` equal arcs around the places of messages; comparisons, no division.
        let (parts, shift) = match ciphertext.encoding() {
            Encoding::Bit => (2, 0),
            Encoding::Padded { messages } => (2 * u64::from(messages), 1),
            Encoding::Cyclic { messages } => (u64::from(messages), 1),
        };
        let arc = (1..=parts).fold(0u64, |arc, k| {
            // Beyond the k-th border, (k - shift / 2) / parts of the turn.
            let border = u128::from(2 * k - shift) * u128::from(p);
            let place = 2 * u128::from(phase) * u128::from(parts) + 1;
            arc + (border.wrapping_sub(place) >> 127) as u64
        });
        // The last arc of a circle of integers is the first.
        let wrapped = arc & (((arc ^ parts).wrapping_neg()) >> 63).wrapping_neg();
        Ok(match ciphertext.encoding() {
            // The upper half is 0, the lower one 1.
            Encoding::Bit => 1 - (arc as u32 & 1),
            Encoding::Padded { messages } => {
                // In the padding: beyond t - 1 up to the middle, below 0 from there on.
                let (arc, t) = (wrapped, u64::from(messages));
                let beyond = (t - 1).wrapping_sub(arc) >> 63;
                let below = (3 * t).wrapping_sub(2 * arc + 1) >> 63;
                let clamped = arc * (1 - beyond) + (t - 1) * beyond * (1 - below);
                clamped as u32
            }
            Encoding::Cyclic { .. } => wrapped as u32,
        })
    }

    /// The phase b + <a, z>, in turns from -1/2 to 1/2, noise included: for pictures and measurements by
    /// the owner of the key, and for nobody else.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn inspect_phase(&self, ciphertext: &CggiCiphertext<W>) -> Result<f64, Error> {
        let m = self.params.modulus();
        Ok(m.centered(W::from_u64(self.phase_of(ciphertext)?)) as f64 / m.value_u64() as f64)
    }

    fn phase_of(&self, ciphertext: &CggiCiphertext<W>) -> Result<u64, Error> {
        self.params.check_fingerprint("ciphertext", ciphertext.fingerprint())?;
        if ciphertext.key_id() != self.key_id {
            return Err(Error::ParamsMismatch(format!(
                "the ciphertext belongs to key {}, and this is key {}; decrypt it with its own key",
                hex(&ciphertext.key_id()),
                hex(&self.key_id)
            )));
        }
        Ok(self.phase(ciphertext.sample()).to_u64())
    }

    /// b + <a, z> modulo p.
    pub(crate) fn phase(&self, sample: &LweSample<W>) -> W {
        let m = self.params.modulus();
        let mut products = Zeroizing::new(sample.a.clone());
        let z = Zeroizing::new(self.ring.to_poly(self.params.rgsw().basis()));
        W::kernels().mul_assign(m, &mut products, z.row(0));
        products.iter().fold(sample.b, |sum, &x| m.add(sum, x))
    }

    fn encrypt_all(&self, encoding: Encoding, messages: &[u32], randomness: &Seed) -> Vec<CggiCiphertext<W>> {
        (0..).zip(messages).map(|(i, &message)| self.encrypt_one(encoding, message, randomness, i)).collect()
    }

    fn encrypt_one(
        &self,
        encoding: Encoding,
        message: u32,
        randomness: &Seed,
        index: u64,
    ) -> CggiCiphertext<W> {
        let (params, m) = (&self.params, self.params.modulus());
        let [high, low] = words(self.key_id);
        let own = randomness.derive("cggi encryption", &[high, low, index]);
        let mut a = vec![W::ZERO; params.n()];
        W::fill_uniform(&mut own.derive("mask", &[]).stream(), m.value_u64(), &mut a);
        let mut error = Zeroizing::new([0i8; 1]);
        params.spec().width.sample(&mut own.derive("error", &[]).stream(), &mut *error);
        let mut sample = LweSample { a, b: W::ZERO };
        let product = self.phase(&sample);
        let (numerator, denominator) = encoding.turns(message);
        let body = m.add(self.place(numerator, denominator), m.reduce_i64(error[0].into()));
        sample.b = m.sub(body, product);
        CggiCiphertext { fingerprint: params.fingerprint(), key_id: self.key_id, encoding, weight: 1, sample }
    }

    /// [`CggiParams::turns`] of a secret numerator, which is -1 to 63, or below a denominator that is a power of two. Powers of two take a
    /// shift; for other denominators every place is computed, and one is selected.
    fn place(&self, numerator: i64, denominator: u64) -> W {
        let p = self.params.modulus().value_u64();
        if denominator.is_power_of_two() {
            let scaled = 2 * i128::from(numerator) * i128::from(p) + i128::from(denominator);
            let place = (scaled >> (denominator.trailing_zeros() + 1)) as i64;
            return W::from_u64((place + (p as i64 & (place >> 63))) as u64);
        }
        (-1..64).fold(W::ZERO, |place, candidate| {
            let difference = (candidate ^ numerator) as u64;
            // All ones where they are equal.
            let same = (difference | difference.wrapping_neg()) >> 63;
            let kept = self.params.turns(candidate, denominator).to_u64() & same.wrapping_sub(1);
            W::from_u64(place.to_u64() | kept)
        })
    }
}

/// The identifier that keys expanded from `public` must carry.
pub fn cggi_key_id<W: Word>(params: &CggiParams<W>, public: &Seed) -> [u8; 16] {
    key_set_id(&params.fingerprint(), public)
}

/// An identifier as two words.
fn words(id: [u8; 16]) -> [u64; 2] {
    let id = u128::from_le_bytes(id);
    [id as u64, (id >> 64) as u64]
}
