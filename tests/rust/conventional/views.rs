//! What the owner of the key sees of a conventional bootstrap: every toy, after every stage.

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    COEFFS_TO_SLOTS, ConventionalEvaluator, ConventionalKeys, ConventionalRun, ConventionalSecretKey,
    EVAL_MOD, MOD_RAISE, SUB_SUM,
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
    (out, preset.promised.bits)
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
        // Few slots: every gap-th of all coefficients is the message's. The others have multiples of q0, and then nothing.
        let gap = quotients[0].values.len() / quotients.last().unwrap().values.len();
        assert_eq!(gap > 1, name.ends_with("sparse"), "{name}");
        let every =
            |view: &StageView, step: usize| integers(view).into_iter().step_by(step).collect::<Vec<f64>>();
        let in_slots = if gap > 1 { 2 } else { 1 };
        if gap > 1 {
            let others = |view: &StageView| {
                (0..view.values.len())
                    .filter(|i| i % gap > 0)
                    .map(|i| view.values[i].re)
                    .collect::<Vec<f64>>()
            };
            assert_eq!((quotients[0].stage, quotients[1].stage), (MOD_RAISE, SUB_SUM));
            assert!(
                others(quotients[0]).iter().any(|x| x.abs() > 1.5),
                "{name}: multiples of q0 between the message's"
            );
            assert!(
                others(quotients[1]).iter().all(|x| x.abs() < quotients[1].unit / 1024.0),
                "{name}: nothing is left between"
            );
            assert_eq!(every(quotients[0], gap), every(quotients[1], gap), "{name}: the message's are kept");
        }
        // The same coefficients in the same order, whether they are in slots or not.
        assert_eq!(quotients[in_slots].stage, COEFFS_TO_SLOTS);
        assert_eq!(every(quotients[0], gap), integers(quotients[in_slots]), "{name}");
        for i in -2..=2 {
            assert!(
                integers(quotients[in_slots]).contains(&f64::from(i)),
                "{name}: no coefficient beside {i} q0"
            );
        }
        if let Some(reduced) = quotients.get(in_slots + 1) {
            assert_eq!(reduced.stage, EVAL_MOD);
            assert!(integers(reduced).iter().all(|&i| i == 0.0), "{name}");
            // m/q0 before as after, not merely small.
            let rest = quotients[in_slots].values.iter().map(|x| x.re - x.re.round());
            let apart = rest.zip(&reduced.values).map(|(x, y)| (x - y.re).abs()).fold(0.0, f64::max);
            assert!(apart < reduced.unit * (-promised).exp2() * 2.0, "{name}: {apart}");
        }
    }
}
