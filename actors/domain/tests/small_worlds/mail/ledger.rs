//! The independent judge of the mailbox's small world: what must have become of each ask, told from
//! what happened alone, and the invariants M1, M2, M3, M5 and M6 of every state.

use clankie_domain::ask::{CancelReason, Resolution, opens};
use clankie_domain::autonomy::Category;
use clankie_domain::claim::Seen;
use clankie_domain::ids::IncarnationId;
use clankie_domain::mailbox::{
    Entry, MailChange, MailOutcome, MailRefusal, Mailbox, PublishRefused, RECORDS_MAX, SETTLED_KEPT,
};
use clankie_domain::result::By;

use super::{MailAct, MailScript, Reading, by, life, request};
use crate::script::Standing;
use crate::store::{Verdict, must};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    A,
    B,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
    Approve,
    Decline,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    Owed,
    Crossing,
    Taken,
    Unknown(Seen),
    Back(Seen),
}

/// What became of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fate {
    Open,
    Answered { owner: Owner, choice: Choice, way: Way, sent: u8 },
    Cancelled(Option<Owner>, CancelReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Told {
    which: u8,
    life: u8,
    fate: Fate,
    lines: u8,
}

/// What happened.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Ledger {
    asks: Vec<Told>,
    revision: u64,
    resets: u8,
    boots: u8,
    revocations: u8,
    waiting: usize,
    /// Settled asks of before that are still kept: the oldest, so they go first.
    settled: usize,
}

impl Fate {
    fn is_settled(self) -> bool {
        match self {
            Self::Open => false,
            Self::Cancelled(..) => true,
            Self::Answered { way, .. } => match way {
                Way::Owed | Way::Crossing => false,
                Way::Taken => true,
                Way::Unknown(seen) | Way::Back(seen) => seen == Seen::Yes,
            },
        }
    }
}

impl Ledger {
    pub(super) fn new(script: &MailScript, revision: u64) -> Self {
        let (waiting, settled) = (usize::from(script.waiting), usize::from(script.settled));
        Self { asks: Vec::new(), revision, resets: 0, boots: 0, revocations: 0, waiting, settled }
    }

    pub(super) fn many(&self) -> usize {
        self.asks.len()
    }

    pub(super) fn resets(&self) -> u8 {
        self.resets
    }

    pub(super) fn boots(&self) -> u8 {
        self.boots
    }

    pub(super) fn revocations(&self) -> u8 {
        self.revocations
    }

    pub(super) fn standing(&self) -> Standing {
        if self.revocations == 0 { Standing::Full } else { Standing::Revoked }
    }

    /// Takes an act down; what its caller must be told, when the mailbox has a say.
    pub(super) fn take(&mut self, act: MailAct, reading: impl Fn(Owner) -> Reading) -> Option<MailOutcome> {
        match act {
            MailAct::Publish(which) => Some(self.publish(which)),
            MailAct::Answer(owner, n, choice) => Some(self.answer(n, (owner, choice), reading(owner))),
            MailAct::Cancel(owner, n) => Some(self.cancel(n, owner, reading(owner))),
            MailAct::MarkSeen(owner, n) => Some(self.mark_seen(n, owner)),
            MailAct::Boot => {
                self.boots += 1;
                self.all_ways(|way| if way == Way::Crossing { Way::Unknown(Seen::No) } else { way });
                Some(MailOutcome::CancelledAll(0))
            }
            MailAct::Reset => Some(self.reset()),
            MailAct::Dispatch(n) => self.move_way(n, Way::Crossing),
            MailAct::Take(n) => self.move_way(n, Way::Taken),
            MailAct::Return(n) => self.move_way(n, Way::Back(Seen::No)),
            MailAct::Lose(n) => self.move_way(n, Way::Unknown(Seen::No)),
            MailAct::Look(_) => None,
            MailAct::Revoke => {
                self.revocations += 1;
                None
            }
        }
    }

    fn publish(&mut self, which: u8) -> MailOutcome {
        let same = |told: &Told| told.which == which && told.fate == Fate::Open;
        if let Some(n) = self.asks.iter().position(same) {
            return MailOutcome::AlreadyAsked(request(n));
        }
        let settled = self.settled.saturating_sub(self.beyond());
        let own = self.asks.len();
        if self.waiting + settled + own + 1 > RECORDS_MAX {
            return MailOutcome::NotPublished(PublishRefused::Capacity);
        }
        self.settled = settled;
        self.revision += 1;
        self.asks.push(Told { which, life: self.resets, fate: Fate::Open, lines: 0 });
        MailOutcome::Asked(request(own))
    }

    /// Settled asks beyond those that are kept.
    fn beyond(&self) -> usize {
        let own = self.asks.iter().filter(|told| told.fate.is_settled()).count();
        (self.settled + own).saturating_sub(SETTLED_KEPT)
    }

    /// Whether the caller may act on an open ask, or what else they are told.
    fn early(&self, n: usize, owner: Owner, (read, _): Reading) -> Option<MailOutcome> {
        if owner == Owner::B && self.revocations > 0 {
            return Some(MailOutcome::Refused(MailRefusal::OwnerUnavailable, None));
        }
        let now = life(self.resets);
        let stale = read != now || self.life_of(n) != now;
        stale.then(|| MailOutcome::Refused(MailRefusal::StaleRequest, Some(request(n))))
    }

    fn life_of(&self, n: usize) -> IncarnationId {
        life(self.asks[n].life)
    }

    fn answer(&mut self, n: usize, (owner, choice): (Owner, Choice), reading: Reading) -> MailOutcome {
        if let Some(told) = self.early(n, owner, reading) {
            return told;
        }
        match self.asks[n].fate {
            Fate::Open if reading.1 != self.revision => MailOutcome::RevisionConflict(request(n)),
            Fate::Open => {
                self.revision += 1;
                self.asks[n].fate = Fate::Answered { owner, choice, way: Way::Owed, sent: 0 };
                MailOutcome::Accepted(request(n))
            }
            Fate::Answered { choice: first, .. } if first == choice => MailOutcome::Resolved(request(n)),
            Fate::Answered { .. } | Fate::Cancelled(..) => {
                MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request(n)))
            }
        }
    }

    fn cancel(&mut self, n: usize, owner: Owner, reading: Reading) -> MailOutcome {
        if let Some(told) = self.early(n, owner, reading) {
            return told;
        }
        match self.asks[n].fate {
            Fate::Open if reading.1 != self.revision => MailOutcome::RevisionConflict(request(n)),
            Fate::Open => {
                self.revision += 1;
                self.asks[n].fate = Fate::Cancelled(Some(owner), CancelReason::OwnerCancelled);
                self.settled = self.settled.saturating_sub(self.beyond());
                MailOutcome::Resolved(request(n))
            }
            Fate::Cancelled(..) => MailOutcome::Resolved(request(n)),
            Fate::Answered { .. } => MailOutcome::Refused(MailRefusal::ConflictingAnswer, Some(request(n))),
        }
    }

    fn mark_seen(&mut self, n: usize, owner: Owner) -> MailOutcome {
        if owner == Owner::B && self.revocations > 0 {
            return MailOutcome::Refused(MailRefusal::OwnerUnavailable, None);
        }
        if let Fate::Answered { way: Way::Unknown(seen) | Way::Back(seen), .. } = &mut self.asks[n].fate {
            *seen = Seen::Yes;
            return MailOutcome::Resolved(request(n));
        }
        MailOutcome::Refused(MailRefusal::NothingToSee, Some(request(n)))
    }

    fn reset(&mut self) -> MailOutcome {
        let open = self.asks.iter_mut().filter(|told| told.fate == Fate::Open);
        let cancelled = open.map(|told| told.fate = Fate::Cancelled(None, CancelReason::ContextReset)).count();
        self.resets += 1;
        self.revision += u64::from(cancelled > 0);
        MailOutcome::CancelledAll(cancelled)
    }

    fn all_ways(&mut self, step: impl Fn(Way) -> Way) {
        for told in &mut self.asks {
            if let Fate::Answered { way, .. } = &mut told.fate {
                *way = step(*way);
            }
        }
    }

    fn move_way(&mut self, n: usize, to: Way) -> Option<MailOutcome> {
        if let Fate::Answered { way, sent, .. } = &mut self.asks[n].fate {
            *sent += u8::from(to == Way::Crossing);
            *way = to;
        }
        None
    }

    /// M5: a line is shown of an accepted answer, once, and of nothing else.
    pub(super) fn judge_shown(&mut self, changes: &[MailChange]) -> Verdict {
        for change in changes {
            if let MailChange::Shown(line) = change {
                let n = (0..self.many()).find(|n| request(*n) == line.request).ok_or("a line of no ask")?;
                self.asks[n].lines += 1;
            }
        }
        for told in &self.asks {
            let due = u8::from(matches!(told.fate, Fate::Answered { .. }));
            must(told.lines == due, || format!("M5: {} lines shown of {told:?}", told.lines))?;
        }
        Ok(())
    }

    /// Holds every record against what happened.
    pub(super) fn judge(&self, mailbox: &Mailbox) -> Verdict {
        must(mailbox.head.revision == self.revision, || "the revision does not follow the asks".to_owned())?;
        must(mailbox.head.incarnation == life(self.resets), || "another life".to_owned())?;
        let kept = self.waiting + self.settled + self.asks.len();
        must(mailbox.asks.len() == kept, || format!("M3: {} kept of {kept}", mailbox.asks.len()))?;
        for (n, told) in self.asks.iter().enumerate() {
            let entry = mailbox.asks.get(&request(n)).ok_or_else(|| format!("M3: ask {n} was forgotten"))?;
            judge_entry(told.fate, entry).map_err(|broken| format!("{broken} ask {n}: {told:?}, {entry:?}"))?;
        }
        Ok(())
    }
}

fn judge_entry(fate: Fate, entry: &Entry) -> Verdict {
    let opened = opens(&entry.resolution, &entry.ask);
    match (fate, &entry.resolution) {
        (Fate::Open, Resolution::Pending) => must(opened.is_none(), || "M6".to_owned()),
        (Fate::Cancelled(owner, why), Resolution::Cancelled { reason, by: who, .. }) => {
            let named = owner.map_or_else(By::service, |owner| by(owner).by);
            must(*who == named && *reason == why && opened.is_none(), || "M5".to_owned())
        }
        (Fate::Answered { owner, choice, way, sent }, Resolution::Submitted { by: who, answerer, .. }) => {
            must((who, *answerer) == (&by(owner).by, by(owner).token), || "M2".to_owned())?;
            let due = (choice == Choice::Approve).then_some(Category::Push);
            must(opened == due, || "M6".to_owned())?;
            judge_way(way, sent, entry)
        }
        (Fate::Open, Resolution::Submitted { .. } | Resolution::Cancelled { .. }) => Err("M6".to_owned()),
        (Fate::Cancelled(..), Resolution::Pending | Resolution::Submitted { .. }) => Err("M5".to_owned()),
        (Fate::Answered { .. }, Resolution::Pending | Resolution::Cancelled { .. }) => Err("M1".to_owned()),
    }
}

/// M1: sent at most once, and where it ended is what is shown.
fn judge_way(way: Way, sent: u8, entry: &Entry) -> Verdict {
    let claim = entry.claim.as_ref().ok_or("M1: no claim")?;
    let (state, seen, crossed) = match way {
        Way::Owed => ("claimed", Seen::No, 0..=0),
        Way::Crossing => ("dispatching", Seen::No, 1..=1),
        Way::Taken => ("delivered", Seen::No, 1..=1),
        Way::Unknown(seen) => ("uncertain", seen, 1..=1),
        Way::Back(seen) => ("returned", seen, 0..=1),
    };
    must((claim.state.as_str(), claim.seen) == (state, seen), || "M1".to_owned())?;
    must(crossed.contains(&sent), || format!("M1: sent {sent} times"))
}
