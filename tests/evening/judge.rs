//! The laws of the evening, each checked over everything there is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::fake::{Channel, Happening, Message, Posted};
use crate::play::{Evening, Meant};

/// One law, and what broke it.
#[derive(Debug)]
pub(crate) struct Law {
    pub(crate) name: &'static str,
    pub(crate) seen: usize,
    pub(crate) broken: Vec<String>,
}

/// Everything that the laws look at.
struct Facts<'a> {
    evening: &'a Evening,
    /// Records by the message that they answer; an edit is a delivery of the same message.
    by_message: BTreeMap<Message, Vec<&'a Value>>,
    /// What the bot said, by the message that it quotes.
    replies: BTreeMap<Message, Vec<Posted>>,
    /// Everything that the bot said, by its own id, with where it stands.
    posts: BTreeMap<u64, (Channel, Posted)>,
}

/// Checks them all.
pub(crate) fn judge(evening: &Evening) -> Vec<Law> {
    let mut by_message: BTreeMap<Message, Vec<&Value>> = BTreeMap::new();
    for record in &evening.records {
        by_message.entry(message_of(evening, record)).or_default().push(record);
    }
    let replies = evening.said.iter().map(|meant| (meant.message, evening.fake.replies_to(meant.message))).collect();
    let channels: BTreeSet<Channel> = evening.said.iter().map(|meant| meant.channel).collect();
    let of = |channel: Channel| evening.fake.replies(channel).into_iter().map(move |post| (post.id.0, (channel, post)));
    let posts = channels.into_iter().flat_map(of).collect();
    let facts = Facts { evening, by_message, replies, posts };
    let watch = &evening.watch;
    vec![
        facts.each_message("no message is lost: it has a record, or its author was told busy", Facts::lost),
        facts.each_message("I2: whoever was told busy has no record", Facts::busy_and_recorded),
        facts.each_record("I3: one delivery, one record, one result", Facts::doubled_record),
        facts.each_record("I8: a record has the room and the actor of its message", Facts::misplaced_record),
        facts.each_record("each reply stands in its room once, whole, in order, and nothing else does", Facts::reply),
        facts.each_message("the room has as many words for a message as its records confirmed", Facts::accounted),
        facts.each_message("a reply answers the words that it quotes", Facts::swapped),
        facts.each_message("nobody but the asker is notified", Facts::pinged),
        facts.each_record("I4: a joiner shares room, actor and grant with what it joined", Facts::joiner),
        facts.each_record("I9: nothing that was promised is left open or told busy", Facts::promised),
        facts.nothing_else(),
        facts.fifo(),
        Law {
            name: "I1: never more than 4 running, 2 in a room, 32 waiting",
            seen: watch.looks,
            broken: watch.over_limits.clone(),
        },
        Law {
            name: "I7: a record only moves along the arrows",
            seen: watch.moves,
            broken: watch.illegal_moves.clone(),
        },
        facts.all_free(),
        facts.patient(),
        Law { name: "the bot does nothing that Discord forbids", seen: 1, broken: evening.fake.violations() },
    ]
}

/// The message that a record answers. The delivery of an edit is named by the service itself; the
/// word that stands in no other message says whose edit it is.
fn message_of(evening: &Evening, record: &Value) -> Message {
    if let Ok(id) = record["delivery_id"].as_str().unwrap().parse() {
        return Message(id);
    }
    let request = record["request"].as_str().unwrap();
    let edited = evening.said.iter().find(|meant| words(request).contains(&meant.token.as_str()));
    edited.map_or(Message(0), |meant| meant.message)
}

fn confirmed(record: &Value) -> Vec<u64> {
    let ids = record["room_delivery"]["ids"].as_array();
    ids.into_iter().flatten().map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

impl Facts<'_> {
    fn each_message(&self, name: &'static str, broken: fn(&Self, &Meant) -> Option<String>) -> Law {
        let said = &self.evening.said;
        Law { name, seen: said.len(), broken: said.iter().filter_map(|meant| broken(self, meant)).collect() }
    }

    fn each_record(&self, name: &'static str, broken: fn(&Self, &Value) -> Option<String>) -> Law {
        let records = &self.evening.records;
        Law { name, seen: records.len(), broken: records.iter().filter_map(|record| broken(self, record)).collect() }
    }

    fn lost(&self, meant: &Meant) -> Option<String> {
        let fine = self.by_message.contains_key(&meant.message)
            || self.evening.deleted.contains(&meant.message)
            || self.evening.told_busy(meant.message);
        (!fine).then(|| format!("{} {}", meant.message, meant.token))
    }

    fn busy_and_recorded(&self, meant: &Meant) -> Option<String> {
        let plain = |record: &&&Value| record["delivery_id"] == meant.message.to_string();
        let recorded = self.by_message.get(&meant.message).into_iter().flatten().any(|record| plain(&record));
        (recorded && self.evening.told_busy(meant.message)).then(|| meant.token.clone())
    }

    fn doubled_record(&self, record: &Value) -> Option<String> {
        let same = |other: &&&Value| other["delivery_id"] == record["delivery_id"];
        let count = self.by_message[&message_of(self.evening, record)].iter().filter(|other| same(other)).count();
        (count != 1 || record["result"].is_null()).then(|| record["delivery_id"].to_string())
    }

    fn misplaced_record(&self, record: &Value) -> Option<String> {
        let meant = self.evening.said.iter().find(|meant| meant.message == message_of(self.evening, record));
        let Some(meant) = meant else { return Some(format!("{} was never said", record["delivery_id"])) };
        let room = record["room"].as_str().unwrap();
        let fine =
            room.ends_with(&format!(":{}", meant.channel)) && record["actor"] == format!("discord:user:{}", meant.who);
        (!fine).then(|| format!("{} in {room}", meant.token))
    }

    /// What a record's reply must be is read off its result alone.
    fn reply(&self, record: &Value) -> Option<String> {
        let (message, ids) = (message_of(self.evening, record), confirmed(record));
        let complain = |what: &str| Some(format!("{} {}: {what}", record["delivery_id"], record["room_delivery"]));
        let expected = match record["result"]["kind"].as_str().unwrap() {
            "settled" => record["result"]["text"].as_str().unwrap().to_owned(),
            "silent" | "absorbed" | "cancelled" => {
                return if ids.is_empty() { None } else { complain("has a reply") };
            }
            // The sentence of a failure is the program's own; that there is one is the law.
            _ => String::new(),
        };
        // A joiner of a failed run fails with it, and the room hears of the run once.
        if expected.is_empty() && record["room_delivery"]["state"] == "none" && !record["joined"].is_null() {
            return None;
        }
        if record["room_delivery"]["state"] != "confirmed" {
            return complain("is not confirmed");
        }
        // Nothing can quote a message that is gone; its answer stands there all the same.
        let quotes = |post: &Posted| post.reply_to == Some(message) || self.evening.deleted.contains(&message);
        let at = self.evening.said.iter().find(|meant| meant.message == message).map(|meant| meant.channel);
        let here = |(channel, post): &&(Channel, Posted)| Some(*channel) == at && quotes(post);
        let stands: Vec<&Posted> =
            ids.iter().filter_map(|id| self.posts.get(id).filter(here)).map(|(_, post)| post).collect();
        let order: Vec<u64> = stands.iter().map(|one| one.id.0).collect();
        let in_order = order.windows(2).all(|pair| pair[0] < pair[1]) && order == ids;
        let text: Vec<&str> = stands.iter().flat_map(|one| words(&one.content)).collect();
        match (in_order, expected.is_empty() || text == words(&expected)) {
            (false, _) => complain("does not stand there in that order"),
            (_, false) => complain("says something else there"),
            (true, true) => None,
        }
    }

    fn accounted(&self, meant: &Meant) -> Option<String> {
        let records = self.by_message.get(&meant.message).into_iter().flatten();
        let known: usize = records.map(|record| confirmed(record).len()).sum();
        let sentence = usize::from(self.evening.told_busy(meant.message));
        let stands = self.replies[&meant.message].len();
        let gone = self.evening.deleted.contains(&meant.message);
        let fine = stands == known || stands == known + sentence || gone;
        (!fine).then(|| format!("{}: {stands} stand there, {known} confirmed", meant.token))
    }

    fn swapped(&self, meant: &Meant) -> Option<String> {
        let others: BTreeSet<&str> = self
            .evening
            .said
            .iter()
            .filter(|other| other.who != meant.who || other.channel != meant.channel)
            .map(|other| other.token.as_str())
            .collect();
        let replies = self.replies[&meant.message].iter();
        let foreign = replies.flat_map(|posted| words(&posted.content)).find(|word| others.contains(word));
        foreign.map(|word| format!("the reply to {} holds {word}", meant.token))
    }

    /// Counted from the other side: whatever the bot said is a confirmed part or the sentence for busy.
    fn nothing_else(&self) -> Law {
        let known: BTreeSet<u64> = self.evening.records.iter().flat_map(confirmed).collect();
        let notice = |post: &Posted| post.reply_to.is_some_and(|message| self.evening.told_busy(message));
        let broken = self.posts.iter().filter(|(id, (_, post))| !known.contains(id) && !notice(post));
        let broken = broken.map(|(id, (_, post))| format!("{id}: {}", post.content)).collect();
        Law { name: "the bot says nothing that no record knows of", seen: self.posts.len(), broken }
    }

    fn pinged(&self, meant: &Meant) -> Option<String> {
        let loud = |posted: &&Posted| {
            let pings = &posted.pings;
            pings.everyone || !pings.roles.is_empty() || pings.people.iter().any(|person| *person != meant.who)
        };
        self.replies[&meant.message].iter().find(loud).map(|posted| format!("{}: {:?}", meant.token, posted.pings))
    }

    fn joiner(&self, record: &Value) -> Option<String> {
        let joined = record["result"]["joined_handoff_id"].as_str()?;
        let target = self.evening.records.iter().find(|other| other["id"] == joined);
        let same = |name: &str| target.is_some_and(|target| target[name] == record[name]);
        (!(same("room") && same("actor") && same("grant"))).then(|| record["delivery_id"].to_string())
    }

    fn promised(&self, record: &Value) -> Option<String> {
        let open =
            record["result"].is_null() || matches!(record["state"].as_str(), Some("joined" | "pending" | "running"));
        open.then(|| record["delivery_id"].to_string())
    }

    /// I6, as far as it can be seen from outside: who came later in a room did not start earlier.
    fn fifo(&self) -> Law {
        let moment = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        let mut rooms: BTreeMap<&str, Vec<(jiff::Timestamp, jiff::Timestamp)>> = BTreeMap::new();
        for record in &self.evening.records {
            let fresh = record["class"] == "fresh";
            if let (true, Some(started)) = (fresh, record["started_at"].as_str()) {
                let created = moment(record["created_at"].as_str().unwrap());
                rooms.entry(record["room"].as_str().unwrap()).or_default().push((created, moment(started)));
            }
        }
        let (mut seen, mut broken) = (0, Vec::new());
        for (room, mut records) in rooms {
            records.sort_unstable();
            seen += records.len();
            let late = records.windows(2).filter(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1);
            broken.extend(late.map(|pair| format!("{room}: {pair:?}")));
        }
        if seen == 0 {
            broken.push("no record was looked at".to_owned());
        }
        Law { name: "I6: a room's handoffs start in the order in which they came", seen, broken }
    }

    /// Whoever does not wait for a limit is told 429 again and again, thousands of times in an evening.
    fn patient(&self) -> Law {
        let seen = self.evening.fake.count(|what| matches!(what, Happening::RateLimited { .. }));
        let most = 2 * self.posts.len();
        let broken = (seen > most).then(|| format!("{seen} rate limits in {} posts", self.posts.len()));
        Law { name: "a rate limit is waited for", seen, broken: broken.into_iter().collect() }
    }

    fn all_free(&self) -> Law {
        let counts = &self.evening.counts_at_the_end;
        let left = ["running", "waiting", "owed"].iter().filter(|name| counts[**name] != 0);
        let broken = left.map(|name| format!("{name}: {}", counts[*name])).collect();
        Law { name: "I5: at the end every permit and every place is free", seen: 1, broken }
    }
}
