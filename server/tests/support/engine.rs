//! An engine that computes nothing, and can be held in the middle of a run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refloat::Error;
use refloat::trace::{Counters, Observer, StageEvent, emit};
use refloat_server::engine::{
    JobSet, LoadError, LoadedKeys, Part, ReadPart, Runner, Scheme, SetInfo, SlotMode, Stage, Task,
};
use refloat_server::engines::Engines;
use refloat_server::id::Id;

/// Bytes of a ciphertext.
pub const CIPHERTEXT: usize = 64;
/// Bytes of a piece.
pub const PART: usize = 100;
/// Pieces of a key set.
pub const PARTS: usize = 3;
/// Identifier of the test keys.
pub const KEY: &str = "000102030405060708090a0b0c0d0e0f";
/// Fingerprint of the small set.
pub const FINGERPRINT: &str = "f00df00df00df00df00df00df00df00d";
/// Fingerprint of the insecure set.
pub const TOY_FINGERPRINT: &str = "0bad0bad0bad0bad0bad0bad0bad0bad";
/// Fingerprint of the set whose keys fit no memory.
pub const HUGE_FINGERPRINT: &str = "b16bb16bb16bb16bb16bb16bb16bb16b";

/// Counters and switches that all sets of a test server share.
#[derive(Default)]
pub struct TestEngine {
    /// While true, runs stay in the middle of their stage.
    pub held: AtomicBool,
    /// While true, runs stay in the middle of their stage and ask nobody whether they are to stop.
    pub hangs: AtomicBool,
    /// While true, runs panic.
    pub panics: AtomicBool,
    /// While true, results are a byte longer than was announced.
    pub overflows: AtomicBool,
    /// Key sets loaded so far.
    pub loads: AtomicUsize,
    /// Runs begun so far.
    pub runs: AtomicUsize,
    /// The second byte of each input, in the order of the runs.
    pub order: Mutex<Vec<u8>>,
}

impl TestEngine {
    pub fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }

    pub fn release(&self) {
        self.held.store(false, Ordering::SeqCst);
    }

    /// The sets of a server.
    pub fn sets(self: &Arc<Self>) -> Engines {
        self.sets_as(FINGERPRINT)
    }

    /// The same sets with another fingerprint for the small set, as in another build.
    pub fn sets_as(self: &Arc<Self>, fingerprint: &str) -> Engines {
        let set = |name: &str, secure, fingerprint: &str, expanded_key_bytes| -> Box<dyn JobSet> {
            let info = SetInfo { secure, expanded_key_bytes, ..info(name, fingerprint) };
            Box::new(TestSet { info, engine: Arc::clone(self) })
        };
        Engines::of(vec![
            set("small", true, fingerprint, 1000),
            set("toy", false, TOY_FINGERPRINT, 1000),
            set("huge", true, HUGE_FINGERPRINT, 1 << 40),
        ])
    }
}

fn info(name: &str, fingerprint: &str) -> SetInfo {
    SetInfo {
        scheme: Scheme::Ckks,
        method: "test".into(),
        name: name.into(),
        title: name.into(),
        successor: None,
        mode: SlotMode::Real,
        modulus: None,
        slot_degree: None,
        secure: true,
        source: "a test".into(),
        security_bits: 128.0,
        security_statement: "a test".into(),
        policy: "test".into(),
        fingerprint: fingerprint.into(),
        log_n: 10,
        slots: 512,
        log_qp: 200.0,
        log_q0p: 40.0,
        max_level: 7,
        input_level: 1,
        output_level: 2,
        promised_bits: 6.0,
        promised_mean_bits: None,
        promised_for: None,
        gain_bits: None,
        log_failure: None,
        stages: vec![Stage {
            id: "blind_rotate".into(),
            title: "Rotate".into(),
            symbol: "x".into(),
            levels: 0,
        }],
        tracks: 4,
        tree_levels: 2,
        key_parts: (0..PARTS)
            .map(|index| Part { index, label: format!("piece {index}"), bytes: PART })
            .collect(),
        parts: PARTS,
        key_bytes: (PARTS * PART) as u64,
        ciphertext_bytes: vec![CIPHERTEXT; 3],
        expanded_key_bytes: 0,
        gates: None,
        orders: None,
        facts: Vec::new(),
    }
}

/// A set of the test engine.
struct TestSet {
    info: SetInfo,
    engine: Arc<TestEngine>,
}

/// Keys that compute nothing.
struct TestRunner(Arc<TestEngine>);

/// Piece `index` of any key set.
pub fn part(index: usize) -> Vec<u8> {
    vec![index as u8; PART]
}

impl JobSet for TestSet {
    fn info(&self) -> &SetInfo {
        &self.info
    }

    fn operations(&self) -> &'static [&'static str] {
        &["square", "bootstrap"]
    }

    fn working_bytes(&self) -> u64 {
        1000
    }

    fn verify_part(&self, _key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        if bytes.first().is_some_and(|first| usize::from(*first) == index) {
            Ok(())
        } else {
            Err(Error::BadBytes(format!("this is not piece {index}")))
        }
    }

    fn check(&self, _key: Id, _task: &Task, bytes: &[u8]) -> Result<u64, Error> {
        if bytes.len() == CIPHERTEXT && bytes[0] == b'C' {
            Ok(CIPHERTEXT as u64)
        } else {
            Err(Error::BadBytes("this is not a ciphertext".into()))
        }
    }

    fn load(&self, _key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        for index in 0..PARTS {
            assert_eq!(read(index)?, part(index));
        }
        self.engine.loads.fetch_add(1, Ordering::SeqCst);
        Ok(LoadedKeys::new(1000, TestRunner(Arc::clone(&self.engine))))
    }
}

impl Runner for TestRunner {
    fn run(&self, _task: &Task, ciphertext: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        let engine = &self.0;
        engine.runs.fetch_add(1, Ordering::SeqCst);
        engine.order.lock().unwrap().push(ciphertext[1]);
        assert!(!engine.panics.load(Ordering::SeqCst), "a defect");
        let stage = "blind_rotate";
        emit(observer, &StageEvent::Enter { stage })?;
        for done in 1..=4 {
            emit(observer, &StageEvent::Progress { stage, done, total: 4 })?;
            while done == 2 && engine.held.load(Ordering::SeqCst) {
                if observer.is_cancelled() {
                    return Err(Error::Cancelled(stage.into()));
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            while done == 2 && engine.hangs.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        emit(
            observer,
            &StageEvent::Exit {
                stage,
                level: 2,
                log_q: 62.5,
                log_scale: 22.0,
                counters: Counters::default(),
            },
        )?;
        let more = engine.overflows.load(Ordering::SeqCst).then_some(0);
        Ok(ciphertext.iter().rev().copied().chain(more).collect())
    }
}
