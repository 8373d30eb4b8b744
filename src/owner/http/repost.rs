//! The owner has a reply posted once more: what did not arrive of it, or may not have.

use clankie_domain::admission::room::Answer;
use clankie_domain::ids::HandoffId;

use super::handoffs::find;
use crate::http::problem::{Problem, Reason};
use crate::owner::auth::Principal;
use crate::owner::wire::{Reposted, RoomDeliveryBody};

/// What came of the wish.
pub(super) enum Again {
    /// The posting is open again.
    Open(Reposted),
    /// There is no such handoff.
    Unknown,
    /// Nothing of its reply failed or is uncertain.
    Nothing,
}

/// Opens the posting again, durably; it goes on by itself.
pub(super) async fn again(principal: &Principal, id: HandoffId) -> Result<Again, Problem> {
    let Some(record) = find(principal, id)? else { return Ok(Again::Unknown) };
    match principal.access().clankie().repost(&record.room, id).await? {
        Answer::Posted(stands) => {
            let room_delivery = RoomDeliveryBody::from(&stands);
            Ok(Again::Open(Reposted { handoff_id: id.to_string(), room_delivery }))
        }
        Answer::NoSuchStep | Answer::Outdated => Ok(Again::Nothing),
        // It was pruned between the look and the wish.
        Answer::NotFound | Answer::Forgotten => Ok(Again::Unknown),
        Answer::ShuttingDown => Err(Problem::shutting_down()),
        Answer::Refused(_) | Answer::NotYours => Err(Problem::new(Reason::Forbidden)),
        Answer::Busy(facts) => Err(Problem::busy(&facts)),
        Answer::Conflict { .. } | Answer::ConflictInFlight => Err(Problem::conflict(Some(id))),
        Answer::Accepted { .. } | Answer::Settled { .. } | Answer::Cancelling { .. } => Ok(Again::Nothing),
    }
}
