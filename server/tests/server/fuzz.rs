//! A short run of the server's fuzz targets: the same inputs each time.

#[path = "../support/fuzz.rs"]
mod targets;

use refloat_tests::fuzz::short_run;

/// Most inputs of a target, and most bytes of all of them.
const SIZE: (usize, usize) = (5000, 32 << 20);

#[test]
fn damaged_inputs_are_refused_or_read_back() {
    for (seed, target) in (1..).zip(&targets::TARGETS) {
        short_run(target, seed, SIZE, target.check);
    }
}
