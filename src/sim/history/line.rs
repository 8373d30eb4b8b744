//! One line for each fact: what a trace shows, and what two runs of one seed must agree on.

use std::collections::BTreeSet;

use clankie_domain::admission::room::Answer;
use clankie_domain::ask::Resolution;
use clankie_domain::event::Event;
use clankie_domain::handoff::HandoffRecord;

use super::{Doing, Fact, Given, Last, Mail, Post, What, Wish};
use crate::sim::dice::digest;

impl Fact {
    /// The fact as a trace shows it.
    pub fn line(&self) -> String {
        format!("{:>9} {}", self.at, line(&self.what))
    }
}

fn line(what: &What) -> String {
    match what {
        What::Born(life, limits) => format!("life {life} begins, {} may wait", limits.waiting),
        What::Up => "it takes work".to_owned(),
        What::NotUp(why) => format!("it does not start: {why}"),
        What::Cut => "the power goes".to_owned(),
        What::DiskFailed(full) => format!("the disk fails: {}", if *full { "full" } else { "one call" }),
        What::Over(ending) => format!("life over: {ending:?}"),
        What::Calm => "faults are over".to_owned(),
        What::Jump(ms) => format!("the clock jumps {ms} ms"),
        What::Breaks => "the clock breaks".to_owned(),
        What::PolicyAsked(version, _) => format!("policy {version} asked for"),
        What::PolicyInForce(version) => format!("policy {version} in force"),
        What::Token(id, standing) => format!("token {id} {standing:?}"),
        What::Sent(attempt, manner, request) => {
            let text = digest(request.text.as_bytes());
            format!("try {attempt} {manner:?} {} {} by {} {text:016x}", request.room, request.delivery, request.actor)
        }
        What::Heard(attempt, answer) => format!("try {attempt}: {}", heard(answer.as_ref())),
        What::Halt(room, delivery) => format!("halt {room} {delivery}"),
        What::Halted(room, delivery, answer) => format!("halt {room} {delivery}: {}", heard(answer.as_ref())),
        What::Event(seq, event) => format!("event {seq} {}", named(event)),
        What::Seen(seq) => format!("seen up to {seq}"),
        What::Record(record) => recorded(record),
        What::Rest(permits, live) => {
            let held: BTreeSet<_> = permits.iter().map(|held| held.run).collect();
            format!(
                "at rest: {} permits {:016x}, {} live",
                permits.len(),
                digest(format!("{held:?}").as_bytes()),
                live.len()
            )
        }
        What::Run(run, doing) => format!("run {run} {}", done(doing)),
        What::Posted(post) => {
            let Post { room, id, nonce, text, answers, .. } = post.as_ref();
            format!("chat {room} {id} nonce {nonce} answers {answers}: {text:?}")
        }
        What::Mail(mail) => self::mail(mail),
        What::Last(last) => ended(last),
    }
}

fn done(doing: &Doing) -> String {
    match doing {
        Doing::Began(given) => {
            let Given { handoff, room, delivery, grant, answered, .. } = given.as_ref();
            let answers = answered.as_ref().map(|(request, _)| request);
            format!("begins for {handoff} {room} {delivery} {:?} answering {answers:?}", grant.plan)
        }
        Doing::Took => "took".to_owned(),
        Doing::Marked(joiner, mark) => format!("{mark:?} {joiner}"),
        Doing::Called { call, name, arguments } => format!("calls {call} {name} {arguments}"),
        Doing::Returned { call, reply } => format!("call {call}: {reply:?}"),
        Doing::Shipped(call) => format!("ships {call}"),
        Doing::Settled(outcome) => format!("settles: {outcome}"),
        Doing::Gone => "gone".to_owned(),
    }
}

fn mail(mail: &Mail) -> String {
    match mail {
        Mail::Ask(view) => {
            let claim = view.entry.claim.as_ref().map_or("-", |claim| claim.state.as_str());
            let resolution = match &view.entry.resolution {
                Resolution::Pending => "pending".to_owned(),
                Resolution::Submitted { by, .. } => format!("submitted by {}", by.id),
                Resolution::Cancelled { by, reason, .. } => format!("cancelled by {}: {}", by.id, reason.as_str()),
            };
            format!("ask {} {resolution} claim {claim} revision {}", view.entry.ask.request, view.head.revision)
        }
        Mail::AskGone(request) => format!("ask {request} is not kept"),
        Mail::Update(update) => format!("update {} {}", update.id, update.state.as_str()),
        Mail::Wished(call, token, wish) => format!("call {call} by {token}: {}", wished(wish)),
        Mail::Granted(call, reply, commits) => {
            format!("call {call}: {:016x} commits {commits:?}", digest(format!("{reply:?}").as_bytes()))
        }
        Mail::Reposted(call, answer) => format!("call {call}: {}", heard(answer.as_ref())),
        Mail::Secret(request, text) => format!("secret {request} {:016x}", digest(text.as_bytes())),
    }
}

fn wished(wish: &Wish) -> String {
    match wish {
        Wish::Answer(_, aim, answer) => {
            let what = digest(format!("{answer:?}").as_bytes());
            format!("answer {} at {} with {what:016x}", aim.request, aim.revision)
        }
        Wish::Cancel(_, aim) => format!("cancel {} at {}", aim.request, aim.revision),
        Wish::Seen(request) => format!("seen {request}"),
        Wish::Read(id) => format!("read {id}"),
        Wish::Dismiss(id) => format!("dismiss {id}"),
        Wish::Repost(_, handoff) => format!("repost {handoff}"),
    }
}

fn heard(answer: Option<&Answer>) -> String {
    match answer {
        None => "nobody heard".to_owned(),
        Some(answer) => format!("{answer:?}"),
    }
}

fn named(event: &Event) -> String {
    match event {
        Event::Handoff { id, state, revision, .. } => format!("handoff {id} {} {revision}", state.as_str()),
        Event::Message { room } => format!("message {room}"),
        Event::InputRequested(ask) => format!("asked {}", ask.request),
        Event::InputResolved { request, outcome, .. } => format!("resolved {request} {}", outcome.as_str()),
        Event::InputClaim { request, state, .. } => format!("claim {request} {}", state.as_str()),
        Event::Update { id, state, .. } => format!("update {id} {}", state.as_str()),
    }
}

fn recorded(record: &HandoffRecord) -> String {
    let HandoffRecord { id, delivery, revision, room_delivery, .. } = record;
    let plan = record.grant.plan;
    format!("record {id} {delivery} {} {revision} {plan:?} {:?}", record.state_name().as_str(), room_delivery.state)
}

fn ended(last: &Last) -> String {
    let Last { records, receipts, asks, updates, messages, .. } = last;
    let (records, receipts) = (records.len(), receipts.len());
    format!(
        "over: {records} records, {receipts} receipts, {} asks, {} updates, {} messages",
        asks.len(),
        updates.len(),
        messages.len()
    )
}
