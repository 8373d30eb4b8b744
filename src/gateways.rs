//! The rooms' side of the service: people's words come in, and what was said is read back.
//!
//! A gateway authenticates and normalises into one `Request`; it decides nothing. These routes
//! must be served behind [`crate::http::gate::Gate::guard`].

mod answer;
pub mod discord;
pub mod ingress;
pub mod local;
mod messages;
