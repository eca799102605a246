//! DM/CGGI at full size: every secure set and those of other libraries; every gate on every input, chained gates and every
//! message of look-ups, none wrong.
//!
//! A few of each here; `cargo test --profile quick -p refloat-tests --test cggi full_size -- --ignored --nocapture` runs
//! `REFLOAT_GATES` chained gates per set (1000 if unset) and prints the largest error seen; `REFLOAT_SETS=bool-128,fbs16`
//! takes some of the sets.

use refloat::arith::Word;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::params::{CggiPreset, cggi_peer_presets, cggi_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiSecretKey, Encoding, Gate};

/// Keys of a set, and gates or look-ups on them.
struct World<W: Word> {
    name: &'static str,
    secret: CggiSecretKey<W>,
    evaluator: CggiEvaluator<W>,
}

impl<W: Word> World<W> {
    fn new(preset: &CggiPreset) -> Self {
        let params = preset.params_over::<W>().unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).unwrap());
        Self { name: preset.name, secret, evaluator }
    }

    /// Checks every gate on every input; returns how many there were.
    fn every_gate(&self) -> usize {
        let mut count = 0;
        for gate in Gate::ALL {
            for pattern in 0..1u32 << gate.arity() {
                let bits: Vec<bool> = (0..gate.arity()).map(|i| pattern >> i & 1 == 1).collect();
                let randomness = Seed::from_bytes([7; 32]).derive("refloat test: inputs at size", &[count]);
                let inputs = self.secret.encrypt_bits(&bits, &randomness);
                let inputs: Vec<&CggiCiphertext<W>> = inputs.iter().collect();
                let out = self.evaluator.gate(gate, &inputs, &mut ()).unwrap();
                let expected = gate.evaluate(&bits);
                assert_eq!(self.secret.decrypt_bit(&out), expected, "{}: {gate} of {bits:?}", self.name);
                count += 1;
            }
        }
        count as usize
    }

    /// Random gates on a pool of 16 bits, all results checked; returns the largest error of a result in turns.
    fn chained_gates(&self, count: usize) -> f64 {
        let gates = [Gate::Nand, Gate::Xor, Gate::Or, Gate::Majority, Gate::Xor3, Gate::Mux, Gate::AndNotB];
        let mut coin = Seed::from_bytes([2; 32]).derive("refloat test: gates at size", &[]).stream();
        let mut plain: Vec<bool> = (0..16).map(|_| coin.below(2) == 1).collect();
        let mut pool = self.secret.encrypt_bits(&plain, &Seed::from_bytes([3; 32]));
        let mut largest = 0.0f64;
        for i in 0..count {
            let gate = gates[coin.below(gates.len() as u32) as usize];
            let chosen: Vec<usize> = (0..gate.arity()).map(|_| coin.below(16) as usize).collect();
            let operands: Vec<&CggiCiphertext<W>> = chosen.iter().map(|&i| &pool[i]).collect();
            let bits: Vec<bool> = chosen.iter().map(|&i| plain[i]).collect();
            let out = self.evaluator.gate(gate, &operands, &mut ()).unwrap();
            let expected = gate.evaluate(&bits).unwrap();
            assert_eq!(self.secret.decrypt_bit(&out), Ok(expected), "{}: {gate} number {i}", self.name);
            let phase = self.secret.inspect_phase(&out).unwrap();
            largest = largest.max((phase.abs() - 0.125).abs());
            let to = coin.below(16) as usize;
            (plain[to], pool[to]) = (expected, out);
        }
        largest
    }

    /// Looks up every message in random tables, and the results in a second one.
    fn look_ups(&self, tables: usize) {
        let messages = self.evaluator.params().spec().messages;
        let encoding = Encoding::Padded { messages };
        let mut coin = Seed::from_bytes([4; 32]).derive("refloat test: tables at size", &[]).stream();
        let all: Vec<u32> = (0..messages).collect();
        let x = self.secret.encrypt(encoding, &all, &Seed::from_bytes([5; 32])).unwrap();
        for _ in 0..tables {
            let mut table = || (0..messages).map(|_| coin.below(messages)).collect::<Vec<u32>>();
            let (first, second) = (table(), table());
            for (m, x) in x.iter().enumerate() {
                let once = self.evaluator.look_up(x, &first, encoding, &mut ()).unwrap();
                let twice = self.evaluator.look_up(&once, &second, encoding, &mut ()).unwrap();
                assert_eq!(self.secret.decrypt(&once), Ok(first[m]), "{}: {m}", self.name);
                assert_eq!(self.secret.decrypt(&twice), Ok(second[first[m] as usize]), "{}: {m}", self.name);
            }
        }
    }
}

/// Checks what a set is for: gates or look-ups.
fn check<W: Word>(preset: &CggiPreset, gates: usize, tables: usize) {
    let world = World::<W>::new(preset);
    let params = world.evaluator.params();
    if params.spec().messages == 2 {
        let every = world.every_gate();
        let largest = world.chained_gates(gates);
        println!(
            "{}: {every} gates of every input and {gates} chained, none wrong; largest error of a result {largest:.4} turns; 2^{:.0} failures modelled",
            preset.name,
            params.gate_failure()
        );
    } else {
        world.look_ups(tables);
        println!(
            "{}: {tables} tables, none wrong; 2^{:.0} failures modelled",
            preset.name,
            params.look_up_failure()
        );
    }
}

#[test]
fn the_default_set_computes() {
    check::<u32>(cggi_preset("bool-128").unwrap(), 12, 0);
}

#[test]
fn wide_words_give_the_same_ciphertexts() {
    for name in ["toy-bool", "toy-bool-unrolled"] {
        same_ciphertexts(cggi_preset(name).unwrap());
    }
}

fn same_ciphertexts(preset: &CggiPreset) {
    let (narrow, wide) = (World::<u32>::new(preset), World::<u64>::new(preset));
    let bits = [true, false, true];
    let x = narrow.secret.encrypt_bits(&bits, &Seed::from_bytes([6; 32]));
    let y = wide.secret.encrypt_bits(&bits, &Seed::from_bytes([6; 32]));
    for gate in [Gate::Nand, Gate::Xor3, Gate::Mux] {
        let x: Vec<_> = x.iter().take(gate.arity()).collect();
        let y: Vec<_> = y.iter().take(gate.arity()).collect();
        let x = narrow.evaluator.gate(gate, &x, &mut ()).unwrap();
        let y = wide.evaluator.gate(gate, &y, &mut ()).unwrap();
        assert_eq!(u64::from(x.sample().b), y.sample().b);
        assert!(x.sample().a.iter().zip(&y.sample().a).all(|(&x, &y)| u64::from(x) == y));
    }
}

#[test]
#[ignore = "minutes; see the head of the file"]
fn every_secure_set_computes() {
    let gates = std::env::var("REFLOAT_GATES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let only = std::env::var("REFLOAT_SETS").ok();
    let asked = |name: &str| only.as_ref().is_none_or(|names| names.split(',').any(|one| one == name));
    let sets = CggiPreset::all().iter().filter(|preset| preset.secure()).chain(cggi_peer_presets());
    for preset in sets.filter(|preset| asked(preset.name)) {
        if preset.wide() {
            check::<u64>(preset, gates, 2);
        } else {
            check::<u32>(preset, gates, 2);
        }
    }
}
