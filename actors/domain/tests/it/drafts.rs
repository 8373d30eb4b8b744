//! What is put on the desk: principals, sources, drafts and answers.

use std::collections::{BTreeMap, BTreeSet};

use clankie_domain::answer::{Answer, Sealed};
use clankie_domain::ask::{
    AskKind, Draft, Freeform, Origin, Purpose, Secrecy, WorkerItem, WorkerQuestion, WorkerRequestId,
};
use clankie_domain::autonomy::Category;
use clankie_domain::grant::{Grant, MachineStanding, OwnerProof, OwnerStanding, Plan};
use clankie_domain::ids::{HandoffId, IncarnationId, RunId, TokenId};
use clankie_domain::mailbox::{Answerer, Offered};
use clankie_domain::result::{By, PrincipalKind};
use clankie_domain::update::UpdateDraft;
use uuid::Uuid;

use crate::desk::DEVICE;
use crate::house;

pub(crate) fn incarnation(n: u128) -> IncarnationId {
    IncarnationId(Uuid::from_u128(n))
}

pub(crate) fn by(who: u128) -> Answerer {
    let kind = if who == DEVICE { PrincipalKind::Device } else { PrincipalKind::Operator };
    Answerer { by: By { kind, id: format!("principal-{who}") }, token: TokenId(Uuid::from_u128(who)) }
}

pub(crate) fn origin(who: &str, run: u128) -> Origin {
    Origin {
        handoff: HandoffId(Uuid::from_u128(run)),
        run: RunId(Uuid::from_u128(run)),
        actor: house::actor(who),
        actor_name: who.to_owned(),
        room: house::room("local:lab"),
        delivery: house::key("m-1"),
        transport: house::transport(),
        guild: None,
        grant: grant(Plan::Machine),
    }
}

pub(crate) fn grant(plan: Plan) -> Grant {
    Grant {
        plan,
        owner_standing: OwnerStanding::None,
        machine_standing: MachineStanding::Individual,
        owner_proof: OwnerProof::Absent,
        transport: house::transport(),
        tools: BTreeSet::from(["react".to_owned()]),
    }
}

/// A text question about nothing that is reserved.
pub(crate) fn question(prompt: &str) -> Draft {
    Draft {
        purpose: Purpose::OwnerAction,
        kind: AskKind::Text,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        freeform: Freeform::Refused,
        recommendation: None,
        waiting_on: Some("the release".to_owned()),
        steps: vec!["sign in".to_owned()],
        gate: None,
        secrecy: Secrecy::Open,
        issue: None,
        worker: None,
    }
}

pub(crate) fn secret(prompt: &str) -> Draft {
    Draft { secrecy: Secrecy::Secret, ..question(prompt) }
}

/// A choice between the labels; the first is recommended.
pub(crate) fn decision(prompt: &str, labels: &[&str]) -> Draft {
    let options = labels.iter().map(|label| ((*label).to_owned(), None)).collect();
    let recommendation = Some(labels[0].to_owned());
    let (purpose, kind, steps) = (Purpose::Decision, AskKind::Choice, Vec::new());
    Draft { purpose, kind, options, recommendation, steps, ..question(prompt) }
}

pub(crate) fn approval(prompt: &str, gate: Category) -> Draft {
    Draft { purpose: Purpose::Approval, gate: Some(gate), steps: Vec::new(), ..question(prompt) }
}

pub(crate) fn preference(prompt: &str) -> Draft {
    Draft { purpose: Purpose::Preference, waiting_on: None, steps: Vec::new(), ..question(prompt) }
}

/// A worker's request with one question for each id.
pub(crate) fn escalation(request: WorkerRequestId, ids: &[&str]) -> Draft {
    let item = |id: &&str| WorkerItem {
        id: (*id).to_owned(),
        text: format!("question {id}"),
        options: Vec::new(),
        secrecy: Secrecy::Open,
    };
    let questions = ids.iter().map(item).collect();
    let (seat_id, session_id) = ("seat-1".to_owned(), "session-1".to_owned());
    let worker = Some(WorkerQuestion { seat_id, session_id, request_id: request, questions });
    Draft { worker, ..question("a worker asks") }
}

pub(crate) fn text(words: &str) -> Answer {
    Answer::Text { text: words.to_owned() }
}

pub(crate) fn to_worker(answers: &[(&str, &[&str])]) -> Answer {
    let said = |said: &[&str]| said.iter().map(|word| (*word).to_owned()).collect();
    let answers: BTreeMap<_, _> = answers.iter().map(|(id, words)| ((*id).to_owned(), said(words))).collect();
    Answer::Worker { answers }
}

/// The words sealed: equal words have equal digests, and nonces never repeat.
pub(crate) fn sealed(words: &str, nonce: u8) -> Offered {
    let mut digest = [0; 32];
    digest[..words.len()].copy_from_slice(words.as_bytes());
    let sealed = Some(Sealed { nonce: [nonce; 12], ciphertext: vec![nonce; words.len()], digest });
    Offered { answer: text(words), sealed }
}

pub(crate) fn news(title: &str) -> UpdateDraft {
    let (links, media) = (Vec::new(), Vec::new());
    UpdateDraft { title: title.to_owned(), body: "It is done.".to_owned(), links, media, issue: None, seat_id: None }
}
