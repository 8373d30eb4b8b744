//! M7: the words of a secret answer stand nowhere but in the session that they were given to.

use std::collections::BTreeSet;

use super::Found;
use crate::sim::history::{Doing, Fact, Last, Mail, What};

pub(super) fn judge(facts: &[Fact], found: &mut Found) {
    let of = |fact: &Fact| {
        let What::Mail(Mail::Secret(_, text)) = &fact.what else { return None };
        Some(text.clone())
    };
    let secrets: BTreeSet<String> = facts.iter().filter_map(of).collect();
    if secrets.is_empty() {
        return;
    }
    for Fact { at, what } in facts {
        for place in shown(what) {
            if secrets.iter().any(|secret| place.1.contains(secret.as_str())) {
                found.broken("M7", *at, format!("a secret stands in {}", place.0));
            }
        }
    }
}

/// Everything in a fact that somebody beside its session can read.
fn shown(what: &What) -> Vec<(&'static str, String)> {
    if let What::Record(record) = what {
        return vec![("a record", format!("{record:?}"))];
    }
    if let What::Event(_, event) = what {
        return vec![("an event", format!("{event:?}"))];
    }
    if let What::Posted(post) = what {
        return vec![("the chat", post.text.clone())];
    }
    if let What::Heard(_, Some(answer)) = what {
        return vec![("an answer", format!("{answer:?}"))];
    }
    if let What::Run(_, Doing::Began(given)) = what
        && given.answered.is_none()
    {
        return vec![("another session", given.request.clone())];
    }
    if let What::Mail(Mail::Ask(view)) = what {
        return vec![("an ask", format!("{view:?}"))];
    }
    if let What::Mail(Mail::Update(update)) = what {
        return vec![("an update", format!("{update:?}"))];
    }
    if let What::Mail(Mail::Granted(_, Some(reply), _)) = what {
        return vec![("a receipt", format!("{reply:?}"))];
    }
    if let What::Last(last) = what {
        return at_last(last);
    }
    Vec::new()
}

fn at_last(last: &Last) -> Vec<(&'static str, String)> {
    vec![
        ("a record", format!("{:?}", last.records)),
        ("a receipt", format!("{:?}", last.receipts)),
        ("a room", format!("{:?}", last.messages)),
        ("a display", format!("{:?}", last.lines)),
        ("a transcript", format!("{:?}", last.transcripts)),
        ("the mailbox", format!("{:?} {:?}", last.asks, last.updates)),
        ("the disk", last.on_disk.join(" ")),
    ]
}
