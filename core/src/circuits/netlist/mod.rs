//! Circuits of Boolean gates: written down, checked, folded, levelled, and run by any evaluator of gates.
//!
//! A [`Netlist`] is what somebody wrote, gate by gate, in Rust ([`Builder`]) or as text
//! ([`Netlist::parse`], printed by `Display`). A [`Plan`] is what has to be run of it: constants,
//! negations and gates with equal operands are folded away, equal gates are one, chains of XOR
//! become XOR3, what no output needs is left out, and the rest is sorted into levels whose gates do not depend on
//! each other. [`Plan::run`] gives each level to a [`GateEvaluator`]: [`Clear`] computes on `bool`,
//! and a scheme with gate bootstrapping on encrypted bits.
//!
//! ```
//! use refloat::circuits::netlist::{Clear, Netlist};
//!
//! let netlist = Netlist::parse("input a b c\noutput sum carry\nsum = XOR3 a b c\ncarry = MAJ3 a b c\n")?;
//! let plan = netlist.plan();
//! assert_eq!((plan.bootstraps(), plan.depth()), (2, 1));
//! assert_eq!(plan.run(&Clear, &[true, false, true], &mut ())?, [false, true]);
//! # Ok::<(), refloat::Error>(())
//! ```
//!
//! # Text
//!
//! One statement a line; `#` begins a comment. Statements may come in any order.
//!
//! ```text
//! input NAME ...              wires given from outside; a[0..8] stands for a[0] a[1] ... a[7]
//! output NAME ...             wires handed out, in this order
//! NAME = GATE OPERAND ...     a gate; an operand is a name, 0 or 1
//! NAME = OPERAND              another name for it
//! ```
//!
//! Gates: the names of [`Gate`], in capitals. Names begin with a letter or `_` and go on with letters,
//! digits, `_`, `.`, `[` and `]`; they have at most [`MAX_NAME`] characters.

pub mod aes;
pub mod arithmetic;
mod builder;
mod circuit;
mod evaluate;
mod fold;
mod plan;
mod run;
mod text;

pub use builder::{Bit, Builder};
pub use circuit::{MAX_GATES, MAX_INPUTS, MAX_NAME, MAX_OUTPUTS, Netlist, Node, Operand, Wire};
pub use evaluate::{Clear, GateCall, GateEvaluator, STAGE, Term};
pub use fold::{Kind, Op, Signal};
pub use plan::Plan;
pub use run::PlanRun;
pub use text::MAX_TEXT;

pub use crate::schemes::cggi::Gate;
