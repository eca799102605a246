//! A client of the server.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Request, Response};
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use super::failure::Failure;
use super::keyfiles::{KeySet, MakePart, Manifest};
use super::output::Output;
use super::progress::{self, StageTime};
use super::token::server_token;
use crate::engine::{Task, operation_list};
use crate::id::Id;
use crate::problem::Problem;
use crate::service::views::{Commit, Committed, End, JobDocument, KeysDocument, NewKeys, StageDocument};
use crate::store::jobs::JobState;

/// Times a request is made before it counts as failed.
const TRIES: u32 = 6;

/// Largest answer taken: the outputs of a program are ciphertexts of up to 9 MB each.
const LARGEST: u64 = 1 << 30;

/// A server.
pub struct Remote {
    base: String,
    agent: Agent,
    authorization: Zeroizing<String>,
}

impl Remote {
    /// The server at an address like <http://127.0.0.1:7878>, as the owner of the keys in `keys`.
    pub fn new(url: &str, keys: &Path) -> Result<Self, Failure> {
        if !url.starts_with("http://") {
            return Err(Failure::usage(format!("{url} is not an address like http://127.0.0.1:7878")));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .user_agent(concat!("refloat/", env!("CARGO_PKG_VERSION")))
            .build();
        let base = url.trim_end_matches('/').to_owned();
        let authorization = Zeroizing::new(format!("Bearer {}", server_token(keys, &base)?));
        Ok(Self { base, agent: config.into(), authorization })
    }

    /// Sends the pieces of a key set that the server lacks, and seals it.
    pub fn upload(&self, set: &KeySet, part: MakePart<'_>, output: &Output) -> Result<(), Failure> {
        let Manifest { params, fingerprint, key_id, parts } = set.manifest.clone();
        let manifest = NewKeys { params, fingerprint, key_id: key_id.to_string(), parts, public: false };
        let manifest = serde_json::to_vec(&manifest).map_err(|error| Failure::system(&error))?;
        let known: KeysDocument = self.json("POST", "/v1/keys", "application/json", &manifest)?;
        if known.state == "sealed" {
            return Ok(());
        }
        let bar = progress::byte_bar(output, set.bytes(), "sending keys");
        let lacking: u64 = known.missing.iter().filter_map(|index| set.sizes.get(*index as usize)).sum();
        bar.inc(set.bytes().saturating_sub(lacking));
        for index in known.missing {
            let bytes = part(index as usize)?;
            self.send(
                "PUT",
                &format!("/v1/keys/{key_id}/chunks/{index}"),
                "application/octet-stream",
                &bytes,
                &[],
            )?;
            bar.inc(bytes.len() as u64);
        }
        bar.finish_and_clear();
        let commit = serde_json::to_vec(&Commit::default()).map_err(|error| Failure::system(&error))?;
        let _: Committed =
            self.json("POST", &format!("/v1/keys/{key_id}/commit"), "application/json", &commit)?;
        Ok(())
    }

    /// Submits a job and returns its identifier.
    pub fn submit(&self, key: Id, task: &Task, ciphertext: &[u8]) -> Result<String, Failure> {
        let path = format!(
            "/v1/jobs?key={key}&op={}&mode={}&rounds={}",
            operation_list(&task.operations),
            task.mode.name(),
            task.rounds
        );
        // Repeating the request gives the same job.
        let once = Id::random().map_err(|error| Failure::system(&error))?.to_string();
        let answer =
            self.send("POST", &path, "application/octet-stream", ciphertext, &[("idempotency-key", &once)])?;
        Ok(read::<JobDocument>(answer)?.id)
    }

    /// Waits for the end of a job and shows its stages.
    pub fn follow(&self, job: &str, output: &Output) -> Result<(f64, Vec<StageTime>), Failure> {
        let mut watch =
            Watch { bar: progress::bar(output, 1, "queued"), last: 0, entered: 0.0, stages: Vec::new() };
        let mut failures = 0;
        loop {
            let before = watch.last;
            match self.stream(job, &mut watch) {
                Ok(Some(end)) => {
                    watch.bar.finish_and_clear();
                    return match (end.state, end.problem) {
                        (JobState::Done, _) => Ok((end.seconds.unwrap_or(0.0), watch.stages)),
                        (_, Some(problem)) => Err(problem.into()),
                        (state, None) => Err(Failure {
                            code: "ABORTED".to_owned(),
                            detail: format!("the job was {} on the server", state.name()),
                        }),
                    };
                }
                Err(failure) if failure.code != "NETWORK" => return Err(failure),
                outcome => {
                    failures = if watch.last > before { 0 } else { failures + 1 };
                    if failures >= TRIES {
                        return Err(outcome
                            .err()
                            .unwrap_or_else(|| Failure::network("the event stream keeps ending early")));
                    }
                    std::thread::sleep(pause(failures));
                }
            }
        }
    }

    /// The result of a job that is done.
    pub fn result(&self, job: &str) -> Result<Vec<u8>, Failure> {
        bytes(self.send("GET", &format!("/v1/jobs/{job}/result"), "", &[], &[])?)
    }

    /// Reads events until the stream ends; the last event if it was there.
    fn stream(&self, job: &str, watch: &mut Watch) -> Result<Option<End>, Failure> {
        let last = watch.last.to_string();
        let response =
            self.send("GET", &format!("/v1/jobs/{job}/events"), "", &[], &[("last-event-id", &last)])?;
        let (mut id, mut name, mut data) = (watch.last, String::new(), String::new());
        for line in BufReader::new(response.into_body().into_reader()).lines() {
            let line = line.map_err(|error| Failure::network(format!("{}: {error}", self.base)))?;
            if let Some((field, value)) = line.split_once(": ") {
                match field {
                    "id" => id = value.parse().unwrap_or(id),
                    "event" => value.clone_into(&mut name),
                    "data" => value.clone_into(&mut data),
                    _ => {}
                }
            } else if line.is_empty() && !data.is_empty() {
                watch.last = id;
                if name == "end" {
                    let end = serde_json::from_str(&data).map_err(|error| not_understood(&error))?;
                    return Ok(Some(end));
                }
                watch.take(&name, &data);
                data.clear();
            }
        }
        Ok(None)
    }

    fn json<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> Result<T, Failure> {
        read(self.send(method, path, kind, body, &[])?)
    }

    /// One request, repeated while the server is busy or out of reach.
    fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, Failure> {
        let mut failures = 0;
        loop {
            let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
            request = request.header("authorization", self.authorization.as_str());
            if !kind.is_empty() {
                request = request.header("content-type", kind);
            }
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let outcome = if method == "GET" {
                let request = request.body(()).map_err(|error| Failure::usage(error.to_string()))?;
                self.agent.run(request)
            } else {
                let request = request.body(body).map_err(|error| Failure::usage(error.to_string()))?;
                self.agent.run(request)
            };
            failures += 1;
            let failure = match outcome {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => {
                    let busy = matches!(response.status().as_u16(), 429 | 503);
                    let asked = response
                        .headers()
                        .get("retry-after")
                        .and_then(|value| value.to_str().ok()?.parse().ok());
                    let failure = refusal(response);
                    if !busy {
                        return Err(failure);
                    }
                    if failures < TRIES {
                        std::thread::sleep(Duration::from_secs(asked.unwrap_or(1).min(60)));
                        continue;
                    }
                    failure
                }
                Err(error) => Failure::network(format!(
                    "{} cannot be reached: {error}; check that the server runs",
                    self.base
                )),
            };
            if failures >= TRIES {
                return Err(failure);
            }
            std::thread::sleep(pause(failures));
        }
    }
}

/// Where a job is, from its events.
struct Watch {
    bar: indicatif::ProgressBar,
    last: u64,
    entered: f64,
    stages: Vec<StageTime>,
}

impl Watch {
    fn take(&mut self, name: &str, data: &str) {
        if name != "stage" {
            return;
        }
        let Ok(event) = serde_json::from_str::<StageDocument>(data) else { return };
        match event.kind.as_str() {
            "enter" => {
                self.entered = event.at_ms;
                self.bar.set_message(event.stage);
                self.bar.set_length(1);
                self.bar.set_position(0);
            }
            "progress" => {
                self.bar.set_length(event.total.unwrap_or(1) as u64);
                self.bar.set_position(event.done.unwrap_or(0) as u64);
            }
            _ => {
                let counters = event.counters;
                self.stages.push(StageTime {
                    stage: event.stage,
                    seconds: (event.at_ms - self.entered) / 1000.0,
                    level: event.level.unwrap_or(0),
                    log_q: event.log_q.unwrap_or(0.0),
                    log_scale: event.log_scale.unwrap_or(0.0),
                    ntt: counters.as_ref().map_or(0, |counters| counters.ntt),
                    limb_mac: counters.as_ref().map_or(0, |counters| counters.limb_mac),
                    key_switch: counters.as_ref().map_or(0, |counters| counters.key_switch),
                });
            }
        }
    }
}

fn pause(failures: u32) -> Duration {
    Duration::from_millis(100 << failures.min(6))
}

fn bytes(mut response: Response<Body>) -> Result<Vec<u8>, Failure> {
    response
        .body_mut()
        .with_config()
        .limit(LARGEST)
        .read_to_vec()
        .map_err(|error| Failure::network(error.to_string()))
}

fn read<T: DeserializeOwned>(response: Response<Body>) -> Result<T, Failure> {
    serde_json::from_slice(&bytes(response)?).map_err(|error| not_understood(&error))
}

fn refusal(response: Response<Body>) -> Failure {
    let status = response.status();
    match bytes(response).map(|bytes| serde_json::from_slice::<Problem>(&bytes)) {
        Ok(Ok(problem)) => problem.into(),
        _ => Failure::network(format!("the server answered {status} and not as a refloat server does")),
    }
}

fn not_understood(error: &serde_json::Error) -> Failure {
    Failure::network(format!(
        "the server's answer is not understood: {error}; check that both sides have the same version"
    ))
}
