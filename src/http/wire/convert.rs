//! From values of the domain to the shapes of the wire.

use clankie_domain::admission::BusyFacts;
use clankie_domain::message::{MessageKind, RoomMessage};
use clankie_domain::result::{Approval, By, Media, PrincipalKind, TurnResult};
use clankie_domain::time::Timestamp;

use super::{BusyBody, ByBody, MediaBody, ResultBody, RoomMessageBody};

/// A moment as RFC 3339 in UTC. One that no calendar holds is shown as the nearest that it does.
pub fn moment(at: Timestamp) -> String {
    let nearest = if at.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(at.0).unwrap_or(nearest).to_string()
}

/// Reads an RFC 3339 moment with an offset; `None` when it is none.
pub fn read_moment(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()))
}

impl From<&BusyFacts> for BusyBody {
    fn from(facts: &BusyFacts) -> Self {
        Self {
            limit: facts.limit.as_str().to_owned(),
            position: facts.position,
            running: facts.running,
            waiting: facts.waiting,
            oldest_wait_ms: facts.oldest_wait_ms,
        }
    }
}

impl From<&TurnResult> for ResultBody {
    fn from(result: &TurnResult) -> Self {
        match result {
            TurnResult::Settled { text, media } => {
                Self::Settled { text: text.clone(), media: media.iter().map(MediaBody::from).collect() }
            }
            TurnResult::Silent => Self::Silent,
            TurnResult::Absorbed { reply_delivery, joined } => {
                Self::Absorbed { reply_delivery_id: reply_delivery.to_string(), joined_handoff_id: joined.to_string() }
            }
            TurnResult::WaitingUser { prompt, approval } => {
                Self::WaitingUser { prompt: prompt.clone(), approval_required: *approval == Approval::Required }
            }
            TurnResult::Failed { code } => Self::Failed { code: code.as_str().to_owned() },
            TurnResult::Cancelled { by } => Self::Cancelled { by: by.into() },
        }
    }
}

impl From<&Media> for MediaBody {
    fn from(media: &Media) -> Self {
        let (name, size) = media.file.as_ref().map(|file| (file.name.clone(), file.size)).unzip();
        Self { url: media.url.clone(), mime_type: media.mime_type.clone(), name, size }
    }
}

impl From<&By> for ByBody {
    fn from(by: &By) -> Self {
        let kind = match by.kind {
            PrincipalKind::Operator => "operator",
            PrincipalKind::Device => "device",
            PrincipalKind::Service => "service",
            PrincipalKind::Speaker => "speaker",
        };
        Self { kind: kind.to_owned(), id: by.id.clone() }
    }
}

impl From<(u64, &RoomMessage)> for RoomMessageBody {
    fn from((seq, message): (u64, &RoomMessage)) -> Self {
        let kind = match message.kind {
            MessageKind::Person => "person",
            MessageKind::Reply => "reply",
            MessageKind::Update => "update",
            MessageKind::Reaction => "reaction",
            MessageKind::Notice => "notice",
        };
        Self {
            seq,
            id: message.id.clone(),
            kind: kind.to_owned(),
            author: message.author.as_ref().map(ToString::to_string),
            author_name: message.author_name.clone(),
            text: message.text.clone(),
            reply_to: message.reply_to.as_ref().map(ToString::to_string),
            handoff_id: message.handoff.to_string(),
            at: moment(message.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use clankie_domain::ids::{DeliveryId, HandoffId};
    use clankie_domain::result::{FailCode, KeptFile};
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;

    fn check(result: &TurnResult, wire: Value) {
        let body = ResultBody::from(result);
        assert_eq!(serde_json::to_value(&body).unwrap(), wire);
        assert_eq!(serde_json::from_value::<ResultBody>(wire).unwrap(), body);
    }

    #[test]
    fn every_typed_result_is_written_as_the_contract_says() {
        let file = Some(KeptFile { name: "a.txt".into(), size: 7 });
        let kept = Media { url: "kept:1/0".into(), mime_type: "text/plain".into(), file };
        let media = vec![Media::link("https://a/b".into(), "image/png".into()), kept];
        check(
            &TurnResult::Settled { text: "hi".into(), media },
            json!({"kind":"settled","text":"hi","media":[{"url":"https://a/b","mime_type":"image/png"},
                {"url":"kept:1/0","mime_type":"text/plain","name":"a.txt","size":7}]}),
        );
        check(&TurnResult::Silent, json!({"kind":"silent"}));
        let reply_delivery = DeliveryId::parse("a1").unwrap();
        check(
            &TurnResult::Absorbed { reply_delivery, joined: HandoffId(Uuid::nil()) },
            json!({"kind":"absorbed","reply_delivery_id":"a1",
                "joined_handoff_id":"00000000-0000-0000-0000-000000000000"}),
        );
        check(
            &TurnResult::WaitingUser { prompt: "ok?".into(), approval: Approval::Required },
            json!({"kind":"waiting_user","prompt":"ok?","approval_required":true}),
        );
        check(&TurnResult::failed(FailCode::Interrupted), json!({"kind":"failed","code":"interrupted"}));
        check(
            &TurnResult::Cancelled { by: By::service() },
            json!({"kind":"cancelled","by":{"kind":"service","id":"clankie"}}),
        );
    }

    #[test]
    fn a_moment_reads_back_and_an_impossible_one_still_shows() {
        let at = Timestamp(1_790_000_000_123);
        assert_eq!(read_moment(&moment(at)), Some(at));
        assert!(moment(Timestamp(i64::MAX)).starts_with("9999-"));
        assert_eq!(read_moment("yesterday"), None);
    }
}
