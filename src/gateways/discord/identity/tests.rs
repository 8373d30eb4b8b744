//! Who is heard where, and as whom.

use clankie_domain::request::ATTACHMENT_ONLY;

use super::*;

const BOT: u64 = 9;
const GUILD: u64 = 1;
const CHANNEL: u64 = 2;
const ANN: u64 = 7;

fn policy() -> Policy {
    Policy {
        guilds: [GUILD].into(),
        channels: BTreeSet::new(),
        direct: Direct::Owners,
        free_talk: BTreeSet::new(),
        threads: Threads::Apart,
        stop_word: "stop".into(),
        owners: Owners::new([actor(ANN).unwrap()].into()),
    }
}

fn place(channel: u64, parent: Option<u64>) -> Place {
    Place { guild: Some(GUILD), channel, parent }
}

fn said(place: Place, text: &str) -> Said {
    let addressed = if text.contains("<@9>") { Addressed::Yes } else { Addressed::No };
    Said {
        id: 50,
        place,
        author: Author::Person,
        author_id: ANN,
        author_name: "Ann".into(),
        addressed,
        text: text.into(),
        attachments: Vec::new(),
    }
}

fn asked(policy: &Policy, said: &Said) -> Option<Request> {
    match policy.judge(said, BOT).unwrap() {
        Meaning::Asks(request) => Some(*request),
        Meaning::Ignored | Meaning::Stop => None,
    }
}

#[test]
fn i8_actor_room_and_guild_come_from_numbers_and_a_display_name_is_text() {
    let forged = Said { author_name: "discord:user:1".into(), ..said(place(CHANNEL, None), "<@9> hi") };
    let request = asked(&policy(), &forged).unwrap();
    let ids = (request.room.as_str(), request.actor.as_str(), request.guild.as_deref(), request.text.as_str());
    assert_eq!(ids, ("discord:text:1:2", "discord:user:7", Some("1"), "hi"));
    assert_eq!(request.actor_name, "discord:user:1");
}

/// B24: where nobody needs to mention the bot, plain words count; elsewhere a mention or a reply does.
#[test]
fn b24_plain_words_count_only_where_talk_is_free() {
    let plain = said(place(CHANNEL, None), "hello there");
    assert_eq!(asked(&policy(), &plain), None);
    assert!(asked(&policy(), &Said { addressed: Addressed::Yes, ..plain.clone() }).is_some());
    assert!(asked(&Policy { free_talk: [CHANNEL].into(), ..policy() }, &plain).is_some());
}

/// B96: a thread is a room of its own, and has its parent's policy only if configured.
#[test]
fn b96_a_thread_is_its_own_room_under_its_own_policy() {
    let thread = said(place(3, Some(CHANNEL)), "<@9> hi");
    let listed = Policy { channels: [CHANNEL].into(), ..policy() };
    assert_eq!(asked(&listed, &thread), None);
    let inherits = Policy { threads: Threads::Inherit, ..listed };
    assert_eq!(asked(&inherits, &thread).unwrap().room.as_str(), "discord:text:1:3");
}

#[test]
fn nobody_is_heard_outside_the_lists_and_no_machine_anywhere() {
    let elsewhere = Place { guild: Some(5), channel: CHANNEL, parent: None };
    assert_eq!(asked(&policy(), &said(elsewhere, "<@9> hi")), None);
    let empty = Policy { guilds: BTreeSet::new(), ..policy() };
    assert_eq!(asked(&empty, &said(place(CHANNEL, None), "<@9> hi")), None);
    let machine = Said { author: Author::Machine, ..said(place(CHANNEL, None), "<@9> hi") };
    let own = Said { author_id: BOT, ..said(place(CHANNEL, None), "<@9> hi") };
    assert_eq!((asked(&policy(), &machine), asked(&policy(), &own)), (None, None));
}

#[test]
fn direct_messages_follow_their_own_rule() {
    let direct = Place { guild: None, channel: 4, parent: None };
    let stranger = Said { author_id: 8, ..said(direct, "hi") };
    assert_eq!(asked(&policy(), &said(direct, "hi")).unwrap().room.as_str(), "discord:text:dm:4");
    assert_eq!(asked(&policy(), &stranger), None);
    assert!(asked(&Policy { direct: Direct::Everyone, ..policy() }, &stranger).is_some());
    assert_eq!(asked(&Policy { direct: Direct::Nobody, ..policy() }, &said(direct, "hi")), None);
    // Who is no owner any more is not heard any more.
    let policy = policy();
    policy.owners.replace(BTreeSet::new());
    assert_eq!(asked(&policy, &said(direct, "hi")), None);
}

/// Before anything is asked of Discord: a place that no list can mean is not heard, and one that may
/// be a thread of a listed channel is looked at.
#[test]
fn what_may_be_heard_is_known_without_a_call() {
    let at = |guild, channel| At { guild: Some(guild), channel };
    let listed = Policy { channels: [CHANNEL].into(), ..policy() };
    assert!(policy().may_hear(at(GUILD, 3)) && !policy().may_hear(at(5, 3)));
    assert!(listed.may_hear(at(GUILD, CHANNEL)) && !listed.may_hear(at(GUILD, 3)));
    assert!(!listed.asks_for_parents());
    let inherits = Policy { threads: Threads::Inherit, ..listed };
    assert!(inherits.may_hear(at(GUILD, 3)) && !inherits.may_hear(at(5, CHANNEL)));
    assert!(inherits.asks_for_parents());
    let open = Policy { channels: BTreeSet::new(), ..inherits };
    assert!(open.may_hear(at(GUILD, 3)) && !open.asks_for_parents());
    assert!(policy().hears_directly(ANN) && !policy().hears_directly(8));
}

#[test]
fn the_stop_word_alone_is_no_request() {
    for text in ["stop", "<@9> Stop", " STOP "] {
        assert_eq!(policy().judge(&said(place(CHANNEL, None), text), BOT), Ok(Meaning::Stop), "{text}");
    }
    assert!(asked(&policy(), &said(place(CHANNEL, None), "<@9> stop it later")).is_some());
}

/// Attachments: a message with only a file is heard, and no name carries a path.
#[test]
fn a_message_with_only_a_file_is_heard_and_its_name_has_no_path() {
    let file = Attachment {
        id: "1".into(),
        name: clankie_domain::request::file_name("../../etc/passwd"),
        mime_type: "text/plain".into(),
        size: 1,
        url: "https://cdn/1".into(),
    };
    let sent = Said { attachments: vec![file], ..said(place(CHANNEL, None), "<@9>") };
    let request = asked(&policy(), &sent).unwrap();
    assert_eq!((request.text.as_str(), request.attachments[0].name.as_str()), (ATTACHMENT_ONLY, "passwd"));
    assert_eq!(asked(&policy(), &said(place(CHANNEL, None), "<@9>")).unwrap().text, MENTION_ONLY);
}
