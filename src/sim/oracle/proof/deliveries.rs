//! Faults of admission, steering, permits and replies.

use std::collections::BTreeSet;
use std::sync::Arc;

use clankie_actors::store::HeldPermit;
use clankie_domain::admission::room::Answer;
use clankie_domain::admission::{BusyFacts, Limit};
use clankie_domain::delivery::Posting;
use clankie_domain::event::Event;
use clankie_domain::grant::Plan;
use clankie_domain::handoff::{Class, HandoffRecord, Owed, State, StateName};
use clankie_domain::ids::{ActorId, Arrival, HandoffId, PermitId, RoomId, RunId};
use clankie_domain::result::{FailCode, TurnResult};
use clankie_domain::steering::Mark;
use uuid::Uuid;

use super::{Plant, change, change_all, last};
use crate::sim::history::{Doing, Fact, Manner, Standing, What};

const BUSY: BusyFacts = BusyFacts { limit: Limit::Waiting, position: 1, running: 1, waiting: 1, oldest_wait_ms: 0 };

pub(super) const PLANTS: &[Plant] = &[
    ("I1", "more run than may", |facts| limits(facts, |limits| limits.running = 0)),
    ("I1", "more run in one room than may", |facts| limits(facts, |limits| limits.running_per_room = 0)),
    ("I1", "more wait than may", |facts| limits(facts, |limits| limits.waiting = 0) && somebody_waits(facts)),
    ("I2", "an accepted delivery has no record", |facts| {
        last(facts, |last| {
            last.records.iter().position(|record| record.joined.is_none()).map(|at| last.records.remove(at)).is_some()
        })
    }),
    ("I2", "an accepted delivery has no receipt", |facts| last(facts, |last| last.receipts.pop().is_some())),
    ("I2", "something that was durable is gone", |facts| {
        facts.iter().position(|fact| matches!(fact.what, What::Event(5, _))).map(|at| facts.remove(at)).is_some()
    }),
    ("I2", "accepted before it was durable", |facts| {
        let id = HandoffId(Uuid::from_u128(7));
        change(facts, |what| {
            let What::Heard(_, Some(Answer::Accepted { handoff, .. })) = what else { return false };
            std::mem::replace(handoff, id) != id
        })
        .is_some()
    }),
    ("I2", "the store does not open", |facts| insert(facts, What::NotUp("damaged".to_owned()))),
    ("I2", "refused every time, and it has a record", |facts| {
        change_all(facts, |what| {
            let What::Heard(_, answer @ Some(_)) = what else { return false };
            answer.replace(Answer::Busy(BUSY)).is_some()
        })
    }),
    ("I3", "one delivery is executed twice", |facts| {
        repeat(facts, |what| matches!(what, What::Run(_, Doing::Began(_))))
    }),
    ("I3", "one delivery has two results", |facts| {
        let submits = submits(facts);
        change(facts, |what| {
            let What::Heard(number, Some(Answer::Settled { result, .. })) = what else { return false };
            *result = TurnResult::Settled { text: "other".to_owned(), media: Vec::new() };
            submits.contains(number)
        })
        .is_some()
    }),
    ("I3", "a receipt is not its record's", |facts| {
        last(facts, |last| last.receipts.iter_mut().any(|receipt| receipt.result.take().is_some()))
    }),
    ("I3", "one delivery has two records", |facts| {
        last(facts, |last| last.records.first().cloned().map(|record| last.records.push(record)).is_some())
    }),
    ("I3", "a reply is said twice", |facts| repeat(facts, |what| matches!(what, What::Posted(_)))),
    ("I4", "a run has a plan that nobody gave it", |facts| {
        change(facts, |what| {
            let What::Run(_, Doing::Began(given)) = what else { return false };
            // The first person of a place is an owner now and then.
            if given.grant.plan != Plan::Social || given.actor.as_str().ends_with(":0") {
                return false;
            }
            Arc::make_mut(given).grant.plan = Plan::Owner;
            true
        })
        .is_some()
    }),
    ("I4", "a joiner is read under more than its own grant", |facts| {
        let read = facts.iter().find_map(|fact| {
            let What::Run(_, Doing::Marked(joiner, Mark::Read)) = fact.what else { return None };
            Some(joiner)
        });
        change_all(facts, |what| {
            let What::Record(record) = what else { return false };
            if Some(record.id) != read {
                return false;
            }
            Arc::make_mut(record).grant.tools.pop_first().is_some()
        })
    }),
    ("I4", "a tool has its effect after the credential went", |facts| {
        let transport = facts.iter().find_map(|fact| {
            let What::Run(_, Doing::Began(given)) = &fact.what else { return None };
            Some(given.grant.transport.clone())
        });
        let token = clankie_domain::ids::TokenId(Uuid::from_u128(9));
        let made = Standing::Made { answers: false, transport };
        facts.insert(0, Fact { at: 0, what: What::Token(token, Standing::Ended) });
        facts.insert(0, Fact { at: 0, what: What::Token(token, made) });
        facts.iter().any(|fact| matches!(&fact.what, What::Run(_, Doing::Returned { reply: Ok(text), .. }) if text == "sent"))
            && facts.iter().all(|fact| !matches!(&fact.what, What::Run(_, Doing::Began(given)) if given.grant.transport.gateway == clankie_domain::grant::Gateway::Ingress))
    }),
];

pub(super) const MORE: &[Plant] = &[
    ("I5", "a session has no permit", |facts| {
        change_all(facts, |what| {
            let What::Rest(permits, _) = what else { return false };
            permits.pop().is_some()
        })
    }),
    ("I5", "a permit has no session", |facts| {
        change_all(facts, |what| {
            let What::Rest(permits, _) = what else { return false };
            permits.push(HeldPermit {
                permit: PermitId(99),
                room: RoomId::parse("local:x").unwrap(),
                handoff: HandoffId(Uuid::nil()),
                run: RunId(Uuid::nil()),
            });
            true
        })
    }),
    ("I5", "a permit is free while work waits", |facts| {
        change_all(facts, |what| {
            let What::Rest(permits, live) = what else { return false };
            if !live.iter().any(|record| record.state_name() == StateName::Pending) {
                return false;
            }
            permits.clear();
            true
        })
    }),
    ("I5", "more sessions than permits", |facts| limits(facts, |limits| limits.running = 0)),
    ("I5", "work never ends", |facts| facts.pop().is_some() && facts.pop().is_some()),
    ("I6", "the younger one starts first", |facts| {
        let waits = somebody_waits(facts);
        waits
            && change_all(facts, |what| {
                let What::Record(record) = what else { return false };
                let record = Arc::make_mut(record);
                record.arrival = Arrival(1_000_000 - record.arrival.0);
                true
            })
    }),
    ("I7", "an ended record moves on", |facts| {
        change_all(facts, |what| {
            let What::Event(_, Event::Handoff { state: state @ StateName::Pending, .. }) = what else { return false };
            *state = StateName::Completed;
            true
        })
    }),
    ("I7", "a confirmed part does not stand in the room", |facts| {
        let confirmed = facts.iter().any(|fact| {
            let What::Last(last) = &fact.what else { return false };
            last.records
                .iter()
                .any(|record| record.room.as_str().starts_with("discord") && !record.room_delivery.confirmed.is_empty())
        });
        facts.retain(|fact| !matches!(fact.what, What::Posted(_)));
        confirmed
    }),
    ("I7", "uncertain becomes success by itself", |facts| {
        let posted = |record: &clankie_domain::handoff::HandoffRecord| {
            matches!(record.room_delivery.state, Posting::Sending { .. })
        };
        change_all(facts, |what| {
            let What::Record(record) = what else { return false };
            if !posted(record) {
                return false;
            }
            Arc::make_mut(record).room_delivery.state = Posting::Uncertain;
            true
        })
    }),
    ("I8", "a record is another's", |facts| {
        last(facts, |last| match last.records.first_mut() {
            Some(record) => {
                Arc::make_mut(record).actor = ActorId::parse("discord:user:99").unwrap();
                true
            }
            None => false,
        })
    }),
    ("I8", "a run is given other words", |facts| {
        change(facts, |what| {
            let What::Run(_, Doing::Began(given)) = what else { return false };
            if given.answered.is_some() {
                return false;
            }
            Arc::make_mut(given).request.push_str(" and more");
            true
        })
        .is_some()
    }),
    ("I8", "a reply is said in another room", |facts| {
        change(facts, |what| {
            let What::Posted(post) = what else { return false };
            Arc::make_mut(post).room = RoomId::parse("discord:text:1:99").unwrap();
            true
        })
        .is_some()
    }),
    ("I9", "a joiner that was read is run as well", |facts| {
        repeat(facts, |what| matches!(what, What::Run(_, Doing::Marked(_, Mark::Read))))
    }),
    ("I9", "what no agent read is absorbed", |facts| {
        let is_absorbed = |record: &HandoffRecord| matches!(record.result(), Some(TurnResult::Absorbed { .. }));
        let absorbed = facts.iter().find_map(|fact| {
            let What::Record(record) = &fact.what else { return None };
            is_absorbed(record).then_some(record.id)
        });
        let was = facts.len();
        facts.retain(|fact| {
            let What::Run(_, Doing::Marked(joiner, Mark::Read)) = fact.what else { return true };
            Some(joiner) != absorbed
        });
        facts.len() < was
    }),
    ("I9", "promised work gets stale", |facts| {
        change(facts, |what| {
            let What::Record(record) = what else { return false };
            let record = Arc::make_mut(record);
            record.class = Class::Owed(Owed::Unread);
            record.state = State::Ended(TurnResult::Failed { code: FailCode::Stale });
            true
        })
        .is_some()
    }),
    ("I9", "accepted work is told busy", |facts| {
        let accepted = facts.iter().position(|fact| matches!(fact.what, What::Heard(_, Some(Answer::Accepted { .. }))));
        let Some(at) = accepted else { return false };
        let What::Heard(number, _) = facts[at].what else { return false };
        let is_submit = submits(facts).contains(&number);
        let heard = What::Heard(number, Some(Answer::Busy(BUSY)));
        facts.insert(at + 1, Fact { at: facts[at].at, what: heard });
        is_submit
    }),
];

/// The tries with which words were handed in as they were first said.
fn submits(facts: &[Fact]) -> BTreeSet<u64> {
    let of = |fact: &Fact| {
        let What::Sent(number, Manner::Submit, _) = &fact.what else { return None };
        Some(*number)
    };
    facts.iter().filter_map(of).collect()
}

fn limits(facts: &mut [Fact], set: impl Fn(&mut clankie_domain::admission::Limits)) -> bool {
    change_all(facts, |what| {
        let What::Born(_, limits) = what else { return false };
        set(limits);
        true
    })
}

/// Whether two of one room waited at once, in a moment that was looked at.
fn somebody_waits(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        let What::Rest(_, live) = &fact.what else { return false };
        let fresh = |record: &&Arc<clankie_domain::handoff::HandoffRecord>| {
            record.state_name() == StateName::Pending && record.class == clankie_domain::handoff::Class::Fresh
        };
        let waiting: Vec<_> = live.iter().filter(fresh).map(|record| &record.room).collect();
        waiting.iter().enumerate().any(|(place, room)| waiting[place + 1..].contains(room))
    })
}

fn insert(facts: &mut Vec<Fact>, what: What) -> bool {
    let at = facts.len() / 2;
    let moment = facts[at].at;
    facts.insert(at, Fact { at: moment, what });
    true
}

/// The first such fact happens twice.
fn repeat(facts: &mut Vec<Fact>, which: impl Fn(&What) -> bool) -> bool {
    let Some(at) = facts.iter().position(|fact| which(&fact.what)) else { return false };
    let again = facts[at].clone();
    facts.insert(at + 1, again);
    true
}
