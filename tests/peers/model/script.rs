//! What a test tells the model server to answer.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

/// One answer to one call.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A reply, in parts.
    Reply { parts: Vec<Part>, input_tokens: u32, output_tokens: u32 },
    /// A reply whose provider counts no tokens.
    Uncounted { parts: Vec<Part> },
    /// A status other than 200, with a body and, for some, `Retry-After`.
    Refuse { status: u16, body: Value, retry_after: Option<u64> },
    /// The request is taken and nothing ever comes back.
    Never,
}

/// One part of a reply.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Words.
    Text(String),
    /// A tool call, with its arguments as the raw text that a model wrote.
    Tool { id: String, name: String, arguments: String },
    /// Nothing until the gate lets one through.
    Gate(Gate),
    /// A chunk that is no JSON.
    Garbage,
    /// The connection breaks, and nothing follows.
    Cut,
    /// Silence with the connection open, and nothing follows.
    Stall,
}

impl Answer {
    /// A reply of words alone.
    pub(crate) fn text(chunks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::parts(chunks.into_iter().map(|chunk| Part::Text(chunk.into())))
    }

    /// A reply that calls one tool.
    pub(crate) fn tool(id: &str, name: &str, arguments: &str) -> Self {
        Self::parts([Part::tool(id, name, arguments)])
    }

    /// A reply in parts, counted at ten tokens in and five out.
    pub(crate) fn parts(parts: impl IntoIterator<Item = Part>) -> Self {
        Self::Reply { parts: parts.into_iter().collect(), input_tokens: 10, output_tokens: 5 }
    }

    /// A failure without a body worth reading.
    pub(crate) fn status(status: u16) -> Self {
        Self::Refuse { status, body: serde_json::json!({ "error": { "message": "scripted" } }), retry_after: None }
    }
}

impl Part {
    /// Words.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// A tool call.
    pub(crate) fn tool(id: &str, name: &str, arguments: &str) -> Self {
        Self::Tool { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
    }
}

/// Holds a stream back until the test lets it go on.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<Semaphore>);

impl Gate {
    /// A closed gate.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets one stream through, now or when it comes.
    pub(crate) fn open(&self) {
        self.0.add_permits(1);
    }

    pub(super) async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}
