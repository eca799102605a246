//! Programs and circuits, as bytes and as text.

use refloat::circuits::netlist::Netlist;
use refloat::circuits::netlist::arithmetic::{Form, adder, comparator};
use refloat::circuits::program::Program;
use refloat::schemes::bgv::PrimePower;
use refloat::schemes::ckks::Complex;

use super::Target;
use crate::portable::unhex;

/// Programs on CKKS ciphertexts, as bytes. Several encodings of one program are read, and one is written; what is accepted is
/// evaluated in the clear.
pub(super) const PROGRAM: Target =
    Target { name: "program", corpus: programs, check: program, memory: (1024, 65536) };

fn programs() -> Vec<Vec<u8>> {
    let vector: serde_json::Value =
        serde_json::from_str(include_str!("../../vectors/program.json")).expect("a vector");
    ["bytes", "digits", "orders"].map(|name| unhex(vector[name].as_str().expect("hexadecimal"))).to_vec()
}

/// What is written is read again, and then written alike.
fn canonical(program: &Program) {
    let written = program.to_bytes();
    let again = Program::from_bytes(&written).expect("what was written");
    assert_eq!(again.to_bytes(), written);
}

fn program(bytes: &[u8]) -> bool {
    let Ok(program) = Program::from_bytes(bytes) else { return false };
    canonical(&program);
    let inputs = vec![vec![Complex::new(0.5, -0.25); 8]; program.inputs().count()];
    let _ = program.evaluate(8, &inputs);
    true
}

/// Programs as the same bytes, in the clear on integers modulo a power of a prime.
pub(super) const INTEGER_PROGRAM: Target = Target {
    name: "integer_program",
    corpus: integer_programs,
    check: integer_program,
    memory: (1024, 65536),
};

fn integer_programs() -> Vec<Vec<u8>> {
    let text = "x = input\ny = multiply x x\nz = polynomial y 1 2 0 3\nw = rotate z -1\nv = subtract w 5\nv = output v";
    vec![Program::parse(text).expect("a program").to_bytes()]
}

fn integer_program(bytes: &[u8]) -> bool {
    let Ok(program) = Program::from_bytes(bytes) else { return false };
    let ring = PrimePower::new(257, 2).expect("a prime");
    let inputs = vec![vec![3; 16]; program.inputs().count()];
    program.evaluate_integers(ring, 8, &inputs).is_ok()
}

/// Programs as text. A line may ask for a table of as many numbers as a program may have.
pub(super) const PROGRAM_TEXT: Target =
    Target { name: "program_text", corpus: program_texts, check: program_text, memory: (1024, 64 << 20) };

/// Texts of programs without `clamp`, whose fit takes milliseconds.
fn program_texts() -> Vec<Vec<u8>> {
    [
        "x = input\ny = multiply x x\nz = polynomial y 0.5 0.25 0 -0.02 # odd\nw = rotate-sum z 8\nw = output w",
        "x = input\nc = chebyshev x -8 8 0.5 0.6\nb = bit c 10 3\nb = output b",
        "x = input\nl = lut x 0 0.25 0.5 1\nm = mod l 0.25 15\nr = int-mod m 24\nq = quantise r 32\nq = output q",
        "x = input\na = argmax x 16 grid 8 by gates\nt = top x 16 3 unit\na = output a\nt = output t",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn program_text(bytes: &[u8]) -> bool {
    let program = std::str::from_utf8(bytes).ok().and_then(|text| Program::parse(text).ok());
    program.as_ref().map(canonical).is_some()
}

/// Circuits of gates, as text.
pub(super) const NETLIST: Target =
    Target { name: "netlist", corpus: netlists, check: netlist, memory: (1024, 65536) };

fn netlists() -> Vec<Vec<u8>> {
    [adder(4, Form::Ripple), comparator(3, Form::Prefix)]
        .map(|circuit| circuit.expect("a width").to_string().into_bytes())
        .to_vec()
}

fn netlist(bytes: &[u8]) -> bool {
    let circuit = std::str::from_utf8(bytes).ok().and_then(|text| Netlist::parse(text).ok());
    let Some(circuit) = circuit else { return false };
    let written = circuit.to_string();
    assert_eq!(Netlist::parse(&written).expect("what was written").to_string(), written);
    let _ = circuit.plan();
    true
}
