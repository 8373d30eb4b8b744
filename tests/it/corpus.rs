//! Malformed things as data: each with the answer that it must get, and after each nothing has changed.

mod configuration;
mod directives;
mod dispatch;
mod gate;
mod paths;
mod tokens;
mod turns;

use serde_json::{Value, json};

use crate::service::{Answer, Ask, LANE, Service, turn};

/// One malformed request, and what it must get.
struct Row {
    what: String,
    ask: Ask,
    status: u16,
    problem: &'static str,
    /// The field that the problem must name; empty when it names none.
    field: &'static str,
}

impl Row {
    /// What is wrong with the answer, if anything is.
    fn fault(&self, answer: &Answer) -> Option<String> {
        let wanted = (self.status, self.problem.to_owned(), self.field);
        if answer.status < 400 {
            return Some(format!("{}: wanted {wanted:?} and it was done ({})", self.what, answer.body));
        }
        let field = answer.json()["field"].as_str().unwrap_or_default().to_owned();
        // A star stands for whatever is deeper in.
        let named = self.field.strip_suffix('*').filter(|begins| field.starts_with(begins));
        let got = (answer.status, answer.problem(), named.map_or(field.as_str(), |_| self.field));
        (got != wanted).then(|| format!("{}: wanted {wanted:?} and got {got:?} ({})", self.what, answer.body))
    }
}

/// A service in which something has happened, and a token of every kind.
struct World {
    service: Service,
    voice: String,
    account: String,
    captain: String,
}

impl World {
    fn new() -> Self {
        let service = Service::start("");
        service.settle(&turn("lab", "good", "ann", "hello"));
        let voice = service.token("lane-voice", "v");
        let (account, captain) = (service.token("account", "ann"), service.token("captain", "cap"));
        Self { service, voice, account, captain }
    }

    fn lane(&self) -> String {
        self.service.lane(LANE)
    }

    /// Everything that a refused request could have changed. Every durable change moves the cursor.
    fn state(&self) -> Value {
        let mut tokens = self.service.dispatch(json!({"op": "token_list"}));
        for token in tokens["tokens"].as_array_mut().unwrap() {
            token["last_used_at"] = Value::Null;
        }
        json!({
            "handoffs": self.service.handoffs(),
            "tokens": tokens,
            "rooms": self.service.dispatch(json!({"op": "rooms_list"})),
            "said": self.service.said("lab"),
            "local": self.service.read("/rooms/v1/lab/messages"),
            "changed": self.service.dispatch(json!({"op": "config_reload"})),
        })
    }

    /// Sends every row, and at the end shows that the service still does what it is for.
    fn check(&self, rows: &[Row]) {
        let before = self.state();
        let mut faults = Vec::new();
        for row in rows {
            faults.extend(row.fault(&self.service.send(&row.ask)));
            if self.state() != before {
                faults.push(format!("{} changed something", row.what));
                break;
            }
        }
        assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), rows.len(), faults.join("\n"));
        let good = self.service.settle(&turn("lab", "good-at-last", "ann", "still there?")).json();
        assert_eq!(good["result"]["text"], "demo: still there?");
    }
}

/// Writes out the long things that a table only names: `<129>` is that many characters.
fn written_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let (name, after) = after.split_once('>').unwrap();
        let (kind, count) = name.split_once(' ').unwrap_or(("chars", name));
        let count: usize = count.parse().unwrap();
        out.push_str(before);
        out.push_str(&match kind {
            "chars" => "r".repeat(count),
            "umlauts" => "ü".repeat(count),
            "lists" => "[".repeat(count) + &"]".repeat(count),
            "open" => "{\"a\":".repeat(count),
            "quotes" => vec![r#"{"author":"a","text":"t"}"#; count].join(","),
            "files" => vec![turns::FILE; count].join(","),
            other => panic!("{other} is nothing that is written out"),
        });
        rest = after;
    }
    out + rest
}

#[test]
fn i2_i8_malformed_turns_are_refused_by_their_field_and_change_nothing() {
    let world = World::new();
    world.check(&turns::rows(&world));
}

#[test]
fn malformed_paths_and_queries_are_refused_and_change_nothing() {
    let world = World::new();
    world.check(&paths::rows(&world));
}

#[test]
fn foreign_hosts_and_origins_and_wrong_media_are_refused_and_change_nothing() {
    let world = World::new();
    gate::own_names_pass(&world);
    world.check(&gate::rows(&world));
}

#[test]
fn credentials_that_do_not_stand_or_do_not_reach_are_refused_without_detail() {
    let world = World::new();
    world.check(&tokens::rows(&world));
}

#[test]
fn malformed_owner_operations_are_refused_and_change_nothing() {
    let world = World::new();
    world.check(&dispatch::rows(&world));
    dispatch::refusals_are_values(&world);
}

#[test]
fn malformed_mailbox_operations_are_refused_by_their_field_and_change_nothing() {
    let world = World::new();
    world.check(&dispatch::mail::rows(&world));
}

/// M2, M3, B64: what no answer fits, comes late or aims elsewhere is a value, and the ask stands as it stood.
#[test]
fn m2_b64_what_does_not_fit_an_ask_is_refused_with_its_reason_and_changes_nothing() {
    dispatch::answers::check(&World::new());
}
