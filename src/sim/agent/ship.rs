//! A machine tool whose effect is noted: what a gate closes.

use std::sync::Arc;

use async_trait::async_trait;
use clankie_actors::ports::{MachineTool, ToolReply, ToolSpec};
use clankie_domain::autonomy::Category;
use clankie_domain::ids::RunId;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::sim::history::{Doing, What};
use crate::sim::scene::Scene;

/// The tool. Its arguments name the run and the call, so that its effect is known again.
#[derive(Debug)]
pub(in crate::sim) struct Ship(pub(in crate::sim) Arc<Scene>);

#[async_trait]
impl MachineTool for Ship {
    fn spec(&self) -> ToolSpec {
        let (name, description) = ("ship".to_owned(), "Ships something.".to_owned());
        ToolSpec { name, description, parameters: json!({"type": "object"}) }
    }

    fn gate(&self, arguments: &Value) -> Option<Category> {
        arguments.get("gate").and_then(Value::as_str).and_then(Category::parse)
    }

    async fn call(&self, arguments: Value) -> ToolReply {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        if let Ok(run) = Uuid::parse_str(text("run")) {
            self.0.note(What::Run(RunId(run), Doing::Shipped(text("call").to_owned())));
        }
        ToolReply::Done("shipped".to_owned())
    }
}
