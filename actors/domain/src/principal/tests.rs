//! Rotation and revocation: which secrets of a token work, and when.

use uuid::Uuid;

use super::*;

const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

fn token(kind: TokenKind, name: &str) -> Token {
    Token {
        id: TokenId(Uuid::from_u128(7)),
        kind,
        name: LaneName::parse(name).unwrap(),
        reported_name: None,
        grants: BTreeSet::new(),
        secret_hash: OLD,
        former: None,
        created_at: Timestamp(0),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

#[test]
fn both_secrets_work_during_the_overlap_of_a_minute_and_then_the_new_one_alone() {
    let now = Timestamp(1_000);
    let rotated = token(TokenKind::LaneText, "t").rotated(NEW, now).unwrap();
    assert_eq!(rotated.secrets(now), [NEW, OLD]);
    assert_eq!(rotated.secrets(now.plus(59_999)), [NEW, OLD]);
    assert_eq!(rotated.secrets(now.plus(60_000)), [NEW]);
}

#[test]
fn a_second_rotation_ends_the_first_secret_at_once() {
    let now = Timestamp(1_000);
    let twice = token(TokenKind::Operator, "o").rotated(NEW, now).unwrap().rotated([3; 32], now.plus(1)).unwrap();
    assert_eq!(twice.secrets(now.plus(1)), [[3; 32], NEW]);
}

#[test]
fn no_secret_of_a_revoked_or_expired_token_works_and_none_is_made() {
    let now = Timestamp(1_000);
    let rotated = token(TokenKind::Operator, "o").rotated(NEW, now).unwrap();
    let gone = rotated.revoked(now.plus(1));
    assert_eq!((gone.secrets(now.plus(1)), gone.former), (vec![], None));
    assert_eq!(gone.rotated([3; 32], now.plus(2)), None);
    let expired = Token { expires_at: Some(now), ..rotated };
    assert_eq!((expired.secrets(now), expired.rotated([3; 32], now)), (vec![], None));
}

#[test]
fn a_person_cannot_take_the_name_of_a_device_nor_one_that_was_revoked() {
    let name = LaneName::parse("device-phone").unwrap();
    let device = token(TokenKind::Device, "device-phone");
    assert_eq!(may_create(std::slice::from_ref(&device), TokenKind::Account, &name), Err(TokenRefused::NameTaken));
    let gone = device.revoked(Timestamp(1));
    assert_eq!(may_create(&[gone], TokenKind::Account, &name), Err(TokenRefused::NameRetired));
}

#[test]
fn a_device_that_may_not_talk_is_not_heard() {
    let device = |grants: &[DeviceGrant]| Token {
        grants: grants.iter().copied().collect(),
        ..token(TokenKind::Device, "device-phone")
    };
    assert!(!device(&[DeviceGrant::Chat]).is_silenced());
    assert!(device(&[DeviceGrant::Observe]).is_silenced());
    assert!(device(&[DeviceGrant::Chat]).revoked(Timestamp(1)).is_silenced());
    assert!(!token(TokenKind::Account, "ann").is_silenced());
}
