//! What every dispatch must do while nothing fails, however it is implemented.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use refloat_server::blobs::FileBlobs;
use refloat_server::dispatch::{Alive, Dispatch, Done, Local, News, Outcome, Rules, Sign};
use refloat_server::engine::{Operation, SlotMode, Task};
use refloat_server::id::Id;
use refloat_server::store::events::Urgency;
use refloat_server::store::files::Expected;
use refloat_server::work::Work;

use super::simulated::{Network, PATIENCE, Party, worker};

pub fn work(job: u8, attempt: u32) -> Work {
    Work {
        job: Id([job; 16]),
        attempt,
        content: None,
        params: "small".into(),
        fingerprint: "of small".into(),
        key: Id([0; 16]),
        pieces: vec![(0, [1; 32], 2)],
        task: Task { mode: SlotMode::Real, operations: vec![Operation::new("bootstrap")], rounds: 1 },
        input: Expected { length: 3, digest: Some([4; 32]) },
        most_result_bytes: 5,
    }
}

fn done(job: u8, attempt: u32, outcome: Outcome) -> Done {
    Done { job: Id([job; 16]), attempt, outcome }
}

/// `worker` is the name of the taker, `pass` lets this many milliseconds go by, and `settle` waits until messages have arrived.
pub fn contract(dispatch: &dyn Dispatch, worker: &str, patience: u64, pass: &dyn Fn(u64), settle: &dyn Fn()) {
    assert!(dispatch.take().unwrap().is_none() && dispatch.reported().unwrap().is_none());
    // Each attempt goes to one taker, and arrives unaltered.
    let sent = [work(1, 1), work(2, 1), work(1, 2)];
    assert!(dispatch.workers().iter().any(|alive| alive.worker == worker && alive.slots > 0));
    for work in &sent {
        dispatch.publish(worker, work).unwrap();
    }
    // Work for another worker does not come here.
    dispatch.publish("another", &work(4, 1)).unwrap();
    let mut taken: Vec<Work> = (0..3).map(|_| dispatch.take().unwrap().unwrap()).collect();
    taken.sort_by_key(|work| (work.attempt, work.job));
    assert_eq!(taken, sent);
    pass(10 * patience);
    assert!(dispatch.take().unwrap().is_none());
    // Signs of news come once.
    let news = News::Event { name: "stage".into(), data: "{}".into(), urgency: Urgency::Later };
    let signs = [
        Sign::of_life(Id([1; 16]), 2),
        Sign { job: Id([2; 16]), attempt: 1, news: Some(news) },
        Sign { job: Id([2; 16]), attempt: 1, news: Some(News::At { stage: "raise".into(), parts: None }) },
    ];
    for sign in &signs {
        dispatch.sign(sign).unwrap();
    }
    settle();
    // A taker may give signs of life for its attempts on its own.
    let (news, of_life): (Vec<Sign>, Vec<Sign>) =
        dispatch.signs().unwrap().into_iter().partition(|sign| sign.news.is_some());
    assert!(of_life.contains(&signs[0]) && news == signs[1..], "{news:?}");
    assert!(dispatch.signs().unwrap().iter().all(|sign| sign.news.is_none()));
    // A report comes again until it is noted; one that was put back comes again after its pause.
    let reports = [done(1, 2, Outcome::Trouble("a disk".into())), done(2, 1, Outcome::DamagedKeys(7))];
    for done in &reports {
        dispatch.report(done).unwrap();
    }
    settle();
    let first = dispatch.reported().unwrap().unwrap();
    let second = dispatch.reported().unwrap().unwrap();
    assert!(dispatch.reported().unwrap().is_none());
    assert_eq!([&first.message, &second.message], reports.each_ref());
    dispatch.noted(&first).unwrap();
    pass(patience);
    let again = dispatch.reported().unwrap().unwrap();
    assert_eq!(again.message, second.message);
    dispatch.put_back(again, Duration::from_millis(patience / 6)).unwrap();
    assert!(dispatch.reported().unwrap().is_none());
    pass(patience / 6);
    let last = dispatch.reported().unwrap().unwrap();
    dispatch.noted(&last).unwrap();
    pass(10 * patience);
    assert!(dispatch.reported().unwrap().is_none());
    // Two outcomes reported for one attempt are two reports.
    for outcome in [Outcome::Cancelled, Outcome::Stopped] {
        dispatch.report(&done(3, 1, outcome)).unwrap();
    }
    settle();
    for outcome in [Outcome::Cancelled, Outcome::Stopped] {
        let taken = dispatch.reported().unwrap().unwrap();
        assert_eq!(taken.message.outcome, outcome);
        dispatch.noted(&taken).unwrap();
    }
    // A cancellation reaches takers that ask before it or after.
    let job = Id([9; 16]);
    assert!(!dispatch.is_cancelled(job));
    dispatch.cancel(job).unwrap();
    assert!(dispatch.is_cancelled(job) && !dispatch.is_cancelled(Id([8; 16])));
}

#[test]
fn within_a_process() {
    let now = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&now);
    let rules = Rules { patience: PATIENCE, window: 1000 };
    let dispatch = Local::new(rules, move || clock.load(Ordering::Relaxed));
    let pass = |time| {
        now.fetch_add(time, Ordering::Relaxed);
    };
    contract(&dispatch, "", PATIENCE, &pass, &|| {});
    // Work that was offered a short time before is not offered twice.
    dispatch.publish("", &work(5, 1)).unwrap();
    dispatch.publish("", &work(5, 1)).unwrap();
    assert!(dispatch.take().unwrap().is_some() && dispatch.take().unwrap().is_none());
}

#[test]
fn simulated_while_it_is_calm() {
    let network = Network::new(1);
    network.calm();
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(FileBlobs::new(folder.path()));
    let party = Party { network: Arc::clone(&network), who: 1, files };
    party.say(Alive { worker: worker(1), ..Alive::alone() });
    contract(&party, &worker(1), PATIENCE, &|time| network.pass(time), &|| {});
}
