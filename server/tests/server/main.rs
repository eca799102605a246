//! The server by its requests, its data folder and its command line. Tests that lower the limits of their process, or measure what it
//! uses, are programs of their own beside this folder.

#[path = "../support/mod.rs"]
mod support;

mod access;
mod bootstrapping;
#[cfg(all(unix, feature = "cluster"))]
mod by_nats;
#[cfg(feature = "cluster")]
mod cluster_plan;
mod command_line;
mod conventional;
mod data_folder;
mod digits;
mod dispatch_contract;
mod fetching;
mod fuzz;
mod healing;
mod hostile;
mod hostile_server;
mod integers;
mod key_memory;
mod key_sets;
mod kill;
mod kill_points;
mod logs;
mod memory;
#[cfg(feature = "cluster")]
mod object_store;
mod order;
mod outputs;
mod placement;
mod plan;
mod programs;
mod readme;
mod sample_method;
mod sample_scheme;
mod service;
mod shards;
mod simulated;
mod simulation;
#[cfg(target_os = "linux")]
mod sockets;
mod stopping;
