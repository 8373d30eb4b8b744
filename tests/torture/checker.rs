//! The judge: an independent statement of the rules, over history, records and the model's log.
//!
//! Nothing here calls the code under test. `tracker` judges each record against its own past and
//! each snapshot against the limits; `settled` judges everything once nothing lives any more; `mail` and
//! `mailbox` do the same for the owner's mailbox; the proofs plant faults and demand that they are
//! found.

pub(crate) mod mail;
pub(crate) mod mail_proof;
pub(crate) mod mailbox;
pub(crate) mod proof;
pub(crate) mod settled;
pub(crate) mod tracker;
