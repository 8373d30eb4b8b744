//! What waits in the mailbox without an event that brings it: at a first start, and after events that
//! are missing. Oldest first and some at a time, so that a mailbox of any size is told whole and a
//! sink's task holds no more of it than of anything else.

use std::collections::BTreeMap;

use clankie_actors::mail::{AskQuery, UpdateFilter, UpdateQuery};
use clankie_actors::{Clankie, Failure};
use clankie_domain::ask::AskStatus;
use clankie_domain::mailbox::RECORDS_MAX;
use clankie_domain::time::Timestamp;
use clankie_domain::update::OwnerUpdate;

use super::Updates;
use super::waiting::{Thing, WAITING_MAX, Waits};

/// Asks of one page while all of them are walked: their texts are held no longer than the page.
const PAGE: usize = 64;

/// A place in the order in which things came to wait: the moment, and an identity that no two share.
pub(super) type Moment = (Timestamp, u128);

/// What is behind a sink's events and was not taken in yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind {
    /// Everything to this moment was taken in; none at the beginning.
    pub(super) after: Option<Moment>,
    /// What comes after this moment, its event brings; none while nobody has looked yet.
    pub(super) until: Option<Moment>,
}

impl Behind {
    /// All of it.
    pub(super) const ALL: Self = Self { after: None, until: None };
}

/// The oldest of what waits, and what is then still behind.
pub(super) fn oldest(
    clankie: &Clankie,
    updates: Updates,
    behind: Behind,
) -> Result<(Vec<Waits>, Option<Behind>), Failure> {
    let mut first = First::of(behind);
    asks(clankie, &mut first)?;
    match updates {
        Updates::Told => unread(clankie, &mut first)?,
        Updates::Kept => {}
    }
    Ok(first.taken())
}

/// The first of all that is looked at, in its order.
struct First {
    behind: Behind,
    newest: Option<Moment>,
    kept: BTreeMap<Moment, Waits>,
    /// Whether something was left for later.
    left: bool,
}

impl First {
    fn of(behind: Behind) -> Self {
        Self { behind, newest: None, kept: BTreeMap::new(), left: false }
    }

    fn look(&mut self, waits: Waits) {
        let moment = waits.moment();
        self.newest = self.newest.max(Some(moment));
        let Behind { after, until } = self.behind;
        if after.is_some_and(|after| moment <= after) || until.is_some_and(|until| moment > until) {
            return;
        }
        self.kept.insert(moment, waits);
        if self.kept.len() > WAITING_MAX {
            self.kept.pop_last();
            self.left = true;
        }
    }

    fn taken(self) -> (Vec<Waits>, Option<Behind>) {
        let after = self.kept.last_key_value().map(|(moment, _)| *moment);
        let until = self.behind.until.or(self.newest);
        let rest = self.left.then_some(Behind { after, until });
        (self.kept.into_values().collect(), rest)
    }
}

fn asks(clankie: &Clankie, first: &mut First) -> Result<(), Failure> {
    let mut query = AskQuery { status: Some(AskStatus::Pending), limit: PAGE, ..AskQuery::default() };
    loop {
        let page = clankie.asks(&query)?;
        page.asks.iter().for_each(|view| first.look(Waits::ask(&view.entry.ask, None)));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Conversation by conversation, since each has no more than a list can give.
fn unread(clankie: &Clankie, first: &mut First) -> Result<(), Failure> {
    for summary in clankie.conversations()? {
        let conversation = Some(summary.conversation);
        let query = UpdateQuery { conversation, show: UpdateFilter::Unread, limit: RECORDS_MAX };
        clankie.updates(&query)?.updates.iter().for_each(|update| first.look(found(update)));
    }
    Ok(())
}

fn found(update: &OwnerUpdate) -> Waits {
    let thing = Thing::Update { conversation: update.conversation.clone(), id: update.id };
    Waits { seq: None, since: update.at, thing }
}

#[cfg(test)]
mod tests {
    use clankie_domain::ids::{ConversationId, RequestId};
    use uuid::Uuid;

    use super::*;

    fn waits(n: u32) -> Waits {
        let conversation = ConversationId::parse(&Uuid::nil().to_string()).unwrap();
        let thing = Thing::Ask { conversation, request: RequestId(Uuid::from_u128(n.into())) };
        Waits { seq: None, since: Timestamp(i64::from(n / 3)), thing }
    }

    /// In whatever order they are looked at, and whatever is answered or raised in between.
    #[test]
    fn everything_is_taken_in_once_from_the_oldest_on_and_what_comes_later_is_not() {
        let many = u32::try_from(WAITING_MAX).unwrap() * 3 + 7;
        let (mut behind, mut taken, mut rounds) = (Some(Behind::ALL), Vec::new(), 0);
        while let Some(now) = behind {
            let mut first = First::of(now);
            // What was raised since the beginning is brought by its event.
            (0..many + rounds).rev().for_each(|n| first.look(waits(n)));
            let (batch, rest) = first.taken();
            assert!(batch.len() <= WAITING_MAX);
            taken.extend(batch);
            (behind, rounds) = (rest, rounds + 1);
        }
        assert_eq!(rounds, 4);
        assert_eq!(taken, (0..many).map(waits).collect::<Vec<_>>());
    }
}
