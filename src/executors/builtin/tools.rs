//! The tools that a model calls. What does not exist or makes no sense is refused to the model's
//! face, and it may try again within its budget.

use std::sync::Arc;

use clankie_actors::ports::{ToolReply, ToolSpec};
use clankie_domain::result::cut;
use clankie_domain::session::{SessionEvent, ToolPhase};
use genai::chat::{ChatMessage, Tool, ToolCall, ToolResponse};
use serde_json::{Map, Value};

use super::budget::Exhausted;
use super::session::Session;
use crate::executors::inbox::Stop;
use crate::executors::{detail, heard};

/// Longest name and longest call id of a model's own making that is repeated, in bytes.
const NAME_MAX: usize = 128;

/// A tool as the model sees it.
pub(super) fn offered(spec: ToolSpec) -> Tool {
    Tool::new(spec.name).with_description(spec.description).with_schema(spec.parameters)
}

impl Session {
    /// Uses each tool in order and puts what it gave into the history.
    pub(super) async fn use_tools(&mut self, calls: Vec<ToolCall>) -> Result<Result<(), Exhausted>, Stop> {
        for call in calls {
            let number = match self.spent.tool_call(&self.shared.settings.budgets) {
                Ok(number) => number,
                Err(exhausted) => return Ok(Err(exhausted)),
            };
            let output = self.use_tool(number, &call).await?;
            self.spent.tool_gave(output.len());
            self.history.push(ChatMessage::from(ToolResponse::from_tool_call(&call, output)));
        }
        Ok(Ok(()))
    }

    /// The id is unique in the run: some models number the calls of each reply from nought.
    async fn use_tool(&mut self, number: u32, call: &ToolCall) -> Result<String, Stop> {
        let id = format!("{number}-{}", cut(&call.call_id, NAME_MAX, "…"));
        let name = cut(&call.fn_name, NAME_MAX, "…");
        let event = |phase, detail| SessionEvent::Tool { id: id.clone(), name: name.clone(), phase, detail };
        self.inbox.say(event(ToolPhase::Began, detail(&written(&call.fn_arguments)))).await?;
        let tools = Arc::clone(&self.spec.tools);
        let reply = match self.admit(call) {
            Ok(arguments) => self.inbox.meanwhile(tools.call(&id, &call.fn_name, arguments)).await?,
            Err(refusal) => refusal,
        };
        let output = heard(reply);
        self.inbox.say(event(ToolPhase::Ended, output.clone())).await?;
        Ok(output)
    }

    fn admit(&self, call: &ToolCall) -> Result<Value, ToolReply> {
        if !self.names.contains(&call.fn_name) {
            return Err(refused("tool_unavailable", "There is no such tool here."));
        }
        match &call.fn_arguments {
            Value::Object(_) => Ok(call.fn_arguments.clone()),
            Value::Null => Ok(Value::Object(Map::new())),
            // Some models write nothing at all for a tool without arguments.
            Value::String(text) if text.trim().is_empty() => Ok(Value::Object(Map::new())),
            Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(refused("malformed_arguments", "The arguments must be one JSON object."))
            }
        }
    }
}

fn refused(code: &str, sentence: &str) -> ToolReply {
    ToolReply::Refused { code: code.to_owned(), sentence: sentence.to_owned() }
}

/// Arguments as the model wrote them.
fn written(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => arguments.to_string(),
    }
}
