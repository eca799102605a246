//! The 128-bit sets for BGV bootstrapping, end to end and timed: a minute and 5 GB of memory for integers in slots of `bgv15`, minutes
//! and 10 GB for those of `bgv16-786433` and for elements of fields.
//!
//! `cargo test --profile quick -p refloat-tests --test bgv full_size::bgv15 -- --ignored --nocapture`, and `full_size::bgv16_gf4`,
//! `full_size::bgv16_786433` and `full_size::v_a_128`

use std::fs;
use std::ops::ControlFlow;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::bootstrapping::bgv::{
    BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvSecretKey, published_sets,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::rns::Lottery;

/// Seconds on the clock, and of all threads on a processor: other processes add to the first alone.
#[derive(Clone, Copy)]
struct Times([f64; 2]);

impl Times {
    fn now(start: Instant) -> Self {
        // Nanoseconds on a processor are the first number of each thread's schedstat.
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let spent = |text: String| text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        let busy: f64 = threads
            .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok().and_then(spent))
            .sum();
        Self([start.elapsed().as_secs_f64(), busy * 1e-9])
    }

    fn since(self, other: Self) -> Self {
        Self([self.0[0] - other.0[0], self.0[1] - other.0[1]])
    }

    /// The smaller of each.
    fn least(self, other: Self) -> Self {
        Self([self.0[0].min(other.0[0]), self.0[1].min(other.0[1])])
    }
}

/// The least times of each stage over all runs.
struct Stages {
    start: Instant,
    begin: Times,
    least: Vec<(&'static str, Times, u64, u64)>,
}

impl Observer for Stages {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        match event {
            StageEvent::Enter { .. } => self.begin = Times::now(self.start),
            StageEvent::Exit { stage, counters, .. } => {
                let took = Times::now(self.start).since(self.begin);
                match self.least.iter_mut().find(|(id, ..)| id == stage) {
                    Some((_, least, ..)) => *least = least.least(took),
                    None => self.least.push((*stage, took, counters.key_switch, counters.ntt)),
                }
            }
            _ => (),
        }
        ControlFlow::Continue(())
    }
}

struct Machine {
    pool: ThreadPool,
    stages: Stages,
    whole: Option<Times>,
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

/// Squares to the last level, a random sum, and a bootstrap, against the clear result.
fn round(
    (params, secret, keys): (&BgvParams, &BgvSecretKey, &BgvKeys<u64>),
    bootstrapper: &BgvBootstrapper,
    (x, message): (&mut BgvCiphertext<u64>, &mut Vec<u64>),
    machine: &mut Machine,
    lottery: &mut Lottery,
) {
    let ring = params.messages();
    while x.level() > params.levels().input {
        *x = bootstrapper.multiply(x, x, keys).expect("room");
        let encoder = params.context().message_modulus().encoder();
        *message = encoder.multiply(message, message).expect("all slots");
    }
    // The group of units has order 2^16: squares alone go to 1.
    let shift: Vec<u64> = (0..params.n()).map(|_| lottery.word() % ring.value()).collect();
    *x = bootstrapper.bgv().add_plain(x, &shift).expect("room");
    for (m, &s) in message.iter_mut().zip(&shift) {
        *m = ring.add(*m, s);
    }
    let (pool, stages) = (&machine.pool, &mut machine.stages);
    let begin = Times::now(stages.start);
    *x = pool.install(|| bootstrapper.bootstrap(x, keys, stages)).expect("an input");
    let took = Times::now(machine.stages.start).since(begin);
    machine.whole = Some(machine.whole.map_or(took, |least| least.least(took)));
    let found = secret.decrypt(x).expect("our own");
    let wrong =
        found.reveal_to_key_owner().iter().zip(message.iter()).filter(|(found, m)| found != m).count();
    println!(
        "{} thread(s): {:.3} s, {:.3} s on processors, {wrong} of {} integers wrong, capacity {:.1} bits, load {}",
        machine.pool.current_num_threads(),
        took.0[0],
        took.0[1],
        message.len(),
        x.capacity(),
        load()
    );
    assert_eq!(wrong, 0);
    // Noise of twice a rounding at most, below the modulus of the output.
    let (context, p) = (params.context(), ring.value() as f64);
    let promised =
        context.rlwe().q(params.levels().output).log2() - (4.0 * p * context.noise().rounding()).log2();
    assert!(x.capacity() >= promised, "{} bits of {promised}", x.capacity());
}

#[test]
#[ignore = "a minute, and 5 GB of memory"]
fn bgv15_is_exact_through_chained_bootstraps() {
    chain(BgvPreset::named("bgv15").expect("a set"), 7);
}

#[test]
#[ignore = "minutes, and 10 GB of memory"]
fn bgv16_gf4_is_exact_through_chained_bootstraps() {
    chain(BgvPreset::named("bgv16-gf4").expect("a set"), 3);
}

#[test]
#[ignore = "minutes, and 10 GB of memory"]
fn bgv16_786433_is_exact_through_chained_bootstraps() {
    chain(BgvPreset::named("bgv16-786433").expect("a set"), 3);
}

/// A set of odd index, whose largest digits are bounded and not computed.
#[test]
#[ignore = "minutes, and 10 GB of memory"]
fn v_a_128_is_exact_through_chained_bootstraps() {
    chain(published_sets().iter().find(|set| set.name == "V-A-128").expect("a set"), 3);
}

/// Bootstraps one after the other, `runs` on one thread and `runs` on two.
fn chain(preset: &BgvPreset, runs: usize) {
    let params = preset.params().expect("a sound set");
    println!("{}", params.security().statement);
    println!(
        "log2 QP {:.2}, log2 q0 R {:.2}, failure 2^{:.1}, {} levels of products, keys of {} bytes on the wire",
        params.log_qp(),
        params.log_q0_p(),
        params.log2_failure(),
        params.levels().left(),
        params.key_bytes()
    );
    assert!(params.log2_failure() <= preset.promised, "{}", params.log2_failure());
    let begin = Instant::now();
    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
    println!("diagonals: {:.2} s, {} bytes", begin.elapsed().as_secs_f64(), bootstrapper.memory_bytes());
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([40; 32]));
    let begin = Instant::now();
    let keys = BgvKeys::generate(&secret).expect("keys");
    println!("keys: {:.2} s, {} bytes", begin.elapsed().as_secs_f64(), keys.memory_bytes());
    let mut lottery = Lottery::new(0);
    let mut message: Vec<u64> = (0..params.n()).map(|_| lottery.word() % params.messages().value()).collect();
    let randomness = Seed::from_bytes([50; 32]);
    let mut x = secret.encrypt(&message, params.levels().output, &randomness).expect("reduced");
    let mut machines = [1, 2].map(|threads| {
        let start = Instant::now();
        Machine {
            pool: ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"),
            stages: Stages { start, begin: Times([0.0; 2]), least: Vec::new() },
            whole: None,
        }
    });
    // In turns, so that both see the same load.
    for _ in 0..runs {
        for machine in &mut machines {
            let set = (&params, &secret, &keys);
            round(set, &bootstrapper, (&mut x, &mut message), machine, &mut lottery);
        }
    }
    for machine in &machines {
        let threads = machine.pool.current_num_threads();
        let Times([clock, busy]) = machine.whole.expect("a run");
        println!("{threads} thread(s), the least of {runs}: {clock:.3} s, {busy:.3} s on processors");
        for (stage, Times([clock, busy]), switches, transforms) in &machine.stages.least {
            println!(
                "  {stage}: {clock:.3} s, {busy:.3} s on processors, {switches} key switches, {transforms} transforms"
            );
        }
    }
}
