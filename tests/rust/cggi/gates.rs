//! DM/CGGI gates on encrypted bits: every gate, every input, every method at demonstration size.

use std::sync::Arc;

use refloat::bootstrapping::cggi::{
    BLIND_ROTATE, CggiEvaluator, CggiKeys, CggiState, CggiView, EXTRACT, KEY_SWITCH, MOD_SWITCH,
};
use refloat::params::{CggiPreset, cggi_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, Encoding, Gate};
use refloat::trace::{Observer, StageEvent};

fn toys() -> Vec<CggiParams> {
    let toys = CggiPreset::all().iter().filter(|set| set.name.starts_with("toy-bool"));
    toys.map(|set| set.params().expect("a valid preset")).collect()
}

fn setup(params: &CggiParams, seed: u8) -> (CggiSecretKey, CggiEvaluator) {
    let secret = CggiSecretKey::generate(params, &Seed::from_bytes([seed; 32]));
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).expect("keys"));
    (secret, evaluator)
}

/// All inputs of a gate.
fn inputs(gate: Gate) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << gate.arity()).map(move |bits| (0..gate.arity()).map(|i| bits >> i & 1 == 1).collect())
}

fn refs(ciphertexts: &[CggiCiphertext]) -> Vec<&CggiCiphertext> {
    ciphertexts.iter().collect()
}

#[test]
fn every_gate_of_every_input_on_every_method() {
    for params in toys() {
        // The default method on more keys.
        for key in 0..if params.name() == "toy-bool" { 20 } else { 4 } {
            let (secret, evaluator) = setup(&params, key);
            for gate in Gate::ALL {
                for (i, bits) in (0..).zip(inputs(gate)) {
                    let randomness =
                        Seed::from_bytes([77; 32]).derive("refloat test: gates", &[key.into(), i]);
                    let encrypted = secret.encrypt_bits(&bits, &randomness);
                    let out = evaluator.gate(gate, &refs(&encrypted), &mut ()).expect("a gate");
                    let expected = gate.evaluate(&bits).expect("inputs");
                    let set = params.name();
                    assert_eq!(
                        secret.decrypt_bit(&out),
                        Ok(expected),
                        "{set}: {gate} of {bits:?}, key {key}"
                    );
                }
            }
        }
    }
}

#[test]
fn chains_of_gates_stay_right() {
    for params in toys() {
        let (secret, evaluator) = setup(&params, 30);
        let mut plain: Vec<bool> = (0..16).map(|i| i % 3 == 0).collect();
        let mut pool = secret.encrypt_bits(&plain, &Seed::from_bytes([31; 32]));
        let mut coin = Seed::from_bytes([32; 32]).stream();
        for round in 0..150 {
            let gate = Gate::ALL[coin.below(Gate::ALL.len() as u32) as usize];
            let chosen: Vec<usize> = (0..gate.arity()).map(|_| coin.below(16) as usize).collect();
            let operands: Vec<&CggiCiphertext> = chosen.iter().map(|&i| &pool[i]).collect();
            let bits: Vec<bool> = chosen.iter().map(|&i| plain[i]).collect();
            let out = evaluator.gate(gate, &operands, &mut ()).expect("a gate");
            let to = coin.below(16) as usize;
            plain[to] = gate.evaluate(&bits).expect("inputs");
            pool[to] = out;
            let set = params.name();
            assert_eq!(secret.decrypt_bit(&pool[to]), Ok(plain[to]), "{set}: {gate} in round {round}");
        }
    }
}

#[test]
fn constants_inverses_and_equal_inputs_are_inputs_too() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 40);
    for bit in [false, true] {
        let x = secret.encrypt_bit(bit, &Seed::from_bytes([41; 32]));
        let inverse = evaluator.not(&x).unwrap();
        assert_eq!(secret.decrypt_bit(&inverse), Ok(!bit));
        assert_eq!(evaluator.not(&inverse).unwrap(), x);
        assert_eq!(secret.decrypt_bit(&evaluator.refresh(&x, &mut ()).unwrap()), Ok(bit));
        for gate in Gate::ALL.into_iter().filter(|gate| gate.arity() == 2) {
            for known in [false, true] {
                let constant = evaluator.constant(known).unwrap();
                let out = evaluator.gate(gate, &[&x, &constant], &mut ()).unwrap();
                assert_eq!(secret.decrypt_bit(&out), gate.evaluate(&[bit, known]), "{gate} {bit} {known}");
            }
            let out = evaluator.gate(gate, &[&x, &x.clone()], &mut ()).unwrap();
            assert_eq!(secret.decrypt_bit(&out), gate.evaluate(&[bit, bit]), "{gate} of {bit} twice");
            let out = evaluator.gate(gate, &[&x, &inverse], &mut ()).unwrap();
            assert_eq!(secret.decrypt_bit(&out), gate.evaluate(&[bit, !bit]), "{gate} of {bit}, {}", !bit);
        }
    }
}

#[test]
fn noisy_inputs_are_refreshed_before_the_promise_breaks() {
    let params = cggi_preset("bool-128").unwrap().params().unwrap();
    assert_eq!(params.max_weight(), 3, "majority is promised, and nothing beyond");
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 45);
    let x = secret.encrypt_bits(&[true, false, true], &Seed::from_bytes([46; 32]));
    let mux = evaluator.gate(Gate::Mux, &refs(&x), &mut ()).unwrap();
    assert_eq!((mux.weight(), x[0].weight()), (2, 1));
    let out = evaluator.gate(Gate::Xor3, &[&mux, &x[0], &x[1]], &mut ()).unwrap();
    assert_eq!((secret.decrypt_bit(&out), out.weight()), (Ok(true), 1));
}

/// Counts what is reported, and breaks at an event.
#[derive(Default)]
struct Watcher {
    entered: Vec<&'static str>,
    left: Vec<&'static str>,
    progress: Vec<(usize, usize)>,
    ntt: u64,
    events: usize,
    break_at: Option<usize>,
}

impl Observer for Watcher {
    fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
        match event {
            StageEvent::Enter { stage } => self.entered.push(stage),
            StageEvent::Progress { done, total, .. } => self.progress.push((*done, *total)),
            StageEvent::Exit { stage, counters, .. } => {
                self.left.push(stage);
                self.ntt += counters.ntt;
            }
            _ => {}
        }
        self.events += 1;
        if self.break_at == Some(self.events) {
            return std::ops::ControlFlow::Break(());
        }
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
fn stages_are_reported_in_order_and_any_event_cancels() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 50);
    let x = secret.encrypt_bits(&[true, true], &Seed::from_bytes([51; 32]));
    let mut watcher = Watcher::default();
    evaluator.gate(Gate::Nand, &refs(&x), &mut watcher).unwrap();
    let order = [KEY_SWITCH, MOD_SWITCH, BLIND_ROTATE, EXTRACT];
    assert_eq!((&watcher.entered[..], &watcher.left[..]), (&order[..], &order[..]));
    assert_eq!(evaluator.stages().iter().map(|stage| stage.id).collect::<Vec<_>>(), order);
    let (done, total) = *watcher.progress.last().unwrap();
    assert!(done == total && total > 50 && watcher.ntt == 6 * total as u64);
    for event in 1..=watcher.events {
        let mut breaker = Watcher { break_at: Some(event), ..Watcher::default() };
        let error = evaluator.gate(Gate::Nand, &refs(&x), &mut breaker).unwrap_err();
        assert_eq!(error.code(), "ABORTED");
        assert_eq!(breaker.events, event);
    }
}

#[test]
fn a_run_can_be_looked_at_and_gives_the_same_ciphertext() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 60);
    let x = secret.encrypt_bits(&[true, false], &Seed::from_bytes([61; 32]));
    let expected = evaluator.gate(Gate::Nand, &refs(&x), &mut ()).unwrap();
    let mut run = evaluator.gate_run(Gate::Nand, &refs(&x)).unwrap().with_products_per_step(5);
    let (mut phases, mut polynomials) = (Vec::new(), Vec::new());
    loop {
        match secret.inspect_run(&run).unwrap() {
            CggiView::Phase(phase) => phases.push(phase),
            CggiView::Polynomial(coefficients) => polynomials.push(coefficients),
        }
        if run.step(&mut ()).unwrap() {
            break;
        }
    }
    // 1/8 - 1/8 + 1/8 of a turn before the rotation, in each of three forms.
    assert_eq!(phases.len(), 3);
    assert!(phases.iter().all(|phase| (phase - 0.125).abs() < 0.06), "{phases:?}");
    // Every coefficient is ±1/8 all the time, and the constant one positive in the end.
    assert!(polynomials.len() > 10);
    assert!(polynomials.iter().flatten().all(|x| (x.abs() - 0.125).abs() < 0.01));
    assert!(polynomials.last().unwrap()[0] > 0.0);
    assert!(matches!(run.state(), CggiState::Done(sample) if sample == expected.sample()));
    assert!(matches!(secret.inspect_run(&run), Ok(CggiView::Phase(phase)) if (phase - 0.125).abs() < 0.01));
    assert_eq!(run.finish(&mut ()).unwrap(), expected);
    assert!(evaluator.gate_run(Gate::Mux, &refs(&[x[0].clone(), x[1].clone(), x[0].clone()])).is_err());
}

#[test]
fn gates_in_parallel_are_those_one_after_the_other() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 70);
    let x = secret.encrypt_bits(&[true, false, true], &Seed::from_bytes([71; 32]));
    let x = refs(&x);
    let calls: Vec<(Gate, &[&CggiCiphertext])> = Gate::ALL.map(|gate| (gate, &x[..gate.arity()])).into();
    let serial: Vec<_> = calls.iter().map(|(gate, x)| evaluator.gate(*gate, x, &mut ()).unwrap()).collect();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| evaluator.gates(&calls)).unwrap(), serial, "{threads} threads");
    }
}

#[test]
fn foreign_ciphertexts_and_wrong_inputs_are_refused() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 80);
    let (other, _) = setup(&params, 81);
    let own = secret.encrypt_bit(true, &Seed::from_bytes([82; 32]));
    let foreign = other.encrypt_bit(true, &Seed::from_bytes([82; 32]));
    let integer =
        secret.encrypt(Encoding::Padded { messages: 4 }, &[3], &Seed::from_bytes([83; 32])).unwrap();
    let code = |inputs: &[&CggiCiphertext]| evaluator.gate(Gate::And, inputs, &mut ()).unwrap_err().code();
    assert_eq!(code(&[&own, &foreign]), "PARAMS_MISMATCH");
    assert_eq!(code(&[&own, &integer[0]]), "INVALID_ARGUMENT");
    assert_eq!(code(&[&own]), "INVALID_ARGUMENT");
    assert_eq!(secret.decrypt_bit(&foreign).unwrap_err().code(), "PARAMS_MISMATCH");
    assert_eq!(secret.decrypt_bit(&integer[0]).unwrap_err().code(), "INVALID_ARGUMENT");
    assert_eq!(secret.decrypt(&integer[0]), Ok(3));
    let big = cggi_preset("bool-64").unwrap().params().unwrap();
    let elsewhere = CggiSecretKey::generate(&big, &Seed::from_bytes([80; 32]));
    assert_eq!(elsewhere.decrypt_bit(&own).unwrap_err().code(), "PARAMS_MISMATCH");
    let evaluator: CggiEvaluator = CggiEvaluator::new(Arc::new(CggiKeys::generate(&secret).unwrap()));
    assert_eq!(evaluator.params().name(), "toy-bool");
}

#[test]
fn every_message_of_every_encoding_comes_back() {
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, _) = setup(&params, 90);
    for messages in [2, 3, 4, 7, 8, 16, 31, 32, 64] {
        for encoding in [Encoding::Padded { messages }, Encoding::Cyclic { messages }] {
            let all: Vec<u32> = (0..messages).collect();
            let encrypted = secret.encrypt(encoding, &all, &Seed::from_bytes([91; 32])).unwrap();
            let back: Vec<u32> = encrypted.iter().map(|x| secret.decrypt(x).unwrap()).collect();
            assert_eq!(back, all, "{encoding:?}");
            assert!(secret.encrypt(encoding, &[messages], &Seed::from_bytes([91; 32])).is_err());
        }
    }
    for messages in [0, 1, 65] {
        let error =
            secret.encrypt(Encoding::Cyclic { messages }, &[], &Seed::from_bytes([91; 32])).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn circuits_run_on_encrypted_bits() {
    use refloat::circuits::netlist::Netlist;
    // A full adder and a choice, with constants and inverses on the way.
    let text = "input a b c\noutput sum carry pick\nna = NOT a\nsum = XOR3 a b c\ncarry = MAJ3 a b c\n\
                both = AND na b\npick = MUX c both a\n";
    let plan = Netlist::parse(text).unwrap().plan();
    let params = cggi_preset("toy-bool").unwrap().params().unwrap();
    let (secret, evaluator) = setup(&params, 95);
    for bits in inputs(Gate::Xor3) {
        let encrypted = secret.encrypt_bits(&bits, &Seed::from_bytes([96; 32]));
        let out = plan.run(&evaluator, &encrypted, &mut ()).unwrap();
        let (a, b, c) = (bits[0], bits[1], bits[2]);
        let expected = [a ^ b ^ c, (a && b) || (c && (a || b)), if c { !a && b } else { a }];
        assert_eq!(secret.decrypt_bits(&out).unwrap(), expected, "{bits:?}");
    }
}
