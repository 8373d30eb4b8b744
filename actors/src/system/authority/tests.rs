//! Who may answer the mailbox by the tokens that there are.

use clankie_domain::principal::DeviceGrant;
use uuid::Uuid;

use super::*;

const NOW: Timestamp = Timestamp(1_000);

fn token(n: u128, kind: TokenKind, grants: &[DeviceGrant]) -> Token {
    Token {
        id: TokenId(Uuid::from_u128(n)),
        kind,
        name: LaneName::parse("t").unwrap(),
        reported_name: None,
        grants: grants.iter().copied().collect(),
        secret_hash: [0; 32],
        former: None,
        created_at: Timestamp(0),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

/// M2: the operator and a device with `terminal_control`, while they stand; nobody else, the captain
/// least of all.
#[test]
fn m2_only_the_operator_and_controlling_devices_that_stand_may_answer() {
    let all = [
        token(1, TokenKind::Operator, &[]),
        token(2, TokenKind::Device, &[DeviceGrant::TerminalControl]),
        token(3, TokenKind::Device, &[DeviceGrant::Observe, DeviceGrant::Chat, DeviceGrant::DeviceAdmin]),
        token(4, TokenKind::Captain, &DeviceGrant::ALL),
        token(5, TokenKind::LaneText, &DeviceGrant::ALL),
        token(6, TokenKind::Account, &DeviceGrant::ALL),
        token(7, TokenKind::Operator, &[]).revoked(NOW),
        token(8, TokenKind::Device, &[DeviceGrant::TerminalControl]).revoked(NOW),
        Token { expires_at: Some(NOW), ..token(9, TokenKind::Operator, &[]) },
    ];
    let authority = Authority {
        epoch: GrantEpoch(1),
        policy: GrantPolicy::default(),
        sources: revoked_sources(&all),
        routes: BTreeMap::new(),
        answerers: answerers(&all),
    };
    let may = |at| (1..=9).filter(|n| authority.may_answer(TokenId(Uuid::from_u128(*n)), at)).collect::<Vec<_>>();
    assert_eq!(may(NOW), [1, 2]);
    assert_eq!(may(NOW.minus(1)), [1, 2, 9], "expiry is looked at when it is used");
}
