//! What workers of one tab tell each other of a run whose work they share: briefs, and results of tasks.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    vec![run_at(false).1, run_at(true).1]
}

fn ship_brief(bytes: &[u8]) -> bool {
    static LENT: OnceLock<Arc<ShipSecretKey>> = OnceLock::new();
    let (params, _) = ship();
    // The same key, in another hand.
    let lent = LENT.get_or_init(|| Arc::new(ShipSecretKey::generate(params, &Seed::from_bytes([1; 32]))));
    ShipHelper::new(ship_evaluator(), bytes, Some(lent.clone())).is_ok()
}

/// Results of groups of diagonals.
pub(super) const SHIP_GROUP: Target =
    Target { name: "ship_group", corpus: || ship_results(false), check: ship_group, memory: (16, 1 << 18) };

/// Results of tracks.
pub(super) const SHIP_TRACK: Target =
    Target { name: "ship_track", corpus: || ship_results(true), check: ship_track, memory: (16, 1 << 18) };

/// A run at its groups or at its tracks, with the brief of that stage.
fn run_at(tracks: bool) -> (ShipRun<'static>, Vec<u8>) {
    let (_, secret) = ship();
    let x = secret.encrypt(&[0.5, -0.25], SlotMode::Real, &Seed::from_bytes([7; 32])).expect("two slots");
    let keys = GeneratedKeys::new(secret).expect("keys");
    let mut run = ShipRun::new(ship_evaluator(), &x, SlotMode::Real).expect("an input");
    while run.tasks().is_none_or(|tasks| tasks.secret != tracks) {
        run.step(&keys, &mut ()).expect("a stage");
    }
    let brief = run.brief(&keys, &mut ()).expect("a brief");
    (run, brief)
}

fn ship_results(tracks: bool) -> Vec<Vec<u8>> {
    let brief = run_at(tracks).1;
    let lent = ShipSecretKey::generate(&ship().0, &Seed::from_bytes([1; 32]));
    let mut helper = ShipHelper::new(ship_evaluator(), &brief, Some(Arc::new(lent))).expect("a brief");
    vec![helper.compute(0, &[]).expect("the first task")]
}

fn ship_group(bytes: &[u8]) -> bool {
    static RUN: OnceLock<Mutex<ShipRun>> = OnceLock::new();
    supplied(RUN.get_or_init(|| Mutex::new(run_at(false).0)), bytes)
}

fn ship_track(bytes: &[u8]) -> bool {
    static RUN: OnceLock<Mutex<ShipRun>> = OnceLock::new();
    supplied(RUN.get_or_init(|| Mutex::new(run_at(true).0)), bytes)
}

/// A result may be handed in again; the run has the last one.
fn supplied(run: &Mutex<ShipRun>, bytes: &[u8]) -> bool {
    run.lock().unwrap_or_else(PoisonError::into_inner).supply(0, bytes).is_ok()
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
