//! Grants and credentials that go while work waits or runs.

use std::collections::BTreeSet;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::grant::{GrantPolicy, Plan, Revoked};
use clankie_actors::domain::principal::{TokenKind, TokenRefused};
use clankie_actors::domain::result::{FailCode, TurnResult};
use clankie_actors::domain::session::Command;

use crate::env::{Env, actor, lane};

fn routes() -> std::collections::BTreeMap<Plan, clankie_actors::domain::ids::ExecutorName> {
    let name = clankie_actors::domain::ids::ExecutorName::parse("puppet").unwrap();
    [Plan::Social, Plan::Machine, Plan::Owner].map(|plan| (plan, name.clone())).into()
}

fn machine() -> GrantPolicy {
    GrantPolicy { machine_actors: BTreeSet::from([actor("ann")]), ..GrantPolicy::default() }
}

/// A grant that shrinks stops the run; its text does not count even when it is ready.
#[tokio::test]
async fn i8_a_shrunken_grant_stops_the_run_and_its_text_does_not_count() {
    let mut env = Env::with(machine(), Limits::default()).await;
    let id = env.accept("r", "m1", "ann", "work").await;
    let mut session = env.ready().await;
    assert_eq!(session.spec.grant.plan, Plan::Machine);
    env.clankie.reload(GrantPolicy::default(), routes()).await.unwrap();
    assert_eq!(session.next_command().await, Command::Abort);
    session.reply("ready anyway").await;
    assert_eq!(env.result(id).await, TurnResult::failed(FailCode::AuthorityRevoked));
}

/// At the slot a machine grant that is gone narrows the work; it never grows back.
#[tokio::test]
async fn a_grant_resolved_at_the_slot_shrinks_and_never_grows() {
    let mut env = Env::with(machine(), Limits::default()).await;
    for n in 0..2 {
        env.accept("r", &format!("busy{n}"), &format!("u{n}"), "work").await;
    }
    let (running, _other) = (env.ready().await, env.ready().await);
    env.accept("r", "m1", "ann", "work").await;
    env.clankie.reload(GrantPolicy::default(), routes()).await.unwrap();
    running.reply("free").await;
    assert_eq!(env.ready().await.spec.grant.plan, Plan::Social);
}

/// A revoked lane ends what it vouched for, and its name is never used again.
#[tokio::test]
async fn a_revoked_lane_expires_its_work_and_is_heard_no_more() {
    let mut env = Env::start().await;
    let token = env.clankie.create_token(TokenKind::LaneText, lane(), "secret", None).await.unwrap().unwrap();
    assert!(env.clankie.authenticate(token.id, "secret").unwrap().is_some());
    assert!(env.clankie.authenticate(token.id, "Secret").unwrap().is_none());
    let id = env.accept("r", "m1", "ann", "work").await;
    let mut session = env.ready().await;
    env.clankie.revoke_token(token.id).await.unwrap();
    assert_eq!(session.next_command().await, Command::Abort);
    drop(session);
    assert_eq!(env.result(id).await, TurnResult::failed(FailCode::SourceExpired));
    assert!(env.clankie.authenticate(token.id, "secret").unwrap().is_none());
    assert_eq!(env.submit("r", "m2", "ann", "again").await, Answer::Refused(Revoked::Source));
    let again = env.clankie.create_token(TokenKind::LaneVoice, lane(), "other", None).await.unwrap();
    assert_eq!(again, Err(TokenRefused::NameRetired));

    let env = env.restart().await;
    assert_eq!(env.submit("r", "m2", "ann", "again").await, Answer::Refused(Revoked::Source));
}
