//! The actors as a whole, through the front door, with sessions that a test pulls by strings.

mod admission;
mod authority;
mod deaths;
mod env;
mod puppet;
mod steering;
mod stopping;
mod tools;
