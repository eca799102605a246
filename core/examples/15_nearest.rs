//! The three nearest of sixteen reference cases, on an encrypted patient: distances in slots, their order by gates.
//!
//!     cargo run --release -p refloat --features parallel --example 15_nearest
//!     cargo run --release -p refloat --features parallel --example 15_nearest -- n16+fbs16-50
//!
//! The cases and their labels are public, the patient is not. The server computes sixteen squared distances at once, in slots. Each
//! becomes an LWE sample under the key of the gates; all pairs are compared, the ranks added up, and the labels of the three nearest
//! counted: one encrypted bit is the majority's. The three flags also come back into slots, where they could go on as numbers.
//!
//! Without an argument this runs a demonstration size without any security; `n16+fbs16-50` has 128 bits.

use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::scheme_switching::{LinkEvaluator, LinkKeys, LinkSecretKey, Range, Reduction},
    circuits::linear_transform::PlaintextStorage,
    params::link_preset,
    random::Seed,
    schemes::{
        cggi::Encoding,
        ckks::{Ciphertext, Complex},
    },
};

const CASES: usize = 16;
const FEATURES: usize = 4;
const NEAREST: usize = 3;

/// Features in [0, 1/2], so that squared distances of four are in [0, 1], and a label.
fn case(i: usize) -> ([f64; FEATURES], bool) {
    let features = core::array::from_fn(|k| ((7 * i + 5 * k * (i + 3)) % 16) as f64 / 30.0);
    (features, i.is_multiple_of(3))
}

/// Squared distances of the patient from all cases. Each feature of the patient is in all slots of a ciphertext.
fn distances(
    evaluator: &LinkEvaluator<Reduction>,
    patient: &[Ciphertext<u64>],
) -> Result<Ciphertext<u64>, Error> {
    let (ckks, keys) = (evaluator.ckks().ckks(), evaluator.keys().ckks());
    let mut sum: Option<Ciphertext<u64>> = None;
    for (k, feature) in patient.iter().enumerate() {
        let cases: Vec<Complex> = (0..CASES).map(|i| Complex::new(-case(i).0[k], 0.0)).collect();
        let mut slots = cases;
        slots.resize(evaluator.params().ckks().slots(), Complex::ZERO);
        let cases = ckks.encode(&slots, feature.level(), feature.scale())?;
        let difference = ckks.add_plain(feature, &cases)?;
        let square = ckks.multiply(&difference, &difference, keys.relinearization())?;
        sum = Some(match sum {
            Some(sum) => ckks.add(&sum, &square)?,
            None => square,
        });
    }
    sum.ok_or_else(|| Error::InvalidArgument("a patient without features".into()))
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-link".into());
    let preset = link_preset(&name)?;
    let params = preset.params()?;
    println!("{name}: {}\n", preset.title);
    let start = Instant::now();
    let secret = LinkSecretKey::generate(&params, &Seed::random()?);
    let evaluator =
        LinkEvaluator::new(&params, LinkKeys::generate(&secret)?, PlaintextStorage::Coefficients)?;
    println!("keys and tables in {:.2} s", start.elapsed().as_secs_f64());

    let patient = [0.31, 0.12, 0.44, 0.05];
    let level = params.input_level() + 1;
    let encrypt = |x: f64| {
        let slots = vec![Complex::new(x, 0.0); params.ckks().slots()];
        secret.ckks().encrypt(&slots, level, &Seed::random()?)
    };
    let encrypted = patient.map(encrypt).into_iter().collect::<Result<Vec<_>, _>>()?;

    let start = Instant::now();
    let distances = distances(&evaluator, &encrypted)?;
    let slots: Vec<usize> = (0..CASES).collect();
    let numbers = evaluator.extract(&distances, &slots, Range::Unit, &mut ())?;
    let ranks = evaluator.ranks(&numbers, &mut ())?;
    let near = |rank: usize| rank < NEAREST;
    // Flags of the nearest whose label is true, as integers, and whether they are most of them.
    let integers = Encoding::Padded { messages: params.most_ranked() as u32 };
    let table = |holds: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..params.most_ranked()).map(|m| u32::from(holds(m))).collect()
    };
    let labelled = ranks.iter().enumerate().filter(|(i, _)| case(*i).1);
    let flags = labelled
        .map(|(_, rank)| evaluator.cggi().look_up(rank, &table(&near), integers, &mut ()))
        .collect::<Result<Vec<_>, _>>()?;
    let terms: Vec<_> = flags.iter().map(|flag| (1, flag)).collect();
    let votes = evaluator.cggi().weighted_sum(&terms, 0)?;
    let majority = table(&|votes| 2 * votes > NEAREST);
    let verdict = evaluator.cggi().look_up(&votes, &majority, Encoding::Bit, &mut ())?;
    let flags = evaluator.to_slots(&evaluator.look_up_ranks(&ranks, near, &mut ())?, &mut ())?;
    println!("distances, order and verdict in {:.2} s", start.elapsed().as_secs_f64());

    let mut clear: Vec<(f64, usize)> = (0..CASES)
        .map(|i| (case(i).0.iter().zip(patient).map(|(a, b)| (a - b) * (a - b)).sum(), i))
        .collect();
    clear.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nearest: Vec<usize> = clear.iter().take(NEAREST).map(|&(_, i)| i).collect();
    let found = secret.ckks().decrypt(&flags)?;
    let found: Vec<usize> = (0..CASES).filter(|&i| found.reveal_to_key_owner()[i].re.round() > 0.5).collect();
    for (distance, i) in &clear {
        println!("  case {i:2} at {distance:.3}{}", if found.contains(i) { "  <- near" } else { "" });
    }
    let votes = nearest.iter().filter(|&&i| case(i).1).count();
    let verdict = secret.cggi().decrypt_bit(&verdict)?;
    println!("{votes} of the {NEAREST} nearest are positive: the encrypted verdict is {verdict}");
    let mut wanted = nearest;
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    assert_eq!(verdict, 2 * votes > NEAREST);
    Ok(())
}
