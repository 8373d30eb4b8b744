//! Who may call what: one table over every kind of credential and every grant of a device.
//!
//! Every surface asks [`may`] and nothing else. Authority is the kind of a stored token and the
//! grants stored with it, never a name, a header or a field of a request.

use std::collections::BTreeSet;

use crate::mutant::{self, Mutant};
use crate::principal::{DeviceGrant, TokenKind};

/// What a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// To read handoffs, transcripts, rooms and how the service stands.
    ReadHandoffs,
    /// To cancel and message handoffs.
    Steer,
    /// To list, read, answer and cancel asks, and to list, read and dismiss updates; with the counts, and
    /// with conversations, whose lines show answers.
    Mailbox,
    /// To list devices, to approve those that wait, to narrow and to revoke them.
    Devices,
    /// To offer a pairing.
    Pair,
    /// To make, list, rotate and revoke tokens.
    Tokens,
    /// To have the configuration read again.
    Configuration,
    /// To talk in local rooms.
    Chat,
    /// To read what was said in local rooms.
    ReadRooms,
    /// To hand turns in for the speakers of a lane.
    Ingress,
}

impl Need {
    /// Every need.
    pub const ALL: [Self; 10] = [
        Self::ReadHandoffs,
        Self::Steer,
        Self::Mailbox,
        Self::Devices,
        Self::Pair,
        Self::Tokens,
        Self::Configuration,
        Self::Chat,
        Self::ReadRooms,
        Self::Ingress,
    ];
}

/// Whether a token of that kind with those grants may do what needs `need`.
///
/// The captain may do nothing here: it publishes through its tools, bound to their run.
pub fn may(kind: TokenKind, grants: &BTreeSet<DeviceGrant>, need: Need) -> bool {
    match kind {
        TokenKind::Operator => operator(need),
        TokenKind::Captain => false,
        TokenKind::LaneText | TokenKind::LaneVoice => need == Need::Ingress,
        TokenKind::Account => matches!(need, Need::Chat | Need::ReadRooms),
        TokenKind::Device if mutant::on(Mutant::M2EveryDeviceMay) && need == Need::Mailbox => true,
        TokenKind::Device => granting(need).iter().any(|grant| grants.contains(grant)),
    }
}

/// The owner speaks in no room under this credential: what is said there has a speaker's name.
fn operator(need: Need) -> bool {
    match need {
        Need::ReadHandoffs
        | Need::Steer
        | Need::Mailbox
        | Need::Devices
        | Need::Pair
        | Need::Tokens
        | Need::Configuration
        | Need::ReadRooms => true,
        Need::Chat | Need::Ingress => false,
    }
}

/// The grants of which each alone suffices.
fn granting(need: Need) -> &'static [DeviceGrant] {
    match need {
        Need::ReadHandoffs => &[DeviceGrant::Observe],
        Need::Steer => &[DeviceGrant::Steer],
        Need::Mailbox => &[DeviceGrant::TerminalControl],
        Need::Devices => &[DeviceGrant::DeviceAdmin],
        Need::Chat => &[DeviceGrant::Chat],
        Need::ReadRooms => &[DeviceGrant::Chat, DeviceGrant::Observe],
        Need::Pair | Need::Tokens | Need::Configuration | Need::Ingress => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages' words as a table, one letter for each need in order; a second opinion beside the code.
    const KINDS: [(TokenKind, &str); 5] = [
        (TokenKind::Operator, "HSMDPTC-R-"),
        (TokenKind::Captain, "----------"),
        (TokenKind::LaneText, "---------I"),
        (TokenKind::LaneVoice, "---------I"),
        (TokenKind::Account, "-------LR-"),
    ];
    const GRANTS: [(DeviceGrant, &str); 5] = [
        (DeviceGrant::Chat, "-------LR-"),
        (DeviceGrant::Steer, "-S--------"),
        (DeviceGrant::Observe, "H-------R-"),
        (DeviceGrant::TerminalControl, "--M-------"),
        (DeviceGrant::DeviceAdmin, "---D------"),
    ];

    fn every_set() -> Vec<BTreeSet<DeviceGrant>> {
        let pick =
            |mask: u32| DeviceGrant::ALL.into_iter().enumerate().filter(move |(place, _)| mask >> place & 1 == 1);
        (0..32).map(|mask| pick(mask).map(|(_, grant)| grant).collect()).collect()
    }

    fn letter(row: &str, place: usize) -> bool {
        row.as_bytes()[place] != b'-'
    }

    #[test]
    fn b83_b87_every_kind_with_every_set_of_grants_may_do_exactly_what_the_table_says() {
        let mut seen = 0;
        for grants in every_set() {
            for (place, need) in Need::ALL.into_iter().enumerate() {
                for (kind, row) in KINDS {
                    assert_eq!(may(kind, &grants, need), letter(row, place), "{kind:?} {grants:?} {need:?}");
                    seen += 1;
                }
                let device = GRANTS.iter().any(|(grant, row)| grants.contains(grant) && letter(row, place));
                assert_eq!(may(TokenKind::Device, &grants, need), device, "device {grants:?} {need:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 32 * Need::ALL.len() * TokenKind::ALL.len(), "no kind and no need is left out");
    }

    #[test]
    fn a_device_without_grants_may_do_nothing() {
        assert!(Need::ALL.into_iter().all(|need| !may(TokenKind::Device, &BTreeSet::new(), need)));
    }
}
