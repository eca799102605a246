//! Circuits of gates on encrypted bits, against the same circuits in the clear.

use std::ops::ControlFlow;

use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, CircuitHelper, CircuitRun};
use refloat::bootstrapping::method::{Helper, Split};
use refloat::circuits::netlist::{
    Bit, Builder, Clear, Gate, Netlist, Plan, STAGE, aes,
    arithmetic::{self, Form},
};
use refloat::params::{CggiPreset, cggi_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiSecretKey};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat_tests::split::drive;

fn setup() -> (CggiSecretKey, CggiEvaluator) {
    let params = cggi_preset("toy-bool").and_then(CggiPreset::params).expect("a valid preset");
    let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([41; 32]));
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).expect("keys"));
    (secret, evaluator)
}

/// Bits that a seed determines.
fn bits(seed: u64, count: usize) -> Vec<bool> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state >> 63 == 1
    };
    (0..count).map(|_| next()).collect()
}

fn encrypt(secret: &CggiSecretKey, bits: &[bool], number: u64) -> Vec<CggiCiphertext> {
    secret.encrypt_bits(bits, &Seed::from_bytes([42; 32]).derive("refloat test: circuits", &[number]))
}

fn check(secret: &CggiSecretKey, evaluator: &CggiEvaluator, plan: &Plan, number: u64) {
    let inputs = bits(number, plan.inputs());
    let expected = plan.run(&Clear, &inputs, &mut ()).expect("a run in the clear");
    let outputs = plan.run(evaluator, &encrypt(secret, &inputs, number), &mut ()).expect("a run");
    assert_eq!(secret.decrypt_bits(&outputs), Ok(expected), "inputs {inputs:?}");
}

#[test]
fn adders_comparators_and_the_sbox_agree_with_the_clear() {
    let (secret, evaluator) = setup();
    let mut plans = vec![aes::sbox_netlist().expect("a circuit").plan()];
    for form in Form::ALL {
        plans.push(arithmetic::adder(8, form).expect("a circuit").plan());
        plans.push(arithmetic::comparator(8, form).expect("a circuit").plan());
    }
    for (plan, number) in plans.iter().flat_map(|plan| (0..8).map(move |number| (plan, number))) {
        check(&secret, &evaluator, plan, number);
    }
}

/// Circuits of random gates, with operands that repeat, invert and are constant.
#[test]
fn random_circuits_agree_with_the_clear() {
    let (secret, evaluator) = setup();
    for number in 0..40 {
        let mut state = 1000 + number;
        let mut next = |bound: usize| {
            state = u64::wrapping_mul(state, 0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % bound
        };
        let mut builder = Builder::new();
        let mut known = builder.inputs("x", 6);
        known.extend([Bit::Constant(false), Bit::Constant(true)]);
        for _ in 0..30 {
            let gate = Gate::ALL[next(Gate::ALL.len())];
            let operands: Vec<Bit> = (0..gate.arity()).map(|_| known[next(known.len())]).collect();
            known.push(builder.gate(gate, &operands));
        }
        builder.outputs("y", &known[known.len() - 8..]);
        let netlist = builder.finish().expect("a circuit");
        // The text stands for the same circuit.
        let read = Netlist::parse(&netlist.to_string()).expect("its own text");
        assert_eq!(read, netlist);
        check(&secret, &evaluator, &read.plan(), number);
    }
}

/// Keeps the last event, and stops after some.
#[derive(Default)]
struct Watch {
    left: Option<usize>,
    total: Option<Counters>,
}

impl Observer for Watch {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        assert_eq!(event.stage(), STAGE.id);
        if let StageEvent::Exit { counters, .. } = event {
            self.total = Some(*counters);
        }
        match &mut self.left {
            Some(0) => return ControlFlow::Break(()),
            Some(left) => *left -= 1,
            None => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn results_are_the_same_on_any_number_of_threads_and_the_work_is_counted() {
    let (secret, evaluator) = setup();
    let plan = arithmetic::adder(8, Form::Prefix).expect("a circuit").plan();
    let inputs = encrypt(&secret, &bits(5, 16), 5);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut watch = Watch::default();
        let outputs = pool.install(|| plan.run(&evaluator, &inputs, &mut watch)).expect("a run");
        (outputs, watch.total.expect("an exit"))
    };
    let (one, work) = run(1);
    assert_eq!((one, work), run(3));
    assert!(work.key_switch as usize >= plan.bootstraps() && work.ntt > work.key_switch, "{work:?}");
}

#[test]
fn a_run_stops_when_it_is_told_and_refuses_foreign_bits() {
    let (secret, evaluator) = setup();
    let plan = aes::sbox_netlist().expect("a circuit").plan();
    let inputs = encrypt(&secret, &bits(6, 8), 6);
    let mut watch = Watch { left: Some(3), total: None };
    let stopped = plan.run(&evaluator, &inputs, &mut watch);
    assert_eq!(stopped.unwrap_err().code(), "ABORTED");
    assert!(watch.total.is_none());
    let other = CggiSecretKey::generate(secret.params(), &Seed::from_bytes([43; 32]));
    let foreign = encrypt(&other, &bits(6, 8), 6);
    assert_eq!(plan.run(&evaluator, &foreign, &mut ()).unwrap_err().code(), "PARAMS_MISMATCH");
}

#[test]
fn a_circuit_that_is_shared_gives_the_bits_and_the_work_of_one_that_is_not() {
    let (secret, evaluator) = setup();
    let netlist = arithmetic::adder(8, Form::Prefix).expect("a circuit");
    let inputs = encrypt(&secret, &bits(7, 16), 7);
    let mut alone = Watch::default();
    let wanted = netlist.plan().run(&evaluator, &inputs, &mut alone).expect("a run");

    let begin = |inputs: &[CggiCiphertext]| {
        CircuitRun::new(secret.params(), netlist.to_string(), inputs.to_vec()).expect("a run")
    };
    let start = |brief: &[u8], _| CircuitHelper::new(&evaluator, brief);
    let (mut run, mut watch) = (begin(&inputs), Watch::default());
    assert!(drive(&mut run, &evaluator, &mut watch, start) > netlist.plan().ops().len() / 3);
    assert_eq!(run.outputs(&evaluator), Ok(wanted));
    assert_eq!(watch.total, alone.total);

    let other = CggiSecretKey::generate(secret.params(), &Seed::from_bytes([43; 32]));
    let theirs = CggiEvaluator::new(CggiKeys::generate(&other).expect("keys"));
    let foreign = encrypt(&other, &bits(7, 16), 7);
    let brief = begin(&foreign).brief(&theirs, &mut ()).expect("a brief");
    let result = CircuitHelper::new(&theirs, &brief).expect("a helper").compute(0, &[]).expect("a result");
    assert_eq!(begin(&inputs).supply(0, &result).unwrap_err().code(), "PARAMS_MISMATCH");
    assert_eq!(
        CircuitHelper::new(&evaluator, &brief).err().map(|error| error.code()),
        Some("PARAMS_MISMATCH")
    );
}

#[test]
fn counts_that_nobody_can_have_done_stop_at_the_largest() {
    let (secret, evaluator) = setup();
    let netlist = arithmetic::adder(8, Form::Prefix).expect("a circuit");
    let inputs = encrypt(&secret, &bits(7, 16), 7);
    let mut run = CircuitRun::new(secret.params(), netlist.to_string(), inputs).expect("a run");
    let brief = run.brief(&evaluator, &mut ()).expect("a brief");
    let mut helper = CircuitHelper::new(&evaluator, &brief).expect("a helper");
    for gate in 0..2 {
        assert!(run.needs(gate).is_empty());
        let mut result = helper.compute(gate, &[]).expect("a result");
        let bit = result.len() - 3 * size_of::<u64>();
        result[bit..].fill(u8::MAX);
        run.supply(gate, &result).expect("a bit");
    }
    let mut watch = Watch::default();
    while !run.step(&evaluator, &mut watch).expect("a step") {}
    assert_eq!(watch.total.map(|total| total.ntt), Some(u64::MAX));
}
