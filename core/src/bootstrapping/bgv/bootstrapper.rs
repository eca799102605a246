//! The stages as public methods, and all of them in one call.

use alloc::{boxed::Box, format, vec::Vec};

use super::{maps::Maps, noise::LARGEST_DEVIATION, params::BgvParams, run::BgvRun, unpack::Packing};
use crate::{
    arith::Word,
    bootstrapping::{
        MethodInfo,
        raising::{Direction, KeySource, key_source},
    },
    circuits::linear_transform::{IntegerTransform, PlaintextStorage},
    error::Error,
    par,
    rlwe::{EphemeralPair, ModRaise, SampleBlock},
    schemes::{
        bgv::{BgvCiphertext, BgvEvaluator, Factor},
        evaluator::Label,
    },
    trace::{Counters, Observer},
};

/// Up to this ring degree, a share of a row is done sooner than it is handed to a thread.
const SHORT_ROW: usize = 1 << 14;

/// The method.
pub const METHOD: MethodInfo = MethodInfo {
    id: "bgv",
    title: "BGV bootstrapping by removal of a small digit",
    source: "Halevi, Shoup, J. Cryptology 2021; Ma, Huang, Wang, Wang, ePrint 2024/115",
};

/// A message between the two halves of a raise: p^t m' + q0 I under the ephemeral secret. It has no form on the wire.
pub struct BgvPrepared<W: Word> {
    pair: EphemeralPair<W>,
    /// Multiples of q0 that were taken off, if digits are read from them.
    pub(super) multiples: Option<Box<EphemeralPair<W>>>,
    /// The ciphertext that was prepared, without its components.
    pub(super) origin: BgvCiphertext<W>,
}

impl<W: Word> BgvPrepared<W> {
    /// The pair modulo q0.
    pub fn pair(&self) -> &EphemeralPair<W> {
        &self.pair
    }

    /// The factor of the message.
    pub fn factor(&self) -> Factor {
        self.origin.factor()
    }
}

/// Evaluates on ciphertexts of one set: bootstrapping, and through [`Self::bgv`] the arithmetic between bootstraps.
pub struct BgvBootstrapper<W: Word = u64> {
    params: BgvParams<W>,
    bgv: BgvEvaluator<W>,
    maps: Maps<W>,
    /// Present if slots hold more than one integer.
    packing: Option<Packing<W>>,
    pub(super) raise: ModRaise<W>,
}

impl<W: Word> BgvBootstrapper<W> {
    /// Encodes the diagonals of both maps and keeps them as `storage` says.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for maps that the ring has no slots for, which validated parameters rule out.
    pub fn new(params: &BgvParams<W>, storage: PlaintextStorage) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            bgv: BgvEvaluator::new(params.context()),
            maps: Maps::new(params, storage)?,
            packing: params.is_general().then(|| Packing::new(params)).transpose()?,
            raise: ModRaise::new(params.context().rlwe()),
        })
    }

    /// The parameter set.
    pub fn params(&self) -> &BgvParams<W> {
        &self.params
    }

    /// General operations on ciphertexts of this set.
    pub fn bgv(&self) -> &BgvEvaluator<W> {
        &self.bgv
    }

    /// Bytes of memory kept from one bootstrap to the next: the encoded diagonals of both linear maps, and the multiples that unpack slots
    /// of more than one coordinate. Memory that a bootstrap takes while it runs is not counted.
    pub fn memory_bytes(&self) -> usize {
        self.maps.memory_bytes() + self.packing.as_ref().map_or(0, Packing::memory_bytes)
    }

    /// The same slots at the output level, with factor 1, from [`BgvLevels::input`](super::BgvLevels) or any level above.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::PlaintextMismatch`], [`Error::Limit`] for a ciphertext that does
    /// not fit; [`Error::Cancelled`] if the observer says so; [`Error::MissingKey`].
    pub fn bootstrap(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<BgvCiphertext<W>, Error> {
        let mut run = BgvRun::new(self, x)?;
        while !run.step(keys, observer)? {}
        run.finish()
    }

    /// x y, relinearised and rescaled by one level.
    ///
    /// # Errors
    /// As [`BgvEvaluator::multiply`]; [`Error::ParamsMismatch`] for keys of another set.
    pub fn multiply(
        &self,
        x: &BgvCiphertext<W>,
        y: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check(x, keys)?;
        self.bgv.multiply(x, y, &*keys.relinearization_key()?)
    }

    /// Moves slots into coefficients: slot (s, j) becomes coefficient brev(j) + s n/2, where n is the number of slots. In a ring of two
    /// axes this holds for every coordinate, in the row of its power of Z.
    ///
    /// # Errors
    /// As [`IntegerTransform::apply`].
    pub fn slots_to_coeffs(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.apply(&self.maps.slots_to_coeffs, x, keys, counters)
    }

    /// The same slots at `level`: rescaled as long as that lowers the noise, then dropped.
    pub(super) fn lowered(&self, x: &BgvCiphertext<W>, level: usize) -> Result<BgvCiphertext<W>, Error> {
        let context = self.params.context();
        let below =
            |x: &BgvCiphertext<W>| context.noise().rescaled(x.noise(), context.level_divisor(x.level()));
        let mut out = x.clone();
        while out.level() > level && below(&out) < out.noise() {
            out = self.bgv.rescale(&out)?;
        }
        self.bgv.drop_to_level(&out, level)
    }

    /// From level 0 to the ephemeral secret, multiplied by p^e modulo q0, or by p^r and the step of the set.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] above level 0; [`Error::PlaintextMismatch`] for plaintexts that are not modulo p^r;
    /// [`Error::ParamsMismatch`] for another set or key; [`Error::Limit`] for noise that would make digits exceed their bound;
    /// [`Error::MissingKey`].
    pub fn prepare(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvPrepared<W>, Error> {
        self.check(x, keys)?;
        self.params.check_ring("the raise takes", x, self.params.messages())?;
        let model = self.params.context().noise();
        let deviation = self.params.quotient_deviation(model.deviation(x.noise()));
        if deviation.is_nan() || deviation > LARGEST_DEVIATION {
            return Err(Error::Limit(format!(
                "the noise of the message could be 2^{:.1} of q0, at most 2^{:.1} of it may be raised; bootstrap before the noise \
                 has grown that much, or rescale first",
                libm::log2(deviation),
                libm::log2(LARGEST_DEVIATION)
            )));
        }
        let key = keys.ephemeral_key(Direction::ToEphemeral)?;
        let pair = self.raise.to_ephemeral(x.pair()?, Some((self.params.encapsulation(), &key)), counters)?;
        // Both are below q0, which is below 2^61.
        let (power, multiplier) = (self.params.messages().value(), self.params.multiplier());
        let pair = pair.multiply_integer(power as i64);
        let apart = self.params.is_apart().then(|| pair.clone());
        let multiples = apart.map(|pair| pair.multiples_taken_off(multiplier)).transpose()?;
        let pair = pair.multiply_integer(multiplier as i64);
        Ok(BgvPrepared { pair, multiples: multiples.map(Box::new), origin: x.without_parts() })
    }

    /// From the lowest modulus to the highest: I + p^t m'/q0 in the coefficients, modulo p^e, or I + step m'/q0.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for keys of another set; [`Error::MissingKey`].
    pub fn mod_raise(
        &self,
        x: &BgvPrepared<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.raised(x, &x.pair, self.base_modulus()?, self.params.raised_noise(), keys, counters)
    }

    /// Raises a pair of `x` to the highest modulus, under the main secret, as a ciphertext modulo p^e with this factor and noise.
    pub(super) fn raised(
        &self,
        x: &BgvPrepared<W>,
        pair: &EphemeralPair<W>,
        factor: Factor,
        noise: f64,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check(&x.origin, keys)?;
        let back = keys.ephemeral_key(Direction::FromEphemeral)?;
        let pair =
            self.raise.from_ephemeral_over(pair, self.params.raised().value(), Some(&back), counters)?;
        Ok(x.origin.with_pair(pair, self.params.levels().coeffs_to_slots, factor, noise))
    }

    /// Moves the coefficients into slots.
    ///
    /// # Errors
    /// As [`IntegerTransform::apply`].
    pub fn coeffs_to_slots(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.apply(&self.maps.coeffs_to_slots, x, keys, counters)
    }

    /// The coordinates of slots that hold elements of Galois rings, each in a ciphertext of integers at the same level. If slots hold
    /// integers, the ciphertext itself is the only one.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at another level than that of the removal; [`Error::ParamsMismatch`] for keys of another set;
    /// [`Error::MissingKey`]; [`Error::Limit`] for the noise.
    pub fn unpack(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        self.check(x, keys)?;
        match &self.packing {
            Some(packing) => packing.unpack(x, keys, counters),
            None => Ok(alloc::vec![x.clone()]),
        }
    }

    /// Applies [`Self::remove_digit`] to each coordinate that [`Self::unpack`] gave, and packs the results into slots again. Modulus and
    /// factor are as that function says.
    ///
    /// # Errors
    /// As [`Self::remove_digit`] for each; [`Error::InvalidArgument`] for another number of coordinates.
    pub fn remove_digits(
        &self,
        coordinates: &[BgvCiphertext<W>],
        factor: Factor,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        if let Some(packing) = &self.packing {
            let removed = self.remove_each(coordinates, factor, keys, counters)?;
            return packing.pack(&self.bgv, &removed);
        }
        let [x] = coordinates else {
            return Err(Error::InvalidArgument(format!(
                "{} ciphertexts, slots of {} hold one integer each; give one",
                coordinates.len(),
                self.params.name()
            )));
        };
        self.remove_digit(x, factor, keys, counters)
    }

    /// From slots I + p^t y modulo p^e, the slots m modulo p^r with factor 1, where y = f m/q0 and f is the `factor` that the message m had
    /// when it was prepared. In a general set the result has the factor that slots-to-coefficients turns into 1. Where digits are apart, x
    /// holds I + p^t y or I + step J, and the result is I modulo p^e, with the factor at which [`Self::take_off`] subtracts it.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for too few levels; [`Error::PlaintextMismatch`] for plaintexts that are not modulo p^e, or a factor
    /// that is not modulo p^r; [`Error::ParamsMismatch`] for another set or key; [`Error::MissingKey`].
    pub fn remove_digit(
        &self,
        x: &BgvCiphertext<W>,
        factor: Factor,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_for_removal(x, factor, keys)?;
        self.remove(x, factor, &*keys.relinearization_key()?, counters)
    }

    /// [`Self::remove_digit`] for each ciphertext. Threads share out the ciphertexts where rows are too short to be shared.
    fn remove_each(
        &self,
        coordinates: &[BgvCiphertext<W>],
        factor: Factor,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        coordinates.iter().try_for_each(|x| self.check_for_removal(x, factor, keys))?;
        let relinearization = &*keys.relinearization_key()?;
        if self.params.n() > SHORT_ROW {
            let remove = |x: &BgvCiphertext<W>| self.remove(x, factor, relinearization, counters);
            return coordinates.iter().map(remove).collect();
        }
        par::try_map_counted(coordinates.len(), counters, |i, own| {
            self.remove(&coordinates[i], factor, relinearization, own)
        })
    }

    fn check_for_removal(
        &self,
        x: &BgvCiphertext<W>,
        factor: Factor,
        keys: &dyn KeySource<W>,
    ) -> Result<(), Error> {
        self.check(x, keys)?;
        self.params.check_ring("the removal takes", x, self.params.raised())?;
        let messages = self.params.messages();
        if factor.ring() != messages {
            return Err(Error::PlaintextMismatch(format!(
                "a factor modulo {}^{}, messages of {} modulo {}^{}; give the factor of the message that was raised",
                factor.ring().prime(),
                factor.ring().exponent(),
                self.params.name(),
                messages.prime(),
                messages.exponent()
            )));
        }
        Ok(())
    }

    fn remove(
        &self,
        x: &BgvCiphertext<W>,
        factor: Factor,
        relinearization: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        // y times q0/f is m: with that as its factor, y is a ciphertext of m with factor 1.
        let result = self.removed_factor();
        let target = self.digit_factor(factor)?.mul(result);
        let multiple = self.params.removal().evaluate(&self.bgv, relinearization, x, target, counters)?;
        if self.params.is_apart() {
            return Ok(multiple);
        }
        let quotient = self.bgv.divide_by_prime(&multiple, self.params.spec().digit_exponent)?;
        Ok(quotient.relabelled(result.modulo(self.params.messages().exponent())?))
    }

    /// The factor of the result of a removal, modulo p^e: the product of all divisors that come after it.
    fn removed_factor(&self) -> Factor {
        let one = Factor::one(self.params.raised());
        let later = if self.params.is_general() { self.params.spec().slots_to_coeffs } else { 0 };
        let levels = self.params.levels().output + 1..=self.params.levels().output + later;
        levels.fold(one, |factor, level| factor.mul(self.params.context().level_factor(level)))
    }

    /// q0 modulo p^e.
    pub(super) fn base_modulus(&self) -> Result<Factor, Error> {
        Factor::new(self.params.spec().chain.levels[0][0], self.params.raised())
    }

    fn apply(
        &self,
        maps: &[IntegerTransform<W>],
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check(x, keys)?;
        let mut out = x.clone();
        for map in maps {
            out = map.apply_counted(&self.bgv, &out, keys, counters)?;
        }
        Ok(out)
    }

    /// [`Error::ParamsMismatch`] unless a ciphertext is of this set, and the keys are its owner's.
    pub(super) fn check(&self, x: &BgvCiphertext<W>, keys: &dyn KeySource<W>) -> Result<(), Error> {
        self.params.check_set(x)?;
        key_source::check(keys, x.identity())
    }
}
