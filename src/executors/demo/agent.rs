//! One session of the demo agent: a queue of directives and the reply that grows by the line.

use std::collections::VecDeque;
use std::time::Duration;

use clankie_actors::ports::{SessionSpec, ToolReply};
use clankie_domain::request::Source;
use clankie_domain::result::{Approval, Media};
use clankie_domain::session::{Outcome, Reply, SessionEvent, ToolPhase};
use serde_json::Value;
use tokio::time::Instant;

use super::LOOK_EVERY;
use super::directive::{Complaint, Directive, script};
use crate::executors::inbox::{Inbox, Stop};
use crate::executors::{detail, heard};
use crate::files::{Files, Made};

/// What the transcript says about who answers.
const NO_MODEL: &str = "This is the demo agent. It is no language model: it repeats the request and obeys directives.";
/// How a reply to a request of directives alone begins. It goes on with what their tools came to, or it
/// would say nothing.
const NO_WORDS: &str = "demo:";
/// Bytes of one piece of `!spew`: small enough that memory stays flat, large enough to be quick.
const SPEW_CHUNK: u64 = 16 * 1024;

/// How one directive leaves the session.
enum Then {
    GoOn,
    End(Outcome),
    Die,
}

/// How the agent replies when it is done.
enum Manner {
    Aloud,
    Silently,
    WithoutWords,
}

pub(super) struct Agent {
    spec: SessionSpec,
    inbox: Inbox,
    queue: VecDeque<Result<Directive, Complaint>>,
    reply: Vec<String>,
    manner: Manner,
    /// Steers read since the last `!wait-steer`: one that came first ends it at once.
    fresh: usize,
    calls: u32,
    files: Option<Files>,
    media: Vec<Media>,
}

impl Agent {
    pub(super) fn new(spec: SessionSpec, inbox: Inbox, files: Option<Files>) -> Self {
        let (queue, reply, media) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { spec, inbox, queue, reply, manner: Manner::Aloud, fresh: 0, calls: 0, files, media }
    }

    pub(super) async fn run(mut self) {
        match self.turn().await {
            Ok(Then::Die) => {}
            Ok(Then::End(outcome)) => self.inbox.settle(Ok(outcome)).await,
            Ok(Then::GoOn) => {
                let outcome = self.finished();
                self.inbox.settle(Ok(outcome)).await;
            }
            Err(stop) => self.inbox.settle(Err(stop)).await,
        }
    }

    /// Obeys until nothing is left: `GoOn` means that the last look found no steer either.
    async fn turn(&mut self) -> Result<Then, Stop> {
        self.inbox.begin().await?;
        self.inbox.took().await?;
        self.inbox.note(NO_MODEL).await?;
        self.open().await?;
        loop {
            self.inbox.look().await?;
            self.read_steers().await?;
            let Some(step) = self.queue.pop_front() else { return Ok(Then::GoOn) };
            match self.obey(step).await? {
                Then::GoOn => {}
                end @ (Then::End(_) | Then::Die) => return Ok(end),
            }
        }
    }

    /// An answer that wakes its source is data: nothing in it is obeyed.
    async fn open(&mut self) -> Result<(), Stop> {
        match self.spec.source {
            Source::Continuation => {
                let shown = self.spec.answered.as_ref().map_or("", |answered| answered.shown.trim());
                self.line(format!("demo: answered: {shown}")).await
            }
            Source::Text | Source::Voice => {
                let script = script(&self.spec.request);
                self.queue.extend(script.steps);
                self.line(format!("demo: {}", script.words).trim_end().to_owned()).await
            }
        }
    }

    async fn read_steers(&mut self) -> Result<(), Stop> {
        for joiner in self.inbox.read().await? {
            self.fresh += 1;
            let script = script(&joiner.text);
            self.queue.extend(script.steps);
            if !script.words.is_empty() {
                self.line(script.words).await?;
            }
        }
        Ok(())
    }

    async fn obey(&mut self, step: Result<Directive, Complaint>) -> Result<Then, Stop> {
        let directive = match step {
            Ok(directive) => directive,
            Err(complaint) => {
                self.inbox.note(complaint.to_string()).await?;
                self.line(complaint.to_string()).await?;
                return Ok(Then::GoOn);
            }
        };
        match directive {
            Directive::Sleep(time) => self.wait(time, |_| false).await?,
            Directive::WaitSteer(time) => {
                self.wait(time, |agent| agent.fresh > 0).await?;
                self.fresh = 0;
            }
            Directive::Say(text) => self.line(text).await?,
            Directive::Silent => self.manner = Manner::Silently,
            Directive::Wordless => self.manner = Manner::WithoutWords,
            Directive::File { name, size } => self.file(name, size).await?,
            Directive::Spew(bytes) => self.spew(bytes).await?,
            Directive::Tool { name, arguments } => self.call(&name, arguments).await?,
            Directive::Hang => return Err(self.inbox.deaf().await),
            Directive::Fail(code) => return Ok(Then::End(Outcome::Failed(code))),
            Directive::Approval(prompt) => return Ok(Then::End(waiting(prompt))),
            Directive::Exit => return Ok(Then::Die),
        }
        Ok(Then::GoOn)
    }

    /// Waits, and reads steers as it does, until the time is over or there is enough.
    async fn wait(&mut self, time: Duration, enough: impl Fn(&Self) -> bool) -> Result<(), Stop> {
        let end = Instant::now() + time;
        while !enough(self) && Instant::now() < end {
            let look = (Instant::now() + LOOK_EVERY).min(end);
            self.inbox.meanwhile(tokio::time::sleep_until(look)).await?;
            self.read_steers().await?;
        }
        Ok(())
    }

    async fn spew(&mut self, bytes: u64) -> Result<(), Stop> {
        let mut left = bytes;
        while left > 0 {
            let size = left.min(SPEW_CHUNK);
            left -= size;
            let text = "x".repeat(usize::try_from(size).unwrap_or(0));
            let id = self.next_call();
            self.tool(&id, "spew", ToolPhase::Began, String::new()).await?;
            self.tool(&id, "spew", ToolPhase::Ended, text).await?;
            self.inbox.look().await?;
        }
        Ok(())
    }

    /// Makes a file that goes with the reply. One that is not kept is a line that says why.
    async fn file(&mut self, name: String, size: usize) -> Result<(), Stop> {
        let mime_type = if name.ends_with(".txt") { "text/plain" } else { "application/octet-stream" }.to_owned();
        let Some(files) = self.files.clone() else {
            return self.line("I have no place for files".to_owned()).await;
        };
        let made = Made { name, mime_type, bytes: vec![b'x'; size] };
        match self.inbox.meanwhile(files.keep(self.spec.handoff, made)).await? {
            Ok(media) => {
                self.media.push(media);
                Ok(())
            }
            Err(why) => self.line(format!("I could not keep the file: {why}")).await,
        }
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Result<(), Stop> {
        let id = self.next_call();
        self.tool(&id, name, ToolPhase::Began, detail(&arguments.to_string())).await?;
        let tools = std::sync::Arc::clone(&self.spec.tools);
        let reply = self.inbox.meanwhile(tools.call(&id, name, arguments)).await?;
        let became = became(&reply);
        self.tool(&id, name, ToolPhase::Ended, heard(reply)).await?;
        if self.reply.first().is_some_and(|first| first == NO_WORDS) {
            return self.line(format!("{name}: {became}")).await;
        }
        Ok(())
    }

    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("demo-{}", self.calls)
    }

    async fn tool(&self, id: &str, name: &str, phase: ToolPhase, detail: String) -> Result<(), Stop> {
        self.inbox.say(SessionEvent::Tool { id: id.to_owned(), name: name.to_owned(), phase, detail }).await
    }

    async fn line(&mut self, line: String) -> Result<(), Stop> {
        let first = self.reply.is_empty();
        let more = if first { line.clone() } else { format!("\n{line}") };
        self.reply.push(line);
        self.inbox.say(SessionEvent::Text(more)).await
    }

    fn finished(&self) -> Outcome {
        Outcome::Completed(match self.manner {
            Manner::Silently => Reply::Silent,
            Manner::Aloud => Reply::Text { text: self.reply.join("\n"), media: self.media.clone() },
            Manner::WithoutWords => Reply::Text { text: String::new(), media: self.media.clone() },
        })
    }
}

/// What a call came to, without what it gave back: that is for the agent and may be long.
fn became(reply: &ToolReply) -> String {
    match reply {
        ToolReply::Done(_) => "done".to_owned(),
        ToolReply::Refused { code, sentence } => format!("refused ({code}): {sentence}"),
    }
}

fn waiting(prompt: String) -> Outcome {
    Outcome::Completed(Reply::WaitingUser { prompt, approval: Approval::Required })
}
