//! A machine tool that does nothing but note what was durable when it was called.

use std::sync::Mutex;

use async_trait::async_trait;
use clankie_actors::domain::autonomy::Category;
use clankie_actors::domain::ids::RequestId;
use clankie_actors::ports::{MachineTool, ToolReply, ToolSpec};
use clankie_actors::store::Store;
use serde_json::{Value, json};

/// Its name in a grant.
pub(crate) const NAME: &str = "recorder";

#[derive(Debug)]
pub(crate) struct Recorder {
    store: Store,
    watched: Mutex<Option<RequestId>>,
    /// For each call, whether the watched approval was used up by then.
    calls: Mutex<Vec<bool>>,
}

impl Recorder {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, watched: Mutex::default(), calls: Mutex::default() }
    }

    pub(crate) fn watch(&self, request: RequestId) {
        *self.watched.lock().unwrap() = Some(request);
    }

    pub(crate) fn calls(&self) -> Vec<bool> {
        self.calls.lock().unwrap().clone()
    }

    /// Whether that approval is used up.
    pub(crate) fn used(&self, request: RequestId) -> bool {
        self.store.snapshot().unwrap().gate_used(request).unwrap()
    }
}

#[async_trait]
impl MachineTool for Recorder {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: NAME.to_owned(), description: "Records.".to_owned(), parameters: json!({"type": "object"}) }
    }

    /// The category that the argument `needs` names.
    fn gate(&self, arguments: &Value) -> Option<Category> {
        arguments["needs"].as_str().and_then(Category::parse)
    }

    async fn call(&self, _arguments: Value) -> ToolReply {
        let watched = *self.watched.lock().unwrap();
        let used = watched.is_some_and(|request| self.used(request));
        self.calls.lock().unwrap().push(used);
        ToolReply::Done("recorded".to_owned())
    }
}
