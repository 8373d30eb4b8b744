//! A whole admission in memory: the counts, the rooms and what is durable, driven by hand.
//!
//! [`House::say`] lets every message arrive; the steps behind it can also be taken one by one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clankie_domain::admission::global::{Counts, Global};
use clankie_domain::admission::recover::{Found, Recovery, recover};
use clankie_domain::admission::room::{Answer, Canceller, Context, Effect, Room, RoomInput, Which};
use clankie_domain::admission::{Change, FromGlobal, Limits, ToGlobal};
use clankie_domain::grant::{Authority, Gateway, GrantEpoch, GrantPolicy, Plan, Sources, Transport};
use clankie_domain::handoff::{HandoffRecord, State, Usage};
use clankie_domain::ids::{
    ActorId, Caller, DeliveryId, ExecutorName, Fingerprint, HandoffId, LaneName, PermitId, RoomId, RunId, Ticket,
};
use clankie_domain::message::RoomMessage;
use clankie_domain::receipt::Receipt;
use clankie_domain::request::{Minted, Request, Source, Submission};
use clankie_domain::session::{AbortReason, ReadList, Reply, RunEnd, RunOutcome};
use clankie_domain::steering::{Route, SteerSupport};
use clankie_domain::time::Timestamp;
use uuid::Uuid;

/// Makes this process the mutant that the environment names, if it names one.
pub(crate) fn choose_mutant() {
    if let Ok(name) = std::env::var(clankie_domain::mutant::VARIABLE) {
        clankie_domain::mutant::choose(&name);
    }
}

/// The one lane of the house.
pub(crate) fn transport() -> Transport {
    Transport { gateway: Gateway::Ingress, lane: lane() }
}

pub(crate) fn lane() -> LaneName {
    LaneName::parse("lane").unwrap()
}

pub(crate) fn actor(name: &str) -> ActorId {
    ActorId::parse(name).unwrap()
}

pub(crate) fn room(name: &str) -> RoomId {
    RoomId::parse(name).unwrap()
}

pub(crate) fn key(text: &str) -> DeliveryId {
    DeliveryId::parse(text).unwrap()
}

/// Machine standing for "ann"; both plans can be steered.
pub(crate) fn authority() -> Authority {
    let route = |name| Route { executor: ExecutorName::parse(name).unwrap(), steer: SteerSupport::Receipt };
    let policy = GrantPolicy {
        machine_actors: BTreeSet::from([actor("ann")]),
        room_tools: BTreeSet::from(["react".to_owned()]),
        machine_tools: BTreeSet::from(["shell".to_owned()]),
        ..GrantPolicy::default()
    };
    let routes = BTreeMap::from([(Plan::Social, route("talk")), (Plan::Machine, route("work"))]);
    Authority { epoch: GrantEpoch(1), policy, sources: Sources::default(), routes, answerers: BTreeMap::new() }
}

/// A request as the lane brings it; the text is its key unless said otherwise.
pub(crate) fn request(at: &str, who: &str, delivery: &str) -> Request {
    Request {
        room: room(at),
        delivery: key(delivery),
        actor: actor(who),
        actor_name: who.to_owned(),
        source: Source::Text,
        transport: transport(),
        guild: None,
        wanted: None,
        text: delivery.to_owned(),
        attachments: Vec::new(),
        context: Vec::new(),
    }
}

/// A reply, and the joiners that were read.
pub(crate) fn replied(text: &str, read: &[HandoffId]) -> RunEnd {
    let reply = Reply::Text { text: text.to_owned(), media: Vec::new() };
    RunEnd { outcome: RunOutcome::Replied(reply), read: ReadList::Exactly(read.to_vec()), usage: Usage::default() }
}

#[derive(Debug)]
pub(crate) struct House {
    pub(crate) authority: Authority,
    pub(crate) now: Timestamp,
    pub(crate) global: Global,
    pub(crate) rooms: BTreeMap<RoomId, Room>,
    pub(crate) up: VecDeque<(RoomId, ToGlobal)>,
    pub(crate) down: VecDeque<(RoomId, FromGlobal)>,
    pub(crate) records: BTreeMap<HandoffId, HandoffRecord>,
    receipts: BTreeMap<(RoomId, DeliveryId), Receipt>,
    rows: BTreeMap<PermitId, RunId>,
    pub(crate) said: Vec<RoomMessage>,
    answers: BTreeMap<Caller, Vec<Answer>>,
    /// Delivery keys in the order of their starts.
    pub(crate) started: Vec<String>,
    /// Joiners that a run was given, at its start or later.
    pub(crate) handed: Vec<String>,
    pub(crate) taken_back: Vec<HandoffId>,
    pub(crate) aborted: Vec<(RunId, AbortReason)>,
    limits: Limits,
    next: u64,
}

impl House {
    pub(crate) fn new(limits: Limits) -> Self {
        choose_mutant();
        Self {
            authority: authority(),
            now: Timestamp(1_000_000),
            global: Global::new(limits),
            rooms: BTreeMap::new(),
            up: VecDeque::new(),
            down: VecDeque::new(),
            records: BTreeMap::new(),
            receipts: BTreeMap::new(),
            rows: BTreeMap::new(),
            said: Vec::new(),
            answers: BTreeMap::new(),
            started: Vec::new(),
            handed: Vec::new(),
            taken_back: Vec::new(),
            aborted: Vec::new(),
            limits,
            next: 1,
        }
    }

    /// One slot: what comes second waits.
    pub(crate) fn with_one_slot() -> Self {
        Self::new(Limits { running: 1, running_per_room: 1, waiting: 8, ..Limits::default() })
    }

    pub(crate) fn say(&mut self, at: &str, who: &str, delivery: &str) -> Answer {
        self.ask(request(at, who, delivery))
    }

    /// Submits, lets every message arrive and gives the one answer.
    pub(crate) fn ask(&mut self, request: Request) -> Answer {
        let caller = self.submit(request);
        self.pump();
        self.heard(caller)
    }

    /// Submits, and lets nothing arrive.
    pub(crate) fn submit(&mut self, request: Request) -> Caller {
        let (submission, caller) = self.submission(request);
        let known = self.receipt(&submission.request.room, &submission.request.delivery);
        let at = submission.request.room.clone();
        self.decide(&at, RoomInput::Submit { submission, known, caller });
        caller
    }

    pub(crate) fn edit(&mut self, request: Request) -> Caller {
        let (submission, caller) = self.submission(request);
        let at = submission.request.room.clone();
        let edit = clankie_domain::admission::room::edit_key(&submission.request.delivery, submission.fingerprint);
        let known = self.receipt(&at, &submission.request.delivery);
        let known_edit = self.receipt(&at, &edit);
        self.decide(&at, RoomInput::Edit { submission, known, known_edit, caller });
        caller
    }

    pub(crate) fn cancel(&mut self, at: &str, delivery: &str, by: Canceller) -> Answer {
        let caller = Caller(self.fresh());
        let known = self.receipt(&room(at), &key(delivery));
        let which = Which::Delivery(key(delivery));
        self.decide(&room(at), RoomInput::Cancel { which, by, known, caller });
        self.pump();
        self.heard(caller)
    }

    /// The one answer that a caller heard.
    pub(crate) fn heard(&mut self, caller: Caller) -> Answer {
        let mut answers = self.answers.remove(&caller).unwrap_or_default();
        assert_eq!(answers.len(), 1, "{caller:?} heard {answers:?}");
        answers.remove(0)
    }

    /// Ends the run of a delivery; its group stays until [`House::gone`].
    pub(crate) fn end(&mut self, delivery: &str, end: RunEnd) {
        let (at, run) = self.run_of(delivery);
        self.decide(&at, RoomInput::Ended(run, end));
        self.pump();
    }

    pub(crate) fn gone(&mut self, delivery: &str) {
        let (at, run) = self.run_of(delivery);
        self.decide(&at, RoomInput::Gone(run));
        self.pump();
    }

    /// Ends the run of a delivery with a reply that read nothing, and its group.
    pub(crate) fn finish(&mut self, delivery: &str) {
        self.end(delivery, replied("done", &[]));
        self.gone(delivery);
    }

    pub(crate) fn run_of(&self, delivery: &str) -> (RoomId, RunId) {
        let record = self.record(delivery);
        (record.room.clone(), record.run)
    }

    pub(crate) fn record(&self, delivery: &str) -> &HandoffRecord {
        self.find(delivery).unwrap_or_else(|| panic!("{delivery} has no record"))
    }

    pub(crate) fn find(&self, delivery: &str) -> Option<&HandoffRecord> {
        self.records.values().find(|record| record.delivery == key(delivery))
    }

    pub(crate) fn state(&self, delivery: &str) -> &State {
        &self.record(delivery).state
    }

    pub(crate) fn counts(&self) -> Counts {
        self.global.counts()
    }

    pub(crate) fn permits(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn pump(&mut self) {
        loop {
            if let Some((at, message)) = self.up.pop_front() {
                let posts = self.global.handle(&at, message, self.now);
                self.down.extend(posts.into_iter().map(|post| (post.room, post.message)));
            } else if let Some((at, message)) = self.down.pop_front() {
                self.decide(&at, RoomInput::Global(message));
            } else {
                return;
            }
        }
    }

    pub(crate) fn decide(&mut self, at: &RoomId, input: RoomInput) {
        let room = self.rooms.entry(at.clone()).or_insert_with(|| Room::new(at.clone()));
        let ctx = Context { now: self.now, authority: &self.authority };
        let decision = room.decide(input, ctx).unwrap();
        *room = decision.next;
        self.commit(decision.changes);
        for effect in decision.effects {
            self.follow(at, effect);
        }
    }

    /// What a boot would make of what is durable now.
    pub(crate) fn recovery(&mut self) -> Recovery {
        let live = self.records.values().filter(|record| !matches!(record.state, State::Ended(_)));
        let found = Found {
            records: live.cloned().collect(),
            permits: self.rows.keys().copied().collect(),
            ..Found::default()
        };
        self.next += 1_000;
        recover(found, &self.authority, self.now, &mut (self.next..).map(Ticket)).unwrap()
    }

    /// Everything in memory is lost; the service comes up again.
    pub(crate) fn crash(&mut self) {
        let recovery = self.recovery();
        self.commit(recovery.changes);
        self.up.clear();
        self.rooms = recovery.rooms;
        self.global = Global::new(self.limits);
        let posts = self.global.recover(recovery.places);
        self.down = posts.into_iter().map(|post| (post.room, post.message)).collect();
        self.pump();
    }

    pub(crate) fn commit(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Record(record) => {
                    self.records.insert(record.id, HandoffRecord::clone(&record));
                }
                Change::Receipt(receipt) => {
                    self.receipts.insert((receipt.room.clone(), receipt.delivery.clone()), receipt);
                }
                Change::PermitTaken { permit, run, .. } => {
                    self.rows.insert(permit, run);
                }
                Change::PermitGone { permit } => {
                    self.rows.remove(&permit);
                }
                Change::Message(message) => self.said.push(message),
                Change::Mail(_) => {}
            }
        }
    }

    fn follow(&mut self, at: &RoomId, effect: Effect) {
        match effect {
            Effect::Global(message) => self.up.push_back((at.clone(), message)),
            Effect::Reply(caller, answer) => self.answers.entry(caller).or_default().push(answer),
            Effect::StartRun { record, joiners, .. } => {
                self.started.push(record.delivery.to_string());
                self.handed.extend(joiners.into_iter().map(|joiner| joiner.delivery.to_string()));
            }
            Effect::Steer(_, joiner) => self.handed.push(joiner.delivery.to_string()),
            Effect::CancelSteer(_, handoff) => self.taken_back.push(handoff),
            Effect::Abort(run, why) => self.aborted.push((run, why)),
            Effect::ResultReady(_) | Effect::Deliver(_) | Effect::ClaimMoved(_) => {}
        }
    }

    fn receipt(&self, at: &RoomId, delivery: &DeliveryId) -> Option<Receipt> {
        self.receipts.get(&(at.clone(), delivery.clone())).cloned()
    }

    fn submission(&mut self, request: Request) -> (Submission, Caller) {
        let n = self.fresh();
        let uuid = Uuid::from_u128(u128::from(n));
        let minted = Minted { ticket: Ticket(n), handoff: HandoffId(uuid), run: RunId(uuid) };
        let mut of = [0_u8; 32];
        let stable = format!("{}|{}|{}", request.actor, request.room, request.text);
        for (n, byte) in stable.bytes().enumerate() {
            of[n % 32] = of[n % 32].wrapping_mul(31) ^ byte;
        }
        (Submission { request, fingerprint: Fingerprint(of), minted }, Caller(n))
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
