//! An answer in its room's own commit: what the room composes, and what it refuses to.

use clankie_domain::admission::recover::{Found, recover};
use clankie_domain::admission::room::{Answer, Context, Continuation, Effect, Room, RoomInput};
use clankie_domain::admission::{Change, FromGlobal};
use clankie_domain::claim::{Claim, ClaimState};
use clankie_domain::grant::Authority;
use clankie_domain::ids::{
    Caller, ConversationId, DeliveryId, Fingerprint, HandoffId, PermitId, RequestId, RunId, Ticket, TokenId,
};
use clankie_domain::mailbox::MailChange;
use clankie_domain::request::{Minted, Request, Source, Submission};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

use crate::house::{authority, choose_mutant, key, request, room};

const ANSWERER: TokenId = TokenId(Uuid::from_u128(7));

fn continuation(of: &Authority) -> Continuation {
    let asked = RequestId(Uuid::from_u128(1));
    let origin = request("lab", "bob", "m-1");
    let grant = of.resolve(&origin.claim()).unwrap();
    let request = Request { delivery: DeliveryId::Continuation(asked), source: Source::Continuation, ..origin };
    let (handoff, run) = (HandoffId(Uuid::from_u128(2)), RunId(Uuid::from_u128(3)));
    let minted = Minted { ticket: Ticket(1), handoff, run };
    Continuation {
        request: asked,
        conversation: ConversationId::parse(&format!("room-{}", "0".repeat(24))).unwrap(),
        submission: Submission { request, fingerprint: Fingerprint([0; 32]), minted },
        origin: grant,
        trigger: key("m-1"),
        answerer: ANSWERER,
        mail: Vec::new(),
    }
}

fn decide(authority: &Authority) -> (Vec<Change>, Vec<Effect>) {
    let ctx = Context { now: Timestamp(10), authority };
    let input = RoomInput::Continue { continuation: Box::new(continuation(authority)), caller: Caller(1) };
    let decision = Room::new(room("lab")).decide(input, ctx).unwrap();
    (decision.changes, decision.effects)
}

fn claims(changes: &[Change]) -> Vec<Claim> {
    let claim = |change: &Change| match change {
        Change::Mail(MailChange::Claim(claim)) => Some(claim.clone()),
        Change::Mail(_)
        | Change::Record(_)
        | Change::Receipt(_)
        | Change::PermitTaken { .. }
        | Change::PermitGone { .. }
        | Change::Message(_) => None,
    };
    changes.iter().filter_map(claim).collect()
}

#[test]
fn m2_a_room_commits_no_answer_of_a_credential_that_is_gone() {
    let mut authority = authority();
    for standing in [None, Some(Timestamp(10))] {
        authority.answerers.clear();
        authority.answerers.extend(standing.map(|end| (ANSWERER, Some(end))));
        let (changes, effects) = decide(&authority);
        assert_eq!(changes, []);
        assert_eq!(effects, [Effect::Reply(Caller(1), Answer::Outdated)]);
    }
}

#[test]
fn m1_an_answer_and_what_it_wakes_are_one_commit() {
    let mut authority = authority();
    authority.answerers.insert(ANSWERER, None);
    let (changes, _) = decide(&authority);
    let claims = claims(&changes).into_iter().map(|claim| (claim.state, claim.handoff));
    let woken = HandoffId(Uuid::from_u128(2));
    assert_eq!(claims.collect::<Vec<_>>(), [(ClaimState::Claimed, Some(woken))]);
    let record = changes
        .iter()
        .any(|change| matches!(change, Change::Record(record) if record.id == woken && record.quoted() == &key("m-1")));
    assert!(record, "{changes:?}");
    assert!(!changes.iter().any(|change| matches!(change, Change::Message(_))), "the room heard words nobody said");
}

/// Whether its session had taken it nobody can say: it is shown so, and not as come back.
#[test]
fn m1_what_may_have_crossed_at_a_crash_is_uncertain_after_the_boot() {
    choose_mutant();
    let mut authority = authority();
    authority.answerers.insert(ANSWERER, None);
    let ctx = Context { now: Timestamp(10), authority: &authority };
    let input = RoomInput::Continue { continuation: Box::new(continuation(&authority)), caller: Caller(1) };
    let owed = Room::new(room("lab")).decide(input, ctx).unwrap().next;
    let running = owed.decide(RoomInput::Global(FromGlobal::Permit(PermitId(1))), ctx).unwrap();
    let crossing = claims(&running.changes);
    assert_eq!(crossing.iter().map(|claim| &claim.state).collect::<Vec<_>>(), [&ClaimState::Dispatching]);
    let found = Found {
        records: running.next.live().map(|live| live.record.as_ref().clone()).collect(),
        permits: vec![PermitId(1)],
        claims: crossing.into_iter().map(|claim| (claim.request, claim)).collect(),
    };
    let boot = recover(found, &authority, Timestamp(20), &mut (9..).map(Ticket)).unwrap();
    let states: Vec<ClaimState> = claims(&boot.changes).into_iter().map(|claim| claim.state).collect();
    assert_eq!(states, [ClaimState::Uncertain]);
}
