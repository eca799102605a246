//! What the owner of the key sees of a conventional bootstrap: every toy, after every stage.

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalRun, ConventionalSecretKey, EVAL_MOD,
};
use refloat::bootstrapping::{StageView, ViewKind};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat_tests::chain::some_slots;

/// The views of a bootstrap, the input's first.
fn views(name: &str) -> (Vec<StageView>, [f64; 2]) {
    let preset = conventional_preset(name).unwrap();
    let params = preset.params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Coefficients).unwrap();
    let message = some_slots(params.slots(), 6);
    let x = secret.encrypt(&message, params.levels().input, &Seed::from_bytes([6; 32])).unwrap();
    let mut run = ConventionalRun::new(&evaluator, &x).unwrap();
    let mut out = Vec::new();
    loop {
        out.push(secret.view(&run, &message).unwrap().unwrap());
        if run.next_stage().is_none() {
            break;
        }
        run.step(&keys, &mut ()).unwrap();
    }
    let stranger = ConventionalSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    assert!(matches!(stranger.view(&run, &message), Err(Error::ParamsMismatch(_))));
    (out, preset.promised_bits)
}

#[test]
fn views_hold_the_message_in_every_stage_and_order() {
    for name in [
        "toy-conventional11",
        "toy-conventional10-sparse",
        "toy-conventional10-slots-first",
        "toy-conventional10-50bit",
    ] {
        let (views, [_, promised]) = views(name);
        for view in &views {
            assert_eq!(view.values.len(), view.expected.len());
            let (worst, rms) = view.bits();
            assert!(worst >= promised && rms >= worst, "{name}, {}: {worst} of {promised} bits", view.stage);
        }
        let quotients: Vec<&StageView> = views.iter().filter(|v| v.kind == ViewKind::Quotients).collect();
        let integers = |view: &StageView| view.values.iter().map(|x| x.re.round()).collect::<Vec<f64>>();
        // The same coefficients in the same order, whether they are in slots or not.
        assert_eq!(integers(quotients[0]), integers(quotients[1]), "{name}");
        for i in -2..=2 {
            assert!(integers(quotients[0]).contains(&f64::from(i)), "{name}: no coefficient beside {i} q0");
        }
        if let Some(reduced) = quotients.get(2) {
            assert_eq!(reduced.stage, EVAL_MOD);
            assert!(integers(reduced).iter().all(|&i| i == 0.0), "{name}");
            // m/q0 before as after, not merely small.
            let rest = quotients[1].values.iter().map(|x| x.re - x.re.round());
            let apart = rest.zip(&reduced.values).map(|(x, y)| (x - y.re).abs()).fold(0.0, f64::max);
            assert!(apart < reduced.unit * (-promised).exp2() * 2.0, "{name}: {apart}");
        }
    }
}
