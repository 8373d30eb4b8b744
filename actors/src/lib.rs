//! Clankie's deciding and remembering half: the store, the actors and the one way in.

pub use clankie_domain as domain;

pub mod digest;
mod front;
pub mod ports;
pub mod store;
mod system;

pub use front::mail;
pub use front::*;

/// Arms the crash points that the environment names in `FAILPOINTS`, for the life of the process.
/// Without the feature `failpoints` there are none.
pub fn arm_crash_points() {
    #[cfg(feature = "failpoints")]
    std::mem::forget(fail::FailScenario::setup());
}

/// Makes this process the mutant that the environment names, for its whole life; see [`domain::mutant`].
/// Without the feature `failpoints` there is none.
pub fn choose_mutant() {
    #[cfg(feature = "failpoints")]
    if let Ok(name) = std::env::var(domain::mutant::VARIABLE) {
        domain::mutant::choose(&name);
    }
}
