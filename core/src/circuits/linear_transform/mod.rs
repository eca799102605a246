//! Linear maps of encrypted slots: a matrix as diagonals, evaluated by rotations.
//!
//! With y_i = sum_k D_k\[i\] x_(i+k), indices modulo the number of slots, a matrix with d non-zero diagonals takes
//! about 2 sqrt(d) rotations by baby and giant steps, y = sum_g rot_g(sum_b rot_-g(D_(g+b)) rot_b(x)), and one level
//! (Halevi, Shoup, CRYPTO 2014). Digits are decomposed once for all baby steps, sums stay modulo Q P until each giant
//! step, and the whole ends with one division by P q_l: double hoisting (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, EUROCRYPT
//! 2021, section 5).
//!
//! [`EncodedTransform`] does that for any scheme: a linear map of polynomials by automorphisms with integer coefficients.
//! [`LinearTransform`] builds on it for matrices of CKKS slots, [`IntegerTransform`] for matrices of BGV slots.
//!
//! ```
//! use refloat::circuits::linear_transform::Diagonals;
//! use refloat::schemes::ckks::Complex;
//!
//! // The matrix that adds its neighbour to every slot.
//! let mut matrix = Diagonals::new(4)?;
//! matrix.insert(0, vec![Complex::ONE; 4])?;
//! matrix.insert(1, vec![Complex::ONE; 4])?;
//! let x: Vec<Complex> = (0..4).map(|i| Complex::new(f64::from(i), 0.0)).collect();
//! let y: Vec<f64> = matrix.apply(&x)?.iter().map(|z| z.re).collect();
//! assert_eq!(y, [1.0, 3.0, 5.0, 3.0]);
//! # Ok::<(), refloat::Error>(())
//! ```

mod babies_giants;
mod composed;
mod diagonals;
mod encoded;
mod evaluate;
mod hypercube;
mod integer_transform;
mod ntt_stages;
mod slot_matrix;
mod special_fft;
mod stages;
mod transform;

pub use babies_giants::{BabyGiantSteps, Step, StepGroup};
pub use composed::Compositions;
pub use diagonals::Diagonals;
pub use encoded::{DiagonalForm, EncodedTransform, PlaintextStorage};
pub use hypercube::{
    HypercubeMatrix, hypercube_coeffs_to_slots_stages, hypercube_shapes, hypercube_slots_to_coeffs_stages,
};
pub use integer_transform::IntegerTransform;
pub use ntt_stages::{
    IntegerStageShape, integer_coeffs_to_slots_shapes, integer_coeffs_to_slots_stages,
    integer_slots_to_coeffs_shapes, integer_slots_to_coeffs_stages,
};
pub use slot_matrix::SlotMatrix;
pub use special_fft::{
    StageShape, coeffs_to_slots_shapes, coeffs_to_slots_stages, slots_to_coeffs_shapes,
    slots_to_coeffs_stages,
};
pub use transform::LinearTransform;
