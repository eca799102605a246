//! Rounding of numbers that are not on a grid.

/// Whether numbers that are not on the grid of a readout are brought there, and under which secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rounding {
    /// No rounding: the numbers are on the grid, but for noise.
    None,
    /// To the nearest point of the grid, but for a deviation of sqrt((1 + h) / 12) points, h the weight of the ephemeral
    /// secret: 1.66 points for h = 32.
    Ephemeral,
    /// The same under the main secret: 4.0 points for h = 192. The literature rounds like this, and this variant is for comparison.
    Main,
}
