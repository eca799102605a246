//! Programs a step at a time, with bootstraps from outside: the same bits and events as in one go.

use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalRun, ConventionalSecretKey,
};
use refloat::bootstrapping::ckks_msb::{
    MsbBootstrapper, MsbEvaluator, MsbKeys, MsbReading, MsbRun, MsbSecretKey,
};
use refloat::bootstrapping::method::NumberSecret;
use refloat::bootstrapping::program::ProgramMethod;
use refloat::bootstrapping::raising::RaisingKeys;
use refloat::circuits::arithmetic::{ArithmeticKeys, KeyList};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::{
    Bootstraps, InputShape, Machine, Pending, PendingReadings, Plan, Program, ProgramRun,
};
use refloat::params::{conventional_preset, msb_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, CkksEvaluator, Complex};
use refloat::wire::{CkksSet, ciphertext_to_bytes};
use refloat_tests::chain::some_slots;
use refloat_tests::events::Recorder;

/// Evaluator and keys of a set, which do all but bootstraps.
fn machine<'a>(evaluator: &'a CkksEvaluator<u64>, keys: &'a RaisingKeys<u64>) -> Machine<'a, u64> {
    Machine { evaluator, relinearization: Some(keys), galois: Some(keys), refresh: None, digits: None }
}

/// What a run gives a step at a time; `refresh` and `read` do the bootstraps.
fn stepped(
    plan: Plan<'_>,
    inputs: &[Ciphertext<u64>],
    (evaluator, machine): (&CkksEvaluator<u64>, &Machine<'_, u64>),
    mut refresh: impl FnMut(&Ciphertext<u64>, &mut Recorder) -> Ciphertext<u64>,
    mut read: impl FnMut(&Ciphertext<u64>, &PendingReadings<'_>, &mut Recorder) -> Vec<Ciphertext<u64>>,
) -> (Vec<Ciphertext<u64>>, Recorder) {
    let steps = plan.steps();
    let mut run = ProgramRun::new(plan.into_owned(), inputs.to_vec()).unwrap();
    let mut seen = Recorder::default();
    for done in 0..steps {
        assert_eq!(run.done(), done);
        let results = match run.next(&mut seen).unwrap() {
            Pending::Arithmetic => {
                run.compute(machine, &mut seen).unwrap();
                continue;
            }
            Pending::Refresh(x) => vec![refresh(x, &mut seen)],
            Pending::Digits(x, readings) => read(x, &readings, &mut seen),
            Pending::Nothing => panic!("{done} of {steps} steps and nothing left"),
        };
        // Neither is another operation, and neither of these changes anything.
        assert_eq!(run.compute(machine, &mut ()).unwrap_err().code(), "MISSING_KEY");
        assert_eq!(run.supply(evaluator, Vec::new()).unwrap_err().code(), "INVALID_ARGUMENT");
        run.supply(evaluator, results).unwrap();
    }
    assert!(matches!(run.next(&mut seen).unwrap(), Pending::Nothing));
    assert_eq!(run.supply(evaluator, Vec::new()).unwrap_err().code(), "INVALID_ARGUMENT");
    assert_eq!(run.compute(machine, &mut ()).unwrap_err().code(), "INVALID_ARGUMENT");
    (run.finish(&mut seen).unwrap(), seen)
}

fn bytes(context: &impl CkksSet<Word = u64>, outputs: &[Ciphertext<u64>]) -> Vec<Vec<u8>> {
    outputs.iter().map(|x| ciphertext_to_bytes(context.ckks(), x).unwrap()).collect()
}

#[test]
fn steps_give_the_bits_of_a_run() {
    let params = conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
    let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };
    let text = "x = input\ny = input\nz = multiply x y\nr = rotate z 3\np = polynomial r 0 0.5 0 0.25\nq = multiply p p\n\
                c = conjugate q\nz = output z\nc = output c\nd = output c";
    let program = Program::parse(text).unwrap();
    let slots: Vec<Complex> = some_slots(params.slots(), 1).iter().map(|z| z.scale(0.7)).collect();
    let x = secret.encrypt(&slots, 2, &Seed::from_bytes([4; 32])).unwrap();
    let inputs = [x.clone(), x.clone()];
    let shapes = inputs.each_ref().map(InputShape::of);
    let plan =
        || Plan::new(&program, &params.program_target().unwrap(), &shapes, Bootstraps::WhereNeeded).unwrap();
    assert!(plan().bootstraps() > 0);
    let mut seen = Recorder::default();
    let expected = method.run_program(&plan(), &inputs, &mut seen).unwrap();
    let machine = machine(evaluator.ckks(), &keys);
    let refresh = |x: &Ciphertext<u64>, seen: &mut Recorder| {
        let mut run = ConventionalRun::new(&evaluator, x).unwrap();
        while !run.step(&keys, seen).unwrap() {}
        run.finish().unwrap()
    };
    let read = |_: &Ciphertext<u64>, _: &PendingReadings<'_>, _: &mut Recorder| panic!("no digits are read");
    let (found, events) = stepped(plan(), &inputs, (evaluator.ckks(), &machine), refresh, read);
    assert_eq!(bytes(&params, &found), bytes(&params, &expected));
    assert_eq!(events.0, seen.0);

    let run = ProgramRun::new(plan().into_owned(), inputs.to_vec()).unwrap();
    assert_eq!(run.finish(&mut ()).err().unwrap().code(), "INVALID_ARGUMENT");
    assert_eq!(ProgramRun::new(plan().into_owned(), vec![x]).err().unwrap().code(), "INVALID_ARGUMENT");
}

#[test]
fn readings_of_digits_give_the_bits_of_a_run() {
    let params = msb_preset("toy-msb10").unwrap().params().unwrap();
    let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
    let keys = MsbKeys::generate(&secret).unwrap();
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
    let radix = params.refreshing_radix().unwrap();
    let method = MsbBootstrapper::new(&evaluator, &keys, &radix).unwrap();
    let text = "x = input\nm = mod x 0.5\nb = bit x 3 1\ns = add m b\nf = bootstrap x\nm = output m\ns = output s\nf = output f";
    let program = Program::parse(text).unwrap();
    let slots: Vec<Complex> = (0..params.slots()).map(|i| Complex::new(i as f64 / 700.0, 0.0)).collect();
    let inputs = [secret.encrypt(&slots, params.levels().output, &Seed::from_bytes([4; 32])).unwrap()];
    let shapes = inputs.each_ref().map(InputShape::of);
    let plan =
        || Plan::new(&program, &params.program_target().unwrap(), &shapes, Bootstraps::AsWritten).unwrap();
    let mut seen = Recorder::default();
    let expected = method.run_program(&plan(), &inputs, &mut seen).unwrap();
    let machine = machine(evaluator.ckks(), &keys);
    let refresh = |x: &Ciphertext<u64>, seen: &mut Recorder| {
        let mut run = MsbRun::refreshing(&evaluator, x).unwrap();
        while !run.step(&keys, seen).unwrap() {}
        run.finish_one().unwrap()
    };
    let read = |x: &Ciphertext<u64>, readings: &PendingReadings<'_>, seen: &mut Recorder| {
        let mut run = MsbReading::new(&evaluator, x, readings.readings(), 0.0).unwrap();
        while !run.step(&keys, seen).unwrap() {}
        run.finish().unwrap()
    };
    let (found, events) = stepped(plan(), &inputs, (evaluator.ckks(), &machine), refresh, read);
    assert_eq!(bytes(&params, &found), bytes(&params, &expected));
    assert_eq!(events.0, seen.0);
}

#[test]
fn keys_for_arithmetic_run_programs_without_bootstraps() {
    let params = conventional_preset("toy-conventional11").unwrap().params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
    let list = KeyList::new(params.ckks(), &params.target().unwrap(), Some(&[1]), false).unwrap();
    let keys =
        ArithmeticKeys::generate(&secret.main_secret().unwrap(), params.target().unwrap(), list).unwrap();
    let evaluator = CkksEvaluator::new(params.ckks());
    let slots: Vec<Complex> = some_slots(params.slots(), 1);
    let x = secret.encrypt(&slots, params.levels().output, &Seed::from_bytes([4; 32])).unwrap();
    let planned = |program: &Program| {
        let shapes = [InputShape::of(&x)];
        Plan::new(program, keys.target(), &shapes, Bootstraps::WhereNeeded).map(Plan::into_owned)
    };
    let program = Program::parse("x = input\ny = multiply x x\nz = rotate y 2\nz = output z").unwrap();
    let plan = planned(&program).unwrap();
    let found = plan.run(&keys.machine(&evaluator), std::slice::from_ref(&x), &mut ()).unwrap();
    let found = secret.decrypt(&found[0]).unwrap();
    for (i, z) in found.reveal_to_key_owner().iter().enumerate() {
        let own = slots[(i + 2) % slots.len()];
        assert!((*z + -(own * own)).abs() < 1e-3, "slot {i}");
    }
    for (text, code) in [("y = bootstrap x", "MISSING_KEY"), ("y = conjugate x", "MISSING_KEY")] {
        let program = Program::parse(&format!("x = input\n{text}\ny = output y")).unwrap();
        assert_eq!(planned(&program).err().unwrap().code(), code, "{text}");
    }
}
