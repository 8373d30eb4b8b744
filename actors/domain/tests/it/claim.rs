//! The arrows of a claim, every state with every step.

use clankie_domain::claim::{Claim, ClaimState, ClaimStep, Seen};
use clankie_domain::ids::{ConversationId, RequestId, RunId, TokenId};
use clankie_domain::result::FailCode;
use clankie_domain::time::Timestamp;
use uuid::Uuid;

const MADE: Timestamp = Timestamp(1);
const NOW: Timestamp = Timestamp(2);

fn claim(state: ClaimState, seen: Seen) -> Claim {
    crate::house::choose_mutant();
    Claim {
        request: RequestId(Uuid::nil()),
        conversation: ConversationId::parse(&Uuid::nil().to_string()).unwrap(),
        handoff: None,
        run: RunId(Uuid::nil()),
        answerer: TokenId(Uuid::nil()),
        state,
        at: MADE,
        seen,
    }
}

fn returned() -> ClaimState {
    ClaimState::Returned(FailCode::Stalled)
}

fn states() -> [ClaimState; 5] {
    [ClaimState::Claimed, ClaimState::Dispatching, ClaimState::Delivered, ClaimState::Uncertain, returned()]
}

fn steps() -> [ClaimStep; 5] {
    let back = ClaimStep::Return(FailCode::Stalled);
    [ClaimStep::Dispatch, ClaimStep::Take, back, ClaimStep::Lose, ClaimStep::MarkSeen]
}

/// What page and module say, as a table: `None` is refused.
fn arrow(from: &ClaimState, step: &ClaimStep) -> Option<(ClaimState, Seen, Timestamp)> {
    let moved = |state| Some((state, Seen::No, NOW));
    match (from.as_str(), step) {
        ("claimed", ClaimStep::Dispatch) => moved(ClaimState::Dispatching),
        ("dispatching", ClaimStep::Take) => moved(ClaimState::Delivered),
        ("claimed" | "dispatching", ClaimStep::Return(_)) => moved(returned()),
        ("dispatching", ClaimStep::Lose) => moved(ClaimState::Uncertain),
        ("uncertain" | "returned", ClaimStep::MarkSeen) => Some((from.clone(), Seen::Yes, MADE)),
        _ => None,
    }
}

#[test]
fn m1_every_arrow_of_a_claim_and_no_other() {
    for from in states() {
        for step in steps() {
            let before = claim(from.clone(), Seen::No);
            let after = before.advance(step.clone(), NOW).ok();
            let wanted = arrow(&from, &step).map(|(state, seen, at)| Claim { state, seen, at, ..before });
            assert_eq!(after, wanted, "{from:?} {step:?}");
        }
    }
}

/// What may have crossed once has no way back to where it would be sent.
#[test]
fn m1_nothing_leads_back_to_dispatching() {
    for from in states().into_iter().filter(|state| *state != ClaimState::Claimed) {
        assert!(claim(from, Seen::No).advance(ClaimStep::Dispatch, NOW).is_err());
    }
}

#[test]
fn m3_an_answer_is_settled_once_delivered_or_seen_to_have_failed() {
    for from in states() {
        for seen in [Seen::No, Seen::Yes] {
            let settled = match from.as_str() {
                "delivered" => true,
                "uncertain" | "returned" => seen == Seen::Yes,
                _ => false,
            };
            assert_eq!(claim(from.clone(), seen).is_settled(), settled, "{from:?} {seen:?}");
        }
    }
}
