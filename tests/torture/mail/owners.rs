//! Owners that deal with the mailbox at once: answers, cancels, marks and notes, fresh and stale,
//! the same and others, each repeated exactly while its outcome is unknown.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::shapes::{Act, Ask, Call, Heard, Update};
use crate::api::{Api, Trouble};
use crate::rng::Rng;
use crate::world::World;

/// Owners who act at the same time.
const OWNERS: usize = 3;
/// Their principals: the operator, and a device of the owner.
const PRINCIPALS: u64 = 2;
/// Longest pause between two acts, in milliseconds.
const PAUSE_MS: u64 = 90;
/// The newest asks that owners choose among: few, so that they meet.
const AMONG: usize = 4;
/// What a secret answer begins with; it may be in no file but a key's.
pub(crate) const CANARY: &str = "canary~of~torture";

/// One owner.
struct Owner {
    world: Arc<World>,
    rng: Rng,
    again: VecDeque<Call>,
}

/// Starts every owner.
pub(crate) fn start(world: &Arc<World>) -> Vec<JoinHandle<()>> {
    let owner = |number: usize| Owner {
        world: Arc::clone(world),
        rng: Rng::new(world.seed, 0x0E00 + number as u64),
        again: VecDeque::new(),
    };
    (0..OWNERS).map(|number| tokio::spawn(owner(number).run())).collect()
}

/// Makes a call and notes what came of it.
pub(crate) async fn call(world: &World, api: &Api, call: &Call) -> Heard {
    let began = world.ledger.lock().await.begin(call);
    let token = if call.by == 0 { &api.at.operator } else { &world.device };
    let heard = match api.dispatch_as(token, call.operation()).await {
        Ok(answer) => understood(&answer),
        Err(Trouble::Gone) => Ok(Heard::Lost),
        Err(Trouble::Wrong(what)) if what.starts_with("503") => Ok(Heard::Lost),
        Err(Trouble::Wrong(what)) => Err(what),
    };
    match heard {
        Ok(heard) => {
            world.ledger.lock().await.heard(call, began, heard.clone(), &world.history);
            heard
        }
        Err(what) => {
            world.history.violation("contract", format!("{call:?}: {what}"), None);
            Heard::Refused(what, None)
        }
    }
}

fn understood(answer: &Value) -> Result<Heard, String> {
    let strange = |why: serde_json::Error| format!("{why} in {answer}");
    let ask = || serde_json::from_value::<Ask>(answer["question"].clone()).map(Box::new).map_err(strange);
    match answer["status"].as_str() {
        Some("resolved") => ask().map(Heard::Resolved),
        Some("revision_conflict") => ask().map(Heard::Moved),
        Some("refused") => {
            let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
            let ask = if answer["question"].is_null() { None } else { Some(ask()?) };
            Ok(Heard::Refused(reason, ask))
        }
        Some("ready") => {
            let update = serde_json::from_value::<Update>(answer["update"].clone());
            update.map(|update| Heard::Updated(Box::new(update))).map_err(strange)
        }
        _ => Err(format!("it is no answer: {answer}")),
    }
}

/// One page of asks, noted as read; newest first, with the way to the next.
pub(crate) async fn asks(world: &World, api: &Api, query: Value) -> Result<(Vec<Ask>, Option<String>), Trouble> {
    let began = world.ledger.lock().await.moment();
    let mut operation = json!({ "schema_version": 1, "op": "input_list" });
    fill(&mut operation, &query);
    let page = api.dispatch(operation).await?;
    let strange = |why: serde_json::Error| Trouble::Wrong(format!("{why} in {page}"));
    let asks: Vec<Ask> = serde_json::from_value(page["questions"].clone()).map_err(strange)?;
    let mut ledger = world.ledger.lock().await;
    for ask in &asks {
        ledger.read(ask.clone(), began, &world.history);
    }
    Ok((asks, page["next"].as_str().map(ToOwned::to_owned)))
}

/// Updates, noted as read; newest first.
pub(crate) async fn updates(world: &World, api: &Api, query: Value) -> Result<Vec<Update>, Trouble> {
    let began = world.ledger.lock().await.moment();
    let mut operation = json!({ "schema_version": 1, "op": "owner_update_list" });
    fill(&mut operation, &query);
    let page = api.dispatch(operation).await?;
    let strange = |why: serde_json::Error| Trouble::Wrong(format!("{why} in {page}"));
    let updates: Vec<Update> = serde_json::from_value(page["updates"].clone()).map_err(strange)?;
    let mut ledger = world.ledger.lock().await;
    for update in &updates {
        ledger.read_update(update.clone(), began, &world.history);
    }
    Ok(updates)
}

fn fill(operation: &mut Value, query: &Value) {
    for (field, value) in query.as_object().into_iter().flatten() {
        operation[field] = value.clone();
    }
}

impl Owner {
    async fn run(mut self) {
        let mut seen = 0;
        while let Some(api) = self.world.api_after(seen).await {
            seen = api.at.life;
            while self.act(&api).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(self.rng.between(0, PAUSE_MS))).await;
            }
        }
    }

    /// One act, unless everybody is told to rest; an error when this life is over.
    async fn act(&mut self, api: &Api) -> Result<(), Gone> {
        let world = Arc::clone(&self.world);
        let _acting = world.gate.read().await;
        if *world.over.borrow() || world.api().is_none_or(|now| now.at.life != api.at.life) {
            return Err(Gone);
        }
        if self.rng.chance(50)
            && let Some(again) = self.again.pop_front()
        {
            return self.make(api, vec![again]).await;
        }
        let acted = match self.rng.between(1, 100) {
            1..=58 => self.resolve(api).await,
            59..=68 => self.resolve_again(api).await,
            69..=71 => self.stop(api).await,
            72..=82 => self.see(api).await,
            _ => self.note(api).await,
        };
        match acted {
            Ok(calls) => self.make(api, calls).await,
            Err(Trouble::Gone) => Err(Gone),
            Err(Trouble::Wrong(what)) if what.starts_with("503") => Ok(()),
            Err(Trouble::Wrong(what)) => {
                world.history.violation("contract", format!("a list: {what}"), None);
                Ok(())
            }
        }
    }

    async fn make(&mut self, api: &Api, calls: Vec<Call>) -> Result<(), Gone> {
        let made = join_all(calls.iter().map(|one| call(&self.world, api, one))).await;
        let lost: Vec<Call> =
            calls.into_iter().zip(made).filter(|(_, heard)| *heard == Heard::Lost).map(|(call, _)| call).collect();
        let gone = !lost.is_empty();
        self.again.extend(lost);
        if gone { Err(Gone) } else { Ok(()) }
    }

    /// One pending ask, resolved by one owner, or by several at once who do not agree.
    async fn resolve(&mut self, api: &Api) -> Result<Vec<Call>, Trouble> {
        let (pending, _) = asks(&self.world, api, json!({ "status": "pending" })).await?;
        let among: Vec<Ask> = pending.into_iter().take(AMONG).collect();
        let Some(ask) = self.rng.pick(&among).cloned() else { return Ok(Vec::new()) };
        let many = if self.rng.chance(30) { 3 } else { 1 };
        Ok((0..many).map(|_| self.resolving(&ask)).collect())
    }

    /// One that is resolved, as it stands or otherwise.
    async fn resolve_again(&mut self, api: &Api) -> Result<Vec<Call>, Trouble> {
        let status = if self.rng.chance(70) { "submitted" } else { "cancelled" };
        let (resolved, _) = asks(&self.world, api, json!({ "status": status })).await?;
        let among: Vec<Ask> = resolved.into_iter().take(AMONG * 3).collect();
        let Some(ask) = self.rng.pick(&among).cloned() else { return Ok(Vec::new()) };
        Ok(vec![self.resolving(&ask)])
    }

    fn resolving(&mut self, ask: &Ask) -> Call {
        let act = if self.rng.chance(18) { Act::Cancel } else { Act::Answer(self.answer(ask)) };
        let mut call = Call::on(ask, act, self.principal());
        if self.rng.chance(12) {
            call.revision = call.revision.wrapping_sub(1);
        }
        call
    }

    fn answer(&mut self, ask: &Ask) -> Value {
        if let Some(option) = self.rng.pick(&ask.options) {
            return json!({ "kind": "choice", "option_id": option.option_id });
        }
        let begins = if ask.secret { CANARY } else { "go" };
        json!({ "kind": "text", "text": format!("{begins} {}", self.rng.between(1, 3)) })
    }

    /// Stops what an answer woke, mostly while it is on its way.
    async fn stop(&mut self, api: &Api) -> Result<Vec<Call>, Trouble> {
        let (submitted, _) = asks(&self.world, api, json!({ "status": "submitted" })).await?;
        let on_way = submitted.iter().filter(|ask| matches!(ask.claim(), "claimed" | "dispatching"));
        let on_way: Vec<String> = on_way.filter_map(|ask| ask.continuation.as_ref()?.handoff_id.clone()).collect();
        if let Some(handoff) = self.rng.pick(&on_way) {
            self.world.history.owner_cancels(handoff);
            api.cancel(handoff).await?;
        }
        Ok(Vec::new())
    }

    /// Takes note of an answer that was not delivered.
    async fn see(&mut self, api: &Api) -> Result<Vec<Call>, Trouble> {
        let (submitted, _) = asks(&self.world, api, json!({ "status": "submitted" })).await?;
        let lost = |ask: &&Ask| matches!(ask.claim(), "uncertain" | "returned") && !ask.is_settled();
        let lost: Vec<Ask> = submitted.iter().filter(lost).cloned().collect();
        let by = self.principal();
        Ok(self.rng.pick(&lost).map(|ask| Call::on(ask, Act::Seen, by)).into_iter().collect())
    }

    /// Reads an update or puts it away.
    async fn note(&mut self, api: &Api) -> Result<Vec<Call>, Trouble> {
        let among: Vec<Update> = updates(&self.world, api, json!({})).await?.into_iter().take(AMONG).collect();
        let act = if self.rng.chance(55) { Act::Read } else { Act::Dismiss };
        let by = self.principal();
        Ok(self.rng.pick(&among).map(|update| Call::of(update, act, by)).into_iter().collect())
    }

    fn principal(&mut self) -> usize {
        usize::try_from(self.rng.between(0, PRINCIPALS - 1)).unwrap_or_default()
    }
}

/// The service is gone, or everybody rests at the end.
#[derive(Debug)]
struct Gone;
