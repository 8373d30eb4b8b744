//! One model behind one provider: the only file that makes calls, piece by piece.
//!
//! A call that ends without its provider's own end mark was cut off and counts as failed.

use clankie_domain::handoff::Usage;
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, ContentPart};
use genai::chat::{MessageContent, StopReason, StreamEnd, ToolCall};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::failure::Failure;
use super::settings::{Patience, Provider, Settings};

/// What stands for a key where none is needed: the client wants one.
const NO_KEY: &str = "none";

/// Why the builtin agent cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The base URL is none.
    #[error("base_url must begin with http:// or https://")]
    BaseUrl,
    /// The process installed no TLS provider.
    #[error("no TLS provider is installed")]
    NoTls,
    /// The HTTP client could not be built, usually for want of root certificates.
    #[error("the HTTP client could not be built: {0}")]
    Client(String),
}

/// A model that can be called.
#[derive(Debug)]
pub(super) struct Model {
    client: Client,
    target: ServiceTarget,
    options: ChatOptions,
    patience: Patience,
}

/// A reply that is coming in.
pub(super) struct Call {
    stream: ChatStream,
    deadline: Instant,
    patience: Patience,
    arguments_seen: usize,
}

/// A piece of a reply.
pub(super) enum Piece {
    /// Words for the reply.
    Text(String),
    /// This many bytes of thoughts or of a tool call: a sign of life.
    Hidden(usize),
    /// The end, with everything.
    End(Box<Turn>),
}

/// One whole reply of the model.
pub(super) struct Turn {
    /// What goes into the history; `None` when the model said nothing.
    pub(super) message: Option<ChatMessage>,
    /// Its words.
    pub(super) text: String,
    /// The tools that it calls, in order, with arguments as it wrote them.
    pub(super) calls: Vec<ToolCall>,
    /// What the provider counted.
    pub(super) usage: Option<Usage>,
    /// Why the words are not all that it had to say.
    pub(super) cut: Option<&'static str>,
}

impl Model {
    pub(super) fn new(settings: &Settings) -> Result<Self, SetupError> {
        let key = settings.api_key.as_ref().map_or(NO_KEY, |key| key.reveal());
        let endpoint = settings.endpoint();
        let client = Client::builder().with_reqwest(http(&endpoint, settings.patience)?).build();
        Ok(Self {
            client: client.map_err(|error| SetupError::Client(error.to_string()))?,
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(endpoint),
                auth: AuthData::from_single(key),
                model: ModelIden::new(adapter(settings.provider), settings.model.as_str()),
            },
            options: ChatOptions::default()
                .with_capture_usage(true)
                .with_capture_content(true)
                .with_capture_reasoning_content(true)
                .with_capture_tool_calls(true),
            patience: settings.patience,
        })
    }

    /// Starts a call.
    pub(super) async fn call(&self, request: ChatRequest) -> Result<Call, Failure> {
        let started = self.client.exec_chat_stream(self.target.clone(), request, Some(&self.options)).await?;
        let deadline = Instant::now() + self.patience.connect + self.patience.first_byte;
        Ok(Call { stream: started.stream, deadline, patience: self.patience, arguments_seen: 0 })
    }
}

/// No redirect and no proxy: the key goes to the configured address and nowhere else.
fn http(endpoint: &str, patience: Patience) -> Result<reqwest::Client, SetupError> {
    let url = reqwest::Url::parse(endpoint).map_err(|_| SetupError::BaseUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(SetupError::BaseUrl);
    }
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        return Err(SetupError::NoTls);
    }
    let mut builder = reqwest::Client::builder()
        .connect_timeout(patience.connect)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    if url.scheme() == "http" {
        // A model on this machine must not need the machine's root certificates.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    builder.build().map_err(|error| SetupError::Client(error.to_string()))
}

fn adapter(provider: Provider) -> AdapterKind {
    match provider {
        Provider::OpenAiChat => AdapterKind::OpenAI,
        Provider::OpenAiResponses => AdapterKind::OpenAIResp,
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Gemini => AdapterKind::Gemini,
        Provider::Ollama => AdapterKind::Ollama,
    }
}

impl Call {
    /// The next piece, or why there is none.
    pub(super) async fn next(&mut self) -> Result<Piece, Failure> {
        loop {
            // The client logs what a provider answers, and an answer may repeat the key.
            let next = self.stream.next().with_subscriber(NoSubscriber::new());
            let next = timeout_at(self.deadline, next).await;
            let event = next.map_err(|_| Failure::passing("it was silent for too long"))?;
            let event = event.ok_or_else(|| Failure::passing("its reply broke off"))??;
            if matches!(event, ChatStreamEvent::Start) {
                // The client says so before it has connected: no sign of life.
                continue;
            }
            self.deadline = Instant::now() + self.patience.idle;
            return Ok(self.piece(event));
        }
    }

    fn piece(&mut self, event: ChatStreamEvent) -> Piece {
        match event {
            ChatStreamEvent::Chunk(chunk) if chunk.content.is_empty() => Piece::Hidden(0),
            ChatStreamEvent::Chunk(chunk) => Piece::Text(chunk.content),
            ChatStreamEvent::ReasoningChunk(chunk) => Piece::Hidden(chunk.content.len()),
            ChatStreamEvent::ToolCallChunk(chunk) => Piece::Hidden(self.grown(&chunk.tool_call.fn_arguments)),
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat | ChatStreamEvent::ThoughtSignatureChunk(_) => {
                Piece::Hidden(0)
            }
            ChatStreamEvent::End(end) => Piece::End(Box::new(turn(end))),
        }
    }

    /// The client repeats the arguments as far as they came; a shorter text is another call's.
    fn grown(&mut self, arguments: &Value) -> usize {
        let now = arguments.as_str().map_or(0, str::len);
        let grown = if now < self.arguments_seen { now } else { now - self.arguments_seen };
        self.arguments_seen = now;
        grown
    }
}

fn turn(end: StreamEnd) -> Turn {
    let content = end.captured_content.unwrap_or_default();
    let text = content.joined_texts().unwrap_or_default();
    let calls = content.tool_calls().into_iter().cloned().collect();
    let message = (!content.is_empty()).then(|| ChatMessage::assistant(sendable(content)));
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let usage = end.captured_usage.map(|usage| Usage {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
        ..Usage::default()
    });
    let cut = match end.captured_stop_reason {
        Some(StopReason::MaxTokens(_)) => Some("The model's reply was cut at its own limit."),
        Some(StopReason::ContentFilter(_)) => Some("The provider's content filter ended the model's reply."),
        Some(
            StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_) | StopReason::Other(_),
        )
        | None => None,
    };
    Turn { message, text, calls, usage, cut }
}

/// Arguments that are no object would make the provider refuse the next call for good.
fn sendable(mut content: MessageContent) -> MessageContent {
    for part in content.iter_mut() {
        if let ContentPart::ToolCall(call) = part
            && !call.fn_arguments.is_object()
        {
            call.fn_arguments = Value::Object(Map::new());
        }
    }
    content
}
