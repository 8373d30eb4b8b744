//! People who speak, agents who answer and sometimes ask, and an owner who answers them.

use std::path::Path;
use std::sync::Arc;

use clankie_actors::mail::MailReply;
use clankie_actors::{Clankie, digest};
use clankie_domain::answer::Answer;
use clankie_domain::ids::{LaneName, RequestId, RoomId, UpdateId};
use clankie_domain::mailbox::{Aim, Answerer};
use clankie_domain::principal::TokenKind;
use clankie_domain::result::By;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::ahead::Ahead;
use crate::bench::scripted::{PUBLISH, Published, Script};
use crate::bench::service::Service;
use crate::bench::world::Speakers;
use crate::bench::{BenchError, Sources};

/// People who speak at once.
const AT_ONCE: usize = 64;
/// One room in that many has agents that publish: few, so that their mailboxes come to forget what is
/// settled.
const MAIL_ROOM_IN: usize = 50;
/// Publications that may wait for the owner.
const PUBLISHED: usize = 1_024;

/// All of it.
pub(super) struct Traffic {
    pub(super) service: Service,
    clock: Arc<Ahead>,
    speakers: Speakers,
    rooms: usize,
    spoken: usize,
    published: mpsc::Sender<Option<Published>>,
    owner: JoinHandle<Result<(usize, usize), BenchError>>,
}

impl Traffic {
    pub(super) async fn start(
        dir: &Path,
        rooms: usize,
        clock: Arc<Ahead>,
        sources: Sources<'_>,
    ) -> Result<Self, BenchError> {
        let (published, mail) = mpsc::channel(PUBLISHED);
        let service =
            Service::start_at(dir, Script::Mail(published.clone()), sources, Arc::<Ahead>::clone(&clock)).await?;
        let clankie = service.clankie.clone();
        let token = clankie.create_token(TokenKind::Operator, LaneName::parse("bench")?, "bench", None).await?;
        let token = token.map_err(|why| BenchError::Unexpected(format!("no token: {why:?}")))?;
        let by = Answerer { by: By::service(), token: token.id };
        let owner = tokio::spawn(own(clankie, mail, by));
        Ok(Self { service, clock, speakers: Speakers::new(rooms)?, rooms, spoken: 0, published, owner })
    }

    /// That many more handoffs from acceptance to result.
    pub(super) async fn settle(&mut self, count: usize) -> Result<(), BenchError> {
        let mut left = count;
        while left > 0 {
            let some = left.min(AT_ONCE);
            let mut requests = Vec::with_capacity(some);
            for _ in 0..some {
                let mut request = self.speakers.next()?;
                self.spoken += 1;
                if self.spoken % self.rooms < self.rooms.div_ceil(MAIL_ROOM_IN) {
                    request.text.push_str(PUBLISH);
                }
                requests.push(request);
            }
            futures::future::try_join_all(requests.into_iter().map(|request| self.one(request))).await?;
            left -= some;
        }
        Ok(())
    }

    async fn one(&self, request: clankie_domain::request::Request) -> Result<(), BenchError> {
        self.service.settle(request).await?;
        self.clock.tick();
        Ok(())
    }

    /// How many asks were answered and updates put away, once the owner has dealt with all that there is.
    pub(super) async fn mail_done(&mut self) -> Result<(usize, usize), BenchError> {
        // Every session that publishes has ended, so this is the last that the owner hears.
        let _ = self.published.send(None).await;
        (&mut self.owner).await?
    }
}

/// The owner: answers each ask, reads each update and puts it away.
async fn own(
    clankie: Clankie,
    mut mail: mpsc::Receiver<Option<Published>>,
    by: Answerer,
) -> Result<(usize, usize), BenchError> {
    let (mut answered, mut dismissed) = (0, 0);
    while let Some(Some(Published { room, ask, update })) = mail.recv().await {
        if let Some(update) = update.map(UpdateId) {
            clankie.read_update(update, by.clone()).await?;
            clankie.dismiss_update(update, by.clone()).await?;
            dismissed += 1;
        }
        if let Some(ask) = ask.map(RequestId)
            && answer(&clankie, &room, ask, &by).await?
        {
            answered += 1;
        }
    }
    Ok((answered, dismissed))
}

async fn answer(clankie: &Clankie, room: &RoomId, request: RequestId, by: &Answerer) -> Result<bool, BenchError> {
    let conversation = digest::room_conversation(room)?;
    let Some(view) = clankie.ask_of(&conversation, request)? else { return Ok(false) };
    let Some(option) = view.entry.ask.options.first().map(|option| option.id) else { return Ok(false) };
    let mut revision = view.head.revision;
    loop {
        let aim = Aim { request, incarnation: view.head.incarnation, revision };
        match clankie.answer(&conversation, aim, Answer::Choice { option }, by.clone()).await? {
            MailReply::Resolved(_) => return Ok(true),
            // Another ask was published there meanwhile.
            MailReply::RevisionConflict(now) => revision = now.head.revision,
            MailReply::Refused(..) | MailReply::Update(_) => return Ok(false),
        }
    }
}
