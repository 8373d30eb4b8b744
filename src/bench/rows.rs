//! The rows of one admission, made by the same machine that makes them in the service, for a
//! store that is committed to without one.

use std::collections::{BTreeMap, BTreeSet};

use clankie_actors::digest;
use clankie_actors::ports::{Clock, Ids};
use clankie_actors::store::Txn;
use clankie_domain::admission::FromGlobal;
use clankie_domain::admission::room::{Context, Room, RoomInput};
use clankie_domain::grant::{Authority, GrantEpoch, GrantPolicy, Plan, Sources};
use clankie_domain::handoff::{IllegalMove, Usage};
use clankie_domain::ids::{Caller, ExecutorName, HandoffId, PermitId, RoomId, RunId, Ticket};
use clankie_domain::request::{Minted, Request, Submission};
use clankie_domain::session::{ReadList, Reply, RunEnd, RunOutcome};
use clankie_domain::steering::{Route, SteerSupport};

/// Rooms without actors.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    clock: &'a dyn Clock,
    ids: &'a dyn Ids,
    authority: Authority,
    rooms: BTreeMap<RoomId, Room>,
    running: Vec<(RoomId, RunId)>,
    next: u64,
}

impl<'a> Rows<'a> {
    /// Rooms whose speakers have these tools, as they have in the service.
    pub(super) fn new(clock: &'a dyn Clock, ids: &'a dyn Ids, executor: ExecutorName, tools: BTreeSet<String>) -> Self {
        let routes = [(Plan::Social, Route { executor, steer: SteerSupport::None })].into();
        let policy = GrantPolicy { room_tools: tools, ..GrantPolicy::default() };
        let authority =
            Authority { epoch: GrantEpoch(1), policy, sources: Sources::default(), routes, answerers: BTreeMap::new() };
        Self { clock, ids, authority, rooms: BTreeMap::new(), running: Vec::new(), next: 0 }
    }

    /// What one admission that runs at once writes.
    pub(super) fn admission(&mut self, request: Request) -> Result<Txn, IllegalMove> {
        self.next += 1;
        let (room, ticket, permit) = (request.room.clone(), Ticket(self.next), PermitId(self.next));
        let minted = Minted { ticket, handoff: HandoffId(self.ids.uuid()), run: RunId(self.ids.uuid()) };
        let submission = Submission { fingerprint: digest::fingerprint(&request), request, minted };
        self.running.push((room.clone(), minted.run));
        self.step(&room, RoomInput::Submit { submission, known: None, caller: Caller(self.next) })?;
        self.step(&room, RoomInput::Global(FromGlobal::Run(ticket, permit)))
    }

    /// What the ends of everything that runs write.
    pub(super) fn ends(&mut self) -> Result<Vec<Txn>, IllegalMove> {
        let mut ends = Vec::new();
        for (room, run) in std::mem::take(&mut self.running) {
            let (outcome, read) = (RunOutcome::Replied(Reply::Silent), ReadList::Exactly(Vec::new()));
            ends.push(self.step(&room, RoomInput::Ended(run, RunEnd { outcome, read, usage: Usage::default() }))?);
            ends.push(self.step(&room, RoomInput::Gone(run))?);
        }
        Ok(ends)
    }

    fn step(&mut self, room: &RoomId, input: RoomInput) -> Result<Txn, IllegalMove> {
        let before = self.rooms.entry(room.clone()).or_insert_with(|| Room::new(room.clone()));
        let decision = before.decide(input, Context { now: self.clock.now(), authority: &self.authority })?;
        *before = decision.next;
        Ok(Txn::changes(decision.changes))
    }
}
