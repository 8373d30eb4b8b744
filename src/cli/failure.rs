//! Why a client command did not do what it was asked, and which exit code says so.

use std::io;
use std::path::PathBuf;

use super::exit::Exit;
use crate::config::ConfigError;
use crate::owner::wire::{ProblemBody, Refusal};

/// The end of a problem's type for a service that is going away.
const SHUTTING_DOWN: &str = "/shutting-down";
/// Reason codes of refusals that say that something is not there.
const ABSENT: [&str; 4] = ["unknown_handoff", "unknown_token", "unknown_room", "not_found"];
/// Reason codes of refusals that say that somebody was first.
const FIRST: [&str; 2] = ["name_taken", "name_retired"];

/// Why a client command failed. Each is a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The command line asks for what does not go together.
    #[error("{0}")]
    Usage(String),
    /// There is no operator credential, so the service was not contacted.
    #[error("no operator credential: {why}")]
    NoCredential {
        /// Where it was looked for, and what to do.
        why: String,
    },
    /// No service is known there, or it does not answer.
    #[error("the service is not reachable{}: {why}", place(url.as_ref()))]
    NotReachable {
        /// The address, when one is known.
        url: Option<String>,
        /// What went wrong, and what to do.
        why: String,
    },
    /// A call that changes something was sent and its answer did not come.
    #[error("the outcome is unknown, since no answer came: {why}; look before you repeat it")]
    OutcomeUnknown {
        /// What went wrong.
        why: String,
    },
    /// The service refused a call before it reached an operation.
    #[error("{}", sentence(.0))]
    Problem(Box<ProblemBody>),
    /// An operation refused.
    #[error("{}", .0.detail)]
    Refused(Refusal),
    /// The service answered with what this version does not understand.
    #[error("the service answered with what this client does not understand: {why}")]
    Unreadable {
        /// What was wrong with it.
        why: String,
    },
    /// A handoff ended without a reply.
    #[error("{0}")]
    NoReply(String),
    /// A reply did not come in time; the work goes on.
    #[error("no reply within {seconds} s; handoff {handoff} goes on")]
    Late {
        /// How long it was waited for.
        seconds: u64,
        /// Which handoff to look at.
        handoff: String,
    },
    /// A file of the client's own.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard input or output.
    #[error("the terminal or pipe failed: {0}")]
    Pipe(#[from] io::Error),
}

impl Failure {
    /// The exit code that says so.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Usage(_) => Exit::Usage,
            Self::NoCredential { .. } => Exit::NotAuthorised,
            Self::NotReachable { .. } => Exit::NotReachable,
            Self::OutcomeUnknown { .. } | Self::Late { .. } => Exit::OutcomeUnknown,
            Self::Problem(problem) => problem_exit(problem),
            Self::Refused(refusal) => refusal_exit(refusal),
            Self::Unreadable { .. } | Self::NoReply(_) | Self::File { .. } => Exit::Failure,
            // Whoever reads our output may have read enough: that is no failure of ours.
            Self::Pipe(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Pipe(_) => Exit::Failure,
        }
    }
}

fn problem_exit(problem: &ProblemBody) -> Exit {
    match problem.status {
        401 | 403 => Exit::NotAuthorised,
        404 | 410 => Exit::NotFound,
        409 | 412 => Exit::Conflict,
        429 => Exit::Busy,
        503 if problem.kind.ends_with(SHUTTING_DOWN) => Exit::NotReachable,
        _ => Exit::Failure,
    }
}

fn refusal_exit(refusal: &Refusal) -> Exit {
    let reason = refusal.reason.as_str();
    if ABSENT.contains(&reason) {
        Exit::NotFound
    } else if FIRST.contains(&reason) {
        Exit::Conflict
    } else {
        Exit::Failure
    }
}

fn place(url: Option<&String>) -> String {
    url.map_or_else(String::new, |url| format!(" at {url}"))
}

fn sentence(problem: &ProblemBody) -> String {
    let detail = problem.detail.as_ref().unwrap_or(&problem.title);
    let field = problem.field.as_ref().map_or_else(String::new, |field| format!("{field}: "));
    let facts = problem.busy.as_ref().map_or_else(String::new, |busy| {
        let oldest = busy.oldest_wait_ms / 1_000;
        format!(" ({} running, {} waiting, the oldest for {oldest} s)", busy.running, busy.waiting)
    });
    format!("{field}{detail}{facts}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(status: u16, kind: &str) -> Failure {
        let title = "t".to_owned();
        let (detail, field, handoff_id, busy) = (None, None, None, None);
        Failure::Problem(Box::new(ProblemBody {
            kind: kind.to_owned(),
            title,
            status,
            detail,
            field,
            handoff_id,
            busy,
        }))
    }

    fn refused(reason: &str) -> Failure {
        Failure::Refused(Refusal { reason: reason.to_owned(), detail: "d".to_owned() })
    }

    #[test]
    fn every_answer_has_the_exit_code_of_the_contract() {
        let why = || "w".to_owned();
        let table = [
            (problem(400, "/problems/invalid"), Exit::Failure),
            (problem(401, "/problems/unauthorised"), Exit::NotAuthorised),
            (problem(403, "/problems/forbidden"), Exit::NotAuthorised),
            (problem(404, "/problems/not-found"), Exit::NotFound),
            (problem(409, "/problems/delivery-conflict"), Exit::Conflict),
            (problem(429, "/problems/busy"), Exit::Busy),
            (problem(500, "/problems/internal"), Exit::Failure),
            (problem(503, "/problems/store-unavailable"), Exit::Failure),
            (problem(503, "/problems/shutting-down"), Exit::NotReachable),
            (refused("unknown_handoff"), Exit::NotFound),
            (refused("unknown_token"), Exit::NotFound),
            (refused("name_taken"), Exit::Conflict),
            (refused("unsupported_op"), Exit::Failure),
            (Failure::Config(ConfigError::NoHome), Exit::Usage),
            (Failure::Usage(why()), Exit::Usage),
            (Failure::NoCredential { why: why() }, Exit::NotAuthorised),
            (Failure::NotReachable { url: None, why: why() }, Exit::NotReachable),
            (Failure::OutcomeUnknown { why: why() }, Exit::OutcomeUnknown),
            (Failure::Late { seconds: 1, handoff: why() }, Exit::OutcomeUnknown),
            (Failure::Unreadable { why: why() }, Exit::Failure),
            (Failure::Pipe(io::ErrorKind::BrokenPipe.into()), Exit::Done),
            (Failure::Pipe(io::ErrorKind::Other.into()), Exit::Failure),
        ];
        for (failure, exit) in table {
            assert_eq!(failure.exit(), exit, "{failure:?}");
        }
    }
}
