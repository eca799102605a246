//! Published figures of BGV bootstrapping, and the sets they are for.

use refloat::bootstrapping::bgv::{
    BgvParams, BgvPreset, COEFFS_TO_SLOTS, DIGIT_REMOVAL, SLOTS_TO_COEFFS, published_sets,
};

use super::Mode;
use crate::cli::failure::Failure;

/// Figures of a bootstrap on one thread.
#[derive(Debug)]
pub struct Figures {
    /// Name of the row in the results.
    pub row: &'static str,
    /// Source of the figures.
    pub source: &'static str,
    pub seconds: f64,
    /// Seconds by stage.
    pub stages: &'static [(&'static str, f64)],
    /// Bits of noise capacity that each stage takes.
    pub stage_bits: &'static [(&'static str, f64)],
    /// Seconds of all linear maps, and of the removal.
    pub parts: Option<[f64; 2]>,
    /// Bits of noise capacity after the raise, those taken by linear maps, those taken by the removal, and those left.
    pub capacity: Option<[f64; 4]>,
    /// The same bootstrap with HElib's own removal of digits, on the same machine.
    pub helib: Option<&'static Helib>,
    pub slots: usize,
    pub integers: usize,
    /// Figures that not every source gives.
    pub degree: Option<usize>,
    pub log_qp: Option<f64>,
    pub security: Option<f64>,
}

/// Figures of HElib's own removal from the source of a row.
#[derive(Debug)]
pub struct Helib {
    pub seconds: f64,
    /// As [`Figures::parts`].
    pub parts: [f64; 2],
    /// As [`Figures::capacity`].
    pub capacity: [f64; 4],
}

impl Helib {
    /// Metric, figure and unit of each row.
    pub fn rows(&self) -> [(&'static str, f64, &'static str); 8] {
        let Self { seconds, parts: [maps, removal], capacity: [initial, taken, removed, left] } = *self;
        [
            ("HElib's removal: seconds", seconds, "s"),
            ("HElib's removal: linear maps, seconds", maps, "s"),
            ("HElib's removal: removal, seconds", removal, "s"),
            ("HElib's removal: capacity, initial", initial, "bits"),
            ("HElib's removal: capacity, linear maps", taken, "bits"),
            ("HElib's removal: capacity, removal", removed, "bits"),
            ("HElib's removal: capacity, remaining", left, "bits"),
            ("HElib's removal: throughput", left / seconds, "bits/s"),
        ]
    }
}

const COMMENTS: &str = "comments in msh086/bgv-bootstrapping-with-homomorphic-NTT (HElib 3e337a6), by the authors of ePrint 2024/115: \
                        m = 2^16, p = 65537, one thread of their machine; its main key is worth 81 bits";

const TABLE: &str =
    "table 6 of ePrint 2024/115, one thread of their machine; main keys are worth 82 to 83 bits";

const SURVEY: &str = "table 1 of ePrint 2023/149: HElib, one thread of an Intel Core i7-9700";

/// Integers modulo 65537 in 32768 slots.
static P16: Figures = Figures {
    row: "P16, thin",
    source: COMMENTS,
    seconds: 19.6,
    stages: &[(SLOTS_TO_COEFFS, 3.8), (COEFFS_TO_SLOTS, 10.8), (DIGIT_REMOVAL, 5.0)],
    stage_bits: &[(SLOTS_TO_COEFFS, 79.0), (COEFFS_TO_SLOTS, 134.0), (DIGIT_REMOVAL, 266.0)],
    parts: None,
    capacity: None,
    helib: None,
    slots: 32768,
    integers: 1,
    degree: Some(53),
    log_qp: Some(1332.0),
    security: Some(81.1),
};

/// Rows by the name of the set.
static ROWS: [(&str, Figures); 11] = [
    ("I-A", I_A),
    ("II-A", II_A),
    ("III-A", III_A),
    ("IV-A", IV_A),
    ("IV-A-source", IV_A),
    ("IV-B", IV_B),
    ("V-A", V_A),
    ("V-A-source", V_A),
    ("V-B", V_B),
    ("m21845", M21845),
    ("m21845-thin", M21845_THIN),
];

const I_A: Figures = Figures {
    row: "I-A, general",
    source: TABLE,
    seconds: 662.0,
    stages: &[],
    stage_bits: &[],
    parts: Some([93.0, 568.0]),
    capacity: Some([1019.0, 241.0, 341.0, 434.0]),
    helib: Some(&HELIB_I),
    slots: 1540,
    integers: 24,
    // Several polynomials read the digits.
    degree: None,
    log_qp: Some(1462.0),
    security: Some(82.5),
};

const II_A: Figures = Figures {
    row: "II-A, general",
    source: TABLE,
    seconds: 2427.0,
    stages: &[],
    stage_bits: &[],
    parts: Some([277.0, 2148.0]),
    capacity: Some([1594.0, 219.0, 293.0, 1080.0]),
    helib: Some(&HELIB_II),
    slots: 1224,
    integers: 45,
    degree: Some(127),
    log_qp: Some(2253.0),
    security: Some(82.0),
};

const III_A: Figures = Figures {
    row: "III-A, general",
    source: TABLE,
    seconds: 1545.0,
    stages: &[],
    stage_bits: &[],
    parts: Some([319.0, 1224.0]),
    capacity: Some([1558.0, 241.0, 316.0, 998.0]),
    helib: Some(&HELIB_III),
    slots: 1932,
    integers: 28,
    degree: Some(133),
    log_qp: Some(2176.0),
    security: Some(82.8),
};

const IV_A: Figures = Figures {
    row: "IV-A, general",
    source: TABLE,
    seconds: 479.0,
    stages: &[],
    stage_bits: &[],
    parts: Some([115.0, 363.0]),
    capacity: Some([1266.0, 243.0, 288.0, 732.0]),
    helib: Some(&HELIB_IV),
    slots: 3150,
    integers: 14,
    degree: Some(93),
    log_qp: Some(1803.0),
    security: Some(82.3),
};

const IV_B: Figures = Figures {
    row: "IV-B, general",
    seconds: 2209.0,
    parts: Some([113.0, 2095.0]),
    capacity: Some([1287.0, 158.0, 329.0, 791.0]),
    degree: Some(2024),
    ..IV_A
};

const V_B: Figures = Figures {
    row: "V-B, general",
    seconds: 3589.0,
    parts: Some([115.0, 3471.0]),
    capacity: Some([1457.0, 171.0, 389.0, 889.0]),
    degree: Some(2208),
    ..V_A
};

const V_A: Figures = Figures {
    row: "V-A, general",
    source: TABLE,
    seconds: 688.0,
    stages: &[],
    stage_bits: &[],
    parts: Some([112.0, 574.0]),
    capacity: Some([1431.0, 277.0, 331.0, 820.0]),
    helib: Some(&HELIB_V),
    slots: 2784,
    integers: 18,
    degree: Some(93),
    log_qp: Some(2036.0),
    security: Some(82.3),
};

const M21845: Figures = Figures {
    row: "1024 slots of 16 bits, general",
    source: SURVEY,
    seconds: 163.0,
    stages: &[],
    stage_bits: &[],
    parts: None,
    capacity: None,
    helib: None,
    slots: 1024,
    integers: 16,
    degree: None,
    log_qp: None,
    security: None,
};

const M21845_THIN: Figures = Figures { row: "1024 slots of a bit, thin", seconds: 15.0, ..M21845 };

/// The columns I to V of the table, of HElib's own removal.
static HELIB_I: Helib =
    Helib { seconds: 1046.0, parts: [93.0, 953.0], capacity: [1003.0, 207.0, 446.0, 344.0] };

static HELIB_II: Helib =
    Helib { seconds: 3462.0, parts: [285.0, 3176.0], capacity: [1573.0, 194.0, 298.0, 1070.0] };

static HELIB_III: Helib =
    Helib { seconds: 3330.0, parts: [319.0, 3010.0], capacity: [1542.0, 208.0, 400.0, 927.0] };

static HELIB_IV: Helib =
    Helib { seconds: 4648.0, parts: [113.0, 4535.0], capacity: [1253.0, 199.0, 559.0, 484.0] };

static HELIB_V: Helib =
    Helib { seconds: 46203.0, parts: [115.0, 46088.0], capacity: [1415.0, 225.0, 812.0, 363.0] };

impl Figures {
    /// The figures that a set is shown beside: its own, or those for the same slots and plaintexts.
    pub fn of(params: &BgvParams) -> Option<&'static Self> {
        if let Some((_, figures)) = ROWS.iter().find(|(name, _)| *name == params.name()) {
            return Some(figures);
        }
        let messages = params.messages();
        let same = params.context().slots() == P16.slots
            && (messages.prime(), messages.exponent()) == (65537, 1)
            && !params.is_general();
        same.then_some(&P16)
    }

    /// The security of a set's main key as its source states it. Thin sets have the same key as the general one.
    pub fn security_of(params: &BgvParams) -> Option<f64> {
        if let Some(figures) = Self::of(params) {
            return figures.security;
        }
        let name = params.name();
        let general = name.strip_suffix(THIN)?;
        ROWS.iter().find(|(name, _)| *name == general).and_then(|(_, figures)| figures.security)
    }

    /// Seconds of a stage.
    pub fn of_stage(&self, stage: &str) -> Option<f64> {
        self.stages.iter().find(|(id, _)| *id == stage).map(|(_, seconds)| *seconds)
    }
}

/// Suffix of a published set's name for the set for thin bootstrapping.
const THIN: &str = "-thin";

/// Published sets and our own sets that stand for them, with the same slots and plaintexts.
const STAND_INS: [(&str, &str); 1] = [("P16", "bgv15")];

/// The known names: our own sets, published sets that one of them stands for, and the other published ones.
fn known() -> String {
    let own = BgvPreset::all().iter().chain(published_sets().iter().filter(|set| set.secure()));
    let own = own.map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let stand_ins = STAND_INS.map(|(published, own)| format!("{published} (by {own})")).join(", ");
    let insecure = published_sets().iter().filter(|preset| !preset.secure());
    let insecure = insecure.map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    format!("{own}, {stand_ins}, or with --allow-insecure one of {insecure}")
}

/// Our own or published set of this name; for a published one, its form for the mode.
///
/// # Errors
/// [`Failure`] naming the known sets.
pub fn set(name: &str, mode: Option<Mode>) -> Result<&'static BgvPreset, Failure> {
    if let Some((_, own)) = STAND_INS.iter().find(|(published, _)| *published == name) {
        return Ok(BgvPreset::named(own)?);
    }
    let wanted = match mode {
        Some(Mode::Thin) if !name.ends_with(THIN) => format!("{name}{THIN}"),
        _ => name.to_owned(),
    };
    if let Some(preset) = published_sets().iter().find(|preset| preset.name == wanted) {
        return Ok(preset);
    }
    if published_sets().iter().any(|preset| preset.name == name) {
        return Err(Failure::usage(format!(
            "--mode thin: there is no thin set of {name}; take --mode general"
        )));
    }
    BgvPreset::named(name).map_err(|_| {
        Failure::usage(format!("--set {name} is not a set of `reproduce bgv`; take one of {}", known()))
    })
}

/// Checks that a set may be measured: most published ones protect too little for keys to be made without `--allow-insecure`.
///
/// # Errors
/// [`Failure`] naming the option.
pub fn check_allowed(preset: &BgvPreset, allow_insecure: bool) -> Result<(), Failure> {
    let published = published_sets().iter().any(|own| own.name == preset.name);
    if allow_insecure || !published || preset.secure() {
        return Ok(());
    }
    Err(Failure::usage(format!("{}: {}; add --allow-insecure to measure it", preset.name, preset.title)))
}

/// The published sets with their parameters, which take seconds to make, for all tests of this folder.
#[cfg(test)]
pub fn made() -> &'static [(&'static BgvPreset, BgvParams)] {
    static MADE: std::sync::LazyLock<Vec<(&BgvPreset, BgvParams)>> = std::sync::LazyLock::new(|| {
        published_sets().iter().map(|preset| (preset, preset.params().unwrap())).collect()
    });
    &MADE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_of_helibs_own_removal_adds_up() {
        let columns = ["I-A", "II-A", "III-A", "IV-A", "V-A"].map(|name| {
            let (_, params) = made().iter().find(|(preset, _)| preset.name == name).unwrap();
            let figures = Figures::of(params).unwrap();
            (figures, figures.helib.unwrap())
        });
        for (figures, helib) in columns {
            let [initial, maps, removal, left] = helib.capacity;
            // What neither the maps nor the removal take is small.
            assert!((0.0..=15.0).contains(&(initial - maps - removal - left)), "{}", figures.row);
            assert!((helib.seconds - helib.parts.iter().sum::<f64>()).abs() <= 5.0, "{}", figures.row);
            assert!(helib.seconds > figures.seconds, "{}", figures.row);
        }
        // The speed-ups that the source states are ratios of throughputs: 2.00, 1.44, 2.32, 14.7, 151.
        let ratio = |(figures, helib): (&Figures, &Helib)| {
            figures.capacity.unwrap()[3] / figures.seconds / (helib.capacity[3] / helib.seconds)
        };
        for (column, stated) in columns.into_iter().zip([2.00, 1.44, 2.32, 14.7, 151.0]) {
            assert!((ratio(column) / stated - 1.0).abs() < 0.01, "{}: {}", column.0.row, ratio(column));
        }
        let rows = columns[0].1.rows();
        assert!(rows.iter().any(|row| row.0.ends_with("seconds") && row.1.to_bits() == 1046f64.to_bits()));
    }
}
