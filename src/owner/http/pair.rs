//! A device asks to be one of the owner's: the only two routes that change something without a token.
//!
//! A code that is wrong, used, expired or burned gets one and the same answer. Neither a code nor a
//! secret stands in an address, so no log of addresses holds one.

use axum::Json as Answered;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use clankie_actors::Polled;
use clankie_domain::pairing::{DeviceName, POLL_MS, Poll};

use super::Surface;
use super::tokens::fresh;
use crate::http::bearer::PollToken;
use crate::http::json::Json;
use crate::http::peer::Peer;
use crate::http::problem::{Problem, Reason};
use crate::http::wire::moment;
use crate::owner::wire::{PollBody, ProblemBody, Redeem, Redeemed, grant_names};

/// Longest text that is hashed as a code: nobody types more spaces and dashes than that.
const CODE_TEXT_MAX: usize = 64;

/// A device redeems a code that the owner was shown.
#[utoipa::path(
    post,
    path = "/pair/v1/redeem",
    operation_id = "pair_redeem",
    request_body = Redeem,
    responses(
        (status = 200, body = Redeemed, description = "It waits for its approval"),
        (status = 401, body = ProblemBody, content_type = "application/problem+json", description = "The code is wrong, used or expired"),
        (status = 429, body = ProblemBody, content_type = "application/problem+json", description = "Too many wrong codes from this address")
    )
)]
pub(super) async fn redeem(
    State(surface): State<Surface>,
    peer: Peer,
    Json(sent): Json<Redeem>,
) -> Result<Answered<Redeemed>, Problem> {
    let name = DeviceName::parse(&sent.name)?;
    if sent.code.len() > CODE_TEXT_MAX {
        return Err(Problem::field("code", "must be the 8 letters of a pairing code"));
    }
    let secret = fresh()?;
    let clankie = surface.access.clankie();
    let waiting = clankie.redeem_pairing(&sent.code, secret.expose(), (name, peer.to_string())).await?;
    let waiting = waiting.map_err(|_| {
        let why = "the code is wrong, used or expired; ask for a new one on the host";
        surface.access.wrong(peer).because(why)
    })?;
    let poll = PollToken { id: waiting.applicant.id, secret };
    Ok(Answered(Redeemed {
        device_id: waiting.applicant.id.0.simple().to_string(),
        poll_token: poll.expose(),
        interval_s: seconds(POLL_MS),
        expires_at: moment(waiting.expires_at),
    }))
}

/// A device asks whether it was approved; its poll token is the bearer.
#[utoipa::path(
    get,
    path = "/pair/v1/poll",
    operation_id = "pair_poll",
    responses((status = 200, body = PollBody, description = "How it stands")),
    security(("bearer" = []))
)]
pub(super) async fn poll(
    State(surface): State<Surface>,
    peer: Peer,
    headers: HeaderMap,
) -> Result<Answered<PollBody>, Problem> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(Problem::new(Reason::Unauthorized));
    }
    let token = PollToken::of(&headers).ok_or_else(|| surface.access.wrong(peer))?;
    let polled = surface.access.clankie().poll_pairing(token.id, token.secret.expose()).await?;
    Ok(Answered(match polled {
        Polled::Approved(device) => PollBody::Approved {
            device_id: device.id.0.simple().to_string(),
            token: token.approved().expose(),
            account: device.name.to_string(),
            grants: grant_names(&device.grants),
        },
        Polled::Not(Poll::Waiting { interval_ms }) => PollBody::Pending { interval_s: seconds(interval_ms) },
        Polled::Not(Poll::SlowDown { interval_ms }) => PollBody::SlowDown { interval_s: seconds(interval_ms) },
        Polled::Not(Poll::Denied) => PollBody::Denied,
        Polled::Not(Poll::Unknown) => return Err(surface.access.wrong(peer)),
    }))
}

fn seconds(ms: u64) -> u64 {
    ms.div_ceil(1_000)
}
