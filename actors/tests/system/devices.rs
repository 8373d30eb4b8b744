//! Devices and rotated tokens: what is durable when, and what a change of authority moves.

use std::collections::BTreeSet;

use clankie_actors::Polled;
use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::admission::room::Answer;
use clankie_actors::domain::grant::{Gateway, GrantPolicy, Transport};
use clankie_actors::domain::ids::{ActorId, LaneName, RoomId, TokenId};
use clankie_actors::domain::pairing::{Code, DeviceName, DeviceRefused, PAIRING_MS, Poll};
use clankie_actors::domain::principal::{DeviceGrant, Token, TokenKind};
use clankie_actors::domain::request::Request;
use clankie_actors::domain::result::{FailCode, TurnResult};
use clankie_actors::domain::session::Command;

use crate::env::{Env, request};

const SECRET: &str = "the device's own";

fn grants(of: &[DeviceGrant]) -> BTreeSet<DeviceGrant> {
    of.iter().copied().collect()
}

async fn operator(env: &Env) -> TokenId {
    let name = LaneName::parse("owner").unwrap();
    env.clankie.create_token(TokenKind::Operator, name, "owner's", None).await.unwrap().unwrap().id
}

/// A device that redeemed a code which offered those grants.
async fn waiting(env: &Env, random: u64, offered: &[DeviceGrant]) -> TokenId {
    let code = Code::drawn(random);
    env.clankie.offer_pairing(&code, grants(offered)).await.unwrap().unwrap();
    let who = (DeviceName::parse("phone").unwrap(), "192.0.2.7".to_owned());
    env.clankie.redeem_pairing(&code.shown(), SECRET, who).await.unwrap().unwrap().applicant.id
}

async fn paired(env: &Env, by: TokenId, given: &[DeviceGrant]) -> Token {
    let id = waiting(env, 7, given).await;
    env.clankie.approve_device(id, grants(given), by).await.unwrap().unwrap()
}

async fn poll(env: &Env, id: TokenId) -> Polled {
    env.clankie.poll_pairing(id, SECRET).await.unwrap()
}

/// What was offered and redeemed is lost with the process; what was approved is not, even when the
/// device had not heard of it.
#[tokio::test]
async fn an_approval_outlives_a_restart_and_an_open_pairing_does_not() {
    let env = Env::start().await;
    let by = operator(&env).await;
    let approved = paired(&env, by, &[DeviceGrant::Observe]).await;
    let left = waiting(&env, 8, &[DeviceGrant::Observe]).await;
    let env = env.restart().await;
    assert_eq!(poll(&env, approved.id).await, Polled::Approved(Box::new(approved.clone())));
    assert_eq!(env.clankie.authenticate(approved.id, SECRET).unwrap().map(|token| token.grants), Some(approved.grants));
    assert_eq!(poll(&env, left).await, Polled::Not(Poll::Unknown));
    let late = env.clankie.approve_device(left, grants(&[DeviceGrant::Observe]), by).await.unwrap();
    assert_eq!(late, Err(DeviceRefused::Unknown));
}

#[tokio::test]
async fn every_change_of_a_devices_authority_moves_the_epoch_and_a_rotation_does_not() {
    let env = Env::start().await;
    let by = operator(&env).await;
    let mut epoch = env.epoch();
    let mut moved = |env: &Env| {
        let before = std::mem::replace(&mut epoch, env.epoch());
        epoch.0 - before.0
    };
    let device = paired(&env, by, &[DeviceGrant::Observe, DeviceGrant::TerminalControl]).await;
    assert_eq!(moved(&env), 1, "approved");
    env.clankie.approve_device(device.id, grants(&[DeviceGrant::Observe]), by).await.unwrap().unwrap();
    assert_eq!(moved(&env), 1, "narrowed");
    env.clankie.rotate_token(device.id, "another").await.unwrap().unwrap();
    assert_eq!(moved(&env), 0, "rotated");
    env.clankie.dismiss_device(device.id, by).await.unwrap().unwrap();
    assert_eq!(moved(&env), 1, "revoked");
    env.clankie.dismiss_device(device.id, by).await.unwrap().unwrap();
    assert_eq!(moved(&env), 0, "revoked before");
}

#[tokio::test]
async fn both_secrets_work_for_a_minute_and_none_after_a_revocation() {
    let env = Env::start().await;
    let by = operator(&env).await;
    let works = |secret: &str| env.clankie.authenticate(by, secret).unwrap().is_some();
    env.clankie.rotate_token(by, "new").await.unwrap().unwrap();
    assert!(works("new") && works("owner's"));
    env.clock.advance(60_000);
    assert!(works("new") && !works("owner's"));
    env.clankie.rotate_token(by, "newer").await.unwrap().unwrap();
    assert!(works("newer") && works("new"));
    env.clankie.revoke_token(by).await.unwrap().unwrap();
    assert!(!works("newer") && !works("new"));
    assert_eq!(env.clankie.rotate_token(by, "back").await.unwrap(), None);
}

/// Whoever approves is looked at in the order in which authority changes, not when the call came.
#[tokio::test]
async fn a_credential_that_went_or_never_could_approves_nothing() {
    let env = Env::start().await;
    let by = operator(&env).await;
    let helper = paired(&env, by, &[DeviceGrant::DeviceAdmin]).await;
    let reader = paired(&env, by, &[DeviceGrant::Observe]).await;
    let id = waiting(&env, 9, &[DeviceGrant::Observe]).await;
    let try_as = async |by: TokenId| env.clankie.approve_device(id, grants(&[DeviceGrant::Observe]), by).await.unwrap();
    assert_eq!(try_as(reader.id).await, Err(DeviceRefused::NotAuthorised));
    let wider = env.clankie.approve_device(helper.id, grants(&DeviceGrant::ALL), helper.id).await.unwrap();
    assert_eq!(wider, Err(DeviceRefused::Widening));
    env.clankie.dismiss_device(helper.id, by).await.unwrap().unwrap();
    assert_eq!(try_as(helper.id).await, Err(DeviceRefused::NotAuthorised));
    assert!(try_as(by).await.is_ok());
    assert_eq!(env.clankie.dismiss_device(by, by).await.unwrap(), Err(DeviceRefused::Unknown), "no device");
}

#[tokio::test]
async fn a_device_that_waits_too_long_is_forgotten() {
    let env = Env::start().await;
    let id = waiting(&env, 7, &[DeviceGrant::Observe]).await;
    assert!(matches!(poll(&env, id).await, Polled::Not(Poll::Waiting { .. })));
    env.clock.advance(i64::try_from(PAIRING_MS).unwrap());
    assert_eq!(poll(&env, id).await, Polled::Not(Poll::Unknown));
    assert!(env.clankie.waiting_devices().await.unwrap().is_empty());
}

fn said_by(device: &Token) -> Request {
    let transport = Transport { gateway: Gateway::Local, lane: device.name.clone() };
    let room = RoomId::local("lab").unwrap();
    Request { room, actor: ActorId::local(&device.name), transport, ..request("r", "m1", "ann", "work") }
}

/// A device that loses `chat`, by narrowing as by revocation, ends what it had said, and is not heard.
#[tokio::test]
async fn a_device_that_may_not_talk_any_more_ends_its_work() {
    for narrow in [true, false] {
        let rooms = BTreeSet::from([RoomId::local("lab").unwrap()]);
        let policy = GrantPolicy { local_rooms: rooms, ..GrantPolicy::default() };
        let mut env = Env::with(policy, Limits::default()).await;
        let by = operator(&env).await;
        let device = paired(&env, by, &[DeviceGrant::Chat, DeviceGrant::Observe]).await;
        let Answer::Accepted { handoff, .. } = env.clankie.submit(said_by(&device)).await.unwrap() else {
            panic!("it is heard");
        };
        let mut session = env.ready().await;
        if narrow {
            env.clankie.approve_device(device.id, grants(&[DeviceGrant::Observe]), by).await.unwrap().unwrap();
        } else {
            env.clankie.dismiss_device(device.id, by).await.unwrap().unwrap();
        }
        assert_eq!(session.next_command().await, Command::Abort);
        drop(session);
        assert_eq!(env.result(handoff).await, TurnResult::failed(FailCode::SourceExpired));
    }
}
