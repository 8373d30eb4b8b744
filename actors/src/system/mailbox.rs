//! The owner's mailbox: the one actor that decides on asks and updates.
//!
//! It waits for nothing: neither for a room nor for the disk. What it decides about the mailbox alone
//! is committed beside it, and an accepted answer, like an ask that is filed with the end of a run,
//! goes into the room's own commit. Until that commit has ended the conversation is held, and what
//! else comes for it waits in line; other conversations go on. What holds a conversation is dropped
//! with the room or the commit, so nothing can stay held.
//!
//! One thing touches the disk in its own handler: the words of a secret are sealed before they are
//! decided on, which makes two small files durable. Only a person's answer to a secret ask does so.
//!
//! Invariants: M1 to M6; every commit is fenced by the mailbox's version and the grant epoch.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use clankie_domain::ask::Resolution;
use clankie_domain::claim::Claim;
use clankie_domain::grant::Authority;
use clankie_domain::ids::{ConversationId, IncarnationId, OptionId, RequestId, RoomId, UpdateId};
use clankie_domain::mailbox::{
    Facts, Found, MailContext, MailDecision, MailInput, MailOutcome, MailRefusal, Mailbox, MintedAsk, Offered,
    SETTLED_KEPT, refuse_early,
};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::authority::AuthorityView;
use super::fatal::{Fatal, Fuse};
use super::rooms::{DecidedOn, Rooms};
use super::sessions::Sessions;
use super::supervisor::Tickets;
use crate::ports::{Clock, Ids, Vault, VaultError};
use crate::store::{Snapshot, Store, StoreError};

mod commit;
mod compose;
mod job;
mod secrets;
pub(crate) use job::{Called, Filing, Job, Publisher, What};

use job::Attempt;
use secrets::SWEEP_EVERY;

/// Conversations whose mail is kept at hand: a mailbox is read again when it is needed later.
const AT_HAND: usize = 64;
/// Tries to commit while authority or the mailbox moves under a decision.
const TRIES: usize = 8;
/// Calls that wait while one commit of their conversation is made. That takes milliseconds, so a longer
/// line is one of callers who do not wait for their answers. The ends of runs are not counted: there
/// are no more of them than runs.
const LINE_MAX: usize = 64;
/// Options that a draft may have at most, each with an identity of its own.
const OPTION_IDS: usize = clankie_domain::ask::OPTIONS_MAX;

/// What the mailbox hears.
#[derive(Debug)]
pub(crate) enum MailMsg {
    /// Something happens to a conversation's mail.
    Do(ConversationId, Box<Job>),
    /// The commit that a conversation was held for has ended, and what is left of it.
    Ended(ConversationId, Left),
    /// An answer came further on its way.
    ClaimMoved(Claim),
    /// What was decided elsewhere is to be read anew.
    Forget,
    /// The keys that nobody needs any more are looked for.
    Sweep,
}

/// What is left of a commit that has ended. Whoever waited for it was told.
#[derive(Debug)]
pub(crate) enum Left {
    /// The mailbox stands so now.
    Stands(Box<Mailbox>),
    /// The mailbox is to be read anew.
    Changed,
    /// Nothing was committed, since what it was decided on has moved: it is decided again.
    Again(Box<Attempt>),
}

/// The way to the mailbox. It is there before any room is.
#[derive(Debug, Clone, Default)]
pub(crate) struct MailDoor(Arc<OnceLock<ActorRef<MailMsg>>>);

impl MailDoor {
    /// Opens the way, once.
    pub(crate) fn open(&self, mailbox: ActorRef<MailMsg>) {
        // It is opened once, at the start.
        let _ = self.0.set(mailbox);
    }

    /// Tells the mailbox. One that is gone has burnt its fuse: the process ends.
    pub(crate) fn tell(&self, message: MailMsg) {
        if self.0.get().is_none_or(|mailbox| mailbox.cast(message).is_err()) {
            tracing::debug!("the mailbox was told something after its end");
        }
    }

    /// Does something to a conversation's mail and waits for what comes of it.
    pub(crate) async fn call(&self, conversation: ConversationId, what: What) -> Called {
        let (job, answer) = Job::asked(what);
        self.tell(MailMsg::Do(conversation, job));
        answer.await.unwrap_or(Called::Unknown)
    }

    /// Ends the mailbox.
    pub(crate) fn stop(&self) {
        if let Some(mailbox) = self.0.get() {
            mailbox.stop(None);
        }
    }
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct OwnerMail {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) vault: Arc<dyn Vault>,
    pub(crate) authority: AuthorityView,
    pub(crate) rooms: Rooms,
    pub(crate) sessions: Sessions,
    pub(crate) tickets: Tickets,
    pub(crate) fatal: Fatal,
}

/// The actor's state: the mailboxes at hand, and the conversations that are held with what waits there.
#[derive(Debug)]
pub(crate) struct Desk {
    at_hand: BTreeMap<ConversationId, Mailbox>,
    held: BTreeMap<ConversationId, VecDeque<Box<Attempt>>>,
    _fuse: Fuse,
}

/// A commit of the mailbox or of a room under way. It tells whoever waits and says what is left.
type Ending = Pin<Box<dyn Future<Output = Left> + Send>>;

/// A decision, or why there is none.
enum Decided {
    /// It was refused before the mailbox was asked.
    Early(MailOutcome),
    /// It was made.
    On(DecidedOn, Box<MailDecision>),
}

impl Actor for OwnerMail {
    type Msg = MailMsg;
    type State = Desk;
    type Arguments = ();

    async fn pre_start(&self, myself: ActorRef<MailMsg>, (): ()) -> Result<Desk, ActorProcessingErr> {
        self.forget_uncommitted();
        self.sweep();
        myself.send_interval(SWEEP_EVERY, || MailMsg::Sweep);
        let _fuse = self.fatal.fuse("the owner's mailbox");
        Ok(Desk { at_hand: BTreeMap::new(), held: BTreeMap::new(), _fuse })
    }

    async fn handle(
        &self,
        myself: ActorRef<MailMsg>,
        message: MailMsg,
        desk: &mut Desk,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            MailMsg::Do(conversation, job) => {
                let attempt = Box::new(Attempt { job: *job, tried: 0 });
                match desk.held.get_mut(&conversation) {
                    Some(line) => self.wait(attempt, line),
                    None => self.work(&myself, &conversation, attempt, desk),
                }
            }
            MailMsg::Ended(conversation, left) => self.let_go(&myself, &conversation, left, desk),
            MailMsg::ClaimMoved(claim) => self.forget_key(&claim),
            MailMsg::Forget => desk.at_hand.clear(),
            MailMsg::Sweep => self.sweep(),
        }
        Ok(())
    }
}

impl OwnerMail {
    /// Puts a job into the line of a conversation that is held. The end of a run always has a place.
    fn wait(&self, attempt: Box<Attempt>, line: &mut VecDeque<Box<Attempt>>) {
        match &attempt.job {
            Job::Asked(..) if line.len() >= LINE_MAX => self.end(attempt.job, Called::Busy),
            Job::Asked(..) | Job::Filed(_) => line.push_back(attempt),
        }
    }

    /// Works off one job: its caller is told at once, or the conversation is held until a commit has ended.
    fn work(&self, myself: &ActorRef<MailMsg>, conversation: &ConversationId, attempt: Box<Attempt>, desk: &mut Desk) {
        if attempt.tried >= TRIES {
            return self.end(attempt.job, Called::Busy);
        }
        let (on, decision) = match self.decide(conversation, &attempt.job, desk) {
            Ok(Decided::On(on, decision)) => (on, *decision),
            Ok(Decided::Early(outcome)) => return self.end(attempt.job, Called::Outcome(outcome)),
            Err(stopped) => {
                tracing::error!(%conversation, error = %stopped, "the mailbox could not decide");
                return self.end(attempt.job, Called::Failed(stopped));
            }
        };
        let Attempt { job, tried } = *attempt;
        let ending = match job {
            Job::Filed(filing) => self.filed(filing, on, decision),
            Job::Asked(what, reply) => match decision.accepted() {
                Some(request) => self.answered((what, reply, tried), (request, on), decision),
                None => self.committed((what, reply, tried), on, decision),
            },
        };
        let Some(ending) = ending else { return };
        desk.held.entry(conversation.clone()).or_default();
        let (myself, conversation) = (myself.clone(), conversation.clone());
        self.sessions.watch(async move {
            let left = ending.await;
            // A mailbox that is gone ends the process; what is durable stands all the same.
            let _ = myself.cast(MailMsg::Ended(conversation, left));
        });
    }

    fn decide(&self, conversation: &ConversationId, job: &Job, desk: &mut Desk) -> Result<Decided, StoreError> {
        let authority = self.authority.current();
        let early = |found: Found<'_>| {
            let refusal = job.by().and_then(|by| refuse_early(found, by, self.context(&authority, &[])));
            refusal.map(|refusal| Decided::Early(MailOutcome::Refused(refusal, None)))
        };
        let snapshot = self.store.snapshot()?;
        let mailbox = match self.at_hand(conversation, job, (desk, &snapshot)) {
            Ok(mailbox) => mailbox,
            Err(why @ StoreError::Damaged { .. }) => return early(Found::Unreadable).ok_or(why),
            Err(why) => return Err(why),
        };
        let Some(mailbox) = mailbox else {
            let unknown = Decided::Early(MailOutcome::Refused(MailRefusal::UnknownConversation, None));
            return Ok(early(Found::Nothing).unwrap_or(unknown));
        };
        let decided = match early(Found::Mailbox(&mailbox)) {
            Some(refused) => refused,
            None => {
                let continuing = continuing(&mailbox, &snapshot)?;
                let input = self.input(job, &mailbox).map_err(|why| StoreError::Storage(why.to_string()))?;
                let on = DecidedOn { version: mailbox.head.version, epoch: authority.epoch };
                Decided::On(on, Box::new(mailbox.decide(input, self.context(&authority, &continuing))))
            }
        };
        desk.keep(mailbox);
        Ok(decided)
    }

    /// Answers a job that is over. The end of a run reaches its room in any case.
    fn end(&self, job: Job, called: Called) {
        match job {
            // A caller that is gone reads the outcome from the store.
            Job::Asked(_, reply) => drop(reply.send(called)),
            Job::Filed(filing) => self.end_without_ask(filing),
        }
    }

    fn context<'a>(&self, authority: &'a Authority, continuing: &'a [RequestId]) -> MailContext<'a> {
        let facts = Facts { continuing, ..Facts::default() };
        MailContext { now: self.clock.now(), authority, autonomy: &authority.policy.autonomy, facts }
    }

    /// The conversation's mailbox, taken from the desk, with its claims as they stand now. A publication
    /// begins one.
    fn at_hand(
        &self,
        conversation: &ConversationId,
        job: &Job,
        (desk, snapshot): (&mut Desk, &Snapshot),
    ) -> Result<Option<Mailbox>, StoreError> {
        let known = match desk.at_hand.remove(conversation) {
            Some(mailbox) => Some(mailbox),
            None => snapshot.mailbox(conversation)?,
        };
        let Some(mut mailbox) = known else {
            let begin =
                |room: &RoomId| Mailbox::new(conversation.clone(), Some(room.clone()), IncarnationId(self.ids.uuid()));
            return Ok(job.source_room().map(begin));
        };
        refresh(&mut mailbox, snapshot)?;
        Ok(Some(mailbox))
    }

    /// The domain's input, with fresh identities and, for a secret, sealed words.
    fn input(&self, job: &Job, mailbox: &Mailbox) -> Result<MailInput, VaultError> {
        let what = match job {
            Job::Asked(what, _) => what,
            Job::Filed(Filing { prompt, from, .. }) => {
                let (prompt, origin) = (prompt.clone(), Box::new(from.origin.clone()));
                return Ok(MailInput::File { prompt, origin, minted: self.minted() });
            }
        };
        Ok(match what {
            What::Publish { draft, from } => MailInput::Publish {
                draft: draft.clone(),
                origin: Box::new(from.origin.clone()),
                minted: self.minted(),
            },
            What::Answer { aim, answer, by, run } => {
                let sealed = self.sealed(mailbox, aim, answer)?;
                let offered = Box::new(Offered { answer: answer.clone(), sealed });
                MailInput::Answer { aim: aim.clone(), offered, by: by.clone(), run: *run }
            }
            What::Cancel { aim, by } => MailInput::Cancel { aim: aim.clone(), by: by.clone() },
            What::MarkSeen { request, by } => MailInput::MarkSeen { request: *request, by: by.clone() },
            What::Mail { draft, from, publication } => MailInput::PublishUpdate {
                draft: draft.clone(),
                handoff: from.origin.handoff,
                publication: publication.clone(),
                minted: UpdateId(self.ids.uuid()),
            },
            What::Read { id, by } => MailInput::ReadUpdate { id: *id, by: by.clone() },
            What::Dismiss { id, by } => MailInput::DismissUpdate { id: *id, by: by.clone() },
        })
    }

    fn minted(&self) -> MintedAsk {
        let options = (0..OPTION_IDS).map(|_| OptionId(self.ids.uuid())).collect();
        MintedAsk { request: RequestId(self.ids.uuid()), options }
    }

    /// A commit has ended: what waited for the conversation goes on, in order.
    fn let_go(&self, myself: &ActorRef<MailMsg>, conversation: &ConversationId, left: Left, desk: &mut Desk) {
        desk.at_hand.remove(conversation);
        let mut line = desk.held.remove(conversation).unwrap_or_default();
        match left {
            Left::Stands(mailbox) => desk.keep(*mailbox),
            Left::Changed => {}
            Left::Again(attempt) => line.push_front(attempt),
        }
        while let Some(attempt) = line.pop_front() {
            self.work(myself, conversation, attempt, desk);
            if let Some(held) = desk.held.get_mut(conversation) {
                *held = line;
                return;
            }
        }
    }
}

impl Desk {
    /// Keeps a mailbox at hand; one that was never committed is nobody's yet.
    fn keep(&mut self, mailbox: Mailbox) {
        if mailbox.head.version == 0 {
            return;
        }
        if self.at_hand.len() >= AT_HAND && !self.at_hand.contains_key(&mailbox.head.conversation) {
            self.at_hand.pop_first();
        }
        self.at_hand.insert(mailbox.head.conversation.clone(), mailbox);
    }
}

/// The claims that rooms may have moved meanwhile.
fn refresh(mailbox: &mut Mailbox, snapshot: &Snapshot) -> Result<(), StoreError> {
    for entry in mailbox.asks.values_mut() {
        let moves = match &entry.resolution {
            Resolution::Submitted { .. } => entry.claim.as_ref().is_none_or(|claim| !claim.is_settled()),
            Resolution::Pending | Resolution::Cancelled { .. } => false,
        };
        if moves {
            let claim = snapshot.claim(entry.ask.request)?;
            Arc::make_mut(entry).claim = claim;
        }
    }
    Ok(())
}

/// The asks whose answers were delivered to a handoff that is not over. Where nothing can be forgotten
/// yet none is looked for.
fn continuing(mailbox: &Mailbox, snapshot: &Snapshot) -> Result<Vec<RequestId>, StoreError> {
    let mut found = Vec::new();
    if mailbox.asks.len() < SETTLED_KEPT {
        return Ok(found);
    }
    let settled = mailbox.asks.values().filter_map(|entry| entry.claim.as_ref()).filter(|claim| claim.is_settled());
    for claim in settled {
        let Some(handoff) = claim.handoff else { continue };
        if snapshot.handoff(handoff)?.is_some_and(|record| record.result().is_none()) {
            found.push(claim.request);
        }
    }
    Ok(found)
}
