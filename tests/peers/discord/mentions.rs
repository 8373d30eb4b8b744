//! Whom a message notifies: what its words name, as far as the sender allowed it.

use serde_json::Value;

use super::ids::Person;
use super::log::Pings;

/// The pings of these words. Without `allowed`, Discord takes everything that the words name and
/// the author of the quoted message.
pub(super) fn pings(content: &str, allowed: &Value, quoted: Option<Person>) -> Pings {
    let may = |kind: &str, id: u64| {
        let listed = |name: &str, wanted: &str| {
            allowed[name].as_array().is_some_and(|list| list.iter().any(|one| one.as_str() == Some(wanted)))
        };
        allowed.is_null() || listed("parse", kind) || listed(kind, &id.to_string())
    };
    let mut pings = Pings {
        everyone: (content.contains("@everyone") || content.contains("@here")) && may("everyone", 0),
        ..Pings::default()
    };
    for (start, _) in content.match_indices("<@") {
        let Some((inside, _)) = content[start + 2..].split_once('>') else { continue };
        if let Some(role) = inside.strip_prefix('&').and_then(|id| id.parse().ok()) {
            if may("roles", role) && !pings.roles.contains(&role) {
                pings.roles.push(role);
            }
        } else if let Ok(person) = inside.trim_start_matches('!').parse()
            && may("users", person)
            && !pings.people.contains(&Person(person))
        {
            pings.people.push(Person(person));
        }
    }
    let answers = allowed.is_null() || allowed["replied_user"] == true;
    if let Some(quoted) = quoted.filter(|quoted| answers && !pings.people.contains(quoted)) {
        pings.people.push(quoted);
    }
    pings
}
