//! Operations of the mailbox that are none: each is refused by its field before anything is looked at.

use super::{Row, World};
use crate::corpus::written_out;
use crate::service::Ask;

/// The operation and the field that the answer names. Short names stand for long ones: `$C` for a
/// conversation, `$R` for a UUID, `$AIM` for everything of an answer but the answer.
const TABLE: &[(&str, &str)] = &[
    // Lists.
    (r#""op":"input_list","status":"open""#, "status"),
    (r#""op":"input_list","status":"PENDING""#, "status"),
    (r#""op":"input_list","status":7"#, "status"),
    (r#""op":"input_list","status":["pending"]"#, "status"),
    (r#""op":"input_list","conversation_id":"lab""#, "conversation_id"),
    (r#""op":"input_list","conversation_id":"""#, "conversation_id"),
    (r#""op":"input_list","conversation_id":"room-../../etc/passwd/xxx""#, "conversation_id"),
    (r#""op":"input_list","conversation_id":"ROOM-0123456789abcdef01234567""#, "conversation_id"),
    (r#""op":"input_list","run_id":"1""#, "run_id"),
    (r#""op":"input_list","run_id":1"#, "run_id"),
    (r#""op":"input_list","work_id":"""#, "work_id"),
    (r#""op":"input_list","work_id":"a\u0007b""#, "work_id"),
    (r#""op":"input_list","work_id":"<129>""#, "work_id"),
    (r#""op":"input_list","after":"200""#, "after"),
    (r#""op":"input_list","after":"MS8yL2xhYg""#, "after"),
    (r#""op":"input_list","after":"../after""#, "after"),
    (r#""op":"input_list","after":200"#, "after"),
    (r#""op":"input_list","limit":5"#, "limit"),
    (r#""op":"input_list","purpose":"approval""#, "purpose"),
    (r#""op":"Input_List""#, "op"),
    (r#""op":"input_list ""#, "op"),
    (r#""op":"owner_update_list","state":"open""#, "state"),
    (r#""op":"owner_update_list","state":null,"all":true"#, "all"),
    (r#""op":"owner_update_list","conversation_id":"local:lab""#, "conversation_id"),
    (r#""op":"owner_update_list","after":"MS8y""#, "after"),
    // One ask.
    (r#""op":"input_get""#, ""),
    (r#""op":"input_get","conversation_id":"$C""#, ""),
    (r#""op":"input_get","request_id":"$R""#, ""),
    (r#""op":"input_get","conversation_id":"$C","request_id":"1""#, "request_id"),
    (r#""op":"input_get","conversation_id":"$C","request_id":"../$R""#, "request_id"),
    (r#""op":"input_get","conversation_id":"$C","request_id":"{$R}""#, "request_id"),
    (r#""op":"input_get","conversation_id":"$C","request_id":"urn:uuid:$R""#, "request_id"),
    (r#""op":"input_get","conversation_id":"$C","request_id":7"#, "request_id"),
    (r#""op":"input_get","conversation_id":["$C"],"request_id":"$R""#, "conversation_id"),
    (r#""op":"input_get","conversation_id":"$C","request_id":"$R","incarnation_id":"$R""#, "incarnation_id"),
    (r#""op":"mark_seen""#, ""),
    (r#""op":"mark_seen","request_id":"seen""#, "request_id"),
    (r#""op":"mark_seen","request_id":null"#, "request_id"),
    (r#""op":"mark_seen","request_id":"$R","conversation_id":"$C""#, "conversation_id"),
    // An answer.
    (r#""op":"input_answer""#, ""),
    (r#""op":"input_answer",$AIM"#, ""),
    (r#""op":"input_answer",$AIM,"answer":null"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":"yes""#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":true"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":[]"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":["text","yes"]"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"text":"yes"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"approve"}"#, "answer.kind"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"Text","text":"yes"}"#, "answer.kind"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":7,"text":"yes"}"#, "answer.kind"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":7}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":["yes"]}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"yes","by":"operator"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"yes","option_id":"$R"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","option_id":"$R"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"choice"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"choice","option_id":"Approve"}"#, "answer.option_id"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"choice","option_id":0}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"choice","option_id":["$R"]}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"choice","option_id":"$R","label":"Approve"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"worker"}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"worker","answers":[]}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"worker","answers":{"q":"yes"}}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"worker","answers":{"q":[1]}}"#, "answer"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"worker","answers":{"q":["a"],"q":["b"]}}"#, "answer.answers.q"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"yes","text":"no"}"#, "answer.text"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"a\u0000b"}"#, "answer.text"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"\ud800"}"#, "answer.text"),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"\udc00\ud800"}"#, "answer.text"),
    (r#""op":"input_answer",$AIM,"answer":<lists 40>"#, "answer*"),
    (
        r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"yes"},"answer":{"kind":"text","text":"no"}"#,
        "answer",
    ),
    (r#""op":"input_answer",$AIM,"answer":{"kind":"text","text":"yes"},"force":true"#, "force"),
    // What was read before it.
    (r#""op":"input_cancel""#, ""),
    (r#""op":"input_cancel",$AIM,"answer":{"kind":"text","text":"no"}"#, "answer"),
    (r#""op":"input_cancel",$AIM,"reason":"spam""#, "reason"),
    (r#""op":"input_cancel","conversation_id":"$C","request_id":"$R","incarnation_id":"$R""#, ""),
    (r#""op":"input_cancel","conversation_id":"$C","request_id":"$R","expected_revision":1"#, ""),
    (r#""op":"input_cancel",$IDS,"expected_revision":-1"#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":"1""#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":1.5"#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":1.0"#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":18446744073709551616"#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":1e400"#, "expected_revision"),
    (r#""op":"input_cancel",$IDS,"expected_revision":null"#, "expected_revision"),
    (
        r#""op":"input_cancel","conversation_id":"$C","request_id":"$R","incarnation_id":"now","expected_revision":1"#,
        "incarnation_id",
    ),
    (
        r#""op":"input_cancel","conversation_id":"/etc","request_id":"$R","incarnation_id":"$R","expected_revision":1"#,
        "conversation_id",
    ),
    // Updates and conversations.
    (r#""op":"owner_update_read""#, ""),
    (r#""op":"owner_update_read","id":"all""#, "id"),
    (r#""op":"owner_update_dismiss","id":["$R"]"#, "id"),
    (r#""op":"owner_update_dismiss","ids":["$R"]"#, "ids"),
    (r#""op":"conversation_list","room":"lab""#, "room"),
    (r#""op":"conversation_get","conversation_id":"local:lab""#, "conversation_id"),
    (r#""op":"conversation_tail","conversation_id":"$C","wait_ms":20001"#, "wait_ms"),
    (r#""op":"conversation_tail","conversation_id":"$C","wait_ms":-1"#, "wait_ms"),
    (r#""op":"conversation_tail","conversation_id":"$C","wait_ms":"20""#, "wait_ms"),
    (r#""op":"conversation_tail","conversation_id":"$C","after":"7""#, "after"),
    (r#""op":"conversation_tail","conversation_id":"$C","after":7"#, "after"),
    (r#""op":"conversation_tail","conversation_id":"..""#, "conversation_id"),
];

/// A conversation that is one by its grammar.
const CONVERSATION: &str = "room-0123456789abcdef01234567";
const UUID: &str = "00000000-0000-7000-8000-000000000001";
/// A body that no mailbox operation is: one byte more than they may have.
const TOO_LARGE: usize = 288 * 1_024 + 1;

fn body(operation: &str) -> String {
    let ids = r#""conversation_id":"$C","request_id":"$R","incarnation_id":"$R""#;
    let operation = operation.replace("$AIM", &format!(r#"{ids},"expected_revision":1"#)).replace("$IDS", ids);
    let operation = operation.replace("$C", CONVERSATION).replace("$R", UUID);
    format!(r#"{{"schema_version":1,{}}}"#, written_out(&operation))
}

pub(in crate::corpus) fn rows(world: &World) -> Vec<Row> {
    let owner = world.service.operator();
    let ask = |text: &str| Ask::post("/operator/v1/dispatch").token(owner).text(text);
    let row = |(operation, field): &(&str, &'static str)| Row {
        what: (*operation).to_owned(),
        ask: ask(&body(operation)),
        status: 400,
        problem: "bad-request",
        field,
    };
    let large = body(&format!(r#""op":"input_answer",$AIM,"answer":{{"kind":"text","text":"<{TOO_LARGE}>"}}"#));
    let mut rows: Vec<Row> = TABLE.iter().map(row).collect();
    rows.push(Row { what: "too large".into(), ask: ask(&large), status: 413, problem: "too-large", field: "" });
    rows
}
