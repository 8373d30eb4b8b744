//! The owner's mailbox through the front door: asked, answered, woken once, and shown when not.

use clankie_actors::domain::answer::Answer as Given;
use clankie_actors::domain::ask::{AskStatus, Resolution};
use clankie_actors::domain::claim::ClaimState;
use clankie_actors::domain::handoff::StateName;
use clankie_actors::domain::ids::{HandoffId, IncarnationId, LaneName, RequestId};
use clankie_actors::domain::mailbox::{Aim, Answerer, MailRefusal};
use clankie_actors::domain::message::MessageKind;
use clankie_actors::domain::principal::{Token, TokenKind};
use clankie_actors::domain::request::Source;
use clankie_actors::domain::result::{Approval, By, FailCode, PrincipalKind, TurnResult};
use clankie_actors::domain::session::{Entry, Outcome, Reply, SessionEvent, ToolPhase};
use clankie_actors::mail::{AskQuery, AskView, MailReply, UpdateFilter, UpdateQuery};
use clankie_actors::ports::ToolReply;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::env::{Env, room, settled};
use crate::puppet::Strings;

pub(crate) fn decision() -> Value {
    json!({
        "purpose": "decision",
        "kind": "choice",
        "prompt": "Ship it?",
        "options": [{"label": "Ship"}, {"label": "Wait"}],
        "recommendation": "Ship",
        "waiting_on": "the release",
    })
}

async fn call(session: &Strings, id: &str, name: &str, arguments: Value) -> ToolReply {
    session.spec.tools.call(id, name, arguments).await
}

/// A session in room r asks, and gives what the tool said.
async fn asked(session: &Strings, draft: Value) -> Value {
    match call(session, "call-1", "request_user_input", draft).await {
        ToolReply::Done(said) => serde_json::from_str(&said).unwrap(),
        refused => panic!("nothing was asked: {refused:?}"),
    }
}

fn code(reply: ToolReply) -> String {
    match reply {
        ToolReply::Refused { code, .. } => code,
        ToolReply::Done(done) => panic!("{done} was not refused"),
    }
}

pub(crate) async fn operator(env: &Env, name: &str) -> Answerer {
    let name = LaneName::parse(name).unwrap();
    let token: Token = env.clankie.create_token(TokenKind::Operator, name, "secret", None).await.unwrap().unwrap();
    Answerer { by: By { kind: PrincipalKind::Operator, id: token.id.to_string() }, token: token.id }
}

pub(crate) fn asks(env: &Env) -> Vec<AskView> {
    env.clankie.asks(&AskQuery { limit: 100, ..AskQuery::default() }).unwrap().asks
}

fn ask(env: &Env, request: RequestId) -> AskView {
    asks(env).into_iter().find(|view| view.entry.ask.request == request).expect("the ask")
}

pub(crate) fn only(env: &Env) -> AskView {
    let mut asks = asks(env);
    assert_eq!(asks.len(), 1);
    asks.remove(0)
}

pub(crate) fn aim(view: &AskView) -> Aim {
    Aim { request: view.entry.ask.request, incarnation: view.entry.ask.incarnation, revision: view.head.revision }
}

pub(crate) fn choose(view: &AskView, at: usize) -> Given {
    Given::Choice { option: view.entry.ask.options[at].id }
}

pub(crate) fn words(text: &str) -> Given {
    Given::Text { text: text.to_owned() }
}

pub(crate) async fn answer(env: &Env, view: &AskView, given: Given, by: &Answerer) -> MailReply {
    env.clankie.answer(&view.entry.ask.conversation, aim(view), given, by.clone()).await.unwrap()
}

pub(crate) fn refusal(reply: MailReply) -> MailRefusal {
    match reply {
        MailReply::Refused(why, _) => why,
        other => panic!("not refused: {other:?}"),
    }
}

fn claim(env: &Env, view: &AskView) -> ClaimState {
    ask(env, view.entry.ask.request).entry.claim.expect("a claim").state
}

/// Ann's session asks and settles; gives her ask.
pub(crate) async fn ann_asks(env: &mut Env, draft: Value) -> AskView {
    let id = env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    assert_eq!(asked(&session, draft).await["status"], "pending");
    session.reply("asked").await;
    env.result(id).await;
    only(env)
}

#[tokio::test]
async fn m1_an_accepted_answer_wakes_its_source_once_and_is_delivered() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    let MailReply::Resolved(receipt) = answer(&env, &view, choose(&view, 1), &owner).await else { panic!("refused") };
    assert_eq!(receipt.entry.resolution.status(), AskStatus::Submitted);

    let session = env.ready().await;
    assert_eq!(session.spec.source, Source::Continuation);
    let told = session.spec.answered.clone().expect("the answer");
    assert_eq!((told.prompt.as_str(), told.shown.as_str()), ("Ship it?", "Wait"));
    assert_eq!(session.spec.actor, view.entry.ask.origin.actor);
    assert_eq!(claim(&env, &view), ClaimState::Dispatching);
    session.say(SessionEvent::Took).await;
    env.until("delivered", |env| claim(env, &view) == ClaimState::Delivered).await;
    let handoff = session.spec.handoff;
    // Its reply quotes what its origin was asked.
    assert_eq!(env.record(handoff).quoted(), &view.entry.ask.origin.delivery);
    session.reply("waiting then").await;
    assert_eq!(env.result(handoff).await, settled("waiting then"));

    // The same answer again is the same receipt, though the revision has moved; another is none.
    let MailReply::Resolved(again) = answer(&env, &view, choose(&view, 1), &owner).await else { panic!("refused") };
    assert_eq!(again.entry.resolution, receipt.entry.resolution);
    assert_eq!(refusal(answer(&env, &view, choose(&view, 0), &owner).await), MailRefusal::ConflictingAnswer);
    let continuations = env.states().iter().filter(|(delivery, _)| delivery.starts_with("clankie:answer:")).count();
    assert_eq!(continuations, 1);
}

#[tokio::test]
async fn b53_an_answer_claimed_before_a_crash_wakes_its_source_after_it() {
    let mut env = Env::with(Default::default(), one_at_a_time()).await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    // Somebody else's work holds the only permit, so the continuation waits.
    env.accept("other", "m2", "bob", "hold").await;
    let _held = env.ready().await;
    answer(&env, &view, choose(&view, 0), &owner).await;
    assert_eq!(claim(&env, &view), ClaimState::Claimed);
    let mut env = env.restart().await;
    assert_eq!(claim(&env, &view), ClaimState::Claimed);
    let session = env.ready().await;
    assert_eq!(session.spec.answered.as_ref().unwrap().shown, "Ship");
    session.say(SessionEvent::Took).await;
    env.until("delivered", |env| claim(env, &view) == ClaimState::Delivered).await;
}

#[tokio::test]
async fn m1_an_answer_that_was_crossing_at_a_crash_is_uncertain_and_is_never_sent_again() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    answer(&env, &view, choose(&view, 0), &owner).await;
    let _session = env.ready().await;
    let mut env = env.restart().await;
    assert_eq!(claim(&env, &view), ClaimState::Uncertain);
    assert!(env.sessions.try_recv().is_err(), "it was sent again");
    // The owner takes note of it; that moves nothing else.
    let MailReply::Resolved(seen) = env.clankie.mark_seen(view.entry.ask.request, owner).await.unwrap() else {
        panic!("not marked")
    };
    assert_eq!(seen.entry.claim.unwrap().state, ClaimState::Uncertain);
}

#[tokio::test]
async fn m2_an_answer_of_a_credential_that_is_gone_before_it_crosses_comes_back() {
    let mut env = Env::with(Default::default(), one_at_a_time()).await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    env.accept("other", "m2", "bob", "hold").await;
    let held = env.ready().await;
    answer(&env, &view, choose(&view, 0), &owner).await;
    env.clankie.revoke_token(owner.token).await.unwrap().unwrap();
    held.reply("done").await;
    env.until("returned", |env| claim(env, &view) == ClaimState::Returned(FailCode::OwnerRevoked)).await;
    assert!(env.sessions.try_recv().is_err(), "it crossed");
    // What is shown proves no current authority.
    assert_eq!(refusal(answer(&env, &view, choose(&view, 0), &owner).await), MailRefusal::OwnerUnavailable);
}

#[tokio::test]
async fn m2_nobody_answers_without_authority() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    let lane = LaneName::parse("captain").unwrap();
    let captain = env.clankie.create_token(TokenKind::Captain, lane, "s", None).await.unwrap().unwrap();
    let by = |token| Answerer { token, ..owner.clone() };
    for token in [captain.id, clankie_actors::domain::ids::TokenId(Uuid::from_u128(7))] {
        let reply = answer(&env, &view, choose(&view, 0), &by(token)).await;
        assert_eq!(refusal(reply), MailRefusal::OwnerUnavailable);
        let cancelled = env.clankie.cancel_ask(&view.entry.ask.conversation, aim(&view), by(token)).await.unwrap();
        assert_eq!(refusal(cancelled), MailRefusal::OwnerUnavailable);
    }
    assert_eq!(only(&env).entry.resolution, Resolution::Pending);
}

#[tokio::test]
async fn b55_b86_words_in_the_room_never_answer() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    for (n, text) in ["yes", "ok", "Ship", "approve", "/approve", "continue", "lgtm"].into_iter().enumerate() {
        let id = env.accept("r", &format!("chat-{n}"), "ann", text).await;
        env.ready().await.reply("heard").await;
        assert_eq!(env.result(id).await, settled("heard"));
    }
    assert_eq!(only(&env).entry, view.entry);
    assert!(matches!(answer(&env, &view, choose(&view, 0), &owner).await, MailReply::Resolved(_)));
}

#[tokio::test]
async fn m5_a_cancelled_ask_is_cancelled_everywhere_and_wakes_nobody() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    let conversation = view.entry.ask.conversation.clone();
    let cancelled = env.clankie.cancel_ask(&conversation, aim(&view), owner.clone()).await.unwrap();
    let MailReply::Resolved(cancelled) = cancelled else { panic!("not cancelled") };
    assert!(matches!(cancelled.entry.resolution, Resolution::Cancelled { .. }) && cancelled.entry.claim.is_none());
    assert_eq!(refusal(answer(&env, &view, choose(&view, 0), &owner).await), MailRefusal::ConflictingAnswer);
    assert!(env.sessions.try_recv().is_err());
    assert!(env.clankie.answers_shown(&conversation, 0, 10).unwrap().is_empty());
}

#[tokio::test]
async fn m6_silence_and_a_restart_never_answer_b45() {
    let mut env = Env::start().await;
    let view = ann_asks(&mut env, decision()).await;
    env.clock.advance(365 * 24 * 3_600_000);
    let env = env.restart().await;
    assert_eq!(only(&env).entry, view.entry);
}

#[tokio::test]
async fn the_checks_come_in_their_order() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    let conversation = view.entry.ask.conversation.clone();
    let elsewhere = clankie_actors::domain::ids::ConversationId::parse(&format!("room-{}", "0".repeat(24))).unwrap();
    let stale = Aim { incarnation: IncarnationId(Uuid::from_u128(1)), revision: 99, ..aim(&view) };
    let late = Aim { revision: view.head.revision + 7, ..aim(&view) };
    let nonsense = words("");
    let say = |at, aim, given| env.clankie.answer(at, aim, given, owner.clone());
    assert_eq!(
        refusal(say(&elsewhere, stale.clone(), nonsense.clone()).await.unwrap()),
        MailRefusal::UnknownConversation
    );
    assert_eq!(refusal(say(&conversation, stale, nonsense.clone()).await.unwrap()), MailRefusal::StaleRequest);
    assert!(matches!(say(&conversation, late, nonsense.clone()).await.unwrap(), MailReply::RevisionConflict(_)));
    assert_eq!(refusal(say(&conversation, aim(&view), nonsense).await.unwrap()), MailRefusal::InvalidAnswer);
    assert_eq!(only(&env).entry, view.entry);
}

#[tokio::test]
async fn b72_two_asks_of_one_turn_are_never_swapped() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    let other = json!({"purpose": "decision", "kind": "choice", "prompt": "Really?", "recommendation": "No",
        "options": [{"label": "Yes"}, {"label": "No"}], "waiting_on": "the release"});
    let first = asked(&session, decision()).await;
    let second = asked(&session, other).await;
    assert_eq!(
        asked(&session, decision()).await,
        json!({"status": "already_pending", "request_id": first["request_id"]})
    );
    session.reply("asked").await;
    let of = |env: &Env, id: &Value| ask(env, RequestId(Uuid::parse_str(id.as_str().unwrap()).unwrap()));
    let (one, two) = (of(&env, &first["request_id"]), of(&env, &second["request_id"]));
    // The newest was shown; the older one is answered by its own id, after a fresh read of the revision.
    answer(&env, &one, choose(&one, 0), &owner).await;
    let told = env.ready().await;
    assert_eq!(told.spec.answered.as_ref().unwrap().prompt, "Ship it?");
    assert!(matches!(answer(&env, &two, choose(&two, 1), &owner).await, MailReply::RevisionConflict(_)));
    let two = ask(&env, two.entry.ask.request);
    answer(&env, &two, choose(&two, 1), &owner).await;
    let told = env.ready().await;
    assert_eq!(told.spec.answered.as_ref().unwrap().shown, "No");
}

#[tokio::test]
async fn b75_the_room_hears_a_neutral_sentence_and_the_mailbox_has_the_words() {
    let mut env = Env::start().await;
    let id = env.accept("r", "m1", "ann", "deploy").await;
    let session = env.ready().await;
    let prompt = "May I run `rm -rf /srv`?".to_owned();
    let approval = Approval::Required;
    session.settle(Outcome::Completed(Reply::WaitingUser { prompt: prompt.clone(), approval })).await;
    let TurnResult::WaitingUser { prompt: told, approval: Approval::Required } = env.result(id).await else { panic!() };
    assert!(!told.contains("rm -rf"), "the record and its receipt tell {told}");
    let view = only(&env);
    assert_eq!(
        (view.entry.ask.prompt.as_str(), view.entry.ask.gate.unwrap().as_str()),
        (prompt.as_str(), "unspecified")
    );
    let labels: Vec<_> = view.entry.ask.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["Approve", "Decline"]);
    let messages = env.clankie.messages(&room("r"), 0, 10).unwrap();
    let said: Vec<_> = messages.iter().filter(|(_, message)| message.kind != MessageKind::Person).collect();
    assert_eq!(said.len(), 1);
    assert!(!said[0].1.text.contains("rm -rf"), "{}", said[0].1.text);
}

#[tokio::test]
async fn b57_b39_an_open_ask_blocks_nothing() {
    let mut env = Env::start().await;
    ann_asks(&mut env, decision()).await;
    let id = env.accept("r", "m2", "ann", "and now?").await;
    env.ready().await.reply("here").await;
    assert_eq!(env.result(id).await, settled("here"));
}

#[tokio::test]
async fn an_update_is_mailed_once_for_its_call_and_read_and_put_away_for_good() {
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    let note = json!({"title": "Done", "body": "The build is green."});
    for status in ["mailed", "already_mailed"] {
        let ToolReply::Done(said) = call(&session, "call-9", "mail_owner_update", note.clone()).await else { panic!() };
        assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["status"], status);
    }
    let other = json!({"title": "Done", "body": "The build is red."});
    assert_eq!(code(call(&session, "call-9", "mail_owner_update", other).await), "owner_update_publication_conflict");
    let list = |env: &Env, show| {
        let query = UpdateQuery { show, limit: 10, ..UpdateQuery::default() };
        env.clankie.updates(&query).unwrap().updates
    };
    let id = list(&env, UpdateFilter::Open)[0].id;
    for _ in 0..2 {
        assert!(matches!(env.clankie.dismiss_update(id, owner.clone()).await.unwrap(), MailReply::Update(_)));
    }
    let MailReply::Update(read) = env.clankie.read_update(id, owner).await.unwrap() else { panic!() };
    assert_eq!(read.state.as_str(), "dismissed");
    assert!(list(&env, UpdateFilter::Open).is_empty() && list(&env, UpdateFilter::All).len() == 1);
}

#[tokio::test]
async fn m7_a_secret_reaches_its_session_and_nothing_else() {
    const KEY: &str = "hunter22\"\\\nc4nary";
    let mut env = Env::start().await;
    let owner = operator(&env, "o").await;
    let draft = json!({"purpose": "owner_action", "prompt": "The key?", "steps": ["Make one"], "waiting_on": "the upload",
        "kind": "text", "secret": true});
    let view = ann_asks(&mut env, draft).await;
    answer(&env, &view, words(KEY), &owner).await;
    let session = env.ready().await;
    let told = session.spec.answered.clone().unwrap();
    assert_eq!((told.shown.as_str(), told.told.as_str()), ("Private answer", KEY));
    assert!(session.spec.request.contains(KEY));
    let (begun, rest) = KEY.split_at("hunter22\"".len());
    session.say(SessionEvent::Text(format!("I got {begun}"))).await;
    session.say(SessionEvent::Text(format!("{rest}, thanks"))).await;
    // As a model's arguments and a tool's output carry it: plain, in JSON, and in JSON inside JSON.
    let once = json!({ "key": KEY }).to_string();
    let twice = json!({ "arguments": once.clone() }).to_string();
    for (n, detail) in [KEY.to_owned(), once, twice].into_iter().enumerate() {
        for phase in [ToolPhase::Began, ToolPhase::Ended] {
            let (id, name, detail) = (format!("t{n}"), format!("tool {KEY}"), detail.clone());
            session.say(SessionEvent::Tool { id, name, phase, detail }).await;
        }
    }
    session.say(SessionEvent::Note(format!("the key is {KEY}"))).await;
    let told = call(&session, "c", "mail_owner_update", json!({"title": KEY, "body": KEY})).await;
    assert!(matches!(told, ToolReply::Done(_)), "{told:?}");
    let handoff = session.spec.handoff;
    session.reply(&format!("the key is {KEY}")).await;
    let TurnResult::Settled { text, .. } = env.result(handoff).await else { panic!() };
    assert!(["hunter22", "c4nary"].iter().all(|part| !text.contains(part)), "{text}");
    // The same secret is known again without being kept.
    assert!(matches!(answer(&env, &view, words(KEY), &owner).await, MailReply::Resolved(_)));
    assert_eq!(refusal(answer(&env, &view, words("other"), &owner).await), MailRefusal::ConflictingAnswer);
    let transcript = env.clankie.transcript(handoff, 0, 100).unwrap();
    let tools = transcript.iter().filter(|line| matches!(line.entry, Entry::Tool { .. })).count();
    assert_eq!(tools, 6, "{transcript:?}");
    let everything = format!(
        "{:?} {:?} {:?} {:?} {:?}",
        transcript,
        env.record(handoff),
        asks(&env),
        env.clankie.answers_shown(&view.entry.ask.conversation, 0, 100).unwrap(),
        env.clankie.updates(&UpdateQuery { show: UpdateFilter::All, limit: 10, ..UpdateQuery::default() }).unwrap(),
    );
    assert!(["hunter22", "c4nary"].iter().all(|part| !everything.contains(part)), "{everything}");
    env.until("delivered", |env| claim(env, &view) == ClaimState::Delivered).await;
    // A barrier: the mailbox has handled what came before.
    let _ = env.clankie.mark_seen(view.entry.ask.request, owner.clone()).await.unwrap();
    assert_eq!((env.vault_keys(), env.vault_digests()), (Vec::new(), vec![view.entry.ask.request]));
}

/// A guess is like no answer to whoever did not give it, and to everybody once a day is over.
#[tokio::test(start_paused = true)]
async fn m7_a_secret_cannot_be_guessed_by_others_nor_by_anybody_later() {
    let mut env = Env::inline(one_at_a_time()).await;
    let (owner, other) = (operator(&env, "o").await, operator(&env, "p").await);
    let draft = json!({"purpose": "owner_action", "prompt": "The pin?", "steps": ["Look"], "waiting_on": "the door",
        "kind": "text", "secret": true});
    let view = ann_asks(&mut env, draft).await;
    answer(&env, &view, words("1234"), &owner).await;
    let session = env.ready().await;
    session.say(SessionEvent::Took).await;
    env.until("delivered", |env| claim(env, &view) == ClaimState::Delivered).await;
    session.reply("thanks").await;
    for guess in ["1234", "1235"] {
        assert_eq!(refusal(answer(&env, &view, words(guess), &other).await), MailRefusal::ConflictingAnswer);
    }
    assert!(matches!(answer(&env, &view, words("1234"), &owner).await, MailReply::Resolved(_)));
    env.clock.advance(24 * 3_600_000);
    tokio::time::sleep(std::time::Duration::from_secs(3_700)).await;
    assert_eq!(env.vault_digests(), Vec::new());
    assert_eq!(refusal(answer(&env, &view, words("1234"), &owner).await), MailRefusal::ConflictingAnswer);
}

#[tokio::test(start_paused = true)]
async fn m4_one_write_is_one_commit_whatever_the_mailbox_holds() {
    let mut env = Env::inline(one_at_a_time()).await;
    let owner = operator(&env, "o").await;
    env.accept("r", "m1", "ann", "work").await;
    let session = env.ready().await;
    // The beginning of the transcript is written after a while.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    for held in [0, 1, 100] {
        for n in 0..held {
            let prompt = format!("Question {held}/{n}?");
            let text = json!({"purpose": "owner_action", "prompt": prompt, "steps": ["do it"], "waiting_on": "it"});
            asked(&session, text).await;
        }
        let draft = json!({"purpose": "owner_action", "prompt": format!("Last of {held}?"), "steps": ["do it"],
            "waiting_on": "it", "kind": "text"});
        let note = json!({"title": format!("News {held}"), "body": "Green."});
        let before = env.commits();
        let said = asked(&session, draft).await;
        let asked_at = env.commits();
        call(&session, &format!("call-{held}"), "mail_owner_update", note).await;
        let mailed_at = env.commits();
        let update = env.clankie.updates(&UpdateQuery { limit: 1, ..UpdateQuery::default() }).unwrap().updates[0].id;
        env.clankie.read_update(update, owner.clone()).await.unwrap();
        let read_at = env.commits();
        let view = ask(&env, RequestId(Uuid::parse_str(said["request_id"].as_str().unwrap()).unwrap()));
        let reply = answer(&env, &view, words("done"), &owner).await;
        assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
        let steps = [asked_at - before, mailed_at - asked_at, read_at - mailed_at, env.commits() - read_at];
        assert_eq!(steps, [1, 1, 1, 1], "with {held} more asks");
    }
}

#[tokio::test]
async fn a_cancelled_continuation_brings_its_answer_back() {
    let mut env = Env::with(Default::default(), one_at_a_time()).await;
    let owner = operator(&env, "o").await;
    let view = ann_asks(&mut env, decision()).await;
    env.accept("other", "m2", "bob", "hold").await;
    let _held = env.ready().await;
    answer(&env, &view, choose(&view, 0), &owner).await;
    let continuation: HandoffId = ask(&env, view.entry.ask.request).entry.claim.unwrap().handoff.unwrap();
    env.cancel_as_owner("r", continuation).await;
    assert_eq!(claim(&env, &view), ClaimState::Returned(FailCode::Named("handoff_cancelled".into())));
    assert_eq!(env.record(continuation).state_name(), StateName::Cancelled);
}

pub(crate) fn one_at_a_time() -> clankie_actors::domain::admission::Limits {
    clankie_actors::domain::admission::Limits { running: 1, ..Default::default() }
}
