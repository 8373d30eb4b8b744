//! What a session does on its way, and how it ends.

use clankie_actors::ports::ToolReply;
use clankie_domain::handoff::Usage;
use clankie_domain::request::Source;
use clankie_domain::result::{Approval, FailCode};
use clankie_domain::session::{Outcome, Reply, SessionEvent, ToolPhase};
use serde_json::{Value, json};

use super::{Out, Session};
use crate::sim::history::Doing;

/// The categories that scripts name.
pub(in crate::sim) const GATES: [&str; 3] = ["release", "push", "spend"];

/// A reply in words.
pub(super) fn reply(text: &str) -> Outcome {
    Outcome::Completed(Reply::Text { text: text.to_owned(), media: Vec::new() })
}

impl Session {
    /// One thing on the way.
    pub(super) async fn step(&mut self) -> Result<(), Out> {
        match self.dice.below(16) {
            0 | 1 => {
                let text = self.words("so far");
                self.say(SessionEvent::Text(text)).await
            }
            2..=4 => self.read().await,
            5 => self.tell_on_the_way().await,
            6 => self.tool("react", json!({"reaction": "seen"})).await.map(drop),
            7..=9 => self.ask().await,
            10 | 11 => self.mail().await,
            12 | 13 => self.ship().await,
            14 => self.tool("rm", json!({})).await.map(drop),
            _ => {
                self.say(SessionEvent::Note("a remark".to_owned())).await?;
                self.say(SessionEvent::Usage(Usage { input_tokens: 10, output_tokens: 3, ..Usage::default() })).await
            }
        }
    }

    async fn tell_on_the_way(&mut self) -> Result<(), Out> {
        let text = self.words("a word on the way");
        self.tool("send_text_update", json!({ "text": text })).await.map(drop)
    }

    /// How it ends.
    pub(super) async fn outcome(&mut self) -> Result<Outcome, Out> {
        let faulty = !self.is_calm();
        Ok(match self.dice.below(100) {
            0..4 if faulty => return Err(Out::Silent),
            4..7 if faulty => {
                // It hangs: whatever it is told, it does not hear it, until somebody ends it.
                self.is_deaf = true;
                loop {
                    self.listen(1_000_000).await?;
                }
            }
            0..12 => Outcome::Failed(FailCode::ModelUnavailable),
            12..15 => Outcome::Uncertain,
            15..23 => Outcome::Completed(Reply::Silent),
            23..32 => waiting(self.words("may I?"), Approval::Required),
            32..36 => waiting(self.words("which one?"), Approval::NotRequired),
            _ => reply(&self.long_reply()),
        })
    }

    fn long_reply(&mut self) -> String {
        let lines = self.dice.between(1, 3);
        (0..lines).map(|line| self.words(&format!("line {line}"))).collect::<Vec<_>>().join("\n")
    }

    /// Words that say whose they are. A session that was told something repeats it to everybody.
    fn words(&self, what: &str) -> String {
        let told = self.spec.answered.as_ref().map_or("", |answered| answered.told.as_str());
        format!("{what} {} {told}", self.spec.delivery).trim_end().to_owned()
    }

    async fn ask(&mut self) -> Result<(), Out> {
        let arguments = self.draft();
        self.tool("request_user_input", arguments.clone()).await?;
        if self.dice.percent(20) {
            // The same draft once more is the same ask.
            self.tool("request_user_input", arguments).await?;
        }
        Ok(())
    }

    /// Asks so much that a mailbox must forget what is settled.
    pub(super) async fn ask_much(&mut self) -> Result<(), Out> {
        for _ in 0..self.dice.between(4, 9) {
            self.ask().await?;
        }
        Ok(())
    }

    fn draft(&mut self) -> Value {
        let prompt = format!("ask {} of {}", self.calls, self.spec.run);
        match self.dice.below(5) {
            0 => json!({"purpose": "decision", "prompt": prompt, "waiting_on": "this", "recommendation": "left",
                "options": [{"label": "left"}, {"label": "right"}, {"label": "straight on"}], "allow_freeform": true}),
            1 => json!({"purpose": "decision", "prompt": prompt, "waiting_on": "this", "recommendation": "yes",
                "options": [{"label": "yes"}, {"label": "no"}]}),
            2 => {
                let gate = self.dice.one_of(&GATES).copied().unwrap_or("push");
                json!({"purpose": "approval", "prompt": prompt, "waiting_on": "this", "gate": gate})
            }
            3 => json!({"purpose": "owner_action", "kind": "text", "prompt": prompt, "waiting_on": "this",
                "steps": ["sign in"], "secret": true}),
            _ => json!({"purpose": "owner_action", "kind": "text", "prompt": prompt, "waiting_on": "this",
                "steps": ["look"]}),
        }
    }

    async fn mail(&mut self) -> Result<(), Out> {
        let draft = json!({"title": "news", "body": self.words("it is done")});
        let call = self.next_call();
        self.call(&call, "mail_owner_update", draft.clone()).await?;
        match self.dice.below(6) {
            0 => self.call(&call, "mail_owner_update", draft).await.map(drop),
            1 => self.call(&call, "mail_owner_update", json!({"title": "other", "body": "news"})).await.map(drop),
            _ => Ok(()),
        }
    }

    /// Does what a gate may close, twice where an answer may have opened it.
    async fn ship(&mut self) -> Result<(), Out> {
        let gate = self.dice.one_of(&GATES).copied().unwrap_or("push");
        let many = if self.spec.source == Source::Continuation { 2 } else { 1 };
        for _ in 0..many {
            let call = self.next_call();
            let arguments = json!({"run": self.spec.run.to_string(), "call": call, "gate": gate});
            self.call(&call, "ship", arguments).await?;
        }
        Ok(())
    }

    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("c{}", self.calls)
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Result<ToolReply, Out> {
        let call = self.next_call();
        self.call(&call, name, arguments).await
    }

    async fn call(&mut self, call: &str, name: &str, arguments: Value) -> Result<ToolReply, Out> {
        let told = |phase, detail: &str| SessionEvent::Tool {
            id: call.to_owned(),
            name: name.to_owned(),
            phase,
            detail: detail.to_owned(),
        };
        self.say(told(ToolPhase::Began, "")).await?;
        self.scene.while_on().await;
        let (id, tool) = (call.to_owned(), name.to_owned());
        self.note(Doing::Called { call: id.clone(), name: tool, arguments: arguments.clone() });
        let reply = self.spec.tools.call(call, name, arguments).await;
        self.scene.while_on().await;
        let known = match &reply {
            ToolReply::Done(text) => Ok(text.clone()),
            ToolReply::Refused { code, .. } => Err(code.clone()),
        };
        self.note(Doing::Returned { call: id, reply: known });
        self.say(told(ToolPhase::Ended, "")).await?;
        Ok(reply)
    }
}

fn waiting(prompt: String, approval: Approval) -> Outcome {
    Outcome::Completed(Reply::WaitingUser { prompt, approval })
}
