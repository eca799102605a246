//! Sets that compare by gates and by digits: which way a plan takes, what it says of either, and that both give what is true.

use std::sync::Arc;

use refloat::Error;
use refloat::bootstrapping::program::ProgramMethod;
use refloat::bootstrapping::scheme_switching::{
    DigitLinkBootstrapper, DigitLinkPreset, LinkKeys, LinkParams, LinkPreset, LinkSecretKey, LinkTables,
    RootsSpec,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::{Bootstraps, Compared, InputShape, Plan, Program, Target, Way};
use refloat::params::cggi_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;

const NUMBERS: [f64; 6] = [0.375, 0.875, 0.125, 0.875, 0.625, 0.25];

fn set(name: &str) -> LinkParams<RootsSpec> {
    DigitLinkPreset::named(name).unwrap().params().unwrap()
}

fn program(lines: &str) -> Program {
    Program::parse(&format!("x = input\n{lines}\ny = output y")).unwrap()
}

fn plan<'p>(program: &'p Program, target: &Target, level: usize) -> Result<Plan<'p>, Error> {
    let input = InputShape { level, scale: target.scale(level) };
    Plan::new(program, target, &[input], Bootstraps::AsWritten)
}

/// The way of the only question of a program, on inputs as they are encrypted.
fn way(params: &LinkParams<RootsSpec>, lines: &str) -> (Way, String) {
    let (program, target) = (program(lines), params.program_target().unwrap());
    let plan = plan(&program, &target, params.ckks().refreshed_level()).unwrap();
    let [one] = plan.compared() else { panic!("{lines}: {:?}", plan.compared()) };
    let estimate = if one.way == Way::Gates { &one.gates } else { &one.digits };
    let estimate = estimate.as_ref().unwrap();
    // What is said of the way is said of the plan.
    assert_eq!((estimate.log_failure, estimate.least_distance), (plan.log2_failure(), plan.least_distance()));
    assert!(estimate.log_failure.unwrap() < -80.0, "{lines}: {estimate:?}");
    (one.way, one.reason())
}

#[test]
fn few_comparisons_are_made_by_gates_and_many_by_digits() {
    let params = set("msb16+fbs16-50");
    let (by, why) = way(&params, "y = argmax x 16 unit");
    assert_eq!(by, Way::Gates, "{why}");
    assert!(why.contains("the cheaper way") && why.contains("by digits about"), "{why}");
    let (by, why) = way(&params, "y = sign x 16");
    assert_eq!(by, Way::Gates, "{why}");
    let (by, why) = way(&params, "y = sign x 32768");
    assert_eq!(by, Way::Digits, "{why}");
    assert!(why.contains("the only way") && why.contains("1024 at once"), "{why}");
    // More rotations are dearer, digits cost the same: there is one crossing.
    let ways: Vec<Way> = (4..=10).map(|log| way(&params, &format!("y = sign x {}", 1 << log)).0).collect();
    assert!(
        ways.is_sorted_by_key(|&way| way == Way::Digits) && ways.last() == Some(&Way::Digits),
        "{ways:?}"
    );
    let (by, why) = way(&params, "y = argmax x 40 grid 5");
    assert_eq!(by, Way::Digits, "{why}");
    assert!(why.contains("takes 16 at once"), "{why}");
}

#[test]
fn a_program_may_choose_the_way_where_it_is_open() {
    let params = set("toy-msb-link");
    for (by, named) in [(Way::Gates, "gates"), (Way::Digits, "digits")] {
        let (found, why) = way(&params, &format!("y = top x 5 2 unit by {named}"));
        assert_eq!(found, by);
        assert!(why.contains("as the program says"), "{why}");
        let own = program(&format!("y = rank x 4 by {named}"));
        assert_eq!(Program::from_bytes(&own.to_bytes()).unwrap().to_bytes(), own.to_bytes());
        assert_eq!(own.to_bytes()[6], 4);
    }
    assert_eq!(program("y = rank x 4").to_bytes()[6], 3);
    let (target, level) = (params.program_target().unwrap(), params.ckks().refreshed_level());
    let refused = |lines: &str, target: &Target, level: usize| {
        let program = program(lines);
        plan(&program, target, level).err().unwrap().to_string()
    };
    let many = refused("y = argmax x 20 by gates", &target, level);
    assert!(many.contains("takes 16 at once"), "{many}");
    let fine = refused("y = argmax x 5 grid 20 by digits", &target, level);
    assert!(fine.contains("at most 12"), "{fine}");
    let neither = refused("y = argmax x 5 grid 20", &target, level);
    assert!(neither.contains("by gates: ") && neither.contains("by digits: "), "{neither}");
    let gates = LinkPreset::named("toy-link").unwrap().params().unwrap();
    let alone = refused("y = argmax x 5 by digits", &gates.program_target().unwrap(), gates.input_level());
    assert!(alone.contains("node 1 \"y\" (argmax)") && alone.contains("msb16+fbs16-50"), "{alone}");
    let text = Program::parse("x = input\ny = rank x 4 by hand\ny = output y").err().unwrap().to_string();
    assert!(text.contains("by gates, or by digits"), "{text}");
}

#[test]
fn each_question_starts_by_a_way_that_is_open_to_it() {
    let params = set("toy-msb-link");
    let target = params.program_target().unwrap();
    let [high, low] = [params.ckks().refreshed_level(), params.input_level()]
        .map(|level| InputShape { level, scale: target.scale(level) });
    // More numbers than gates rank, and numbers at a level that is too low for digits.
    let text = "x = input\nz = input\na = argmax x 20 unit\nb = argmax z 5 unit\na = output a\nb = output b";
    let program = Program::parse(text).unwrap();
    let plan = Plan::new(&program, &target, &[high, low], Bootstraps::AsWritten).unwrap();
    let ways: Vec<Way> = plan.compared().iter().map(|one| one.way).collect();
    assert_eq!(ways, [Way::Digits, Way::Gates]);
    assert!(plan.compared().iter().all(|one| one.gates.is_err() || one.digits.is_err()));
    // Of one that neither way answers: with the code of what can be mended without asking something else.
    let error = Plan::new(&program, &target, &[low, low], Bootstraps::AsWritten).err().unwrap();
    assert!(matches!(error, Error::LevelMismatch(_)) && error.to_string().contains("\"a\""), "{error}");
}

#[test]
fn what_is_said_of_a_way_is_said_of_the_plan() {
    let params = set("msb16+fbs16-50");
    let (target, level) = (params.program_target().unwrap(), params.ckks().refreshed_level());
    // The second question goes to digits after the first did, and then the first no longer costs what it did before.
    let several = Program::parse(
        "x = input\nz = negate x\na = sign x 700\nb = sign z 700\nc = rank x 4 by gates\na = output a\nb = output b\nc = output c",
    );
    let several = several.unwrap();
    let both = plan(&several, &target, level).unwrap();
    let ways: Vec<Way> = both.compared().iter().map(|one| one.way).collect();
    assert_eq!(ways, [Way::Digits, Way::Digits, Way::Gates]);
    for one in both.compared() {
        let estimate = if one.way == Way::Gates { &one.gates } else { &one.digits };
        assert_eq!(
            estimate.as_ref().unwrap().seconds.to_bits(),
            both.modelled_seconds().to_bits(),
            "{}",
            one.reason()
        );
    }
    let chosen = both.compared()[2].reason();
    assert!(
        chosen.starts_with("by gates, as the program says; by gates about")
            && chosen.contains("; by digits about"),
        "{chosen}"
    );
}

#[test]
fn questions_whose_way_is_written_are_not_counted() {
    let params = set("toy-msb-link");
    let (target, level) = (params.program_target().unwrap(), params.ckks().refreshed_level());
    let asked = |by: &str| {
        let one = |i: usize| format!("z{i} = rotate x {i}\ny{i} = sign z{i} 1{by}\ny{i} = output y{i}\n");
        Program::parse(&(1..=17).map(one).fold("x = input\n".to_owned(), |all, one| all + &one)).unwrap()
    };
    let (written, open) = (asked(" by gates"), asked(""));
    let plan_of_many = plan(&written, &target, level).unwrap();
    let said = |one: &Compared| (one.way, one.gates.is_ok(), one.digits.is_ok());
    assert_eq!(plan_of_many.compared().iter().map(said).collect::<Vec<_>>(), [(Way::Gates, true, false); 17]);
    let error = plan(&open, &target, level).err().unwrap();
    assert!(
        matches!(error, Error::Limit(_)) && error.to_string().contains("whose way it leaves open"),
        "{error}"
    );
}

#[test]
fn gates_with_a_prime_of_30_bits_rank_no_sixteen_numbers() {
    let mut spec = LinkPreset::named("n15+fbs16-50").unwrap().params().unwrap().spec().clone();
    spec.cggi = (cggi_preset("fbs16").unwrap().spec)();
    let params = LinkParams::new(&spec).unwrap();
    assert!(params.security().bits >= 128.0, "{}", params.security().statement);
    let (target, level) = (params.program_target().unwrap(), params.input_level());
    let ranked = |count: usize| {
        let program = program(&format!("y = argmax x {count} unit"));
        plan(&program, &target, level).map(|plan| plan.log2_failure().unwrap())
    };
    assert!(ranked(2).unwrap() < -120.0, "two are compared, and no ranks are added up");
    let error = ranked(16).unwrap_err();
    assert!(matches!(error, Error::Limit(_)) && error.to_string().contains("rank fewer at once"), "{error}");
}

#[test]
fn both_ways_give_what_is_true() {
    let params = set("toy-msb-link");
    let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
    let tables = Arc::new(LinkTables::new(&params, PlaintextStorage::Evaluated).unwrap());
    let keys = Arc::new(LinkKeys::generate(&secret).unwrap());
    let method = DigitLinkBootstrapper::new(&tables, &keys).unwrap();
    let target = params.program_target().unwrap();
    let slots = params.ckks().slots();
    let level = params.ckks().levels().output;
    // What is in the slots behind the numbers does not matter.
    let mut message: Vec<Complex> = NUMBERS.map(|x| Complex::new(x, 0.0)).to_vec();
    message.extend((6..slots).map(|i| Complex::new(f64::from(i as u32 % 7) - 3.1, 0.0)));
    let x = secret.ckks().encrypt(&message, level, &Seed::from_bytes([8; 32])).unwrap();
    let check = |text: &str, numbers: usize| {
        let program = Program::parse(text).unwrap();
        let clear = program.evaluate(slots, std::slice::from_ref(&message)).unwrap();
        let inputs = std::slice::from_ref(&x);
        let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::AsWritten).unwrap();
        assert_eq!(plan.compared().len(), numbers);
        let results = method.run_program(&plan, inputs, &mut ()).unwrap();
        for ((found, wanted), place) in results.iter().zip(&clear).zip(plan.outputs()) {
            assert!(found.level() == place.level && found.scale().matches(place.scale));
            let found = secret.ckks().decrypt(found).unwrap();
            for (slot, (a, b)) in found.reveal_to_key_owner().iter().zip(wanted).enumerate() {
                assert!(
                    (a.re - b.re).abs() < 1e-2,
                    "{text}, {}, slot {slot}: {} for {}",
                    place.name,
                    a.re,
                    b.re
                );
            }
        }
    };
    let questions = |bounds: &str, by: &str| {
        format!(
            "x = input\na = argmax x 6 {bounds} by {by}\nb = argmin x 6 {bounds} by {by}\nc = top x 6 2 {bounds} by {by}\n\
             d = rank x 6 {bounds} by {by}\na = output a\nb = output b\nc = output c\nd = output d"
        )
    };
    // Two are equal: of those the first is the larger.
    for by in ["gates", "digits"] {
        check(&questions("grid 3", by), 1);
    }
    // Real numbers that are far enough apart, and signs.
    let reals = |by: &str| {
        format!(
            "x = input\nm = constant -1 1 -1 0.5 -1 1\nz = multiply x m\na = argmax z 6 by {by}\ns = sign z 6 by {by}\n\
                 a = output a\ns = output s"
        )
    };
    for by in ["gates", "digits"] {
        check(&reals(by), 2);
    }
    // More bits than a table takes.
    check("x = input\nr = rank x 6 grid 8 by digits\nr = output r", 1);
    // As many as the slots have pairs, left to the plan: no gates take them.
    check(
        "x = input\nm = constant 0.25\nz = multiply x m\nf = mod z 1\ns = sign z 1024\nf = output f\ns = output s",
        1,
    );
}
