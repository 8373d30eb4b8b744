//! The owner's mailbox under load: what owners do to it, what they heard, and how they saw it stand.

pub(crate) mod ledger;
pub(crate) mod owners;
pub(crate) mod shapes;
