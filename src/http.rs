//! What every HTTP surface shares: the shapes of the wire, and how a caller is kept out.
//!
//! Every request passes [`gate`] before routing and authentication; [`bearer`] says who calls;
//! [`json`] reads what they send. Nothing here knows a route.

pub mod attempts;
pub mod bearer;
pub mod drain;
pub mod gate;
pub mod json;
pub mod metrics;
pub mod path;
pub mod peer;
pub mod problem;
pub mod query;
pub mod streams;
pub mod wait;
pub mod wire;
