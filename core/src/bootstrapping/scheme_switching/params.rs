//! Checked parameters.

use alloc::{format, sync::Arc, vec::Vec};

use super::{
    layout::{LinkKeyPart, key_parts},
    noise::LinkNoise,
    spec::LinkSpec,
};
use crate::{
    bootstrapping::{
        cggi::CggiPackingKeys,
        ckks_conventional::EvalModSpec,
        raising::{RaisingParams, ReductionSpec, maps::slots_to_base_shapes},
    },
    circuits::linear_transform::StageShape,
    error::Error,
    ring::SmallPoly,
    rlwe::{EncapsulationContext, EncapsulationDigits},
    schemes::{
        cggi::{CggiParams, Encoding},
        identity::of_set,
        set_names::{own_set_name, set_name},
    },
    security::{LweInstance, LweReport, LweSecret, check_lwe},
};

/// The sine that reads bits from coefficients: within 2^-50 on the whole of its range, as the places of bits are as far from
/// multiples of q0 as they can be.
pub(super) const SINE: EvalModSpec =
    EvalModSpec { range: 16, degree: 58, double_angles: 2, arcsine: None, log_distance: None };

/// A link between a set of CKKS and one of DM/CGGI: immutable, validated, cheap to clone.
pub struct LinkParams<R: ReductionSpec>(Arc<Inner<R>>);

struct Inner<R: ReductionSpec> {
    spec: LinkSpec<R>,
    fingerprint: [u8; 16],
    ckks: RaisingParams<R, u64>,
    cggi: CggiParams<u64>,
    to_gates: EncapsulationContext<u64>,
    security: LweReport,
    noise: LinkNoise,
    parts: Vec<LinkKeyPart>,
    base_shapes: Vec<StageShape>,
}

impl<R: ReductionSpec> Clone for LinkParams<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: ReductionSpec> LinkParams<R> {
    /// Validates both sets, and that they fit each other.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that does not fit, [`Error::Insecure`] if an instance does not meet the
    /// policy of the gates.
    pub fn new(spec: &LinkSpec<R>) -> Result<Self, Error> {
        let fingerprint = spec.fingerprint();
        let ckks = RaisingParams::within(&spec.ckks, fingerprint)?;
        let cggi = CggiParams::<u64>::new(&spec.cggi)?;
        check_shapes(spec, &ckks, &cggi)?;
        let digits = EncapsulationDigits::Balanced { count: 1 };
        let to_gates = EncapsulationContext::new(ckks.n(), &[spec.prime], spec.special, digits)?;
        let instance = LweInstance {
            name: "key from slots to gates (ring key of the gates)",
            dimension: cggi.n(),
            secret: LweSecret::Ternary,
            log_modulus: to_gates.q0p().log2(),
            sigma: SmallPoly::ERROR_SIGMA,
        };
        let security = check_lwe(&[instance], spec.cggi.policy)?;
        let packing = CggiPackingKeys::variance_of(&cggi, cggi.n())?;
        let noise = LinkNoise::new(spec, &ckks, &cggi, packing);
        let parts = key_parts(&ckks, &cggi, &to_gates)?;
        let base_shapes = slots_to_base_shapes(&ckks)?;
        let spec = spec.clone();
        let inner = Inner { spec, fingerprint, ckks, cggi, to_gates, security, noise, parts, base_shapes };
        Ok(Self(Arc::new(inner)))
    }

    of_set!(LinkSpec<R>);

    /// The set of numbers in slots.
    pub fn ckks(&self) -> &RaisingParams<R, u64> {
        &self.0.ckks
    }

    /// The set of gates and look-ups.
    pub fn cggi(&self) -> &CggiParams<u64> {
        &self.0.cggi
    }

    /// The security of the key from slots to gates. The two sets have reports of their own, and the key back is under the ephemeral secret
    /// at the modulus of the key that leads there already.
    pub fn security(&self) -> &LweReport {
        &self.0.security
    }

    /// The noise of both directions.
    pub fn noise(&self) -> &LinkNoise {
        &self.0.noise
    }

    /// Lowest level of ciphertexts whose slots are extracted: that of the maps to coefficients.
    pub fn input_level(&self) -> usize {
        self.spec().ckks.slots_to_coeffs
    }

    /// Level of the slots in which bits come back.
    pub fn output_level(&self) -> usize {
        // The last level masks the slots between those of bits.
        self.ckks().levels().reduction - SINE.levels() - 1
    }

    /// Most bits that come back at once: half the coefficients of the gates' ring.
    pub fn most_bits(&self) -> usize {
        self.cggi().n() / 2
    }

    /// Most numbers that are ranked at once: the messages of a look-up.
    pub fn most_ranked(&self) -> usize {
        self.spec().cggi.messages as usize
    }

    /// How ranks and the results of comparisons lie on the circle.
    pub fn rank_encoding(&self) -> Encoding {
        Encoding::Padded { messages: self.spec().cggi.messages }
    }

    /// The parts in which the evaluation keys travel, in order.
    pub fn key_parts(&self) -> &[LinkKeyPart] {
        &self.0.parts
    }

    /// The shapes of the stages to coefficients at the lowest levels.
    pub(super) fn base_shapes(&self) -> &[StageShape] {
        &self.0.base_shapes
    }

    /// Moduli of the key from slots to gates: p_s and p_s P'.
    pub fn to_gates(&self) -> &EncapsulationContext<u64> {
        &self.0.to_gates
    }

    /// Moduli of the key from gates to slots: q0 and q0 p'.
    pub(crate) fn to_slots(&self) -> Result<&EncapsulationContext<u64>, Error> {
        to_slots(self.ckks())
    }

    /// [`Error::ParamsMismatch`] unless `other`, which the message calls `what`, is of this set.
    pub(super) fn check_fingerprint(&self, what: &str, other: [u8; 16]) -> Result<(), Error> {
        if other == self.fingerprint() {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "the {what} of set {}, and this is {}; use objects of one set",
            set_name(&other),
            own_set_name(self.name(), &self.fingerprint())
        )))
    }
}

pub(super) fn to_slots<R: ReductionSpec>(
    ckks: &RaisingParams<R, u64>,
) -> Result<&EncapsulationContext<u64>, Error> {
    ckks.encapsulation().ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{} has no ephemeral secret, to which links lead; take a set that has one",
            ckks.name()
        ))
    })
}

/// Checks that the two sets can be linked at all.
fn check_shapes<R: ReductionSpec>(
    spec: &LinkSpec<R>,
    ckks: &RaisingParams<R, u64>,
    cggi: &CggiParams<u64>,
) -> Result<(), Error> {
    let name = &spec.name;
    let refuse = |why: alloc::string::String| Err(Error::InvalidArgument(format!("link {name}: {why}")));
    if cggi.n() > ckks.n() {
        return refuse(format!(
            "{} is of degree {}, {} of {}; the ring of the slots has to hold that of the gates",
            cggi.name(),
            cggi.n(),
            ckks.name(),
            ckks.n()
        ));
    }
    if !ckks.is_full() {
        return refuse(format!(
            "{} has {} slots in a ring of {}; take all of them, as each is a coefficient",
            ckks.name(),
            ckks.slots(),
            ckks.n()
        ));
    }
    if ckks.ckks().rlwe().q(0).len() != 1 {
        return refuse(format!("q0 of {} is of several primes; take a set of one", ckks.name()));
    }
    let Some(ephemeral) = &spec.ckks.ephemeral else {
        return refuse(format!("{} has no ephemeral secret, to which the way back leads", ckks.name()));
    };
    // Under that secret, quotients stay within the range of the sine.
    if ephemeral.weight > 2 * SINE.range {
        return refuse(format!(
            "an ephemeral secret of weight {}, quotients of which exceed {}; take at most {}",
            ephemeral.weight,
            SINE.range,
            2 * SINE.range
        ));
    }
    if spec.ckks.reduction.range() != SINE.range {
        return refuse(format!(
            "{} raises for quotients up to {}, the sine of links takes {}",
            ckks.name(),
            spec.ckks.reduction.range(),
            SINE.range
        ));
    }
    let (begins, needed) = (ckks.levels().reduction, SINE.levels() + 1);
    if begins < needed {
        return refuse(format!(
            "bits come back by {needed} levels, {} has {begins} left for them",
            ckks.name()
        ));
    }
    Ok(())
}
