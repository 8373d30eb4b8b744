//! What names nothing is refused by its field before anything is looked at.

use super::*;

const ID: &str = "00000000-0000-7000-8000-000000000001";
const ROOM: &str = "room-0123456789abcdef01234567";

fn field<T: std::fmt::Debug>(parsed: Result<T, Problem>) -> String {
    parsed.unwrap_err().body().field.clone().unwrap_or_default()
}

fn cancel() -> InputCancel {
    InputCancel { conversation_id: ROOM.into(), request_id: ID.into(), incarnation_id: ID.into(), expected_revision: 3 }
}

fn answering(answer: AnswerBody) -> InputAnswer {
    let InputCancel { conversation_id, request_id, incarnation_id, expected_revision } = cancel();
    InputAnswer { conversation_id, request_id, incarnation_id, expected_revision, answer }
}

#[test]
fn an_aim_is_what_the_client_had_read() {
    let (conversation, aim) = aim(&cancel()).unwrap();
    assert_eq!((conversation.as_str(), aim.request.to_string(), aim.revision), (ROOM, ID.to_owned(), 3));
    assert_eq!(aim.incarnation.to_string(), ID);
}

#[test]
fn each_malformed_identity_is_refused_by_its_field() {
    let braces = format!("{{{ID}}}");
    let wrong =
        ["", "1", "../../etc/passwd", "room-", "ROOM-0123456789abcdef01234567", "room-0123456789abcdef0123456/"];
    for text in wrong {
        assert_eq!(field(aim(&InputCancel { conversation_id: text.into(), ..cancel() })), "conversation_id", "{text}");
    }
    for text in ["", "1", ROOM, &ID.replace('-', ""), &braces, "urn:uuid:00000000-0000-7000-8000-000000000001"] {
        assert_eq!(field(aim(&InputCancel { request_id: text.into(), ..cancel() })), "request_id", "{text}");
        assert_eq!(field(aim(&InputCancel { incarnation_id: text.into(), ..cancel() })), "incarnation_id", "{text}");
        assert_eq!(field(update_id(&OwnerUpdateId { id: text.into() })), "id", "{text}");
        let choice = AnswerBody::Choice { option_id: text.into() };
        assert_eq!(field(answer(answering(choice))), "answer.option_id", "{text}");
    }
}

#[test]
fn words_of_an_answer_are_left_to_the_mailbox() {
    for text in ["", " ", "yes", &"y".repeat(64_001)] {
        let (_, _, read) = answer(answering(AnswerBody::Text { text: text.into() })).unwrap();
        assert_eq!(read, Answer::Text { text: text.into() });
    }
}

#[test]
fn a_place_in_a_list_reads_back_and_nothing_else_is_one() {
    let conversation = ConversationId::parse(ROOM).unwrap();
    for there in [
        ListPlace { at: 1_790_000_000_123, conversation: conversation.clone(), seq: 9 },
        ListPlace { at: i64::MIN, conversation: ConversationId::parse(ID).unwrap(), seq: u64::MAX },
    ] {
        assert_eq!(place(&token(&there)), Ok(there));
    }
    let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let wrong = [
        String::new(),
        "0".into(),
        ID.into(),
        encoded("1/2"),
        encoded("1/2/lab"),
        encoded(&format!("1/-2/{ROOM}")),
        encoded(&format!("01/2/{ROOM}")),
        encoded(&format!("1/2/{ROOM}/3")),
        format!("{}=", encoded(&format!("1/2/{ROOM}"))),
    ];
    for text in wrong {
        assert_eq!(field(place(&text)), "after", "{text:?}");
    }
}

#[test]
fn filters_are_closed_sets() {
    let list = |change: fn(&mut InputList)| {
        let mut query = InputList::default();
        change(&mut query);
        asks(&query).map(|(query, nothing)| (query.limit, query.status, nothing))
    };
    assert_eq!(list(|_| ()), Ok((200, None, None)));
    assert_eq!(list(|query| query.status = Some("pending".into())), Ok((200, Some(AskStatus::Pending), None)));
    assert_eq!(list(|query| query.work_id = Some("w-1".into())), Ok((200, None, Some(Nothing))));
    assert_eq!(field(list(|query| query.status = Some("Pending".into()))), "status");
    assert_eq!(field(list(|query| query.run_id = Some("7".into()))), "run_id");
    assert_eq!(field(list(|query| query.work_id = Some("\u{7}".into()))), "work_id");
    assert_eq!(field(list(|query| query.conversation_id = Some("lab".into()))), "conversation_id");
    assert_eq!(field(list(|query| query.after = Some("2".into()))), "after");
    let show = |state: Option<&str>| {
        updates(&OwnerUpdateList { conversation_id: None, state: state.map(str::to_owned) }).map(|query| query.show)
    };
    assert_eq!(show(None), Ok(UpdateFilter::Open));
    assert_eq!(show(Some("all")), Ok(UpdateFilter::All));
    assert_eq!(field(show(Some("open"))), "state");
}
