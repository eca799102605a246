//! The stages as public methods, and all of them in one call.

use alloc::{format, vec, vec::Vec};
use core::borrow::Borrow;

use super::{
    blind_rotate::{self, BranchRotations, TrackScratch},
    diagonals::Diagonals,
    keys::{KeySource, TrackKeys},
    params::ShipParams,
    phase::{EncodedPhases, Lane, Phases},
    product_tree::{Layer, leaf},
    secret::check_mode,
    slots_to_coeffs::SlotsToCoeffs,
};
use crate::{
    arith::{Word, complex::Complex},
    bootstrapping::method::SlotMode,
    error::{Error, hex},
    ring::{Automorphism, from_integers},
    rlwe::Pair,
    schemes::{
        ckks::{Ciphertext, CkksEvaluator, Scale},
        set_names::{own_set_name, set_name},
    },
    trace::Counters,
};

/// Evaluates on ciphertexts of one SHIP set: bootstrapping, and the arithmetic between bootstraps.
pub struct ShipEvaluator<W: Word = u32> {
    params: ShipParams<W>,
    ckks: CkksEvaluator<W>,
    pub(super) matrix: SlotsToCoeffs<W>,
    pub(super) rotations: BranchRotations,
}

impl<W: Word> ShipEvaluator<W> {
    /// Encodes the slots-to-coefficients matrix for the set's scale and keeps it in memory, in the form that
    /// [`Diagonals::for_params`] chooses: 256 MiB at N = 2^13, 2 GiB at 2^14.
    pub fn new(params: &ShipParams<W>) -> Result<Self, Error> {
        Self::with_diagonals(params, Diagonals::for_params(params))
    }

    /// Encodes the matrix again for every bootstrap: slower, and small.
    pub fn compact(params: &ShipParams<W>) -> Result<Self, Error> {
        Self::with_diagonals(params, Diagonals::Remade)
    }

    /// Chooses what to keep of the matrix.
    pub fn with_diagonals(params: &ShipParams<W>, keep: Diagonals) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            ckks: CkksEvaluator::new(params.ckks()),
            matrix: SlotsToCoeffs::new(params, params.scale(), keep)?,
            rotations: BranchRotations::new(params),
        })
    }

    /// The parameter set.
    pub fn params(&self) -> &ShipParams<W> {
        &self.params
    }

    /// Bytes of memory that the evaluator keeps from one bootstrap to the next: the diagonals of the slots-to-coefficients matrix. What
    /// a bootstrap itself takes while it runs is not counted.
    pub fn memory_bytes(&self) -> usize {
        self.matrix.memory_bytes()
    }

    /// General CKKS operations on ciphertexts of this set.
    pub fn ckks(&self) -> &CkksEvaluator<W> {
        &self.ckks
    }

    /// Forgets the level above the bootstrap's input: an exhausted ciphertext.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] below level 1.
    pub fn exhaust(&self, ciphertext: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.ckks.drop_to_level(ciphertext, self.params.input_level())
    }

    /// x^2, relinearised and rescaled: from level 2 to level 1, ready to bootstrap.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] below level 2; [`Error::ParamsMismatch`] for keys of another set.
    pub fn square(
        &self,
        ciphertext: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.multiply(ciphertext, ciphertext, keys)
    }

    /// x y, relinearised and rescaled by one level.
    ///
    /// # Errors
    /// As [`Self::square`].
    pub fn multiply(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(x, keys.key_id())?;
        if x.level().min(y.level()) <= self.params.input_level() {
            return Err(Error::LevelMismatch(format!(
                "operands at levels {} and {}: the product of exhausted ciphertexts could not be \
                 bootstrapped; bootstrap them first (level {})",
                x.level(),
                y.level(),
                self.params.output_level()
            )));
        }
        let key = keys.common().relinearization();
        self.ckks.multiply(x, y, key)
    }

    /// Stage 1: slots to coefficients. Level 1 in (a higher level is dropped), level 0 out, scale
    /// q0 / gamma.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for another set or key, [`Error::LevelMismatch`] below level 1.
    pub fn slots_to_coeffs(
        &self,
        ciphertext: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(ciphertext, keys.key_id())?;
        let input = self.exhaust(ciphertext)?;
        let own = self.matrix_of_scale(input.scale())?;
        let matrix = own.as_ref().unwrap_or(&self.matrix);
        let pair = matrix.apply(&self.params, &input.pair()?, keys.common(), counters)?;
        Ok(input.with_pair(pair, 0, self.params.coefficient_scale()))
    }

    /// The matrix for an input of another scale than the evaluator's, as after a multiplication; it is encoded group by group.
    pub(super) fn matrix_of_scale(&self, scale: Scale) -> Result<Option<SlotsToCoeffs<W>>, Error> {
        if scale.matches(self.matrix.input_scale()) {
            return Ok(None);
        }
        SlotsToCoeffs::new(&self.params, scale, Diagonals::Remade).map(Some)
    }

    /// Stage 2: switch to the sparse secret modulo q0.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless at level 0.
    pub fn encapsulate(
        &self,
        coefficients: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Phases, Error> {
        if coefficients.level() != 0 {
            return Err(Error::LevelMismatch(format!(
                "encapsulation takes level 0, got {}; apply slots_to_coeffs first",
                coefficients.level()
            )));
        }
        let key = &keys.common().encapsulation;
        let (b, a) = self.params.encapsulation().apply(&coefficients.pair()?, key, counters);
        Ok(Phases::new(&b, &a))
    }

    /// Stage 3: roots of unity from the public coefficients.
    pub fn encode_phase(
        &self,
        phases: &Phases,
        mode: SlotMode,
        counters: &mut Counters,
    ) -> Result<EncodedPhases<W>, Error> {
        EncodedPhases::new(&self.params, phases, mode, counters)
    }

    /// Stage 4: one track of one half.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a track or half that does not exist.
    pub fn blind_rotate(
        &self,
        phases: &EncodedPhases<W>,
        half: usize,
        track: usize,
        keys: &TrackKeys<W>,
        scratch: &mut TrackScratch<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        phases.check_half(half)?;
        let mut factors =
            self.blind_rotate_lanes(&[Lane { phases, half }], &[(track, keys)], scratch, counters)?;
        Ok(factors.remove(0).remove(0))
    }

    /// [`Self::blind_rotate`] for several tracks, and several halves or ciphertexts, in one pass over the keys:
    /// `[track][lane]`.
    pub(super) fn blind_rotate_lanes(
        &self,
        lanes: &[Lane<'_, W>],
        tracks: &[(usize, impl Borrow<TrackKeys<W>>)],
        scratch: &mut TrackScratch<W>,
        counters: &mut Counters,
    ) -> Result<Vec<Vec<Pair<W>>>, Error> {
        for (track, _) in tracks {
            self.params.check_track(*track)?;
        }
        Ok(blind_rotate::blind_rotate(&self.params, &self.rotations, lanes, tracks, scratch, counters))
    }

    /// The leaves of the product tree of one half: the plaintext factor and the tracks' results.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a half that does not exist, or if there is not one factor per track.
    pub fn leaves(
        &self,
        phases: &EncodedPhases<W>,
        half: usize,
        key_id: [u8; 16],
        factors: Vec<Pair<W>>,
    ) -> Result<Layer<W>, Error> {
        phases.check_half(half)?;
        if factors.len() != self.params.tracks() {
            return Err(Error::InvalidArgument(format!(
                "{} factors given, and the product takes one for each of {} tracks; give all of them",
                factors.len(),
                self.params.tracks()
            )));
        }
        Ok(Layer {
            depth: 0,
            plain: Some(phases.leaves[half].clone()),
            nodes: factors.into_iter().map(|f| leaf(&self.params, key_id, f)).collect(),
        })
    }

    /// Stage 5: one layer of the product tree.
    ///
    /// # Errors
    /// As [`Layer::multiply`].
    pub fn multiply_layer(
        &self,
        layer: Layer<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Layer<W>, Error> {
        layer.multiply(&self.params, &self.ckks, keys.common().relinearization(), counters)
    }

    /// Stage 6: x + conj(x) of each half; complex halves are joined as o_1 + X^(N/2) o_2, since
    /// X^(N/2) is i in every slot. Bits get their constant 1/2.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are one or two roots.
    pub fn conjugate(
        &self,
        roots: &[Ciphertext<W>],
        mode: SlotMode,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let [first, rest @ ..] = roots else {
            return Err(Error::InvalidArgument(
                "conjugation takes one root per half, got none; give one, or two for complex slots".into(),
            ));
        };
        let mut out = self.real_part(first, keys, counters)?;
        if let [second] = rest {
            let second = self.real_part(second, keys, counters)?;
            let basis = self.params.ckks().rlwe().q(second.level());
            let mut monomial = vec![0i64; self.params.n()];
            monomial[self.params.slots()] = 1;
            let i = from_integers(basis, &monomial).into_eval();
            for (o, s) in out.parts.iter_mut().zip(&second.parts) {
                o.add_assign(&s.mul(&i));
            }
        }
        if mode == SlotMode::Bits {
            let half = vec![Complex { re: 0.5, im: 0.0 }; self.params.slots()];
            let half = self.ckks.encode(&half, out.level(), out.scale())?;
            out = self.ckks.add_plain(&out, &half)?;
        }
        Ok(out)
    }

    fn real_part(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let g = Automorphism::conjugation(self.params.n());
        let conjugate = self.ckks.automorphism_counted(x, &g, keys.common().conjugation(), counters)?;
        self.ckks.add(x, &conjugate)
    }

    /// Scale of a bootstrap's output.
    pub fn output_scale(&self) -> Scale {
        self.params.root_scale(self.params.tree_levels())
    }

    pub(super) fn check(&self, ciphertext: &Ciphertext<W>, key_id: [u8; 16]) -> Result<(), Error> {
        if ciphertext.fingerprint() != self.params.fingerprint() {
            return Err(Error::ParamsMismatch(format!(
                "ciphertext of set {}, evaluator of {}; use the evaluator of the set that encrypted it",
                set_name(&ciphertext.fingerprint()),
                own_set_name(self.params.name(), &self.params.fingerprint())
            )));
        }
        if ciphertext.key_id() != key_id {
            return Err(Error::ParamsMismatch(format!(
                "ciphertext under key {}, evaluation keys of {}; use the keys of the ciphertext",
                hex(&ciphertext.key_id()),
                hex(&key_id)
            )));
        }
        Ok(())
    }

    pub(super) fn check_input(&self, ciphertext: &Ciphertext<W>, mode: SlotMode) -> Result<(), Error> {
        check_mode(&self.params, mode)?;
        if ciphertext.fingerprint() != self.params.fingerprint() {
            return self.check(ciphertext, ciphertext.key_id());
        }
        if ciphertext.level() < self.params.input_level() {
            return Err(Error::LevelMismatch(format!(
                "a ciphertext at level {} is below the bootstrap's input level {}; bootstrap earlier",
                ciphertext.level(),
                self.params.input_level()
            )));
        }
        ciphertext.pair().map(|_| ())
    }
}
