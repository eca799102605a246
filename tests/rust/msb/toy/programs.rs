//! Programs that read digits: what is planned is what comes, and what comes is what the clear evaluation says.

use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_msb::MsbBootstrapper;
use refloat::bootstrapping::program::ProgramMethod;
use refloat::circuits::program::{Bootstraps, Builder, InputShape, Plan, Program};
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat_tests::measure::uniform;

use super::{Setup, toy10, toy11};

/// Outputs of an encrypted run beside those in the clear, by name.
fn run(
    setup: &Setup,
    program: &Program,
    x: &[f64],
    level: usize,
) -> Vec<(String, Vec<f64>, Vec<f64>, usize)> {
    run_on(setup, program, x, &setup.encrypt(x, level))
}

fn run_on(
    setup: &Setup,
    program: &Program,
    x: &[f64],
    encrypted: &Ciphertext<u64>,
) -> Vec<(String, Vec<f64>, Vec<f64>, usize)> {
    let program = Program::from_bytes(&program.to_bytes()).unwrap();
    let target = setup.params.program_target().unwrap();
    let plan = Plan::new(&program, &target, &[InputShape::of(encrypted)], Bootstraps::AsWritten).unwrap();
    let radix = setup.params.refreshing_radix().unwrap();
    let bootstrapper = MsbBootstrapper::new(&setup.evaluator, &setup.keys, &radix).unwrap();
    let outputs = bootstrapper.run_program(&plan, std::slice::from_ref(encrypted), &mut ()).unwrap();
    let slots: Vec<Complex> = x.iter().map(|&x| Complex::new(x, 0.0)).collect();
    let clear = program.evaluate(setup.slots(), &[slots]).unwrap();
    let planned: Vec<_> = plan.outputs().map(|output| (output.name.to_owned(), output.level)).collect();
    let found = outputs.iter().zip(&clear).zip(planned);
    found
        .map(|((y, clear), (name, level))| {
            assert_eq!(y.level(), level, "{name}");
            (name, setup.decrypt(y), clear.iter().map(|z| z.re).collect(), level)
        })
        .collect()
}

fn worst(found: &[f64], wanted: &[f64], modulus: f64) -> f64 {
    let off = |(a, b): (&f64, &f64)| {
        let turns = (a - b) / modulus;
        ((turns - turns.round()) * modulus).abs()
    };
    found.iter().zip(wanted).map(off).fold(0.0, f64::max)
}

#[test]
fn what_programs_read_is_what_the_clear_evaluation_says() {
    let setup = toy11();
    let x: Vec<f64> = uniform(setup.slots(), 5).iter().map(|u| 4.0 * u).collect();
    let text = "
        x = input
        m = mod x 0.5
        s = mod-centred x 1 10
        b0 = bit x 5 0
        b3 = bit x 5 3
        again = bit x 5 3
        y = lut x 0 1 4 9 16 25 36 49
        z = lut x 7 6 5 4 3 2 1 0
        q = quantise x 5
        n = quantise-nearest x 8
        unused = bit x 3 1
        sum = add b0 b3
        m = output m
        s = output s
        b0 = output b0
        b3 = output b3
        again = output again
        y = output y
        z = output z
        q = output q
        n = output n
        sum = output sum";
    let program = Program::parse(text).unwrap();
    let target = setup.params.program_target().unwrap();
    let shape = InputShape::of(&setup.encrypt(&x, 8));
    let plan = Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).unwrap();
    // 15 and 10 bits in bases up to 128, 5 and 5 more for the bits, and a guard digit for each size of table; nothing for what no
    // output needs.
    assert_eq!((plan.digit_passes(), plan.bootstraps()), (3 + 2 + 2 + 2 + 2 + 2, 0));
    for (name, found, wanted, level) in run(setup, &program, &x, 8) {
        let (modulus, bound) = match name.as_str() {
            "m" => (0.5, 1e-4),
            "s" => (1.0, 1e-2),
            _ => (1e9, 1e-6),
        };
        // Where steps end, and the neighbour may come within seven deviations of the rounding to 32 parts of a step.
        let (steps, shift) = match name.as_str() {
            "m" | "s" => (0.0, 0.0),
            "y" | "z" => (8.0, 0.0),
            "q" => (5.0, 0.0),
            "n" => (8.0, 0.5),
            _ => (32.0, 0.0),
        };
        let clear = |x: f64| {
            steps == 0.0 || (steps * x + shift - (steps * x + shift).round()).abs() > 7.0 * 1.66 / 32.0
        };
        let (found, wanted): (Vec<f64>, Vec<f64>) =
            found.iter().zip(wanted).zip(&x).filter(|(_, x)| clear(**x)).map(|((a, b), _)| (*a, b)).unzip();
        assert!(found.len() > x.len() / 6, "{name}: {} slots are compared", found.len());
        let off = worst(&found, &wanted, modulus);
        println!("{name}: {off:.2e} at level {level}");
        assert!(off < bound, "{name}: {off}");
        if name == "s" {
            assert!(found.iter().all(|y| (-0.51..0.51).contains(y)), "centred");
        }
    }
}

#[test]
fn integers_are_reduced_in_programs_and_products_of_them_again() {
    let setup = toy11();
    let integers: Vec<f64> = (0..setup.slots()).map(|k| ((k * 7919) % 60) as f64 - 30.0).collect();
    let text = "
        x = input
        p = multiply x x
        r = int-mod p 97
        t = lut-exact f 0 1 2 3
        r = output r
        t = output t";
    let with_fractions = text.replace("t = lut-exact f", "f = multiply x 0.25\n t = lut-exact f");
    let program = Program::parse(&with_fractions).unwrap();
    let level = setup.input() + 3;
    for (name, found, wanted, _) in run(setup, &program, &integers, level) {
        let off = worst(&found, &wanted, 1e9);
        println!("{name}: {off:.2e}");
        assert!(off < 1e-5, "{name}: {off}");
    }
    // At the scale of the set over the modulus they take no level, even at the lowest.
    let program = Program::parse("x = input\nr = int-mod x 24\nr = output r").unwrap();
    let scale = setup.params.scale();
    let over: Vec<f64> = integers.iter().map(|z| z / 24.0).collect();
    let x = setup.encrypt(&over, setup.input()).relabelled(scale.div(Scale::new(24.0)));
    let found = run_on(setup, &program, &integers, &x).remove(0);
    assert!(worst(&found.1, &found.2, 1e9) < 1e-5);
}

#[test]
fn programs_bootstrap_between_products() {
    let setup = toy10();
    let x: Vec<f64> = uniform(setup.slots(), 9).iter().map(|u| 0.2 * u).collect();
    let mut b = Builder::new();
    let mut y = b.input("x");
    for _ in 0..4 {
        let square = b.multiply(y, y);
        y = b.subtract(square, y);
    }
    b.output("y", y);
    let program = b.finish().unwrap();
    let target = setup.params.program_target().unwrap();
    let encrypted = setup.encrypt(&x, setup.params.refreshed_level());
    let shape = [InputShape::of(&encrypted)];
    assert!(Plan::new(&program, &target, &shape, Bootstraps::AsWritten).is_err());
    // No bootstrap is put in either: it would change numbers beyond 1/2, and the plan does not know which ones those are.
    let error = Plan::new(&program, &target, &shape, Bootstraps::WhereNeeded).err().unwrap().to_string();
    assert!(error.contains("(-1/2, 1/2)"), "{error}");
    let mut b = Builder::new();
    let mut y = b.input("x");
    for _ in 0..3 {
        let square = b.multiply(y, y);
        let half = b.constant([0.9]);
        let less = b.multiply(y, half);
        let difference = b.subtract(square, less);
        y = b.bootstrap(difference);
    }
    b.output("y", y);
    let program = b.finish().unwrap();
    let plan = Plan::new(&program, &target, &shape, Bootstraps::AsWritten).unwrap();
    assert_eq!((plan.bootstraps(), plan.inserted(), plan.digit_passes(), plan.passes()), (3, 0, 0, 15));
    let radix = setup.params.refreshing_radix().unwrap();
    let bootstrapper = MsbBootstrapper::new(&setup.evaluator, &setup.keys, &radix).unwrap();
    assert_eq!(bootstrapper.output_level(), setup.input() + 2);
    let y = bootstrapper.run_program(&plan, &[encrypted], &mut ()).unwrap();
    let slots: Vec<Complex> = x.iter().map(|&x| Complex::new(x, 0.0)).collect();
    let clear: Vec<f64> =
        program.evaluate(setup.slots(), &[slots]).unwrap()[0].iter().map(|z| z.re).collect();
    let off = worst(&setup.decrypt(&y[0]), &clear, 1e9);
    assert!(off < 1e-3, "{off}");
}

#[test]
fn readings_that_do_not_fit_are_refused_by_the_name_of_the_node() {
    let setup = toy10();
    let target = setup.params.program_target().unwrap();
    let refused = |line: &str, level: usize| {
        let program = Program::parse(&format!("x = input\ny = {line}\ny = output y")).unwrap();
        let shape = InputShape { level, scale: setup.params.scale() };
        Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).err().map(|error| error.to_string())
    };
    let top = target.top();
    for (line, level, part) in [
        ("int-mod x 131", top, "131"),
        ("int-mod x 37", top, "37"),
        ("mod x 0.25", setup.input(), "level"),
        ("bit x 16 0", top, "1 to 15"),
        ("mod x 1 21", top, "1 to 20"),
        ("mod x 1e-7", top, "2^-20"),
    ] {
        let error = refused(line, level).unwrap_or_else(|| panic!("{line} is taken"));
        assert!(error.contains("\"y\"") && error.contains(part), "{line}: {error}");
    }
    // No table of 600 values is made, whatever a program may have.
    let table = vec!["1"; 600].join(" ");
    assert!(refused(&format!("lut x {table}"), top).is_some_and(|error| error.contains("600")));
    assert_eq!(refused("mod x 1", setup.input()), None);
    // A set that reads no digits says so.
    let other = refloat::params::conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
    let program = Program::parse("x = input\ny = mod x 1\ny = output y").unwrap();
    let shape = InputShape { level: 1, scale: other.scale() };
    let error =
        Plan::new(&program, &other.program_target().unwrap(), &[shape], Bootstraps::AsWritten).err().unwrap();
    assert!(
        error.to_string().contains("(mod)") && error.to_string().contains("modular reduction"),
        "{error}"
    );
}

/// Everything that is planned stands at scales that bootstraps and readings take: in the sets of full size too, where primes differ
/// from the scale by more.
#[test]
fn what_is_planned_is_what_sets_of_full_size_run() {
    for name in ["toy-msb10", "toy-msb11", "msb16", "msb16-paper"] {
        let params = refloat::params::msb_preset(name).unwrap().params().unwrap();
        let target = params.program_target().unwrap();
        let fresh = InputShape { level: params.refreshed_level(), scale: params.scale() };
        let plan = |text: &str, bootstraps| {
            let program = Program::parse(text).unwrap();
            Plan::new(&program, &target, &[fresh], bootstraps)
                .map(|plan| (plan.passes(), plan.outputs().map(|output| output.scale).collect::<Vec<_>>()))
        };
        // A product with a constant, and what was read at another scale, are bootstrapped.
        for text in [
            "x = input\ny = multiply x 0.3\nz = bootstrap y\nz = output z",
            "x = input\nr = int-mod x 4\ny = multiply r 0.05\nz = bootstrap y\nz = output z",
            "x = input\nm = mod x 0.25 3\nz = bootstrap m\nz = output z",
        ] {
            let (_, scales) =
                plan(text, Bootstraps::AsWritten).unwrap_or_else(|error| panic!("{name}: {text}: {error}"));
            assert!(scales[0].matches(params.scale()), "{name}");
        }
        // No bootstrap is put in before integers are read.
        let exhausted = InputShape { level: params.levels().input, ..fresh };
        let program = Program::parse("x = input\nr = int-mod x 24\nr = output r").unwrap();
        let error = Plan::new(&program, &target, &[exhausted], Bootstraps::WhereNeeded).err().unwrap();
        assert_eq!(error.code(), "LEVEL_MISMATCH", "{name}: {error}");
        // What was rounded is not taken for exact.
        for text in [
            "x = input\ny = bootstrap x\nz = lut-exact y 0 1\nz = output z",
            "x = input\ny = mod x 1\nz = int-mod y 4\nz = output z",
        ] {
            let error = plan(text, Bootstraps::AsWritten).err().unwrap().to_string();
            assert!(error.contains("rounded"), "{name}: {error}");
        }
        let lines: Vec<String> = (0..600).map(|i| format!("x{} = mod x{i} 1 15\n", i + 1)).collect();
        let long = lines.concat();
        let error = plan(&format!("x0 = input\n{long}y = output x600"), Bootstraps::AsWritten).err().unwrap();
        assert!(error.code() == "LIMIT" && error.to_string().contains("1024"), "{name}: {error}");
        // Twenty bits of numbers up to 2^20 are noise in primes of 42 bits.
        let fine = plan("x = input\ny = mod x 1 20\ny = output y", Bootstraps::AsWritten);
        match fine {
            Ok(_) => assert_ne!(name, "msb16-paper"),
            Err(error) => assert!(name == "msb16-paper" && error.to_string().contains("noise"), "{error}"),
        }
        let error = plan("x = input\ny = lut x 0 1e30\ny = output y", Bootstraps::AsWritten).err().unwrap();
        assert!(error.to_string().contains("1e30"), "{name}: {error}");
    }
}

/// The errors of integers that were read grow with the operations on them, and a plan accounts for that.
#[test]
fn integers_that_products_took_too_far_off_are_refused() {
    let setup = toy10();
    let target = setup.params.program_target().unwrap();
    let n = 1u64 << 18;
    let x: Vec<f64> = (0..setup.slots()).map(|k| (k * 509 % (1 << 18)) as f64).collect();
    let encrypted = setup.encrypt(&x, setup.params.levels().output);
    let text = |factors: &[u32]| {
        let product = |(i, c): (usize, &u32)| format!("r{} = multiply r{i} {c}\n", i + 1);
        let products: String = factors.iter().enumerate().map(product).collect();
        format!("x = input\nr0 = int-mod x {n}\n{products}y = int-mod r{} {n}\ny = output y", factors.len())
    };
    for factors in [&[][..], &[3], &[100]] {
        let program = Program::parse(&text(factors)).unwrap();
        for (name, found, wanted, _) in run_on(setup, &program, &x, &encrypted) {
            let off = worst(&found, &wanted, n as f64);
            assert!(off < 0.5, "{name}, times {factors:?}: off by {off}");
        }
    }
    // Times 40000 they would be off by as much as an integer: half of the slots came out wrong, without a word.
    for factors in [&[200, 200][..], &[256, 256, 2]] {
        let program = Program::parse(&text(factors)).unwrap();
        let plan = Plan::new(&program, &target, &[InputShape::of(&encrypted)], Bootstraps::AsWritten);
        let error = plan.map(drop).unwrap_err().to_string();
        assert!(error.contains("\"y\"") && error.contains("noise"), "{error}");
    }
}

/// Bits that no node wants are not held.
#[test]
fn memory_of_readings_is_planned() {
    let setup = toy10();
    let target = setup.params.program_target().unwrap();
    let shape = InputShape { level: setup.params.levels().output, scale: setup.params.scale() };
    let peak = |text: &str| {
        let program = Program::parse(text).unwrap();
        Plan::new(&program, &target, &[shape], Bootstraps::AsWritten).unwrap().peak_bytes()
    };
    let [one, table] =
        ["x = input\nb = bit x 10 9\nb = output b", "x = input\nb = lut x 1 2\nb = output b"].map(peak);
    let ciphertext = 2 * 8 * setup.params.n() as u64 * (setup.params.levels().output as u64 + 1);
    // The operand, the bit, and the four of a digit in base 16 as they come.
    assert!(one >= 5 * ciphertext && one <= 7 * ciphertext, "{one}, {ciphertext}");
    assert!(table < one, "{table}, {one}");
}
