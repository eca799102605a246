//! Programs on CKKS ciphertexts through the real server, at toy size.

use super::support;

use refloat::bootstrapping::ckks_conventional::ConventionalSecretKey;
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
use refloat::circuits::program::{Bootstraps, Builder};
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;
use refloat_server::programs::{ProgramJob, list_from_bytes};
use serde_json::{Value, json};
use support::process::{Process, refloat, upload_keys};

const SET: &str = "toy-conventional10-sparse";

#[test]
fn a_program_is_checked_when_it_is_submitted_and_run_with_the_bootstraps_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(folder.path());
    let client = &server.client;
    let params = conventional_preset(SET).unwrap().params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let id = upload_keys(client, SET, &secret, params.key_parts().len());

    // A mean of 64 slots and a polynomial of it take five levels; the input has one, and a bootstrap leaves three.
    let mut builder = Builder::new();
    let x = builder.input("x");
    let share = builder.constant([1.0 / 64.0]);
    let parts = builder.multiply(x, share);
    let mean = builder.rotate_sum(parts, 64);
    let cube = Polynomial::new(PolynomialBasis::Monomial, [0.0, 0.5, 0.0, 0.5]).unwrap();
    let (once, twice) = (builder.polynomial(mean, &cube), builder.polynomial(mean, &cube));
    let product = builder.multiply(once, twice);
    builder.name(product, "square of it");
    builder.output("mean", mean);
    builder.output("y", product);
    let program = builder.finish().unwrap();
    let values: Vec<Complex> = (0..64).map(|i| Complex::new(f64::from(i % 7) / 7.0, 0.3)).collect();
    let input = secret.encrypt(&values, 1, &Seed::from_bytes([2; 32])).unwrap();
    let mut job = ProgramJob { program, bootstraps: Bootstraps::AsWritten, inputs: vec![input] };

    let query = format!("key={id}&op=program&mode=complex");
    let refused = client.submit_with(&query, &[], &job.to_bytes(params.ckks()).unwrap());
    let detail = refused.problem(422, "LEVEL_MISMATCH");
    assert!(detail.contains("(polynomial)"), "{detail}");
    let unknown = client.submit_with(&query, &[], b"\x01\x0c\x00\x00\x00rfprog\x63\x00\x00\x00\x00\x00");
    assert!(unknown.problem(422, "BAD_BYTES").contains("version 99"));
    let beside = format!("key={id}&op=program,bootstrap");
    job.bootstraps = Bootstraps::WhereNeeded;
    let body = job.to_bytes(params.ckks()).unwrap();
    client.submit_with(&beside, &[], &body).problem(400, "INVALID_ARGUMENT");

    let run = client.submit_with(&query, &[], &body).job();
    let exits = client.stages_left(&run);
    let bootstrap = ["mod_raise", "sub_sum", "coeffs_to_slots", "eval_mod", "slots_to_coeffs"];
    assert_eq!(exits, [&["arithmetic"][..], &bootstrap, &["arithmetic"]].concat());
    let result = client.get(&format!("/v1/jobs/{run}/result")).expect(200).body;
    let expected = job.program.evaluate(64, &[values]).unwrap();
    for (found, expected) in list_from_bytes(params.ckks(), &result).unwrap().iter().zip(&expected) {
        let slots = secret.decrypt(found).unwrap();
        let worst = slots
            .reveal_to_key_owner()
            .iter()
            .zip(expected)
            .map(|(&a, &b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-3, "{worst}");
    }
    assert!(server.terminate(), "stops in order");
}

#[test]
fn a_program_in_a_file_is_run_on_files_here_and_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    let ok = |line: &str| -> Value {
        let output = run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let fails = |line: &str, code: &str| {
        let output = run(line);
        assert!(!output.status.success(), "{line}");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], code, "{error}");
        error["error"]["detail"].as_str().unwrap().to_owned()
    };
    let text = "x = input # numbers\ny = input\ns = add x y\nm = multiply s 0.5\nc = polynomial m 0 0.5 0 0.5\n\
                p = multiply c x\nmean = output m\nscore = output p\n";
    std::fs::write(at("score.txt"), text).unwrap();
    let told = ok("--json program @score.txt");
    assert_eq!((&told["inputs"], &told["outputs"]), (&json!(["x", "y"]), &json!(["mean", "score"])));
    ok(&format!("--json keygen --preset {SET} --allow-insecure --out @keys"));
    let [x, y] =
        [1.0, 2.0].map(|step| -> Vec<f64> { (0..64).map(|i| f64::cos(step * f64::from(i))).collect() });
    for (name, values) in [("x", &x), ("y", &y)] {
        std::fs::write(at(&format!("{name}.json")), serde_json::to_vec(values).unwrap()).unwrap();
        ok(&format!("--json encrypt --key @keys --in @{name}.json --out @{name}.ct"));
    }
    let line =
        "--json program @score.txt --keys @keys --in y=@y.ct --in @x.ct --out @mean.ct --out score=@score.ct";
    let here = ok(line);
    assert_eq!((&here["bootstraps"], &here["inserted"]), (&1.into(), &1.into()), "{here}");
    assert_eq!(here["outputs"][1]["out"], json!(at("score.ct")));
    let scores = std::fs::read(at("score.ct")).unwrap();
    let server = Process::start(&at("data"));
    ok(&format!("{line} --server {}", server.client.url("")));
    assert!(std::fs::read(at("score.ct")).unwrap() == scores, "the same bytes here and on a server");
    assert!(server.terminate());
    let score = |x: f64, y: f64| {
        let mean = f64::midpoint(x, y);
        f64::midpoint(mean, mean.powi(3)) * x
    };
    let expected: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| score(x, y)).collect();
    std::fs::write(at("expected.json"), serde_json::to_vec(&expected).unwrap()).unwrap();
    let read = ok("--json decrypt --key @keys --in @score.ct --out @score.csv --compare @expected.json");
    assert!(read["precision"]["worst"].as_f64().unwrap() > 10.0, "{read}");

    for place in ["--as-written", "--server http://127.0.0.1:1", "--threads 1", "--memory 4"] {
        let described = run(&format!("program @score.txt {place}"));
        assert!(!described.status.success(), "{place} says how to run what is not run");
        assert!(String::from_utf8_lossy(&described.stderr).contains("--keys"), "{place}");
    }
    assert!(fails(&format!("{line} --as-written"), "LEVEL_MISMATCH").contains("\"p\" (multiply)"));
    let one = "--json program @score.txt --keys @keys --in @x.ct --out @mean.ct";
    assert!(fails(one, "INVALID_ARGUMENT").contains("--in y=FILE"));
    let unknown = fails(&format!("{one} --in z=y.ct"), "INVALID_ARGUMENT");
    assert!(unknown.contains("no input \"z\"") && unknown.contains("x, y"), "{unknown}");
    std::fs::write(at("bad.txt"), "x = input\ny = divide x 2\nz = output y\n").unwrap();
    let detail = fails("--json program @bad.txt", "INVALID_ARGUMENT");
    assert!(detail.contains("bad.txt") && detail.contains("line 2"), "{detail}");
    std::fs::write(at("bad.prog"), b"rfprog\x63\x00\x00\x00\x00\x00").unwrap();
    assert!(fails("--json program @bad.prog", "BAD_BYTES").contains("version 99"));
    ok("--json keygen --preset toy10 --allow-insecure --secret-only --out @ship");
    ok("--json encrypt --key @ship --in @x.json --out @ship.ct");
    let ship = "--json program @score.txt --keys @ship --in @x.ct --in @ship.ct --out @mean.ct";
    assert!(fails(ship, "INVALID_ARGUMENT").contains("ship.ct"));
    ok(&format!("--json keygen --preset {SET} --allow-insecure --secret-only --out @other"));
    ok("--json encrypt --key @other --in @y.json --out @other.ct");
    let other = "--json program @score.txt --keys @keys --in @x.ct --in @other.ct --out @mean.ct";
    assert!(fails(other, "INVALID_ARGUMENT").contains("encrypt the inputs with one key"));
}
