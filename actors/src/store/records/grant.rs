//! Stored grants.

use std::collections::BTreeSet;

use clankie_domain::grant::{Gateway, Grant, MachineStanding, OwnerProof, OwnerStanding, Plan, Transport};
use clankie_domain::ids::LaneName;

use super::mirror_struct;

mirror_struct! {
    TransportRow = Transport { gateway: Gateway, lane: LaneName }
}

mirror_struct! {
    GrantRow = Grant {
        plan: Plan,
        owner_standing: OwnerStanding,
        machine_standing: MachineStanding,
        owner_proof: OwnerProof,
        transport: TransportRow,
        tools: BTreeSet<String>,
    }
}
