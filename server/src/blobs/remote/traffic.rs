//! Which objects are being uploaded and which removed: never both at once.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use object_store::path::Path;

/// Objects that are being uploaded or removed.
#[derive(Default)]
pub struct Traffic {
    state: Mutex<State>,
    removed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many uploads of each object are under way, or done and not yet recorded.
    uploads: HashMap<Path, usize>,
    removals: HashSet<Path>,
}

impl Traffic {
    /// Begins an upload, once the object is not being removed.
    pub fn upload(&self, location: Path) -> Uploading<'_> {
        let mut state = self.state();
        while state.removals.contains(&location) {
            state = self.removed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state.uploads.entry(location.clone()).or_default() += 1;
        Uploading { traffic: self, location }
    }

    /// Begins to remove those of `locations` that nobody else uploads or removes.
    pub fn remove(&self, locations: Vec<Path>) -> Removing<'_> {
        let mut state = self.state();
        let mut taken = HashSet::new();
        for location in locations {
            if !state.uploads.contains_key(&location) && state.removals.insert(location.clone()) {
                taken.insert(location);
            }
        }
        Removing { traffic: self, locations: taken }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object that nobody removes before this is dropped.
pub struct Uploading<'a> {
    traffic: &'a Traffic,
    location: Path,
}

impl Drop for Uploading<'_> {
    fn drop(&mut self) {
        let mut state = self.traffic.state();
        if let Some(uploads) = state.uploads.get_mut(&self.location) {
            *uploads -= 1;
            if *uploads == 0 {
                state.uploads.remove(&self.location);
            }
        }
    }
}

/// Objects that nobody uploads before this is dropped.
pub struct Removing<'a> {
    traffic: &'a Traffic,
    locations: HashSet<Path>,
}

impl Removing<'_> {
    /// Whether an object is one of them.
    pub fn has(&self, location: &Path) -> bool {
        self.locations.contains(location)
    }
}

impl Drop for Removing<'_> {
    fn drop(&mut self) {
        let mut state = self.traffic.state();
        for location in &self.locations {
            state.removals.remove(location);
        }
        drop(state);
        self.traffic.removed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn an_object_is_never_uploaded_and_removed_at_once() {
        let traffic = Traffic::default();
        let [one, two] = ["one", "two"].map(Path::from);
        let (first, second) = (traffic.upload(one.clone()), traffic.upload(one.clone()));
        assert!(!traffic.remove(vec![one.clone()]).has(&one));
        drop(first);
        let removing = traffic.remove(vec![one.clone(), two.clone()]);
        assert!(!removing.has(&one) && removing.has(&two));
        drop(second);
        assert!(!traffic.remove(vec![two.clone()]).has(&two), "it is being removed already");
        // An upload waits for the end of a removal, and for that alone.
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let _uploading = traffic.upload(two.clone());
                assert!(done.load(Ordering::SeqCst));
            });
            drop(traffic.upload(one.clone()));
            done.store(true, Ordering::SeqCst);
            drop(removing);
            waiting.join().unwrap();
        });
        assert!(traffic.remove(vec![one.clone()]).has(&one));
    }
}
