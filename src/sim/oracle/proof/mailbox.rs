//! Faults of the owner's mailbox.

use std::collections::BTreeSet;
use std::sync::Arc;

use clankie_actors::mail::MailReply;
use clankie_domain::ask::Resolution;
use clankie_domain::claim::ClaimState;
use clankie_domain::mailbox::MailRefusal;
use clankie_domain::message::AnswerLine;
use clankie_domain::result::By;
use clankie_domain::update::UpdateStateName;

use super::{Plant, change, change_all, last};
use crate::sim::history::{Doing, Fact, Mail, Standing, What, Wish};

pub(super) const PLANTS: &[Plant] = &[
    ("M1", "an answer is delivered twice", |facts| {
        let began = |fact: &Fact| matches!(&fact.what, What::Run(_, Doing::Began(given)) if given.answered.is_some());
        let Some(at) = facts.iter().position(began) else { return false };
        let again = facts[at].clone();
        facts.insert(at + 1, again);
        true
    }),
    ("M1", "an answer is called delivered that nobody took", |facts| {
        facts.retain(|fact| !matches!(fact.what, What::Run(_, Doing::Took)));
        is_answered(facts, |state| *state == ClaimState::Delivered)
    }),
    ("M1", "an answer is left on its way", |facts| {
        last(facts, |last| claims(last, |state| *state = ClaimState::Dispatching))
    }),
    ("M1", "an uncertain answer becomes delivered", |facts| {
        last(facts, |last| {
            last.asks.iter_mut().any(|view| {
                let claim = Arc::make_mut(view).entry.claim.as_mut();
                let uncertain = claim.filter(|claim| claim.state == ClaimState::Uncertain);
                uncertain.map(|claim| claim.state = ClaimState::Delivered).is_some()
            })
        })
    }),
    ("M1", "an ask has two winners", |facts| {
        let Some(call) = with_a_second_receipt(facts) else { return false };
        change(facts, |what| {
            let What::Mail(Mail::Granted(number, Some(MailReply::Resolved(view)), _)) = what else { return false };
            let Resolution::Submitted { by, .. } = &mut view.entry.resolution else { return false };
            if *number == call {
                *by = By::service();
            }
            *number == call
        })
        .is_some()
    }),
    ("M2", "whoever answered might not", |facts| {
        change_all(facts, |what| {
            let What::Token(_, Standing::Made { answers, .. }) = what else { return false };
            std::mem::replace(answers, false)
        }) && is_answered(facts, |_| true)
    }),
    ("M2", "an answer names somebody else", |facts| {
        change_all(facts, |what| {
            let What::Mail(Mail::Ask(view)) = what else { return false };
            match &mut Arc::make_mut(view).entry.resolution {
                Resolution::Submitted { by, .. } => {
                    by.id = "somebody".to_owned();
                    true
                }
                Resolution::Pending | Resolution::Cancelled { .. } => false,
            }
        })
    }),
    ("M2", "a gate is passed that nobody opened", |facts| {
        let call = facts.iter().find_map(|fact| {
            let What::Run(run, Doing::Called { call, arguments, .. }) = &fact.what else { return None };
            arguments.get("gate")?;
            Some((*run, call.clone()))
        });
        let Some((run, call)) = call else { return false };
        let end = facts.last().map_or(0, |fact| fact.at);
        let delegated = facts
            .iter()
            .any(|fact| matches!(&fact.what, What::PolicyAsked(_, policy) if !policy.autonomy.delegated.is_empty()));
        let place = facts.len();
        facts.insert(place, Fact { at: end, what: What::Run(run, Doing::Shipped(call)) });
        let continues = facts.iter().any(|fact| {
            matches!(&fact.what, What::Run(other, Doing::Began(given)) if *other == run && given.answered.is_some())
        });
        !delegated && !continues
    }),
    ("M3", "a pending ask is forgotten", |facts| {
        last(facts, |last| {
            let pending = last.asks.iter().position(|view| view.entry.resolution == Resolution::Pending);
            pending.map(|at| last.asks.remove(at)).is_some()
        })
    }),
    ("M3", "an unread update is forgotten", |facts| {
        last(facts, |last| {
            let unread = last.updates.iter().position(|update| update.state.name() == UpdateStateName::Unread);
            unread.map(|at| last.updates.remove(at)).is_some()
        })
    }),
    ("M3", "the badge counts what is not there", |facts| {
        last(facts, |last| {
            last.counts.0 += 1;
            true
        })
    }),
    ("M3", "a call is refused for a reason that it did not earn", |facts| {
        let answer = |fact: &Fact| {
            let What::Mail(Mail::Wished(call, _, Wish::Answer(..))) = fact.what else { return None };
            Some(call)
        };
        let call = facts.iter().find_map(answer);
        change(facts, |what| {
            let What::Mail(Mail::Granted(number, reply @ Some(_), _)) = what else { return false };
            if Some(*number) != call {
                return false;
            }
            *reply = Some(MailReply::Refused(MailRefusal::StaleRequest, None));
            true
        })
        .is_some()
    }),
    ("M4", "a write of the mailbox is several commits", |facts| {
        change_all(facts, |what| {
            let What::Mail(Mail::Granted(_, Some(_), Some(commits))) = what else { return false };
            *commits += 2;
            true
        })
    }),
    ("M5", "a cancelled ask is shown with an answer", |facts| {
        last(facts, |last| {
            let cancelled = last.asks.iter().find(|view| matches!(view.entry.resolution, Resolution::Cancelled { .. }));
            let Some(ask) = cancelled.map(|view| &view.entry.ask) else { return false };
            last.lines.push(AnswerLine {
                conversation: ask.conversation.clone(),
                request: ask.request,
                by: By::service(),
                text: "You answered: yes".to_owned(),
                at: ask.created_at,
            });
            true
        })
    }),
    ("M5", "a cancelled ask is pending again", |facts| {
        last(facts, |last| {
            last.asks.iter_mut().any(|view| {
                let resolution = &mut Arc::make_mut(view).entry.resolution;
                let was = matches!(resolution, Resolution::Cancelled { .. });
                if was {
                    *resolution = Resolution::Pending;
                }
                was
            })
        })
    }),
    ("M6", "an ask is resolved that nobody resolved", |facts| {
        let answered = is_answered(facts, |_| true);
        facts.retain(|fact| !matches!(fact.what, What::Mail(Mail::Wished(..))));
        answered
    }),
    ("M7", "a secret stands in the chat", |facts| {
        let secret = secret(facts);
        change(facts, |what| {
            let What::Posted(post) = what else { return false };
            Arc::make_mut(post).text.push_str(&secret);
            !secret.is_empty()
        })
        .is_some()
    }),
    ("M7", "a secret stands on the disk", |facts| {
        let secret = secret(facts);
        last(facts, |last| {
            last.on_disk.push(secret.clone());
            !secret.is_empty()
        })
    }),
];

fn secret(facts: &[Fact]) -> String {
    let of = |fact: &Fact| {
        let What::Mail(Mail::Secret(_, text)) = &fact.what else { return None };
        Some(text.clone())
    };
    facts.iter().find_map(of).unwrap_or_default()
}

fn claims(last: &mut crate::sim::history::Last, set: impl Fn(&mut ClaimState)) -> bool {
    let mut many = 0;
    for view in &mut last.asks {
        if let Some(claim) = &mut Arc::make_mut(view).entry.claim {
            set(&mut claim.state);
            many += 1;
        }
    }
    many > 0
}

fn is_answered(facts: &[Fact], which: impl Fn(&ClaimState) -> bool) -> bool {
    facts.iter().any(|fact| {
        let What::Last(last) = &fact.what else { return false };
        last.asks.iter().filter_map(|view| view.entry.claim.as_ref()).any(|claim| which(&claim.state))
    })
}

/// The first of two calls that were given the receipt of one answer.
fn with_a_second_receipt(facts: &[Fact]) -> Option<u64> {
    let wished = |fact: &Fact| {
        let What::Mail(Mail::Wished(call, _, Wish::Answer(..))) = fact.what else { return None };
        Some(call)
    };
    let answers: BTreeSet<u64> = facts.iter().filter_map(wished).collect();
    let of = |fact: &Fact| {
        let What::Mail(Mail::Granted(call, Some(MailReply::Resolved(view)), _)) = &fact.what else { return None };
        answers.contains(call).then_some((view.entry.ask.request, *call))
    };
    let all: Vec<_> = facts.iter().filter_map(of).collect();
    all.iter().find(|(request, _)| all.iter().filter(|(other, _)| other == request).count() > 1).map(|(_, call)| *call)
}
