//! What each version of each row looks like on the disk. A change of a stored struct that these
//! files do not show would make stores that exist unreadable.
//!
//! With `CLANKIE_BLESS` set, files that do not exist are written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clankie_actors::domain::admission::Change;
use clankie_actors::domain::delivery::{Posting, RoomDelivery};
use clankie_actors::domain::grant::Plan;
use clankie_actors::domain::handoff::{Class, HandoffRecord, Owed, Phase, State, Usage};
use clankie_actors::domain::ids::{DeliveryId, PermitId, RequestId, RunId, TokenId};
use clankie_actors::domain::message::{MessageKind, RoomMessage};
use clankie_actors::domain::principal::{DeviceGrant, Token, TokenKind};
use clankie_actors::domain::receipt::Receipt;
use clankie_actors::domain::request::{Attachment, Quote, Source};
use clankie_actors::domain::result::{Approval, By, FailCode, KeptFile, Media, PrincipalKind, TurnResult};
use clankie_actors::domain::session::{Entry, ToolPhase};
use clankie_actors::domain::steering::Mark;
use clankie_actors::store::{Store, Txn, Write};
use redb::TableDefinition;
use serde_json::Value;
use tempfile::TempDir;

use crate::history::token;
use crate::mail::mail;
use crate::mail_golden;
use crate::raw;
use crate::world::{EPOCH, at, dump, grant, handoff, pending, room, said, settled, started, uuid};

/// The version of every row so far.
const VERSION: u8 = 1;

fn records() -> Vec<HandoffRecord> {
    let lab = room("lab");
    let full = HandoffRecord {
        source: Source::Continuation,
        class: Class::Owed(Owed::Answer),
        guild: Some("guild 7".into()),
        wanted: Some(Plan::Machine),
        attachments: vec![attachment()],
        context: vec![Quote { author: "Bob".into(), text: "\"ja\"\n".into() }],
        state: State::Running(Phase::Started),
        doing: "using history".into(),
        native_child: Some("child-1".into()),
        joiner_count: 3,
        usage: Usage { input_tokens: 1, output_tokens: 2, cost_micros: 3, tool_calls: 4, bytes: 5 },
        delivery: DeliveryId::Continuation(RequestId(uuid(9))),
        ..started(&pending(2, &lab), at(3))
    };
    let joined = HandoffRecord {
        state: State::Joined { target: handoff(2) },
        joined: Some(handoff(2)),
        class: Class::Owed(Owed::Unread),
        delivery: DeliveryId::Edit { of: "m-2".into(), digest: "ab12".into() },
        ..pending(3, &lab)
    };
    let ends = results().into_iter().zip(postings()).zip(10..);
    let ended = ends.map(|((result, state), n)| HandoffRecord {
        state: State::Ended(result),
        room_delivery: RoomDelivery { state, confirmed: vec!["p1".into()] },
        reason_code: Some("because".into()),
        ..settled(n, &lab, at(n))
    });
    [pending(1, &lab), full, joined].into_iter().chain(ended).collect()
}

fn device() -> Token {
    let (id, kind, grants) = (TokenId(uuid(8)), TokenKind::Device, DeviceGrant::ALL.into());
    Token { id, kind, grants, ..token() }
}

fn attachment() -> Attachment {
    let text = |text: &str| text.to_owned();
    Attachment { id: text("a1"), name: text("x.png"), mime_type: text("image/png"), size: 7, url: text("https://x/") }
}

fn results() -> Vec<TurnResult> {
    let media = vec![Media::link("https://x/y".into(), "image/png".into())];
    let file = Some(KeptFile { name: "notes.txt".into(), size: 7 });
    let kept = vec![Media { url: "kept:1/0".into(), mime_type: "text/plain".into(), file }];
    let by = By { kind: PrincipalKind::Speaker, id: "local:ann".into() };
    vec![
        TurnResult::Settled { text: "two ✓".into(), media },
        TurnResult::Silent,
        TurnResult::Absorbed { reply_delivery: DeliveryId::parse("m-2").unwrap(), joined: handoff(2) },
        TurnResult::WaitingUser { prompt: "may I?".into(), approval: Approval::Required },
        TurnResult::WaitingUser { prompt: "which?".into(), approval: Approval::NotRequired },
        TurnResult::Failed { code: FailCode::NativeUncertain },
        TurnResult::Failed { code: FailCode::Named("out_of_cheese".into()) },
        TurnResult::Cancelled { by },
        TurnResult::Settled { text: String::new(), media: kept },
    ]
}

fn postings() -> Vec<Posting> {
    vec![
        Posting::None,
        Posting::Pending { part: 1 },
        Posting::Sending { part: 1, nonce: "n".into(), at: at(4) },
        Posting::Confirmed,
        Posting::Failed { why: "gone".into() },
        Posting::Uncertain,
        Posting::Suppressed { why: "policy".into() },
        Posting::Confirmed,
        Posting::Confirmed,
    ]
}

fn messages() -> Vec<RoomMessage> {
    use MessageKind::{Notice, Person, Reaction, Reply, Update};
    let kinds = [Person, Reply, Update, Reaction, Notice].into_iter().zip(1..);
    let messages = kinds.map(|(kind, n)| RoomMessage {
        kind,
        reply_to: (n > 1).then(|| DeliveryId::parse("m-1").unwrap()),
        ..said(&format!("w{n}"), &pending(n, &room("lab")), at(n))
    });
    messages.collect()
}

fn entries() -> Vec<Entry> {
    let text = |text: &str| text.to_owned();
    let steers = [Mark::Queued, Mark::Taken, Mark::Read, Mark::Unread];
    let steers = steers.map(|mark| Entry::Steer { handoff: handoff(3), mark });
    let tools = [ToolPhase::Began, ToolPhase::Ended];
    let tools = tools.map(|phase| Entry::Tool { id: text("c1"), name: text("react"), phase, detail: text("{}") });
    let words =
        [Entry::Given { delivery: text("m-1"), text: text("hi") }, Entry::Text(text("yo")), Entry::Note(text("n"))];
    words.into_iter().chain(tools).chain(steers).collect()
}

/// A store with everything of the above in it.
fn filled() -> TempDir {
    let dir =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700)).tempdir().unwrap();
    let store = Store::open(dir.path(), EPOCH).unwrap();
    let records = records();
    let receipts: Vec<Receipt> = records.iter().map(HandoffRecord::receipt).collect();
    let permit =
        Change::PermitTaken { permit: PermitId(1), room: room("lab"), handoff: handoff(2), run: RunId(uuid(2)) };
    let changes = records.into_iter().map(|record| Change::Record(Arc::new(record)));
    let changes = changes.chain(receipts.into_iter().map(Change::Receipt)).chain([permit]);
    let txn = Txn::changes(changes.chain(messages().into_iter().map(Change::Message)));
    let bookmark = Write::Bookmark { name: "discord/seen/1".into(), value: "2".into() };
    store.commit_now(txn.and(Write::Token(token())).and(Write::Token(device())).and(bookmark)).unwrap();
    let lines = entries().into_iter().map(|entry| (at(5), entry)).collect();
    store.commit_now(Txn::transcript(handoff(1), at(5), lines)).unwrap();
    for changes in mail_golden::changes() {
        store.commit_now(mail(changes)).unwrap();
    }
    assert_ne!(grant().tools.len(), 0);
    store.close();
    dir
}

fn path(table: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{table}.v{VERSION}.json"))
}

/// The rows of the golden file of a table.
fn golden(table: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(table)).unwrap_or_else(|why| panic!("{table}: {why}"));
    serde_json::from_str(&text).unwrap()
}

/// Every row of that kind is what the golden file shows, and reads as before once it is replaced by it.
fn check<K: redb::Key + 'static>(
    dir: &Path,
    name: &str,
    table: TableDefinition<'static, K, &'static [u8]>,
    which: raw::Which<K>,
) -> BTreeMap<String, usize> {
    let stored = raw::rows(dir, table, which).into_iter().map(|row| {
        assert_eq!(row[0], VERSION, "{name}: a new version needs a golden file of its own");
        serde_json::from_slice::<Value>(&row[1..]).unwrap()
    });
    let stored: Vec<Value> = stored.collect();
    if std::env::var_os("CLANKIE_BLESS").is_some() && !path(name).exists() {
        fs::write(path(name), serde_json::to_string_pretty(&stored).unwrap() + "\n").unwrap();
    }
    let golden = golden(name);
    assert_eq!(stored, golden, "{name}: the stored form has changed");
    let bytes: Vec<Vec<u8>> = golden.iter().map(|row| [&[VERSION][..], row.to_string().as_bytes()].concat()).collect();
    raw::replace(dir, table, which, &bytes);
    [(name.to_owned(), golden.len())].into()
}

#[test]
fn every_row_of_version_1_is_written_and_read_as_the_golden_files_show() {
    let dir = filled();
    let before = dump(&Store::open(dir.path(), EPOCH).unwrap());
    let mut rows = check(dir.path(), "handoffs", raw::HANDOFFS, |_| true);
    rows.extend(check(dir.path(), "receipts", raw::ROOMS, |(_, kind, ..)| kind == 3));
    rows.extend(check(dir.path(), "permits", raw::ONGOING, |(kind, ..)| kind == 2));
    rows.extend(check(dir.path(), "messages", raw::ROOMS, |(_, kind, ..)| kind == 5));
    rows.extend(check(dir.path(), "transcripts", raw::TRANSCRIPTS, |_| true));
    rows.extend(check(dir.path(), "transcript_heads", raw::TRANSCRIPT_HEADS, |_| true));
    rows.extend(check(dir.path(), "events", raw::EVENTS, |seq| seq < raw::NUMBERS));
    rows.extend(check(dir.path(), "tokens", raw::TOKENS, |_| true));
    rows.extend(check(dir.path(), "rooms", raw::ROOMS, |(_, kind, ..)| kind == 0));
    rows.extend(check(dir.path(), "bookmarks", raw::BOOKMARKS, |_| true));
    rows.extend(check(dir.path(), "mailboxes", raw::BOXES, |(_, kind, _)| kind == 0));
    rows.extend(check(dir.path(), "asks", raw::MAIL, |(_, part)| part == raw::ASK));
    rows.extend(check(dir.path(), "answers", raw::MAIL, |(_, part)| part == raw::ANSWER));
    rows.extend(check(dir.path(), "claims", raw::MAIL, |(_, part)| part == raw::CLAIM));
    rows.extend(check(dir.path(), "updates", raw::MAIL, |(_, part)| part == raw::UPDATE));
    rows.extend(check(dir.path(), "display", raw::MAIL, |(_, part)| part == raw::LINE));
    let store = Store::open(dir.path(), EPOCH).unwrap();
    assert_eq!(dump(&store), before);
    let now = store.snapshot().unwrap();
    for record in records() {
        assert_eq!(now.handoff(record.id).unwrap().as_ref(), Some(&record));
        assert_eq!(now.receipt(&record.room, &record.delivery).unwrap(), Some(record.receipt()));
    }
    let read: Vec<_> = now.transcript(handoff(1), 0, 99).unwrap().into_iter().map(|line| line.entry).collect();
    assert_eq!(read, entries());
    let read: Vec<_> = now.messages(&room("lab"), 0, 99).unwrap().into_iter().map(|(_, message)| message).collect();
    assert_eq!(read, messages());
    assert_eq!(now.tokens().unwrap(), [token(), device()]);
    assert_eq!(now.bookmark("discord/seen/1").unwrap().as_deref(), Some("2"));
    println!("{rows:?}");
}
