//! Peers that take much and give little: slow, silent, many. None of them keeps the server from serving others.

mod support;

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use refloat_server::Config;
use refloat_server::config::MetricsListen;
use support::engine::{KEY, PARTS, part};
use support::http2::{DATA, HEADERS, Http2};
use support::{Client, DEADLINE, TOKEN, TestServer, ciphertext, manifest, until, upload};

/// Many more bytes than sockets buffer.
const LARGE: usize = 48 << 20;

fn start(folder: &Path, change: impl FnOnce(&mut Config)) -> TestServer {
    TestServer::start(&folder.join("data"), |config| {
        config.server.metrics_listen = MetricsListen::Public;
        config.server.trusted_proxies = vec![IpAddr::from([127, 0, 0, 1])];
        change(config);
    })
}

/// A demo with one large file.
fn large_file(folder: &Path, config: &mut Config) {
    let demo = folder.join("demo");
    std::fs::create_dir_all(&demo).unwrap();
    std::fs::write(demo.join("index.html"), "<title>demo</title>").unwrap();
    std::fs::write(demo.join("large.bin"), vec![7; LARGE]).unwrap();
    config.server.demo = demo;
}

/// A connection on which `text`, a part of a request, has been sent.
fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket.write_all(text.as_bytes()).unwrap();
    socket
}

/// Everything that still comes.
fn rest(mut socket: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset is an end too.
    let _ = socket.read_to_end(&mut bytes);
    bytes
}

fn counter(client: &Client, name: &str) -> u64 {
    let text = String::from_utf8(client.get("/metrics").expect(200).body).unwrap();
    let line = text.lines().find(|line| line.starts_with(name));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

fn as_from(client: &Client, address: &str) -> Client {
    client.with(&[("authorization", &format!("Bearer {TOKEN}")), ("x-forwarded-for", address)])
}

#[test]
fn who_takes_no_bytes_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        large_file(folder.path(), config);
        config.limits.write_idle_seconds = 1;
        config.limits.min_bytes_per_second = 1;
    });
    let client = &server.client;
    let request = "GET /large.bin HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let readers: Vec<TcpStream> = (0..8).map(|_| send(client.address, request)).collect();
    until("readers that never read are let go", || {
        counter(client, "refloat_http_connections_closed_total{reason=\"takes_") == 8
    });
    for reader in readers {
        assert!(rest(reader).len() < LARGE, "the file was not sent whole");
    }
    server.stop();
    let server = start(folder.path(), |config| large_file(folder.path(), config));
    assert_eq!(server.client.get("/large.bin").expect(200).body.len(), LARGE, "who reads gets it");
    server.stop();
}

#[test]
fn who_takes_bytes_too_slowly_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        large_file(folder.path(), config);
        config.limits.write_idle_seconds = 1;
        config.limits.min_bytes_per_second = 1 << 40;
    });
    let mut socket = send(server.client.address, "GET /large.bin HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let (mut taken, mut some) = (0, vec![0; 64 << 10]);
    // The peer always makes progress, but too slowly.
    while let Ok(bytes @ 1..) = socket.read(&mut some) {
        taken += bytes;
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(taken < LARGE, "{taken}");
    server.stop();
}

/// The header of an upload of a piece with `length` bytes, from a peer.
fn put(peer: &str, length: usize) -> String {
    format!(
        "PUT /v1/keys/{KEY}/chunks/0 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\
         x-forwarded-for: {peer}\r\ncontent-type: application/octet-stream\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// Sends a body so slowly that it is never silent and never done. Returns the answer.
fn trickle(mut socket: TcpStream) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        while socket.write_all(b"\0").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
            if is_answered(&socket) {
                break;
            }
        }
        String::from_utf8(rest(socket)).unwrap()
    })
}

/// Bodies from two peers that trickle, two from each.
fn trickles(client: &Client) -> Vec<std::thread::JoinHandle<String>> {
    let peers = ["192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2"];
    peers.iter().map(|peer| trickle(send(client.address, &put(peer, 100)))).collect()
}

fn is_answered(socket: &TcpStream) -> bool {
    socket.set_nonblocking(true).unwrap();
    let answered = socket.peek(&mut [0]).is_ok();
    socket.set_nonblocking(false).unwrap();
    answered
}

fn two_turns_a_peer(config: &mut Config) {
    config.limits.max_uploads = 4;
    config.limits.max_uploads_per_peer = 2;
}

#[test]
fn who_sends_no_byte_of_a_body_takes_no_turn() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), two_turns_a_peer);
    let client = &server.client;
    client.post_json("/v1/keys", &manifest()).expect(201);
    // Bodies of the right length, and bodies that are too long and read only for the sake of the answer.
    for length in [part(0).len(), 1 << 20] {
        let peers = ["192.0.2.1", "192.0.2.2"];
        let silent: Vec<TcpStream> =
            peers.iter().cycle().take(8).map(|peer| send(client.address, &put(peer, length))).collect();
        // Once a later request has been answered, these requests have reached their handlers.
        as_from(client, peers[0]).get(&format!("/v1/keys/{KEY}")).expect(200);
        let honest = as_from(client, "192.0.2.3");
        for index in 0..PARTS {
            honest.put_chunk(KEY, index, &part(index)).expect(204);
        }
        for socket in &silent {
            assert!(!is_answered(socket), "it waits for its body still");
        }
    }
    server.stop();
}

#[test]
fn bodies_that_trickle_make_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        two_turns_a_peer(config);
        // A peer that is still trickling when the server stops gets no answer.
        config.server.shutdown_seconds = 0;
    });
    let client = &server.client;
    client.post_json("/v1/keys", &manifest()).expect(201);
    let slow = trickles(client);
    let honest = as_from(client, "192.0.2.3");
    for index in 0..PARTS {
        honest.put_chunk(KEY, index, &part(index)).expect(204);
    }
    // All of them are too slow, and lose their turns as soon as somebody else wants them.
    let mut asked = 0;
    until("turns go to those who wait", || {
        asked += 1;
        honest.put_chunk(KEY, asked % PARTS, &part(asked % PARTS)).expect(204);
        slow.iter().any(std::thread::JoinHandle::is_finished)
    });
    server.stop();
    let answers: Vec<String> = slow.into_iter().map(|answer| answer.join().unwrap()).collect();
    assert!(answers.iter().any(|answer| answer.starts_with("HTTP/1.1 429")), "{answers:?}");
    assert!(!answers.iter().any(|answer| answer.starts_with("HTTP/1.1 2")), "{answers:?}");
}

#[test]
fn bodies_that_trickle_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        two_turns_a_peer(config);
        config.limits.idle_seconds = 1;
    });
    let client = &server.client;
    client.post_json("/v1/keys", &manifest()).expect(201);
    for answer in trickles(client) {
        let answer = answer.join().unwrap();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    server.stop();
}

#[test]
fn documents_are_short() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |_| {});
    let mut long = manifest();
    long["params"] = "x".repeat(9000).into();
    server.client.post_json("/v1/keys", &long).problem(413, "LIMIT");
    server.stop();
}

#[test]
fn one_peer_has_so_many_event_streams_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        config.limits.max_event_streams = 3;
        config.limits.max_event_streams_per_peer = 2;
    });
    let client = &server.client;
    upload(client);
    server.engine.hold();
    let job = client.submit(KEY, &ciphertext(1)).job();
    let (greedy, modest) = (as_from(client, "192.0.2.1"), as_from(client, "192.0.2.2"));
    let first = greedy.open_events(&job, None);
    let second = greedy.open_events(&job, None);
    let events = format!("/v1/jobs/{job}/events");
    assert!(greedy.get(&events).problem(429, "BUSY").contains("from your address"));
    let third = modest.open_events(&job, None);
    assert!(as_from(client, "192.0.2.3").get(&events).problem(429, "BUSY").contains("on this server"));
    server.engine.release();
    drop((first, second, third));
    client.wait_state(&job, "done");
    server.stop();
}

#[test]
fn the_server_says_that_it_is_well_while_all_connections_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.limits.max_connections = 3;
        config.limits.header_seconds = 1;
    });
    let client = &server.client;
    let get = |path: &str| {
        client.raw(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes())
    };
    let hold = || -> Vec<TcpStream> { (0..3).map(|_| send(client.address, "GET /v1/par")).collect() };
    let mut held = Vec::new();
    until("all connections are taken", || {
        // Once more, in case the last ones were closed before this looked.
        held.extend(hold());
        get("/v1/params").starts_with("HTTP/1.1 503")
    });
    assert!(get("/healthz").starts_with("HTTP/1.1 200"));
    assert!(get("/readyz").starts_with("HTTP/1.1 200"));
    until("half a header holds no connection", || get("/v1/params").starts_with("HTTP/1.1 200"));
    for socket in held {
        assert!(!String::from_utf8_lossy(&rest(socket)).contains("200 OK"));
    }
    // Peers that send nothing at all, not even the start of a protocol version.
    let silent: Vec<TcpStream> = (0..3).map(|_| send(client.address, "")).collect();
    for socket in silent {
        assert_eq!(rest(socket), b"");
    }
    server.stop();
}

/// A window that takes a usual answer, and no large file.
const WINDOW: u32 = 65_535;

#[test]
fn http_2_is_spoken_and_its_streams_are_watched() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        large_file(folder.path(), config);
        config.limits.write_idle_seconds = 1;
        config.limits.header_seconds = 2;
    });
    let ask = |path: &str, authority: &str| {
        let mut connection = Http2::connect(server.client.address, WINDOW);
        connection.ask("GET", path, authority);
        connection
    };
    let mut connection = ask("/healthz", "localhost");
    let mut body = Vec::new();
    while let Some(frame) = connection.next() {
        match frame.kind {
            HEADERS => assert_eq!(frame.payload[0], 0x88, ":status 200"),
            DATA => body.extend(frame.payload),
            _ => continue,
        }
        if frame.last {
            break;
        }
    }
    assert_eq!(body, b"ok\n");
    // A foreign host name is refused over HTTP/2 too.
    let mut rebound = ask("/healthz", "rebound.example");
    while let Some(frame) = rebound.next() {
        if frame.kind == HEADERS {
            assert_ne!(frame.payload[0], 0x88);
            break;
        }
    }
    // The peer reads all that is sent and never opens its window again: the connection moves, the stream does not.
    let mut stalled = ask("/large.bin", "localhost");
    let mut taken = 0;
    while let Some(frame) = stalled.next() {
        taken += if frame.kind == DATA { frame.payload.len() } else { 0 };
    }
    assert!(taken <= WINDOW as usize, "{taken}");
    // An idle connection ends as well.
    while connection.next().is_some() {}
    server.stop();
}

#[test]
fn who_only_pings_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| {
        config.limits.write_idle_seconds = 1;
        config.limits.header_seconds = 1;
    });
    // Requests all of `asked` on a connection, then repeats `each` until the server closes the connection.
    let closed = |asked: &[&str], each: fn(&mut Http2)| {
        let mut connection = Http2::connect(server.client.address, 1);
        for path in asked {
            connection.ask("GET", path, "localhost");
        }
        let mut reader = connection.reader();
        let ended = std::thread::spawn(move || while reader.next().is_some() {});
        until("the connection is closed", || {
            each(&mut connection);
            std::thread::sleep(Duration::from_millis(80));
            ended.is_finished()
        });
        ended.join().unwrap();
    };
    let ping = |connection: &mut Http2| drop(connection.ping());
    closed(&[], ping);
    let count = |reason: &str| {
        counter(&server.client, &format!("refloat_http_connections_closed_total{{reason=\"{reason}\"}}"))
    };
    assert_eq!((count("sends_no_request"), count("takes_answers_too_slowly")), (1, 0));
    // Short answers, of which the peer takes a byte.
    closed(&["/v1/params?parts=1", "/openapi.json"], ping);
    closed(&["/healthz"], ping);
    // The same with other requests all the while, whose answers the peer takes.
    closed(&["/healthz"], |connection| {
        connection.ask("HEAD", "/healthz", "localhost");
    });
    assert_eq!(count("takes_answers_too_slowly"), 3);
    server.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn connections_of_proxies_and_of_others_have_one_bound() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |config| config.limits.max_connections = 4);
    let address = server.client.address;
    // The server trusts 127.0.0.1 as a proxy.
    let held: Vec<TcpStream> = (0..4).map(|_| send(address, "GET /v1/par")).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let elsewhere = || {
        let socket = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        });
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        (&socket)
            .write_all(b"GET /v1/params HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .unwrap();
        String::from_utf8(rest(socket)).unwrap()
    };
    assert!(elsewhere().starts_with("HTTP/1.1 503"));
    drop(held);
    until("there is room again", || elsewhere().starts_with("HTTP/1.1 200"));
    server.stop();
}

#[test]
fn answers_say_what_browsers_may_do_with_them_and_which_request_they_are_to() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), |_| {});
    let client = &server.client;
    for path in ["/v1/params", "/healthz", "/v1/nothing", "/openapi.json"] {
        let answer = client.get(path);
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
        assert_eq!(answer.header("x-request-id").len(), 16, "{path}");
    }
    let page = client.get("/");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && policy.ends_with("frame-ancestors 'none'"), "{policy}");
    // 127.0.0.1 is a trusted proxy, so its header counts.
    let named = client.send("GET", "/healthz", &[("x-request-id", "from-the-proxy")], b"");
    assert_eq!(named.header("x-request-id"), "from-the-proxy");
    let odd = client.send("GET", "/healthz", &[("x-request-id", "two words")], b"");
    assert_ne!(odd.header("x-request-id"), "two words");
    assert!(
        counter(client, "refloat_http_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"}") >= 3
    );
    let raw = |first: &str, more: &str| {
        client
            .raw(format!("{first} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{more}\r\n").as_bytes())
    };
    assert!(raw("GET http://localhost/healthz", "").starts_with("HTTP/1.1 200"));
    assert!(raw("GET http://elsewhere.example/healthz", "").starts_with("HTTP/1.1 400"));
    assert!(raw("CONNECT localhost:80", "").starts_with("HTTP/1.1 4"));
    assert!(raw("BREW /healthz", "").starts_with("HTTP/1.1 405"));
    assert!(raw("GET /healthz", "host: localhost\r\n").starts_with("HTTP/1.1 400"));
    let bomb =
        (0..400).fold(String::new(), |bomb, index| bomb + &format!("x-{index}: {}\r\n", "y".repeat(200)));
    assert!(!raw("GET /healthz", &bomb).contains("200 OK"));
    assert_eq!(client.get("/healthz").status, 200);
    server.stop();
}

#[test]
fn counters_are_served_where_the_operator_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.server.metrics_listen = MetricsListen::At(SocketAddr::from(([127, 0, 0, 1], 0)));
        config.limits.header_seconds = 600;
    });
    server.client.get("/metrics").problem(404, "NOT_FOUND");
    let operators = Client::new(server.metrics_address().unwrap());
    let text = String::from_utf8(operators.get("/metrics").expect(200).body).unwrap();
    assert!(text.contains("refloat_http_connections "), "{text}");
    operators.get("/readyz").expect(200);
    // The operators' listener takes few connections.
    let silent: Vec<TcpStream> = (0..64).map(|_| send(operators.address, "")).collect();
    until("no more are taken", || silent.iter().filter(|socket| is_answered(socket)).count() >= 32);
    drop(silent);
    // The server has to see first that they are gone.
    let request = b"GET /v1/params HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    until("one is taken again", || operators.raw(request).starts_with("HTTP/1.1 404"));
    server.stop();
}
