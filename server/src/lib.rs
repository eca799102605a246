//! The refloat server and command line.
//!
//! The server holds evaluation keys and ciphertexts, never a secret key: it can refresh what it
//! cannot read. [`Server`] starts one inside another program; the binary `refloat` does so with
//! `refloat serve`.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`http`] | routes, limits on requests, problems as responses |
//! | [`service`] | what the routes do: checks uploads, accepts jobs, hands them out, runs them |
//! | [`store`], [`blobs`] | records of keys and jobs; the bytes that belong to them |
//! | [`dispatch`], `cluster` | jobs on their way to workers and back, in one process or between machines |
//! | [`engine`], [`engines`], [`registry`] | what the server asks of a parameter set; the sets that are served; the methods, a line each |
//! | [`ship`], [`conventional`], [`msb`], [`bgv`], [`gates`], [`scheme_switching`] | one file for each method |
//! | [`cli`] | the command line, one file for each command |
//! | [`config`], [`settings`] | configuration, and the documentation of each setting |

pub mod bgv;
pub mod blobs;
mod cgroup;
pub mod ckks_jobs;
pub mod cli;
pub mod clients;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod config;
pub mod conventional;
pub mod dispatch;
pub mod encryptors;
pub mod engine;
pub mod engines;
pub mod gates;
pub mod http;
pub mod id;
pub mod look_ups;
pub mod memory;
pub mod memory_plan;
pub mod msb;
#[cfg(feature = "cluster")]
mod own_runtime;
pub mod problem;
pub mod programs;
mod recency;
pub mod registry;
pub mod scheme_switching;
pub mod server;
pub mod service;
pub mod settings;
mod shared;
pub mod ship;
pub mod store;
pub mod streamed;
mod system;
pub mod work;

pub use config::Config;
pub use server::{Server, StartError};
