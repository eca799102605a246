//! Evaluation keys that do not fit in memory: read from their files in the order in which a bootstrap uses them, ahead of the use,
//! and dropped after it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalKeys, ConventionalParams, Direction, KeySource, SwitchingKeyId,
};
use refloat::rlwe::{Automorphism, GaloisElement, GaloisSource, HeldKey, SampleBlock};

use crate::engine::PartReader;

/// Keys in files; only a few are in memory at a time.
///
/// They are meant for one run at a time: two that disturb each other's place in the order get the right keys, but slowly.
pub struct StreamedKeys {
    shared: Arc<Shared>,
    automorphisms: BTreeMap<GaloisElement, (Automorphism, SwitchingKeyId)>,
    reader: Option<JoinHandle<()>>,
}

/// What a run and the thread that reads ahead of it have in common.
struct Shared {
    params: ConventionalParams,
    key: [u8; 16],
    read: PartReader,
    /// The keys of a bootstrap in order; after the last comes the first again.
    order: Vec<SwitchingKeyId>,
    budget: u64,
    state: Mutex<State>,
    changed: Condvar,
}

type Key = SampleBlock<u64>;

#[derive(Default)]
struct State {
    /// Place in the order of the key that is asked for next.
    at: usize,
    /// Keys that were read and not asked for yet: those of the order from `at` on.
    ahead: VecDeque<Arc<Key>>,
    /// The key that is being read.
    reading: Option<SwitchingKeyId>,
    /// Goes up when a run leaves the order: what is being read then is not wanted any more.
    turn: u64,
    /// Keys that were handed out.
    held: Vec<(SwitchingKeyId, Weak<Key>)>,
    /// Runs that wait for a key.
    waiting: usize,
    /// Why the key after those read ahead could not be read.
    failure: Option<Error>,
    /// The most bytes of keys there have been at once.
    peak: u64,
    /// Whether nobody wants keys, or nobody reads them, any more.
    stop: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, at: usize) -> SwitchingKeyId {
        self.order[at % self.order.len()]
    }

    /// Bytes of all keys in memory.
    fn bytes(&self, state: &State) -> u64 {
        let ahead = (state.at..).map(|at| self.place(at)).take(state.ahead.len());
        let held = state.held.iter().filter(|(_, key)| key.strong_count() > 0).map(|&(id, _)| id);
        ahead.chain(held).chain(state.reading).map(|id| self.params.switching_key_bytes(id)).sum()
    }

    /// The key to be read now, if any.
    fn next_to_read(&self, state: &State) -> Option<SwitchingKeyId> {
        let id = self.place(state.at + state.ahead.len());
        let fits = self.bytes(state) + self.params.switching_key_bytes(id) <= self.budget;
        // A run that waits has dropped all keys that it could.
        let must = state.waiting > 0 && state.ahead.is_empty();
        let wanted = state.failure.is_none() && state.ahead.len() < self.order.len();
        (wanted && (fits || must)).then_some(id)
    }

    fn read_key(&self, id: SwitchingKeyId) -> Result<Key, Error> {
        let mut builder = ConventionalKeys::builder(&self.params, self.key);
        for part in self.params.key_parts().iter().filter(|part| part.key == id) {
            let unread = |error: &dyn std::fmt::Display| {
                Error::MissingKey(format!(
                    "part {} of the keys ({}) cannot be read: {error}; upload the keys again",
                    part.index, part.label
                ))
            };
            let bytes = (self.read)(part.index).map_err(|error| unread(&error))?;
            builder.add(part.index, &bytes).map_err(|error| unread(&error))?;
        }
        builder.finish_key(id)
    }

    /// Reads ahead until told to stop.
    fn read_ahead(&self) {
        let mut state = self.lock();
        while !state.stop {
            let Some(id) = self.next_to_read(&state) else {
                state = self.wait(state);
                continue;
            };
            state.reading = Some(id);
            state.peak = state.peak.max(self.bytes(&state));
            let turn = state.turn;
            drop(state);
            let read = self.read_key(id);
            state = self.lock();
            state.reading = None;
            if turn == state.turn {
                match read {
                    Ok(key) => state.ahead.push_back(Arc::new(key)),
                    Err(error) => state.failure = Some(error),
                }
            }
            self.changed.notify_all();
        }
    }

    /// A key for the evaluator: the next in order, one that it holds already, or one to go on from in the order.
    fn get(&self, id: SwitchingKeyId) -> Result<Arc<Key>, Error> {
        let mut state = self.lock();
        if state.ahead.is_empty() {
            // It is tried again: the file may have been mended.
            state.failure = None;
        }
        loop {
            // Another run may have left the order meanwhile.
            if self.place(state.at) != id {
                let mut held = state.held.iter().filter(|(held, _)| *held == id);
                if let Some(key) = held.find_map(|(_, key)| key.upgrade()) {
                    return Ok(key);
                }
                self.go_to(&mut state, id)?;
            }
            if let Some(key) = state.ahead.pop_front() {
                state.at = (state.at + 1) % self.order.len();
                state.held.retain(|(_, held)| held.strong_count() > 0);
                state.held.push((id, Arc::downgrade(&key)));
                self.changed.notify_all();
                return Ok(key);
            }
            if let Some(error) = state.failure.take() {
                return Err(error);
            }
            if state.stop {
                return Err(Error::MissingKey(
                    "the thread that reads keys has ended; start the job again".into(),
                ));
            }
            state.waiting += 1;
            self.changed.notify_all();
            state = self.wait(state);
            state.waiting -= 1;
        }
    }

    /// Goes on in the order from the key `id`: at the beginning if the order begins with it, or else at the next place that has it.
    fn go_to(&self, state: &mut State, id: SwitchingKeyId) -> Result<(), Error> {
        let count = self.order.len();
        let steps = if self.place(0) == id { Some(count - state.at) } else { None };
        let steps = steps.or_else(|| (0..count).find(|&steps| self.place(state.at + steps) == id));
        let Some(steps) = steps else {
            return Err(Error::MissingKey(format!(
                "{} has no switching key {id:?}; ask for one of its own",
                self.params.name()
            )));
        };
        if steps <= state.ahead.len() {
            state.ahead.drain(..steps);
        } else {
            state.ahead.clear();
            state.turn += 1;
        }
        state.failure = None;
        state.at = (state.at + steps) % count;
        Ok(())
    }
}

/// Sees to it that nobody waits for the thread that reads after its end, however it ends.
struct Reader(Arc<Shared>);

impl Reader {
    fn run(self) {
        self.0.read_ahead();
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.changed.notify_all();
    }
}

impl StreamedKeys {
    /// Keys of a set in files that `read` reads; at most `budget` bytes of them are in memory at a time. They are expanded on as many
    /// threads as the caller's pool has.
    ///
    /// # Errors
    /// [`Error::Limit`] if `budget` is less than one bootstrap has to hold at once.
    pub fn new(
        params: &ConventionalParams,
        key: [u8; 16],
        budget: u64,
        read: PartReader,
    ) -> Result<Self, Error> {
        let least = params.least_key_bytes()?;
        if budget < least {
            return Err(Error::Limit(format!(
                "keys of {} that are read as they are used take {least} bytes of memory, {budget} are set aside; give more",
                params.name()
            )));
        }
        let shared = Arc::new(Shared {
            params: params.clone(),
            key,
            read,
            order: params.key_order()?.concat(),
            budget,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let automorphism = |(element, level)| {
            (element, (Automorphism::new(params.n(), element), SwitchingKeyId::Galois { element, level }))
        };
        let pool = ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads())
            .build()
            .map_err(|error| no_threads(&error))?;
        let ahead = Reader(Arc::clone(&shared));
        let reader = std::thread::Builder::new()
            .name("keys".into())
            .spawn(move || pool.install(|| ahead.run()))
            .map_err(|error| no_threads(&error))?;
        Ok(Self {
            automorphisms: params.galois_elements().map(automorphism).collect(),
            shared,
            reader: Some(reader),
        })
    }

    /// The most bytes of keys that were in memory at once.
    pub fn peak_bytes(&self) -> u64 {
        self.shared.lock().peak
    }

    fn key(&self, id: SwitchingKeyId) -> Result<HeldKey<'_, u64>, Error> {
        self.shared.get(id).map(HeldKey::Fetched)
    }
}

fn no_threads(error: &dyn std::fmt::Display) -> Error {
    Error::Limit(format!("no threads to read keys: {error}; raise the limit of threads of this process"))
}

impl Drop for StreamedKeys {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_all();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl GaloisSource<u64> for StreamedKeys {
    fn n(&self) -> usize {
        self.shared.params.n()
    }

    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, u64>), Error> {
        let (automorphism, id) = self.automorphisms.get(&element).ok_or_else(|| {
            Error::MissingKey(format!(
                "no Galois key of element {} among those of {}; give the rotation to the set",
                element.value(),
                self.shared.params.name()
            ))
        })?;
        Ok((automorphism, self.key(*id)?))
    }
}

impl KeySource<u64> for StreamedKeys {
    fn key_id(&self) -> [u8; 16] {
        self.shared.key
    }

    fn relinearization_key(&self) -> Result<HeldKey<'_, u64>, Error> {
        self.key(SwitchingKeyId::Relinearization)
    }

    fn ephemeral_key(&self, direction: Direction) -> Result<HeldKey<'_, u64>, Error> {
        self.key(direction.into())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use refloat::bootstrapping::ckks_conventional::{
        ConventionalBootstrapper, ConventionalEvaluator, ConventionalSecretKey, EVAL_MOD,
    };
    use refloat::bootstrapping::{MetaBootstrapper, Method};
    use refloat::circuits::linear_transform::PlaintextStorage;
    use refloat::params::conventional_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::{Ciphertext, Complex};
    use refloat::trace::{Observer, StageEvent};

    use super::*;

    struct Setup {
        secret: ConventionalSecretKey,
        resident: ConventionalKeys,
        evaluator: ConventionalEvaluator,
        input: Ciphertext<u64>,
        parts: Arc<Vec<Vec<u8>>>,
    }

    impl Setup {
        fn new(name: &str) -> Self {
            let params: ConventionalParams = conventional_preset(name).unwrap().params().unwrap();
            let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
            let values: Vec<Complex> =
                (0..params.slots()).map(|i| Complex::new((i as f64).sin(), 0.25)).collect();
            let input = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([2; 32])).unwrap();
            let parts = (0..params.key_parts().len()).map(|index| secret.key_part(index).unwrap()).collect();
            Self {
                resident: ConventionalKeys::generate(&secret).unwrap(),
                evaluator: ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap(),
                parts: Arc::new(parts),
                secret,
                input,
            }
        }

        fn params(&self) -> &ConventionalParams {
            self.secret.params()
        }

        /// Keys in at most `budget` bytes, with the number of reads.
        fn streamed(&self, budget: u64) -> (StreamedKeys, Arc<AtomicUsize>) {
            let (parts, reads) = (Arc::clone(&self.parts), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&reads);
            let read = Arc::new(move |index: usize| {
                count.fetch_add(1, Ordering::Relaxed);
                Ok(parts[index].clone())
            });
            (StreamedKeys::new(self.params(), self.secret.key_id(), budget, read).unwrap(), reads)
        }

        fn bootstrap(&self, keys: &dyn KeySource<u64>) -> Result<Ciphertext<u64>, Error> {
            self.evaluator.bootstrap(&self.input, keys, &mut ())
        }
    }

    const SETS: [&str; 4] = [
        "toy-conventional11",
        "toy-conventional10-sparse",
        "toy-conventional10-slots-first",
        "toy-conventional10-50bit",
    ];

    fn same(x: &Ciphertext<u64>, y: &Ciphertext<u64>) -> bool {
        x.parts().iter().zip(y.parts()).all(|(a, b)| a.data() == b.data())
    }

    #[test]
    fn the_bits_are_those_of_keys_in_memory_in_the_least_of_it() {
        for name in SETS {
            let setup = Setup::new(name);
            let expected = setup.bootstrap(&setup.resident).unwrap();
            let (least, all) =
                (setup.params().least_key_bytes().unwrap(), setup.params().expanded_key_bytes());
            assert!(2 * least < all, "{name}: {least} of {all}");
            let order = setup.params().key_order().unwrap().concat();
            let parts_of = |id| setup.params().key_parts().iter().filter(|part| part.key == id).count();
            let parts: usize = order.iter().map(|&id| parts_of(id)).sum();
            for (budget, threads) in [(least, 1), (u64::midpoint(least, all), 2)] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (keys, reads) = pool.install(|| setup.streamed(budget));
                for run in 1..=3 {
                    let found = pool.install(|| setup.bootstrap(&keys)).unwrap();
                    assert!(same(&found, &expected), "{name}");
                    assert!(keys.peak_bytes() <= budget, "{name}: {} of {budget} bytes", keys.peak_bytes());
                    // Every key once for each use, and some of the next run: none out of order.
                    let reads = reads.load(Ordering::Relaxed);
                    assert!(
                        (run * parts..=(run + 1) * parts).contains(&reads),
                        "{name}: {reads} reads, {parts} parts"
                    );
                }
            }
        }
    }

    #[test]
    fn runs_that_end_early_rounds_and_products_find_their_keys() {
        struct Stop;
        impl Observer for Stop {
            fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
                if event.stage() == EVAL_MOD { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        }
        for name in SETS {
            let setup = Setup::new(name);
            let (keys, _) = setup.streamed(setup.params().least_key_bytes().unwrap());
            for _ in 0..3 {
                let stopped = setup.evaluator.bootstrap(&setup.input, &keys, &mut Stop).unwrap_err();
                assert_eq!(stopped.code(), "ABORTED");
            }
            let fresh = setup.bootstrap(&keys).unwrap();
            assert!(same(&fresh, &setup.bootstrap(&setup.resident).unwrap()), "{name}");
            let square = setup.evaluator.multiply(&fresh, &fresh, &keys).unwrap();
            assert!(
                same(&square, &setup.evaluator.multiply(&fresh, &fresh, &setup.resident).unwrap()),
                "{name}"
            );
            let rounds = |keys| {
                let method = ConventionalBootstrapper { evaluator: &setup.evaluator, keys };
                MetaBootstrapper::new(&method, 2, 8).unwrap().bootstrap(&setup.input, &mut ()).unwrap()
            };
            assert!(same(&rounds(&keys), &rounds(&setup.resident)), "{name}");
        }
    }

    #[test]
    fn two_runs_at_once_get_their_own_keys() {
        let setup = Setup::new("toy-conventional10-sparse");
        let expected = setup.bootstrap(&setup.resident).unwrap();
        let (keys, _) = setup.streamed(setup.params().least_key_bytes().unwrap());
        std::thread::scope(|scope| {
            let runs = [(); 2].map(|()| scope.spawn(|| setup.bootstrap(&keys).unwrap()));
            for run in runs {
                assert!(same(&run.join().unwrap(), &expected));
            }
        });
    }

    #[test]
    fn unreadable_and_damaged_files_are_named_and_a_later_run_may_succeed() {
        let setup = Setup::new("toy-conventional10-sparse");
        let (parts, broken) = (Arc::clone(&setup.parts), Arc::new(AtomicBool::new(true)));
        let (damaged, last) = (Arc::clone(&broken), parts.len() - 1);
        let read = Arc::new(move |index: usize| {
            let mut bytes = parts[index].clone();
            if index == last && damaged.load(Ordering::Relaxed) {
                return Err(std::io::Error::other("the disk is gone"));
            }
            if index == 0 && damaged.load(Ordering::Relaxed) {
                let at = bytes.len() - 1;
                bytes[at] ^= 1;
            }
            Ok(bytes)
        });
        let least = setup.params().least_key_bytes().unwrap();
        let keys = StreamedKeys::new(setup.params(), setup.secret.key_id(), least, read).unwrap();
        for _ in 0..3 {
            let error = setup.bootstrap(&keys).err().unwrap();
            assert!(error.code() == "MISSING_KEY" && error.to_string().contains("cannot be read"), "{error}");
        }
        broken.store(false, Ordering::Relaxed);
        let expected = setup.bootstrap(&setup.resident).unwrap();
        assert!(same(&setup.bootstrap(&keys).unwrap(), &expected));
        let (read, id) = (Arc::new(|_: usize| Ok(Vec::new())), setup.secret.key_id());
        let refused = StreamedKeys::new(setup.params(), id, least - 1, read).err().unwrap();
        assert!(refused.code() == "LIMIT" && refused.to_string().contains(&least.to_string()), "{refused}");
    }
}
