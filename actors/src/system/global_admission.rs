//! The actor that owns the counts. It only casts; it never waits for a room.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_domain::admission::global::{Global, Post};
use clankie_domain::admission::recover::Place;
use clankie_domain::admission::{Limits, ToGlobal};
use clankie_domain::ids::RoomId;
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::rooms::{Lease, RoomBody, Rooms};
use crate::ports::Clock;

/// What the owner of the counts hears.
#[derive(Debug)]
pub(crate) enum GlobalMsg {
    /// The places of a boot.
    Recover(Vec<Place>),
    /// A room says something; the lease holds its actor alive.
    Room(RoomId, ToGlobal, Lease),
    /// Nothing starts from now on.
    Drain,
}

/// The actor: its ports.
#[derive(Debug)]
pub(crate) struct GlobalAdmission {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rooms: Rooms,
}

/// The actor's state: the machine, and one lease for each ticket and permit that is out.
#[derive(Debug)]
pub(crate) struct Counts {
    global: Global,
    leases: BTreeMap<RoomId, Vec<Lease>>,
}

impl Actor for GlobalAdmission {
    type Msg = GlobalMsg;
    type State = Counts;
    type Arguments = Limits;

    async fn pre_start(&self, _: ActorRef<GlobalMsg>, limits: Limits) -> Result<Counts, ActorProcessingErr> {
        Ok(Counts { global: Global::new(limits), leases: BTreeMap::new() })
    }

    async fn handle(
        &self,
        _: ActorRef<GlobalMsg>,
        message: GlobalMsg,
        state: &mut Counts,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            GlobalMsg::Recover(places) => {
                let rooms: Vec<RoomId> = places.iter().map(|(room, ..)| room.clone()).collect();
                let posts = state.global.recover(places);
                for room in rooms {
                    self.hold(state, &room, self.rooms.lease(&room));
                }
                self.post(posts);
            }
            GlobalMsg::Room(room, message, lease) => {
                let posts = state.global.handle(&room, message, self.clock.now());
                self.hold(state, &room, Some(lease));
                self.post(posts);
            }
            GlobalMsg::Drain => state.global.drain(),
        }
        Ok(())
    }
}

impl GlobalAdmission {
    /// Keeps as many leases of the room as it has tickets and permits out.
    fn hold(&self, state: &mut Counts, room: &RoomId, lease: Option<Lease>) {
        let wanted = state.global.holds(room);
        let Some(lease) = lease else { return };
        let held = state.leases.entry(room.clone()).or_default();
        held.resize_with(wanted, || lease.clone());
        if wanted == 0 {
            state.leases.remove(room);
            drop(lease);
            self.rooms.rest(room);
        }
    }

    fn post(&self, posts: Vec<Post>) {
        for Post { room, message } in posts {
            self.rooms.send(&room, RoomBody::Global(message));
        }
    }
}
