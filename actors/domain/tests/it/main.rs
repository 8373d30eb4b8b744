//! Direct tests of the domain: each invariant by name, field reports, sessions and boots.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says how large its worlds were"
)]

mod field_reports;
mod house;
mod invariants;
mod order;
mod recovery;
mod session;
