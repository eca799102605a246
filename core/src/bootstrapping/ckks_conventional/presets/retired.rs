//! The conventional sets of earlier versions, whose keys are still read: with a sine, which is not linear
//! enough for every message.

use alloc::string::ToString;

use super::{
    COSINE, ConventionalPreset, ConventionalPromise, N15_SIZES, N16_SIZES, OWN, SINE, Sizes, TOY, n15_of,
    n16_precise_of, spec, toy10_sparse_of,
};
use crate::{
    bootstrapping::{
        ckks_conventional::{ArcsineSpec, ConventionalSpec, EvalModSpec, Reduction, StageOrder},
        method::Retired,
    },
    security::SecurityPolicy,
};

/// Sets that bend large coefficients, so that their promises are for random messages with mean zero. Sets with two harmonics
/// have taken their names.
pub(super) static RETIRED: [Retired<ConventionalSpec>; 5] = [
    Retired {
        preset: ConventionalPreset {
            name: "n16-2026a",
            title: "n16 with a sine, for messages that are random with mean zero",
            policy: SecurityPolicy::Strict128,
            promised: ConventionalPromise { bits: [27.0, 24.5], log_slots: [15, 15] },
            source: OWN,
            spec: n16_sine,
        },
        now: "n16",
    },
    Retired {
        preset: ConventionalPreset {
            name: "n16-sparse-2026a",
            title: "n16-sparse with a sine, for messages that are random with mean zero",
            policy: SecurityPolicy::Strict128,
            promised: ConventionalPromise { bits: [24.0, 21.0], log_slots: [12, 12] },
            source: OWN,
            spec: n16_sparse_sine,
        },
        now: "n16-sparse",
    },
    Retired {
        preset: ConventionalPreset {
            name: "n16-precise-2026a",
            title: "n16-precise with an arcsine, for messages that are random with mean zero",
            policy: SecurityPolicy::Strict128,
            promised: ConventionalPromise { bits: [23.5, 23.5], log_slots: [5, 12] },
            source: OWN,
            spec: n16_precise_arcsine,
        },
        now: "n16-precise",
    },
    Retired {
        preset: ConventionalPreset {
            name: "n15-2026a",
            title: "n15 with a sine, for messages that are random with mean zero",
            policy: SecurityPolicy::Strict128,
            promised: ConventionalPromise { bits: [17.2, 15.0], log_slots: [14, 14] },
            source: OWN,
            spec: n15_sine,
        },
        now: "n15",
    },
    Retired {
        preset: ConventionalPreset {
            name: "toy-conventional10-sparse-2026a",
            title: "INSECURE demonstration size, 64 slots, a sine for messages that are random with mean zero",
            policy: SecurityPolicy::InsecureForTests,
            promised: ConventionalPromise { bits: [18.0, 16.5], log_slots: [6, 6] },
            source: TOY,
            spec: toy10_sparse_sine,
        },
        now: "toy-conventional10-sparse",
    },
];

fn n16_sine() -> ConventionalSpec {
    spec("n16-2026a", 16, StageOrder::CoeffsToSlotsFirst, &N16_SIZES, SINE)
}

fn n16_sparse_sine() -> ConventionalSpec {
    // The coefficients of few slots are large: more room keeps the sine linear.
    let name = "n16-sparse-2026a".to_string();
    ConventionalSpec { name, log_slots: 12, log_message_ratio: 10, ..n16_sine() }
}

fn n16_precise_arcsine() -> ConventionalSpec {
    let arcsine = Some(ArcsineSpec { degree: 3, log_distance: 8 });
    n16_precise_of("n16-precise-2026a", 6, Reduction::Sine(EvalModSpec { arcsine, ..COSINE }))
}

fn n15_sine() -> ConventionalSpec {
    n15_of("n15-2026a", &Sizes { reduction: 49.5, ..N15_SIZES }, SINE)
}

fn toy10_sparse_sine() -> ConventionalSpec {
    toy10_sparse_of("toy-conventional10-sparse-2026a", SINE)
}
