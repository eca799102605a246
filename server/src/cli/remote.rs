//! A client of the server.

use std::io::ErrorKind;

use blake3::Hash;
use indicatif::ProgressBar;
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use super::connection::{Ask, Connection, NETWORK, TRIES, not_understood, of_problem, pause, words};
use super::event_stream::{self, Event, EventStream};
use super::failure::Failure;
use super::interruption::LastWords;
use super::keyfiles::{KeySet, MakePart, Manifest};
use super::output::{Output, printable};
use super::progress::{self, StageTime};
use super::server_arguments::FetchCommand;
use crate::engine::{Task, operation_list};
use crate::id::Id;
use crate::service::views::{Commit, Committed, End, JobDocument, KeysDocument, NewKeys, StageDocument};
use crate::store::jobs::JobState;

/// How often bytes are sent or requested before differing digests count as a failure.
const DIGEST_TRIES: u32 = 3;

/// Most stages of a job that are kept.
const STAGES: usize = 10_000;

/// Codes of failures after which the job may still finish: nothing is known of it, or asking again later may work.
const GOES_ON: [&str; 6] = [NETWORK, DAMAGED, "BAD_BYTES", "BUSY", "STOPPING", "STORAGE_FAILED"];

/// A server that does work with keys.
pub struct Remote {
    connection: Connection,
    public: bool,
    fetch: FetchCommand,
}

/// A job to be done under a key.
pub struct Work<'a> {
    /// The evaluation keys.
    pub set: &'a KeySet,
    /// Makes or reads a piece of the evaluation keys.
    pub part: MakePart<'a>,
    /// The job.
    pub task: &'a Task,
    /// The input of the job.
    pub input: &'a [u8],
    /// Most bytes that the result may have.
    pub largest: usize,
}

/// The outcome of a job.
pub struct Done {
    /// The result.
    pub bytes: Vec<u8>,
    /// Seconds the job took on the server.
    pub seconds: f64,
    /// The stages of the job.
    pub stages: Vec<StageTime>,
}

impl Remote {
    /// A server at the end of a connection; `public` keys are open to everybody's jobs. `fetch` is the command shown to a user who has to
    /// leave a job on the server.
    pub fn new(connection: Connection, public: bool, fetch: FetchCommand) -> Self {
        Self { connection, public, fetch }
    }

    /// Sends the keys that the server lacks, and has it do a job. If the server loses keys, they are sent once more.
    pub fn run(&self, work: &Work<'_>, output: &Output) -> Result<Done, Failure> {
        match self.attempt(work, output) {
            Err(failure) if matches!(failure.code.as_str(), "KEYS_INCOMPLETE" | "KEY_PIECE_DAMAGED") => {
                output.note(&format!(
                    "{}: {}; sending what is missing",
                    self.connection.name(),
                    failure.detail
                ));
                self.attempt(work, output)
            }
            outcome => outcome,
        }
    }

    fn attempt(&self, work: &Work<'_>, output: &Output) -> Result<Done, Failure> {
        match self.upload(work.set, work.part, output) {
            // Somebody else's keys, which are open to everybody.
            Err(failure) if self.public && failure.code == "TOKEN_WRONG" => {}
            outcome => outcome?,
        }
        let job = self.submit(work.set.manifest.key_id, work.task, work.input)?;
        self.collect(&job, work.largest, output)
    }

    /// What the server says of a job.
    pub fn job(&self, job: &Id) -> Result<JobDocument, Failure> {
        let document: JobDocument = self.connection.document(Ask::get(&format!("/v1/jobs/{job}")))?;
        if document.id == job.to_string() {
            return Ok(document);
        }
        Err(Failure::network(format!(
            "{} was asked for job {job} and answers with job {}; check that it is a refloat server of this version",
            self.connection.name(),
            words(&document.id)
        )))
    }

    /// Waits for the end of a job and gets its result, of `largest` bytes at most. A user who interrupts this, or loses the connection, is
    /// told how to get the result later.
    pub fn collect(&self, job: &Id, largest: usize, output: &Output) -> Result<Done, Failure> {
        let (name, command) = (self.connection.name().to_owned(), self.fetch.of(job));
        let bar = progress::bar(output, 1, "queued");
        let _words = {
            let (bar, output) = (bar.clone(), output.clone());
            let detail =
                format!("job {job} goes on at {name}; once it is done, its result is written by: {command}");
            LastWords::new(move || {
                bar.finish_and_clear();
                output.failure(&Failure { code: "STOPPED_WAITING".to_owned(), detail: detail.clone() });
            })
        };
        let left = |failure: Failure| {
            if !GOES_ON.contains(&failure.code.as_str()) {
                return failure;
            }
            let detail = format!(
                "{}; job {job} stays at {name}: {command} waits for it and writes its result",
                failure.detail
            );
            Failure { detail, ..failure }
        };
        let (end, stages) = self.follow(job, bar).map_err(left)?;
        let seconds = Self::seconds(job, end)?;
        Ok(Done { bytes: self.result(job, largest).map_err(left)?, seconds, stages })
    }

    /// Seconds that a job took, if it is done.
    fn seconds(job: &Id, end: End) -> Result<f64, Failure> {
        match (end.state, end.problem) {
            (JobState::Done, _) => Ok(end.seconds.unwrap_or(0.0)),
            (_, Some(problem)) => {
                let Failure { code, detail } = of_problem(&problem);
                Err(Failure { code, detail: format!("job {job} failed: {detail}") })
            }
            (state, None) => Err(Failure {
                code: "ABORTED".to_owned(),
                detail: format!(
                    "job {job} was {} on the server; submit it again if it is to be done",
                    state.name()
                ),
            }),
        }
    }

    /// Sends the pieces of a key set that the server lacks, and seals it.
    fn upload(&self, set: &KeySet, part: MakePart<'_>, output: &Output) -> Result<(), Failure> {
        let Manifest { params, fingerprint, key_id, parts } = set.manifest.clone();
        let manifest =
            NewKeys { params, fingerprint, key_id: key_id.to_string(), parts, public: self.public };
        let manifest = serde_json::to_vec(&manifest).map_err(|error| Failure::system(&error))?;
        let known: KeysDocument = self.connection.document(Ask::post_json("/v1/keys", &manifest))?;
        if known.state == "sealed" {
            return Ok(());
        }
        let bar = progress::byte_bar(output, set.bytes(), "sending keys");
        let mut digests = Vec::with_capacity(parts);
        // Pieces that the server has count towards the digest of all, so that somebody else's piece among them is found.
        for index in 0..parts {
            let bytes = part(index)?;
            let digest = blake3::hash(&bytes);
            if known.missing.contains(&(index as u32)) {
                self.put(key_id, index, &bytes, &digest)?;
            }
            digests.push(digest);
            bar.inc(bytes.len() as u64);
        }
        bar.finish_and_clear();
        match self.seal(key_id, &digests) {
            Err(failure) if failure.code == "PIECES_DIFFER" => {
                let path = format!("/v1/keys/{key_id}");
                let there: KeysDocument = self.connection.document(Ask::get(&path))?;
                let there = there.digests.unwrap_or_default();
                for (index, digest) in digests.iter().enumerate() {
                    let same = there.get(index).and_then(Option::as_deref) == Some(digest.to_hex().as_str());
                    if !same {
                        self.put(key_id, index, &part(index)?, digest)?;
                    }
                }
                self.seal(key_id, &digests)
            }
            outcome => outcome,
        }
    }

    fn put(&self, key: Id, index: usize, bytes: &[u8], digest: &Hash) -> Result<(), Failure> {
        let path = format!("/v1/keys/{key}/chunks/{index}");
        let digest = digest.to_hex();
        let ask = Ask {
            method: "PUT",
            path: &path,
            kind: "application/octet-stream",
            body: bytes,
            headers: &[("refloat-digest", &digest)],
        };
        again_if_damaged(|| self.connection.send(ask)).map(drop).map_err(|failure| {
            if failure.code != NETWORK {
                return failure;
            }
            let kept = "the pieces that have arrived are kept; once the connection works, the same command sends the others";
            Failure { detail: format!("{}; {kept}", failure.detail), ..failure }
        })
    }

    fn seal(&self, key: Id, digests: &[Hash]) -> Result<(), Failure> {
        let mut all = blake3::Hasher::new();
        for digest in digests {
            all.update(digest.as_bytes());
        }
        let digest = all.finalize().to_hex().to_string();
        let commit = serde_json::to_vec(&Commit { digest: Some(digest.clone()) })
            .map_err(|error| Failure::system(&error))?;
        let path = format!("/v1/keys/{key}/commit");
        let sealed: Committed = self.connection.document(Ask::post_json(&path, &commit))?;
        if sealed.digest == digest {
            return Ok(());
        }
        Err(Failure::network(format!(
            "{} says that it has keys of digest {}, those sent have {digest}; they are not used",
            self.connection.name(),
            words(&sealed.digest)
        )))
    }

    /// Submits a job and returns its identifier.
    fn submit(&self, key: Id, task: &Task, input: &[u8]) -> Result<Id, Failure> {
        let path = format!(
            "/v1/jobs?key={key}&op={}&mode={}&rounds={}",
            operation_list(&task.operations),
            task.mode.name(),
            task.rounds
        );
        // Repeating the request gives the same job.
        let once = Id::random().map_err(|error| Failure::system(&error))?.to_string();
        let digest = blake3::hash(input).to_hex();
        let ask = Ask {
            method: "POST",
            path: &path,
            kind: "application/octet-stream",
            body: input,
            headers: &[("idempotency-key", &once), ("refloat-digest", &digest)],
        };
        let job: JobDocument = again_if_damaged(|| self.connection.document(ask))?;
        // The identifier becomes part of paths, so it is checked here.
        job.id.parse().map_err(|_| {
            Failure::network(format!("{} names no job: {}", self.connection.name(), words(&job.id)))
        })
    }

    /// Waits for the end of a job and shows its stages on a bar.
    fn follow(&self, job: &Id, bar: ProgressBar) -> Result<(End, Vec<StageTime>), Failure> {
        let mut watch = Watch { bar, left: event_stream::ALL, last: 0, entered: 0.0, stages: Vec::new() };
        let mut failures = 0;
        loop {
            let before = watch.last;
            match self.stream(job, &mut watch) {
                Ok(Some(end)) => {
                    watch.bar.finish_and_clear();
                    return Ok((end, watch.stages));
                }
                Err(failure) if failure.code != NETWORK => return Err(failure),
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

    /// Reads events until the stream ends. Returns the last event of the job if it came.
    fn stream(&self, job: &Id, watch: &mut Watch) -> Result<Option<End>, Failure> {
        let (path, last) = (format!("/v1/jobs/{job}/events"), watch.last.to_string());
        let response =
            self.connection.send_briefly(Ask { headers: &[("last-event-id", &last)], ..Ask::get(&path) })?;
        let kind = header(&response, "content-type").unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(self.no_events(&format!("{} comes where events were asked for", words(kind))));
        }
        let mut events = EventStream::new(response.into_body().into_reader(), watch.left);
        loop {
            let event = events.next_event();
            watch.left = events.left();
            let event = event.map_err(|error| match error.kind() {
                ErrorKind::InvalidData => self.no_events(&error.to_string()),
                _ => Failure::network(format!("{}: {error}", self.connection.name())),
            })?;
            let Some(Event { id, name, data }) = event else { return Ok(None) };
            watch.last = id.parse().unwrap_or(watch.last);
            if name == "end" {
                return serde_json::from_str(&data).map(Some).map_err(|error| not_understood(&error));
            }
            watch.take(&name, &data);
        }
    }

    /// The failure for an event stream that another try would not mend.
    fn no_events(&self, reason: &str) -> Failure {
        Failure { code: "BAD_BYTES".to_owned(), detail: format!("{}: {reason}", self.connection.name()) }
    }

    /// The result of a job that is done.
    fn result(&self, job: &Id, largest: usize) -> Result<Vec<u8>, Failure> {
        let path = format!("/v1/jobs/{job}/result");
        again_if_damaged(|| {
            let response = self.connection.send(Ask::get(&path))?;
            let stated = header(&response, "refloat-digest").map(str::to_ascii_lowercase);
            let bytes = self.connection.read(response, largest)?;
            let found = blake3::hash(&bytes).to_hex();
            match stated {
                Some(stated) if stated != found.as_str() => Err(Failure {
                    code: DAMAGED.to_owned(),
                    detail: format!(
                        "the result came with digest {found}, and {} states {}; it was damaged on the way, ask for it again",
                        self.connection.name(),
                        words(&stated)
                    ),
                }),
                _ => Ok(bytes),
            }
        })
    }
}

/// The failure code for received bytes that differ from those sent.
const DAMAGED: &str = "DIGEST_MISMATCH";

/// Repeats a request that failed because bytes were damaged on their way.
fn again_if_damaged<T>(mut request: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..DIGEST_TRIES {
        match request() {
            Err(failure) if failure.code == DAMAGED => {}
            outcome => return outcome,
        }
    }
    request()
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// Follows a job by its events.
struct Watch {
    bar: ProgressBar,
    /// Bytes of events that may still come.
    left: u64,
    last: u64,
    entered: f64,
    stages: Vec<StageTime>,
}

impl Watch {
    fn take(&mut self, name: &str, data: &str) {
        if name == "state" {
            // Stages of a run that was broken off are none of the job's. Loading keys has a phase, and belongs to the run.
            if serde_json::from_str::<Value>(data).is_ok_and(|state| state.get("phase").is_none()) {
                self.stages.clear();
            }
            return;
        }
        if name != "stage" {
            return;
        }
        let Ok(event) = serde_json::from_str::<StageDocument>(data) else { return };
        match event.kind.as_str() {
            "enter" => {
                self.entered = event.at_ms;
                progress::show_stage(&self.bar, printable(&words(&event.stage)));
            }
            "progress" => {
                let (done, total) = (event.done.unwrap_or(0), event.total.unwrap_or(1));
                progress::show_steps(&self.bar, done as u64, total as u64);
            }
            // No real job has this many stages.
            _ if self.stages.len() < STAGES => {
                let counters = event.counters;
                self.stages.push(StageTime {
                    stage: words(&event.stage),
                    seconds: (event.at_ms - self.entered) / 1000.0,
                    level: event.level.unwrap_or(0),
                    log_q: event.log_q.unwrap_or(0.0),
                    log_scale: event.log_scale.unwrap_or(0.0),
                    ntt: counters.as_ref().map_or(0, |counters| counters.ntt),
                    limb_mac: counters.as_ref().map_or(0, |counters| counters.limb_mac),
                    key_switch: counters.as_ref().map_or(0, |counters| counters.key_switch),
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_on_a_server_is_never_drawn_with_the_steps_of_another() {
        let terminal = progress::recorded::Terminal::default();
        let bar = terminal.bar();
        let mut watch = Watch { bar, left: event_stream::ALL, last: 0, entered: 0.0, stages: Vec::new() };
        for event in [
            r#"{"kind":"enter","stage":"blind_rotate","atMs":1.0}"#,
            r#"{"kind":"progress","stage":"blind_rotate","done":15,"total":15,"atMs":2.0}"#,
            r#"{"kind":"enter","stage":"product_tree","atMs":3.0}"#,
            r#"{"kind":"progress","stage":"product_tree","done":3,"total":4,"atMs":4.0}"#,
        ] {
            watch.take("stage", event);
        }
        let drawn = terminal.draws();
        assert_eq!(drawn, ["blind_rotate 0/1", "blind_rotate 15/15", "product_tree 0/1", "product_tree 3/4"]);
    }

    #[test]
    fn stages_of_a_run_that_was_broken_off_are_not_those_of_the_job() {
        let bar = ProgressBar::hidden();
        let mut watch = Watch { bar, left: event_stream::ALL, last: 0, entered: 0.0, stages: Vec::new() };
        let stage = |kind: &str, stage: &str, ms: f64| {
            ("stage", format!(r#"{{"kind":"{kind}","stage":"{stage}","atMs":{ms}}}"#))
        };
        let running = || ("state", r#"{"state":"running"}"#.to_owned());
        let loading = ("state", r#"{"state":"running","phase":"load_keys","done":1,"total":2}"#.to_owned());
        let run = [
            running(),
            stage("enter", "mod_raise", 0.0),
            stage("exit", "mod_raise", 9000.0),
            running(),
            stage("enter", "mod_raise", 0.0),
            stage("exit", "mod_raise", 3000.0),
            loading,
            stage("enter", "blind_rotate", 3000.0),
            stage("exit", "blind_rotate", 4000.0),
        ];
        for (name, data) in run {
            watch.take(name, &data);
        }
        let stages: Vec<(&str, f64)> =
            watch.stages.iter().map(|stage| (stage.stage.as_str(), stage.seconds)).collect();
        assert_eq!(stages, [("mod_raise", 3.0), ("blind_rotate", 1.0)]);
    }
}
