//! Named crash points before and after every durable step.
//!
//! With the `failpoints` feature, `FAILPOINTS=room.accept.before=return` in the environment ends
//! the process there at once, as a power cut would. Without the feature nothing is compiled in.

use clankie_domain::admission::FromGlobal;
use clankie_domain::admission::room::RoomInput;
use clankie_domain::delivery::PostingStep;

/// The step's name for every input with which an answer starts to cross.
pub(crate) const DISPATCH: &str = "room.dispatch";

/// Which side of the durable step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    /// Decided, not durable.
    Before,
    /// Durable, no effect yet.
    After,
}

/// Ends the process here if the environment says so.
#[cfg_attr(not(feature = "failpoints"), allow(unused_variables, reason = "the points are compiled out"))]
pub(crate) fn hit(step: &str, side: Side) {
    #[cfg(feature = "failpoints")]
    {
        let side = match side {
            Side::Before => "before",
            Side::After => "after",
        };
        fail::fail_point!(&format!("{step}.{side}"), |_| std::process::abort());
    }
}

/// The step's name for an input of a room.
pub(crate) fn step_of(input: &RoomInput) -> &'static str {
    match input {
        RoomInput::Submit { .. } => "room.join",
        RoomInput::Edit { .. } => "room.edit",
        RoomInput::Cancel { .. } => "room.cancel",
        RoomInput::Global(FromGlobal::Run(..)) => "room.run",
        RoomInput::Global(FromGlobal::Wait(_)) => "room.wait",
        RoomInput::Global(FromGlobal::Permit(_)) => "room.permit",
        RoomInput::Global(FromGlobal::Busy(..)) => "room.busy",
        RoomInput::Ready(_) => "room.ready",
        RoomInput::Took(_) => "room.took",
        RoomInput::Continue { .. } => "room.continue",
        RoomInput::Doing(..) => "room.doing",
        RoomInput::Ended(..) | RoomInput::EndedWithAsk(..) => "room.ended",
        RoomInput::Gone(_) => "room.gone",
        RoomInput::Posting { step: PostingStep::Send { .. }, .. } => "room.posting",
        RoomInput::Posting { .. } => "room.posted",
        RoomInput::Repost { .. } => "room.repost",
        RoomInput::Retract { .. } => "room.retract",
        RoomInput::AuthorityChanged => "room.authority",
        RoomInput::Drain => "room.drain",
        RoomInput::StopRuns => "room.stop",
    }
}
