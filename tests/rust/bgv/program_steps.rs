//! Programs on integers a step at a time, with bootstraps from outside: the same bits and events as in one go.

use refloat::bootstrapping::bgv::{BgvRun, KeySource};
use refloat::circuits::program::integer_program::{IntegerMachine, IntegerPending, IntegerProgramRun};
use refloat::circuits::program::{Bootstraps, Program};
use refloat::schemes::bgv::BgvCiphertext;
use refloat::wire::bgv_ciphertext_to_bytes;
use refloat_tests::events::Recorder;
use refloat_tests::keyed_bgv::KeyedBgv;

#[test]
fn steps_give_the_bits_of_a_run() {
    let set = KeyedBgv::<u64>::named("toy-bgv10");
    let KeyedBgv { params, keys, bootstrapper, .. } = &set;
    let text = "x = input\ny = input\nz = multiply x y\nr = rotate z 3\np = polynomial r 1 0 2\nq = multiply p p\n\
                c = conjugate q\nz = output z\nc = output c\nd = output c";
    let program = Program::parse(text).unwrap();
    let message: Vec<u64> = (0..params.n() as u64).map(|i| 37 * i * i % params.messages().value()).collect();
    let level = params.levels().input + 1;
    let inputs = [1, 2].map(|seed| set.encrypt(&message, level, seed));
    let plan = || set.plan(&program, &inputs, Bootstraps::WhereNeeded).unwrap();
    assert!(plan().bootstraps() > 0);
    let mut seen = Recorder::default();
    let expected = bootstrapper.run_program(&plan(), keys, &inputs, &mut seen).unwrap();

    let relinearization = keys.relinearization_key().unwrap();
    let machine = IntegerMachine {
        evaluator: bootstrapper.bgv(),
        relinearization: Some(&*relinearization),
        galois: Some(keys),
        refresh: None,
    };
    let mut run = IntegerProgramRun::new(plan().into_owned(), inputs.to_vec()).unwrap();
    let mut events = Recorder::default();
    for done in 0..plan().steps() {
        assert_eq!(run.done(), done);
        let refreshed = match run.next(&mut events).unwrap() {
            IntegerPending::Arithmetic => {
                assert_eq!(run.supply(inputs[0].clone()).unwrap_err().code(), "INVALID_ARGUMENT");
                run.compute(&machine, &mut events).unwrap();
                continue;
            }
            IntegerPending::Refresh(x) => {
                let mut refresh = BgvRun::new(bootstrapper, x).unwrap();
                while !refresh.step(keys, &mut events).unwrap() {}
                refresh.finish().unwrap()
            }
            IntegerPending::Nothing => panic!("{done} steps and nothing left"),
        };
        assert_eq!(run.compute(&machine, &mut ()).unwrap_err().code(), "MISSING_KEY");
        run.supply(refreshed).unwrap();
    }
    assert!(matches!(run.next(&mut events).unwrap(), IntegerPending::Nothing));
    assert_eq!(run.compute(&machine, &mut ()).unwrap_err().code(), "INVALID_ARGUMENT");
    let bytes = |outputs: &[BgvCiphertext]| -> Vec<Vec<u8>> {
        outputs.iter().map(|x| bgv_ciphertext_to_bytes(params.context(), x).unwrap()).collect()
    };
    assert_eq!(bytes(&run.finish(&mut events).unwrap()), bytes(&expected));
    assert_eq!(events.0, seen.0);

    let early = IntegerProgramRun::new(plan().into_owned(), inputs.to_vec()).unwrap();
    assert_eq!(early.finish(&mut ()).err().unwrap().code(), "INVALID_ARGUMENT");
}
