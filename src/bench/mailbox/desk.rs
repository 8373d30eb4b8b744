//! What is measured: a disk, a bare store and a whole service, both stores with the same mail.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clankie_actors::mail::{AskQuery, MailReply};
use clankie_actors::ports::{Executor, RoomTools, ToolReply};
use clankie_actors::store::{Store, Txn};
use clankie_actors::{Clankie, HandoffQuery, digest};
use clankie_domain::answer::Answer;
use clankie_domain::ask::{AskStatus, Origin};
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::ids::{ConversationId, ExecutorName, LaneName, RequestId, RoomId, UpdateId};
use clankie_domain::mailbox::{Aim, Answerer};
use clankie_domain::principal::TokenKind;
use clankie_domain::result::By;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::super::disk::Disk;
use super::super::world::{STOP_GRACE, Speakers, accepted, settings};
use super::super::{BenchError, Sources};
use super::open::{Open, Tools};
use super::shelves::Shelves;
use super::{ADVICE, BODY, CHOICES, PROMPT, TITLE};

/// Transactions of one commit while the stores are filled.
const FILL: usize = 512;
/// Tools that wait to be taken; continuations leave theirs behind.
const TOOLS: usize = 4_096;

/// All that is measured.
pub(super) struct Desk<'a> {
    disk: Disk,
    bare: Store,
    store: Store,
    clankie: Clankie,
    shelves: Shelves<'a>,
    opened: mpsc::Receiver<Tools>,
    by: Answerer,
    calls: usize,
}

/// One conversation in which mail is published.
pub(super) struct Place {
    tools: Arc<dyn RoomTools>,
    conversation: ConversationId,
}

impl<'a> Desk<'a> {
    pub(super) async fn new(dir: &Path, sources: Sources<'a>) -> Result<Self, BenchError> {
        let open = |name: &str| Store::open(&dir.join(name), sources.ids.uuid());
        let (bare, store) = (open("bare")?, open("service")?);
        let name = ExecutorName::parse("open")?;
        let (tools, mut opened) = mpsc::channel(TOOLS);
        let executor: Arc<dyn Executor> = Arc::new(Open::new(name.clone(), tools));
        let clankie = Clankie::start(store.clone(), sources.ports(executor), settings(&name)).await?;
        let token = clankie.create_token(TokenKind::Operator, LaneName::parse("bench")?, "bench", None).await?;
        let token = token.map_err(|why| BenchError::Unexpected(format!("no token: {why:?}")))?;
        begin(&clankie, &mut opened, "source").await?;
        let page = clankie.handoffs(&HandoffQuery { limit: 1, ..HandoffQuery::default() })?;
        let record = page.handoffs.into_iter().next().ok_or_else(|| unexpected("no record was made"))?;
        let shelves = Shelves::new(&**sources.clock, &**sources.ids, origin(record));
        let by = Answerer { by: By::service(), token: token.id };
        Ok(Self { disk: Disk::new(dir)?, bare, store, clankie, shelves, opened, by, calls: 0 })
    }

    /// Fills both stores up to that many records, and begins a conversation.
    pub(super) async fn fill(&mut self, records: usize) -> Result<Place, BenchError> {
        let txns = self.shelves.up_to(records)?;
        for group in txns.chunks(FILL) {
            commit(&self.bare, group.to_vec()).await?;
            commit(&self.store, group.to_vec()).await?;
        }
        let (room, tools) = begin(&self.clankie, &mut self.opened, &format!("at-{records}")).await?;
        Ok(Place { tools, conversation: digest::room_conversation(&room)? })
    }

    /// One durable write.
    pub(super) fn write(&mut self) -> Result<Duration, BenchError> {
        Ok(self.disk.write()?)
    }

    /// One bare commit of an update's rows.
    pub(super) async fn commit(&mut self) -> Result<Duration, BenchError> {
        let txn = self.shelves.publication()?;
        let begun = Instant::now();
        self.bare.commit(txn).await?;
        Ok(begun.elapsed())
    }

    /// An update is published.
    pub(super) async fn mail(&mut self, place: &Place) -> Result<(Duration, UpdateId), BenchError> {
        let (took, id) = self.call(place, ("mail_owner_update", "id"), json!({"title": TITLE, "body": BODY})).await?;
        Ok((took, UpdateId(id)))
    }

    /// An ask is published.
    pub(super) async fn ask(&mut self, place: &Place) -> Result<(Duration, RequestId), BenchError> {
        let arguments = json!({"purpose": "decision", "prompt": format!("{PROMPT} {}", self.calls), "recommendation": ADVICE, "waiting_on": TITLE,
                   "options": CHOICES.map(|label| json!({"label": label}))});
        let (took, id) = self.call(place, ("request_user_input", "request_id"), arguments).await?;
        Ok((took, RequestId(id)))
    }

    async fn call(
        &mut self,
        place: &Place,
        (tool, id): (&str, &str),
        arguments: Value,
    ) -> Result<(Duration, Uuid), BenchError> {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let begun = Instant::now();
        let reply = place.tools.call(&call, tool, arguments).await;
        let took = begun.elapsed();
        let ToolReply::Done(text) = &reply else { return Err(unexpected(&format!("{tool}: {reply:?}"))) };
        let made = serde_json::from_str::<Value>(text).ok();
        let made = made.and_then(|made| made[id].as_str()?.parse().ok());
        made.map(|id| (took, id)).ok_or_else(|| unexpected(text))
    }

    /// That ask is answered, together with the run that it wakes.
    pub(super) async fn answer(&self, place: &Place, request: RequestId) -> Result<Duration, BenchError> {
        let view = self.clankie.ask_of(&place.conversation, request)?.ok_or_else(|| unexpected("the ask is gone"))?;
        let aim = Aim { request, incarnation: view.head.incarnation, revision: view.head.revision };
        let option = view.entry.ask.options.first().ok_or_else(|| unexpected("the ask has no options"))?.id;
        let answer = Answer::Choice { option };
        let begun = Instant::now();
        let reply = self.clankie.answer(&place.conversation, aim, answer, self.by.clone()).await?;
        let took = begun.elapsed();
        match reply {
            MailReply::Resolved(_) => Ok(took),
            MailReply::RevisionConflict(_) | MailReply::Refused(..) | MailReply::Update(_) => {
                Err(unexpected(&format!("not answered: {reply:?}")))
            }
        }
    }

    /// That update is marked as read.
    pub(super) async fn read(&self, id: UpdateId) -> Result<Duration, BenchError> {
        let begun = Instant::now();
        let reply = self.clankie.read_update(id, self.by.clone()).await?;
        let took = begun.elapsed();
        match reply {
            MailReply::Update(_) => Ok(took),
            MailReply::RevisionConflict(_) | MailReply::Refused(..) | MailReply::Resolved(_) => {
                Err(unexpected(&format!("not read: {reply:?}")))
            }
        }
    }

    /// The newest pending asks are listed, at most that many.
    pub(super) fn list(&self, limit: usize) -> Result<Duration, BenchError> {
        let query = AskQuery { status: Some(AskStatus::Pending), limit, ..AskQuery::default() };
        let begun = Instant::now();
        std::hint::black_box(self.clankie.asks(&query)?);
        Ok(begun.elapsed())
    }

    /// What waits is counted.
    pub(super) fn badge(&self) -> Result<Duration, BenchError> {
        let begun = Instant::now();
        std::hint::black_box(self.clankie.mail_counts()?);
        Ok(begun.elapsed())
    }

    /// Ends the actors.
    pub(super) async fn close(self) {
        self.clankie.stop(STOP_GRACE).await;
    }
}

/// Somebody speaks in that room, and the session's tools are there.
async fn begin(clankie: &Clankie, opened: &mut mpsc::Receiver<Tools>, room: &str) -> Result<Tools, BenchError> {
    let request = Speakers::in_room(room)?.next()?;
    let wanted: RoomId = request.room.clone();
    accepted(&clankie.submit(request).await?)?;
    while let Some((room, tools)) = opened.recv().await {
        if room == wanted {
            return Ok((room, tools));
        }
    }
    Err(unexpected("no session began"))
}

fn origin(record: HandoffRecord) -> Origin {
    Origin {
        handoff: record.id,
        run: record.run,
        actor: record.actor,
        actor_name: record.actor_name,
        room: record.room,
        delivery: record.delivery,
        transport: record.transport,
        guild: record.guild,
        grant: record.grant,
    }
}

async fn commit(store: &Store, group: Vec<Txn>) -> Result<(), BenchError> {
    let store = store.clone();
    tokio::task::spawn_blocking(move || store.commit_group(group)).await??;
    Ok(())
}

fn unexpected(what: &str) -> BenchError {
    BenchError::Unexpected(what.to_owned())
}
