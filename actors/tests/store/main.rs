//! The store, driven through its own interface and looked at from outside, on the disk.

#[cfg(test)]
mod commit;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod history;
#[cfg(test)]
mod mail;
#[cfg(test)]
mod mail_golden;
#[cfg(test)]
mod mail_retention;
#[cfg(test)]
mod mail_roundtrip;
#[cfg(test)]
mod mailbox;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod power_cut;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod world;
