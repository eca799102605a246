//! What operating systems do differently: each function says what holds on all of them, and what more on some.
//!
//! Nothing else in the crate asks which system it runs on, but for [`crate::memory`], which sets up the allocator on Linux. On
//! Linux all of it is tested; on Windows and macOS it is compiled, and its tests with it, and nobody has run them yet.

pub mod files;
pub mod limits;
pub mod processor;
pub mod signals;
