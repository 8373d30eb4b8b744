//! Where the asks of the small world come from.

use std::collections::BTreeSet;

use clankie_domain::ask::Origin;
use clankie_domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, HandoffId, LaneName, RunId};
use uuid::Uuid;

use crate::script::room_id;

pub(super) fn origin() -> Origin {
    let transport = Transport { gateway: Gateway::Ingress, lane: LaneName::parse("lane").unwrap() };
    Origin {
        handoff: HandoffId(Uuid::from_u128(7)),
        run: RunId(Uuid::from_u128(7)),
        actor: ActorId::parse("ann").unwrap(),
        actor_name: "Ann".to_owned(),
        room: room_id(0),
        delivery: DeliveryId::parse("m-1").unwrap(),
        transport: transport.clone(),
        guild: None,
        grant: Grant {
            plan: Plan::Social,
            owner_standing: OwnerStanding::None,
            machine_standing: MachineStanding::None,
            owner_proof: OwnerProof::Absent,
            transport,
            tools: BTreeSet::new(),
        },
    }
}
