//! Room tools of a test: a catalog, what each tool gives back, and what was called.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use clankie_actors::ports::{RoomTools, ToolReply, ToolSpec};
use serde_json::{Value, json};

/// A bank of tools.
#[derive(Debug, Default)]
pub(super) struct Bank {
    tools: Vec<(String, Behaviour)>,
    calls: Mutex<Vec<(String, String, Value)>>,
    quotes: String,
}

/// What a tool does.
#[derive(Debug, Clone)]
pub(super) enum Behaviour {
    /// It gives this back.
    Gives(String),
    /// It refuses with this code.
    Refuses(&'static str),
    /// It never returns.
    Hangs,
}

impl Bank {
    pub(super) fn empty() -> Arc<Self> {
        Arc::default()
    }

    pub(super) fn of(tools: &[(&str, Behaviour)]) -> Arc<Self> {
        let tools = tools.iter().map(|(name, behaviour)| ((*name).to_owned(), behaviour.clone())).collect();
        Arc::new(Self { tools, ..Self::default() })
    }

    /// A room without tools in which this was said.
    pub(super) fn quoting(quotes: &str) -> Arc<Self> {
        Arc::new(Self { quotes: quotes.to_owned(), ..Self::default() })
    }

    /// Id, name and arguments of every call, in order.
    pub(super) fn calls(&self) -> Vec<(String, String, Value)> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait]
impl RoomTools for Bank {
    fn catalog(&self) -> Vec<ToolSpec> {
        let spec = |name: &String| ToolSpec {
            name: name.clone(),
            description: format!("Does {name}."),
            parameters: json!({ "type": "object", "properties": {} }),
        };
        self.tools.iter().map(|(name, _)| spec(name)).collect()
    }

    fn quotes(&self) -> String {
        self.quotes.clone()
    }

    async fn call(&self, call_id: &str, name: &str, arguments: Value) -> ToolReply {
        self.calls.lock().unwrap().push((call_id.to_owned(), name.to_owned(), arguments));
        let refused = |code: &str| ToolReply::Refused { code: code.to_owned(), sentence: "No.".to_owned() };
        match self.tools.iter().find(|(known, _)| known == name) {
            Some((_, Behaviour::Gives(output))) => ToolReply::Done(output.clone()),
            Some((_, Behaviour::Refuses(code))) => refused(code),
            Some((_, Behaviour::Hangs)) => std::future::pending().await,
            None => refused("tool_unavailable"),
        }
    }
}
