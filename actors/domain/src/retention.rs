//! What is kept and for how long. Live work is never pruned, nor is what waits in the owner's mailbox.

/// Ended handoffs kept per room, newest first.
pub const ENDED_PER_ROOM: usize = 1_000;
/// Receipts kept per room. More than handoffs, so a retry outlives its record.
pub const RECEIPTS_PER_ROOM: usize = 2_000;
/// Messages kept per room: enough for every kept handoff to show both sides.
pub const MESSAGES_PER_ROOM: usize = 2_000;
/// Lines kept per conversation of what its display shows of accepted answers.
pub const LINES_PER_CONVERSATION: usize = 1_000;
/// Oldest ended handoff, receipt, message and line of a display kept, in milliseconds: 30 days.
pub const KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Transcripts kept together, in bytes.
pub const TRANSCRIPT_BYTES: u64 = 256 * 1024 * 1024;
/// One handoff's transcript, in bytes; what comes after is counted and dropped.
pub const TRANSCRIPT_PER_HANDOFF: u64 = 4 * 1024 * 1024;
/// Events kept for resuming readers.
pub const EVENTS_KEPT: u64 = 100_000;
/// Oldest event kept, in milliseconds: 7 days.
pub const EVENTS_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Rows that one transaction deletes at most, so that pruning never delays a commit for long.
pub const CHUNK: usize = 256;
