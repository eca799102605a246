//! The 72 published rows of "RNS-CKKS bootstrapping on SEAL" with sparse packing.

/// One row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SealRow {
    /// Number of the set.
    pub set: u32,
    /// log2 of the number of slots.
    pub log_slots: u32,
    /// Bits of precision after the binary point.
    pub fraction_bits: f64,
    /// Seconds.
    pub seconds: f64,
}

/// Bits after the binary point, and seconds, for one number of slots.
type Figures = (f64, f64);

/// The figures of every set for 2^10 to 2^15 slots.
const FIGURES: [[Figures; 6]; 12] = [
    [(6.44, 93.8), (5.96, 107.3), (5.46, 128.8), (4.97, 156.3), (4.46, 193.6), (4.17, 338.6)],
    [(17.11, 86.1), (16.62, 99.7), (16.13, 120.1), (15.62, 146.7), (15.11, 182.5), (14.86, 301.5)],
    [(22.00, 78.7), (21.49, 90.9), (20.96, 110.1), (20.47, 134.8), (19.98, 167.9), (19.70, 273.4)],
    [(4.63, 117.5), (4.12, 134.9), (3.59, 160.4), (3.11, 193.3), (2.59, 237.9), (2.33, 413.6)],
    [(16.08, 109.5), (15.55, 125.7), (15.05, 151.6), (14.57, 183.8), (14.08, 226.8), (13.80, 372.6)],
    [(21.03, 100.5), (20.59, 115.8), (20.06, 138.6), (19.60, 168.7), (19.07, 207.9), (18.80, 340.0)],
    [(4.30, 118.1), (3.64, 135.9), (3.18, 161.6), (2.66, 195.9), (2.16, 237.8), (1.89, 415.3)],
    [(14.19, 110.9), (13.71, 127.6), (13.17, 153.5), (12.65, 185.4), (12.17, 227.9), (11.89, 375.4)],
    [(19.16, 101.8), (18.65, 116.7), (18.14, 140.0), (17.69, 170.3), (17.17, 209.2), (16.91, 344.7)],
    [(5.30, 117.7), (4.79, 135.1), (4.31, 159.8), (3.78, 191.9), (3.29, 234.4), (3.02, 383.6)],
    [(15.30, 110.8), (14.81, 127.6), (14.29, 152.2), (13.80, 184.2), (13.27, 226.6), (13.04, 369.3)],
    [(20.32, 102.0), (19.80, 117.0), (19.27, 140.0), (18.82, 169.5), (18.32, 208.3), (18.05, 340.6)],
];

/// All rows, set by set.
pub fn rows() -> impl Iterator<Item = SealRow> {
    FIGURES.iter().zip(1..).flat_map(|(figures, set)| {
        figures.iter().zip(10..).map(move |(&(fraction_bits, seconds), log_slots)| SealRow {
            set,
            log_slots,
            fraction_bits,
            seconds,
        })
    })
}
