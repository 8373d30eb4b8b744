//! What came in, and which deliveries it was about.

use serde_json::Value;

const MARK: &str = "[[delivery:";

/// One call as it came.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The whole request.
    pub(crate) body: Value,
    /// Deliveries that were put to the model since it last spoke, in order.
    pub(crate) fresh: Vec<String>,
}

impl Call {
    pub(super) fn new(body: Value) -> Self {
        let fresh = fresh(&body);
        Self { body, fresh }
    }

    /// The words of every message, with its role.
    pub(crate) fn messages(&self) -> Vec<(String, String)> {
        messages(&self.body)
    }

    /// The last line of the last message.
    pub(super) fn last_words(&self) -> String {
        let last = self.messages().pop().map(|(_, text)| text).unwrap_or_default();
        last.lines().last().unwrap_or_default().to_owned()
    }

    /// The names of the tools that were offered.
    pub(crate) fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

fn messages(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().map(|one| (one["role"].as_str().unwrap_or_default().to_owned(), words(&one["content"]))).collect()
}

fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| words(part.get("text").unwrap_or(&part["content"]))).collect(),
        _ => String::new(),
    }
}

/// Marks after the model's last message, outside quoted lines: a quote of another delivery's words
/// is not that delivery.
fn fresh(body: &Value) -> Vec<String> {
    let all = messages(body);
    let start = all.iter().rposition(|(role, _)| role == "assistant").map_or(0, |last| last + 1);
    let said = all[start..].iter().filter(|(role, _)| role == "user");
    let lines = said.flat_map(|(_, text)| text.lines()).filter(|line| !line.starts_with("> "));
    lines.flat_map(marks).collect()
}

fn marks(line: &str) -> Vec<String> {
    line.split(MARK).skip(1).filter_map(|rest| rest.split_once("]]")).map(|(id, _)| id.to_owned()).collect()
}
