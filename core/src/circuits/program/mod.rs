//! Programs: graphs of operations on CKKS ciphertexts, checked before they run.
//!
//! A [`Program`] is what somebody wrote, in Rust ([`Builder`]), as text ([`Program::parse`]) or, from anywhere else, as bytes
//! ([`Program::from_bytes`]): inputs, constants, sums, products, rotations, polynomials, linear maps, bootstraps, outputs. It
//! says nothing about levels and scales. A [`Plan`] says how a set with its keys ([`Target`]) evaluates it: the level and scale
//! of every value, the keys each rotation is composed of, where a scale is adjusted, and, if the caller asks for it
//! ([`Bootstraps::WhereNeeded`]), where values are bootstrapped because their levels have run out. Whatever does not fit is
//! refused, and the error names the node. [`Plan::run`] evaluates the program, [`ProgramRun`] does so a step at a time.
//!
//! ```
//! use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
//! use refloat::circuits::program::{Builder, Program};
//! use refloat::schemes::ckks::Complex;
//!
//! let mut builder = Builder::new();
//! let x = builder.input("x");
//! let weights = builder.constant([0.5, 0.25, -0.25, 0.0]);
//! let products = builder.multiply(x, weights);
//! let sum = builder.rotate_sum(products, 4);
//! let y = builder.polynomial(sum, &Polynomial::new(PolynomialBasis::Monomial, [0.5, 0.25, 0.0, -0.02])?);
//! builder.output("y", y);
//! let program = builder.finish()?;
//!
//! // The same from its bytes, in the clear.
//! let program = Program::from_bytes(&program.to_bytes())?;
//! let x: Vec<Complex> = [0.5, 1.0, -1.0, 0.0].map(|x| Complex::new(x, 0.0)).to_vec();
//! let y = program.evaluate(4, &[x])?;
//! assert!((y[0][0].re - (0.5 + 0.25 * 0.75 - 0.02 * 0.421_875)).abs() < 1e-15);
//! # Ok::<(), refloat::Error>(())
//! ```
//!
//! # Text
//!
//! A line is `NAME = OPERATION ARGUMENTS`, `#` begins a comment. Arguments are names of earlier lines, in sums and products
//! also a number; numbers are written `0.5`, or `0.5,-1` for 0.5 - i.
//!
//! | line | value |
//! | --- | --- |
//! | `x = input` | a ciphertext given under that name |
//! | `w = constant 0.5 0.25` | one number for every slot, or one after the other and zeros from there on |
//! | `y = add a b`, `subtract a b`, `multiply a b` | slot by slot |
//! | `y = negate a`, `conjugate a`, `bootstrap a` | |
//! | `y = rotate a -3` | slots moved left, or right |
//! | `y = rotate-sum a 8` | in every slot the sum of 8 slots from it on, a power of two |
//! | `y = polynomial a 0.5 0.25 0 -0.02` | coefficients of 1, x, x^2 and so on |
//! | `y = chebyshev a -8 8 0.5 0.6` | coefficients of Chebyshev polynomials over an interval |
//! | `y = clamp a 0.05 0.125 31` | a to 1 - 0.125, the sign of a from 1 to 1 + 0.05, by a polynomial of degree 31 |
//! | `m = mod a 0.25 15`, `mod-centred a 1 15` | a modulo 0.25, to 15 bits; those may be left out |
//! | `r = int-mod a 24` | an integer modulo 24 |
//! | `b = bit a 10 3` | bit 3 of floor(2^10 a), a modulo 1 |
//! | `y = lut a 0 0.25 0.5 1` | the value at floor(4 a) of a table of 4, a modulo 1 |
//! | `y = lut-exact a 0 0.25 0.5 1` | the same for a multiple of 1/4 |
//! | `q = quantise a 32`, `quantise-nearest a 32` | the multiple of 1/32 below a, or next to it, a modulo 1 |
//! | `m = argmax a 16`, `argmin a 16`, `rank a 16`, `top a 16 3`, `sign a 16` | of the first 16 slots of a, in [-1, 1]: 1 for the largest, the smallest, the 3 largest, or what is at least 0; `rank` counts the smaller ones. `unit` after it says that they are in [0, 1], `grid 8` that they are multiples of 2^-8 there; neither for `sign`. `by gates` or `by digits` at the end says how they are compared |
//! | `score = output y` | hands y out under that name |
//!
//! # Levels and scales
//!
//! A product of two ciphertexts, of a ciphertext and a constant that is not a small integer, or with a matrix takes one level; a polynomial
//! of degree d takes log2(d + 1), rounded up, and one more for an interval other than [-1, 1]. Sums, rotations and conjugation take none.
//! Results stand at the scale of their level: that of the set at the top, and D_(l-1) = D_l^2 / q_l below, which is what products come to
//! by themselves. A value at another scale (an input encrypted at a lower level) is multiplied by a factor that corrects it when it is
//! added to a value at the usual scale, and that takes a level too.
//!
//! A bootstrap takes slots of size up to 1 or so, as the method says; what values the program computes is not
//! known before it runs, so keeping them in that range is the author's business. Chebyshev polynomials help: their values
//! are in [-1, 1].
//!
//! That is not enough for a map that is steep where its values end. 2x^2 - 1 keeps [-1, 1], and has slope 4 at 1: an error that a bootstrap
//! leaves above 1 is four times as large after every step, and nothing reports that values have left the range (`ship13`, with 5 bits, has
//! lost them after about 20 steps). A map that is flat at the ends brings them back, such as x (3 - x^2) / 2 (`polynomial x 0 1.5 0 -0.5`,
//! two levels): it takes 1 + e to 1 - 1.5 e^2, and everything in [-1, 1] to [-1, 1], steeper in the middle. Where values must be kept as
//! they are, [`Builder::clamp`] cuts real ones off at the ends, which takes five levels or more. A factor of 1 - 2^-b in front of the map,
//! b the bits of a bootstrap, leaves room for errors and takes at most one level.

mod builder;
mod by_digits;
mod clear;
mod comparison_choice;
mod digits;
mod encoding;
mod expand;
mod graph;
pub mod integer_program;
mod known;
mod lower;
mod operands;
mod order;
mod plan;
mod reading;
mod readings;
mod rotations;
mod run;
mod scales;
mod state;
mod steps;
mod target;
mod text;
mod values;

pub use builder::Builder;
pub use by_digits::DigitOrders;
pub use comparison_choice::{Compared, Estimate};
pub use digits::{DigitReader, MAX_PASSES, PlannedDigits, Readings};
pub use encoding::{MAX_BYTES, VERSION};
pub use graph::{MAX_INPUTS, MAX_NAME, MAX_NODES, MAX_OUTPUTS, MAX_VALUES, Node, Operation, Program, Value};
pub use known::Known;
pub use order::{Asked, Bounds, Order, Way};
pub use plan::{Plan, PlannedOutput};
pub use reading::{MAX_BITS, Reading};
pub use run::{Machine, ReadDigits, Refresh, STAGE};
pub use state::{Pending, PendingReadings, ProgramRun};
pub use steps::MAX_STEPS;
pub use target::{Bootstraps, InputShape, Modular, Refreshed, Target};
pub use text::MAX_TEXT;
