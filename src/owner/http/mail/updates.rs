//! Updates: listed, read, put away. None of it starts a run or resolves an ask.

use clankie_actors::mail::MailReply;
use clankie_domain::mailbox::MailRefusal;

use super::{known, looked, not_an_answer, parse, refused};
use crate::http::problem::Problem;
use crate::owner::auth::Principal;
use crate::owner::wire::{Dispatched, OwnerUpdateBody, OwnerUpdateFound, OwnerUpdateId, OwnerUpdateList, OwnerUpdates};

/// The newest updates over all sources, of one snapshot.
pub(in crate::owner::http) fn list(
    principal: &Principal,
    query: &OwnerUpdateList,
) -> Result<Dispatched<OwnerUpdates>, Problem> {
    let asked = parse::updates(query)?;
    let page = match looked(principal.access().clankie().updates(&asked))? {
        Ok(page) => page,
        Err(why) => return Ok(refused(principal, why)),
    };
    if let (true, Some(conversation)) = (page.updates.is_empty(), &asked.conversation)
        && let Err(why) = known(principal, conversation)?
    {
        return Ok(refused(principal, why));
    }
    Ok(Dispatched::Ready(OwnerUpdates::from(&page)))
}

/// Marks one as read.
pub(in crate::owner::http) async fn read(
    principal: &Principal,
    which: &OwnerUpdateId,
) -> Result<Dispatched<OwnerUpdateFound>, Problem> {
    let id = parse::update_id(which)?;
    let reply = principal.access().clankie().read_update(id, principal.answerer()).await;
    told(principal, looked(reply)?)
}

/// Puts one away.
pub(in crate::owner::http) async fn dismiss(
    principal: &Principal,
    which: &OwnerUpdateId,
) -> Result<Dispatched<OwnerUpdateFound>, Problem> {
    let id = parse::update_id(which)?;
    let reply = principal.access().clankie().dismiss_update(id, principal.answerer()).await;
    told(principal, looked(reply)?)
}

fn told(principal: &Principal, reply: Result<MailReply, MailRefusal>) -> Result<Dispatched<OwnerUpdateFound>, Problem> {
    match reply {
        Ok(MailReply::Update(update)) => {
            Ok(Dispatched::Ready(OwnerUpdateFound { update: OwnerUpdateBody::from(update.as_ref()) }))
        }
        Ok(MailReply::Refused(why, _)) | Err(why) => Ok(refused(principal, why)),
        Ok(MailReply::Resolved(_) | MailReply::RevisionConflict(_)) => Err(not_an_answer()),
    }
}
