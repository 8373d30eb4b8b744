//! What happens in a world while its process goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clankie_actors::HandoffQuery;
use clankie_domain::delivery::Posting;

use super::{LOOK_EVERY_MS, Life, World};
use crate::sim::dice::Dice;
use crate::sim::history::{Manner, What, Wish};
use crate::sim::people::{Halt, request};
use crate::sim::plot::{Deed, Errand};

impl World {
    /// Does it. What takes time goes on beside.
    pub(super) async fn does(&mut self, deed: Deed, life: &Life) {
        match deed {
            Deed::Hand(errand) => self.hand(errand, life),
            Deed::Halt(message) => self.halt(message, Halt::Cancel, life),
            Deed::Retract(message) => self.halt(message, Halt::Retract, life),
            Deed::Resume(place) => self.resume(place),
            Deed::Look if self.dice.percent(20) => self.deal_at_rest(life).await,
            Deed::Look if self.cast.is_curious => life.desk.sweep(),
            Deed::Look => life.desk.look(&mut self.dice),
            Deed::Rush => self.rush(life),
            Deed::Again(call) => life.desk.call(call.0, call.1.clone(), (0, None)),
            Deed::Repost => self.repost(life),
            Deed::Reload => self.reload(life),
            Deed::Unpair => life.desk.unpair(&mut self.dice),
            Deed::CutLane => life.desk.cut_lane(),
            Deed::Jump(ms) => {
                self.scene.note(What::Jump(ms));
                self.scene.move_clock(ms);
            }
            Deed::Break => self.breaks.store(1, Ordering::SeqCst),
            Deed::Calm => self.calm_down(),
            // Those end a process or a world, and are done before this.
            Deed::Kill | Deed::Stop | Deed::Arm(..) | Deed::Storm(_) | Deed::Settled => {}
        }
    }

    /// Three surfaces answer at once; now and then one of them loses its grant in that very moment.
    fn rush(&mut self, life: &Life) {
        life.desk.rush(&mut self.dice);
        let mut dice = Dice::of(self.seed, &format!("rush {}", self.scene.now()));
        if dice.percent(15) {
            life.desk.unpair(&mut dice);
        }
    }

    fn hand(&self, errand: Errand, life: &Life) {
        let said = self.plot.messages.get(errand.message);
        if let Some(request) = said.and_then(|said| request(&self.cast, said, &errand)) {
            life.door.hand_in(request, errand);
        }
    }

    fn halt(&self, message: usize, how: Halt, life: &Life) {
        let said = self.plot.messages.get(message);
        if let Some(request) = said.and_then(|said| self.cast.request(said)) {
            life.door.halt(request, how);
        }
    }

    /// Everything that was said in a place so far comes again, also what never came.
    fn resume(&mut self, place: usize) {
        let now = self.scene.now();
        let said = self.plot.messages.iter().enumerate();
        let there: Vec<usize> = said.filter(|(_, said)| said.place == place).map(|(message, _)| message).collect();
        for message in there {
            let errand = Errand { message, manner: Manner::Submit, text: None, tries: 0 };
            self.plot.add(now + self.dice.span(0, 40), Deed::Hand(errand));
        }
    }

    fn reload(&mut self, life: &Life) {
        self.version = usize::try_from(self.dice.below(self.cast.policies.len() as u64)).unwrap_or_default();
        let Some(policy) = self.cast.policies.get(self.version).cloned() else { return };
        let number = u32::try_from(self.version).unwrap_or_default();
        self.scene.note(What::PolicyAsked(number, Arc::new(policy.clone())));
        let (scene, clankie, routes) = (Arc::clone(&self.scene), life.clankie.clone(), self.cast.routes());
        tokio::spawn(async move {
            let done = clankie.reload(policy, routes).await;
            scene.while_on().await;
            if done.is_ok() {
                scene.note(What::PolicyInForce(number));
            }
        });
    }

    /// The owner wants a reply once more that did not arrive, or may not have.
    fn repost(&mut self, life: &Life) {
        let Ok(page) = life.clankie.handoffs(&HandoffQuery { limit: 200, ..HandoffQuery::default() }) else { return };
        let open = page.handoffs.iter().filter(|record| match record.room_delivery.state {
            Posting::Failed { .. } | Posting::Uncertain => true,
            Posting::None
            | Posting::Pending { .. }
            | Posting::Sending { .. }
            | Posting::Confirmed
            | Posting::Suppressed { .. } => false,
        });
        let open: Vec<_> = open.map(|record| (record.room.clone(), record.id)).collect();
        if let Some((room, id)) = self.dice.one_of(&open).cloned() {
            life.desk.call(0, Wish::Repost(room, id), (0, None));
        }
    }

    /// The operator deals with an update or cancels an ask while nothing else happens, so that the
    /// commits can be counted.
    async fn deal_at_rest(&mut self, life: &Life) {
        let Some(wish) = life.desk.small_wish(&mut self.dice) else { return };
        self.scene.sleep(1).await;
        let count = || life.store.commits();
        life.desk.granted(0, &wish, Some(&count)).await;
        self.scene.sleep(1).await;
    }

    /// Faults are over: everything that was said comes once more, and everything must settle.
    fn calm_down(&mut self) {
        self.scene.note(What::Calm);
        self.calm.store(true, Ordering::SeqCst);
        self.breaks.store(0, Ordering::SeqCst);
        self.disk.disarm();
        self.storm = 0;
        let now = self.scene.now();
        self.calm_since = Some(now);
        (0..self.cast.places.len()).for_each(|place| self.resume(place));
        self.plot.add(now + LOOK_EVERY_MS, Deed::Settled);
    }
}
