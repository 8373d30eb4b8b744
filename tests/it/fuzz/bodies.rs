//! Bodies of requests: whatever they become, the service never fails, says no as a problem, and
//! changes nothing unless it says yes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{changed, changes, corpus, runner};
use crate::service::{Answer, Ask, LANE, Service, turn, until};

/// Bodies that are tried: what a debug build sends and looks at in some ten seconds.
const CASES: u32 = 300;

/// Everything that a refused body could have changed.
fn state(service: &Service) -> Value {
    let mut tokens = service.dispatch(json!({"op": "token_list"}));
    for token in tokens["tokens"].as_array_mut().unwrap() {
        token["last_used_at"] = Value::Null;
    }
    json!({
        "handoffs": service.handoffs(),
        "tokens": tokens,
        "asks": service.dispatch(json!({"op": "input_list"})),
        "updates": service.dispatch(json!({"op": "owner_update_list", "state": "all"})),
        "said": service.said("lab"),
    })
}

/// Waits until nothing that was admitted is under way.
fn settled(service: &Service) {
    until("everything to be over", || {
        let all = service.handoffs();
        let over = |one: &Value| !matches!(one["state"].as_str(), Some("pending" | "running" | "joined"));
        all["handoffs"].as_array().unwrap().iter().all(over).then_some(())
    });
}

/// What is wrong with a refusal, if anything is.
fn fault(answer: &Answer) -> Option<String> {
    if answer.status >= 500 {
        return Some(format!("the service failed: {answer:?}"));
    }
    let problem: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let whole = answer.header("content-type") == Some("application/problem+json")
        && problem["type"].is_string()
        && problem["title"].is_string()
        && problem["status"] == answer.status;
    (!whole).then(|| format!("this is no problem document: {answer:?}"))
}

#[test]
fn i2_i8_bodies_changed_by_chance_are_done_or_refused_and_a_refused_one_changes_nothing() {
    let service = Service::start("");
    service.settle(&turn("lab", "good", "ann", "hello"));
    let (lane, owner) = (service.lane(LANE), service.operator().to_owned());
    let good = corpus("bodies");
    let send = |name: &str, body: &[u8]| {
        let (path, token) =
            if name.starts_with("turn") { ("/ingress/v1/turns", &lane) } else { ("/operator/v1/dispatch", &owner) };
        service.send(&Ask::post(path).token(token).header("content-type", "application/json").bytes(body))
    };
    for (name, body) in &good {
        let answer = send(name, body);
        assert!((200..300).contains(&answer.status), "{name} is not good: {answer:?}");
    }
    settled(&service);
    let (before, done, refused) = (RefCell::new(state(&service)), Cell::new(0), Cell::new(0));
    let statuses: RefCell<BTreeMap<u16, usize>> = RefCell::default();
    let cases = (0..good.len(), changes());
    let ran = runner("bodies", CASES).run(&cases, |(which, changes)| {
        let (name, body) = &good[which];
        let answer = send(name, &changed(body, &changes));
        *statuses.borrow_mut().entry(answer.status).or_default() += 1;
        if (200..300).contains(&answer.status) {
            done.set(done.get() + 1);
            settled(&service);
            before.replace(state(&service));
            return Ok(());
        }
        refused.set(refused.get() + 1);
        if let Some(fault) = fault(&answer) {
            return Err(TestCaseError::fail(format!("{name}: {fault}")));
        }
        let now = state(&service);
        let was = before.replace(now.clone());
        prop_assert_eq!(now, was, "{} was refused and changed something", name);
        Ok(())
    });
    println!("{} bodies were done, {} refused: {:?}", done.get(), refused.get(), statuses.borrow());
    if let Err(error) = ran {
        panic!("{error}\n{}", service.log());
    }
    assert!(refused.get() > done.get() && done.get() > 0, "chance reached one side alone");
    let good = service.settle(&turn("lab", "good-at-last", "ann", "still there?")).json();
    assert_eq!(good["result"]["text"], "demo: still there?");
    assert!(!service.log().contains("panicked"), "{}", service.log());
}
