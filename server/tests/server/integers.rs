//! Exact integers on files and through a server.

use super::support;

use std::fmt::Write as _;
use std::path::Path;

use refloat::bootstrapping::bgv::{BgvPreset, BgvSecretKey};
use refloat::random::Seed;
use refloat::wire;
use serde_json::{Value, json};
use support::process::{Process, fails, ok, refloat, upload_keys};

const SET: &str = "toy-bgv10";

/// Multiplies x.ct by y.ct and refreshes the result at a place. Files written for another place are removed first.
fn multiplied(place: &str, folder: &Path) -> Value {
    for written in ["xy.ct", "xxyy.ct", "z.ct"] {
        let _ = std::fs::remove_file(folder.join(written));
    }
    let job = "--json bootstrap --keys @keys --in @x.ct --with @y.ct --out @xy.ct --op multiply,bootstrap";
    ok(&refloat(&format!("{job}{place}"), folder))
}

#[test]
fn integers_go_the_whole_way_here_and_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    fails(&run("--json keygen --preset toy-bgv10 --out @keys"), "INSECURE");
    ok(&run("--json keygen --preset toy-bgv10 --allow-insecure --out @keys"));
    let write = |name: &str, integers: &[u64]| {
        std::fs::write(at(name), serde_json::to_vec(integers).unwrap()).unwrap();
    };
    let x: Vec<u64> = (0..1024).map(|i| i * i * 9 % 65537).collect();
    let y: Vec<u64> = (0..1024).map(|i| 65536 - i).collect();
    let product: Vec<u64> = x.iter().zip(&y).map(|(x, y)| x * y % 65537).collect();
    write("x.json", &x);
    write("y.json", &y);
    write("xy.json", &product);
    write("xxyy.json", &product.iter().map(|m| m * m % 65537).collect::<Vec<u64>>());
    let encrypted = ok(&run("--json encrypt --key @keys --in @x.json --out @x.ct"));
    assert_eq!((&encrypted["mode"], &encrypted["numbers"]), (&"integers".into(), &1024.into()));
    assert!(encrypted["capacity"].as_f64().unwrap() > 60.0, "{encrypted}");
    ok(&run("--json encrypt --key @keys --in @y.json --out @y.ct"));
    let there = Process::start(&folder.path().join("data"));
    let url = there.client.url("");
    for place in [String::new(), format!(" --server {url}")] {
        let done = multiplied(&place, folder.path());
        assert_eq!((&done["before"]["level"], &done["after"]["level"]), (&5.into(), &5.into()));
        assert_eq!(done["stages"].as_array().unwrap().len(), 5, "{done}");
        let decrypted = ok(&run("--json decrypt --key @keys --in @xy.ct --out @out.json --compare @xy.json"));
        assert_eq!((&decrypted["wrong"], &decrypted["level"]), (&0.into(), &5.into()));
        let found: Vec<u64> = serde_json::from_slice(&std::fs::read(at("out.json")).unwrap()).unwrap();
        assert_eq!(found, product);
        // The result of one job is the input of another, and is overwritten.
        ok(&run(&format!("--json bootstrap --keys @keys --in @xy.ct --out @xxyy.ct --op square{place}")));
        let decrypted = ok(&run(
            "--json decrypt --key @keys --in @xxyy.ct --out @out.csv --compare @xxyy.json --count 3",
        ));
        assert_eq!((&decrypted["wrong"], &decrypted["numbers"]), (&0.into(), &3.into()));
    }
    // A program, with bootstraps where levels run out: (3 x y + x)^4 + 2 of the next slot.
    std::fs::write(
        at("program.txt"),
        "x = input\ny = input\np = multiply x y\nt = multiply p 3\ns = add t x\nq = multiply s s\nr = polynomial q 2 0 1\n\
         m = rotate r 1\nresult = output m\n",
    )
    .unwrap();
    let power = |i: usize| {
        let s = (3 * product[i] + x[i]) % 65537;
        let q = s * s % 65537;
        (q * q + 2) % 65537
    };
    write("result.json", &(0..1024).map(|i| power(i / 512 * 512 + (i + 1) % 512)).collect::<Vec<u64>>());
    for place in [String::new(), format!(" --server {url}")] {
        // The other place's result must not be mistaken for this one's.
        let _ = std::fs::remove_file(at("r.ct"));
        let job = "--json program @program.txt --keys @keys --in x=@x.ct --in y=@y.ct --out @r.ct";
        let done = ok(&run(&format!("{job}{place}")));
        assert!(done["inserted"].as_u64().unwrap() > 0 && done["inserted"] == done["bootstraps"], "{done}");
        let decrypted =
            ok(&run("--json decrypt --key @keys --in @r.ct --out @out.json --compare @result.json"));
        assert_eq!(decrypted["wrong"], 0);
    }
    // The input's levels are enough for the program if its result need not be bootstrapped.
    let written =
        "--json program @program.txt --keys @keys --in x=@x.ct --in y=@y.ct --out @r.ct --as-written";
    assert_eq!(ok(&run(written))["bootstraps"], 0);
    let decrypted = ok(&run("--json decrypt --key @keys --in @r.ct --out @out.json --compare @result.json"));
    assert_eq!(decrypted["wrong"], 0);
    assert!(there.terminate());
    let decrypted = ok(&run("--json decrypt --key @keys --in @x.ct --out @out.csv --compare @y.json"));
    let wrong = x.iter().zip(&y).filter(|(x, y)| x != y).count();
    assert_eq!((&decrypted["wrong"], &decrypted["compared"]), (&wrong.into(), &1024.into()));
    // A picture is compared at the size at which it was encrypted.
    write("grey.json", &(0..1024).map(|i| i % 32 * 7 + i / 32).collect::<Vec<u64>>());
    ok(&run("--json encrypt --key @keys --in @grey.json --out @grey.ct"));
    ok(&run("--json decrypt --key @keys --in @grey.ct --out @grey.png --size 32x32"));
    ok(&run("--json encrypt --key @keys --in @grey.png --size 16x8 --out @small.ct"));
    let decrypted = ok(&run(
        "--json decrypt --key @keys --in @small.ct --out @small.png --size 16x8 --compare @grey.png",
    ));
    assert_eq!((&decrypted["wrong"], &decrypted["compared"]), (&0.into(), &128.into()));
}

#[test]
fn others_encrypt_with_a_public_key_and_the_owner_decrypts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    std::fs::write(at("integers.json"), serde_json::to_vec(&(0..1024).rev().collect::<Vec<u64>>()).unwrap())
        .unwrap();
    std::fs::write(at("numbers.csv"), "0.5\n-0.25\n1\n").unwrap();
    // A set of integers, one of integers that share slots, and sets of numbers of four methods over both widths of words.
    for (set, message) in [
        ("toy-bgv10", "integers.json"),
        ("toy-bgv-gf4", "integers.json"),
        ("toy10", "numbers.csv"),
        ("toy-conventional10-50bit", "numbers.csv"),
        ("toy-msb10", "numbers.csv"),
        ("toy-link", "numbers.csv"),
    ] {
        let keygen = format!("--json keygen --preset {set} --allow-insecure --secret-only --out @{set}");
        let key = ok(&run(&keygen))["keyId"].clone();
        let made = ok(&run(&format!("--json public-key --key @{set} --out @{set}.key")));
        assert_eq!((&made["params"], &made["keyId"]), (&set.into(), &key), "{made}");
        assert_eq!(
            made["bytes"].as_u64().unwrap(),
            std::fs::metadata(at(&format!("{set}.key"))).unwrap().len()
        );
        ok(&run(&format!("--json encrypt --key @{set}.key --in @{message} --out @x.ct")));
        let decrypt = format!("--json decrypt --key @{set} --in @x.ct --out @out.csv --compare @{message}");
        let found = ok(&run(&decrypt));
        if message == "integers.json" {
            assert_eq!((&found["wrong"], &found["compared"]), (&0.into(), &1024.into()), "{set}: {found}");
        } else {
            let text = std::fs::read_to_string(at("out.csv")).unwrap();
            let numbers: Vec<f64> = text.lines().take(3).map(|line| line.trim().parse().unwrap()).collect();
            let close = numbers.iter().zip([0.5, -0.25, 1.0]).all(|(x, wanted)| (x - wanted).abs() < 1e-3);
            assert!(close, "{set}: {numbers:?}");
        }
        // A public key is not overwritten, like any key, and decrypts nothing.
        let again =
            fails(&run(&format!("--json public-key --key @{set} --out @{set}.key")), "INVALID_ARGUMENT");
        assert!(again.contains("holds a public key"), "{again}");
        let detail =
            fails(&run(&format!("--json decrypt --key @{set}.key --in @x.ct --out @out.csv")), "BAD_BYTES");
        assert!(detail.contains("a secret key was expected, and this is a public key"), "{detail}");
    }
    ok(&run("--json keygen --preset toy-bool --allow-insecure --secret-only --out @bits"));
    let detail = fails(&run("--json public-key --key @bits --out @bits.key"), "INVALID_ARGUMENT");
    assert!(
        detail.contains("toy-bool") && detail.contains("give a secret key of numbers or integers"),
        "{detail}"
    );
    assert!(!at("bits.key").exists());
    // A damaged public key encrypts nothing.
    let mut bytes = std::fs::read(at("toy-bgv10.key")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(at("damaged.key"), bytes).unwrap();
    fails(&run("--json encrypt --key @damaged.key --in @integers.json --out @y.ct"), "BAD_BYTES");
}

#[test]
fn slots_of_several_integers_go_the_whole_way_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    let write = |name: &str, integers: &[u64]| {
        std::fs::write(at(name), serde_json::to_vec(integers).unwrap()).unwrap();
    };
    let params = BgvPreset::named("toy-bgv-gf4").unwrap().params().unwrap();
    let multiply =
        |x: &[u64], y: &[u64]| params.context().message_modulus().encoder().multiply(x, y).unwrap();
    let [x, y] = [9, 31].map(|factor| (0..1024).map(|i| i * i * factor % 65537).collect::<Vec<u64>>());
    let product = multiply(&x, &y);
    write("x.json", &x);
    write("y.json", &y);
    write("xy.json", &product);
    ok(&run("--json keygen --preset toy-bgv-gf4 --allow-insecure --out @keys"));
    let shown = ok(&run("--json params toy-bgv-gf4"));
    assert_eq!((&shown["slots"], &shown["slotDegree"]), (&256.into(), &4.into()), "{shown}");
    for name in ["x", "y"] {
        let encrypted = ok(&run(&format!("--json encrypt --key @keys --in @{name}.json --out @{name}.ct")));
        assert_eq!(encrypted["numbers"], 1024);
    }
    write("long.json", &[0; 1025]);
    let detail = fails(&run("--json encrypt --key @keys --in @long.json --out @z.ct"), "INVALID_ARGUMENT");
    assert!(detail.contains("1025 numbers") && detail.contains("1024"), "{detail}");
    // (x y)^8 takes four levels, and an input has three; then 3 is added in the first slot and 4 in the second.
    std::fs::write(
        at("program.txt"),
        "x = input\ny = input\np = multiply x y\nq = multiply p p\nr = multiply q q\nt = multiply r r\nw = constant 3 4\ns = add t w\nz = output s\n",
    )
    .unwrap();
    let mut wanted = product.clone();
    for _ in 0..3 {
        wanted = multiply(&wanted, &wanted);
    }
    for (i, integer) in [3, 4].into_iter().enumerate() {
        wanted[4 * i..4 * i + 4].iter_mut().for_each(|c| *c = (*c + 65537 - integer) % 65537);
    }
    write("z.json", &wanted);
    let there = Process::start(&folder.path().join("data"));
    let url = there.client.url("");
    for place in [String::new(), format!(" --server {url}")] {
        let done = multiplied(&place, folder.path());
        assert_eq!(done["stages"].as_array().unwrap().len(), 6, "{done}");
        let decrypted = ok(&run("--json decrypt --key @keys --in @xy.ct --out @out.json --compare @xy.json"));
        assert_eq!((&decrypted["wrong"], &decrypted["compared"]), (&0.into(), &1024.into()));
        let job = "--json program @program.txt --keys @keys --in x=@x.ct --in y=@y.ct --out @z.ct";
        assert!(ok(&run(&format!("{job}{place}")))["inserted"].as_u64().unwrap() > 0);
        let decrypted = ok(&run("--json decrypt --key @keys --in @z.ct --out @out.json --compare @z.json"));
        assert_eq!((&decrypted["wrong"], &decrypted["compared"]), (&0.into(), &1024.into()));
    }
    assert!(there.terminate());
}

#[test]
fn what_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-bgv10 --allow-insecure --out @keys"));
    for (text, entry) in
        [("1,-1", "entry 2 is -1;"), ("65537", "entry 1 is 65537;"), ("1,2,0.5", "entry 3 is 0.5;")]
    {
        std::fs::write(at("bad.csv"), text).unwrap();
        let detail = fails(&run("--json encrypt --key @keys --in @bad.csv --out @x.ct"), "INVALID_ARGUMENT");
        assert!(detail.contains(entry) && detail.contains("0 to 65536"), "{detail}");
    }
    std::fs::write(at("x.csv"), "1,2,3").unwrap();
    let encrypt = |more: &str| run(&format!("--json encrypt --key @keys --in @x.csv --out @x.ct {more}"));
    fails(&encrypt("--mode real"), "INVALID_ARGUMENT");
    let exhausted = ok(&encrypt("--mode integers --exhausted"));
    assert_eq!(exhausted["level"], 3);
    let bootstrap = |more: &str| run(&format!("--json bootstrap --keys @keys --in @x.ct --out @y.ct {more}"));
    fails(&bootstrap("--op square,bootstrap"), "LEVEL_MISMATCH");
    fails(&bootstrap("--rounds 2"), "INVALID_ARGUMENT");
    fails(&bootstrap("--mode real"), "INVALID_ARGUMENT");
    fails(&bootstrap("--op multiply"), "INVALID_ARGUMENT");
    fails(&bootstrap("--with @x.ct"), "INVALID_ARGUMENT");
    // Keys of other schemes and their ciphertexts are refused.
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @numbers"));
    fails(&run("--json decrypt --key @numbers --in @x.ct --out @y.csv"), "PARAMS_MISMATCH");
    std::fs::write(at("z.csv"), "1,0,-1").unwrap();
    ok(&run("--json encrypt --key @numbers --in @z.csv --out @z.ct"));
    fails(&run("--json decrypt --key @keys --in @z.ct --out @y.csv"), "BAD_BYTES");
    fails(&run("--json encrypt --key @numbers --in @z.csv --out @z.ct --mode integers"), "INVALID_ARGUMENT");
    let detail = fails(&bootstrap("--op multiply,bootstrap --with @z.ct"), "INVALID_ARGUMENT");
    assert!(detail.contains("z.ct") && detail.contains("x.ct") && detail.contains("toy10"), "{detail}");
    ok(&run("--json encrypt --key @numbers --in @z.csv --out @v.ct"));
    let detail = fails(
        &run("--json bootstrap --keys @numbers --in @z.ct --with @v.ct --out @y.ct --op square"),
        "INVALID_ARGUMENT",
    );
    assert!(detail.contains("--with is for `multiply` of integers"), "{detail}");
}

#[test]
fn jobs_are_checked_before_they_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(folder.path());
    let client = &server.client;
    let params = BgvPreset::named(SET).unwrap().params().unwrap();
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let sets = client.get("/v1/params?parts=1").expect(200).json();
    let set = sets["sets"].as_array().unwrap().iter().find(|set| set["name"] == SET).unwrap().clone();
    assert_eq!(
        (&set["scheme"], &set["mode"], &set["modulus"]),
        (&"bgv".into(), &"integers".into(), &65537.into())
    );
    assert_eq!(set["operations"], json!(["square", "multiply", "bootstrap", "program"]));
    assert_eq!(set["logFailure"], -138.0);
    let id = upload_keys(client, SET, &secret, params.key_parts().len());
    let encrypted = |level| {
        let x = secret.encrypt(&[3, 5], level, &Seed::from_bytes([2; 32])).unwrap();
        wire::bgv_ciphertext_to_bytes(params.context(), &x).unwrap()
    };
    let input = encrypted(params.levels().output);
    client.submit_with(&format!("key={id}&mode=real"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit_with(&format!("key={id}&op=circuit"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit_with(&format!("key={id}&op=multiply"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit_with(&format!("key={id}&rounds=2"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit(&id, &encrypted(0)).problem(422, "LEVEL_MISMATCH");
    client.submit(&id, &input[..input.len() - 1]).problem(422, "BAD_BYTES");
    let job = client.submit_with(&format!("key={id}&op=square,bootstrap"), &[], &input).job();
    client.wait_state(&job, "done");
    let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    let result = wire::bgv_ciphertext_from_bytes(params.context(), &result).unwrap();
    assert_eq!(secret.decrypt(&result).unwrap().reveal_to_key_owner()[..3], [9, 25, 0]);
    assert!(server.terminate());
}

#[test]
fn what_programs_on_integers_cannot_do_is_told_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-bgv10 --allow-insecure --out @keys"));
    std::fs::write(at("x.json"), "[3, 65535]").unwrap();
    ok(&run("--json encrypt --key @keys --in @x.json --out @x.ct"));
    let program = |text: &str, more: &str| {
        std::fs::write(at("p.txt"), text).unwrap();
        run(&format!("--json program @p.txt --keys @keys --in x=@x.ct --out @y.ct{more}"))
    };
    // Only the library compares integers.
    let detail = fails(&program("x = input\ns = sign x 4\ny = output s\n", ""), "INVALID_ARGUMENT");
    assert!(detail.contains("have no sign") && detail.contains("`scale_down`"), "{detail}");
    // Too many bits of noise: 16^24 times that of a fresh ciphertext.
    let mut noisy = String::from("x = input\nt0 = add x x\n");
    for i in 1..=24 {
        writeln!(noisy, "t{i} = multiply t{} 16", i - 1).unwrap();
    }
    noisy += "b = bootstrap t24\ny = output b\n";
    let detail = fails(&program(&noisy, " --as-written"), "LIMIT");
    assert!(detail.contains("could reach 2^1") && detail.contains("takes up to 2^"), "{detail}");
    // A result with too few levels for a bootstrap is refused if bootstraps are to be inserted, and otherwise made with a note.
    let deep = format!("x = input\np = polynomial x {}1\ny = output p\n", "0 ".repeat(31));
    let detail = fails(&program(&deep, ""), "LEVEL_MISMATCH");
    assert!(detail.contains("nothing could refresh it") && detail.contains("`--as-written`"), "{detail}");
    let done = run("program @p.txt --keys @keys --in x=@x.ct --out @y.ct --as-written");
    let note = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && note.contains("y can be decrypted but not bootstrapped"), "{note}");
    ok(&run("--json decrypt --key @keys --in @y.ct --out @y.json --count 2"));
    let power = |x: u64| (0..31).fold(1, |power, _| power * x % 65537);
    let found: Vec<u64> = serde_json::from_slice(&std::fs::read(at("y.json")).unwrap()).unwrap();
    assert_eq!(found, [power(3), power(65535)]);
    // The same note comes for a square at the input level of bootstraps, and none for one above it.
    ok(&run("--json encrypt --key @keys --in @x.json --out @low.ct --exhausted"));
    let square = |input: &str, op: &str| {
        let done = run(&format!("bootstrap --keys @keys --in @{input} --out @z.ct --op {op}"));
        assert!(done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let note = square("low.ct", "square");
    assert!(
        note.contains("the result can be decrypted but not bootstrapped") && note.contains("level 3"),
        "{note}"
    );
    let detail = fails(&run("--json bootstrap --keys @keys --in @z.ct --out @w.ct"), "LEVEL_MISMATCH");
    assert!(detail.contains("nothing can refresh it any more"), "{detail}");
    for (input, op) in [("x.ct", "square"), ("low.ct", "bootstrap,square")] {
        let note = square(input, op);
        assert!(!note.contains("not bootstrapped"), "{note}");
    }
}

#[test]
fn published_sets_are_measured_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| refloat(line, folder.path());
    for (set, word) in [("V-A", " --allow-insecure`"), ("V-A-128-thin", "`")] {
        let command = format!("`refloat reproduce bgv --set {set}{word}");
        for line in [
            format!("params {set}"),
            format!("keygen --preset {set} --out @keys"),
            format!("verify --preset {set}"),
            format!("bench --preset {set}"),
        ] {
            let detail = fails(&run(&format!("--json {line}")), "INVALID_ARGUMENT");
            assert!(detail.contains(&command), "{line}: {detail}");
        }
    }
    // The command lists its sets.
    let detail = fails(&run("--json reproduce bgv --set V-Z"), "INVALID_ARGUMENT");
    for name in ["bgv15", "V-A-128-thin", "P16 (by bgv15)", "III-A-thin", "m21845-thin"] {
        assert!(detail.contains(name), "{name}: {detail}");
    }
    let detail = fails(&run("--json reproduce bgv --set V-A"), "INVALID_ARGUMENT");
    assert!(detail.contains("INSECURE") && detail.contains("--allow-insecure"), "{detail}");
    // Suites that have no choice of sets.
    for (suite, repair) in [("ship", "--rows"), ("cggi", "leave it out"), ("ckks-openfhe", "leave it out")] {
        let detail = fails(&run(&format!("--json reproduce {suite} --set bgv15")), "INVALID_ARGUMENT");
        assert!(detail.contains("--set bgv15") && detail.contains(repair), "{suite}: {detail}");
    }
}
