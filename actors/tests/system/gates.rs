//! A category that the owner keeps: closed until an Approve, then open for one call of the very
//! continuation that carries it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clankie_actors::domain::admission::Limits;
use clankie_actors::domain::answer::Answer as Given;
use clankie_actors::domain::ask::AskStatus;
use clankie_actors::domain::autonomy::{Autonomy, Category};
use clankie_actors::domain::claim::ClaimState;
use clankie_actors::domain::grant::{GrantPolicy, Plan};
use clankie_actors::domain::ids::{ConversationId, ExecutorName, LaneName, RequestId};
use clankie_actors::domain::mailbox::{Aim, Answerer, SETTLED_KEPT};
use clankie_actors::domain::principal::TokenKind;
use clankie_actors::domain::request::Source;
use clankie_actors::domain::result::{By, PrincipalKind};
use clankie_actors::domain::session::SessionEvent;
use clankie_actors::mail::{AskQuery, AskView, MailReply};
use clankie_actors::ports::{RoomTools, ToolReply};
use serde_json::{Value, json};

use crate::env::{Env, actor};
use crate::puppet::Strings;
use crate::recorder::NAME;

/// The host's own options of an approval.
const APPROVE: usize = 0;
const DECLINE: usize = 1;

/// Ann has machine standing and the one machine tool.
fn machine() -> GrantPolicy {
    GrantPolicy {
        machine_actors: BTreeSet::from([actor("ann")]),
        machine_tools: BTreeSet::from([NAME.to_owned()]),
        ..GrantPolicy::default()
    }
}

fn delegating(category: Category) -> GrantPolicy {
    let autonomy = Autonomy { delegated: BTreeSet::from([category]), ..Autonomy::default() };
    GrantPolicy { autonomy, ..machine() }
}

async fn start(policy: GrantPolicy) -> (Env, Answerer) {
    let env = Env::with(policy, Limits::default()).await;
    let name = LaneName::parse("o").unwrap();
    let token = env.clankie.create_token(TokenKind::Operator, name, "secret", None).await.unwrap().unwrap();
    let by = By { kind: PrincipalKind::Operator, id: token.id.to_string() };
    (env, Answerer { by, token: token.id })
}

async fn reload(env: &Env, policy: GrantPolicy) {
    let name = ExecutorName::parse("puppet").unwrap();
    let routes = BTreeMap::from([Plan::Social, Plan::Machine, Plan::Owner].map(|plan| (plan, name.clone())));
    env.clankie.reload(policy, routes).await.unwrap();
}

/// Calls the tool, which needs that category; the code of its refusal.
async fn needing(tools: &Arc<dyn RoomTools>, category: Category) -> Result<String, String> {
    match tools.call("call", NAME, json!({ "needs": category.as_str() })).await {
        ToolReply::Done(done) => Ok(done),
        ToolReply::Refused { code, .. } => Err(code),
    }
}

fn done() -> Result<String, String> {
    Ok("recorded".to_owned())
}

fn refused(code: &str) -> Result<String, String> {
    Err(code.to_owned())
}

fn approval(category: Category) -> Value {
    let prompt = format!("May I {}?", category.as_str());
    json!({"purpose": "approval", "gate": category.as_str(), "prompt": prompt, "waiting_on": "the clean-up"})
}

async fn ask(session: &Strings, draft: Value) {
    let reply = session.spec.tools.call("ask", "request_user_input", draft).await;
    assert!(matches!(reply, ToolReply::Done(_)), "{reply:?}");
}

/// The ask for that category, as it stands now.
fn view(env: &Env, category: Category) -> AskView {
    let asks = env.clankie.asks(&AskQuery { limit: 100, ..AskQuery::default() }).unwrap().asks;
    asks.into_iter().find(|view| view.entry.ask.gate == Some(category)).expect("the ask")
}

/// A session of ann asks for that category and ends.
async fn asked(env: &mut Env, category: Category) -> AskView {
    let id = env.accept("r", &format!("ask {}", category.as_str()), "ann", "clean up").await;
    let session = env.ready().await;
    ask(&session, approval(category)).await;
    session.reply("asked").await;
    env.result(id).await;
    view(env, category)
}

fn aim(view: &AskView) -> Aim {
    Aim { request: view.entry.ask.request, incarnation: view.entry.ask.incarnation, revision: view.head.revision }
}

async fn choose(env: &Env, category: Category, option: usize, by: &Answerer) {
    let view = view(env, category);
    let given = Given::Choice { option: view.entry.ask.options[option].id };
    let reply = env.clankie.answer(&view.entry.ask.conversation, aim(&view), given, by.clone()).await.unwrap();
    assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
}

async fn continuation(env: &mut Env) -> Strings {
    let session = env.ready().await;
    assert_eq!(session.spec.source, Source::Continuation);
    session
}

#[tokio::test]
async fn m2_an_approval_opens_its_category_for_one_call_of_its_own_continuation() {
    let (mut env, owner) = start(machine()).await;
    let id = env.accept("r", "m1", "ann", "clean up").await;
    let session = env.ready().await;
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("gate_closed"));
    ask(&session, approval(Category::Destructive)).await;
    // Asking opens nothing, and neither does the answer for the session that asked.
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("gate_closed"));
    let request = view(&env, Category::Destructive).entry.ask.request;
    choose(&env, Category::Destructive, APPROVE, &owner).await;
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("gate_closed"));
    session.reply("asked").await;
    env.result(id).await;
    env.recorder.watch(request);

    let session = continuation(&mut env).await;
    let tools = &session.spec.tools;
    assert_eq!(needing(tools, Category::Push).await, refused("gate_closed"));
    assert!(!env.recorder.used(request), "another category used it up");
    assert_eq!(needing(tools, Category::Destructive).await, done());
    assert_eq!(env.recorder.calls(), [true], "the use was not durable before the tool ran");
    assert_eq!(needing(tools, Category::Destructive).await, refused("gate_closed"));
    let (handoff, late) = (session.spec.handoff, Arc::clone(tools));
    session.reply("cleaned").await;
    env.result(handoff).await;
    // Nor later, in the continuation that is over or in new work of the same person.
    assert_ne!(needing(&late, Category::Destructive).await, done());
    env.accept("r", "m2", "ann", "again").await;
    assert_eq!(needing(&env.ready().await.spec.tools, Category::Destructive).await, refused("gate_closed"));
    assert_eq!(env.recorder.calls().len(), 1);
}

#[tokio::test]
async fn of_two_calls_at_once_an_approval_opens_one() {
    let (mut env, owner) = start(machine()).await;
    asked(&mut env, Category::Destructive).await;
    choose(&env, Category::Destructive, APPROVE, &owner).await;
    let session = continuation(&mut env).await;
    let tools = &session.spec.tools;
    let both = tokio::join!(needing(tools, Category::Destructive), needing(tools, Category::Destructive));
    assert!(both == (done(), refused("gate_closed")) || both == (refused("gate_closed"), done()), "{both:?}");
    assert_eq!(env.recorder.calls().len(), 1);
}

/// What is settled while it runs pushes the approval out of the mailbox only when it is over.
#[tokio::test]
async fn m3_an_approval_opens_its_category_however_much_is_settled_while_its_continuation_runs() {
    let (mut env, owner) = start(machine()).await;
    let request = asked(&mut env, Category::Destructive).await.entry.ask.request;
    choose(&env, Category::Destructive, APPROVE, &owner).await;
    let session = continuation(&mut env).await;
    session.say(SessionEvent::Took).await;
    let delivered = |env: &Env| {
        let claim = env.clankie.ask_of(&conversation_of(env, request), request).unwrap().unwrap().entry.claim;
        claim.is_some_and(|claim| claim.state == ClaimState::Delivered)
    };
    env.until("delivered", delivered).await;
    settle_many(&mut env, "m2", &owner).await;
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, done());
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("gate_closed"));
    let handoff = session.spec.handoff;
    session.reply("cleaned").await;
    env.result(handoff).await;
    settle_many(&mut env, "m3", &owner).await;
    assert_eq!(env.clankie.conversation_of(request).unwrap(), None, "now it is forgotten like any other");
}

fn conversation_of(env: &Env, request: RequestId) -> ConversationId {
    env.clankie.conversation_of(request).unwrap().expect("the ask is kept")
}

/// Another person's session asks more than a mailbox keeps once they are settled, and the owner cancels all.
async fn settle_many(env: &mut Env, delivery: &str, by: &Answerer) {
    let id = env.accept("r", delivery, "bob", "ask a lot").await;
    let session = env.ready().await;
    for n in 0..SETTLED_KEPT + 4 {
        let prompt = format!("{delivery}, step {n}?");
        ask(&session, json!({"purpose": "owner_action", "prompt": prompt, "steps": ["do it"], "waiting_on": "it"}))
            .await;
        let pending = AskQuery { status: Some(AskStatus::Pending), limit: 1, ..AskQuery::default() };
        let view = env.clankie.asks(&pending).unwrap().asks.remove(0);
        let reply = env.clankie.cancel_ask(&view.entry.ask.conversation, aim(&view), by.clone()).await.unwrap();
        assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
    }
    session.reply("asked").await;
    env.result(id).await;
}

#[tokio::test]
async fn an_approval_opens_nothing_in_the_continuation_of_another_ask() {
    let (mut env, owner) = start(machine()).await;
    let request = asked(&mut env, Category::Destructive).await.entry.ask.request;
    asked(&mut env, Category::Push).await;
    choose(&env, Category::Push, APPROVE, &owner).await;
    let pushes = continuation(&mut env).await;
    choose(&env, Category::Destructive, APPROVE, &owner).await;
    let destroys = continuation(&mut env).await;
    assert_eq!(needing(&pushes.spec.tools, Category::Destructive).await, refused("gate_closed"));
    assert_eq!(needing(&destroys.spec.tools, Category::Push).await, refused("gate_closed"));
    assert!(!env.recorder.used(request));
    assert_eq!(needing(&pushes.spec.tools, Category::Push).await, done());
    assert_eq!(needing(&destroys.spec.tools, Category::Destructive).await, done());
}

#[tokio::test]
async fn b55_a_decline_or_a_comment_opens_nothing() {
    let (mut env, owner) = start(machine()).await;
    asked(&mut env, Category::Destructive).await;
    choose(&env, Category::Destructive, DECLINE, &owner).await;
    let declined = continuation(&mut env).await;
    assert_eq!(needing(&declined.spec.tools, Category::Destructive).await, refused("gate_closed"));

    let commented = asked(&mut env, Category::Push).await;
    let given = Given::Text { text: "Approve".to_owned() };
    let conversation = &commented.entry.ask.conversation;
    let reply = env.clankie.answer(conversation, aim(&commented), given, owner).await.unwrap();
    assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
    let commented = continuation(&mut env).await;
    assert_eq!(needing(&commented.spec.tools, Category::Push).await, refused("gate_closed"));
    assert!(env.recorder.calls().is_empty());
}

#[tokio::test]
async fn m5_a_cancelled_approval_opens_nothing() {
    let (mut env, owner) = start(machine()).await;
    let asked = asked(&mut env, Category::Destructive).await;
    let reply = env.clankie.cancel_ask(&asked.entry.ask.conversation, aim(&asked), owner).await.unwrap();
    assert!(matches!(reply, MailReply::Resolved(_)), "{reply:?}");
    env.accept("r", "m2", "ann", "now then").await;
    let session = env.ready().await;
    assert_eq!(session.spec.source, Source::Text);
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("gate_closed"));
    assert!(env.recorder.calls().is_empty());
}

#[tokio::test]
async fn a_delegated_category_is_open_without_an_ask_until_the_owner_takes_it_back() {
    let (mut env, _owner) = start(delegating(Category::Destructive)).await;
    env.accept("r", "m1", "ann", "clean up").await;
    let session = env.ready().await;
    let tools = &session.spec.tools;
    assert_eq!(needing(tools, Category::Destructive).await, done());
    assert_eq!(needing(tools, Category::Push).await, refused("gate_closed"));
    // No ask is raised for it; one for a category that is kept is.
    let reply = tools.call("ask", "request_user_input", approval(Category::Destructive)).await;
    let ToolReply::Refused { code, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(code, "approval_not_owner_reserved");
    reload(&env, machine()).await;
    assert_eq!(needing(tools, Category::Destructive).await, refused("gate_closed"));
    assert_eq!(env.recorder.calls().len(), 1);
}

#[tokio::test]
async fn m2_an_approval_is_worth_nothing_once_the_permission_is_gone() {
    let (mut env, owner) = start(machine()).await;
    let request = asked(&mut env, Category::Destructive).await.entry.ask.request;
    choose(&env, Category::Destructive, APPROVE, &owner).await;
    let session = continuation(&mut env).await;
    reload(&env, GrantPolicy { machine_actors: BTreeSet::new(), ..machine() }).await;
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("authority_revoked"));
    assert!(!env.recorder.used(request) && env.recorder.calls().is_empty());
}

#[tokio::test]
async fn i8_a_machine_tool_is_there_for_a_machine_grant_only() {
    let (mut env, _owner) = start(machine()).await;
    let offers = |session: &Strings| session.spec.tools.catalog().iter().any(|spec| spec.name == NAME);
    env.accept("r", "m1", "ann", "look").await;
    let session = env.ready().await;
    assert!(offers(&session));
    let plain = session.spec.tools.call("call", NAME, json!({})).await;
    assert_eq!(plain, ToolReply::Done("recorded".to_owned()));
    env.accept("r", "m2", "bob", "look").await;
    let session = env.ready().await;
    assert!(!offers(&session));
    assert_eq!(needing(&session.spec.tools, Category::Destructive).await, refused("tool_unavailable"));
    assert_eq!(env.recorder.calls().len(), 1);
}
