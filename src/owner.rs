//! The owner's surfaces over HTTP: who may call, what they see, and the operations they have.

pub mod auth;
pub mod feed;
pub mod http;
pub mod notify;
pub mod vault;
pub mod wire;
