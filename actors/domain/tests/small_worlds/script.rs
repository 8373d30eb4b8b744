//! What may happen in a world: who says what how often, who edits, cancels or revokes, and how
//! sessions end. A script is data; the walk tries every order of it.

use std::collections::{BTreeMap, BTreeSet};

use clankie_domain::admission::Limits;
use clankie_domain::admission::room::{Canceller, edit_key};
use clankie_domain::grant::{Authority, Gateway, GrantEpoch, GrantPolicy, Plan, Sources, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, Fingerprint, HandoffId, LaneName, RoomId, RunId, Ticket};
use clankie_domain::request::{Minted, Request, Source, Submission};
use clankie_domain::result::{By, PrincipalKind};
use clankie_domain::steering::{Route, SteerSupport};
use uuid::Uuid;

/// Tries that one item of a script may have; ids are `item * TRIES + try`.
pub(crate) const TRIES: usize = 16;

/// Who speaks. Only Ann has machine standing, while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Ann,
    Bob,
    Guest(u8),
}

/// Something that one person may say. The same `key` twice in a room is a repeated delivery.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    pub(crate) room: usize,
    pub(crate) who: Who,
    pub(crate) key: &'static str,
    pub(crate) text: &'static str,
    pub(crate) wanted: Option<Plan>,
    pub(crate) times: u8,
}

/// An edit of the words at this place of the script.
#[derive(Debug, Clone)]
pub(crate) struct EditOf {
    pub(crate) words: usize,
    pub(crate) text: &'static str,
    pub(crate) wanted: Option<Plan>,
    pub(crate) times: u8,
}

/// A cancel of the words at this place of the script.
#[derive(Debug, Clone)]
pub(crate) struct CancelOf {
    pub(crate) words: usize,
    pub(crate) by: Canceller,
    pub(crate) times: u8,
}

/// What configuration and credentials say at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Standing {
    /// Ann may use the machine.
    Full,
    /// Nobody may.
    Narrow,
    /// The lane's credential is gone.
    Revoked,
    /// Ann may use the machine, and what runs her plan cannot be steered.
    Unsteered,
}

/// How a session may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    /// With a reply.
    Reply,
    /// Waiting for the owner.
    Wait,
    /// With a failure of its own.
    Fail,
    /// Its task dies without a word.
    Die,
    /// Its process group is gone before its end is reported.
    GoneFirst,
}

/// Whether sessions read steers, and so whether readiness matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// They are ready at once and read nothing.
    Deaf,
    /// They become ready, and read one steer at a time.
    Reads,
}

/// How long a restart takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    /// Seconds.
    Short,
    /// Longer than fresh pending work is kept.
    Long,
}

/// One world's script.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) rooms: usize,
    pub(crate) limits: Limits,
    pub(crate) words: Vec<Words>,
    pub(crate) edits: Vec<EditOf>,
    pub(crate) cancels: Vec<CancelOf>,
    pub(crate) switches: Vec<Standing>,
    pub(crate) endings: Vec<Ending>,
    pub(crate) habit: Habit,
    pub(crate) crashes: u8,
    pub(crate) outage: Outage,
    pub(crate) drains: u8,
}

impl Script {
    /// Two rooms with these limits (running, running per room, waiting) in which nobody speaks yet.
    pub(crate) fn new([running, running_per_room, waiting]: [usize; 3]) -> Self {
        let limits = Limits { running, running_per_room, waiting, waiting_per_room: None, waiting_per_actor: None };
        Self {
            rooms: 2,
            limits,
            words: Vec::new(),
            edits: Vec::new(),
            cancels: Vec::new(),
            switches: Vec::new(),
            endings: vec![Ending::Reply],
            habit: Habit::Deaf,
            crashes: 0,
            outage: Outage::Short,
            drains: 0,
        }
    }

    pub(crate) fn says(self, room: usize, who: Who, key: &'static str) -> Self {
        self.words(Words { room, who, key, text: key, wanted: None, times: 1 })
    }

    pub(crate) fn words(mut self, words: Words) -> Self {
        self.words.push(words);
        self
    }

    pub(crate) fn edits(mut self, words: usize, text: &'static str, times: u8) -> Self {
        self.edits.push(EditOf { words, text, wanted: None, times });
        self
    }

    pub(crate) fn speaker_cancels(mut self, words: usize) -> Self {
        let by = Canceller::Speaker(actor(self.words[words].who));
        self.cancels.push(CancelOf { words, by, times: 1 });
        self
    }

    pub(crate) fn owner_cancels(mut self, words: usize) -> Self {
        let by = Canceller::Authority(By { kind: PrincipalKind::Operator, id: "owner".into() });
        self.cancels.push(CancelOf { words, by, times: 1 });
        self
    }

    /// How often each item may happen: words, then edits, then cancels.
    pub(crate) fn uses(&self) -> Vec<u8> {
        let words = self.words.iter().map(|words| words.times);
        let edits = self.edits.iter().map(|edit| edit.times);
        words.chain(edits).chain(self.cancels.iter().map(|cancel| cancel.times)).collect()
    }

    /// The submission of item `item` (words, then edits) at its try `nth`.
    pub(crate) fn submission(&self, item: usize, nth: usize) -> Submission {
        let (words, text, wanted) = self.said(item);
        let request = Request {
            room: room_id(words.room),
            delivery: DeliveryId::Transport(words.key.to_owned()),
            actor: actor(words.who),
            actor_name: format!("{:?}", words.who),
            source: Source::Text,
            transport: transport(),
            guild: None,
            wanted,
            text: text.to_owned(),
            attachments: Vec::new(),
            context: Vec::new(),
        };
        Submission { request, fingerprint: fingerprint(words.who, text), minted: minted(item * TRIES + nth) }
    }

    /// Whose words an item is, and which words with which wish.
    pub(crate) fn said(&self, item: usize) -> (&Words, &'static str, Option<Plan>) {
        match self.words.get(item) {
            Some(words) => (words, words.text, words.wanted),
            None => {
                let edit = &self.edits[item - self.words.len()];
                (&self.words[edit.words], edit.text, edit.wanted)
            }
        }
    }

    /// Every delivery key that an item may appear under.
    pub(crate) fn keys(&self, item: usize) -> Vec<DeliveryId> {
        let (words, text, _) = self.said(item);
        let own = DeliveryId::Transport(words.key.to_owned());
        match self.words.get(item) {
            Some(_) => vec![own],
            None => vec![edit_key(&own, fingerprint(words.who, text))],
        }
    }
}

/// The item and the try that a handoff was minted for.
pub(crate) fn minted_for(handoff: HandoffId) -> (usize, usize) {
    let n = usize::try_from(handoff.0.as_u128() - 1).unwrap();
    (n / TRIES, n % TRIES)
}

/// The identities of the `n`th try.
pub(crate) fn minted(n: usize) -> Minted {
    let uuid = Uuid::from_u128(n as u128 + 1);
    Minted { ticket: Ticket(n as u64 + 1), handoff: HandoffId(uuid), run: RunId(uuid) }
}

pub(crate) fn fingerprint(who: Who, text: &str) -> Fingerprint {
    let mut of = [0; 32];
    of[0] = match who {
        Who::Ann => 0,
        Who::Bob => 1,
        Who::Guest(n) => n + 2,
    };
    of[1..=text.len()].copy_from_slice(text.as_bytes());
    Fingerprint(of)
}

pub(crate) fn lane() -> LaneName {
    LaneName::parse("lane").unwrap()
}

pub(crate) fn transport() -> Transport {
    Transport { gateway: Gateway::Ingress, lane: lane() }
}

pub(crate) fn room_id(room: usize) -> RoomId {
    RoomId::parse(["room0", "room1", "room2"][room]).unwrap()
}

pub(crate) fn actor(who: Who) -> ActorId {
    let name = match who {
        Who::Ann => "ann".to_owned(),
        Who::Bob => "bob".to_owned(),
        Who::Guest(n) => format!("guest{n}"),
    };
    ActorId::parse(&name).unwrap()
}

/// The most that `who` may have under `standing`; `None` when nobody is heard.
pub(crate) fn most(who: Who, standing: Standing) -> Option<Plan> {
    match (standing, who) {
        (Standing::Revoked, _) => None,
        (Standing::Full | Standing::Unsteered, Who::Ann) => Some(Plan::Machine),
        (Standing::Narrow | Standing::Full | Standing::Unsteered, _) => Some(Plan::Social),
    }
}

/// The authority that a standing stands for.
pub(crate) fn authority(standing: Standing) -> Authority {
    let mut policy = GrantPolicy::default();
    policy.room_tools.insert("react".to_owned());
    policy.machine_tools.insert("shell".to_owned());
    let mut sources = Sources::default();
    match standing {
        Standing::Full | Standing::Unsteered => {
            policy.machine_actors.insert(actor(Who::Ann));
        }
        Standing::Narrow => {}
        Standing::Revoked => sources.revoked = BTreeSet::from([transport()]),
    }
    let executor = |name| ExecutorName::parse(name).unwrap();
    let steer = if standing == Standing::Unsteered { SteerSupport::None } else { SteerSupport::Receipt };
    let routes = BTreeMap::from([
        (Plan::Social, Route { executor: executor("talk"), steer: SteerSupport::Receipt }),
        (Plan::Machine, Route { executor: executor("work"), steer }),
    ]);
    Authority { epoch: GrantEpoch(standing as u64), policy, sources, routes, answerers: BTreeMap::new() }
}
