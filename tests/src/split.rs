//! Drives runs whose work is shared, one task after the other.

use std::collections::BTreeMap;

use refloat::Error;
use refloat::bootstrapping::method::{Helper, Split};
use refloat::trace::Observer;

/// Steps a run to its end. Of the tasks that it offers, the last ones first, some are computed by a helper that takes bytes and
/// answers with bytes, some by a second helper because the answer of the first was lost, and some by the run ahead of their turn;
/// some are left to the step. On the way, bytes that do not belong are refused. `start` makes a helper from a brief, with the secret
/// key where the tasks ask for it. Returns how many answers were taken in.
///
/// # Panics
/// If the run fails, or takes what does not belong.
pub fn drive<K: ?Sized, H: Helper>(
    run: &mut impl Split<K>,
    keys: &K,
    observer: &mut dyn Observer,
    start: impl Fn(&[u8], bool) -> Result<H, Error>,
) -> usize {
    let (mut supplied, mut helpers, mut results) = (0, None, BTreeMap::<usize, Vec<u8>>::new());
    loop {
        let tasks = run.tasks();
        if let Some(tasks) = tasks {
            let [first, second] = helpers.get_or_insert_with(|| {
                let brief = run.brief(keys, observer).expect("a brief");
                for bad in [&brief[1..], &brief[..brief.len() - 1], &[]] {
                    assert!(start(bad, true).is_err(), "a brief that is cut is refused");
                }
                assert!(!tasks.secret || start(&brief, false).is_err(), "a helper needs the secret key");
                results.clear();
                [0, 1].map(|_| start(&brief, tasks.secret).expect("a helper"))
            });
            for task in (tasks.next..tasks.next + tasks.per_step).rev() {
                let needed: Vec<u8> = run.needs(task).iter().flat_map(|task| results[task].clone()).collect();
                match task % 4 {
                    0 | 1 => {
                        let lost = first.compute(task, &needed).expect("a result");
                        let result = if task % 4 == 0 {
                            lost
                        } else {
                            second.compute(task, &needed).expect("a result")
                        };
                        for helper in [&mut *first, &mut *second] {
                            assert!(helper.compute(tasks.total, &needed).is_err(), "there is no such task");
                        }
                        assert!(run.supply(tasks.total, &result).is_err(), "there is no such task");
                        for bad in [&result[1..], &result[..result.len() - 1], &[]] {
                            assert!(run.supply(task, bad).is_err(), "a result that is cut is refused");
                        }
                        run.supply(task, &result).expect("a result that is taken in");
                        results.insert(task, result);
                        supplied += 1;
                    }
                    2 => run.ahead(keys, task).expect("a task ahead of its turn"),
                    _ => {}
                }
            }
        } else {
            helpers = None;
        }
        let finished = run.step(keys, observer).expect("a step");
        for task in tasks.map_or(0..0, |tasks| tasks.next..tasks.next + tasks.per_step) {
            if let Some(result) = run.result(task) {
                results.insert(task, result);
            }
        }
        if finished {
            assert_eq!(run.tasks(), None);
            assert!(run.brief(keys, observer).is_err(), "a finished run has no tasks");
            return supplied;
        }
    }
}
