//! Circuits of gates on encrypted bits, at full security: an adder, a comparator, the S-box of AES.
//!
//!     cargo run --release -p refloat --features parallel --example 06_circuits
//!
//! Every gate but NOT is one bootstrapping of milliseconds, so a circuit may be as deep as it likes. What a
//! netlist says is folded first: constants, negations and repeated gates cost nothing, and neither do gates that
//! no output needs. The rest runs level by level, the gates of a level on as many threads as there are.

use std::ops::ControlFlow;
use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::cggi::{CggiEvaluator, CggiKeys},
    circuits::netlist::{
        Clear, Netlist, Plan, aes,
        arithmetic::{self, Form},
    },
    par,
    params::cggi_preset,
    random::Seed,
    schemes::cggi::CggiSecretKey,
    trace::{Observer, StageEvent},
};

/// A netlist as somebody writes it: the majority of three votes, and whether they agree.
const VOTE: &str = "
input  a b c
output majority unanimous
majority  = MAJ3 a b c
all       = AND3 a b c
none      = NOR3 a b c
unanimous = OR all none
";

/// The lowest bits of an integer, the least significant first.
fn bits(value: u64, width: usize) -> impl Iterator<Item = bool> {
    (0..width).map(move |i| value >> i & 1 == 1)
}

fn integer(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit))
}

/// Counts the batches after which a run could have been stopped.
struct Batches(usize);

impl Observer for Batches {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Progress { .. } = event {
            self.0 += 1;
        }
        // `Break` would cancel the run here.
        ControlFlow::Continue(())
    }
}

/// Encrypts, evaluates, decrypts, and compares with the same circuit in the clear.
fn run(
    title: &str,
    plan: &Plan,
    inputs: &[bool],
    secret: &CggiSecretKey,
    evaluator: &CggiEvaluator,
) -> Result<Vec<bool>, Error> {
    let encrypted = secret.encrypt_bits(inputs, &Seed::random()?);
    let mut batches = Batches(0);
    let start = Instant::now();
    let outputs = plan.run(evaluator, &encrypted, &mut batches)?;
    let seconds = start.elapsed().as_secs_f64();
    let outputs = secret.decrypt_bits(&outputs)?;
    assert_eq!(outputs, plan.run(&Clear, inputs, &mut ())?, "{title} is what it is in the clear");
    println!(
        "{title:28} {:3} bootstraps in {:2} levels, {:7.1} ms, {} events of progress",
        plan.bootstraps(),
        plan.depth(),
        1e3 * seconds,
        batches.0
    );
    Ok(outputs)
}

fn main() -> Result<(), Error> {
    let params = cggi_preset("bool-128")?.params()?;
    println!("{}: {}", params.name(), params.security().statement);
    println!("a gate's result is wrong with probability 2^{:.0}", params.gate_failure());
    let secret = CggiSecretKey::generate(&params, &Seed::random()?);
    let keys = CggiKeys::generate(&secret)?;
    println!(
        "evaluation keys: {:.1} MB in memory; {} threads\n",
        keys.memory_bytes() as f64 / 1e6,
        par::threads()
    );
    // Whoever computes has this, and learns nothing of the bits.
    let evaluator = CggiEvaluator::new(keys);

    let (x, y) = (200, 77);
    let inputs: Vec<bool> = bits(x, 8).chain(bits(y, 8)).collect();
    for form in Form::ALL {
        let plan = arithmetic::adder(8, form)?.plan();
        let sum = run(&format!("{x} + {y}, {form:?}"), &plan, &inputs, &secret, &evaluator)?;
        assert_eq!(integer(&sum), x + y);
    }
    for form in Form::ALL {
        let plan = arithmetic::comparator(8, form)?.plan();
        let order = run(&format!("{x} <, =, > {y}, {form:?}"), &plan, &inputs, &secret, &evaluator)?;
        assert_eq!(order, [x < y, x == y, x > y]);
    }

    let plan = aes::sbox_netlist()?.plan();
    let byte: Vec<bool> = bits(0x53, 8).collect();
    let substituted = run("S-box of 0x53", &plan, &byte, &secret, &evaluator)?;
    // The example of FIPS 197, section 5.1.1.
    assert_eq!(integer(&substituted), 0xed);

    let netlist = Netlist::parse(VOTE)?;
    let vote = run("a vote, from text", &netlist.plan(), &[true, false, true], &secret, &evaluator)?;
    assert_eq!(vote, [true, false]);

    let cipher = aes::cipher_netlist()?.plan();
    println!(
        "\nAES-128 of one block, key schedule included: {} bootstraps in {} levels of at most {}",
        cipher.bootstraps(),
        cipher.depth(),
        cipher.width()
    );
    Ok(())
}
