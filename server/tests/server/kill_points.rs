//! A front and a worker that die before and after every single action for three jobs, while nothing else fails; and a job that kills
//! every worker that takes it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use refloat_server::store::jobs::{JobRecord, JobState};

use super::simulated::Point;
use super::simulation::{Case, Simulation};

const JOBS: usize = 3;
const CASE: Case = Case { seed: 0, max_attempts: 1000, poison: None, cancelled: Some(2) };

/// Three jobs from submission to end. A client that gets no answer asks again.
fn run(case: Case, point: Option<Point>) -> Simulation {
    let simulation = Simulation::new(case);
    simulation.network.calm();
    simulation.network.count(point);
    for index in 0..JOBS {
        while simulation.accepted.lock().unwrap().len() == index {
            simulation.submit(index);
            simulation.front();
        }
    }
    simulation.finish();
    simulation
}

/// How the jobs ended.
fn records(simulation: &Simulation) -> Vec<JobRecord> {
    simulation.accepted.lock().unwrap().iter().map(|job| job.last.clone().unwrap()).collect()
}

/// Lets one party die before and after each of its actions. Returns the names of these actions.
fn die_everywhere(who: usize) -> BTreeSet<&'static str> {
    let alive = run(CASE, None);
    let states: Vec<JobState> = records(&alive).iter().map(|record| record.state).collect();
    assert_eq!(states, [JobState::Done, JobState::Done, JobState::Cancelled]);
    let done = alive.network.done(who);
    for (number, name) in done.iter().enumerate() {
        for after in [false, true] {
            let point = Point { who, number, after };
            let ran = catch_unwind(AssertUnwindSafe(|| run(CASE, Some(point))));
            let simulation = ran.unwrap_or_else(|why| {
                eprintln!("dies at {name:?}: {point:?}");
                resume_unwind(why)
            });
            assert_eq!(
                simulation.network.done(who)[..=number],
                done[..=number],
                "another course before {point:?}"
            );
            let records = records(&simulation);
            assert!(
                records.len() == JOBS && records[..2].iter().all(|record| record.state == JobState::Done),
                "{name}, {point:?}: {records:?}"
            );
            // A single death ends at most one attempt.
            assert!(
                records.iter().all(|record| record.crashes <= 1 && record.failures == 0),
                "{point:?}: {records:?}"
            );
        }
    }
    println!("{} deaths at {} operations", 2 * done.len(), done.len());
    done.into_iter().collect()
}

#[test]
fn a_front_may_die_at_everything_that_it_does() {
    let names = die_everywhere(0);
    let all = [
        "ask for reports",
        "ask for signs",
        "ask to stop",
        "change the table",
        "drop a report",
        "hand out an attempt",
        "look at a result",
    ];
    assert_eq!(names, all.into());
}

#[test]
fn a_worker_may_die_at_everything_that_it_does() {
    let mut names = BTreeSet::new();
    for who in 1..=3 {
        names.extend(die_everywhere(who));
    }
    let all = [
        "give a sign",
        "read a piece of keys",
        "read an input",
        "report",
        "store a result",
        "take an attempt",
    ];
    assert_eq!(names, all.into());
}

#[test]
fn a_job_that_kills_every_worker_is_given_up_after_three_and_no_other_suffers() {
    let simulation = run(Case { max_attempts: 3, poison: Some(1), cancelled: None, ..CASE }, None);
    let records = records(&simulation);
    let code = |record: &JobRecord| record.problem.as_ref().map(|problem| problem.code.clone());
    let found: Vec<_> = records.iter().map(|record| (record.state, code(record))).collect();
    let done = (JobState::Done, None);
    assert_eq!(found, [done.clone(), (JobState::Failed, Some("INTERRUPTED".to_owned())), done]);
    assert_eq!(records.iter().map(|record| record.crashes).collect::<Vec<_>>(), [0, 2, 0]);
    assert_eq!(records[1].attempts, 3);
}
