//! Values and machines of Clankie: what is true of a handoff, and what may happen to it next.
//!
//! Nothing here waits, reads a clock, draws a random number or touches a disk. Time, fresh
//! identities and the authority in force are arguments, so each machine runs the same way live,
//! on recovery and in a test that walks every short history.

pub mod admission;
pub mod answer;
pub mod ask;
pub mod autonomy;
pub mod claim;
pub mod delivery;
pub mod event;
pub mod grant;
pub mod handoff;
pub mod ids;
pub mod legible;
pub mod mailbox;
pub mod message;
pub mod mutant;
pub mod pairing;
pub mod principal;
pub mod receipt;
pub mod request;
pub mod result;
pub mod retention;
pub mod scope;
pub mod session;
pub mod stall;
pub mod steering;
pub mod time;
pub mod update;
