//! A decision tree on encrypted features: the thresholds in slots, the way from the root to a leaf by gates.
//!
//!     cargo run --release -p refloat --features parallel --example 16_decision_tree
//!     cargo run --release -p refloat --features parallel --example 16_decision_tree -- n15+fbs16-50
//!
//! The tree is the server's, the features are the client's. The server sees no feature, and the client is sent the result alone; its noise
//! is not made to hide the tree. Which feature a node looks at, and its threshold, are in the plaintexts of the server. All nodes subtract
//! their thresholds at once, in slots. The sign of each difference becomes a bit under the key of the gates, and from the leaves upwards a
//! multiplexer at each node takes one of two results.
//!
//! Without an argument this runs a demonstration size without any security; `n15+fbs16-50` has 128 bits.

use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::{
        program::ProgramMethod,
        scheme_switching::{LinkBootstrapper, LinkEvaluator, LinkKeys, LinkSecretKey, Range, Reduction},
    },
    circuits::{
        linear_transform::PlaintextStorage,
        program::{Bootstraps, Builder, InputShape, Plan, Program},
    },
    params::link_preset,
    random::Seed,
    schemes::{
        cggi::{CggiCiphertext, Gate},
        ckks::Complex,
    },
};

const FEATURES: usize = 4;
/// Nodes of a tree of three layers: those below node k are 2 k + 1, where the feature is below the threshold, and 2 k + 2.
const NODES: usize = 7;

/// The feature that a node looks at, and its threshold.
const TREE: [(usize, f64); NODES] =
    [(2, 0.5), (0, 0.25), (3, 0.625), (1, 0.4375), (3, 0.1875), (0, 0.75), (1, 0.8125)];

/// For each of the lowest nodes, whether the positive leaf is the one of features at least as large as the threshold.
const POSITIVE_ABOVE: [bool; 4] = [true, false, true, false];

/// Clients. No feature is nearer to a threshold than comparisons need (`refloat params` says how near that is).
const CASES: [[f64; FEATURES]; 4] =
    [[0.4, 0.1, 0.7, 0.9], [0.9, 0.6, 0.2, 0.4], [0.1, 0.3, 0.9, 0.1], [0.5, 0.95, 0.35, 0.75]];

/// In slot k, the feature of node k less its threshold. Every feature is one input, which has it in all slots.
fn differences() -> Result<Program, Error> {
    let mut builder = Builder::new();
    let mut sum = None;
    for feature in 0..FEATURES {
        let x = builder.input(&format!("feature {feature}"));
        let looks = TREE.map(|(own, _)| Complex::new(f64::from(u8::from(own == feature)), 0.0));
        let looks = builder.constant(looks.to_vec());
        let chosen = builder.multiply(x, looks);
        sum = Some(match sum {
            Some(sum) => builder.add(sum, chosen),
            None => chosen,
        });
    }
    let thresholds = builder.constant(TREE.map(|(_, threshold)| Complex::new(threshold, 0.0)).to_vec());
    if let Some(sum) = sum {
        let differences = builder.subtract(sum, thresholds);
        builder.output("differences", differences);
    }
    builder.finish()
}

/// The leaf that is reached, from the leaves upwards: `above` says for each node whether its feature is at least its threshold.
fn leaf(
    evaluator: &LinkEvaluator<Reduction>,
    above: &[CggiCiphertext<u64>],
) -> Result<CggiCiphertext<u64>, Error> {
    let gates = evaluator.cggi();
    let lowest = above[NODES / 2..].iter().zip(POSITIVE_ABOVE);
    let mut layer = lowest
        .map(
            |(bit, positive)| if positive { Ok(bit.clone()) } else { gates.gate(Gate::Not, &[bit], &mut ()) },
        )
        .collect::<Result<Vec<_>, _>>()?;
    while layer.len() > 1 {
        let first = layer.len() / 2 - 1;
        layer = (0..layer.len() / 2)
            .map(|i| gates.gate(Gate::Mux, &[&above[first + i], &layer[2 * i + 1], &layer[2 * i]], &mut ()))
            .collect::<Result<_, _>>()?;
    }
    layer.pop().ok_or_else(|| Error::InvalidArgument("a tree without nodes".into()))
}

/// The same in the clear.
fn clear(features: &[f64; FEATURES]) -> bool {
    let mut node = 0;
    loop {
        let (feature, threshold) = TREE[node];
        let above = features[feature] >= threshold;
        if node >= NODES / 2 {
            return above == POSITIVE_ABOVE[node - NODES / 2];
        }
        node = 2 * node + 1 + usize::from(above);
    }
}

#[allow(dead_code)] // A test takes the function below.
fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1);
    walk(name.as_deref().unwrap_or("toy-link"))
}

/// Walks the tree for every case on a set.
///
/// # Errors
/// [`Error`] for a set that does not exist.
///
/// # Panics
/// If a leaf differs from the one in the clear.
pub fn walk(name: &str) -> Result<(), Error> {
    let preset = link_preset(name)?;
    let params = preset.params()?;
    println!("{name}: {}\n", preset.title);
    let start = Instant::now();
    let secret = LinkSecretKey::generate(&params, &Seed::random()?);
    let keys = LinkKeys::generate(&secret)?;
    let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients)?;
    let method = LinkBootstrapper::new(evaluator.clone());
    println!("keys and tables in {:.2} s", start.elapsed().as_secs_f64());

    let program = differences()?;
    let target = params.program_target()?;
    let shape = InputShape { level: params.input_level() + 1, scale: params.ckks().scale() };
    let plan = Plan::new(&program, &target, &[shape; FEATURES], Bootstraps::AsWritten)?;
    for features in CASES {
        let encrypted = features
            .map(|x| {
                let slots = vec![Complex::new(x, 0.0); params.ckks().slots()];
                secret.ckks().encrypt(&slots, shape.level, &Seed::random()?)
            })
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let start = Instant::now();
        let differences = method.run_program(&plan, &encrypted, &mut ())?;
        let nodes: Vec<usize> = (0..NODES).collect();
        // From 0 no difference is further than 1.
        let phases = evaluator.extract(&differences[0], &nodes, Range::Unit, &mut ())?;
        let above = evaluator.all_above(&phases, 0.0, &mut ())?;
        let result = leaf(&evaluator, &above)?;
        let seconds = start.elapsed().as_secs_f64();
        let found = secret.cggi().decrypt_bit(&result)?;
        println!("{features:.2?}: {found}, in {seconds:.2} s");
        assert_eq!(found, clear(&features));
    }
    Ok(())
}
