//! What workers of one tab tell each other of a run whose work they share: briefs, and results of tasks.

use std::sync::{Arc, OnceLock};

use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, CircuitHelper, CircuitRun};
use refloat::bootstrapping::ckks_ship::{GeneratedKeys, ShipEvaluator, ShipHelper, ShipRun, ShipSecretKey};
use refloat::bootstrapping::method::{Helper, SlotMode, Split};
use refloat::circuits::netlist::arithmetic::{self, Form};
use refloat::random::Seed;

use super::Target;
use super::objects::{cggi, ship};

/// Briefs for groups of diagonals, and for tracks, whose phases are encoded.
pub(super) const SHIP_BRIEF: Target =
    Target { name: "ship_brief", corpus: ship_briefs, check: ship_brief, memory: (16, 1 << 26) };

fn ship_evaluator() -> &'static ShipEvaluator {
    static EVALUATOR: OnceLock<ShipEvaluator> = OnceLock::new();
    EVALUATOR.get_or_init(|| ShipEvaluator::compact(&ship().0).expect("a sound set"))
}

fn ship_briefs() -> Vec<Vec<u8>> {
    let (_, secret) = ship();
    let x = secret.encrypt(&[0.5, -0.25], SlotMode::Real, &Seed::from_bytes([7; 32])).expect("two slots");
    let keys = GeneratedKeys::new(secret).expect("keys");
    let mut run = ShipRun::new(ship_evaluator(), &x, SlotMode::Real).expect("an input");
    let groups = run.brief(&keys, &mut ()).expect("a brief");
    while !run.tasks().is_some_and(|tasks| tasks.secret) {
        run.step(&keys, &mut ()).expect("a stage");
    }
    vec![groups, run.brief(&keys, &mut ()).expect("a brief")]
}

fn ship_brief(bytes: &[u8]) -> bool {
    static LENT: OnceLock<Arc<ShipSecretKey>> = OnceLock::new();
    let (params, _) = ship();
    // The same key, in another hand.
    let lent = LENT.get_or_init(|| Arc::new(ShipSecretKey::generate(params, &Seed::from_bytes([1; 32]))));
    ShipHelper::new(ship_evaluator(), bytes, Some(lent.clone())).is_ok()
}

/// Briefs for the gates of a circuit.
pub(super) const CIRCUIT_BRIEF: Target =
    Target { name: "circuit_brief", corpus: circuit_briefs, check: circuit_brief, memory: (16, 1 << 16) };

fn cggi_evaluator() -> &'static CggiEvaluator {
    static EVALUATOR: OnceLock<CggiEvaluator> = OnceLock::new();
    EVALUATOR.get_or_init(|| CggiEvaluator::new(CggiKeys::generate(&cggi().1).expect("keys")))
}

/// A sum of integers of two bits, of which nothing is computed yet.
fn circuit() -> CircuitRun {
    let (params, secret) = cggi();
    let netlist = arithmetic::adder(2, Form::Ripple).expect("a circuit");
    let inputs = secret.encrypt_bits(&[true, false, true, true], &Seed::from_bytes([8; 32]));
    CircuitRun::new(params, netlist.to_string(), inputs).expect("a run")
}

fn circuit_briefs() -> Vec<Vec<u8>> {
    vec![circuit().brief(cggi_evaluator(), &mut ()).expect("a brief")]
}

fn circuit_brief(bytes: &[u8]) -> bool {
    CircuitHelper::new(cggi_evaluator(), bytes).is_ok()
}

/// Results of gates.
pub(super) const GATE_RESULT: Target =
    Target { name: "gate_result", corpus: gate_results, check: gate_result, memory: (16, 1 << 18) };

fn gate_results() -> Vec<Vec<u8>> {
    let mut helper = CircuitHelper::new(cggi_evaluator(), &circuit_briefs()[0]).expect("a brief");
    vec![helper.compute(0, &[]).expect("a gate of inputs")]
}

fn gate_result(bytes: &[u8]) -> bool {
    circuit().supply(0, bytes).is_ok()
}
