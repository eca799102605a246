//! Look-ups of integers of several digits by a tree of functional bootstrappings.
//!
//! For each choice of the higher digits, the table of the lowest digit is a look-up; the results of t of them are packed
//! into a test polynomial, which is turned by the next digit, and so on up the tree (Guimarães, Borin, Aranha, CHES 2021;
//! packing after Chen, Dai, Kim, Song, ACNS 2021, every coefficient of a window filled on the way). Where the noise
//! allows, one rotation gives all look-ups of the lowest digit (multi-value, [`CggiEvaluator::look_up_many`]).

use alloc::{format, vec::Vec};

use super::{
    evaluator::CggiEvaluator,
    look_up::{multi_value_noise, shifted},
    run::CggiRun,
    test_vector::TestVector,
};
use crate::{
    arith::Word,
    error::{Error, hex},
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{
        lwe::LweSample,
        rgsw::{PackingKeys, RgswContext},
    },
    schemes::cggi::{
        CggiCiphertext, CggiParams, CggiSecretKey, Encoding, NoiseModel, RotationMethod, cggi_key_id,
    },
    trace::{Counters, Observer},
};

/// Most digits of the gadget of packing.
const MAX_DIGITS: usize = 8;

/// Most entries of a table.
const MAX_ENTRIES: usize = 1 << 16;

/// The keys that pack results into test polynomials, for tree look-ups: log2 N key switches under the ring key. Public,
/// as the evaluation keys are.
pub struct CggiPackingKeys<W: Word = u32> {
    fingerprint: [u8; 16],
    key_id: [u8; 16],
    keys: PackingKeys<W>,
    variance: f64,
}

impl<W: Word> CggiPackingKeys<W> {
    /// Makes the keys of a secret key. Their gadget follows from the set: the fewest digits that keep its promise for
    /// look-ups of two digits, or the best ones of at most 8.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set that is of neither GINX nor AP.
    pub fn generate(secret: &CggiSecretKey<W>) -> Result<Self, Error> {
        let params = secret.params();
        check_method(params)?;
        let (context, variance) = gadget(params)?;
        // One gadget per key: the same seeds with another gadget would give samples with the same masks and errors.
        let keys = PackingKeys::generate(&context, &secret.seeds, &secret.ring_eval)?;
        Ok(Self { fingerprint: params.fingerprint(), key_id: secret.key_id(), keys, variance })
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.keys.memory_bytes()
    }

    /// Variance that packing adds to each coefficient, in squared turns.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// Samples of the keys of a set.
    ///
    /// # Errors
    /// As [`Self::generate`].
    pub(crate) fn samples(params: &CggiParams<W>) -> Result<usize, Error> {
        check_method(params)?;
        Ok(PackingKeys::samples(&gadget(params)?.0))
    }

    /// The first component of a sample, which travels.
    ///
    /// # Errors
    /// As [`Self::generate`]; [`Error::InvalidArgument`] for a sample that does not exist.
    pub(crate) fn body(secret: &CggiSecretKey<W>, index: usize) -> Result<Poly<W, Eval>, Error> {
        let (context, _) = gadget(secret.params())?;
        Ok(PackingKeys::sample(&context, &secret.seeds, &secret.ring_eval, index)?.b)
    }

    /// The keys from the first components of all samples, `[sample][n]`, and the public seed of the gates.
    ///
    /// # Errors
    /// As [`Self::generate`]; [`Error::InvalidArgument`] for another number of residues.
    pub(crate) fn expand(params: &CggiParams<W>, public: &Seed, bodies: &[W]) -> Result<Self, Error> {
        check_method(params)?;
        let (context, variance) = gadget(params)?;
        let keys = PackingKeys::expand(&context, public, bodies)?;
        let key_id = cggi_key_id(params, public);
        Ok(Self { fingerprint: params.fingerprint(), key_id, keys, variance })
    }

    /// [`Self::variance`] of keys that are not made yet, for `samples` that are packed at a distance from each other
    /// ([`PackingKeys::pack`]).
    ///
    /// # Errors
    /// As [`Self::generate`].
    pub(in crate::bootstrapping) fn variance_of(
        params: &CggiParams<W>,
        samples: usize,
    ) -> Result<f64, Error> {
        check_method(params)?;
        let squares = |l: usize| (l * l - 1) as f64;
        Ok(gadget(params)?.1 * squares(samples) / squares(params.n()))
    }

    /// As [`PackingKeys::pack`], for samples under the same key.
    pub(in crate::bootstrapping) fn pack(
        &self,
        samples: &[LweSample<W>],
        counters: &mut Counters,
    ) -> Result<[Vec<W>; 2], Error> {
        self.keys.pack(samples, counters)
    }

    /// [`Self::variance`] in units of a bootstrap's, rounded up.
    fn weight(&self, params: &CggiParams<W>) -> u64 {
        libm::ceil(self.variance / params.noise().rotation) as u64
    }
}

impl<W: Word> CggiEvaluator<W> {
    /// table\[m_0 + t m_1 + t^2 m_2 + …\] for encrypted digits m_i < t with padding, lowest first, t a power of two.
    ///
    /// For d digits: 1 rotation or t^(d-1) of them for the lowest digit, t^(d-1-i) for digit i, and as many packings of t
    /// samples. The result carries the noise of a look-up and, for each digit but the first, that of a rotation and a
    /// packing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no digits, digits of different encodings or without padding, t that is not a power of
    /// two, a table of another length than t^d or of more than 2^16 entries, an entry that `output` does not have, or a
    /// set that is of neither GINX nor AP; [`Error::ParamsMismatch`] for objects of other keys; [`Error::Limit`] if the noise of
    /// a digit or of the result would break the promise of the set (see [`Self::accepting`]); [`Error::Cancelled`] if the
    /// observer says so.
    pub fn look_up_tree(
        &self,
        packing: &CggiPackingKeys<W>,
        digits: &[&CggiCiphertext<W>],
        table: &[u32],
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        let params = self.params();
        check_method(params)?;
        let t = self.check_digits(packing, digits, table, output)?;
        let Some((lowest, higher)) = digits.split_first() else {
            return Err(Error::InvalidArgument("a look-up of no digits; give at least one".into()));
        };
        let each = packing.weight(params) + 1;
        let above = each * higher.len() as u64;
        let kept = |first: u64| {
            u32::try_from(first + above).is_ok_and(|weight| self.keeps_promise(weight, output.margin()))
        };
        let tables: Vec<&[u32]> = table.chunks_exact(t).collect();
        let many = tables.iter().map(|table| multi_value_noise(table)).max().unwrap_or(1);
        let padded = matches!(output, Encoding::Padded { .. });
        let mut nodes = if padded && tables.len() > 1 && kept(many) {
            self.look_up_many(lowest, &tables, output, observer)?
        } else {
            if !kept(1) {
                return Err(Error::Limit(format!(
                    "a tree of {} digits gives {} times the noise of a bootstrap, too much for {} of set {}; look up \
                     fewer digits or messages, or accept more failures",
                    digits.len(),
                    above + 1,
                    output.describe(),
                    params.name()
                )));
            }
            let leaf = |table: &&[u32]| self.look_up(lowest, table, output, observer);
            tables.iter().map(leaf).collect::<Result<Vec<_>, Error>>()?
        };
        let mut counters = Counters::default();
        for digit in higher {
            self.check_promise(digit.weight(), digit.encoding().margin())?;
            let input = shifted(params, digit, 1, 4 * t as u64);
            let mut joined = Vec::with_capacity(nodes.len() / t);
            for group in nodes.chunks_exact(t) {
                let samples: Vec<LweSample<W>> = group.iter().map(|node| node.sample().clone()).collect();
                let before = group.iter().map(|node| u64::from(node.weight())).max().unwrap_or(0);
                let test = TestVector::encrypted(packing.keys.pack_windows(&samples, &mut counters)?);
                let run = CggiRun::new(self.shared_keys(), input.clone(), test, output);
                let turned = run.finish(observer)?;
                let weight = u32::try_from(before + each).unwrap_or(u32::MAX);
                let key_id = self.keys().key_id();
                joined.push(CggiCiphertext::new(params, key_id, output, weight, turned.sample().clone())?);
            }
            nodes = joined;
        }
        nodes.pop().ok_or_else(|| Error::InvalidArgument("a table of no entries; give t^d of them".into()))
    }

    /// t, after everything is checked that can be checked before computing.
    fn check_digits(
        &self,
        packing: &CggiPackingKeys<W>,
        digits: &[&CggiCiphertext<W>],
        table: &[u32],
        output: Encoding,
    ) -> Result<usize, Error> {
        let params = self.params();
        params.check_fingerprint("packing key", packing.fingerprint)?;
        if packing.key_id != self.keys().key_id() {
            return Err(Error::ParamsMismatch(format!(
                "the packing keys belong to key {}, and the evaluation keys to {}; use objects of one key",
                hex(&packing.key_id),
                hex(&self.keys().key_id())
            )));
        }
        output.check()?;
        table.iter().try_for_each(|&entry| output.check_message(entry))?;
        digits.iter().try_for_each(|digit| self.check_key(digit))?;
        let encoding = digits.first().map_or(Encoding::Bit, |digit| digit.encoding());
        let t = encoding.messages();
        let entries = (t as usize).checked_pow(digits.len() as u32).filter(|&entries| entries <= MAX_ENTRIES);
        let same = digits.iter().all(|digit| digit.encoding() == encoding);
        if same
            && matches!(encoding, Encoding::Padded { .. })
            && t.is_power_of_two()
            && entries == Some(table.len())
        {
            return Ok(t as usize);
        }
        Err(Error::InvalidArgument(format!(
            "a tree of {} digits, the first {}, and a table of {} entries; take digits of one encoding with padding and a \
             power of two t of messages, and t^d entries, at most {MAX_ENTRIES}",
            digits.len(),
            encoding.describe(),
            table.len()
        )))
    }
}

/// Refuses methods that start from a polynomial which everybody knows: all but GINX and AP.
fn check_method<W: Word>(params: &CggiParams<W>) -> Result<(), Error> {
    match params.spec().method {
        RotationMethod::GinxBinary
        | RotationMethod::GinxUnrolled
        | RotationMethod::GinxTernary
        | RotationMethod::Ap { .. } => Ok(()),
        other => Err(Error::InvalidArgument(format!(
            "set {} rotates by {}, which begins with a known polynomial; tree look-ups take a set of GINX or AP",
            params.name(),
            other.name()
        ))),
    }
}

/// The gadget of packing, and the variance that packing with it adds.
fn gadget<W: Word>(params: &CggiParams<W>) -> Result<(RgswContext<W>, f64), Error> {
    let spec = params.spec();
    let n = params.n();
    let margin = Encoding::Padded { messages: spec.messages }.margin();
    let bits = u64::BITS - spec.prime.leading_zeros();
    let mut best: Option<(RgswContext<W>, f64)> = None;
    for digits in 1..=MAX_DIGITS {
        for base_log in 1..=(bits / digits as u32).min(30) {
            let Ok(context) = RgswContext::new(n, spec.prime, base_log, digits, spec.width) else { continue };
            let one = NoiseModel::automorphism(spec, base_log, digits, context.gadget().drop());
            let variance = ((n * n - 1) as f64) / 3.0 * one;
            if best.as_ref().is_none_or(|(_, found)| variance < *found) {
                best = Some((context, variance));
            }
        }
        let kept = |variance: f64| {
            params.noise().log2_failure(2.0 + variance / params.noise().rotation, margin) <= spec.log_failure
        };
        if best.as_ref().is_some_and(|(_, variance)| kept(*variance)) {
            break;
        }
    }
    best.ok_or_else(|| {
        Error::InvalidArgument(format!(
            "no gadget packs samples of set {} with little enough noise; take a set for look-ups",
            params.name()
        ))
    })
}
