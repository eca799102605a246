//! SHIP.

mod identities;
mod messages;
mod run;
mod ship13;
mod toy;
mod tracks;
mod variants;
