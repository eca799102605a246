//! Bounds and computed points of the security estimates. Nothing here is derived at run time; the
//! module page of [`security`](super) says how the figures were made.

use super::SecretDistribution;

/// Smallest log2 of the ring degree in the tables.
const MIN_LOG_N: u32 = 10;

/// Largest log2(QP) at 128 bits, N = 2^10 to 2^17, uniform ternary secret.
const TERNARY_128: [f64; 8] = [26.0, 53.0, 106.0, 214.0, 430.0, 868.0, 1747.0, 3523.0];

/// Largest log2(QP) at 192 bits, N = 2^10 to 2^17, uniform ternary secret.
const TERNARY_192: [f64; 8] = [18.0, 36.0, 73.0, 147.0, 297.0, 597.0, 1199.0, 2411.0];

/// Largest log2(QP) at 128 bits for the `HomomorphicEncryption.org` standard of 2018, N = 2^10 to
/// 2^15, uniform ternary secret: looser than today's estimates.
const TERNARY_HE2018: [f64; 6] = [27.0, 54.0, 109.0, 218.0, 438.0, 881.0];

/// No bound has been computed: the combination is refused.
const NONE: f64 = 0.0;

/// Largest log2(QP) at 128 bits, N = 2^10 to 2^17, for sparse secrets of the given weight.
const SPARSE_128: [(u32, [f64; 8]); 5] = [
    (256, [NONE, NONE, NONE, NONE, 416.0, 822.0, 1659.0, NONE]),
    (192, [NONE, 51.0, 103.0, 202.0, 403.0, 810.0, 1638.0, 3314.0]),
    (128, [NONE, NONE, NONE, NONE, 348.0, 717.0, 1456.0, NONE]),
    (64, [NONE, 30.0, 59.0, 117.0, 240.0, 494.0, 1036.0, 2169.0]),
    (32, [NONE, NONE, 17.0, 36.0, 75.0, 165.0, 364.0, 796.0]),
];

/// A point of a security estimate: log2 of the modulus, bits.
type Point = (f64, f64);

/// Computed estimates of uniform ternary secrets besides the bounds, by log2 N.
const TERNARY_POINTS: [(u32, &[Point]); 4] = [
    (13, &[(200.0, 137.7), (218.0, 125.8), (225.0, 121.6)]),
    (14, &[(420.0, 131.5), (438.0, 126.0)]),
    (15, &[(771.0, 145.0)]),
    (16, &[(1555.0, 144.6), (1760.0, 126.9), (1770.0, 126.0)]),
];

/// Computed estimates of sparse secrets besides the bounds, by log2 N and weight: the cheaper of
/// the primal and dual hybrid attacks with tables.
const SPARSE_POINTS: [(u32, u32, &[Point]); 12] = [
    (13, 32, &[(48.0, 125.2)]),
    (13, 64, &[(131.0, 125.4)]),
    (13, 192, &[(218.0, 120.0)]),
    (14, 32, &[(87.0, 124.6), (101.0, 122.0)]),
    (14, 192, &[(430.0, 121.0)]),
    (14, 256, &[(430.0, 124.2)]),
    // The points at 85 and 102, and at N = 2^16, are 10 bits below the least of the estimates in `tests/vectors/security.json`, which are
    // those of the dual hybrid attack with tables: 151.4 and 145.2, 170.3 and more.
    (15, 32, &[(85.0, 141.0), (102.0, 135.5), (180.0, 126.8)]),
    (16, 32, &[(102.0, 160.0), (120.0, 155.0)]),
    (16, 64, &[(1535.0, 110.6), (1550.0, 110.0), (1560.0, 109.6)]),
    // 111.6 at 1740 too: the estimator is not monotone there.
    (16, 96, &[(1760.0, 111.6)]),
    (16, 128, &[(1740.0, 118.6), (1760.0, 115.7)]),
    (16, 192, &[(1760.0, 120.4), (1765.0, 120.1), (1770.0, 119.8)]),
];

/// SHIP's sparse secret: the weight, and log2 N, bounds (strict, 2018 sets) and points for it.
const BLOCK_WEIGHT: u32 = 31;

struct BlockSparse {
    log_n: u32,
    strict: f64,
    /// Largest log2(QP) for the sets on the 2018 bounds; the estimate says what it is worth.
    he2018: f64,
    points: &'static [Point],
}

/// At N = 2^13 the primal hybrid attack with the block structure counts. At N = 2^14 the dual
/// hybrid one is cheaper; it was computed without the structure, and two bits are taken off for it
/// (the structure costs the primal attack two to four).
const BLOCK_SPARSE: [BlockSparse; 2] = [
    BlockSparse {
        log_n: 13,
        strict: 40.0,
        he2018: 42.0,
        points: &[
            (30.0, 136.0),
            (33.2, 133.0),
            (38.2, 129.3),
            (39.1, 128.6),
            (40.0, 128.0),
            (41.9, 126.8),
            (48.0, 123.0),
            (55.0, 119.1),
            (60.0, 117.0),
            (84.0, 106.0),
        ],
    },
    BlockSparse {
        log_n: 14,
        strict: 74.0,
        he2018: 88.0,
        points: &[(72.0, 129.0), (74.0, 128.0), (78.0, 126.2), (87.0, 122.6), (101.0, 120.0)],
    },
];

/// Exponent of the power law beyond the computed points.
const EXTRAPOLATION: f64 = 1.1;

/// The estimator's figure for plain lattice reduction at N = 2^10; the estimate goes no lower.
const FLOOR: f64 = 43.0;

/// Largest log2 of the modulus at 128 bits by today's estimates; `None` where none was computed.
pub(super) fn strict_bound(log_n: u32, secret: SecretDistribution) -> Option<f64> {
    match secret {
        SecretDistribution::Ternary => at(&TERNARY_128, log_n),
        SecretDistribution::Sparse { weight } => {
            SPARSE_128.iter().find(|column| column.0 == weight).and_then(|column| at(&column.1, log_n))
        }
        SecretDistribution::BlockSparse { weight, .. } => block(log_n, weight).map(|b| b.strict),
    }
}

/// [`strict_bound`] for sets on the 2018 bounds. Sparse secrets, which that standard does not
/// cover, keep the strict bound, except SHIP's.
pub(super) fn he2018_bound(log_n: u32, secret: SecretDistribution) -> Option<f64> {
    match secret {
        SecretDistribution::Ternary => at(&TERNARY_HE2018, log_n),
        SecretDistribution::Sparse { .. } => strict_bound(log_n, secret),
        SecretDistribution::BlockSparse { weight, .. } => block(log_n, weight).map(|b| b.he2018),
    }
}

/// Estimated security in bits of a modulus of `log_modulus` bits; `None` without computed points.
pub(super) fn estimate(log_n: u32, secret: SecretDistribution, log_modulus: f64) -> Option<f64> {
    // At most ten computed points and two bounds; unused places stay at the end.
    let mut points = [(f64::INFINITY, 0.0); 12];
    let mut count = 0;
    let mut push = |point: Point| {
        points[count] = point;
        count += 1;
    };
    match secret {
        SecretDistribution::Ternary => {
            push((at(&TERNARY_192, log_n)?, 192.0));
            push((at(&TERNARY_128, log_n)?, 128.0));
            TERNARY_POINTS.iter().filter(|p| p.0 == log_n).flat_map(|p| p.1).for_each(|&p| push(p));
        }
        SecretDistribution::Sparse { weight } => {
            let own = |p: &&(u32, u32, &[Point])| (p.0, p.1) == (log_n, weight);
            let bound = strict_bound(log_n, secret);
            if bound.is_none() && !SPARSE_POINTS.iter().any(|p| own(&p)) {
                return None;
            }
            if let Some(bound) = bound {
                push((bound, 128.0));
            }
            SPARSE_POINTS.iter().filter(own).flat_map(|p| p.2).for_each(|&p| push(p));
        }
        SecretDistribution::BlockSparse { weight, .. } => {
            block(log_n, weight)?.points.iter().for_each(|&p| push(p));
        }
    }
    let points = &mut points[..count];
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(interpolate(points, log_modulus))
}

/// The power law through the two neighbours of `x`; see the module page for the ends. `points` is
/// not empty, and sorted by both coordinates.
fn interpolate(points: &[Point], x: f64) -> f64 {
    let above = points.partition_point(|p| p.0 < x);
    let Some(&right) = points.get(above) else {
        let last = points[points.len() - 1];
        return (last.1 * libm::pow(last.0 / x, EXTRAPOLATION)).max(FLOOR);
    };
    let Some(&left) = above.checked_sub(1).and_then(|below| points.get(below)) else {
        return right.1;
    };
    let part = libm::log(x / left.0) / libm::log(right.0 / left.0);
    left.1 * libm::pow(right.1 / left.1, part)
}

fn at(column: &[f64], log_n: u32) -> Option<f64> {
    let row = log_n.checked_sub(MIN_LOG_N)?;
    column.get(row as usize).copied().filter(|&bound| bound != NONE)
}

fn block(log_n: u32, weight: u32) -> Option<&'static BlockSparse> {
    BLOCK_SPARSE.iter().find(|b| b.log_n == log_n && weight == BLOCK_WEIGHT)
}
