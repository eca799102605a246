//! Real keys, real ciphertexts and real bootstrapping through the real server, at toy size.

use super::support;

use refloat::wire;
use serde_json::{Value, json};
use support::process::{Process, encrypt, key_id, message, open, precision, secret, serving};

/// Puts the right digest at the end of altered bytes.
fn sign(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let digest = blake3::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(digest.as_bytes());
}

#[test]
fn a_ciphertext_is_refreshed_squared_and_refreshed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, key) = serving(folder.path(), 1);
    let client = &server.client;
    let values = message(&secret);
    let promised = refloat::params::ship_preset("toy10").unwrap().promised;

    let job = client.submit(&key, &encrypt(&secret, &values, 1, 2)).job();
    let events = client.events(&job, None);
    let stages: Vec<Value> = events
        .iter()
        .filter(|event| event.name == "stage")
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    let exits: Vec<&str> = stages
        .iter()
        .filter(|event| event["kind"] == "exit")
        .map(|event| event["stage"].as_str().unwrap())
        .collect();
    assert_eq!(
        exits,
        ["slots_to_coeffs", "encapsulate", "encode_phase", "blind_rotate", "product_tree", "conjugate"]
    );
    let rotated =
        stages.iter().rfind(|event| event["stage"] == "blind_rotate" && event["kind"] == "progress").unwrap();
    assert_eq!((&rotated["done"], &rotated["total"]), (&json!(15), &json!(15)));
    assert!(stages.windows(2).all(|pair| pair[0]["atMs"].as_f64() <= pair[1]["atMs"].as_f64()));
    let loading = events.iter().any(|event| event.name == "state" && event.data.contains("load_keys"));
    assert!(loading, "loading of keys is told");

    let fresh = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    let (level, bits) = precision(&secret, &fresh, &values);
    assert!(level == 2 && bits >= promised, "level {level}, {bits} bits, {promised} promised");

    let exhausted = encrypt(&secret, &values, 1, 2);
    let twice = client.submit_with(&format!("key={key}&rounds=2"), &[], &exhausted).job();
    client.wait_state(&twice, "done");
    let result = client.get(&format!("/v1/jobs/{twice}/result")).expect(200).body;
    let (level, better) = precision(&secret, &result, &values);
    assert!(level == 1 && better > bits + 1.0, "level {level}, {better} bits, {bits} in one round");
    let query = format!("key={key}&op=bootstrap,square&rounds=2");
    let detail = client.submit_with(&query, &[], &exhausted).problem(422, "LEVEL_MISMATCH");
    assert!(detail.contains("2 leave level 1 and 1 leaves 2"), "{detail}");

    let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    let query = format!("key={key}&op=square,bootstrap");
    let job = client.submit_with(&query, &[], &fresh).job();
    client.wait_state(&job, "done");
    let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    let (level, bits) = precision(&secret, &result, &squares);
    assert!(level == 2 && bits >= promised - 2.0, "level {level}, {bits} bits");
    let sets = client.get("/v1/params").json();
    let toy = sets["sets"].as_array().unwrap().iter().find(|set| set["name"] == "toy10").unwrap();
    assert!(toy["expectedSeconds"].as_f64().unwrap() > 0.0);
    assert!(server.terminate(), "stops in order");
}

#[test]
fn pieces_and_ciphertexts_that_do_not_conform_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(folder.path());
    let client = &server.client;
    let (mine, other) = (secret("toy10", 3), secret("toy10", 4));
    let id = key_id(&mine);
    open(client, &mine).expect(201);
    let piece = mine.key_part(1).unwrap();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = piece.clone();
        change(&mut bytes);
        client.put_chunk(&id, 1, &bytes)
    };
    changed(&|bytes| bytes[1000] ^= 1).problem(422, "BAD_BYTES");
    changed(&|bytes| bytes[0] ^= 1).problem(422, "BAD_BYTES");
    let at = wire::header::HEADER_LEN + 40;
    let detail = changed(&|bytes| {
        bytes[at..at + 64].fill(0xff);
        sign(bytes);
    })
    .problem(422, "BAD_BYTES");
    assert!(detail.contains("residue") || detail.contains("modulus"), "{detail}");
    changed(&|bytes| bytes.truncate(bytes.len() - 1)).problem(422, "BAD_BYTES");
    changed(&|bytes| bytes.push(0)).problem(413, "LIMIT");
    let refused = client.put_chunk(&id, 1, &other.key_part(1).unwrap());
    refused.problem(409, "PARAMS_MISMATCH");
    let sizes: Vec<usize> = mine.params().key_parts().iter().map(|part| part.bytes).collect();
    let twin = (2..sizes.len()).find(|index| sizes[*index] == sizes[1]);
    if let Some(twin) = twin {
        let answer = client.put_chunk(&id, twin, &piece);
        assert!((400..500).contains(&answer.status), "a piece at the place of another: {answer:?}");
    }
    let key = wire::secret_key_to_bytes(&mine);
    client.put_chunk(&id, 1, &key).problem(422, "SECRET_KEY_REFUSED");
    client.put_chunk(&id, 1, &encrypt(&mine, &[0.5], 1, 1)).problem(422, "BAD_BYTES");
    for index in 0..sizes.len() {
        client.put_chunk(&id, index, &mine.key_part(index).unwrap()).expect(204);
    }
    client.commit(&id).expect(200);

    client.submit(&id, &key).problem(422, "SECRET_KEY_REFUSED");
    client.submit(&id, &encrypt(&other, &[0.5], 1, 1)).problem(409, "PARAMS_MISMATCH");
    let detail = client.submit(&id, &encrypt(&secret("toy11", 3), &[0.5], 1, 1));
    assert!((400..500).contains(&detail.status), "{detail:?}");
    let good = encrypt(&mine, &[0.5], 1, 1);
    client.submit_with(&format!("key={id}&op=square"), &[], &good).problem(422, "LEVEL_MISMATCH");
    client.submit_with(&format!("key={id}&mode=bits"), &[], &good).problem(400, "INVALID_ARGUMENT");
    for position in [0, 8, 13, 20, 40, 50, 60, 64, 65, 72, 100, good.len() - 33, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[position] ^= 0x80;
        let answer = client.submit(&id, &bytes);
        assert!((400..500).contains(&answer.status), "byte {position}: {answer:?}");
        if position >= 64 {
            sign(&mut bytes);
            let answer = client.submit(&id, &bytes);
            assert!(answer.status < 500, "byte {position}, signed: {answer:?}");
        }
    }
    let mut residues = good.clone();
    let end = residues.len() - 32;
    residues[end - 256..end].fill(0xff);
    sign(&mut residues);
    client.submit(&id, &residues).problem(422, "BAD_BYTES");
    for length in [0, 1, 63, 64, 95, 96, good.len() - 1] {
        client.submit(&id, &good[..length]).problem(422, "BAD_BYTES");
    }
    let job = client.submit(&id, &good).job();
    client.wait_state(&job, "done");
}
