//! One state of a small world, and what may happen in it next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use clankie_domain::admission::global::Global;
use clankie_domain::admission::room::Room;
use clankie_domain::admission::{FromGlobal, ToGlobal};
use clankie_domain::ids::HandoffId;
use clankie_domain::time::Timestamp;

use crate::counts::{Counts, Draining};
use crate::digest::Part;
use crate::run::Run;
use crate::script::{Ending, Habit, Script, Standing, room_id};
use crate::store::Store;

/// The moment in every world, until a long outage.
pub(crate) const NOW: Timestamp = Timestamp(1_000_000);

/// One thing that happens. Numbers are places in the script, rooms, or runs in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Say(usize),
    Edit(usize),
    Cancel(usize),
    ToGlobal(usize),
    ToRoom(usize),
    Order(usize),
    Ready(usize),
    Read(usize),
    End(usize, Ending),
    Obey(usize),
    GraceOver(usize),
    GroupGone(usize),
    Report(usize),
    Switch,
    Notice(usize),
    Crash,
    Drain,
    DrainRoom(usize),
    StopRoom(usize),
}

/// How far a room is on the way to a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Closing {
    Open,
    Drained,
    Stopped,
}

/// Whether a room was told of the authority in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    Yes,
    NotYet,
}

/// What somebody who was not answered yet asked for: an item of the script, at a try.
pub(crate) type Asked = BTreeMap<u64, usize>;

/// What the oracle remembers of the past beside what is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Past {
    pub(crate) asked: Asked,
    /// Tries that heard that they came to nothing, or that a crash took.
    pub(crate) dead: BTreeSet<HandoffId>,
    pub(crate) started: BTreeSet<HandoffId>,
    pub(crate) read: BTreeSet<HandoffId>,
}

/// One room with the two queues between it and the owner of the counts.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Site {
    pub(crate) room: Part<Room>,
    pub(crate) up: VecDeque<ToGlobal>,
    pub(crate) down: VecDeque<FromGlobal>,
    pub(crate) closing: Closing,
    pub(crate) told: Told,
}

/// One state.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) script: Arc<Script>,
    pub(crate) global: Part<Global>,
    pub(crate) sites: Vec<Part<Site>>,
    pub(crate) runs: Vec<Part<Run>>,
    pub(crate) store: Part<Store>,
    pub(crate) past: Part<Past>,
    pub(crate) counts: Counts,
    /// What is left of each item of the script, and how often each was tried.
    pub(crate) left: Vec<u8>,
    pub(crate) tried: Vec<u8>,
    pub(crate) switched: usize,
    pub(crate) crashes: u8,
    pub(crate) drains: u8,
    pub(crate) now: Timestamp,
    /// Who is speaking right now; nobody between two acts.
    pub(crate) speaking: Option<u64>,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.global, &self.sites, &self.runs, &self.store, &self.past, &self.counts).hash(state);
        (&self.left, &self.tried, self.switched, self.crashes, self.drains, self.now).hash(state);
    }
}

impl World {
    pub(crate) fn new(script: Script) -> Self {
        let sites = (0..script.rooms).map(|room| Part::new(Site::new(Room::new(room_id(room)))));
        let left = script.uses();
        Self {
            global: Part::new(Global::new(script.limits)),
            sites: sites.collect(),
            runs: Vec::new(),
            store: Part::new(Store::default()),
            past: Part::new(Past::default()),
            counts: Counts::new(script.limits, script.rooms),
            tried: vec![0; left.len()],
            left,
            switched: 0,
            crashes: 0,
            drains: 0,
            now: NOW,
            speaking: None,
            script: Arc::new(script),
        }
    }

    /// What the authority in force is.
    pub(crate) fn standing(&self) -> Standing {
        match self.switched {
            0 => Standing::Full,
            n => self.script.switches[n - 1],
        }
    }

    /// Whether no message is under way between the rooms and the owner of the counts.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sites.iter().all(|site| site.up.is_empty() && site.down.is_empty())
    }

    /// Everything that may happen next, in a fixed order.
    pub(crate) fn enabled(&self) -> Vec<Act> {
        let mut acts = self.inner();
        acts.extend(self.outer());
        acts
    }

    /// What moves by itself: messages, and what runs do.
    pub(crate) fn inner(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for (room, site) in self.sites.iter().enumerate() {
            acts.extend((!site.up.is_empty()).then_some(Act::ToGlobal(room)));
            acts.extend((!site.down.is_empty()).then_some(Act::ToRoom(room)));
            acts.extend((site.told == Told::NotYet).then_some(Act::Notice(room)));
        }
        for (n, run) in self.runs.iter().enumerate() {
            let habit = self.script.habit;
            acts.extend((!run.reports.is_empty()).then_some(Act::Report(n)));
            acts.extend((!run.orders.is_empty()).then_some(Act::Order(n)));
            acts.extend(run.may_become_ready(habit).then_some(Act::Ready(n)));
            acts.extend((habit == Habit::Reads && run.may_read()).then_some(Act::Read(n)));
            if run.may_end() {
                acts.extend(self.script.endings.iter().map(|ending| Act::End(n, *ending)));
            }
            acts.extend(run.may_obey().then_some(Act::Obey(n)));
            acts.extend(run.grace_may_be_over().then_some(Act::GraceOver(n)));
            acts.extend(run.group_may_go().then_some(Act::GroupGone(n)));
        }
        acts
    }

    /// What people and fate do.
    pub(crate) fn outer(&self) -> Vec<Act> {
        let (words, edits) = (self.script.words.len(), self.script.edits.len());
        let items = (0..self.left.len()).filter(|item| self.left[*item] > 0);
        let mut acts: Vec<Act> = items
            .map(|item| match item {
                n if n < words => Act::Say(n),
                n if n < words + edits => Act::Edit(n),
                n => Act::Cancel(n),
            })
            .collect();
        acts.extend((self.switched < self.script.switches.len()).then_some(Act::Switch));
        acts.extend((self.crashes < self.script.crashes).then_some(Act::Crash));
        let draining = self.counts.draining == Draining::Yes;
        acts.extend((!draining && self.drains < self.script.drains).then_some(Act::Drain));
        for (room, site) in self.sites.iter().enumerate() {
            acts.extend((draining && site.closing == Closing::Open).then_some(Act::DrainRoom(room)));
            acts.extend((site.closing == Closing::Drained).then_some(Act::StopRoom(room)));
        }
        acts
    }
}

impl Site {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            room: Part::new(room),
            up: VecDeque::new(),
            down: VecDeque::new(),
            closing: Closing::Open,
            told: Told::Yes,
        }
    }
}
