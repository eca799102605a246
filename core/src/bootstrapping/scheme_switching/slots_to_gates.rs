//! To gates: from slots to LWE samples.

use alloc::{format, vec::Vec};

use super::{evaluator::LinkEvaluator, params::LinkParams, phase::Phase, range::Range, stages};
use crate::{
    bootstrapping::raising::ReductionSpec,
    error::Error,
    ring::{Coeff, Eval, Poly, switch_modulus},
    rlwe::{Pair, lwe::LweSample},
    schemes::ckks::{Ciphertext, Scale},
    trace::{Counters, Observer},
};

/// Largest relative distance of the scale of numbers from that of the set. Every phase is off by the same factor, which matters only for
/// numbers on a grid; [`LinkParams::comparison`] decides how much a grid tolerates.
const LARGEST_DRIFT: f64 = 1.0 / 4096.0;

impl<R: ReductionSpec> LinkEvaluator<R> {
    /// The numbers in these slots as phases. Imaginary parts are dropped.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`] for a ciphertext of another key or below
    /// [`super::LinkParams::input_level`]; [`Error::ScaleMismatch`] for one that is not at the scale of the set;
    /// [`Error::InvalidArgument`] for slots that do not exist, or three components; [`Error::Cancelled`] if the observer says so.
    pub fn extract(
        &self,
        x: &Ciphertext<u64>,
        slots: &[usize],
        range: Range,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Phase>, Error> {
        range.check()?;
        self.check_numbers(x)?;
        let most = self.params().ckks().slots();
        if let Some(slot) = slots.iter().find(|&&slot| slot >= most) {
            return Err(Error::InvalidArgument(format!(
                "slot {slot} of {}, which has {most}; take slots 0 to {}",
                self.params().ckks().name(),
                most - 1
            )));
        }
        let base = stages::run(
            stages::SLOTS_TO_BASE,
            observer,
            |counters, _| self.slots_to_base(x, range, counters),
            |x| (x.level(), x.log_q(), x.log_scale()),
        )?;
        let log_p = self.params().cggi().modulus().log2();
        stages::run(
            stages::TO_GATES,
            observer,
            |counters, _| self.samples(&base, slots, (range, x.scale()), counters),
            |_| (0, log_p, log_p),
        )
    }

    /// gamma x q0 in the coefficients at level 0.
    fn slots_to_base(
        &self,
        x: &Ciphertext<u64>,
        range: Range,
        counters: &mut Counters,
    ) -> Result<Ciphertext<u64>, Error> {
        let ckks = self.ckks().ckks();
        let low = ckks.drop_to_level(x, self.params().input_level())?;
        let mut out = ckks.multiply_integer(&low, range.factor())?;
        for stage in self.maps() {
            out = stage.apply_counted(ckks, &out, self.keys().ckks(), counters)?;
        }
        Ok(out)
    }

    /// From q0 to p_s, from the key of the slots to that of the gates, and from p_s to p.
    fn samples(
        &self,
        base: &Ciphertext<u64>,
        slots: &[usize],
        (range, scale): (Range, Scale),
        counters: &mut Counters,
    ) -> Result<Vec<Phase>, Error> {
        let (context, gates) = (self.params().to_gates(), self.params().cggi());
        let Pair { b, a } = base.pair()?;
        counters.ntt += 4;
        let switched = |part: Poly<u64, Eval>| {
            let part = part.into_coeff();
            let (from, to) = (*part.basis().modulus(0), context.q0());
            Poly::<u64, Coeff>::from_rows(to, switch_modulus(part.row(0), &from, to.modulus(0))).into_eval()
        };
        let pair = Pair { b: switched(b), a: switched(a) };
        let (b, a) = context.apply(&pair, &self.keys().to_gates, counters);
        let p_s = context.q0().modulus(0);
        let bits = self.params().ckks().slots().ilog2();
        let key_id = self.keys().cggi().key_id();
        let phases = slots.iter().map(|&slot| {
            // The maps leave slots in bit-reversed order.
            let index = reversed(slot, bits);
            let small = LweSample::extract_prefix(p_s, [b.row(0), a.row(0)], index, gates.n());
            let up = |row: &[u64]| switch_modulus(row, p_s, gates.modulus());
            let sample = LweSample { a: up(&small.a), b: up(&[small.b])[0] };
            Phase { sample, range, scale, key_id }
        });
        Ok(phases.collect())
    }

    pub(super) fn check_numbers(&self, x: &Ciphertext<u64>) -> Result<(), Error> {
        let (params, own) = (self.params(), self.params().ckks());
        own.check_input(x, params.input_level())?;
        crate::bootstrapping::raising::key_source::check(self.keys().ckks(), x.identity())?;
        check_scale(params, x.scale())
    }
}

/// [`Error::ScaleMismatch`] unless numbers at a scale can be compared.
pub(super) fn check_scale<R: ReductionSpec>(params: &LinkParams<R>, scale: Scale) -> Result<(), Error> {
    let own = params.ckks();
    if drift_of(params, scale).abs() <= LARGEST_DRIFT {
        return Ok(());
    }
    Err(Error::ScaleMismatch(format!(
        "the numbers are at scale 2^{:.4}, and {2} compares at scale 2^{1:.4}; bring them to that scale first",
        scale.log2(),
        own.scale().log2(),
        own.name()
    )))
}

/// How far a scale is from that of the set, relatively.
pub(super) fn drift_of<R: ReductionSpec>(params: &LinkParams<R>, scale: Scale) -> f64 {
    scale.div(params.ckks().scale()).to_f64() - 1.0
}

/// The lowest `bits` bits of an index in reversed order.
pub(super) fn reversed(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}
