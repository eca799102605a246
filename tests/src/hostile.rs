//! What every reader of untrusted bytes must refuse.

use refloat::Error;
use refloat::bootstrapping::method::NumberSecret;
use refloat::schemes::ckks::Ciphertext;
use refloat::wire::frame::{self, DIGEST_LEN};
use refloat::wire::header::HEADER_LEN;
use refloat::wire::pack::{pack_u64, packed_len, residue_bits, unpack_u64};
use refloat::wire::{
    CkksSet, Header, ObjectKind, SeededSecret, ciphertext_from_bytes, ciphertext_to_bytes,
    public_key_from_bytes, public_key_to_bytes, secret_key_from_bytes, secret_key_to_bytes,
};

/// Reads bytes and forgets them.
pub type Read<'a> = dyn Fn(&[u8]) -> Result<(), Error> + 'a;

/// One kind of object: good bytes of it, and its reader.
pub struct Reader<'a> {
    /// For messages.
    pub name: &'static str,
    /// What the bytes are.
    pub kind: ObjectKind,
    /// Good bytes.
    pub bytes: Vec<u8>,
    /// Its reader.
    pub read: Box<Read<'a>>,
    /// Where packed rows of residues begin in the payload, and their primes, of `n` residues each.
    pub rows: Vec<(usize, u64)>,
    /// Residues of a row.
    pub n: usize,
}

/// Rows that follow each other from byte `at` on, one for each prime.
pub fn rows_from(mut at: usize, primes: impl IntoIterator<Item = u64>, n: usize) -> Vec<(usize, u64)> {
    let place = |prime| {
        let row = (at, prime);
        at += packed_len(residue_bits(prime), n);
        row
    };
    primes.into_iter().map(place).collect()
}

impl<'a> Reader<'a> {
    /// The reader of a secret key of a ring of degree `n`.
    pub fn of_secret_key<K: SeededSecret>(key: &'a K, n: usize) -> Self {
        Self {
            name: "secret key",
            kind: ObjectKind::SecretKey,
            bytes: secret_key_to_bytes(key),
            read: Box::new(|bytes| secret_key_from_bytes(key.set(), bytes).map(drop)),
            rows: Vec::new(),
            n,
        }
    }

    /// The readers of what every CKKS set has: ciphertexts, here one in two components, public keys and secret keys.
    ///
    /// # Panics
    /// For a ciphertext of another set, and a secret key that has no public one.
    pub fn of_ckks<K>(key: &'a K, x: &Ciphertext<<K::Set as CkksSet>::Word>) -> [Self; 3]
    where
        K: SeededSecret + NumberSecret<<K::Set as CkksSet>::Word>,
        K::Set: CkksSet,
    {
        let (set, context) = (key.set(), key.set().ckks());
        let (rlwe, n, level) = (context.rlwe(), context.rlwe().n(), set.public_key_level());
        let primes: Vec<u64> = rlwe.q(x.level()).primes().collect();
        let public = key.main_secret().and_then(|main| main.public_key(level)).expect("a sound key");
        let ciphertext = Self {
            name: "ciphertext",
            kind: ObjectKind::Ciphertext,
            bytes: ciphertext_to_bytes(context, x).expect("of the set"),
            read: Box::new(move |bytes| ciphertext_from_bytes(context, bytes).map(drop)),
            rows: rows_from(24, primes.repeat(2), n),
            n,
        };
        let public_key = Self {
            name: "public key",
            kind: ObjectKind::PublicKey,
            bytes: public_key_to_bytes(set, &public),
            read: Box::new(move |bytes| public_key_from_bytes(set, bytes).map(drop)),
            rows: rows_from(32, rlwe.q(level).primes(), n),
            n,
        };
        [ciphertext, public_key, Self::of_secret_key(key, n)]
    }

    /// The payload of the good bytes.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[HEADER_LEN..self.bytes.len() - DIGEST_LEN]
    }

    /// A well-sealed frame around another payload.
    pub fn reseal(&self, payload: &[u8]) -> Vec<u8> {
        let header = self.header();
        frame::write(self.kind, header.fingerprint, header.key_id, payload)
    }

    /// Runs all the checks below as one test; bits are flipped in steps of `step`.
    ///
    /// # Panics
    /// If any of them fails.
    pub fn takes_only_good_bytes(&self, step: usize) {
        self.takes_good_bytes();
        self.refuses_another_length();
        self.notices_flipped_bits(step);
        self.names_another_kind_set_or_key();
        self.refuses_another_payload();
        self.refuses_residues_out_of_range();
    }

    /// Good bytes are read, and writing is canonical.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn takes_good_bytes(&self) {
        assert_eq!((self.read)(&self.bytes), Ok(()), "{}", self.name);
        assert_eq!(self.bytes, self.reseal(self.payload()), "{}", self.name);
        if let Some(&(at, prime)) = self.rows.last() {
            let end = at + packed_len(residue_bits(prime), self.n);
            assert_eq!(end, self.payload().len(), "{}: the layout is the documented one", self.name);
        }
    }

    /// Refuses bytes that are cut at some places, at all places near the ends, or extended by one.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn refuses_another_length(&self) {
        let whole = self.bytes.len();
        let lengths = (0..=HEADER_LEN + 64).chain((HEADER_LEN..whole).step_by(997)).chain(whole - 64..whole);
        for len in lengths.filter(|&len| len < whole) {
            let error = self.refusal(&self.bytes[..len], "BAD_BYTES");
            assert!(error.contains(&format!("{len} bytes")), "{error}");
        }
        let mut longer = self.bytes.clone();
        longer.push(0);
        self.refusal(&longer, "BAD_BYTES");
    }

    /// Notices single flipped bits, at every `step`-th place and at all near the ends.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn notices_flipped_bits(&self, step: usize) {
        let whole = self.bytes.len();
        let bits =
            (0..8 * (HEADER_LEN + 64)).chain((0..8 * whole).step_by(step)).chain(8 * (whole - 40)..8 * whole);
        let mut damaged = self.bytes.clone();
        for bit in bits.filter(|&bit| bit < 8 * whole) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!((self.read)(&damaged).is_err(), "{}, bit {bit}", self.name);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(damaged, self.bytes);
    }

    /// Names another kind, set or key, well sealed. The key id of a key is a function of its seed: no other one is
    /// believed; a ciphertext may be under any key.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn names_another_kind_set_or_key(&self) {
        let header = self.header();
        for kind in ObjectKind::ALL.into_iter().filter(|&kind| kind != self.kind) {
            let bytes = frame::write(kind, header.fingerprint, header.key_id, self.payload());
            let error = self.refusal(&bytes, "BAD_BYTES");
            assert!(error.contains(kind.name()) && error.contains(self.kind.name()), "{error}");
        }
        let bytes = frame::write(self.kind, [0xab; 16], header.key_id, self.payload());
        let error = self.refusal(&bytes, "PARAMS_MISMATCH");
        assert!(error.contains(&"ab".repeat(16)), "{error}");
        // Ciphertexts are read under any key.
        if !matches!(self.kind, ObjectKind::Ciphertext | ObjectKind::BgvCiphertext) {
            let bytes = frame::write(self.kind, header.fingerprint, [0xcd; 16], self.payload());
            self.refusal(&bytes, "PARAMS_MISMATCH");
        }
    }

    /// Refuses payloads of other lengths, well sealed.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn refuses_another_payload(&self) {
        let whole = self.payload().len();
        let lengths = [0, 1, 8, 23, 24, 31, 32, 40, whole - 1, whole + 1, whole + 24];
        for len in lengths.into_iter().filter(|&len| len != whole) {
            let mut other = self.payload().to_vec();
            other.resize(len, 0);
            self.refusal(&self.reseal(&other), "BAD_BYTES");
        }
    }

    /// Refuses residues at their prime, well sealed, in every row.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn refuses_residues_out_of_range(&self) {
        for &(at, prime) in &self.rows {
            let bits = residue_bits(prime);
            let row = at..at + packed_len(bits, self.n);
            let mut residues = vec![0; self.n];
            unpack_u64(bits, prime, &self.payload()[row.clone()], &mut residues).unwrap();
            for position in [0, self.n / 2, self.n - 1] {
                let mut wrong = residues.clone();
                wrong[position] = prime;
                let mut body = self.payload().to_vec();
                pack_u64(bits, &wrong, &mut body[row.clone()]);
                let error = self.refusal(&self.reseal(&body), "BAD_BYTES");
                assert!(error.contains(&format!("residue {position} is {prime}")), "{}: {error}", self.name);
            }
        }
    }

    /// The message of the error, whose code is `code`.
    fn refusal(&self, bytes: &[u8], code: &str) -> String {
        let error = (self.read)(bytes).unwrap_err();
        assert_eq!(error.code(), code, "{}, {} bytes: {error}", self.name, bytes.len());
        error.to_string()
    }

    fn header(&self) -> Header {
        frame::peek(&self.bytes).unwrap()
    }
}

/// The tests that every reader has to pass, for all readers that a function gives.
#[macro_export]
macro_rules! tests_of_readers {
    ($readers:ident) => {
        #[test]
        fn good_bytes_are_read() {
            $readers().iter().for_each($crate::hostile::Reader::takes_good_bytes);
        }

        #[test]
        fn what_is_cut_or_extended_is_refused() {
            $readers().iter().for_each($crate::hostile::Reader::refuses_another_length);
        }

        #[test]
        fn every_flipped_bit_is_noticed() {
            for reader in $readers() {
                reader.notices_flipped_bits(7919);
            }
        }

        #[test]
        fn another_kind_set_or_key_is_named() {
            $readers().iter().for_each($crate::hostile::Reader::names_another_kind_set_or_key);
        }

        #[test]
        fn payloads_of_another_length_are_refused() {
            $readers().iter().for_each($crate::hostile::Reader::refuses_another_payload);
        }

        #[test]
        fn residues_at_or_above_their_prime_are_refused() {
            $readers().iter().for_each($crate::hostile::Reader::refuses_residues_out_of_range);
        }
    };
}
