//! Back from gates: from encrypted bits to slots.

use alloc::{format, vec, vec::Vec};

use super::{evaluator::LinkEvaluator, slots_to_gates::reversed, stages};
use crate::{
    arith::DoubleDouble,
    bootstrapping::raising::ReductionSpec,
    error::Error,
    ring::{Coeff, Poly, switch_modulus},
    rlwe::{EphemeralPair, Pair, lwe::LweSample},
    schemes::{
        cggi::{CggiCiphertext, Encoding},
        ckks::{Ciphertext, Complex, Scale},
        evaluator::Leveled,
    },
    trace::{Counters, Observer},
};

impl<R: ReductionSpec> LinkEvaluator<R> {
    /// Bits as numbers 0 and 1, bit j in slot j, at [`super::LinkParams::output_level`] and the scale of the set; the other slots
    /// are 0. The errors are about pi^2 times the square of the noise ([`super::LinkNoise::bit_error`]).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no bits, more than [`super::LinkParams::most_bits`], or another encoding;
    /// [`Error::ParamsMismatch`] for bits of other keys; [`Error::Cancelled`] if the observer says so.
    pub fn to_slots(
        &self,
        bits: &[CggiCiphertext<u64>],
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<u64>, Error> {
        self.check_bits(bits)?;
        let ckks = self.ckks();
        let log_q0 = self.params().ckks().base_modulus().log2();
        let pair = stages::run(
            stages::TO_SLOTS,
            observer,
            |counters, _| self.packed(bits, counters),
            |_| (0, log_q0, log_q0),
        )?;
        let position = |x: &Ciphertext<u64>| (x.level(), x.log_q(), x.log_scale());
        let quotients = stages::run(
            stages::RAISE,
            observer,
            |counters, _| {
                let raised = ckks.raise_linked(&pair, self.keys().ckks(), counters)?;
                // Bits are in real parts alone.
                let parts = ckks.coeffs_to_slots(&raised, self.keys().ckks(), counters)?;
                parts.into_iter().next().ok_or_else(|| Error::InvalidArgument("no real parts".into()))
            },
            position,
        )?;
        stages::run(
            stages::READ_BITS,
            observer,
            |counters, _| self.read_bits(&quotients, bits.len(), counters),
            position,
        )
    }

    /// One quarter of q0 or its negative, bit j in coefficient rev(j), under the ephemeral secret.
    fn packed(
        &self,
        bits: &[CggiCiphertext<u64>],
        counters: &mut Counters,
    ) -> Result<EphemeralPair<u64>, Error> {
        let (params, gates, ckks) = (self.params(), self.params().cggi(), self.params().ckks());
        let n = gates.n();
        // The second half of the places is that of imaginary parts.
        let places = bits.len().next_power_of_two();
        let zero = LweSample::trivial(n, gates.turns(-1, 4));
        let mut samples = vec![LweSample::trivial(n, 0); 2 * places];
        for (slot, place) in (0..places).map(|slot| (slot, reversed(slot, places.ilog2()))) {
            samples[place] = match bits.get(slot) {
                None => zero.clone(),
                Some(bit) => {
                    let mut doubled = LweSample::trivial(n, 0);
                    doubled.add_multiple(gates.modulus(), 2, bit.sample());
                    doubled
                }
            };
        }
        let rows = self.keys().packing.pack(&samples, counters)?;
        let (q0, step) = (ckks.ckks().rlwe().q(0), ckks.n() / n);
        let [b, a] = rows.map(|row| {
            let mut out = vec![0u64; ckks.n()];
            for (i, x) in switch_modulus(&row, gates.modulus(), q0.modulus(0)).into_iter().enumerate() {
                out[i * step] = x;
            }
            Poly::<u64, Coeff>::from_rows(q0, out).into_eval()
        });
        counters.ntt += 2;
        let (b, a) = params.to_slots()?.apply(&Pair { b, a }, &self.keys().to_slots, counters);
        EphemeralPair::new(b, a)
    }

    /// (1 + sin(2 pi x)) / 2 of quotients over K in the first `count` slots, and 0 in the others.
    fn read_bits(
        &self,
        quotients: &Ciphertext<u64>,
        count: usize,
        counters: &mut Counters,
    ) -> Result<Ciphertext<u64>, Error> {
        let (ckks, params) = (self.ckks().ckks(), self.params().ckks());
        // The sine over 2 pi at pi times a scale is half the sine at that scale.
        let target = params.scale().mul(Scale::new(core::f64::consts::PI));
        let inputs = core::slice::from_ref(quotients);
        let relinearization = self.keys().ckks().relinearization();
        let sines = self.sine().evaluate(ckks, inputs, relinearization, target, counters)?;
        let half = sines.into_iter().next().ok_or_else(|| Error::InvalidArgument("no sine".into()))?;
        let shifted =
            ckks.add_constant(&half.relabelled(params.scale()), DoubleDouble::ratio(1, 2).into())?;
        let mask: Vec<Complex> =
            (0..params.slots()).map(|slot| Complex::new(f64::from(u8::from(slot < count)), 0.0)).collect();
        let level = shifted.level();
        let mask = ckks.encode(&mask, level, ckks.label_of_level(level))?;
        ckks.rescale_labelled(&ckks.multiply_plain(&shifted, &mask)?, params.scale())
    }

    fn check_bits(&self, bits: &[CggiCiphertext<u64>]) -> Result<(), Error> {
        let most = self.params().most_bits();
        if !(1..=most).contains(&bits.len()) {
            return Err(Error::InvalidArgument(format!(
                "{} bits to bring back; {} takes 1 to {most} at once",
                bits.len(),
                self.params().name()
            )));
        }
        for bit in bits {
            self.cggi().check_key(bit)?;
            if bit.encoding() != Encoding::Bit {
                return Err(Error::InvalidArgument(format!(
                    "{} to bring back into slots, where bits go; look it up as a bit first",
                    bit.encoding().describe()
                )));
            }
        }
        Ok(())
    }
}
