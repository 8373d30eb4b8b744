//! What owners are told outside, what they are not, and that nobody waits for it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::service::{Service, turn, until};
use crate::sink::{Place, Reply, Told};

mod ask;
mod trouble;
mod webhook;

/// Where the service is said to be reached from outside.
const PAGE: &str = "https://owner.example";
/// The topic's access token.
const TOKEN: &str = "tk_canary_51c7a0e92b6f4d38";
/// The webhook's signing secret: `whsec_` and 32 bytes.
const SECRET: &str = "whsec_Y2FuYXJ5LTBhZjM3YjE5Y2Q0NGU2NThhMmY5ZDdjMWI=";

/// A service with an ntfy topic and a webhook, and both places.
struct Scene {
    service: Service,
    ntfy: Place,
    webhook: Place,
}

impl Scene {
    fn start(notify: &str) -> Self {
        let mut scene = Self::prepare(notify);
        scene.service.launch();
        scene
    }

    /// The same, not started.
    fn prepare(notify: &str) -> Self {
        let (ntfy, webhook) = (Place::start(), Place::start());
        let mut service = Service::prepare("");
        service.variable("NTFY_TOKEN", TOKEN);
        service.variable("WEBHOOK_SECRET", SECRET);
        service.variable("CLANKIE_PUBLIC_URL", PAGE);
        let scene = Self { service, ntfy, webhook };
        scene.configure(notify);
        scene
    }

    fn configure(&self, notify: &str) {
        let (ntfy, webhook) = (self.ntfy.url("/"), self.webhook.url("/hook/canary-address-3f"));
        let sinks = format!(
            "[notify]\n{notify}\n[notify.ntfy]\nurl = \"{ntfy}\"\ntopic = \"owner\"\ntoken_env = \"NTFY_TOKEN\"\n\
             [notify.webhook]\nurl = \"{webhook}\"\nsecret_env = \"WEBHOOK_SECRET\"\n[log]\nfilter = \"trace\""
        );
        self.service.configure("demo", &sinks);
    }

    /// Raises asks with these drafts in one turn, and gives their ids, oldest first.
    fn ask(&self, delivery: &str, drafts: &[Value]) -> Vec<String> {
        let lines: Vec<String> = drafts.iter().map(|draft| format!("!ask {draft}")).collect();
        let known = self.pending().len();
        self.service.settle(&turn("r", delivery, "ann", &lines.join("\n")));
        let mut ids: Vec<String> =
            self.pending().iter().map(|ask| ask["request_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), known + drafts.len(), "{:?}", self.service.log());
        ids.truncate(drafts.len());
        ids.reverse();
        ids
    }

    /// What waits, newest first.
    fn pending(&self) -> Vec<Value> {
        let all = self.service.dispatch(json!({"op": "input_list", "status": "pending"}));
        all["questions"].as_array().unwrap().clone()
    }

    /// Answers a pending ask with its first option.
    fn answer(&self, id: &str) -> Value {
        let ask = self.pending().into_iter().find(|ask| ask["request_id"] == *id).unwrap();
        let answer = json!({"kind": "choice", "option_id": ask["options"][0]["option_id"]});
        self.service.dispatch(json!({
            "op": "input_answer", "conversation_id": ask["conversation_id"], "request_id": id,
            "incarnation_id": ask["incarnation_id"], "expected_revision": ask["revision"], "answer": answer,
        }))
    }

    /// How a sink stands.
    fn stands(&self, sink: &str) -> Value {
        let status = self.service.read("/operator/v1/status");
        let found = status["notify"].as_array().unwrap().iter().find(|one| one["sink"] == sink).cloned();
        found.unwrap_or_else(|| panic!("{status}"))
    }

    /// Waits until a sink took so many messages.
    fn told(&self, sink: &str, count: u64) {
        until(&format!("{sink} to be told {count} times"), || {
            (self.stands(sink)["told"].as_u64().unwrap() >= count).then_some(())
        });
    }
}

fn decision(prompt: &str) -> Value {
    json!({
        "purpose": "decision", "kind": "choice", "prompt": prompt, "options": [{"label": "left"}, {"label": "right"}],
        "recommendation": "left", "waiting_on": "the way",
    })
}

fn approval(prompt: &str) -> Value {
    json!({"purpose": "approval", "prompt": prompt, "gate": "push", "waiting_on": "the push"})
}

fn secret(prompt: &str) -> Value {
    json!({
        "purpose": "owner_action", "kind": "text", "prompt": prompt, "steps": ["look it up"],
        "waiting_on": "the code", "secret": true,
    })
}
