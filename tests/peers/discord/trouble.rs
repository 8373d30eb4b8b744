//! Trouble that a test puts in: faults on calls, on the wire, and in what a gateway sends.

use std::time::Duration;

use super::FakeDiscord;
use super::dispatch::Starts;
use super::faults::{Calls, Fault};
use super::gateway::{Close, Heartbeats};
use super::ids::Message;

impl FakeDiscord {
    /// Puts a fault in. The first one put in that meets a call is the one that it gets.
    pub(crate) fn fault(&self, calls: Calls, fault: Fault) {
        self.change(|world| world.faults.push((calls, fault)));
    }

    /// Takes all faults on calls out.
    pub(crate) fn heal(&self) {
        self.change(|world| world.faults.clear());
    }

    /// The honest limit of every bucket: so many calls per window.
    pub(crate) fn limit(&self, calls: u32, window: Duration) {
        self.change(|world| {
            world.limit = (calls, window);
            world.buckets.clear();
        });
    }

    /// The largest file that is taken; 10 MiB unless this says otherwise.
    pub(crate) fn largest_file(&self, bytes: usize) {
        self.change(|world| world.file_bytes = bytes);
    }

    /// Ends every gateway connection like this.
    pub(crate) fn end_connections(&self, how: Close) {
        self.change(|world| world.end_connections(how));
    }

    /// Every session is gone: the next resume gets op 9. Connections stay as they are.
    pub(crate) fn forget_sessions(&self) {
        self.change(|world| world.wires.sessions.clear());
    }

    /// The next dispatches, one by one, are sent twice.
    pub(crate) fn duplicate_next(&self, count: usize) {
        self.change(|world| world.wires.duplicate_next(count));
    }

    /// The next so many dispatches to a connection are kept back, then sent in reverse order.
    pub(crate) fn reorder_next(&self, count: usize) {
        self.change(|world| world.wires.reorder_next(count));
    }

    /// Whether heartbeats are answered, and how often new connections are asked for one.
    pub(crate) fn heartbeats(&self, heartbeats: Heartbeats, every: Duration) {
        self.change(|world| {
            world.wires.heartbeats = heartbeats;
            world.wires.heartbeat_ms = u64::try_from(every.as_millis()).unwrap();
        });
    }

    /// The next identifies are turned away with op 9, and count.
    pub(crate) fn refuse_identifies(&self, count: usize) {
        self.change(|world| world.wires.refuse_identifies = count);
    }

    /// Intents that the bot is not allowed: an identify with one of these bits is closed with 4014.
    pub(crate) fn deny_intents(&self, bits: u64) {
        self.change(|world| world.wires.denied_intents = bits);
    }

    /// The day's budget of identifies. One past it is closed with 4004 and logged as a violation.
    pub(crate) fn identify_budget(&self, total: u64, remaining: u64, reset_after: Duration) {
        let reset_after_ms = u64::try_from(reset_after.as_millis()).unwrap();
        self.change(|world| world.wires.starts = Starts { total, remaining, reset_after_ms });
    }

    /// Where the gateway is said to be; `None` is here.
    pub(crate) fn hand_out(&self, gateway: Option<&str>) {
        self.change(|world| world.wires.handed_out = gateway.map(str::to_owned));
    }

    /// The channel is announced from now on as if this were its newest message: what comes behind it
    /// came in the moment between the announcement and the time from which the bot listens.
    pub(crate) fn announce_newest(&self, message: Message) {
        self.change(|world| {
            let channel = world.find(message).unwrap().channel;
            world.announced.insert(channel, message);
        });
    }

    /// A message that was sent long ago comes over the gateway once more.
    pub(crate) fn repeat(&self, message: Message) {
        self.change(|world| {
            let said = world.find(message).unwrap().clone();
            world.tell_message("MESSAGE_CREATE", &said);
        });
    }
}
