//! One update, whole.

use super::{INDENT, fact, fact_whole, place, section};
use crate::cli::table::card;
use crate::cli::words;
use crate::owner::wire::OwnerUpdateBody;

/// The update as it stands at that moment.
pub(in crate::cli) fn update(update: &OwnerUpdateBody, now: jiff::Timestamp) -> Vec<String> {
    let mut lines = vec![format!("{} · {} old", fact(&update.state), words::age(&update.at, now))];
    let mut facts = vec![("update", fact(&update.id)), ("conversation", fact(&update.source.conversation_id))];
    facts.extend(update.source.seat_id.as_deref().map(|seat| ("seat, as it says", fact(seat))));
    if let Some(issue) = &update.issue {
        facts.push(("issue", format!("{} {}, {}", fact(&issue.tracker), fact(&issue.key), place(&issue.url))));
    }
    lines.extend(card(&facts));
    lines.extend(section("title", &update.title));
    lines.extend(section("news", &update.body));
    lines.extend(places(update));
    if update.state == "unread" {
        let id = fact_whole(&update.id);
        let does =
            [("read", format!("clankie updates read {id}")), ("put away", format!("clankie updates dismiss {id}"))];
        lines.extend(std::iter::once(String::new()).chain(card(&does)));
    }
    lines
}

/// Links and media, which nothing here ever fetches.
fn places(update: &OwnerUpdateBody) -> Vec<String> {
    let links = update.links.iter().map(|link| (fact(&link.label), &link.url));
    let media = update.media.iter().map(|media| {
        let alt = media.alt.as_deref().map_or_else(String::new, |alt| format!(", {}", fact(alt)));
        (format!("{}{alt}", fact(&media.mime_type)), &media.url)
    });
    let lines: Vec<String> = links
        .chain(media)
        .flat_map(|(label, url)| [format!("{INDENT}{label}"), format!("{INDENT}{INDENT}{}", place(url))])
        .collect();
    if lines.is_empty() { lines } else { [String::new(), "links:".to_owned()].into_iter().chain(lines).collect() }
}
