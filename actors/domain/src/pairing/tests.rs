//! Pairing under abuse: reuse, expiry, guesses, haste, and more than was offered.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const T0: Timestamp = Timestamp(1_000_000);
const SECRET: [u8; 32] = [9; 32];

fn grants(of: &[DeviceGrant]) -> BTreeSet<DeviceGrant> {
    of.iter().copied().collect()
}

fn observe() -> BTreeSet<DeviceGrant> {
    grants(&[DeviceGrant::Observe])
}

fn code(n: u8) -> [u8; 32] {
    [n; 32]
}

fn id(n: u8) -> TokenId {
    TokenId(Uuid::from_u128(u128::from(n)))
}

fn applicant(n: u8) -> Applicant {
    let name = DeviceName::parse("Ann's phone").unwrap();
    Applicant { id: id(n), name, secret_hash: SECRET, address: "192.0.2.7".into() }
}

fn offered(codes: &[u8]) -> Pairing {
    let mut pairing = Pairing::default();
    for n in codes {
        pairing.offer(code(*n), observe(), T0).unwrap();
    }
    pairing
}

fn redeems(pairing: &mut Pairing, n: u8, now: Timestamp) -> bool {
    pairing.redeem(&code(n), applicant(n), now).is_ok()
}

#[test]
fn a_code_is_redeemed_once() {
    let mut pairing = offered(&[1]);
    assert!(redeems(&mut pairing, 1, T0));
    assert!(pairing.redeem(&code(1), applicant(2), T0).is_err());
    assert_eq!(pairing.open(T0).len(), 1);
}

#[test]
fn a_code_lives_ten_minutes_and_so_does_a_device_that_waits() {
    assert!(redeems(&mut offered(&[1]), 1, T0.plus(599_999)));
    assert!(!redeems(&mut offered(&[1]), 1, T0.plus(600_000)));
    let mut pairing = offered(&[1]);
    redeems(&mut pairing, 1, T0);
    assert!(pairing.approvable(id(1), &observe(), T0.plus(599_999)).is_ok());
    assert_eq!(pairing.approvable(id(1), &observe(), T0.plus(600_000)), Err(DeviceRefused::Unknown));
    assert_eq!(pairing.poll(id(1), &SECRET, T0.plus(600_000)), Poll::Unknown);
}

#[test]
fn five_wrong_codes_burn_every_code_that_was_open() {
    let mut pairing = offered(&[1, 2]);
    for _ in 0..4 {
        assert!(!redeems(&mut pairing, 9, T0));
    }
    let mut spared = pairing.clone();
    assert!(redeems(&mut spared, 1, T0), "four are forgiven");
    assert!(!redeems(&mut pairing, 9, T0));
    assert!(!redeems(&mut pairing, 1, T0) && !redeems(&mut pairing, 2, T0));
    pairing.offer(code(3), observe(), T0).unwrap();
    assert!(redeems(&mut pairing, 3, T0), "a new code starts anew");
}

#[test]
fn at_most_three_pairings_are_open_offered_and_waiting_together() {
    let mut pairing = offered(&[1, 2, 3]);
    assert_eq!(pairing.offer(code(4), observe(), T0), Err(DeviceRefused::TooManyOpen));
    redeems(&mut pairing, 1, T0);
    assert_eq!(pairing.offer(code(4), observe(), T0), Err(DeviceRefused::TooManyOpen));
    pairing.deny(id(1), T0).unwrap();
    assert!(pairing.offer(code(4), observe(), T0).is_ok());
    assert_eq!(pairing.offer(code(5), observe(), T0.plus(PAIRING_MS)), Ok(T0.plus(2 * PAIRING_MS)));
}

#[test]
fn no_more_than_what_was_offered_is_approved_and_nothing_is_no_grant() {
    let mut pairing = Pairing::default();
    let both = grants(&[DeviceGrant::Observe, DeviceGrant::Steer]);
    assert_eq!(pairing.offer(code(1), BTreeSet::new(), T0), Err(DeviceRefused::NoGrants));
    pairing.offer(code(1), both.clone(), T0).unwrap();
    redeems(&mut pairing, 1, T0);
    let refused = |chosen: &[DeviceGrant]| pairing.approvable(id(1), &grants(chosen), T0).err();
    assert_eq!(refused(&[DeviceGrant::Observe]), None);
    assert_eq!(refused(&[]), Some(DeviceRefused::NoGrants));
    assert_eq!(refused(&[DeviceGrant::Observe, DeviceGrant::DeviceAdmin]), Some(DeviceRefused::NotOffered));
    assert_eq!(pairing.approvable(id(2), &both, T0).err(), Some(DeviceRefused::Unknown));
}

#[test]
fn a_hasty_device_is_told_to_slow_down_and_a_stranger_hears_nothing() {
    let mut pairing = offered(&[1]);
    redeems(&mut pairing, 1, T0);
    assert_eq!(pairing.poll(id(1), &SECRET, T0), Poll::Waiting { interval_ms: 5_000 });
    assert_eq!(pairing.poll(id(1), &SECRET, T0.plus(4_999)), Poll::SlowDown { interval_ms: 10_000 });
    assert_eq!(pairing.poll(id(1), &SECRET, T0.plus(14_999)), Poll::Waiting { interval_ms: 10_000 });
    assert_eq!(pairing.poll(id(1), &[8; 32], T0.plus(30_000)), Poll::Unknown);
    assert_eq!(pairing.poll(id(2), &SECRET, T0.plus(30_000)), Poll::Unknown);
}

#[test]
fn a_denied_device_is_approved_no_more() {
    let mut pairing = offered(&[1]);
    redeems(&mut pairing, 1, T0);
    pairing.deny(id(1), T0).unwrap();
    assert_eq!(pairing.poll(id(1), &SECRET, T0), Poll::Denied);
    assert_eq!(pairing.approvable(id(1), &observe(), T0).err(), Some(DeviceRefused::Unknown));
    assert!(pairing.open(T0).is_empty());
}

#[test]
fn only_the_operator_gives_a_device_more_than_it_has() {
    let mut pairing = offered(&[1]);
    redeems(&mut pairing, 1, T0);
    let device = pairing.approvable(id(1), &observe(), T0).unwrap().token(&[], observe(), T0).unwrap();
    let more = grants(&[DeviceGrant::Observe, DeviceGrant::DeviceAdmin]);
    assert_eq!(regrant(TokenKind::Device, &device, more.clone()), Err(DeviceRefused::Widening));
    assert_eq!(regrant(TokenKind::Operator, &device, more.clone()).unwrap().grants, more);
    assert_eq!(regrant(TokenKind::Device, &device, observe()).unwrap().grants, observe());
    assert_eq!(regrant(TokenKind::Operator, &device, BTreeSet::new()), Err(DeviceRefused::NoGrants));
}

#[test]
fn a_device_speaks_under_a_name_that_no_person_and_no_other_device_has() {
    let mut pairing = offered(&[1]);
    redeems(&mut pairing, 1, T0);
    let waiting = pairing.open(T0).remove(0);
    let first = waiting.token(&[], observe(), T0).unwrap();
    assert_eq!(first.name.as_str(), "device-ann-s-phone");
    assert_eq!(first.reported_name.as_deref(), Some("Ann's phone"));
    let gone = first.revoked(T0);
    let second = waiting.token(&[gone], observe(), T0).unwrap();
    assert_eq!(second.name.as_str(), "device-00000000000000000000000000000001", "a revoked name is not reused");
}

#[test]
fn a_reported_name_loses_what_cannot_be_seen() {
    let name = |text: &str| DeviceName::parse(text).map(|name| name.as_str().to_owned()).ok();
    assert_eq!(name("  Ann's \t\n phone ").as_deref(), Some("Ann's phone"));
    assert_eq!(name("gpj\u{202e}.exe\u{200b}\u{7}\u{1b}[2J").as_deref(), Some("gpj.exe[2J"));
    for refused in ["", " \n", "\u{200b}\u{feff}", &"x".repeat(65)] {
        assert_eq!(name(refused), None, "{refused:?}");
    }
    assert_eq!(name(&"ü".repeat(64)).map(|name| name.chars().count()), Some(64));
}

#[test]
fn a_code_is_typed_in_any_case_with_or_without_its_dash() {
    let code = Code::drawn(123_456_789_012);
    for text in [code.shown(), code.shown().to_lowercase(), code.expose().to_owned(), format!(" {} ", code.shown())] {
        assert_eq!(typed(&text), code.expose());
    }
    assert_ne!(typed(&format!("{}B", code.shown())), code.expose());
    assert_eq!(format!("{code:?}"), "Code(…)");
}

proptest! {
    #[test]
    fn a_code_is_eight_letters_of_the_alphabet(random: u64) {
        let code = Code::drawn(random);
        prop_assert_eq!(code.expose().len(), CODE_CHARS);
        prop_assert!(code.expose().bytes().all(|letter| ALPHABET.contains(&letter)));
        prop_assert_eq!(code.shown().len(), CODE_CHARS + 1);
    }

    /// Whatever happens in whatever order: never more than three wait, and never more than was offered
    /// by the operator is approved.
    #[test]
    fn no_history_exceeds_three_pending(steps in prop::collection::vec((0u8..4, 0u8..6, 0u64..400_000), 1..80)) {
        let (mut pairing, mut now, mut made) = (Pairing::default(), T0, 0u32);
        for (step, n, later) in steps {
            now = now.plus(later);
            match step {
                0 => made += u32::from(pairing.offer(code(n), observe(), now).is_ok()),
                1 => drop(pairing.redeem(&code(n), applicant(n), now).map(drop)),
                2 => drop(pairing.deny(id(n), now).map(drop)),
                _ => {
                    let token = pairing.approvable(id(n), &observe(), now).ok().map(|waiting| waiting.applicant.id);
                    token.into_iter().for_each(|id| pairing.settled(id));
                }
            }
            let open = pairing.open(now);
            prop_assert!(open.len() <= OPEN_MAX);
            prop_assert!(open.len() <= made as usize, "none waits without an offer");
        }
    }
}
