//! A new method is a folder and a line in the registry. This one, a CKKS method that returns ciphertexts as they are, is listed, makes
//! keys, encrypts, runs here and on a server, and decrypts, while no other code knows of it.

use super::support;

use refloat::Error;
use refloat::bootstrapping::Method;
use refloat::bootstrapping::method::{
    Catalogue, Messages, MethodInfo, NumberSecret, NumberSet, ParamSet, Part, Preset, Promise, Scheme,
    SetInfo, SetSpec, SlotMode, Stage,
};
use refloat::circuits::program::Target;
use refloat::random::Seed;
use refloat::rlwe::{KeySeeds, RlweContext, RlweSpec, SecretKey};
use refloat::schemes::ckks::{
    Ciphertext, CkksContext, CkksEvaluator, Complex, MainSecret, Private, Scale, decrypt_slots, key_set_id,
};
use refloat::security::{SecretDistribution, SecurityPolicy};
use refloat::trace::{Counters, Observer, StageEvent, StageInfo, emit};
use refloat::wire::{self, CkksSet, ObjectKind, SeededSecret, SeededSet};
use refloat_server::ckks_jobs::{CkksJobs, CkksMethod};
use refloat_server::engine::{JobSet, LoadError, ReadPart};
use refloat_server::id::Id;
use refloat_server::registry::{Registered, Registry, SetFilter, Sets};
use serde_json::json;
use support::process::open_keys;
use support::registered::{self, is_command};
use zeroize::Zeroizing;

// The folder: a set with one level, a secret key, one empty key piece, and a stage that does nothing.

const METHOD: MethodInfo = MethodInfo { id: "sample", title: "The sample method", source: "none" };
const COPY: StageInfo = StageInfo { id: "copy", title: "Copy", symbol: "x", levels: 0 };

struct Spec(RlweSpec);

static SETS: Catalogue<Spec> = Catalogue {
    current: &[Preset {
        name: "toy-sample10",
        title: "INSECURE demonstration size",
        policy: SecurityPolicy::InsecureForTests,
        promised: (),
        source: "none",
        spec: || {
            Spec(RlweSpec {
                n: 1024,
                odd_part: 1,
                levels: vec![vec![1_125_899_906_856_961], vec![1_125_899_906_949_121]],
                special: vec![1_125_899_906_977_793],
                digits: vec![vec![0], vec![1]],
                secret: SecretDistribution::Ternary,
                policy: SecurityPolicy::InsecureForTests,
            })
        },
    }],
    retired: &[],
};

impl SetSpec for Spec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "sample set";
    type Promised = ();

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, (): &()) -> Promise {
        Promise::Precision { worst: 20.0, mean: None, messages: Messages::Any }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint()
    }
}

#[derive(Clone)]
struct Params(CkksContext<u64>);

impl ParamSet for Params {
    type Spec = Spec;

    fn checked(spec: &Spec) -> Result<Self, Error> {
        CkksContext::new(RlweContext::new(&spec.0)?, spec.fingerprint()).map(Self)
    }

    fn info(&self, preset: &Preset<Spec>) -> SetInfo {
        let parts = Part::list([("nothing".to_owned(), piece(self.0.fingerprint(), [0; 16]).len())]);
        SetInfo {
            mode: SlotMode::Real,
            slots: self.0.slots(),
            max_level: 1,
            input_level: 1,
            output_level: 1,
            stages: vec![Stage::from(&COPY)],
            ciphertext_bytes: [0, 1].map(|level| wire::ciphertext_len(&self.0, level, 2)).into(),
            ..SetInfo::of(preset, Scheme::Ckks, parts)
        }
    }
}

impl CkksSet for Params {
    type Word = u64;

    fn ckks(&self) -> &CkksContext<u64> {
        &self.0
    }

    fn mode(&self) -> SlotMode {
        SlotMode::Real
    }

    fn input_level(&self) -> usize {
        1
    }

    fn output_level(&self) -> usize {
        1
    }

    fn target(&self) -> Result<Target, Error> {
        Ok(Target::new(&self.0, self.0.slots(), 1, Scale::exp2(40.0))?.with_bootstrapping(1, 1))
    }
}

struct Secret {
    params: Params,
    seed: Seed,
    seeds: KeySeeds,
    key_id: [u8; 16],
    main: SecretKey<u64>,
}

impl SeededSet for Params {
    type Secret = Secret;

    fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint()
    }

    fn secret(&self, seed: &Seed) -> Secret {
        let seeds = KeySeeds::derive(seed);
        let key_id = key_set_id(&self.0.fingerprint(), seeds.public());
        let main = SecretKey::generate(self.0.rlwe(), seed);
        Secret { params: self.clone(), seed: seed.clone(), seeds, key_id, main }
    }
}

impl SeededSecret for Secret {
    type Set = Params;

    fn set(&self) -> &Params {
        &self.params
    }

    fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    fn secret_seed(&self) -> &Seed {
        &self.seed
    }

    fn key_part(&self, _: usize) -> Result<Vec<u8>, Error> {
        Ok(piece(self.params.0.fingerprint(), self.key_id))
    }
}

/// An empty key piece.
fn piece(fingerprint: [u8; 16], key: [u8; 16]) -> Vec<u8> {
    wire::frame::write(ObjectKind::KeyPart, fingerprint, key, &[])
}

impl NumberSet<u64> for Params {
    fn context(&self) -> &CkksContext<u64> {
        &self.0
    }

    fn message_scale(&self) -> Scale {
        Scale::exp2(40.0)
    }

    fn lowest_message_level(&self) -> usize {
        1
    }

    fn slots_of_numbers(&self, numbers: &[f64], _: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        let mut slots: Vec<Complex> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
        slots.resize(self.0.slots(), Complex::ZERO);
        Ok(Zeroizing::new(slots))
    }
}

impl NumberSecret<u64> for Secret {
    fn number_set(&self) -> &dyn NumberSet<u64> {
        &self.params
    }

    fn main_secret(&self) -> Result<MainSecret<'_, u64>, Error> {
        MainSecret::new(&self.params.0, &self.main, &self.seeds, self.key_id)
    }

    fn decrypt_numbers(&self, x: &Ciphertext<u64>, _: SlotMode) -> Result<Private<Vec<f64>>, Error> {
        let slots = decrypt_slots(&self.params.0, &self.main, self.key_id, x)?;
        Ok(Private::new(slots.reveal_to_key_owner().iter().map(|z| z.re).collect()))
    }
}

struct Copying<'a>(&'a CkksEvaluator<u64>);

impl Method<u64> for Copying<'_> {
    fn ckks(&self) -> &CkksEvaluator<u64> {
        self.0
    }

    fn input_level(&self) -> usize {
        1
    }

    fn output_level(&self) -> usize {
        1
    }

    fn stages(&self) -> &[StageInfo] {
        &[COPY]
    }

    fn bootstrap(&self, x: &Ciphertext<u64>, observer: &mut dyn Observer) -> Result<Ciphertext<u64>, Error> {
        emit(observer, &StageEvent::Enter { stage: COPY.id })?;
        let (level, log_q, log_scale) = (x.level(), x.log_q(), x.log_scale());
        let counters = Counters::default();
        emit(observer, &StageEvent::Exit { stage: COPY.id, level, log_q, log_scale, counters })?;
        Ok(x.clone())
    }
}

// The method's file in the server.

impl CkksMethod for Params {
    type Evaluator = CkksEvaluator<u64>;
    type Keys = ();

    fn evaluator(&self) -> Result<CkksEvaluator<u64>, Error> {
        Ok(CkksEvaluator::new(&self.0))
    }

    fn verify_part(&self, key: Id, _: usize, bytes: &[u8]) -> Result<(), Error> {
        let own = bytes == piece(self.0.fingerprint(), key.0);
        if own { Ok(()) } else { Err(Error::BadBytes("another piece".into())) }
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<(), LoadError> {
        Ok(self.verify_part(key, 0, &read(0)?)?)
    }

    fn bootstrapper<'a>(
        evaluator: &'a CkksEvaluator<u64>,
        (): &'a (),
        _: SlotMode,
    ) -> Result<impl Method<u64> + 'a, Error> {
        Ok(Copying(evaluator))
    }
}

fn sets(wanted: SetFilter<'_>) -> Result<Sets, Error> {
    let set = |preset: &Preset<Spec>| {
        let params: Params = preset.checked()?;
        Ok(Box::new(CkksJobs::new(preset.describe(&params), params)?) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

/// The line in the registry.
fn registry() -> Registry {
    Registry::default().with(Registered { method: METHOD, sets, client: |which| which.ckks::<Params>() })
}

#[test]
fn its_jobs_run_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = registered::Registered::start(folder.path(), &registry());
    let client = &server.client;
    let sets = client.get("/v1/params").json()["sets"].as_array().unwrap().clone();
    let found = |name: &str| sets.iter().find(|set| set["name"] == name).cloned().unwrap();
    let sample = found("toy-sample10");
    assert_eq!((&sample["method"], &sample["operations"]), (&json!("sample"), &json!(["bootstrap"])));
    assert_eq!(found("ship13")["method"], "ckks-ship", "the methods of this version are there too");

    let params: Params = Preset::<Spec>::named("toy-sample10").unwrap().checked().unwrap();
    let secret = params.secret(&Seed::from_bytes([1; 32]));
    let key = Id(secret.key_id).to_string();
    open_keys(client, "toy-sample10", &secret, 1).expect(201);
    let piece = secret.key_part(0).unwrap();
    client.put_chunk(&key, 0, &vec![0; piece.len()]).problem(422, "BAD_BYTES");
    client.put_chunk(&key, 0, &piece).expect(204);
    client.commit(&key).expect(200);
    let input = secret.encrypt_numbers(&[0.5], SlotMode::Real, 1, &Seed::from_bytes([2; 32])).unwrap();
    let input = wire::ciphertext_to_bytes(&params.0, &input).unwrap();
    client.submit_with(&format!("key={key}&op=square"), &[], &input).problem(400, "INVALID_ARGUMENT");
    client.submit(&key, &input[1..]).problem(422, "BAD_BYTES");
    let job = client.submit(&key, &input).job();
    client.wait_state(&job, "done");
    assert_eq!(client.get(&format!("/v1/jobs/{job}/result")).expect(200).body, input);
    server.stop();
}

#[test]
fn the_command_line_does_everything_with_it() {
    if is_command(&registry()) {
        return;
    }
    let refloat = |arguments: &[&str]| {
        registered::refloat("sample_method::the_command_line_does_everything_with_it", arguments)
    };
    let listed = refloat(&["params"]);
    assert!(listed.contains("The sample method") && listed.contains("toy-sample10"), "{listed}");
    assert!(listed.contains("ship13"), "{listed}");
    assert!(refloat(&["params", "toy-sample10"]).contains("Copy: x"));
    let types = refloat(&["about", "--types"]);
    assert!(types.contains("readonly 'sample': 'toy-sample10';"), "{types}");

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    let file = |name: &str| std::fs::read(path(name)).unwrap();
    let (keys, numbers, fresh) = (path("keys"), path("numbers.csv"), path("x.ct"));
    std::fs::write(&numbers, "0.5\n-0.25\n1\n").unwrap();
    refloat(&["keygen", "--preset", "toy-sample10", "--allow-insecure", "--out", &keys]);
    refloat(&["keygen", "--resume", "--out", &keys]);
    refloat(&["encrypt", "--key", &keys, "--in", &numbers, "--out", &fresh]);
    refloat(&["bootstrap", "--keys", &keys, "--in", &fresh, "--out", &path("here.ct")]);
    let data = tempfile::tempdir().unwrap();
    let server = registered::Registered::start(data.path(), &registry());
    let url = format!("http://{}", server.client.address);
    refloat(&["bootstrap", "--keys", &keys, "--in", &fresh, "--out", &path("there.ct"), "--server", &url]);
    server.stop();
    assert!(file("here.ct") == file("x.ct") && file("there.ct") == file("x.ct"));
    let back = path("back.csv");
    refloat(&["decrypt", "--key", &keys, "--in", &path("there.ct"), "--out", &back, "--count", "3"]);
    let back = String::from_utf8(file("back.csv")).unwrap();
    let back: Vec<f64> = back.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(
        back.len() == 3 && back.iter().zip([0.5, -0.25, 1.0]).all(|(x, y)| (x - y).abs() < 1e-6),
        "{back:?}"
    );
}
