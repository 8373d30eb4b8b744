//! The judge: an independent statement of the rules, over history, records and the model's log.
//!
//! Nothing here calls the code under test. `tracker` judges each record against its own past and
//! each snapshot against the limits; `settled` judges everything once nothing lives any more; `proof`
//! plants faults and demands that they are found.

pub(crate) mod proof;
pub(crate) mod settled;
pub(crate) mod tracker;
