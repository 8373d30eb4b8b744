//! Direct tests of the domain: each invariant by name, field reports, sessions, boots and the mailbox.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says how large its worlds were"
)]

mod ask_bounds;
mod claim;
mod continuation;
mod desk;
mod drafts;
mod field_reports;
mod house;
mod invariants;
mod mailbox_answer;
mod mailbox_field_reports;
mod mailbox_keep;
mod mailbox_order;
mod mailbox_publish;
mod mailbox_updates;
mod order;
mod recovery;
mod session;
