//! What dispatch takes and answers, as a schema: one shape for each operation.
//!
//! An operation's own fields stand beside `op`, so its schema is that of its fields with two more.

use utoipa::openapi::schema::{AnyOfBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::{
    AccountOpen, DispatchRequest, HandoffGet, HandoffList, NoArguments, TokenCreate, TokenRevoke, TokenRotate,
};
use super::{Dispatched, Refusal, Reloaded, Rooms};
use crate::owner::wire::{
    Cancelled, ConversationFound, ConversationGet, ConversationLines, ConversationTail, Conversations, DeviceApprove,
    DeviceBody, DevicePairBegin, DeviceRevoke, Devices, HandoffFound, Handoffs, InputAnswer, InputCancel, InputGet,
    InputList, InputResult, MarkSeen, OwnerUpdateFound, OwnerUpdateId, OwnerUpdateList, OwnerUpdates, PairingOffer,
    Questions, SCHEMA_VERSION, TokenBody, TokenMade, Tokens,
};

type Named = Vec<(String, RefOr<Schema>)>;

/// The schema of one call, and the schemas that it names.
struct Call {
    schema: Object,
    names: Named,
}

fn call<T: ToSchema>(op: &str) -> Call {
    let mut schema = match T::schema() {
        RefOr::T(Schema::Object(fields)) => fields,
        RefOr::T(_) | RefOr::Ref(_) => Object::new(),
    };
    let only =
        |value: serde_json::Value, kind| ObjectBuilder::new().schema_type(kind).enum_values(Some([value])).build();
    let fixed = [("schema_version", only(SCHEMA_VERSION.into(), Type::Integer)), ("op", only(op.into(), Type::String))];
    for (name, value) in fixed {
        schema.properties.insert(name.to_owned(), Schema::Object(value).into());
        schema.required.push(name.to_owned());
    }
    schema.title = Some(op.to_owned());
    let mut names = Vec::new();
    T::schemas(&mut names);
    Call { schema, names }
}

fn calls() -> Vec<Call> {
    vec![
        call::<TokenCreate>("token_create"),
        call::<NoArguments>("token_list"),
        call::<TokenRevoke>("token_revoke"),
        call::<TokenRotate>("token_rotate"),
        call::<AccountOpen>("account_open"),
        call::<NoArguments>("device_list"),
        call::<DevicePairBegin>("device_pair_begin"),
        call::<DeviceApprove>("device_approve"),
        call::<DeviceRevoke>("device_revoke"),
        call::<HandoffList>("handoff_list"),
        call::<HandoffGet>("handoff_get"),
        call::<HandoffGet>("handoff_cancel"),
        call::<InputList>("input_list"),
        call::<InputGet>("input_get"),
        call::<InputAnswer>("input_answer"),
        call::<InputCancel>("input_cancel"),
        call::<MarkSeen>("mark_seen"),
        call::<OwnerUpdateList>("owner_update_list"),
        call::<OwnerUpdateId>("owner_update_read"),
        call::<OwnerUpdateId>("owner_update_dismiss"),
        call::<NoArguments>("conversation_list"),
        call::<ConversationGet>("conversation_get"),
        call::<ConversationTail>("conversation_tail"),
        call::<NoArguments>("rooms_list"),
        call::<NoArguments>("config_reload"),
    ]
}

impl PartialSchema for DispatchRequest {
    fn schema() -> RefOr<Schema> {
        let each = calls().into_iter().fold(OneOfBuilder::new(), |each, call| each.item(Schema::Object(call.schema)));
        Schema::OneOf(each.build()).into()
    }
}

impl ToSchema for DispatchRequest {
    fn schemas(schemas: &mut Named) {
        schemas.extend(calls().into_iter().flat_map(|call| call.names));
    }
}

/// Whatever an operation answers: a value of the contract, refusals included.
#[derive(Debug)]
pub struct DispatchAnswer;

fn answer<T: ToSchema>(schemas: &mut Named) -> RefOr<Schema> {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
    Ref::from_schema_name(T::name()).into()
}

/// `T`, or a refusal. Each `T` gives it a name of its own.
fn ready<T: ToSchema>(schemas: &mut Named) -> RefOr<Schema> {
    answer::<Refusal>(schemas);
    answer::<T>(schemas);
    let name = format!("Dispatched{}", T::name());
    schemas.push((name.clone(), Dispatched::<T>::schema()));
    Ref::from_schema_name(name).into()
}

fn answers(schemas: &mut Named) -> Vec<RefOr<Schema>> {
    vec![
        ready::<TokenMade>(schemas),
        ready::<Tokens>(schemas),
        ready::<TokenBody>(schemas),
        ready::<Devices>(schemas),
        ready::<PairingOffer>(schemas),
        ready::<DeviceBody>(schemas),
        ready::<Handoffs>(schemas),
        ready::<HandoffFound>(schemas),
        ready::<Cancelled>(schemas),
        ready::<Questions>(schemas),
        answer::<InputResult>(schemas),
        ready::<OwnerUpdates>(schemas),
        ready::<OwnerUpdateFound>(schemas),
        ready::<Conversations>(schemas),
        ready::<ConversationFound>(schemas),
        ready::<ConversationLines>(schemas),
        ready::<Rooms>(schemas),
        ready::<Reloaded>(schemas),
    ]
}

impl PartialSchema for DispatchAnswer {
    fn schema() -> RefOr<Schema> {
        let any = answers(&mut Vec::new()).into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item);
        Schema::AnyOf(any.build()).into()
    }
}

impl ToSchema for DispatchAnswer {
    fn schemas(schemas: &mut Named) {
        answers(schemas);
    }
}
