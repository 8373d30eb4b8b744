//! Faults that a test puts in: which calls they meet, and what happens to those.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::call::Call;
use super::ids::Channel;

/// What happens to a call.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// 429 of the route's own bucket.
    RateLimited(Duration),
    /// 429 of the whole bot.
    RateLimitedGlobally(Duration),
    /// This status with an empty object, without effect.
    Status(u16),
    /// A refusal of Discord's own kind: status and code, without effect.
    Refused(u16, u32),
    /// The connection is cut before anything happened.
    CutBefore,
    /// Everything happens, then the connection is cut: the answer is lost.
    CutAfter,
    /// Everything happens, then this status comes, as from a proxy that gave up waiting.
    StatusAfter(u16),
    /// Everything happens, then comes a body that no model can read.
    GarbledAfter,
    /// Nothing happens until the gate opens; then the call goes on.
    HeldBefore(Gate),
    /// Everything happens at once; the answer waits for the gate.
    HeldAfter(Gate),
}

/// Which calls a fault meets. Counted over matching calls only.
pub(crate) struct Calls {
    meets: Box<dyn Fn(&Call) -> bool + Send>,
    skip: usize,
    left: usize,
}

impl Calls {
    /// Calls that this holds for; the next one only, unless [`Calls::times`] says more.
    pub(crate) fn which(meets: impl Fn(&Call) -> bool + Send + 'static) -> Self {
        Self { meets: Box::new(meets), skip: 0, left: 1 }
    }

    /// Any REST call but `GET /gateway` and `/gateway/bot`.
    pub(crate) fn any() -> Self {
        Self::which(|call| call.path.first().is_none_or(|first| first != "gateway"))
    }

    /// `POST` of a message into any channel.
    pub(crate) fn posts() -> Self {
        Self::which(Call::is_post)
    }

    /// `POST` of a message into this channel.
    pub(crate) fn posts_in(channel: Channel) -> Self {
        Self::which(move |call| call.is_post() && call.path[1] == channel.to_string())
    }

    /// `POST` of a message whose content contains this.
    pub(crate) fn posts_saying(words: &str) -> Self {
        let words = words.to_owned();
        Self::which(move |call| call.is_post() && call.content().contains(&words))
    }

    /// Calls of this method whose path contains this, e.g. `("PUT", "/reactions/")`.
    pub(crate) fn of(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self::which(move |call| call.method == method && call.shown().contains(&path))
    }

    /// This many of them, not only one.
    pub(crate) fn times(self, left: usize) -> Self {
        Self { left, ..self }
    }

    /// All of them, until [`super::FakeDiscord::heal`].
    pub(crate) fn always(self) -> Self {
        self.times(usize::MAX)
    }

    /// Not the first so many: `posts().after(1)` meets the second part.
    pub(crate) fn after(self, skip: usize) -> Self {
        Self { skip, ..self }
    }

    /// Whether it meets this call; counts it.
    pub(super) fn take(&mut self, call: &Call) -> bool {
        if self.left == 0 || !(self.meets)(call) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.left = if self.left == usize::MAX { self.left } else { self.left - 1 };
        true
    }

    pub(super) fn spent(&self) -> bool {
        self.left == 0
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("skip", &self.skip).field("left", &self.left).finish_non_exhaustive()
    }
}

/// Holds calls back until the test lets them go on.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A closed gate.
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Lets everyone through from now on.
    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    /// Whether a call stands before it.
    pub(crate) fn holds(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub(super) async fn pass(&self) {
        self.0.subscribe().wait_for(|open| *open).await.unwrap();
    }
}
