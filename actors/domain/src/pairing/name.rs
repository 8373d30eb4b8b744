//! What a device calls itself, and the name under which it then speaks.

use crate::ids::{LANE_NAME_MAX, LaneName, Malformed, TokenId};
use crate::legible::shown;
use crate::principal::{Token, TokenKind};

/// Longest name that a device may give itself, in characters.
pub const DEVICE_NAME_MAX: usize = 64;
/// How the account names of devices begin: a device cannot take the name of a person.
const PREFIX: &str = "device-";

/// The name that a device gave itself: shown as reported, and believed in nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceName(String);

impl DeviceName {
    /// Cleans a name: what cannot be seen goes, and so does space around and between words.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let rule = "must be 1–64 characters that can be seen";
        let name = shown(text).split_whitespace().collect::<Vec<_>>().join(" ");
        if name.is_empty() || text.chars().count() > DEVICE_NAME_MAX {
            return Err(Malformed { field: "name", rule });
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name that the device's token has and that its words in rooms carry: made of the reported
/// one, and of the id where that is taken. It is never one that a person's account had.
pub(super) fn account(name: &DeviceName, id: TokenId, existing: &[Token]) -> Option<LaneName> {
    let taken = |wanted: &LaneName| {
        let shares = |kind| matches!(kind, TokenKind::Device | TokenKind::Account);
        existing.iter().any(|token| shares(token.kind) && token.name == *wanted)
    };
    let (short, hex) = (slug(name.as_str()), id.0.simple());
    let wanted = [format!("{PREFIX}{short}"), format!("{PREFIX}{hex}")];
    let mut names = wanted.iter().filter_map(|text| LaneName::parse(text).ok());
    names.find(|name| !taken(name))
}

fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(LANE_NAME_MAX - PREFIX.len());
    if slug.is_empty() { "unnamed".to_owned() } else { slug }
}
