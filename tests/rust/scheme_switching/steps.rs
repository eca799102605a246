//! Questions about the order of numbers in steps: what is refused before the first, and what the owner of the key sees.

use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::bootstrapping::scheme_switching::{OrderRun, OrderState};
use refloat::circuits::program::{Asked, Bounds, Order, Reading, Way};
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;
use refloat::wire::ciphertext_to_bytes;

use super::setup::world;

#[test]
fn the_owner_of_the_key_sees_every_step_of_equal_numbers_as_it_is() {
    let world = world();
    let numbers = [0.25, 0.875, 0.5, 0.875, 0.0].map(Complex::from);
    let x = world
        .secret
        .ckks()
        .encrypt(&numbers, world.params.input_level(), &Seed::from_bytes([41; 32]))
        .unwrap();
    // What the owner has of them is what a ciphertext decrypts to: never exactly equal.
    let message = world.secret.ckks().decrypt(&x).unwrap().reveal_to_key_owner().clone();
    for asked in [Asked::Rank, Asked::Argmax, Asked::Top(2)] {
        let order = Reading::Order(Order::new(asked, 5, Bounds::Grid(3)));
        let mut run = OrderRun::new(&world.evaluator, &x, [&order].as_slice().into()).unwrap();
        let mut seen = Vec::new();
        loop {
            if let Some(view) = world.secret.view_order(&run, &message).unwrap() {
                let off = |(a, b): (&Complex, &Complex)| (a.re - b.re).abs();
                let most = view.values.iter().zip(&view.expected).map(off).fold(0.0, f64::max);
                assert!(most < 0.05, "{asked:?}, {:?}: {most}", view.stage);
                seen.push(view.stage);
            }
            if matches!(run.state(), OrderState::Done) {
                break;
            }
            run.step(&mut ()).unwrap();
        }
        assert!(seen.len() >= 5, "{asked:?}: {seen:?}");
    }
}

#[test]
fn questions_that_no_set_could_answer_are_refused_before_a_step() {
    let world = world();
    let x =
        world.secret.ckks().encrypt(&[], world.params.input_level(), &Seed::from_bytes([42; 32])).unwrap();
    let refused = |asked, count, bounds| {
        let order = Reading::Order(Order::new(asked, count, bounds));
        let error = OrderRun::new(&world.evaluator, &x, [&order].as_slice().into()).err();
        assert!(matches!(error, Some(Error::InvalidArgument(_))), "{asked:?} of {count}: {error:?}");
    };
    refused(Asked::Top(u32::MAX), 4, Bounds::Unit);
    refused(Asked::Top(0), 4, Bounds::Unit);
    refused(Asked::Rank, 1, Bounds::Unit);
    refused(Asked::Sign, 0, Bounds::Signed);
    refused(Asked::Sign, 4, Bounds::Unit);
    refused(Asked::Argmax, u32::MAX, Bounds::Signed);
    refused(Asked::Argmax, 4, Bounds::Grid(60));
    let digits = Reading::Order(Order::new(Asked::Argmax, 4, Bounds::Unit).by(Way::Digits));
    let error = OrderRun::new(&world.evaluator, &x, [&digits].as_slice().into()).err().unwrap().to_string();
    assert!(error.contains("by digits, where gates compare"), "{error}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let world = world();
    let numbers = [0.25, 0.875, 0.5, 0.125].map(Complex::from);
    let seed = Seed::from_bytes([43; 32]);
    let x = world.secret.ckks().encrypt(&numbers, world.params.input_level(), &seed).unwrap();
    let order = Reading::Order(Order::new(Asked::Argmax, 4, Bounds::Unit));
    let answer = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut run = OrderRun::new(&world.evaluator, &x, [&order].as_slice().into()).unwrap();
            while !run.step(&mut ()).unwrap() {}
            ciphertext_to_bytes(world.params.ckks().ckks(), &run.finish().unwrap()[0]).unwrap()
        })
    };
    let one = answer(1);
    assert!([2, 3].map(answer).iter().all(|other| *other == one));
}
