//! Fully homomorphic encryption centred on **bootstrapping**: bringing an exhausted ciphertext
//! back afloat.
//!
//! Every multiplication of encrypted data uses up modulus; when none is left, a bootstrap gives the
//! same message in a ciphertext with a large modulus again, and nobody decrypts anything. This crate
//! is the core of refloat: native programs use it directly, browsers through WebAssembly, servers
//! through the binary `refloat`.
//!
//! ```
//! use refloat::bootstrapping::ckks_ship::{ShipEvaluator, ShipKeys, ShipSecretKey, SlotMode::Real};
//! use refloat::{params, random::Seed};
//!
//! // A demonstration set; `ship13`, the default, has 128 bits of security and 1.5 GB of keys.
//! let params = params::ship_preset("toy10")?.params()?;
//! let secret = ShipSecretKey::generate(&params, &Seed::random()?); // with the feature `getrandom`
//! let keys = ShipKeys::generate(&secret)?;
//! let fresh = secret.encrypt(&[0.5, -0.25, 1.0], Real, &Seed::random()?)?;
//!
//! // A server squares, which leaves the ciphertext exhausted, and bootstraps.
//! let evaluator = ShipEvaluator::new(&params)?;
//! let exhausted = evaluator.square(&fresh, &keys)?;
//! let refreshed = evaluator.bootstrap(&exhausted, Real, &keys, &mut ())?;
//! assert_eq!((exhausted.level(), refreshed.level()), (1, 2));
//!
//! let squares = secret.decrypt(&refreshed, Real)?;
//! assert!((squares.reveal_to_key_owner()[1] - 0.0625).abs() < 1e-2);
//! # Ok::<(), refloat::Error>(())
//! ```
//!
//! `&mut ()` observes nothing; a [`trace::Observer`] in its place is told of progress and can cancel.
//!
//! # Where things are
//!
//! | you want | look at |
//! | --- | --- |
//! | to bootstrap approximate numbers (CKKS) | [`bootstrapping::ckks_ship`], [`bootstrapping::ckks_conventional`] |
//! | to read integers or bits off approximate numbers | [`bootstrapping::ckks_msb`] |
//! | exact integers (BGV) | [`bootstrapping::bgv`] |
//! | gates and look-ups on bits and small integers (DM/CGGI) | [`bootstrapping::cggi`] |
//! | to compare and rank numbers by gates | [`bootstrapping::scheme_switching`] |
//! | a scheme without bootstrapping: encoding, encryption, arithmetic | [`schemes::ckks`], [`schemes::bgv`], [`schemes::cggi`] |
//! | whole computations: programs, polynomials, linear maps, circuits of gates | [`circuits`] |
//! | parameter sets by name, and what they promise | [`params`], [`bootstrapping::method::SetInfo`] |
//! | keys and ciphertexts as bytes | [`wire`] |
//! | seeds; progress and cancellation; what can go wrong | [`random`], [`trace`], [`error`] |
//!
//! # From a name to a bootstrap
//!
//! All methods begin alike, with types of their own module. `params::ship_preset(name)?.params()?` gives the checked parameters of a named
//! set, `ShipSecretKey::generate(&params, &seed)` a secret key, and `ShipKeys::generate(&secret)?` its evaluation keys. Where keys come as
//! bytes, `ShipKeys::builder(&params, key_id)` collects their parts. The other methods put another word in the place of `Ship`:
//!
//! | method | set | word | evaluator |
//! | --- | --- | --- | --- |
//! | SHIP | [`ship_preset`](params::ship_preset) | `Ship` | [`ShipEvaluator::new(&params)`](bootstrapping::ckks_ship::ShipEvaluator::new) |
//! | conventional CKKS | [`conventional_preset`](params::conventional_preset) | `Conventional` | [`ConventionalEvaluator::new(&params, storage)`](bootstrapping::ckks_conventional::ConventionalEvaluator) |
//! | modular reduction in CKKS | [`msb_preset`](params::msb_preset) | `Msb` | [`MsbEvaluator::new(&params, storage)`](bootstrapping::ckks_msb::MsbEvaluator) |
//! | BGV | [`bgv_preset`](params::bgv_preset) | `Bgv` | [`BgvBootstrapper::new(&params, storage)`](bootstrapping::bgv::BgvBootstrapper::new) |
//! | DM/CGGI | [`cggi_preset`](params::cggi_preset) | `Cggi` | [`CggiEvaluator::new(keys)`](bootstrapping::cggi::CggiEvaluator::new) |
//! | scheme switching | [`link_preset`](params::link_preset), [`digit_link_preset`](params::digit_link_preset) | `Link` | [`LinkEvaluator::new(&params, keys, storage)`](bootstrapping::scheme_switching::LinkEvaluator::new) |
//!
//! `storage` is a [`PlaintextStorage`](circuits::linear_transform::PlaintextStorage), which each of these modules exports. It says whether
//! the encoded diagonals of linear maps are kept in a fast form or in a small one.
//!
//! # Internals
//!
//! The parts of all this are public too, for schemes and methods outside this crate; they change more often. Modules import only from
//! layers below their own, which a test enforces.
//!
//! | layer | knows |
//! | --- | --- |
//! | [`error`], `par`, [`random`], `scrub`, [`security`], [`trace`] | nothing of the crate but [`error`] |
//! | [`arith`] | residues modulo one prime, rows of them, SIMD kernels |
//! | [`ring`] | polynomials in residue-number-system form, their domain in the type |
//! | [`rlwe`] | keys, samples, key switching, but not what a plaintext means |
//! | [`schemes`], [`circuits`], [`bootstrapping`] | as above, each on the one before |
//! | [`params`], [`wire`], [`about`](mod@about) | named sets, encodings, facts about this build |
//!
//! # Conventions
//!
//! A ciphertext (b, a) decrypts to b + a s. Slot k of a polynomial is its value at zeta^(5^k),
//! zeta = exp(i pi / N). Levels count rescalings left; a level is one prime, or several dropped
//! together. Scales are exact. Nothing depends on the number of threads or on the SIMD backend:
//! results are the same bits everywhere, WebAssembly included.
//!
//! Enums that grow with methods and with what is found out about them are `#[non_exhaustive]`: errors, events, operations of programs,
//! schemes, kinds of objects, views and messages, policies and distributions of secrets. The others are complete, and a program may
//! `match` them without a last arm: what slots hold ([`SlotMode`](bootstrapping::method::SlotMode)), promises, bounds on errors, states of
//! runs, parts of keys, and choices such as [`PlaintextStorage`](circuits::linear_transform::PlaintextStorage).
//!
//! Parameter sets are validated when they are built. A function that returns a `Result` but documents no errors does not fail for a
//! validated set.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `std` (default) | detects CPU features at run time and builds tables when they are first used |
//! | `odd-index` (default) | the rings of [odd index](ring::OddIndex) and the [approaches](bootstrapping::bgv::Approach) of published sets over them. No named set needs it; without it such sets are refused, and programs are smaller |
//! | `getrandom` | seeds from the operating system: [`Seed::random`](random::Seed) |
//! | `parallel` | evaluates on the current rayon pool |
//! | `openapi` | a serialised form and a schema for the descriptions of sets ([`bootstrapping::method::SetInfo`]) |
//!
//! Without `std` the crate is `no_std` with `alloc`. No feature changes results.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
// docs.rs shows which feature each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod about;
pub mod arith;
pub mod bootstrapping;
pub mod circuits;
pub mod error;
#[doc(hidden)]
pub mod par;
pub mod params;
pub mod random;
pub mod ring;
pub mod rlwe;
pub mod schemes;
#[doc(hidden)]
pub mod scrub;
pub mod security;
pub mod trace;
pub mod wire;

pub use about::{About, about, check_kernels};
pub use error::Error;

/// The example in the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
