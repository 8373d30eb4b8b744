//! Why a client command did not do what it was asked, and which exit code says so.

use std::io;
use std::path::PathBuf;

use super::exit::Exit;
use crate::config::ConfigError;
use crate::owner::wire::{ProblemBody, Refusal};

/// The end of a problem's type for a service that is going away.
const SHUTTING_DOWN: &str = "/shutting-down";
/// Reason codes of refusals that say that something is not there.
const ABSENT: [&str; 8] = [
    "unknown_handoff",
    "unknown_token",
    "unknown_room",
    "unknown_device",
    "not_found",
    "stale_request",
    "unknown_conversation",
    "unknown_update",
];
/// Reason codes of refusals that say that somebody was first, or that a thing stands otherwise.
const FIRST: [&str; 5] = ["name_taken", "name_retired", "nothing_to_repost", "revision_conflict", "conflicting_answer"];
/// Reason codes of refusals that say that somebody else must do it.
const NOT_YOURS: [&str; 3] = ["not_authorised", "widening_needs_operator", "question_owner_unavailable"];
/// Reason codes of refusals that say that it may be done later.
const LATER: [&str; 2] = ["too_many_pairings", "busy"];

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
    /// An answer to an ask was sent and its receipt did not come.
    #[error(
        "no receipt came, so it is not known whether it was taken: {why}; do not retry blindly: run \
         `clankie asks show {request}`. The same call again is safe: what was taken gives its first receipt"
    )]
    ReceiptUnknown {
        /// What went wrong.
        why: String,
        /// Which ask to look at.
        request: String,
    },
    /// Nothing that is there has that name.
    #[error("{0}")]
    Absent(String),
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
    /// Somebody was asked to confirm an approval and did not.
    #[error("not approved: nothing was sent, and the ask still waits")]
    NotConfirmed,
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
            Self::OutcomeUnknown { .. } | Self::ReceiptUnknown { .. } | Self::Late { .. } => Exit::OutcomeUnknown,
            Self::Absent(_) => Exit::NotFound,
            Self::Problem(problem) => problem_exit(problem),
            Self::Refused(refusal) => refusal_exit(refusal),
            Self::Unreadable { .. } | Self::NoReply(_) | Self::NotConfirmed | Self::File { .. } => Exit::Failure,
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
    } else if NOT_YOURS.contains(&reason) {
        Exit::NotAuthorised
    } else if LATER.contains(&reason) {
        Exit::Busy
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
            (refused("unknown_device"), Exit::NotFound),
            (refused("widening_needs_operator"), Exit::NotAuthorised),
            (refused("too_many_pairings"), Exit::Busy),
            (refused("busy"), Exit::Busy),
            (refused("grants_not_offered"), Exit::Failure),
            (refused("name_taken"), Exit::Conflict),
            (refused("nothing_to_repost"), Exit::Conflict),
            (refused("unsupported_op"), Exit::Failure),
            (refused("stale_request"), Exit::NotFound),
            (refused("unknown_conversation"), Exit::NotFound),
            (refused("unknown_update"), Exit::NotFound),
            (refused("revision_conflict"), Exit::Conflict),
            (refused("conflicting_answer"), Exit::Conflict),
            (refused("question_owner_unavailable"), Exit::NotAuthorised),
            (refused("question_state_unavailable"), Exit::Failure),
            (refused("native_driver_active"), Exit::Failure),
            (refused("invalid_answer"), Exit::Failure),
            (refused("invalid_worker_answer"), Exit::Failure),
            (refused("answer_in_progress"), Exit::Failure),
            (refused("worker_question_resolved"), Exit::Failure),
            (refused("owner_context_lost"), Exit::Failure),
            (refused("nothing_to_see"), Exit::Failure),
            (Failure::Config(ConfigError::NoHome), Exit::Usage),
            (Failure::Usage(why()), Exit::Usage),
            (Failure::NoCredential { why: why() }, Exit::NotAuthorised),
            (Failure::NotReachable { url: None, why: why() }, Exit::NotReachable),
            (Failure::OutcomeUnknown { why: why() }, Exit::OutcomeUnknown),
            (Failure::ReceiptUnknown { why: why(), request: why() }, Exit::OutcomeUnknown),
            (Failure::Late { seconds: 1, handoff: why() }, Exit::OutcomeUnknown),
            (Failure::Absent(why()), Exit::NotFound),
            (Failure::Unreadable { why: why() }, Exit::Failure),
            (Failure::Pipe(io::ErrorKind::BrokenPipe.into()), Exit::Done),
            (Failure::Pipe(io::ErrorKind::Other.into()), Exit::Failure),
        ];
        for (failure, exit) in table {
            assert_eq!(failure.exit(), exit, "{failure:?}");
        }
    }
}
