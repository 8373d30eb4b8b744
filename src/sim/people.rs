//! People and their gateways: they hand words in, and do so again while nobody can say what came of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clankie_actors::{Clankie, Failure};
use clankie_domain::admission::room::{Answer, Canceller, Which};
use clankie_domain::request::Request;

use super::cast::{Cast, Said};
use super::dice::Dice;
use super::history::{Manner, What};
use super::plot::{Deed, Errand};
use super::scene::{Scene, lock};

/// How often words are handed in at most, when there is no place for them.
const TRIES: u32 = 6;

/// What is on its way to a process, by the number of the try.
#[derive(Debug, Default)]
pub(super) struct OnTheWay(Mutex<BTreeMap<u64, Errand>>);

impl OnTheWay {
    /// What a process that ended never answered.
    pub(super) fn lost(&self) -> Vec<(u64, Errand)> {
        std::mem::take(&mut *lock(&self.0)).into_iter().collect()
    }
}

/// Everything that a try needs.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) scene: Arc<Scene>,
    pub(super) clankie: Clankie,
    pub(super) on_the_way: Arc<OnTheWay>,
    pub(super) seed: u64,
}

/// What an errand hands in.
pub(super) fn request(cast: &Cast, said: &Said, errand: &Errand) -> Option<Request> {
    let text = errand.text.clone().unwrap_or_else(|| said.text.clone());
    cast.request(&Said { text, ..said.clone() })
}

impl Door {
    /// Hands words in, and notes what comes of it.
    pub(super) fn hand_in(&self, request: Request, errand: Errand) {
        let door = self.clone();
        let number = self.scene.number();
        lock(&door.on_the_way.0).insert(number, errand.clone());
        tokio::spawn(async move {
            door.scene.note(What::Sent(number, errand.manner, Arc::new(request.clone())));
            let answer = match errand.manner {
                Manner::Submit => door.clankie.submit(request).await,
                Manner::Edit => door.clankie.edit(request).await,
            };
            door.scene.while_on().await;
            lock(&door.on_the_way.0).remove(&number);
            door.heard(number, errand, answer);
        });
    }

    fn heard(&self, number: u64, errand: Errand, answer: Result<Answer, Failure>) {
        let mut dice = Dice::of(self.seed, &format!("try {number}"));
        self.scene.note(What::Heard(number, answer.as_ref().ok().cloned()));
        let again = match answer {
            Ok(Answer::Busy(_)) => dice.percent(75).then(|| dice.span(1_000, 12_000)),
            Ok(Answer::ShuttingDown) | Err(_) => Some(dice.span(200, 4_000)),
            Ok(_) => None,
        };
        let errand = Errand { tries: errand.tries + 1, ..errand };
        if let Some(after) = again.filter(|_| errand.tries < TRIES) {
            self.scene.later(after, Deed::Hand(errand));
        }
    }

    /// The speaker wants a delivery to end.
    pub(super) fn halt(&self, request: Request, how: Halt) {
        let door = self.clone();
        tokio::spawn(async move {
            let Request { room, delivery, actor, .. } = request;
            door.scene.note(What::Halt(room.clone(), delivery.clone()));
            let answer = match how {
                Halt::Cancel => {
                    let which = Which::Delivery(delivery.clone());
                    door.clankie.cancel(&room, which, Canceller::Speaker(actor)).await
                }
                Halt::Retract => door.clankie.retract(&room, delivery.clone(), actor).await,
            };
            door.scene.while_on().await;
            door.scene.note(What::Halted(room, delivery, answer.ok()));
        });
    }
}

/// How a speaker ends a delivery.
#[derive(Debug, Clone, Copy)]
pub(super) enum Halt {
    /// By saying so.
    Cancel,
    /// By deleting the message.
    Retract,
}
