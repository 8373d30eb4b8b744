//! `GET /operator/v1/events`: the feed as server-sent events, each with its place as id.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use clankie_actors::feed::FeedPlace;
use clankie_domain::scope::Need;
use futures::Stream;
use futures::stream::unfold;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::owner::auth::Principal;
use crate::owner::feed::{Begin, Reader, Told};
use crate::owner::wire::FeedEvent;

/// How long nothing may be said: proxies cut what is silent for half a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Where a client that comes back goes on.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The query of the stream.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// Only what came after this cursor.
    #[param(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-(0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
}

/// What happens, as server-sent events.
///
/// Each event's id is its cursor, and `Last-Event-ID` resumes after one. A `reset` says that events
/// are missing before it: read everything anew. `data` is the shape that `FeedEvent` has for the name.
#[utoipa::path(
    get,
    path = "/operator/v1/events",
    operation_id = "events",
    params(EventsQuery, ("last-event-id" = Option<String>, Header, description = "The id of the last event that came")),
    responses((status = 200, body = String, content_type = "text/event-stream", description = "The stream")),
    security(("bearer" = []))
)]
pub(super) async fn events(
    principal: Principal,
    headers: HeaderMap,
    Query(query): Query<EventsQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    // Who may read nothing of the feed is not even told how much happens.
    if !principal.may(Need::Mailbox) {
        principal.need(Need::ReadHandoffs)?;
    }
    let reader = Reader::open(principal, begin(&headers, query.after.as_deref())?)?;
    let told = unfold(reader, async |mut reader| reader.next().await.map(|told| (Ok(written(told)), reader)));
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE).text("keep-alive")))
}

/// What a client sends on its own when it comes back wins over the address that it first asked for.
fn begin(headers: &HeaderMap, after: Option<&str>) -> Result<Begin, Problem> {
    if let Some(last) = headers.get(LAST_EVENT_ID) {
        let place = last.to_str().ok().and_then(FeedPlace::parse);
        return Ok(place.map_or(Begin::Unreadable, Begin::After));
    }
    let Some(after) = after else { return Ok(Begin::Now) };
    let rule = "must be a cursor, <store epoch>-<sequence number>";
    FeedPlace::parse(after).map(Begin::After).ok_or_else(|| Problem::field("after", rule))
}

fn written(told: Told) -> Event {
    let event = Event::default().id(told.place.to_string());
    match told.event {
        None => event,
        Some(FeedEvent::Handoff(data)) => said(event, "handoff", &data),
        Some(FeedEvent::Message(data)) => said(event, "message", &data),
        Some(FeedEvent::InputRequested(data)) => said(event, "input_requested", &data),
        Some(FeedEvent::InputResolved(data)) => said(event, "input_resolved", &data),
        Some(FeedEvent::InputClaim(data)) => said(event, "input_claim", &data),
        Some(FeedEvent::OwnerUpdate(data)) => said(event, "owner_update", &data),
        Some(FeedEvent::Reset(data)) => said(event, "reset", &data),
    }
}

fn said<T: Serialize>(event: Event, name: &str, data: &T) -> Event {
    // JSON is one line, whatever text it holds.
    event.event(name).data(serde_json::to_string(data).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use uuid::Uuid;

    use super::*;

    const CURSOR: &str = "00000000-0000-4000-8000-000000000001-12";

    fn place() -> FeedPlace {
        FeedPlace { epoch: Uuid::from_u128(0x4000_8000_0000_0000_0001), seq: 12 }
    }

    fn began(last: Option<&'static str>, after: Option<&str>) -> Result<Begin, Problem> {
        let mut headers = HeaderMap::new();
        if let Some(last) = last {
            headers.insert(LAST_EVENT_ID, HeaderValue::from_static(last));
        }
        begin(&headers, after)
    }

    #[test]
    fn a_client_that_comes_back_goes_on_where_it_was() {
        assert_eq!(place().to_string(), CURSOR);
        assert_eq!(began(None, None), Ok(Begin::Now));
        assert_eq!(began(None, Some(CURSOR)), Ok(Begin::After(place())));
        assert_eq!(began(Some(CURSOR), Some("00000000-0000-4000-8000-000000000001-1")), Ok(Begin::After(place())));
        assert_eq!(began(Some("7"), None), Ok(Begin::Unreadable), "it is told to read everything anew");
    }

    #[test]
    fn a_cursor_that_a_person_wrote_wrong_is_refused() {
        let wrong =
            ["", "12", "-12", "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000001-+1"];
        for after in wrong {
            assert_eq!(began(None, Some(after)).unwrap_err().body().field.as_deref(), Some("after"), "{after}");
        }
    }
}
