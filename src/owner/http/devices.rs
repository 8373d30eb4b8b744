//! The owner's devices: offering a code, listing, approving, narrowing and revoking.

use std::collections::BTreeSet;

use clankie_actors::Dismissed;
use clankie_domain::ids::TokenId;
use clankie_domain::pairing::{Code, DeviceRefused};
use clankie_domain::principal::{DeviceGrant, TokenKind};
use uuid::Uuid;

use crate::http::problem::{Problem, Reason};
use crate::http::wire::moment;
use crate::owner::auth::Principal;
use crate::owner::wire::{
    DeviceApprove, DeviceBody, DevicePairBegin, DeviceRevoke, Devices, Dispatched, PairingOffer, Refusal, grant_names,
};

/// Where a device sends its code.
const REDEEM_PATH: &str = "/pair/v1/redeem";

/// Offers a code. It leaves the service once, in this answer.
pub(super) async fn begin(principal: &Principal, wanted: DevicePairBegin) -> Result<Dispatched<PairingOffer>, Problem> {
    let grants = grants(&wanted.grants)?;
    let code = Code::drawn(random()?);
    let offered = principal.access().clankie().offer_pairing(&code, grants.clone()).await?;
    Ok(match offered {
        Ok(expires_at) => Dispatched::Ready(PairingOffer {
            code: code.shown(),
            expires_at: moment(expires_at),
            grants: grant_names(&grants),
            url: format!("{}{REDEEM_PATH}", principal.surface.facts.open_at),
        }),
        Err(refused) => Dispatched::Refused(refusal(refused)),
    })
}

/// Those that wait, then those that have a token, newest first.
pub(super) async fn list(principal: &Principal) -> Result<Dispatched<Devices>, Problem> {
    let clankie = principal.access().clankie();
    // What waits is read first: a device that is approved meanwhile is then in both, and listed by its token.
    let waiting = clankie.waiting_devices().await?;
    let now = principal.surface.now();
    let tokens = clankie.tokens()?;
    let devices = tokens.iter().filter(|token| token.kind == TokenKind::Device);
    let waiting = waiting.iter().filter(|waiting| tokens.iter().all(|token| token.id != waiting.applicant.id));
    let waiting = waiting.map(DeviceBody::from);
    Ok(Dispatched::Ready(Devices { devices: waiting.chain(devices.map(|token| DeviceBody::of(token, now))).collect() }))
}

/// Gives a device those grants: its first ones, or others.
pub(super) async fn approve(principal: &Principal, wanted: DeviceApprove) -> Result<Dispatched<DeviceBody>, Problem> {
    let (id, grants) = (device_id(&wanted.device_id)?, grants(&wanted.grants)?);
    let approved = principal.access().clankie().approve_device(id, grants, principal.token()).await?;
    Ok(match approved {
        Ok(token) => Dispatched::Ready(DeviceBody::of(&token, principal.surface.now())),
        Err(refused) => Dispatched::Refused(refusal(refused)),
    })
}

/// Revokes a device at once, or denies one that waits.
pub(super) async fn revoke(principal: &Principal, which: DeviceRevoke) -> Result<Dispatched<DeviceBody>, Problem> {
    let id = device_id(&which.device_id)?;
    Ok(match principal.access().clankie().dismiss_device(id, principal.token()).await? {
        Ok(Dismissed::Revoked(token)) => Dispatched::Ready(DeviceBody::of(&token, principal.surface.now())),
        Ok(Dismissed::Denied(waiting)) => {
            Dispatched::Ready(DeviceBody { state: "denied".to_owned(), ..DeviceBody::from(&*waiting) })
        }
        Err(refused) => Dispatched::Refused(refusal(refused)),
    })
}

fn device_id(text: &str) -> Result<TokenId, Problem> {
    let rule = "must be the id of a device, 32 hexadecimal digits";
    Uuid::try_parse(text).map(TokenId).map_err(|_| Problem::field("device_id", rule))
}

fn grants(names: &[String]) -> Result<BTreeSet<DeviceGrant>, Problem> {
    let rule = "must be of chat, steer, observe, terminal_control and device_admin";
    let one = |name: &String| DeviceGrant::parse(name).ok_or_else(|| Problem::field("grants", rule));
    names.iter().map(one).collect()
}

fn random() -> Result<u64, Problem> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|fault| {
        tracing::error!(%fault, "the system gave no randomness for a pairing code");
        Problem::new(Reason::StoreUnavailable).because("the system gave no randomness; try again")
    })?;
    Ok(u64::from_le_bytes(bytes))
}

fn refusal(refused: DeviceRefused) -> Refusal {
    let reason = match refused {
        DeviceRefused::TooManyOpen => "too_many_pairings",
        DeviceRefused::NoGrants => "no_grants",
        DeviceRefused::Unknown => "unknown_device",
        DeviceRefused::NotOffered => "grants_not_offered",
        DeviceRefused::Widening => "widening_needs_operator",
        DeviceRefused::NotAuthorised => "not_authorised",
        DeviceRefused::TooMany => "too_many_tokens",
    };
    Refusal { reason: reason.to_owned(), detail: refused.to_string() }
}
