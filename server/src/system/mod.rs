//! What operating systems do differently: each function says what holds on all of them, and what more on some.
//!
//! Nothing else in the crate asks which system it runs on, except [`crate::memory`], which sets up the allocator on Linux. On Linux all of
//! it is tested. For Windows it is compiled, with its tests except those of signals, which are for Unix; nobody has run them there yet. For
//! macOS none of the server has been compiled: that takes Apple's headers.

pub mod files;
pub mod limits;
pub mod processor;
pub mod signals;
