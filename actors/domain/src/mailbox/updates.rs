//! Informational mail: publishing it once, and the owner's reading and putting away.

use std::sync::Arc;

use super::changing::Moved;
use super::{Answerer, MailChange, MailContext, MailDecision, MailOutcome, MailRefusal, Mailbox, PublishRefused};
use crate::ids::{HandoffId, UpdateId};
use crate::time::Timestamp;
use crate::update::{OwnerUpdate, Publication, UpdateDraft, UpdateState};

/// News on its way into the mailbox.
#[derive(Debug)]
pub(super) struct News {
    pub(super) draft: UpdateDraft,
    pub(super) handoff: HandoffId,
    pub(super) publication: Publication,
    pub(super) minted: UpdateId,
}

/// What an owner does with an update.
#[derive(Debug, Clone, Copy)]
pub(super) enum UpdateMove {
    Read,
    Dismiss,
}

impl Mailbox {
    pub(super) fn publish_update(&self, news: News, now: Timestamp) -> MailDecision {
        if let Err(refused) = news.draft.check() {
            return self.unchanged(MailOutcome::NotPublished(PublishRefused::Draft(refused)));
        }
        match self.updates.values().find(|known| known.publication == news.publication) {
            Some(known) if known.draft == news.draft => self.unchanged(MailOutcome::AlreadyMailed(known.id)),
            Some(_) => self.unchanged(MailOutcome::NotPublished(PublishRefused::PublicationConflict)),
            None => self.mail(news, now),
        }
    }

    fn mail(&self, news: News, now: Timestamp) -> MailDecision {
        let update = OwnerUpdate {
            id: news.minted,
            conversation: self.head.conversation.clone(),
            seq: self.head.next_update,
            handoff: news.handoff,
            publication: news.publication,
            draft: news.draft,
            at: now,
            state: UpdateState::Unread,
        };
        let mut changing = self.changing();
        changing.forget_updates(self);
        if !changing.next.fits_update(&update) {
            return self.unchanged(MailOutcome::NotPublished(PublishRefused::Capacity));
        }
        let (id, update) = (update.id, Arc::new(update));
        changing.next.updates.insert(id, Arc::clone(&update));
        changing.next.head.next_update = self.head.next_update.saturating_add(1);
        changing.changes.push(MailChange::Update(update));
        changing.done(Moved::Other, MailOutcome::Mailed(id))
    }

    pub(super) fn move_update(
        &self,
        id: UpdateId,
        wanted: UpdateMove,
        by: &Answerer,
        ctx: MailContext<'_>,
    ) -> MailDecision {
        if !ctx.authority.may_answer(by.token, ctx.now) {
            return self.refused(MailRefusal::OwnerUnavailable, None);
        }
        let Some(update) = self.updates.get(&id) else {
            return self.refused(MailRefusal::UnknownUpdate, None);
        };
        let state = moved(update.state, wanted, ctx.now);
        if state == update.state {
            return self.unchanged(MailOutcome::Updated(id));
        }
        let update = Arc::new(OwnerUpdate { state, ..OwnerUpdate::clone(update) });
        let mut changing = self.changing();
        changing.next.updates.insert(id, Arc::clone(&update));
        changing.changes.push(MailChange::Update(update));
        changing.forget_updates(self);
        changing.done(Moved::Other, MailOutcome::Updated(id))
    }
}

/// Nothing is read or put away twice, and reading never brings anything back.
fn moved(state: UpdateState, wanted: UpdateMove, now: Timestamp) -> UpdateState {
    match (state, wanted) {
        (UpdateState::Unread, UpdateMove::Read) => UpdateState::Read { at: now },
        (UpdateState::Unread, UpdateMove::Dismiss) => UpdateState::Dismissed { read_at: now, at: now },
        (UpdateState::Read { at }, UpdateMove::Dismiss) => UpdateState::Dismissed { read_at: at, at: now },
        (UpdateState::Read { .. }, UpdateMove::Read)
        | (UpdateState::Dismissed { .. }, UpdateMove::Read | UpdateMove::Dismiss) => state,
    }
}
