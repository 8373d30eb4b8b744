//! Small signals while a handoff goes its way: reactions, and typing until it ends.
//!
//! One follower per handoff owns its typing. It is stopped before the reply is sent, and whatever
//! happens it ends after a while by itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clankie_actors::Clankie;
use clankie_domain::handoff::StateName;
use clankie_domain::ids::HandoffId;
use tokio::sync::watch;

use super::Shared;

/// How often typing is shown again: Discord shows it for ten seconds.
const TYPING_EVERY: Duration = Duration::from_secs(8);
/// How many times typing is shown at most: some ten minutes. Later it is no news any more.
const TYPING_MOST: u32 = 75;

/// Where a follower's signals go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trigger {
    pub(super) channel: u64,
    pub(super) message: u64,
}

/// The first signal of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// Its acceptance is shown.
    Shown,
    /// It was shown before the service restarted.
    Known,
}

/// Every handoff that is followed.
#[derive(Debug, Default)]
pub(super) struct Followed(Mutex<BTreeMap<HandoffId, Arc<Typing>>>);

/// The typing of one handoff.
#[derive(Debug)]
struct Typing {
    stopped: watch::Sender<bool>,
    /// Held while a typing signal is being sent, until it is answered or given up.
    showing: tokio::sync::Mutex<()>,
}

impl Followed {
    /// Takes the handoff, unless somebody follows it already.
    fn take(&self, handoff: HandoffId) -> Option<Arc<Typing>> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.contains_key(&handoff) {
            return None;
        }
        let typing = Arc::new(Typing { stopped: watch::Sender::new(false), showing: tokio::sync::Mutex::new(()) });
        map.insert(handoff, Arc::clone(&typing));
        Some(typing)
    }

    fn end(&self, handoff: HandoffId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&handoff);
    }

    /// Ends the typing of a handoff; returns when no further signal of it can leave. One that left before is
    /// not called back: it may arrive a moment after the reply.
    pub(super) async fn stop_typing(&self, handoff: HandoffId) {
        let typing = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&handoff).cloned();
        if let Some(typing) = typing {
            typing.stopped.send_replace(true);
            drop(typing.showing.lock().await);
        }
    }
}

impl Typing {
    /// Shows typing once, or stops waiting for its answer as soon as it must stop.
    async fn show(&self, shared: &Shared, channel: u64) {
        let mut stopped = self.stopped.subscribe();
        let _showing = self.showing.lock().await;
        if *stopped.borrow_and_update() {
            return;
        }
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = shared.rest.typing(channel) => {}
        }
    }
}

/// Follows a handoff to its end, in the background. A second follower of the same one does nothing.
pub(super) fn follow(
    shared: &Arc<Shared>,
    clankie: &Clankie,
    (handoff, state): (HandoffId, StateName),
    (trigger, first): (Trigger, First),
) {
    let Some(typing) = shared.followed.take(handoff) else { return };
    let (shared, clankie) = (Arc::clone(shared), clankie.clone());
    tokio::spawn(async move {
        let signals = &shared.settings.signals;
        let emoji = if state == StateName::Joined { &signals.joined } else { &signals.seen };
        let accepted = async {
            match first {
                First::Shown => shared.rest.react(trigger.channel, trigger.message, emoji).await,
                First::Known => {}
            }
        };
        tokio::join!(accepted, until_ended(&shared, &clankie, &typing, (handoff, trigger.channel)));
        shared.followed.end(handoff);
        shared.rest.react(trigger.channel, trigger.message, &signals.done).await;
    });
}

async fn until_ended(shared: &Shared, clankie: &Clankie, typing: &Typing, (handoff, channel): (HandoffId, u64)) {
    let mut shown = 0;
    loop {
        // A record that cannot be read ends the signals; the reply itself does not depend on them.
        let Ok(Some(record)) = clankie.handoff(handoff) else { return };
        match record.state_name() {
            StateName::Pending | StateName::Running if shown < TYPING_MOST => {
                shown += 1;
                typing.show(shared, channel).await;
            }
            // A joiner's room sees the typing of the handoff that it joined.
            StateName::Pending | StateName::Running | StateName::Joined => {}
            StateName::Completed
            | StateName::Absorbed
            | StateName::WaitingUser
            | StateName::Failed
            | StateName::Cancelled => return,
        }
        clankie.wait_result(handoff, TYPING_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_handoff_has_one_follower_and_its_typing_stops_for_good() {
        let (followed, handoff) = (Followed::default(), HandoffId(Uuid::from_u128(1)));
        let typing = followed.take(handoff).unwrap();
        assert!(followed.take(handoff).is_none());
        let showing = typing.showing.lock().await;
        let mut stopping = std::pin::pin!(followed.stop_typing(handoff));
        assert!(futures::poll!(&mut stopping).is_pending(), "a signal is being sent");
        drop(showing);
        stopping.await;
        assert!(*typing.stopped.borrow());
        followed.end(handoff);
        assert!(followed.take(handoff).is_some());
    }
}
