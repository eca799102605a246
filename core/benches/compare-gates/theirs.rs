//! tfhe-rs.

use std::hint::black_box;
use std::time::Instant;

use tfhe::boolean::prelude::{
    BinaryBooleanGates, BooleanParameters, ClientKey, DEFAULT_PARAMETERS, DEFAULT_PARAMETERS_KS_PBS,
    PARAMETERS_ERROR_PROB_2_POW_MINUS_165, PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS, ServerKey,
};
use tfhe::shortint::AtomicPatternParameters;
use tfhe::shortint::parameters::{
    PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128, PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128,
};

use crate::{Contender, Row};

/// Its Boolean sets and its sets of 2 bits of message and 2 of carry.
pub fn contenders() -> Vec<Contender> {
    vec![
        gate("DEFAULT", "2^-64", &DEFAULT_PARAMETERS),
        gate("DEFAULT_KS_PBS", "2^-64", &DEFAULT_PARAMETERS_KS_PBS),
        gate("2_POW_MINUS_165", "2^-165", &PARAMETERS_ERROR_PROB_2_POW_MINUS_165),
        gate("2_POW_MINUS_165_KS_PBS", "2^-167", &PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS),
        look_up("2_2 KS_PBS", PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128),
        look_up("2_2 KS32_PBS", PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128),
    ]
}

fn gate(name: &str, failure: &str, parameters: &BooleanParameters) -> Contender {
    let client = ClientKey::new(parameters);
    let start = Instant::now();
    let server = ServerKey::new(&client);
    let keys = start.elapsed().as_secs_f64();
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let result = server.nand(&client.encrypt(x), &client.encrypt(y));
        assert_eq!(client.decrypt(&result), !(x && y), "tfhe-rs {name}");
    }
    let (a, b) = (client.encrypt(true), client.encrypt(true));
    Contender {
        row: Row::Gate,
        name: format!("tfhe-rs {name}"),
        failure: failure.into(),
        keys,
        run: Box::new(move || _ = black_box(server.nand(black_box(&a), &b))),
        seconds: Vec::new(),
    }
}

fn look_up(name: &str, parameters: impl Into<AtomicPatternParameters>) -> Contender {
    let client = tfhe::shortint::ClientKey::new(parameters.into());
    let start = Instant::now();
    let server = tfhe::shortint::ServerKey::new(&client);
    let keys = start.elapsed().as_secs_f64();
    let function = |m: u64| (7 * m + m * m) % 16;
    let table = server.generate_lookup_table(function);
    for m in 0..16 {
        let result = server.apply_lookup_table(&client.unchecked_encrypt(m), &table);
        assert_eq!(client.decrypt_message_and_carry(&result), function(m), "tfhe-rs {name} of {m}");
    }
    let ciphertext = client.encrypt(3);
    Contender {
        row: Row::FourBits,
        name: format!("tfhe-rs {name}"),
        failure: "2^-128".into(),
        keys,
        run: Box::new(move || _ = black_box(server.apply_lookup_table(black_box(&ciphertext), &table))),
        seconds: Vec::new(),
    }
}
