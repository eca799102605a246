//! Fronts that divide key sets among themselves.

use refloat_server::service::shards::shard_of;
use serde_json::json;

use super::support::engine::{FINGERPRINT, KEY, PARTS};
use super::support::{TestServer, upload};

#[test]
fn a_front_takes_its_own_key_sets_and_says_where_others_go() {
    let folder = tempfile::tempdir().unwrap();
    let urls = [("0", "https://a.example"), ("1", "https://b.example")];
    let shards = urls.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect();
    let id = KEY.parse().unwrap();
    let mine = shard_of(&shards, id).unwrap();
    let (other, _) = urls.iter().find(|(name, _)| *name != mine.front).unwrap();
    let open = json!({ "keyId": KEY, "params": "small", "fingerprint": FINGERPRINT, "parts": PARTS });
    let start = |front: &str| {
        TestServer::start(folder.path(), |config| {
            config.cluster.front = front.to_owned();
            config.cluster.shards.clone_from(&shards);
        })
    };
    let server = start(other);
    let answer = server.client.post_json("/v1/keys", &open);
    let detail = answer.problem(421, "OTHER_FRONT");
    assert!(detail.contains(&mine.url) && detail.contains(KEY) && detail.contains(&mine.front), "{detail}");
    assert_eq!(answer.json()["url"], mine.url);
    let document = server.client.get(&format!("/v1/shards?key={KEY}")).expect(200).json();
    assert_eq!(document["front"], *other);
    assert_eq!(document["key"], json!({ "front": mine.front, "url": mine.url }));
    assert_eq!(document["shards"].as_array().unwrap().len(), 2);
    assert!(server.client.get("/v1/shards").expect(200).json()["key"].is_null());
    server.client.get("/v1/shards?key=none").problem(400, "INVALID_ARGUMENT");
    server.stop();
    // A front keeps the key sets that it has, whatever the other fronts are now.
    let server = start(&mine.front);
    upload(&server.client);
    server.stop();
    let server = start(other);
    server.client.post_json("/v1/keys", &open).expect(200);
    let document = server.client.get(&format!("/v1/shards?key={KEY}")).expect(200).json();
    assert_eq!(document["key"]["front"], *other);
    server.stop();
    // A front on its own takes all key sets.
    let alone = tempfile::tempdir().unwrap();
    let server = TestServer::start(alone.path(), |_| {});
    assert_eq!(server.client.get("/v1/shards").expect(200).json(), json!({ "front": "0", "shards": [] }));
    upload(&server.client);
    server.stop();
}
