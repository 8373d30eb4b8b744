//! What a reader of handoffs who may not read the mailbox is shown instead of the owner's mail.
//!
//! Such a reader sees that work went on after an answer, since that is a handoff, and what the agent
//! said of it in its own words. It sees no ask's identity, no draft and no answer as it was given. A
//! result that waits for an approval is safe as it is: its record holds a sentence and not the ask.

use clankie_domain::ids::MINTED_ANSWER;

use super::{EntryBody, HandoffBody, TranscriptEntry};

/// The tools whose arguments and answers are the owner's mail.
const MAIL_TOOLS: [&str; 2] = ["request_user_input", "mail_owner_update"];
/// What stands for words of the mailbox.
const LEFT_OUT: &str = "(in the owner's mailbox)";

impl HandoffBody {
    /// Leaves out what is the owner's mail.
    pub(crate) fn leave_mail_out(&mut self) {
        nameless(&mut self.delivery_id);
        self.trigger.iter_mut().for_each(nameless);
    }
}

impl TranscriptEntry {
    /// Leaves out what is the owner's mail.
    pub(crate) fn leave_mail_out(&mut self) {
        match &mut self.entry {
            EntryBody::Given { delivery_id, .. } => nameless(delivery_id),
            EntryBody::Tool { name, detail, .. } if MAIL_TOOLS.contains(&name.as_str()) => {
                LEFT_OUT.clone_into(detail);
            }
            EntryBody::Tool { .. } | EntryBody::Text { .. } | EntryBody::Steer { .. } | EntryBody::Note { .. } => {}
        }
    }
}

/// The delivery of a continuation without the ask that it names. No client's id begins so.
fn nameless(delivery: &mut String) {
    if delivery.starts_with(MINTED_ANSWER) {
        delivery.truncate(MINTED_ANSWER.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delivery_of_an_answer_is_shown_without_its_ask_and_every_other_one_whole() {
        for (whole, shown) in [
            ("clankie:answer:00000000-0000-7000-8000-000000000001", "clankie:answer:"),
            ("clankie:edit:0afd", "clankie:edit:0afd"),
            ("m-clankie:answer:1", "m-clankie:answer:1"),
        ] {
            let mut delivery = whole.to_owned();
            nameless(&mut delivery);
            assert_eq!(delivery, shown);
        }
    }
}
