//! Every shape that owner surfaces and their clients exchange. Field names and words are a contract.
//!
//! A client names this room and nothing further in: no type here holds one of the domain's.
//! Moments are RFC 3339 in UTC; ids are text.

mod convert;
mod dispatch;
mod handoff;
mod status;
mod token;
mod transcript;

pub(crate) use convert::plan_name;
pub use dispatch::{
    AccountOpen, DispatchRequest, Dispatched, HandoffGet, HandoffList, NoArguments, Operation, Refusal, Reloaded,
    RoomBody, Rooms, TokenCreate, TokenRevoke,
};
pub use handoff::{
    Cancelled, ClassBody, CountsBody, GrantBody, HandoffBody, HandoffFound, Handoffs, LimitsBody, OwedBody,
    PostingBody, RoomDeliveryBody, TransportBody, UsageBody,
};
pub use status::{DiscordBody, Status, StoreBody};
pub use token::{TokenBody, TokenMade, Tokens};
pub use transcript::{EntryBody, Transcript, TranscriptEntry};

pub use crate::http::wire::{
    ActorBody, ActorRef, AttachmentBody, BusyBody, ByBody, CancelBody, EditBody, MediaBody, ProblemBody, QuoteBody,
    ResultBody, RoomMessageBody, RoomMessages, SCHEMA_VERSION, SayBody, TurnAnswer, TurnBody,
};
