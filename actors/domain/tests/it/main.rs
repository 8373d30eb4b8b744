//! Direct tests of the domain: each invariant by name, field reports, sessions and boots.

mod field_reports;
mod house;
mod invariants;
mod order;
mod recovery;
mod session;
