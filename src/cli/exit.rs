//! The exit codes, one for each thing that a script may want to tell apart.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: a failure, or a refusal that has no code of its own.
    Failure,
    /// 2: the command line or the configuration is wrong.
    Usage,
    /// 3: what was named does not exist, or not any more.
    NotFound,
    /// 4: not authorised, or no credential.
    NotAuthorised,
    /// 5: a conflict: a revision moved, a name is taken, another answer was first.
    Conflict,
    /// 6: busy; try again later.
    Busy,
    /// 7: the outcome is unknown; look before repeating it.
    OutcomeUnknown,
    /// 8: the service cannot be reached.
    NotReachable,
    /// 130: interrupted from the keyboard.
    Interrupted,
}

impl Exit {
    /// Every code.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Failure,
        Self::Usage,
        Self::NotFound,
        Self::NotAuthorised,
        Self::Conflict,
        Self::Busy,
        Self::OutcomeUnknown,
        Self::NotReachable,
        Self::Interrupted,
    ];

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::NotAuthorised => 4,
            Self::Conflict => 5,
            Self::Busy => 6,
            Self::OutcomeUnknown => 7,
            Self::NotReachable => 8,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_codes_are_those_of_the_contract() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 7, 8, 130]);
    }
}
