//! Mail that is there before anything is measured, and the rows of one publication for a store that
//! is committed to without an actor. Both are decided by the domain's own mailbox.

use std::collections::BTreeMap;

use clankie_actors::digest;
use clankie_actors::ports::{Clock, Ids};
use clankie_actors::store::{Guard, Txn, Write};
use clankie_domain::admission::Change;
use clankie_domain::ask::{AskKind, Draft, Freeform, OPTIONS_MAX, Origin, Purpose, Secrecy};
use clankie_domain::autonomy::Autonomy;
use clankie_domain::grant::{Authority, GrantEpoch, GrantPolicy, Sources};
use clankie_domain::ids::{IncarnationId, LaneName, OptionId, RequestId, RoomId, UpdateId};
use clankie_domain::mailbox::{Facts, MailContext, MailInput, Mailbox, MintedAsk};
use clankie_domain::update::{Publication, UpdateDraft};

use super::super::BenchError;
use super::{ADVICE, BODY, CHOICES, PROMPT, TITLE};

/// Records of one conversation: below its limit of 256 of either kind.
const EACH: usize = 200;

/// Mailboxes without an actor.
pub(super) struct Shelves<'a> {
    pub(super) clock: &'a dyn Clock,
    pub(super) ids: &'a dyn Ids,
    pub(super) origin: Origin,
    authority: Authority,
    mailboxes: usize,
    filled: usize,
    bare: Option<Mailbox>,
}

impl<'a> Shelves<'a> {
    /// Mail as that running handoff would publish it.
    pub(super) fn new(clock: &'a dyn Clock, ids: &'a dyn Ids, origin: Origin) -> Self {
        let authority = Authority {
            epoch: GrantEpoch(1),
            policy: GrantPolicy::default(),
            sources: Sources::default(),
            routes: BTreeMap::new(),
            answerers: BTreeMap::new(),
        };
        Self { clock, ids, origin, authority, mailboxes: 0, filled: 0, bare: None }
    }

    /// What fills the store up to that many records: asks and updates by turns.
    pub(super) fn up_to(&mut self, records: usize) -> Result<Vec<Txn>, BenchError> {
        let mut txns = Vec::new();
        while self.filled < records {
            let mut mailbox = self.mailbox()?;
            for turn in 0..EACH.min(records - self.filled) {
                let input = if turn % 2 == 0 { self.ask() } else { self.update() };
                txns.push(self.step(&mut mailbox, input)?);
                self.filled += 1;
            }
        }
        Ok(txns)
    }

    /// The rows of one more update, in a conversation that is begun anew before it is full.
    pub(super) fn publication(&mut self) -> Result<Txn, BenchError> {
        let mut mailbox = match self.bare.take().filter(|mailbox| mailbox.updates.len() < EACH) {
            Some(mailbox) => mailbox,
            None => self.mailbox()?,
        };
        let input = self.update();
        let txn = self.step(&mut mailbox, input)?;
        self.bare = Some(mailbox);
        Ok(txn)
    }

    fn mailbox(&mut self) -> Result<Mailbox, BenchError> {
        self.mailboxes += 1;
        let room = RoomId::ingress(&LaneName::parse("shelves")?, &format!("room-{}", self.mailboxes))?;
        let conversation = digest::room_conversation(&room)?;
        self.origin.room = room.clone();
        Ok(Mailbox::new(conversation, Some(room), IncarnationId(self.ids.uuid())))
    }

    fn step(&self, mailbox: &mut Mailbox, input: MailInput) -> Result<Txn, BenchError> {
        let (authority, autonomy) = (&self.authority, &Autonomy::default());
        let context = MailContext { now: self.clock.now(), authority, autonomy, facts: Facts::default() };
        let decision = mailbox.decide(input, context);
        if decision.changes.is_empty() {
            return Err(BenchError::Unexpected(format!("not published: {:?}", decision.outcome)));
        }
        let guards = vec![Guard::Mailbox(mailbox.head.conversation.clone(), mailbox.head.version)];
        *mailbox = decision.next;
        let writes = decision.changes.into_iter().map(|change| Write::Change(Change::Mail(change))).collect();
        Ok(Txn { guards, writes })
    }

    fn ask(&self) -> MailInput {
        let options = (0..OPTIONS_MAX).map(|_| OptionId(self.ids.uuid())).collect();
        let minted = MintedAsk { request: RequestId(self.ids.uuid()), options };
        let draft = Draft {
            purpose: Purpose::Decision,
            kind: AskKind::Choice,
            prompt: format!("{PROMPT} {}", self.filled),
            options: CHOICES.map(|label| (label.to_owned(), None)).to_vec(),
            freeform: Freeform::Refused,
            recommendation: Some(ADVICE.to_owned()),
            waiting_on: Some(TITLE.to_owned()),
            steps: Vec::new(),
            gate: None,
            secrecy: Secrecy::Open,
            issue: None,
            worker: None,
        };
        MailInput::Publish { draft: Box::new(draft), origin: Box::new(self.origin.clone()), minted }
    }

    fn update(&self) -> MailInput {
        let minted = UpdateId(self.ids.uuid());
        let draft = UpdateDraft {
            title: TITLE.to_owned(),
            body: BODY.to_owned(),
            links: Vec::new(),
            media: Vec::new(),
            issue: None,
            seat_id: None,
        };
        let publication = Publication { run: self.origin.run, call: minted.to_string() };
        MailInput::PublishUpdate { draft: Box::new(draft), handoff: self.origin.handoff, publication, minted }
    }
}
