//! The evening itself: who says what where, and what goes wrong when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fake::{Calls, Channel, Close, FakeDiscord, Fault, Happening, Message, Person};
use crate::random::Random;
use crate::service::{Service, until};
use crate::watch::Watch;

/// Things that happen: most are one message, some a burst of three.
const BEATS: usize = 300;
/// Beats at which the program is killed while people go on talking.
const KILLS: [usize; 2] = [110, 210];
/// How long the last messages may take until they are seen: a new session and a read of every room.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// What is said while it is away.
const SAID_WHILE_AWAY: usize = 6;
const NAMES: [&str; 10] = ["ann", "ben", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jon"];
const ROOMS: [&str; 7] = ["general", "lab", "games", "music", "help", "news", "free"];

/// What a message was meant as.
#[derive(Debug, Clone)]
pub(crate) struct Meant {
    pub(crate) message: Message,
    pub(crate) channel: Channel,
    pub(crate) who: Person,
    /// A word that stands in no other message.
    pub(crate) token: String,
}

/// What was played, with everything that can be asked afterwards.
pub(crate) struct Evening {
    pub(crate) fake: FakeDiscord,
    pub(crate) service: Service,
    pub(crate) said: Vec<Meant>,
    pub(crate) deleted: BTreeSet<Message>,
    pub(crate) watch: Watch,
    /// Every record at the end, oldest first.
    pub(crate) records: Vec<Value>,
    pub(crate) counts_at_the_end: Value,
    kills: usize,
    edits: usize,
    places: Vec<Place>,
    random: Random,
}

/// A room, and how one speaks to the bot there.
#[derive(Debug, Clone, Copy)]
struct Place {
    channel: Channel,
    only: Option<Person>,
    manner: Manner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Mention,
    Free,
}

/// Plays it to the end, until nothing is open any more.
pub(crate) fn play(seed: u64) -> Evening {
    let mut evening = begin(seed);
    for beat in 0..BEATS {
        if KILLS.contains(&beat) {
            evening.killed();
        }
        evening.trouble();
        evening.beat();
        std::thread::sleep(Duration::from_millis(20));
        evening.watch.look(&evening.service);
    }
    evening.settle();
    evening
}

fn begin(seed: u64) -> Evening {
    let fake = FakeDiscord::start();
    let home = fake.guild("home");
    let people = NAMES.map(|name| fake.people(name));
    let mut places: Vec<Place> = ROOMS.iter().map(|name| mention(fake.channel(home, name))).collect();
    places[6].manner = Manner::Free;
    let free = places[6].channel;
    for (at, name) in ["side", "other side"].into_iter().enumerate() {
        places.push(mention(fake.thread(places[at].channel, people[at], name)));
    }
    for person in &people[..3] {
        places.push(Place { channel: fake.direct(*person), only: Some(*person), manner: Manner::Free });
    }
    let section = format!(
        "[discord]\ntoken_env = \"BOT_TOKEN\"\napi_url = {:?}\nguilds = [\"{home}\"]\nfree_talk = [\"{free}\"]\n\
         dms = \"everyone\"\ncatch_up_count = 100\ncatch_up_age = \"1h\"",
        fake.url()
    );
    let mut service = Service::prepare(&section);
    service.variable("BOT_TOKEN", fake.token());
    service.launch();
    // The honest limits of a busy evening, beside those that are put in.
    fake.limit(6, Duration::from_secs(1));
    let evening = Evening {
        fake,
        service,
        said: Vec::new(),
        deleted: BTreeSet::new(),
        watch: Watch::default(),
        records: Vec::new(),
        counts_at_the_end: Value::Null,
        kills: 0,
        edits: 0,
        places,
        random: Random::new(seed),
    };
    evening.connected();
    evening
}

fn mention(channel: Channel) -> Place {
    Place { channel, only: None, manner: Manner::Mention }
}

impl Evening {
    fn connected(&self) {
        until("the bot to be ready", || {
            (self.service.read("/operator/v1/status")["discord"]["link"] == "ready").then_some(())
        });
    }

    /// One thing that people do.
    fn beat(&mut self) {
        let place = {
            let at = self.random.below(self.places.len());
            self.places[at]
        };
        let who = place.only.unwrap_or_else(|| self.fake.people(NAMES[self.random.below(NAMES.len())]));
        match self.random.below(20) {
            0..=2 => {
                self.say(place, who, "\n!sleep 250");
                self.say(place, who, "");
                self.say(place, who, "");
            }
            3 => self.say(place, who, &format!("\n!say {}", "long ".repeat(900))),
            4 => self.say(place, who, "\n!silent"),
            5 => self.say(place, who, "\n!fail out_of_cheese"),
            6 => self.say(place, who, "\n!say @everyone @here <@1>"),
            7..=9 => self.say(place, who, "\n!sleep 120"),
            10 => self.edit(),
            11 => self.delete(place, who),
            _ => self.say(place, who, ""),
        }
    }

    fn say(&mut self, place: Place, who: Person, rest: &str) {
        let token = format!("t{}x", self.said.len());
        let text = format!("{token}{rest}");
        let message = match place.manner {
            Manner::Mention => self.fake.ask(place.channel, who, &text),
            Manner::Free => self.fake.say(place.channel, who, &text),
        };
        self.said.push(Meant { message, channel: place.channel, who, token });
    }

    fn edit(&mut self) {
        let Some(last) = self.said.last().cloned() else { return };
        if self.deleted.contains(&last.message) {
            return;
        }
        self.edits += 1;
        self.fake.edit(last.message, &format!("{} {} edited", self.fake.mention(), last.token));
    }

    fn delete(&mut self, place: Place, who: Person) {
        self.say(place, who, "\n!sleep 60");
        let message = self.said.last().unwrap().message;
        self.fake.delete(message);
        self.deleted.insert(message);
    }

    /// Something that goes wrong on a wire, now and then.
    fn trouble(&mut self) {
        match self.random.below(40) {
            0 => self.fake.fault(Calls::posts(), Fault::CutAfter),
            1 => self.fake.fault(Calls::posts(), Fault::GarbledAfter),
            2 => self.fake.fault(Calls::posts(), Fault::StatusAfter(502)),
            3 => self.fake.fault(Calls::posts(), Fault::Status(503)),
            4 => self.fake.fault(Calls::posts().times(2), Fault::RateLimited(Duration::from_millis(200))),
            5 => self.fake.fault(Calls::any(), Fault::RateLimitedGlobally(Duration::from_millis(150))),
            6 => self.fake.fault(Calls::posts(), Fault::CutBefore),
            7 | 8 => self.fake.duplicate_next(3),
            9 | 11 | 12 => self.fake.end_connections(self.random.one(&[Close::Cut, Close::Reconnect])),
            10 if self.fake.identifies() < 12 => self.fake.end_connections(Close::Invalid),
            _ => {}
        }
    }

    /// A power cut; people do not wait for it to be over.
    fn killed(&mut self) {
        self.kills += 1;
        self.service.kill();
        for _ in 0..SAID_WHILE_AWAY {
            let place = {
                let at = self.random.below(self.places.len());
                self.places[at]
            };
            let who = place.only.unwrap_or_else(|| self.fake.people(NAMES[self.random.below(NAMES.len())]));
            self.say(place, who, "");
        }
        self.service.launch();
        self.connected();
    }

    /// Waits until nothing lives and nothing is still to be posted, and reads everything.
    fn settle(&mut self) {
        self.fake.heal();
        self.all_seen();
        let page = until("everything to end", || {
            let page = self.service.handoffs();
            let open = |record: &Value| {
                record["result"].is_null()
                    || matches!(record["room_delivery"]["state"].as_str(), Some("pending" | "sending"))
            };
            (!page["handoffs"].as_array().unwrap().iter().any(open)).then_some(page)
        });
        self.counts_at_the_end = page["counts"].clone();
        self.records = page["handoffs"].as_array().unwrap().iter().rev().cloned().collect();
    }

    /// Waits until every message has a record or its author was told busy, each room in its own time. What
    /// was not seen by then is left to the judge.
    fn all_seen(&self) {
        let end = Instant::now() + SEEN_WITHIN;
        let mut unseen: Vec<Message> = self.said.iter().map(|meant| meant.message).collect();
        unseen.retain(|message| !self.deleted.contains(message));
        while !unseen.is_empty() && Instant::now() < end {
            unseen.retain(|message| self.record_of(*message).is_none() && !self.told_busy(*message));
        }
    }

    fn record_of(&self, message: Message) -> Option<Value> {
        self.service.record(&message.to_string())
    }

    /// Whether a message got the sign for busy.
    pub(crate) fn told_busy(&self, message: Message) -> bool {
        let bot = self.fake.bot();
        let busy = |entry: &crate::fake::Entry| matches!(&entry.what, Happening::Reacted { message: on, who, emoji, .. } if *on == message && *who == bot && emoji == "⏳");
        self.fake.log().iter().any(busy)
    }

    /// What there was, for the reader.
    pub(crate) fn counts(&self) -> Vec<String> {
        let of = |is: fn(&Happening) -> bool| self.fake.count(is);
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for record in &self.records {
            *kinds.entry(record["result"]["kind"].as_str().unwrap_or("none")).or_default() += 1;
        }
        let people: BTreeSet<Person> = self.said.iter().map(|meant| meant.who).collect();
        let rooms: BTreeSet<Channel> = self.said.iter().map(|meant| meant.channel).collect();
        vec![
            format!("{} messages by {} people in {} rooms", self.said.len(), people.len(), rooms.len()),
            format!("{} edits, {} deletions, {} kills", self.edits, self.deleted.len(), self.kills),
            format!("{} handoffs: {kinds:?}", self.records.len()),
            format!(
                "{} posts, {} repeated by nonce, {} rate limits, {} faults",
                of(|what| matches!(what, Happening::Posted { .. })),
                of(|what| matches!(what, Happening::Repeated { .. })),
                of(|what| matches!(what, Happening::RateLimited { .. })),
                of(|what| matches!(what, Happening::Faulted { .. })),
            ),
            format!("{} identifies, {} resumes", self.fake.identifies(), self.fake.resumes()),
            format!(
                "at most {} running and {} waiting in {} looks, {} moves seen",
                self.watch.most_running, self.watch.most_waiting, self.watch.looks, self.watch.moves
            ),
        ]
    }
}
