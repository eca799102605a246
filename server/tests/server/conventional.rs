//! Conventional CKKS bootstrapping through the real server and on files, at toy size.

use super::support;

use refloat::bootstrapping::ckks_conventional::ConventionalSecretKey;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;
use refloat::wire;
use refloat_server::id::hex;
use serde_json::{Value, json};
use support::Client;
use support::process::{Process, open_keys, refloat};

const SET: &str = "toy-conventional10-sparse";

fn key(seed: u8) -> ConventionalSecretKey {
    let params = conventional_preset(SET).unwrap().params().unwrap();
    ConventionalSecretKey::generate(&params, &Seed::from_bytes([seed; 32]))
}

fn message() -> Vec<Complex> {
    (0..64).map(|i| Complex::new(f64::from(i) / 64.0, f64::from(-i) / 80.0)).collect()
}

fn encrypted(secret: &ConventionalSecretKey, level: usize) -> Vec<u8> {
    let ciphertext = secret.encrypt(&message(), level, &Seed::from_bytes([9; 32])).unwrap();
    wire::ciphertext_to_bytes(secret.params().ckks(), &ciphertext).unwrap()
}

/// Two rounds are more precise than one, and leave a level less.
fn more_rounds(client: &Client, secret: &ConventionalSecretKey) {
    let (params, id) = (secret.params(), hex(&secret.key_id()));
    let exhausted = encrypted(secret, 0);
    let bits = |bytes: &[u8]| {
        let result = wire::ciphertext_from_bytes(params.ckks(), bytes).unwrap();
        let slots = secret.decrypt(&result).unwrap();
        let errors = slots.reveal_to_key_owner().iter().zip(message()).map(|(found, z)| (*found - z).abs());
        (result.level(), -errors.fold(0.0, f64::max).log2())
    };
    let rounds =
        |rounds: &str| client.submit_with(&format!("key={id}&mode=complex{rounds}"), &[], &exhausted);
    let [once, twice] = ["", "&rounds=2"].map(|text| {
        let job = rounds(text).job();
        let done = client.wait_state(&job, "done");
        let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
        (done["rounds"].clone(), bits(&result))
    });
    assert_eq!((&once.0, &twice.0), (&json!(1), &json!(2)));
    assert_eq!((once.1.0, twice.1.0), (params.levels().output, params.levels().output - 1));
    assert!(twice.1.1 > once.1.1 + 2.0, "{} and {} bits", once.1.1, twice.1.1);
    for wrong in ["0", "4", "1000", "4294967295"] {
        let detail = rounds(&format!("&rounds={wrong}")).problem(400, "INVALID_ARGUMENT");
        assert!(detail.contains(&format!("{wrong} rounds")) && detail.contains("1 to 3 rounds"), "{detail}");
    }
    for wrong in ["two", "-1", "2.5", "", "4294967296"] {
        assert!(
            rounds(&format!("&rounds={wrong}")).problem(400, "INVALID_ARGUMENT").contains("rounds"),
            "{wrong}"
        );
    }
}

#[test]
fn keys_are_uploaded_in_pieces_resumed_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(folder.path());
    let (secret, other) = (key(1), key(2));
    let params = secret.params();
    let sets = server.client.get("/v1/params?parts=1").expect(200).json();
    let set = sets["sets"].as_array().unwrap().iter().find(|set| set["name"] == SET).unwrap().clone();
    let preset = conventional_preset(SET).unwrap();
    assert_eq!((&set["scheme"], &set["method"]), (&"ckks".into(), &"ckks-conventional".into()));
    assert_eq!(set["stages"].as_array().unwrap().len(), 5);
    assert_eq!(set["keyParts"].as_array().unwrap().len(), params.key_parts().len());
    assert!(set["securityStatement"].as_str().unwrap().contains("INSECURE"), "{set}");
    assert!(
        set["logFailure"].as_f64().unwrap() < 0.0 && set["promisedMeanBits"] == preset.promised.bits[0],
        "{set}"
    );

    let id = hex(&secret.key_id());
    let parts = params.key_parts().len();
    open_keys(&server.client, SET, &secret, parts).expect(201);
    let half = parts / 2;
    for index in 0..half {
        server.client.put_chunk(&id, index, &secret.key_part(index).unwrap()).expect(204);
    }
    let foreign = other.key_part(half).unwrap();
    server.client.put_chunk(&id, half, &foreign).problem(409, "PARAMS_MISMATCH");
    let mut damaged = secret.key_part(half).unwrap();
    damaged[1000] ^= 1;
    server.client.put_chunk(&id, half, &damaged).problem(422, "BAD_BYTES");
    let file = wire::secret_key_to_bytes(&secret);
    server.client.put_chunk(&id, half, &file).problem(422, "SECRET_KEY_REFUSED");
    server.kill();

    // After a crash, the pieces that had arrived are there, and the others are made again from the secret key.
    let server = Process::start(folder.path());
    let client = &server.client;
    let missing = open_keys(client, SET, &secret, parts).expect(200).json()["missing"].clone();
    assert_eq!(missing, json!((half..parts).collect::<Vec<_>>()));
    let again = wire::secret_key_from_bytes(params, &file).unwrap();
    for index in half..parts {
        client.put_chunk(&id, index, &again.key_part(index).unwrap()).expect(204);
    }
    client.commit(&id).expect(200);

    let input = encrypted(&secret, 1);
    client.submit(&id, &encrypted(&other, 1)).problem(409, "PARAMS_MISMATCH");
    client.submit_with(&format!("key={id}&mode=bits"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit_with(&format!("key={id}&op=square,square"), &[], &input).problem(422, "LEVEL_MISMATCH");
    let job = client.submit_with(&format!("key={id}&op=square,bootstrap&mode=complex"), &[], &input).job();
    let exits = client.stages_left(&job);
    assert_eq!(exits, ["mod_raise", "sub_sum", "coeffs_to_slots", "eval_mod", "slots_to_coeffs"]);
    let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    let result = wire::ciphertext_from_bytes(params.ckks(), &result).unwrap();
    assert_eq!(result.level(), params.levels().output);
    let slots = secret.decrypt(&result).unwrap();
    let worst = slots
        .reveal_to_key_owner()
        .iter()
        .zip(message())
        .map(|(found, z)| (*found - z * z).abs())
        .fold(0.0, f64::max);
    assert!(-worst.log2() >= 15.0, "{} bits", -worst.log2());

    more_rounds(client, &secret);
    let query = format!("key={id}&op=square&rounds=2");
    client.submit_with(&query, &[], &input).problem(400, "INVALID_ARGUMENT");

    // A long job is cancelled between stages.
    let many = vec!["bootstrap"; 16].join(",");
    let job = client.submit_with(&format!("key={id}&op={many}"), &[], &input).job();
    client.wait_state(&job, "running");
    client.delete(&format!("/v1/jobs/{job}"));
    client.wait_state(&job, "cancelled");
    assert!(server.terminate(), "stops in order");
}

fn ok(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn fails(output: &std::process::Output, code: &str) -> String {
    assert!(!output.status.success());
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], code, "{error}");
    error["error"]["detail"].as_str().unwrap().to_owned()
}

#[test]
fn files_go_the_whole_way_here_and_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    fails(&run(&format!("--json keygen --preset {SET} --out @keys")), "INSECURE");
    let made = ok(&run(&format!("--json keygen --preset {SET} --allow-insecure --out @keys")));
    let params = conventional_preset(SET).unwrap().params().unwrap();
    assert_eq!((&made["secure"], &made["bytes"]), (&false.into(), &params.key_bytes().into()));
    let numbers: Vec<f64> = (0..128).map(|index| (f64::from(index) / 20.0).cos()).collect();
    std::fs::write(at("in.json"), serde_json::to_vec(&numbers).unwrap()).unwrap();
    let encrypt = "--json encrypt --key @keys --in @in.json --out @in.ct --exhausted";
    assert!(fails(&run(encrypt), "INVALID_ARGUMENT").contains("64"), "two numbers in each slot need a word");
    fails(&run(&format!("{encrypt} --mode bits")), "INVALID_ARGUMENT");
    let encrypted = ok(&run(&format!("{encrypt} --mode complex")));
    assert_eq!((&encrypted["level"], &encrypted["numbers"]), (&0.into(), &128.into()));
    let bootstrap = "--json bootstrap --keys @keys --in @in.ct --out @out.ct --mode complex";
    fails(&run(&format!("{bootstrap} --op square")), "LEVEL_MISMATCH");
    let decrypt = "--json decrypt --key @keys --in @out.ct --out @out.csv --compare @in.json --mode complex";
    let server = Process::start(&folder.path().join("data"));
    for place in ["--threads 1", "--memory 1", &format!("--server {}", server.client.url(""))] {
        let fresh = ok(&run(&format!("{bootstrap} {place}")));
        assert_eq!((&fresh["before"]["level"], &fresh["after"]["level"]), (&0.into(), &3.into()), "{place}");
        assert_eq!(fresh["stages"].as_array().unwrap().len(), 5, "{place}");
        let decrypted = ok(&run(decrypt));
        assert!(decrypted["precision"]["worst"].as_f64().unwrap() >= 16.0, "{place}: {decrypted}");
    }
    let twice = ok(&run(&format!("{bootstrap} --rounds 2")));
    assert_eq!((&twice["rounds"], &twice["after"]["level"]), (&2.into(), &2.into()));
    // Five stages per round, and one that joins the rounds.
    assert_eq!(twice["stages"].as_array().unwrap().len(), 11);
    let bytes = std::fs::read(at("out.ct")).unwrap();
    ok(&run(&format!("{bootstrap} --rounds 2 --server {}", server.client.url(""))));
    assert!(std::fs::read(at("out.ct")).unwrap() == bytes, "the same bytes here and on a server");
    assert!(fails(&run(&format!("{bootstrap} --rounds 0")), "INVALID_ARGUMENT").contains("0 rounds"));
    assert!(server.terminate());

    ok(&run("--json keygen --preset toy10 --allow-insecure --out @ship"));
    let other = run("--json bootstrap --keys @ship --in @in.ct --out @x.ct");
    let detail = fails(&other, "PARAMS_MISMATCH");
    assert!(detail.contains("evaluation keys belong to"), "{detail}");
    fails(&run("--json decrypt --key @ship --in @in.ct --out @x.csv"), "PARAMS_MISMATCH");
    std::fs::remove_file(at("keys/evaluation/00001.part")).unwrap();
    assert!(fails(&run(bootstrap), "FILE").contains("00001.part"));
    ok(&run("--json keygen --preset n16 --out @big --secret-only"));
    std::fs::copy(at("keys/evaluation/keys.json"), at("big/keys.json")).unwrap();
    std::fs::write(at("few.csv"), "0.5").unwrap();
    ok(&run("--json encrypt --key @big --in @few.csv --out @big.ct"));
    let small = run("--json bootstrap --keys @big --in @big.ct --out @x.ct --memory 1");
    assert!(fails(&small, "LIMIT").contains("n16 takes"));
}
