//! From durable events to what the stream says.

use clankie_domain::ask::{Ask, Purpose};
use clankie_domain::event::Event;

use super::mail::kind;
use crate::http::wire::moment;
use crate::owner::wire::{
    FeedEvent, HandoffEvent, InputClaimEvent, InputPurposeBody, InputRequestedEvent, InputResolvedEvent, MessageEvent,
    OptionBody, OwnerUpdateEvent,
};

impl From<&Event> for FeedEvent {
    fn from(event: &Event) -> Self {
        match event {
            Event::Handoff { id, room, state, revision } => Self::Handoff(HandoffEvent {
                handoff_id: id.to_string(),
                room: room.to_string(),
                state: state.as_str().to_owned(),
                revision: *revision,
            }),
            Event::Message { room } => Self::Message(MessageEvent { room: room.to_string() }),
            Event::InputRequested(ask) => Self::InputRequested(ask.as_ref().into()),
            Event::InputResolved { conversation, request, outcome } => Self::InputResolved(InputResolvedEvent {
                conversation_id: conversation.to_string(),
                request_id: request.to_string(),
                outcome: outcome.as_str().to_owned(),
            }),
            Event::InputClaim { conversation, request, state } => Self::InputClaim(InputClaimEvent {
                conversation_id: conversation.to_string(),
                request_id: request.to_string(),
                state: state.as_str().to_owned(),
            }),
            Event::Update { conversation, id, state } => Self::OwnerUpdate(OwnerUpdateEvent {
                conversation_id: conversation.to_string(),
                id: id.to_string(),
                state: state.as_str().to_owned(),
            }),
        }
    }
}

impl From<&Ask> for InputRequestedEvent {
    fn from(ask: &Ask) -> Self {
        Self {
            conversation_id: ask.conversation.to_string(),
            request_id: ask.request.to_string(),
            incarnation_id: ask.incarnation.to_string(),
            kind: kind(ask.kind).to_owned(),
            prompt: ask.prompt.clone(),
            options: ask.options.iter().map(OptionBody::from).collect(),
            created_at: moment(ask.created_at),
            beyond_preference: (ask.purpose != Purpose::Preference).then(|| InputPurposeBody {
                purpose: ask.purpose.as_str().to_owned(),
                waiting_on: ask.waiting_on.clone(),
                recommendation: ask.recommendation.clone(),
                steps: ask.steps.clone(),
            }),
        }
    }
}
