//! A simulated world for each seed: the real store and the real actors over a disk that fails, with
//! people, agents, owners and a chat that are played.
//!
//! The same seed gives the same history, so a seed that breaks an invariant breaks it again. What
//! happened is judged by an oracle that knows the invariants from the pages and calls none of the
//! machines that it judges.

mod agent;
mod cast;
mod chat;
mod dice;
mod disk;
mod history;
mod many;
mod observer;
mod oracle;
mod owner;
mod people;
mod plot;
mod ports;
mod regressions;
mod report;
mod scene;
mod world;

pub use history::{Fact, History};
pub use many::{Plan, run};
pub use oracle::{INVARIANTS, Violation, judge};
pub use regressions::{Regression, regressions};
pub use report::{Broken, Report, SCHEMA_VERSION, Tally};
pub use world::SimError;

/// The history of a seed's world.
pub fn play(seed: u64) -> Result<History, SimError> {
    world::play(seed)
}
