//! Results of fixed seeds computed natively; the tests of the npm package expect the same from the wasm module.
//!
//! `REFLOAT_WRITE_VECTORS=1 cargo test -p refloat-wasm --test portable` rewrites the vectors, after a change of the wire format or of the
//! sampling.

use std::{fs, path::PathBuf};

use refloat::{
    bootstrapping::{
        bgv::{BgvBootstrapper, BgvKeys, BgvPreset, BgvSecretKey},
        cggi::{CggiEvaluator, CggiKeys, key_parts},
        ckks_conventional::{ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey},
        ckks_msb::{
            MsbEvaluator, MsbKeys, MsbPreset, MsbReading, MsbRun, MsbSecretKey, Radix, Readout, Rounding,
        },
        ckks_ship::{ShipEvaluator, ShipKeys, ShipSecretKey},
        method::SlotMode,
        scheme_switching::{LinkEvaluator, LinkKeys, LinkPreset, LinkSecretKey, Range},
    },
    circuits::{
        linear_transform::PlaintextStorage,
        netlist::arithmetic::{self, Form},
        program::Program,
    },
    params,
    random::Seed,
    schemes::{
        bgv::BgvCiphertext,
        cggi::{CggiCiphertext, CggiSecretKey, Encoding, Gate},
        ckks::{Ciphertext, Complex},
    },
    wire::{self, SeededSecret, SeededSet},
};
use refloat_tests::portable::{hex, wire_digest as digest};
use serde_json::{Value, json};

#[test]
fn native_results_are_those_of_the_vectors() {
    let sets = ["toy10", "toy11", "ship13", "ship13-bits"].map(digests_of);
    let gates = [
        "toy-bool",
        "toy-bool-unrolled",
        "toy-bool-ternary",
        "toy-bool-lmk-merged",
        "toy-bool-ntru-merged",
        "toy-fbs",
        "bool-128",
    ]
    .map(gate_digests_of);
    let conventional = [
        "toy-conventional10-sparse",
        "toy-conventional10-slots-first",
        "toy-conventional10-50bit",
        "toy-conventional11",
        "n15",
    ]
    .map(conventional_digests_of);
    let integers = ["toy-bgv10", "toy-bgv-gf4", "bgv15"].map(integer_digests_of);
    let links = [link_digests_of("toy-link")];
    let found = json!({
        "about": "Digests of what fixed seeds give, the same in every build: SIMD or not, 32 or 64 bits. A digest is the last 32 bytes of an object's wire form, the BLAKE3 hash of all before.",
        "provenance": "Written by wasm/tests/portable.rs, natively; checked there, and in wasm by ts/tests/portable.test.ts.",
        "keySeed": 7,
        "encryptionSeed": 9,
        "message": "value i is ((37 i) mod 101 - 50) / 64; real sets take one per slot, complex messages the same in order re, im, bits the parity of i",
        "sets": sets,
        "gateMessage": "bits are the lowest of 0b10110, integers (13 i) mod the set's messages, 5 of each; the circuit adds bits 0 1 to bits 2 3; the table is m -> (m m + 1) mod messages",
        "gates": gates,
        "conventional": conventional,
        "reductionMessage": "slot i is (37 i mod 64) / 64; its digits in bases 8 and 8, and the bits of what it is rounded to",
        "reduction": [reduction_digests_of("toy-msb10")],
        "linkMessage": "slot i is (37 i mod 16) / 16, i < 5; the first three are compared, as numbers in [0, 1]",
        "link": links,
        "integerMessage": "integer i is 37 i^2 mod 65537",
        "integers": integers,
    });
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "tests", "vectors", "portable.json"].iter().collect();
    if std::env::var_os("REFLOAT_WRITE_VECTORS").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("plain JSON");
        fs::write(&path, text + "\n").expect("the vectors' folder is writable");
    }
    let text = fs::read_to_string(&path).expect("the vectors are in the repository");
    let wanted: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    assert_eq!(found, wanted);
}

/// Recorded for every set: its secret key, and some of the parts of its evaluation keys.
fn of_keys<K: SeededSecret>(name: &str, secret: &K, parts: impl IntoIterator<Item = usize>) -> Value {
    let part = |index: usize| json!([index, digest(&secret.key_part(index).expect("a part"))]);
    json!({
        "name": name,
        "fingerprint": hex(&secret.set().fingerprint()),
        "keyId": hex(&secret.key_id()),
        "secret": hex(&wire::secret_key_to_bytes(secret)),
        "parts": parts.into_iter().map(part).collect::<Vec<_>>(),
    })
}

fn digests_of(name: &str) -> Value {
    let preset = params::ship_preset(name).expect("a preset");
    let params = preset.params().expect("a preset is valid");
    let mode = params.mode();
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let parts = params.key_parts().len();
    // Parts of every kind for large sets, every part for small ones.
    let wanted: Vec<usize> =
        if preset.secure() { vec![0, parts / 2, parts - 1] } else { (0..parts).collect() };
    let encrypted = |mode: SlotMode, level: usize| {
        let count = if mode == SlotMode::Complex { params.n() } else { params.slots() };
        let values = message(mode, count);
        secret.encrypt_at(&values, mode, level, &Seed::from_bytes([9; 32])).expect("values in range")
    };
    let hash = |ciphertext: &Ciphertext| {
        digest(&wire::ciphertext_to_bytes(params.ckks(), ciphertext).expect("a ciphertext of the set"))
    };
    let mut found = of_keys(name, &secret, wanted);
    found["fresh"] = json!(hash(&encrypted(mode, 2)));
    found["exhausted"] = json!(hash(&encrypted(mode, 1)));
    if mode == SlotMode::Real {
        found["complex"] = json!(hash(&encrypted(SlotMode::Complex, 2)));
    }
    if name == "toy10" {
        let keys = ShipKeys::generate(&secret).expect("keys");
        let evaluator = ShipEvaluator::new(&params).expect("an evaluator");
        let once = evaluator.bootstrap(&encrypted(mode, 1), mode, &keys, &mut ()).expect("a bootstrap");
        let square = evaluator.square(&once, &keys).expect("a square");
        let twice = evaluator.bootstrap(&square, mode, &keys, &mut ()).expect("a bootstrap");
        found["bootstrapped"] = json!(hash(&once));
        found["squared"] = json!(hash(&square));
        found["bootstrappedAgain"] = json!(hash(&twice));
    }
    found
}

fn reduction_digests_of(name: &str) -> Value {
    let params = params::msb_preset(name).and_then(MsbPreset::params).expect("a preset");
    let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let hash = |ciphertext: &Ciphertext<u64>| {
        digest(&wire::ciphertext_to_bytes(params.ckks(), ciphertext).expect("a ciphertext of the set"))
    };
    let slot = |i: usize| Complex::new((37 * i % 64) as f64 / 64.0, 0.0);
    let message: Vec<Complex> = (0..params.slots()).map(slot).collect();
    let x =
        secret.encrypt(&message, params.levels().input, &Seed::from_bytes([9; 32])).expect("values in range");
    let keys = MsbKeys::generate(&secret).expect("keys");
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated).expect("an evaluator");
    let last = params.key_parts().len() - 1;
    let radix = Radix::new(&[8, 8]).expect("bases");
    let refresh = |x: &Ciphertext<u64>| {
        let mut run = MsbRun::refreshing(&evaluator, x).expect("a number");
        while !run.step(&keys, &mut ()).expect("a stage") {}
        run.finish().expect("a result").remove(0)
    };
    // Readings that the page asks for, written as programs.
    let readings = |x: &Ciphertext<u64>| {
        let text = "x = input\nb = bit x 3 2\nc = bit x 3 0\nb = output b\nc = output c";
        let program = Program::parse(text).expect("a program");
        let readings = program.readings().expect("readings");
        let mut run = MsbReading::new(&evaluator, x, readings.as_slice().into(), 0.0).expect("bits");
        while !run.step(&keys, &mut ()).expect("a stage") {}
        run.finish().expect("bits").iter().map(hash).collect::<Vec<_>>()
    };
    let read = |readout: Result<Readout, _>, rounding| {
        let readout = readout.expect("a readout");
        evaluator
            .read(&x, &readout, rounding, &keys, &mut ())
            .expect("digits")
            .iter()
            .map(hash)
            .collect::<Vec<_>>()
    };
    let mut found = of_keys(name, &secret, [0, last / 2, last]);
    found["fresh"] = json!(hash(&x));
    found["bootstrapped"] = json!(hash(&refresh(&x)));
    found["readings"] = json!(readings(&x));
    found["digits"] = json!(read(Readout::digits(&radix), Rounding::None));
    found["bits"] = json!(read(Readout::bits(&radix), Rounding::Ephemeral));
    found
}

/// Digests of a comparison: numbers become phases and are compared, their ranks are looked up, and the bits are brought back into slots.
fn link_digests_of(name: &str) -> Value {
    let params = params::link_preset(name).and_then(LinkPreset::params).expect("a preset");
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let hash = |ciphertext: &Ciphertext<u64>| {
        let bytes = wire::ciphertext_to_bytes(wire::CkksSet::ckks(&params), ciphertext);
        digest(&bytes.expect("a ciphertext of the set"))
    };
    let hash_all = |list: &[CggiCiphertext<u64>]| {
        digest(&wire::cggi_ciphertexts_to_bytes(params.cggi(), list).expect("a list of the set"))
    };
    let last = params.key_parts().len() - 1;
    let numbers: Vec<Complex> = (0..5).map(|i| Complex::new((37 * i % 16) as f64 / 16.0, 0.0)).collect();
    let level = params.ckks().levels().output;
    let x = secret.ckks().encrypt(&numbers, level, &Seed::from_bytes([9; 32])).expect("values in range");
    // Parts for the slots, for the gates, for packing, and for both ways between them.
    let mut found = of_keys(name, &secret, [0, last - 3, last - 2, last - 1, last]);
    let keys = LinkKeys::generate(&secret).expect("keys");
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Evaluated).expect("an evaluator");
    let phases = evaluator.extract(&x, &[0, 1, 2], Range::Unit, &mut ()).expect("phases");
    let ranks = evaluator.ranks(&phases, &mut ()).expect("ranks");
    let largest = evaluator.look_up_ranks(&ranks, |rank| rank == 2, &mut ()).expect("bits");
    assert_eq!(secret.cggi().decrypt_bits(&largest).expect("bits"), [false, false, true]);
    found["fresh"] = json!(hash(&x));
    found["ranks"] = json!(hash_all(&ranks));
    found["lookedUp"] = json!(hash_all(&largest));
    // Answers to pages and servers are at most at the level at which messages are encrypted.
    let slots = evaluator.to_slots(&largest, &mut ()).expect("slots");
    let answer = evaluator.ckks().ckks().drop_to_level(&slots, level.min(slots.level())).expect("levels");
    found["argmax"] = json!(hash(&answer));
    found
}

fn conventional_digests_of(name: &str) -> Value {
    let preset = params::conventional_preset(name).expect("a preset");
    let params = preset.params().expect("a preset is valid");
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let last = params.key_parts().len() - 1;
    let hash = |ciphertext: &Ciphertext<u64>| {
        digest(&wire::ciphertext_to_bytes(params.ckks(), ciphertext).expect("a ciphertext of the set"))
    };
    let mut found = of_keys(name, &secret, [0, last / 2, last]);
    if preset.secure() {
        return found;
    }
    let encrypted = |values: &[Complex], level: usize| {
        secret.encrypt(values, level, &Seed::from_bytes([9; 32])).expect("values in range")
    };
    let numbers = message(SlotMode::Complex, 2 * params.slots());
    let real: Vec<Complex> = numbers[..params.slots()].iter().map(|&re| Complex::new(re, 0.0)).collect();
    let complex: Vec<Complex> = numbers.chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect();
    let levels = params.levels();
    let exhausted = encrypted(&complex, levels.input);
    let keys = ConventionalKeys::generate(&secret).expect("keys");
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).expect("an evaluator");
    let once = evaluator.bootstrap(&exhausted, &keys, &mut ()).expect("a bootstrap");
    let square = evaluator.multiply(&once, &once, &keys).expect("a square");
    found["fresh"] = json!(hash(&encrypted(&real, levels.output)));
    found["exhausted"] = json!(hash(&exhausted));
    found["bootstrapped"] = json!(hash(&once));
    found["squared"] = json!(hash(&square));
    found
}

fn gate_digests_of(name: &str) -> Value {
    let preset = params::cggi_preset(name).expect("a preset");
    let params = preset.params().expect("a preset is valid");
    let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let hash = |list: &[CggiCiphertext]| {
        digest(&wire::cggi_ciphertexts_to_bytes(&params, list).expect("a list of the set"))
    };
    let parts = key_parts(&params);
    let mut found = of_keys(name, &secret, [parts[0].index, parts[parts.len() - 1].index]);
    if preset.secure() {
        return found;
    }
    let seed = Seed::from_bytes([9; 32]);
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).expect("keys"));
    let messages = params.spec().messages;
    if messages > 2 {
        let output = Encoding::Padded { messages };
        let integers: Vec<u32> = (0..5).map(|i| 13 * i % messages).collect();
        let table: Vec<u32> = (0..messages).map(|m| (m * m + 1) % messages).collect();
        let list = secret.encrypt(output, &integers, &seed).expect("integers in range");
        let look_up = |x| evaluator.look_up(x, &table, output, &mut ()).expect("a look-up");
        found["fresh"] = json!(hash(&list));
        found["lookedUp"] = json!(hash(&list.iter().map(look_up).collect::<Vec<_>>()));
    } else {
        let bits: Vec<bool> = (0..5).map(|i| 0b10110 >> i & 1 == 1).collect();
        let list = secret.encrypt_bits(&bits, &seed);
        let adder = arithmetic::adder(2, Form::Ripple).expect("an adder").plan();
        let nand = evaluator.gate(Gate::Nand, &[&list[0], &list[1]], &mut ()).expect("a gate");
        found["fresh"] = json!(hash(&list));
        found["nand"] = json!(hash(&[nand]));
        found["sum"] = json!(hash(&adder.run(&evaluator, &list[..4], &mut ()).expect("a sum")));
    }
    found
}

fn integer_digests_of(name: &str) -> Value {
    let preset = BgvPreset::named(name).expect("a preset");
    let params = preset.params().expect("a preset is valid");
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let last = params.key_parts().len() - 1;
    let hash = |x: &BgvCiphertext| {
        digest(&wire::bgv_ciphertext_to_bytes(params.context(), x).expect("a ciphertext of the set"))
    };
    let mut found = of_keys(name, &secret, [0, last / 2, last]);
    if preset.secure() {
        return found;
    }
    let integers: Vec<u64> = (0..params.n() as u64).map(|i| 37 * i * i % params.messages().value()).collect();
    let fresh = secret
        .encrypt(&integers, params.levels().output, &Seed::from_bytes([9; 32]))
        .expect("integers in range");
    let keys = BgvKeys::generate(&secret).expect("keys");
    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a bootstrapper");
    let square = bootstrapper.multiply(&fresh, &fresh, &keys).expect("a square");
    let refreshed = bootstrapper.bootstrap(&square, &keys, &mut ()).expect("a bootstrap");
    found["fresh"] = json!(hash(&fresh));
    found["squared"] = json!(hash(&square));
    found["bootstrapped"] = json!(hash(&refreshed));
    found
}

fn message(mode: SlotMode, count: usize) -> Vec<f64> {
    let value = |i: usize| match mode {
        SlotMode::Bits => (i % 2) as f64,
        _ => ((37 * i % 101) as f64 - 50.0) / 64.0,
    };
    (0..count).map(value).collect()
}
