//! What anybody might do, as configuration and credentials had it: a second opinion on grants.
//!
//! Between the wish for a change and its being in force nobody outside can say which one holds, so
//! each moment has several policies that may hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_domain::grant::{Gateway, Grant, GrantPolicy, Plan, Transport};
use clankie_domain::ids::{ActorId, RoomId, TokenId};

use crate::sim::history::{Fact, Standing, What};

/// A version of the configuration, and when it may have held.
#[derive(Debug)]
struct Version {
    number: u32,
    from: u64,
    /// When it held for certain.
    certain: Option<u64>,
    policy: Arc<GrantPolicy>,
}

/// One credential.
#[derive(Debug, Default)]
struct Credential {
    answers: bool,
    transport: Option<Transport>,
    end_asked: Option<u64>,
    ended: Option<u64>,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Authority {
    versions: Vec<Version>,
    credentials: BTreeMap<TokenId, Credential>,
}

impl Authority {
    /// As the history tells it.
    pub(super) fn of(facts: &[Fact]) -> Self {
        let mut all = Self::default();
        for Fact { at, what } in facts {
            if let What::PolicyAsked(number, policy) = what {
                let policy = Arc::clone(policy);
                all.versions.push(Version { number: *number, from: *at, certain: None, policy });
            }
            if let What::PolicyInForce(number) = what {
                all.holds(*number, *at);
            }
            // A process that begins reads what configuration says.
            if let What::Up = what
                && let Some(number) = all.versions.last().map(|version| version.number)
            {
                all.holds(number, *at);
            }
            if let What::Token(id, standing) = what {
                all.token(*id, standing, *at);
            }
        }
        all
    }

    fn holds(&mut self, number: u32, at: u64) {
        let asked = self.versions.iter_mut().rev().find(|version| version.number == number);
        if let Some(version) = asked {
            version.certain.get_or_insert(at);
        }
    }

    fn token(&mut self, id: TokenId, standing: &Standing, at: u64) {
        let credential = self.credentials.entry(id).or_default();
        match standing {
            Standing::Made { answers, transport } => {
                (credential.answers, credential.transport) = (*answers, transport.clone());
            }
            Standing::EndAsked => drop(credential.end_asked.get_or_insert(at)),
            Standing::Ended => drop(credential.ended.get_or_insert(at)),
        }
    }

    /// The policies that may have held at some moment of a span.
    pub(super) fn policies(&self, (from, to): (u64, u64)) -> Vec<&GrantPolicy> {
        let over_at = |place: usize| self.versions[place + 1..].iter().filter_map(|later| later.certain).min();
        let may_hold = |(place, version): &(usize, &Version)| {
            version.from <= to && over_at(*place).is_none_or(|over| over >= from)
        };
        self.versions.iter().enumerate().filter(may_hold).map(|(_, version)| version.policy.as_ref()).collect()
    }

    /// Whether somebody there may have had that plan at some moment of a span.
    pub(super) fn may_have(&self, grant: &Grant, (actor, room): (&ActorId, &RoomId), span: (u64, u64)) -> bool {
        let silenced = |credential: &Credential| {
            credential.transport.as_ref() == Some(&grant.transport)
                && credential.ended.is_some_and(|ended| ended < span.0)
        };
        if self.credentials.values().any(silenced) {
            return false;
        }
        self.policies(span).into_iter().any(|policy| plan(policy, actor, room, &grant.transport) >= grant.plan)
    }

    /// Whether a credential held the right to answer through all of a span, for certain.
    pub(super) fn surely_answers(&self, token: TokenId, (_, to): (u64, u64)) -> bool {
        self.credentials.get(&token).is_some_and(|it| it.answers && it.end_asked.is_none_or(|asked| asked > to))
    }

    /// Whether a credential may have held it at some moment of a span.
    pub(super) fn may_answer(&self, token: TokenId, (from, _): (u64, u64)) -> bool {
        self.credentials.get(&token).is_some_and(|it| it.answers && it.ended.is_none_or(|ended| ended >= from))
    }

    /// Whether a category may have been delegated at some moment of a span.
    pub(super) fn may_be_delegated(&self, gate: &str, span: (u64, u64)) -> bool {
        let delegates =
            |policy: &&GrantPolicy| policy.autonomy.delegated.iter().any(|category| category.as_str() == gate);
        self.policies(span).iter().any(delegates)
    }
}

/// How much somebody gets under a policy, by the page on handoffs.
fn plan(policy: &GrantPolicy, actor: &ActorId, room: &RoomId, transport: &Transport) -> Plan {
    let vouched = match transport.gateway {
        Gateway::Local | Gateway::DiscordText | Gateway::DiscordVoice => true,
        Gateway::Ingress => policy.vouching_lanes.contains(&transport.lane),
    };
    if policy.owners.contains(actor) && vouched {
        Plan::Owner
    } else if policy.machine_actors.contains(actor) || policy.machine_rooms.contains(room) {
        Plan::Machine
    } else {
        Plan::Social
    }
}
