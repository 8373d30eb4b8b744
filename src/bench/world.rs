//! What is measured: a disk, a bare store and a whole admission, each with the same history.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clankie_actors::ports::Executor;
use clankie_actors::store::{Store, Txn};
use clankie_actors::{Clankie, HandoffQuery, Settings};
use clankie_domain::admission::Limits;
use clankie_domain::admission::room::Answer;
use clankie_domain::grant::{Gateway, GrantPolicy, Plan, Transport};
use clankie_domain::ids::{ActorId, DeliveryId, ExecutorName, HandoffId, LaneName, RoomId};
use clankie_domain::request::{Request, Source};
use clankie_domain::session::OUTPUT_MAX;
use clankie_domain::stall::STALL_AFTER_MS;
use tokio::task::JoinSet;

use super::disk::Disk;
use super::held::Held;
use super::rows::Rows;
use super::{BenchError, Sources};

/// Higher than anything that runs at once here: nothing may wait.
const NO_LIMIT: usize = 1 << 20;
/// How long what was let go may take to be gone.
const QUIET_MAX: Duration = Duration::from_secs(60);
/// How often sessions are let go until none is left.
const LET_GO_EVERY: Duration = Duration::from_millis(5);
/// How long the actors may take to end.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(1);
/// What somebody says: an ordinary message.
const WORDS: &str = "Could you look at the build of this morning and say in two sentences why the second test \
                     failed, and whether it has to do with what we changed yesterday evening?";

/// All that is measured.
pub(super) struct World<'a> {
    disk: Disk,
    bare: Store,
    rows: Rows<'a>,
    store: Store,
    clankie: Clankie,
    held: Arc<Held>,
    speakers: Speakers,
}

/// Makes one delivery after the other, room by room, each by a speaker of its own.
pub(super) struct Speakers {
    lane: LaneName,
    rooms: Vec<RoomId>,
    next: usize,
}

impl<'a> World<'a> {
    pub(super) async fn new(dir: &Path, rooms: usize, sources: Sources<'a>) -> Result<Self, BenchError> {
        let open = |name: &str| Store::open(&dir.join(name), sources.ids.uuid());
        let (bare, store) = (open("bare")?, open("service")?);
        let name = ExecutorName::parse("held")?;
        let held = Arc::new(Held::new(name.clone()));
        let executor: Arc<dyn Executor> = Arc::<Held>::clone(&held);
        let clankie = Clankie::start(store.clone(), sources.ports(executor), settings(&name)).await?;
        let mut speakers = Speakers::new(rooms)?;
        let tools = tools(&clankie, speakers.next()?).await?;
        let rows = Rows::new(&**sources.clock, &**sources.ids, name, tools);
        Ok(Self { disk: Disk::new(dir)?, bare, rows, store, clankie, held, speakers })
    }

    /// One durable write.
    pub(super) fn write(&mut self) -> Result<Duration, BenchError> {
        Ok(self.disk.write()?)
    }

    /// One bare commit.
    pub(super) async fn commit(&mut self) -> Result<Duration, BenchError> {
        let txn = self.rows.admission(self.speakers.next()?)?;
        let begun = Instant::now();
        self.bare.commit(txn).await?;
        Ok(begun.elapsed())
    }

    /// One admission.
    pub(super) async fn admit(&mut self) -> Result<Duration, BenchError> {
        let request = self.speakers.next()?;
        let begun = Instant::now();
        let answer = self.clankie.submit(request).await?;
        let took = begun.elapsed();
        accepted(&answer).map(|_| took)
    }

    /// As many callers as there are rooms commit `each` times: rows, commits and time.
    pub(super) async fn commit_at_once(&mut self, each: usize) -> Result<(usize, u64, Duration), BenchError> {
        let mut callers: Vec<Vec<Txn>> = Vec::new();
        for requests in self.speakers.bursts(each)? {
            let rows = requests.into_iter().map(|request| self.rows.admission(request));
            callers.push(rows.collect::<Result<_, _>>()?);
        }
        let (before, begun) = (self.bare.commits(), Instant::now());
        let store = &self.bare;
        at_once(callers, |txns| {
            let store = store.clone();
            async move {
                for txn in txns {
                    store.commit(txn).await?;
                }
                Ok(())
            }
        })
        .await?;
        let took = begun.elapsed();
        Ok((each * self.speakers.rooms.len(), self.bare.commits() - before, took))
    }

    /// All rooms are asked `each` times: admissions, commits and time.
    pub(super) async fn admit_at_once(&mut self, each: usize) -> Result<(usize, u64, Duration), BenchError> {
        let callers = self.speakers.bursts(each)?;
        let (before, begun) = (self.store.commits(), Instant::now());
        let clankie = &self.clankie;
        at_once(callers, |requests| {
            let clankie = clankie.clone();
            async move {
                for request in requests {
                    accepted(&clankie.submit(request).await?)?;
                }
                Ok(())
            }
        })
        .await?;
        let took = begun.elapsed();
        Ok((each * self.speakers.rooms.len(), self.store.commits() - before, took))
    }

    /// Ends everything that runs, here and there, and returns when nothing is left of it.
    pub(super) async fn quiet(&mut self) -> Result<(), BenchError> {
        let mut changes = self.store.changes();
        let gone = async {
            while !self.store.snapshot()?.permits()?.is_empty() {
                // A session may begin after its admission was answered, so it is told once more.
                self.held.let_go();
                let _ = tokio::time::timeout(LET_GO_EVERY, changes.changed()).await;
            }
            Ok::<_, BenchError>(())
        };
        let in_time = tokio::time::timeout(QUIET_MAX, gone).await;
        in_time.map_err(|_| BenchError::Unexpected("what was let go did not end within a minute".to_owned()))??;
        let (bare, ends) = (self.bare.clone(), self.rows.ends()?);
        tokio::task::spawn_blocking(move || bare.commit_group(ends)).await??;
        Ok(())
    }

    /// Ends the actors.
    pub(super) async fn close(self) {
        self.clankie.stop(STOP_GRACE).await;
    }
}

impl Speakers {
    pub(super) fn new(rooms: usize) -> Result<Self, BenchError> {
        let lane = LaneName::parse("bench")?;
        let rooms = (0..rooms).map(|room| RoomId::ingress(&lane, &format!("room-{room}"))).collect::<Result<_, _>>()?;
        Ok(Self { lane, rooms, next: 0 })
    }

    /// In one room of that name.
    pub(super) fn in_room(name: &str) -> Result<Self, BenchError> {
        let lane = LaneName::parse("bench")?;
        Ok(Self { rooms: vec![RoomId::ingress(&lane, name)?], lane, next: 0 })
    }

    pub(super) fn next(&mut self) -> Result<Request, BenchError> {
        self.next += 1;
        let room = self.rooms[self.next % self.rooms.len()].clone();
        Ok(Request {
            room,
            delivery: DeliveryId::parse(&format!("message-{:08}", self.next))?,
            actor: ActorId::ingress(&self.lane, &format!("speaker-{:08}", self.next))?,
            actor_name: "Somebody".to_owned(),
            source: Source::Text,
            transport: Transport { gateway: Gateway::Ingress, lane: self.lane.clone() },
            guild: None,
            wanted: None,
            text: WORDS.to_owned(),
            attachments: Vec::new(),
            context: Vec::new(),
        })
    }

    /// `each` requests for each room.
    fn bursts(&mut self, each: usize) -> Result<Vec<Vec<Request>>, BenchError> {
        let mut by_room: Vec<Vec<Request>> = vec![Vec::new(); self.rooms.len()];
        for turn in 0..each * by_room.len() {
            let room = turn % by_room.len();
            by_room[room].push(self.next()?);
        }
        Ok(by_room)
    }
}

pub(super) fn settings(executor: &ExecutorName) -> Settings {
    let (waiting_per_room, waiting_per_actor) = (None, None);
    let limits = Limits {
        running: NO_LIMIT,
        running_per_room: NO_LIMIT,
        waiting: NO_LIMIT,
        waiting_per_room,
        waiting_per_actor,
    };
    Settings {
        limits,
        policy: GrantPolicy::default(),
        routes: [(Plan::Social, executor.clone())].into(),
        stall_ms: STALL_AFTER_MS,
        output_max: OUTPUT_MAX,
        stop_grace: STOP_GRACE,
        reactions: Vec::new(),
    }
}

/// Admits one, and says which tools its speaker has: they are part of the rows.
async fn tools(clankie: &Clankie, request: Request) -> Result<std::collections::BTreeSet<String>, BenchError> {
    accepted(&clankie.submit(request).await?)?;
    let page = clankie.handoffs(&HandoffQuery { limit: 1, ..HandoffQuery::default() })?;
    let first = page.handoffs.into_iter().next();
    first.map(|record| record.grant.tools).ok_or_else(|| BenchError::Unexpected("no record was made".to_owned()))
}

async fn at_once<T, F>(callers: Vec<T>, call: impl Fn(T) -> F) -> Result<(), BenchError>
where
    F: Future<Output = Result<(), BenchError>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for caller in callers {
        tasks.spawn(call(caller));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// The handoff that was admitted.
pub(super) fn accepted(answer: &Answer) -> Result<HandoffId, BenchError> {
    match answer {
        Answer::Accepted { handoff, .. } => Ok(*handoff),
        Answer::Settled { .. }
        | Answer::Busy(_)
        | Answer::Conflict { .. }
        | Answer::ConflictInFlight
        | Answer::Refused(_)
        | Answer::ShuttingDown
        | Answer::Forgotten
        | Answer::Cancelling { .. }
        | Answer::NotFound
        | Answer::NotYours
        | Answer::Posted(_)
        | Answer::NoSuchStep
        | Answer::Outdated => Err(BenchError::Unexpected(format!("not admitted: {answer:?}"))),
    }
}
