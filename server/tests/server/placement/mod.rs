//! A front and its workers while nothing fails: who gets which job, who loads which keys, and what happens to a worker that leaves or
//! is silent for long.

mod cluster;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refloat_server::blobs::Blob;
use refloat_server::dispatch::{Dispatch, Done, Outcome};
use refloat_server::id::Id;
use refloat_server::store::jobs::{self, JobState};

use cluster::{Cluster, Faulty, HUNG, LEASE, STEP};

use super::support::engine::FINGERPRINT;

#[test]
fn keys_are_loaded_by_two_workers_at_most_unless_many_jobs_wait_for_them() {
    for workers in [2, 5] {
        let mut cluster = Cluster::new(workers, 1, 8);
        for job in 0..1000_u32 {
            cluster.submit((job.wrapping_mul(2_654_435_761) >> 29) as u8);
            if job % 2 == 1 {
                cluster.step();
            }
        }
        cluster.finish();
        assert_eq!((cluster.ran.len(), cluster.loads.len()), (1000, 8));
        for (key, by) in &cluster.loads {
            assert!(by.len() <= 2 && by.first() != by.get(1), "{key} was loaded by {by:?}");
        }
        let busy: Vec<usize> =
            (0..workers).map(|worker| cluster.ran.iter().filter(|(_, by)| *by == worker).count()).collect();
        assert!(busy.iter().all(|jobs| *jobs > 0) || workers > 2, "{busy:?}");
    }
    // 100 jobs at once, with keys that take as long to load as ten jobs: more workers load the keys.
    let mut cluster = Cluster::new(5, 1, 1);
    cluster.measured(1.0, 10.0);
    cluster.submit_some(0, 19);
    cluster.finish();
    assert_eq!(cluster.loads[&Id([0; 16])].len(), 2, "19 wait, and ten for each of two owners do not pay");
    cluster.measured(1.0, 10.0);
    cluster.submit_some(0, 100);
    cluster.finish();
    assert_eq!(cluster.loads[&Id([0; 16])].len(), 5);
}

#[test]
fn tenants_get_equal_shares_however_many_jobs_each_has() {
    let mut cluster = Cluster::new(2, 2, 8);
    for key in 0..8_u8 {
        cluster.submit_some(key, 20 + 10 * usize::from(key));
    }
    // For as long as every key set has waiting jobs.
    while cluster.ran.len() < 120 {
        cluster.step();
    }
    for key in 0..8 {
        let share = cluster.ran[..120].iter().filter(|(of, _)| *of == Id([key; 16])).count();
        assert!((14..=16).contains(&share), "key {key} has {share} of 120");
    }
}

#[test]
fn a_worker_that_leaves_ends_what_it_has_and_its_keys_go_to_another() {
    let mut cluster = Cluster::new(3, 1, 4);
    let jobs: Vec<Id> = (0..60).map(|job| cluster.submit(job % 4)).collect();
    (0..5).for_each(|_| cluster.step());
    cluster.front();
    let before = cluster.ran.len();
    // A worker that leaves does the job that it was given, and gets no other.
    cluster.hands[0].alive.lock().unwrap().slots = 0;
    cluster.front();
    let last = cluster.work(0);
    let (began, leaving) = (cluster.now.load(Ordering::Relaxed), cluster.ran.len());
    assert!(leaving - before == usize::from(last));
    cluster.finish();
    assert!(cluster.now.load(Ordering::Relaxed) - began < 20_000, "moved late");
    assert!(cluster.ran[leaving..].iter().all(|(_, by)| *by != 0));
    assert_eq!(cluster.ran.len(), 60, "a job was run twice");
    for job in jobs {
        let record = cluster.record(job);
        assert_eq!((record.state, record.attempts, record.crashes), (JobState::Done, 1, 0));
    }
}

#[test]
fn what_was_given_to_a_worker_that_died_before_it_began_goes_to_another() {
    let mut cluster = Cluster::new(2, 1, 1);
    let jobs = [cluster.submit(0), cluster.submit(0)];
    cluster.front();
    let died = cluster.hands.remove(0);
    cluster.now.fetch_add(LEASE / 4, Ordering::Relaxed);
    cluster.finish();
    assert!(cluster.now.load(Ordering::Relaxed) < LEASE);
    for job in jobs {
        let record = cluster.record(job);
        assert_eq!((record.state, record.crashes), (JobState::Done, 0));
    }
    // If the worker had only been silent, it would find that its attempt no longer counts.
    cluster.hands.push(died);
    cluster.work(1);
    cluster.finish();
    assert!(jobs.into_iter().all(|job| cluster.record(job).state == JobState::Done));
}

#[test]
fn a_report_that_nobody_hears_for_longer_than_the_lease_is_heard_in_the_end() {
    let mut cluster = Cluster::new(1, 1, 1);
    let (job, next) = (cluster.submit(0), cluster.submit(0));
    cluster.hands[0].mute.store(true, Ordering::Relaxed);
    for _ in 0..5 * LEASE / STEP {
        cluster.step();
    }
    // The job has run and is not run again; nothing else starts before its outcome is known.
    assert_eq!((cluster.record(job).state, cluster.ran.len()), (JobState::Running, 1));
    cluster.hands[0].mute.store(false, Ordering::Relaxed);
    cluster.finish();
    for job in [job, next] {
        let record = cluster.record(job);
        assert_eq!((record.state, record.attempts, record.crashes), (JobState::Done, 1, 0));
    }
    // Without signs of life it would be run again: then its worker counts as dead.
    let job = cluster.submit(0);
    cluster.hands[0].mute.store(true, Ordering::Relaxed);
    (0..2).for_each(|_| cluster.step());
    cluster.now.fetch_add(2 * LEASE, Ordering::Relaxed);
    cluster.local.signs().unwrap();
    cluster.front();
    assert_eq!((cluster.record(job).crashes, cluster.ran.len()), (1, 3));
}

/// Half a second, in which the only worker does one of the two jobs that it has, so that it is never without a job.
fn overlap(cluster: &mut Cluster) {
    cluster.front();
    assert!(cluster.work(0), "nothing to do after {} jobs", cluster.ran.len());
    cluster.sign(0);
    cluster.now.fetch_add(500, Ordering::Relaxed);
}

#[test]
fn keys_that_do_not_fit_beside_others_have_their_turn() {
    // Without turns there would never be memory for key 1.
    let mut cluster = Cluster::with_memory(1, 2, 2, 1500);
    cluster.submit_some(0, 80);
    let late = [cluster.submit(1), cluster.submit(1)];
    while cluster.ran.len() < 82 {
        overlap(&mut cluster);
    }
    cluster.front();
    // After ten seconds, twenty jobs.
    let first = cluster.ran.iter().position(|(key, _)| *key == Id([1; 16])).unwrap();
    assert!((18..30).contains(&first), "after {first} jobs");
    assert!(late.iter().all(|job| cluster.record(*job).state == JobState::Done));
    let loads = &cluster.loads;
    assert!(loads[&Id([0; 16])].len() <= 2 && loads[&Id([1; 16])].len() == 1, "{loads:?}");
}

#[test]
fn tenants_share_memory_that_is_for_one_of_them() {
    const JOBS: usize = 60;
    let mut cluster = Cluster::with_memory(1, 2, 3, 1500);
    for key in 0..3 {
        cluster.submit_some(key, JOBS);
    }
    while cluster.ran.len() < 3 * JOBS {
        overlap(&mut cluster);
    }
    let keys: Vec<u8> = cluster.ran.iter().map(|(key, _)| key.0[0]).collect();
    for key in 0..3 {
        let places: Vec<usize> = (0..keys.len()).filter(|place| keys[*place] == key).collect();
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        let longest = gaps.max().unwrap().max(places[0]);
        // The keys of each are in memory for ten seconds, which are twenty jobs; then come the two others.
        assert!(longest < 55, "key {key} waited for {longest} jobs");
    }
    let loads: usize = cluster.loads.values().map(Vec::len).sum();
    assert!(loads <= 10, "keys were loaded {loads} times for {} jobs", 3 * JOBS);
}

#[test]
fn memory_is_reckoned_by_what_keys_take_there() {
    for (bytes, memory, together) in [(3000, 5000, 1), (10, 25, 2), (30, 25, 0)] {
        let mut cluster = Cluster::new(1, 3, 3);
        {
            let mut alive = cluster.hands[0].alive.lock().unwrap();
            alive.key_bytes = memory;
            alive.sets = [(FINGERPRINT.to_owned(), bytes)].into();
        }
        for key in 0..3 {
            cluster.submit(key);
        }
        cluster.front();
        assert_eq!(cluster.queued(), 3 - together, "keys of {bytes} bytes in {memory}");
    }
}

#[test]
fn a_job_whose_run_hangs_goes_to_another_worker() {
    let mut cluster = Cluster::new(2, 1, 1);
    let job = cluster.submit(0);
    cluster.front();
    // One worker takes the job and its run hangs, while its process lives and says so.
    let taken = cluster.hands.iter().position(|hand| hand.take().unwrap().is_some()).unwrap();
    let other = 1 - taken;
    let second = |cluster: &mut Cluster| {
        cluster.front();
        cluster.work(other);
        (0..2).for_each(|index| cluster.sign(index));
        cluster.now.fetch_add(1000, Ordering::Relaxed);
    };
    for _ in 0..HUNG / 1000 {
        second(&mut cluster);
        let record = cluster.record(job);
        assert_eq!((record.state, record.attempts), (JobState::Running, 1));
    }
    assert_eq!((cluster.hands[taken].alive().hung, cluster.hands[taken].alive().slots), (1, 0));
    for _ in 0..2 * LEASE / 1000 {
        second(&mut cluster);
    }
    let record = cluster.record(job);
    assert_eq!((record.state, record.attempts, record.crashes), (JobState::Done, 2, 1));
    // The worker gets no other job, and its late report no longer counts.
    let next = cluster.submit(0);
    (0..3).for_each(|_| second(&mut cluster));
    assert_eq!(cluster.record(next).state, JobState::Done);
    let late = Done { job, attempt: 1, outcome: Outcome::Trouble("late".into()) };
    cluster.hands[taken].report(&late).unwrap();
    (0..3).for_each(|_| second(&mut cluster));
    assert_eq!((cluster.record(job).state, cluster.record(job).failures), (JobState::Done, 0));
    assert_eq!((cluster.hands[taken].alive().hung, cluster.hands[taken].alive().slots), (0, 1));
}

#[test]
fn what_a_worker_alone_finds_damaged_is_done_by_another() {
    let kinds: [fn(Blob) -> bool; 2] =
        [|blob| matches!(blob, Blob::Input(_)), |blob| matches!(blob, Blob::KeyPart(_, 1))];
    for is_damaged in kinds {
        let mut cluster = Cluster::new(3, 1, 1);
        let job = cluster.submit(0);
        cluster.front();
        // The worker that gets the job first.
        let first = {
            let given = cluster.hands.iter().position(|hand| {
                let work = hand.take().unwrap();
                work.inspect(|work| {
                    let stopped = Done { job: work.job, attempt: work.attempt, outcome: Outcome::Stopped };
                    hand.report(&stopped).unwrap();
                })
                .is_some()
            });
            given.unwrap()
        };
        let damaged = Faulty { blobs: Arc::clone(&cluster.blobs), full: Arc::default(), damaged: is_damaged };
        *cluster.hands[first].blobs.lock().unwrap() = Arc::new(damaged);
        cluster.finish();
        let record = cluster.record(job);
        assert_eq!((record.state, record.failures, record.crashes), (JobState::Done, 1, 0), "{record:?}");
        assert_eq!(cluster.ran.iter().map(|(_, by)| *by == first).collect::<Vec<_>>(), [true, false]);
        // Other jobs with these keys do not go to that worker for a while.
        let next = cluster.submit(0);
        cluster.finish();
        assert_eq!(cluster.record(next).failures, 0);
        // If there is no other worker, the job is tried there, and is not lost.
        let first = cluster.hands.remove(first);
        cluster.hands = vec![first];
        let last = cluster.submit(0);
        (0..10).for_each(|_| cluster.step());
        assert_eq!((cluster.record(last).state, cluster.record(last).failures), (JobState::Queued, 1));
        *cluster.hands[0].blobs.lock().unwrap() = Arc::clone(&cluster.blobs);
        cluster.finish();
        assert_eq!(cluster.record(last).state, JobState::Done);
    }
}

#[test]
fn many_jobs_that_wait_hold_up_nobody_and_nothing_is_forgotten() {
    let mut cluster = Cluster::new(2, 4, 3);
    cluster.submit_some(0, 300);
    let few: Vec<Id> = (0..10).map(|job| cluster.submit(1 + job % 2)).collect();
    let cancelled = cluster.submit(2);
    jobs::cancel(&cluster.service.store, cancelled).unwrap();
    while few.iter().any(|job| cluster.record(*job).state != JobState::Done) {
        cluster.step();
    }
    assert!(cluster.ran.len() < 60, "{} jobs went before", cluster.ran.len());
    cluster.finish();
    assert_eq!((cluster.ran.len(), cluster.record(cancelled).state), (310, JobState::Cancelled));
}

#[test]
fn keys_that_are_wanted_are_loaded_ahead_by_an_owner() {
    let mut cluster = Cluster::new(3, 1, 2);
    let key = Id([1; 16]);
    cluster.service.wakes.ask(key);
    (0..3).for_each(|_| cluster.step());
    assert_eq!((cluster.loads[&key].len(), cluster.service.wakes.wishes()), (1, Vec::new()));
    // Jobs go to that worker, and it does not load the keys again.
    for _ in 0..3 {
        cluster.submit(1);
        cluster.finish();
    }
    let by = cluster.loads[&key][0];
    assert!(cluster.loads[&key].len() == 1 && cluster.ran.iter().all(|(_, worker)| *worker == by));
    // If a worker has the keys, there is nothing to do.
    cluster.service.wakes.ask(key);
    let ran = cluster.ran.len();
    (0..3).for_each(|_| cluster.step());
    assert_eq!((cluster.ran.len(), cluster.service.wakes.wishes()), (ran, Vec::new()));
    // Keys that no longer exist are not asked for again; a request that is lost on the way is repeated.
    cluster.service.wakes.ask(Id([9; 16]));
    cluster.service.wakes.ask(Id([0; 16]));
    cluster.front();
    assert!(cluster.service.wakes.wishes().is_empty());
    cluster.hands.iter().for_each(|hand| drop(hand.local.take_as(&hand.alive().worker)));
    cluster.now.fetch_add(200_000, Ordering::Relaxed);
    cluster.service.wakes.ask(Id([0; 16]));
    (0..3).for_each(|_| cluster.step());
    assert_eq!(cluster.loads[&Id([0; 16])].len(), 1);
}

#[test]
fn a_worker_whose_disk_is_full_gives_its_jobs_back_and_takes_none_until_there_is_room() {
    let mut cluster = Cluster::new(2, 1, 1);
    let full = [true, false].map(|is_full| Arc::new(AtomicBool::new(is_full)));
    for (hand, full) in cluster.hands.iter().zip(&full) {
        *hand.blobs.lock().unwrap() = Arc::new(Faulty {
            blobs: Arc::clone(&cluster.blobs),
            full: Arc::clone(full),
            damaged: |_| false,
        });
    }
    let runs =
        |cluster: &Cluster| [0, 1].map(|hand| cluster.ran.iter().filter(|(_, by)| *by == hand).count());
    // Each worker gets one job.
    let jobs = [cluster.submit(0), cluster.submit(0)];
    cluster.step();
    assert_eq!(runs(&cluster), [1, 1]);
    let states = || cluster.hands.iter().map(|hand| (hand.alive().slots, hand.alive().storage_fails));
    assert_eq!(states().collect::<Vec<_>>(), [(0, true), (1, false)]);
    cluster.submit_some(0, 5);
    cluster.finish();
    assert_eq!(runs(&cluster), [1, 7]);
    for job in jobs {
        let record = cluster.record(job);
        assert_eq!((record.state, record.failures, record.crashes), (JobState::Done, 0, 0), "{record:?}");
    }
    // While all disks are full, a job waits without losing a try.
    full[1].store(true, Ordering::Relaxed);
    let waits = cluster.submit(0);
    (0..1000).for_each(|_| cluster.step());
    let record = cluster.record(waits);
    assert_eq!((record.state, record.failures, record.crashes), (JobState::Queued, 0, 0), "{record:?}");
    assert_eq!((runs(&cluster), cluster.metric("refloat_cluster_workers")), ([1, 8], 0));
    // A worker that has room again takes jobs again.
    for full in &full {
        full.store(false, Ordering::Relaxed);
    }
    cluster.submit_some(0, 3);
    cluster.finish();
    assert_eq!(cluster.record(waits).state, JobState::Done);
    assert!(runs(&cluster)[0] > 1 && runs(&cluster).iter().sum::<usize>() == 13, "{:?}", runs(&cluster));
}

#[test]
fn a_front_counts_its_workers_and_why_jobs_went_to_them() {
    let mut cluster = Cluster::new(5, 1, 1);
    cluster.measured(1.0, 10.0);
    cluster.submit_some(0, 100);
    // The second turn sees what the first handed out.
    (0..2).for_each(|_| cluster.front());
    let placed = |cluster: &Cluster| {
        ["warm", "owner", "overflow"]
            .map(|why| cluster.metric(&format!("refloat_cluster_jobs_placed_total{{name=\"{why}\"}}")))
    };
    let names = ["workers", "slots", "jobs_out", "jobs_taken_back_total"];
    let numbers = |cluster: &Cluster| names.map(|name| cluster.metric(&format!("refloat_cluster_{name}")));
    assert_eq!((placed(&cluster), numbers(&cluster)), ([0, 2, 3], [5, 5, 5, 0]));
    // One worker dies before it begins, and one takes no more jobs.
    cluster.hands.remove(0);
    cluster.hands[0].alive.lock().unwrap().slots = 0;
    cluster.now.fetch_add(LEASE / 4, Ordering::Relaxed);
    (0..2).for_each(|_| cluster.front());
    assert_eq!(numbers(&cluster), [3, 3, 4, 1]);
    cluster.work(0);
    cluster.finish();
    cluster.front();
    assert_eq!(numbers(&cluster), [3, 3, 0, 1]);
    assert_eq!(placed(&cluster).iter().sum::<usize>(), 101, "{:?}", placed(&cluster));
}
