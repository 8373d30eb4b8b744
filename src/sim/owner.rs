//! The owner's surfaces: they read the mailbox, think, and deal with what they had read, each under
//! a credential of its own, also after that credential was revoked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use clankie_actors::mail::{AskQuery, AskView, MailReply, UpdateFilter, UpdateQuery};
use clankie_actors::{Clankie, Failure};
use clankie_domain::answer::Answer;
use clankie_domain::ask::{Ask, AskKind, AskStatus, Freeform, Resolution};
use clankie_domain::claim::ClaimState;
use clankie_domain::ids::{LaneName, OptionId, TokenId};
use clankie_domain::mailbox::{Aim, Answerer};
use clankie_domain::pairing::{Code, DeviceName};
use clankie_domain::principal::{DeviceGrant, Token, TokenKind};
use clankie_domain::result::{By, PrincipalKind};
use uuid::Uuid;

use super::dice::Dice;
use super::history::{Mail, Standing, What, Wish};
use super::plot::Deed;
use super::scene::{Scene, lock};

/// How every secret begins. Nothing else in a world does.
pub(super) const SECRET: &str = "§secret-";
/// Asks and updates that a surface shows.
const SHOWN: usize = 20;
/// Asks that are cancelled in one go at most.
const SWEPT: usize = 24;

/// One credential and how it is named in records.
#[derive(Debug, Clone)]
pub(super) struct Principal {
    pub(super) token: TokenId,
    by: By,
}

/// Everybody who calls. They outlive every process.
#[derive(Debug, Default)]
pub(super) struct Owners {
    all: Mutex<Vec<Principal>>,
    /// The lane's credential.
    pub(super) lane: Mutex<Option<TokenId>>,
    open: Mutex<BTreeMap<u64, (usize, Wish)>>,
}

/// One surface's way to the service.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    pub(super) scene: Arc<Scene>,
    pub(super) clankie: Clankie,
    pub(super) owners: Arc<Owners>,
}

impl Owners {
    /// What a process that ended never answered.
    pub(super) fn lost(&self) -> Vec<(usize, Wish)> {
        std::mem::take(&mut *lock(&self.open)).into_values().collect()
    }

    fn principal(&self, number: usize) -> Option<Principal> {
        lock(&self.all).get(number).cloned()
    }

    fn many(&self) -> u64 {
        lock(&self.all).len() as u64
    }
}

impl Desk {
    /// Makes every credential: the operator's, two devices that may answer, one that may not, the
    /// agent's own, and the lane's.
    pub(super) async fn open(&self, dice: &mut Dice) -> Result<(), Failure> {
        let operator = self.token(TokenKind::Operator, "operator").await?;
        for (name, grants) in [
            ("phone", BTreeSet::from([DeviceGrant::TerminalControl])),
            ("desk", BTreeSet::from([DeviceGrant::TerminalControl, DeviceGrant::Observe])),
            ("wall", BTreeSet::from([DeviceGrant::Observe])),
        ] {
            let code = Code::drawn(dice.bits());
            let _ = self.clankie.offer_pairing(&code, grants.clone()).await?;
            let Ok(name) = DeviceName::parse(name) else { continue };
            let secret = format!("{:016x}", dice.bits());
            let waits = self.clankie.redeem_pairing(code.expose(), &secret, (name, "here".to_owned())).await?;
            let (Ok(waiting), Some(operator)) = (waits, &operator) else { continue };
            let device = self.clankie.approve_device(waiting.applicant.id, grants, operator.id).await?;
            device.iter().for_each(|device| self.made(device));
        }
        self.token(TokenKind::Captain, "captain").await?;
        let lane = self.token(TokenKind::LaneText, "lane").await?;
        *lock(&self.owners.lane) = lane.map(|token| token.id);
        Ok(())
    }

    async fn token(&self, kind: TokenKind, name: &str) -> Result<Option<Token>, Failure> {
        let Ok(name) = LaneName::parse(name) else { return Ok(None) };
        let secret = format!("secret of {name}");
        let token = self.clankie.create_token(kind, name, &secret, None).await?.ok();
        token.iter().for_each(|token| self.made(token));
        Ok(token)
    }

    fn made(&self, token: &Token) {
        let answers = match token.kind {
            TokenKind::Operator => true,
            TokenKind::Device => token.grants.contains(&DeviceGrant::TerminalControl),
            TokenKind::Captain | TokenKind::LaneText | TokenKind::LaneVoice | TokenKind::Account => false,
        };
        let kind = match token.kind {
            TokenKind::Operator => PrincipalKind::Operator,
            TokenKind::Device => PrincipalKind::Device,
            TokenKind::Captain | TokenKind::LaneText | TokenKind::LaneVoice | TokenKind::Account => {
                PrincipalKind::Service
            }
        };
        self.scene.note(What::Token(token.id, Standing::Made { answers, transport: token.transport() }));
        if token.kind != TokenKind::LaneText {
            let by = By { kind, id: token.id.to_string() };
            lock(&self.owners.all).push(Principal { token: token.id, by });
        }
    }

    /// A device loses its grant, whatever it was about to do.
    pub(super) fn unpair(&self, dice: &mut Dice) {
        // The operator is the first, and stays.
        let number = usize::try_from(dice.between(1, 2)).unwrap_or(1);
        let (Some(operator), Some(device)) = (self.owners.principal(0), self.owners.principal(number)) else { return };
        let desk = self.clone();
        tokio::spawn(async move {
            desk.scene.note(What::Token(device.token, Standing::EndAsked));
            let gone = desk.clankie.dismiss_device(device.token, operator.token).await;
            desk.scene.while_on().await;
            if let Ok(Ok(_)) = gone {
                desk.scene.note(What::Token(device.token, Standing::Ended));
            }
        });
    }

    /// The credential of the lane goes.
    pub(super) fn cut_lane(&self) {
        let Some(lane) = *lock(&self.owners.lane) else { return };
        let desk = self.clone();
        tokio::spawn(async move {
            desk.scene.note(What::Token(lane, Standing::EndAsked));
            let gone = desk.clankie.revoke_token(lane).await;
            desk.scene.while_on().await;
            if let Ok(Some(_)) = gone {
                desk.scene.note(What::Token(lane, Standing::Ended));
            }
        });
    }

    /// A surface looks, thinks and deals with something.
    pub(super) fn look(&self, dice: &mut Dice) {
        let many = self.owners.many();
        // The first three may answer; the others try.
        let number = if dice.percent(85) { dice.below(3.min(many)) } else { dice.below(many) };
        let Some(wish) = self.wish(dice) else { return };
        let (after, again) = (dice.span(0, 4_000), dice.percent(25).then(|| dice.span(100, 8_000)));
        self.call(usize::try_from(number).unwrap_or_default(), wish, (after, again));
    }

    /// Three surfaces deal with one ask in one moment.
    pub(super) fn rush(&self, dice: &mut Dice) {
        let Some(view) = self.pending(dice) else { return };
        for number in 0..3 {
            let wish = if dice.percent(15) { cancels(&view) } else { self.answers(&view, dice) };
            let after = if dice.percent(70) { 0 } else { dice.span(0, 400) };
            self.call(number, wish, (after, None));
        }
    }

    /// The operator cancels most of what waits, one after the other, each as it was just read.
    pub(super) fn sweep(&self) {
        let desk = self.clone();
        tokio::spawn(async move {
            for _ in 0..SWEPT {
                let query = AskQuery { status: Some(AskStatus::Pending), limit: SHOWN, ..AskQuery::default() };
                let Ok(page) = desk.clankie.asks(&query) else { return };
                // The newest few stay.
                let Some(oldest) = page.asks.last().filter(|_| page.asks.len() > 3) else { return };
                desk.granted(0, &cancels(oldest), None).await;
            }
        });
    }

    fn pending(&self, dice: &mut Dice) -> Option<AskView> {
        let query = AskQuery { status: Some(AskStatus::Pending), limit: SHOWN, ..AskQuery::default() };
        let page = self.clankie.asks(&query).ok()?;
        dice.one_of(&page.asks).cloned()
    }

    fn wish(&self, dice: &mut Dice) -> Option<Wish> {
        match dice.below(10) {
            0 | 1 => self.about_an_update(dice),
            2 => self.about_any(dice),
            3 => self.pending(dice).map(|view| cancels(&view)),
            _ => self.pending(dice).map(|view| self.answers(&view, dice)),
        }
    }

    /// Something of the mailbox alone, which is one commit or none.
    pub(super) fn small_wish(&self, dice: &mut Dice) -> Option<Wish> {
        if dice.percent(50) { self.pending(dice).map(|view| cancels(&view)) } else { self.about_an_update(dice) }
    }

    fn about_an_update(&self, dice: &mut Dice) -> Option<Wish> {
        let query = UpdateQuery { show: UpdateFilter::All, limit: SHOWN, ..UpdateQuery::default() };
        let page = self.clankie.updates(&query).ok()?;
        let id = dice.one_of(&page.updates)?.id;
        Some(if dice.percent(50) { Wish::Read(id) } else { Wish::Dismiss(id) })
    }

    /// Something that is over, most of the time.
    fn about_any(&self, dice: &mut Dice) -> Option<Wish> {
        let page = self.clankie.asks(&AskQuery { limit: SHOWN, ..AskQuery::default() }).ok()?;
        let view = dice.one_of(&page.asks)?;
        let undelivered = view.entry.claim.as_ref().is_some_and(|claim| match claim.state {
            ClaimState::Uncertain | ClaimState::Returned(_) => true,
            ClaimState::Claimed | ClaimState::Dispatching | ClaimState::Delivered => false,
        });
        Some(match &view.entry.resolution {
            Resolution::Submitted { .. } if undelivered => Wish::Seen(view.entry.ask.request),
            Resolution::Submitted { .. } | Resolution::Pending => self.answers(view, dice),
            Resolution::Cancelled { .. } => cancels(view),
        })
    }

    fn answers(&self, view: &AskView, dice: &mut Dice) -> Wish {
        let ask = &view.entry.ask;
        Wish::Answer(ask.conversation.clone(), aim(view), self.answer(ask, dice))
    }

    fn answer(&self, ask: &Ask, dice: &mut Dice) -> Answer {
        if ask.keeps_secret() {
            let text = format!("{SECRET}{}-{:04x}", ask.request, dice.below(0x1_0000));
            self.scene.note(What::Mail(Mail::Secret(ask.request, text.clone())));
            return Answer::Text { text };
        }
        if dice.percent(4) {
            return Answer::Choice { option: OptionId(Uuid::from_u128(u128::from(dice.bits()))) };
        }
        let in_words = ask.kind == AskKind::Text || (ask.freeform == Freeform::Allowed && dice.percent(20));
        match dice.one_of(&ask.options) {
            Some(option) if !in_words => Answer::Choice { option: option.id },
            Some(_) | None => Answer::Text { text: format!("answer {:04x}", dice.below(0x1_0000)) },
        }
    }

    /// Calls once so many milliseconds are over, and perhaps once more later with the same words.
    pub(super) fn call(&self, number: usize, wish: Wish, (after, again): (u64, Option<u64>)) {
        let desk = self.clone();
        tokio::spawn(async move {
            desk.scene.sleep(after).await;
            desk.granted(number, &wish, None).await;
            if let Some(again) = again {
                desk.scene.later(again, Deed::Again(Arc::new((number, wish))));
            }
        });
    }

    /// Calls, and notes what comes of it. `commits` counts durable commits where nothing else happens.
    pub(super) async fn granted(&self, number: usize, wish: &Wish, commits: Option<&(dyn Fn() -> u64 + Sync)>) {
        let Some(principal) = self.owners.principal(number) else { return };
        let call = self.scene.number();
        lock(&self.owners.open).insert(call, (number, wish.clone()));
        self.scene.note(What::Mail(Mail::Wished(call, principal.token, wish.clone())));
        let before = commits.map(|count| count());
        let by = Answerer { by: principal.by, token: principal.token };
        let fact = match wish {
            Wish::Repost(room, handoff) => Mail::Reposted(call, self.clankie.repost(room, *handoff).await.ok()),
            Wish::Answer(..) | Wish::Cancel(..) | Wish::Seen(_) | Wish::Read(_) | Wish::Dismiss(_) => {
                let reply = self.mail(wish, by).await.ok().flatten();
                let made = before.zip(commits.map(|count| count())).map(|(before, after)| after - before);
                Mail::Granted(call, reply, made)
            }
        };
        self.scene.while_on().await;
        lock(&self.owners.open).remove(&call);
        self.scene.note(What::Mail(fact));
    }

    async fn mail(&self, wish: &Wish, by: Answerer) -> Result<Option<MailReply>, Failure> {
        let clankie = &self.clankie;
        match wish {
            Wish::Answer(conversation, aim, answer) => {
                clankie.answer(conversation, aim.clone(), answer.clone(), by).await.map(Some)
            }
            Wish::Cancel(conversation, aim) => clankie.cancel_ask(conversation, aim.clone(), by).await.map(Some),
            Wish::Seen(request) => clankie.mark_seen(*request, by).await.map(Some),
            Wish::Read(id) => clankie.read_update(*id, by).await.map(Some),
            Wish::Dismiss(id) => clankie.dismiss_update(*id, by).await.map(Some),
            Wish::Repost(..) => Ok(None),
        }
    }
}

fn aim(view: &AskView) -> Aim {
    Aim { request: view.entry.ask.request, incarnation: view.entry.ask.incarnation, revision: view.head.revision }
}

fn cancels(view: &AskView) -> Wish {
    Wish::Cancel(view.entry.ask.conversation.clone(), aim(view))
}
