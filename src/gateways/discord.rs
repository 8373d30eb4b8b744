//! Discord as one more way into rooms.

pub mod split;
