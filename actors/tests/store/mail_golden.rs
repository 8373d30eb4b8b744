//! Mail with everything in it that a row can hold, for the golden files.

use std::collections::BTreeMap;
use std::sync::Arc;

use clankie_actors::domain::answer::{Answer, Sealed, StoredAnswer};
use clankie_actors::domain::ask::{
    Ask, AskKind, AskOption, CancelReason, Freeform, IssueRef, Purpose, Resolution, Role, Secrecy, WorkerItem,
    WorkerQuestion, WorkerRequestId,
};
use clankie_actors::domain::autonomy::Category;
use clankie_actors::domain::claim::{Claim, ClaimState, Seen};
use clankie_actors::domain::ids::{OptionId, RunId, TokenId};
use clankie_actors::domain::mailbox::MailChange;
use clankie_actors::domain::result::{By, FailCode, PrincipalKind};
use clankie_actors::domain::update::{Link, MailMedia, OwnerUpdate, UpdateDraft, UpdateState};

use crate::mail::{ask, claim, conversation, head, line, moved, owner, update};
use crate::world::{at, uuid};

/// Asks with every purpose and category, worker's questions of both kinds, and one that is full.
fn asks() -> Vec<Arc<Ask>> {
    let lab = conversation(1);
    let categories = Category::NAMED.into_iter().chain([Category::Unspecified]);
    let gated =
        categories.zip(1..).map(|(category, n)| Ask { gate: Some(category), ..Ask::clone(&ask(n, &lab, n, at(n))) });
    let purposes = Purpose::ALL.into_iter().zip(20..);
    let meant = purposes.map(|(purpose, n)| Ask { purpose, ..Ask::clone(&ask(n, &lab, n, at(n))) });
    let requests = [WorkerRequestId::Text("r-1".into()), WorkerRequestId::Number(-1)].into_iter().zip(30..);
    let workers = requests.map(|(id, n)| Ask { worker: Some(worker(id)), ..Ask::clone(&ask(n, &lab, n, at(n))) });
    gated.chain(meant).chain(workers).chain([full()]).map(Arc::new).collect()
}

fn worker(request_id: WorkerRequestId) -> WorkerQuestion {
    let secrecies = [Secrecy::Open, Secrecy::Secret].into_iter().zip(["q1", "q2"]);
    let questions = secrecies.map(|(secrecy, id)| WorkerItem {
        id: id.into(),
        text: "which?".into(),
        options: vec!["this".into()],
        secrecy,
    });
    let questions = questions.collect();
    WorkerQuestion { seat_id: "seat-1".into(), session_id: "s-1".into(), request_id, questions }
}

fn full() -> Ask {
    let roles = [Role::Plain, Role::Approve, Role::Decline].into_iter().zip(50..);
    let options = roles.map(|(role, n)| AskOption {
        id: OptionId(uuid(n)),
        label: format!("option {n}"),
        description: (n == 50).then(|| "more".into()),
        role,
    });
    Ask {
        kind: AskKind::Choice,
        options: options.collect(),
        freeform: Freeform::Refused,
        recommendation: Some("the first".into()),
        secrecy: Secrecy::Secret,
        issue: Some(issue()),
        workspace: Some("/p".into()),
        context: Some("\"ja\"\n".into()),
        provenance: Some("the host".into()),
        ..Ask::clone(&ask(40, &conversation(1), 40, at(40)))
    }
}

fn issue() -> IssueRef {
    IssueRef { tracker: "forge".into(), key: "K-1".into(), url: "https://x/K-1".into() }
}

fn resolutions() -> Vec<Resolution> {
    let answers = BTreeMap::from([("q1".into(), vec!["this".into()]), ("q2".into(), Vec::new())]);
    let sealed = Sealed { nonce: [1; 12], ciphertext: vec![0, 15, 255], digest: [2; 32] };
    let kept = [
        StoredAnswer::Open(Answer::Choice { option: OptionId(uuid(50)) }),
        StoredAnswer::Open(Answer::Text { text: "red".into() }),
        StoredAnswer::Open(Answer::Worker { answers }),
        StoredAnswer::Sealed(sealed),
    ];
    let (answerer, run) = (TokenId(uuid(8)), RunId(uuid(60)));
    let submitted = kept.map(|answer| Resolution::Submitted { answer, by: owner(), answerer, at: at(61), run });
    let by = By { kind: PrincipalKind::Service, id: "clankie".into() };
    let cancelled = CancelReason::ALL.map(|reason| Resolution::Cancelled { reason, by: by.clone(), at: at(62) });
    submitted.into_iter().chain(cancelled).collect()
}

fn claims(asks: &[Arc<Ask>]) -> Vec<Claim> {
    use ClaimState::{Claimed, Delivered, Dispatching, Returned, Uncertain};
    let states = [Claimed, Dispatching, Delivered, Uncertain, Returned(FailCode::OwnerRevoked)].into_iter().zip(asks);
    let mut claims: Vec<_> = states.map(|(state, ask)| claim(ask, state, at(63))).collect();
    if let Some(last) = claims.last_mut() {
        (last.seen, last.handoff) = (Seen::Yes, None);
    }
    claims
}

fn updates() -> Vec<OwnerUpdate> {
    let lab = conversation(1);
    let media = MailMedia { url: "https://x/y.png".into(), mime_type: "image/png".into(), alt: Some("a cat".into()) };
    let bare = MailMedia { alt: None, ..media.clone() };
    let draft = UpdateDraft {
        title: "news".into(),
        body: "\"ja\"\n".into(),
        links: vec![Link { label: "more".into(), url: "https://x/".into() }],
        media: vec![media, bare],
        issue: Some(issue()),
        seat_id: Some("seat-1".into()),
    };
    let (second, third) = (update(71, &lab, 1, at(71)), update(72, &lab, 2, at(72)));
    vec![
        OwnerUpdate { draft, ..update(70, &lab, 0, at(70)) },
        OwnerUpdate { state: UpdateState::Read { at: at(73) }, ..second },
        OwnerUpdate { state: UpdateState::Dismissed { read_at: at(73), at: at(74) }, ..third },
    ]
}

/// Everything of the above, one commit after another.
pub(crate) fn changes() -> Vec<Vec<MailChange>> {
    let asks = asks();
    let published = asks.iter().cloned().map(MailChange::Asked);
    let resolved = asks
        .iter()
        .zip(resolutions())
        .map(|(ask, resolution)| MailChange::Resolved { ask: Arc::clone(ask), resolution });
    let shown = [MailChange::Shown(line(&asks[0], at(61)))];
    vec![
        [head(&conversation(1), 1)].into_iter().chain(published).collect(),
        resolved.chain(shown).collect(),
        claims(&asks).into_iter().map(MailChange::Claim).collect(),
        updates().into_iter().map(|update| moved(&update, update.state)).collect(),
    ]
}
