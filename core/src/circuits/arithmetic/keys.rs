//! Keys for products, rotations and conjugation, without those of a bootstrap.

use alloc::{format, string::String, vec::Vec};

use crate::{
    arith::Word,
    circuits::program::{Machine, Target},
    error::{Error, hex},
    ring::{Automorphism, GaloisElement},
    rlwe::{GaloisKeys, RelinearizationSource, RlweContext, SampleBlock},
    schemes::{
        ckks::{Ciphertext, CkksContext, CkksEvaluator, MainSecret},
        identity::Identity,
    },
};

/// Which keys are made, in order: the relinearisation key, rotations, and conjugation, or for integers the swap of the two rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyList {
    /// Left rotations of the slots of a message, or of a row, each from 1 up.
    rotations: Vec<i64>,
    /// What the one other automorphism does, if it has a key.
    inversion: Option<&'static str>,
    level: usize,
    key_bytes: usize,
}

/// What the key of the inversion does to integers in slots.
pub(crate) const SWAP: &str = "swap of the rows";

impl KeyList {
    /// Keys for ciphertexts at every level that messages of the set have. Without `rotations` the list has the rotations by powers of two,
    /// from which all others are composed. Given rotations may be negative, for rotations to the right.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more rotations than there are slots.
    pub fn new<W: Word>(
        context: &CkksContext<W>,
        target: &Target,
        rotations: Option<&[i64]>,
        conjugation: bool,
    ) -> Result<Self, Error> {
        let inversion = conjugation.then_some("conjugation");
        Self::of(context.rlwe(), ("messages", target.slots()), target.top(), rotations, inversion)
    }

    /// The list for messages up to `level` whose slots are two rows of `columns`, which are rotated together: as [`Self::new`], with the
    /// swap of the rows for the conjugation.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more rotations than a row has slots.
    pub(crate) fn of_rows<W: Word>(
        rlwe: &RlweContext<W>,
        columns: usize,
        level: usize,
        rotations: Option<&[i64]>,
        swap: bool,
    ) -> Result<Self, Error> {
        Self::of(rlwe, ("rows", columns), level, rotations, swap.then_some(SWAP))
    }

    fn of<W: Word>(
        rlwe: &RlweContext<W>,
        (what, slots): (&str, usize),
        level: usize,
        rotations: Option<&[i64]>,
        inversion: Option<&'static str>,
    ) -> Result<Self, Error> {
        let given = rotations.unwrap_or_default();
        if given.len() > slots {
            return Err(Error::InvalidArgument(format!(
                "{} rotations of {what} of {slots} slots; name each once",
                given.len()
            )));
        }
        let slots = slots as i64;
        let mut distinct: Vec<i64> = match rotations {
            Some(steps) => {
                steps.iter().map(|step| step.rem_euclid(slots)).filter(|&step| step != 0).collect()
            }
            None => (0..slots.trailing_zeros()).map(|bit| 1 << bit).collect(),
        };
        distinct.sort_unstable();
        distinct.dedup();
        let residues = 2 * rlwe.qp(level).len() * rlwe.digit_count(level) * rlwe.width();
        Ok(Self { rotations: distinct, inversion, level, key_bytes: residues * size_of::<W>() })
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        1 + self.rotations.len() + usize::from(self.inversion.is_some())
    }

    /// Always false: there is always the relinearisation key.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of each key in memory.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// What a key is for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a key that is not in the list.
    pub fn label(&self, index: usize) -> Result<String, Error> {
        Ok(match self.key(index)? {
            Key::Relinearization => "products".into(),
            Key::Rotation(steps) => format!("rotation by {steps}"),
            Key::Inversion(what) => what.into(),
        })
    }

    /// What each key is for, in order.
    ///
    /// # Errors
    /// None in practice: the keys are those of the list.
    pub fn labels(&self) -> Result<Vec<String>, Error> {
        (0..self.len()).map(|index| self.label(index)).collect()
    }

    /// The level of all keys, the highest of messages.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    pub(crate) fn key(&self, index: usize) -> Result<Key, Error> {
        match (index.checked_sub(1), self.inversion) {
            (None, _) => Ok(Key::Relinearization),
            (Some(at), _) if at < self.rotations.len() => Ok(Key::Rotation(self.rotations[at])),
            (Some(at), Some(what)) if at == self.rotations.len() => Ok(Key::Inversion(what)),
            _ => Err(Error::InvalidArgument(format!("key {index} of {}; they count from 0", self.len()))),
        }
    }
}

/// A key of a list.
pub(crate) enum Key {
    Relinearization,
    /// To the left.
    Rotation(i64),
    /// The one other automorphism, and what it does.
    Inversion(&'static str),
}

/// The keys of a [`KeyList`] for the ciphertexts of one owner; `S` is what the scheme needs beside them. They hold no secret.
pub struct ListedKeys<W: Word, S> {
    pub(crate) list: KeyList,
    pub(crate) key_id: [u8; 16],
    pub(crate) relinearization: Option<SampleBlock<W>>,
    pub(crate) galois: GaloisKeys<W>,
    pub(crate) scheme: S,
}

impl<W: Word, S> ListedKeys<W, S> {
    /// No keys yet, for a ring of degree `n`.
    pub(crate) fn none(scheme: S, n: usize, key_id: [u8; 16], list: KeyList) -> Self {
        Self { list, key_id, relinearization: None, galois: GaloisKeys::new(n), scheme }
    }

    /// The list of keys to make.
    pub fn list(&self) -> &KeyList {
        &self.list
    }

    /// Identifier of the key set that these keys belong to.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Bytes that the expanded keys take in memory. On the wire they are smaller, since a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.relinearization.as_ref().map_or(0, SampleBlock::memory_bytes) + self.galois.memory_bytes()
    }

    pub(crate) fn relinearization(&self) -> Result<&SampleBlock<W>, Error> {
        self.relinearization.as_ref().ok_or_else(|| missing("products"))
    }
}

/// Keys for arithmetic on the ciphertexts of one owner.
pub type ArithmeticKeys<W> = ListedKeys<W, NumberArithmetic<W>>;

/// What arithmetic on numbers needs beside keys: the set, and its levels and scales.
pub struct NumberArithmetic<W: Word> {
    context: CkksContext<W>,
    target: Target,
}

impl<W: Word> ArithmeticKeys<W> {
    /// An empty collection for the key set `key_id`; `target` is that of the set.
    pub fn new(context: &CkksContext<W>, target: Target, key_id: [u8; 16], list: KeyList) -> Self {
        let scheme = NumberArithmetic { context: context.clone(), target: target.without_keys() };
        Self::none(scheme, context.rlwe().n(), key_id, list)
    }

    /// All keys of a list.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn generate(owner: &MainSecret<'_, W>, target: Target, list: KeyList) -> Result<Self, Error> {
        let mut keys = Self::new(owner.context(), target, owner.key_id(), list);
        (0..keys.list.len()).try_for_each(|index| keys.make(index, owner))?;
        Ok(keys)
    }

    /// Makes one key of the list.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for the secret of another key set; [`Error::InvalidArgument`] for a key that is not in the list.
    pub fn make(&mut self, index: usize, owner: &MainSecret<'_, W>) -> Result<(), Error> {
        check_maker(self.key_id, owner.key_id())?;
        let level = self.list.level;
        let element = match self.list.key(index)? {
            Key::Relinearization => {
                self.relinearization = Some(owner.relinearization_key(level)?);
                self.scheme.target = self.scheme.target.clone().with_relinearization(level);
                return Ok(());
            }
            Key::Rotation(steps) => GaloisElement::rotation(steps, self.galois.n()),
            Key::Inversion(_) => GaloisElement::conjugation(self.galois.n()),
        };
        self.galois.insert(self.scheme.context.rlwe(), element, owner.galois_key(element, level)?)?;
        self.scheme.target = self.scheme.target.clone().with_galois([(element, level)]);
        Ok(())
    }

    /// Levels, scales and available keys, for planning programs without bootstraps.
    pub fn target(&self) -> &Target {
        &self.scheme.target
    }

    /// Checks that a ciphertext belongs to the owner of these keys.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if it belongs to another owner or set.
    pub fn check_owner(&self, x: &Ciphertext<W>) -> Result<(), Error> {
        check_owner(x.identity(), &self.scheme.context.fingerprint(), self.key_id)
    }

    /// The machine that evaluates programs planned for [`Self::target`].
    pub fn machine<'a>(&'a self, evaluator: &'a CkksEvaluator<W>) -> Machine<'a, W> {
        let relinearization = self.relinearization.as_ref().map(|key| key as &dyn RelinearizationSource<W>);
        Machine { evaluator, relinearization, galois: Some(&self.galois), refresh: None, digits: None }
    }

    pub(super) fn rotation(&self, steps: i64) -> Result<(&Automorphism, &SampleBlock<W>), Error> {
        self.galois.get(GaloisElement::rotation(steps, self.galois.n()))
    }

    pub(super) fn conjugation(&self) -> Result<(&Automorphism, &SampleBlock<W>), Error> {
        self.galois.get(GaloisElement::conjugation(self.galois.n())).map_err(|_| missing("conjugation"))
    }
}

/// Checks that a ciphertext is of the set and under the key of keys for arithmetic.
pub(crate) fn check_owner(x: Identity, set: &[u8; 16], key_id: [u8; 16]) -> Result<(), Error> {
    x.check_set(set)?;
    if x.key_id == key_id {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "ciphertext under key {}, keys for arithmetic of {}; compute with keys of the owner of the ciphertext",
        hex(&x.key_id),
        hex(&key_id)
    )))
}

/// Checks that keys are made with the secret of their own key set.
pub(crate) fn check_maker(key_id: [u8; 16], secret: [u8; 16]) -> Result<(), Error> {
    if key_id == secret {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "keys of key set {} made with the secret of {}; make them with their own",
        hex(&key_id),
        hex(&secret)
    )))
}

pub(crate) fn missing(what: &str) -> Error {
    Error::MissingKey(format!("there is no key for {what} among these; make keys that have it"))
}
