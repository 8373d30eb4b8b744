//! Every shape that owner surfaces and their clients exchange. Field names and words are a contract.
//!
//! A client names this room and nothing further in: no type here holds one of the domain's.
//! Moments are RFC 3339 in UTC; ids are text.

mod convert;
mod device;
mod dispatch;
mod event;
mod handoff;
mod mail;
mod status;
mod token;
mod transcript;
mod unseen;

pub(crate) use convert::{grant_names, plan_name};
pub use device::{
    DeviceApprove, DeviceBody, DevicePairBegin, DeviceRevoke, Devices, PairingOffer, PollBody, Redeem, Redeemed,
};
pub use dispatch::{
    AccountOpen, DispatchAnswer, DispatchRequest, Dispatched, HandoffGet, HandoffList, NoArguments, Operation, Refusal,
    Reloaded, RoomBody, Rooms, TokenCreate, TokenRevoke, TokenRotate,
};
pub use event::{
    FeedEvent, HandoffEvent, InputClaimEvent, InputPurposeBody, InputRequestedEvent, InputResolvedEvent, MessageEvent,
    OwnerUpdateEvent, ResetEvent,
};
pub use handoff::{
    Cancelled, ClassBody, CountsBody, GrantBody, HandoffBody, HandoffFound, Handoffs, LimitsBody, OwedBody,
    PostingBody, Reposted, RoomDeliveryBody, TransportBody, UsageBody,
};
pub use mail::{
    AnswerBody, AnswerReceiptBody, ContinuationBody, ConversationBody, ConversationFound, ConversationGet,
    ConversationLines, ConversationTail, Conversations, DisplayBody, GivenBody, InputAnswer, InputCancel, InputGet,
    InputList, InputResult, IssueBody, LinkBody, MailCountsBody, MailMediaBody, MarkSeen, OptionBody, OriginBody,
    OwnerUpdateBody, OwnerUpdateFound, OwnerUpdateId, OwnerUpdateList, OwnerUpdates, QuestionBody, Questions,
    UpdateSourceBody, WorkerBody, WorkerItemBody, WorkerRequestIdBody,
};
pub use status::{DiscordBody, SinkBody, Standing, Status, StoreBody};
pub use token::{TokenBody, TokenMade, Tokens};
pub use transcript::{EntryBody, Transcript, TranscriptEntry};

pub use crate::http::wire::{
    ActorBody, ActorRef, AttachmentBody, BusyBody, ByBody, CancelBody, EditBody, MediaBody, ProblemBody, QuoteBody,
    ResultBody, RoomMessageBody, RoomMessages, SCHEMA_VERSION, SayBody, TurnAnswer, TurnBody,
};
