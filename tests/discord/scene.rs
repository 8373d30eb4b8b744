//! One evening's place: the fake Discord, and the real program connected to it.

use serde_json::Value;

use crate::fake::{Calls, Channel, Close, FakeDiscord, Fault, Gate, Happening, Message};
use crate::service::{Service, until};

/// One runs at a time, and the rest waits.
pub(crate) const ONE_AT_A_TIME: &str = "[limits]\nrunning = 1\nrunning_per_room = 1\nwaiting = 4";

/// The fake, the program, and the channel where people talk.
pub(crate) struct Scene {
    pub(crate) fake: FakeDiscord,
    pub(crate) service: Service,
    pub(crate) general: Channel,
}

impl Scene {
    /// A program that is connected; `discord` is put at the end of `[discord]`, `extra` after it.
    pub(crate) fn start(discord: &str, extra: &str) -> Self {
        let mut scene = Self::prepare(discord, extra);
        scene.service.launch();
        scene.connected();
        scene
    }

    /// The same, not started.
    pub(crate) fn prepare(discord: &str, extra: &str) -> Self {
        let fake = FakeDiscord::start();
        let general = fake.general();
        let mut service = Service::prepare("");
        service.variable("BOT_TOKEN", fake.token());
        let scene = Self { fake, service, general };
        scene.configure(discord, extra);
        scene
    }

    /// Writes the configuration anew, for the next start.
    pub(crate) fn configure(&self, discord: &str, extra: &str) {
        let (url, home) = (self.fake.url(), self.fake.guild("home"));
        let bot = format!(
            "[discord]\ntoken_env = \"BOT_TOKEN\"\napi_url = {url:?}\nguilds = [\"{home}\"]\n{discord}\n{extra}"
        );
        self.service.configure("demo", &bot);
    }

    /// Waits until messages come.
    pub(crate) fn connected(&self) {
        until("the bot to be ready", || (self.stands()["link"] == "ready").then_some(()));
    }

    /// How the bot stands.
    pub(crate) fn stands(&self) -> Value {
        self.service.read("/operator/v1/status")["discord"].clone()
    }

    /// Somebody asks in the channel, with a mention.
    pub(crate) fn ask(&self, who: &str, text: &str) -> Message {
        self.fake.ask(self.general, self.fake.people(who), text)
    }

    /// Waits until a message's handoff is over and its reply is where it will be, and gives the record.
    pub(crate) fn over(&self, message: Message) -> Value {
        let posted = |record: &Value| !matches!(posting(record), "pending" | "sending");
        until("a handoff to be over", || {
            self.service.record(&message.to_string()).filter(|one| !one["result"].is_null() && posted(one))
        })
    }

    /// The contents of the replies to a message, in order, once its handoff is over.
    pub(crate) fn replies(&self, message: Message) -> Vec<String> {
        self.over(message);
        self.fake.replies_to(message).into_iter().map(|posted| posted.content).collect()
    }

    /// Waits until the bot put a reaction on a message.
    pub(crate) fn reacted(&self, message: Message, emoji: &str) {
        let bot = self.fake.bot();
        self.fake.wait(emoji, |log| {
            log.iter().find_map(|entry| match &entry.what {
                Happening::Reacted { message: on, who, emoji: put, .. } => {
                    (*on == message && *who == bot && put == emoji).then_some(())
                }
                _ => None,
            })
        });
    }

    /// Two requests, Ben's and Cat's, that wait behind Ann's, which runs until she joins it: Ann's, Ben's and Cat's.
    pub(crate) fn two_wait(&self) -> (Message, Message, Message) {
        let slow = self.ask("ann", "slow\n!wait-steer 60000");
        self.service.running(&slow.to_string());
        let (bens, cats) = (self.ask("ben", "gone"), self.ask("cat", "old words"));
        until("both to wait", || {
            [bens, cats].iter().all(|one| self.service.record(&one.to_string()).is_some()).then_some(())
        });
        (slow, bens, cats)
    }

    /// The service comes back to a room of which nobody can read what was said; returns when that has failed.
    pub(crate) fn comes_back_unread(&mut self) {
        self.fake.fault(Calls::of("GET", "/messages").always(), Fault::Status(500));
        self.service.launch();
        self.connected();
        self.a_read_fails();
    }

    /// Waits until one more read has failed.
    pub(crate) fn a_read_fails(&self) {
        let failed = || self.fake.count(|what| matches!(what, Happening::Faulted { .. }));
        let before = failed();
        until("a read that fails", || (failed() > before).then_some(()));
    }

    /// The next posts reach Discord when the gate opens, as it stands then.
    pub(crate) fn holds_posts(&self, times: usize) -> Gate {
        let gate = Gate::new();
        self.fake.fault(Calls::posts().times(times), Fault::HeldBefore(gate.clone()));
        gate
    }

    /// Waits until so many posts are held.
    pub(crate) fn posts_are_held(&self, many: usize) {
        let held = || self.fake.count(|what| matches!(what, Happening::Faulted { .. }));
        until("posts that are held", || (held() == many).then_some(()));
    }

    /// Breaks the gateway connection and waits until it stands again.
    pub(crate) fn reconnect(&self, how: Close) {
        let before = (self.fake.identifies(), self.fake.resumes());
        self.fake.end_connections(how);
        until("a new connection", || ((self.fake.identifies(), self.fake.resumes()) != before).then_some(()));
        self.connected();
    }
}

impl Drop for Scene {
    /// Whatever a test is about, the bot behaves.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.fake.violations(), Vec::<String>::new());
        } else {
            eprintln!("{}", self.service.log());
        }
    }
}

/// How a record's posting stands.
pub(crate) fn posting(record: &Value) -> &str {
    record["room_delivery"]["state"].as_str().unwrap_or("absent")
}

/// A text of so many characters that says of each part where it stands.
pub(crate) fn long(characters: usize) -> String {
    let mut text: String = (0..characters / 6).map(|n| format!("{n:05} ")).collect();
    text.truncate(characters);
    text.trim_end().to_owned()
}
