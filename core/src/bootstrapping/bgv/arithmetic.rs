//! Keys for products, rotations and the swap of rows, without those of a bootstrap, and what is computed with them.

use alloc::{format, vec::Vec};

use super::{params::BgvParams, secret::BgvSecretKey};
use crate::{
    arith::Word,
    circuits::{
        arithmetic::{Key, KeyList, ListedKeys, SWAP, check_maker, check_owner, missing},
        program::integer_program::{IntegerMachine, IntegerTarget},
    },
    error::Error,
    ring::GaloisElement,
    rlwe::RlweContext,
    schemes::bgv::{BgvCiphertext, BgvEvaluator},
};

/// Keys for arithmetic on the ciphertexts of one owner, up to the level of a bootstrap's result. They hold no secret, and are a fraction of
/// [`BgvKeys`](super::BgvKeys): a key has the moduli of messages only, and there are as many as were asked for.
pub type BgvArithmeticKeys<W = u64> = ListedKeys<W, IntegerArithmetic<W>>;

/// What arithmetic on integers needs beside keys: the set, its levels and factors, and the operations on its ciphertexts.
pub struct IntegerArithmetic<W: Word> {
    params: BgvParams<W>,
    target: IntegerTarget<W>,
    evaluator: BgvEvaluator<W>,
}

impl<W: Word> BgvArithmeticKeys<W> {
    /// An empty collection for the key set `key_id`. Without `rotations` there will be a key for each rotation of the rows by a power of
    /// two, from which all others are composed; `swap` adds the key that exchanges the rows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more rotations than a row has slots, and for a set of odd index, whose slots are not two rows.
    pub fn new(
        params: &BgvParams<W>,
        key_id: [u8; 16],
        rotations: Option<&[i64]>,
        swap: bool,
    ) -> Result<Self, Error> {
        let (context, level) = (params.context(), params.levels().output);
        let (rlwe, target) = (context.rlwe(), IntegerTarget::new(context, level)?);
        let list = KeyList::of_rows(rlwe, target.columns(), level, rotations, swap)?;
        let mut elements = Vec::with_capacity(list.len());
        for index in 0..list.len() {
            elements.extend(element(rlwe, &list.key(index)?).map(|element| (element, level)));
        }
        let scheme = IntegerArithmetic {
            target: target.with_relinearization(level).with_galois(elements),
            params: params.clone(),
            evaluator: BgvEvaluator::new(context),
        };
        Ok(Self::none(scheme, rlwe.n(), key_id, list))
    }

    /// All keys of [`Self::new`].
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn generate(owner: &BgvSecretKey<W>, rotations: Option<&[i64]>, swap: bool) -> Result<Self, Error> {
        let mut keys = Self::new(owner.params(), owner.key_id(), rotations, swap)?;
        (0..keys.list.len()).try_for_each(|index| keys.make(index, owner))?;
        Ok(keys)
    }

    /// Makes one key of the list.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for the secret of another key set; [`Error::InvalidArgument`] for a key that is not in the list.
    pub fn make(&mut self, index: usize, owner: &BgvSecretKey<W>) -> Result<(), Error> {
        check_maker(self.key_id, owner.key_id())?;
        let (rlwe, level) = (self.scheme.params.context().rlwe(), self.list.level());
        let element = element(rlwe, &self.list.key(index)?);
        let key = owner.key_up_to(level, element);
        match element {
            None => self.relinearization = Some(key),
            Some(element) => self.galois.insert(rlwe, element, key)?,
        }
        Ok(())
    }

    /// Levels, factors and the keys of the list, for planning programs without bootstraps.
    pub fn target(&self) -> &IntegerTarget<W> {
        &self.scheme.target
    }

    /// Checks that a ciphertext belongs to the owner of these keys, and that they reach up to its level.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if it belongs to another owner or set; [`Error::LevelMismatch`] above the level of a bootstrap's result.
    pub fn check(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        check_owner(x.identity(), &self.scheme.params.fingerprint(), self.key_id)?;
        if x.level() <= self.list.level() {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "a ciphertext at level {}, keys for arithmetic up to level {}; lower it to that level first",
            x.level(),
            self.list.level()
        )))
    }

    /// x y slot by slot, relinearised and rescaled: one level below the lower of the two.
    ///
    /// # Errors
    /// As [`Self::check`]; [`Error::ParamsMismatch`] for ciphertexts of different keys; [`Error::LevelMismatch`] at level 0;
    /// [`Error::MissingKey`] before its key is made; [`Error::Limit`] for noise.
    pub fn multiply(&self, x: &BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.check(x)?;
        self.check(y)?;
        if x.level().min(y.level()) == 0 {
            return Err(Error::LevelMismatch(format!(
                "a product takes a level, and its operands are at levels {} and {}; encrypt at a level up to {}, or bootstrap before an \
                 operand falls below level {}",
                x.level(),
                y.level(),
                self.list.level(),
                self.scheme.params.levels().input
            )));
        }
        self.scheme.evaluator.multiply(x, y, self.relinearization()?)
    }

    /// Both rows rotated to the left by `steps` slots, or to the right if `steps` is negative. The rotation is composed of those that have
    /// keys.
    ///
    /// # Errors
    /// As [`Self::check`]; [`Error::MissingKey`] if no composition of the keys makes the rotation, or one of them has not been made; [`Error::Limit`] for noise.
    pub fn rotate(&self, x: &BgvCiphertext<W>, steps: i64) -> Result<BgvCiphertext<W>, Error> {
        self.check(x)?;
        let mut out = x.clone();
        for hop in self.scheme.target.rotation(x.level(), steps)? {
            out = self.scheme.evaluator.rotate(&out, hop, &self.galois)?;
        }
        Ok(out)
    }

    /// Exchanges the two rows.
    ///
    /// # Errors
    /// As [`Self::check`]; [`Error::MissingKey`] without its key; [`Error::Limit`] for noise.
    pub fn swap_rows(&self, x: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.check(x)?;
        self.scheme.target.swap().ok_or_else(|| missing(SWAP))?;
        self.scheme.evaluator.swap_rows(x, &self.galois)
    }

    /// The machine that evaluates programs planned for [`Self::target`].
    pub fn machine(&self) -> IntegerMachine<'_, W> {
        IntegerMachine {
            evaluator: &self.scheme.evaluator,
            relinearization: self.relinearization.as_ref(),
            galois: Some(&self.galois),
            refresh: None,
        }
    }
}

/// The automorphism that a key is for; none for products.
fn element<W: Word>(rlwe: &RlweContext<W>, key: &Key) -> Option<GaloisElement> {
    match key {
        Key::Relinearization => None,
        Key::Rotation(steps) => Some(rlwe.ring().rotation(*steps)),
        Key::Inversion(_) => Some(rlwe.ring().inversion()),
    }
}
