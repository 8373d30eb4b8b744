//! What the builtin agent is configured with, as plain values. Where they come from is the
//! configuration's to decide.

use std::fmt;
use std::time::Duration;

/// A provider's API. OpenAI-compatible chat and Anthropic are tested against a scripted server;
/// the others work by configuration alone and are **unproven** here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provider {
    /// OpenAI chat completions, and every server that speaks them.
    OpenAiChat,
    /// OpenAI responses. Unproven.
    OpenAiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini. Unproven.
    Gemini,
    /// Ollama's own API. Unproven.
    Ollama,
}

impl Provider {
    /// Where it is found when nothing else is said.
    fn default_base(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Self::Ollama => "http://localhost:11434/",
        }
    }

    /// The version that its base URL ends in, where the provider's own clients leave it out.
    fn version(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("v1/"),
            Self::Gemini => Some("v1beta/"),
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama => None,
        }
    }
}

/// A provider's key. It is shown to the provider and to nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key, without the white space that a file or a shell leaves around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// How much one run may use. Past any of these it ends as `budget_exhausted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Tokens read and written together.
    pub tokens: u64,
    /// Tool calls.
    pub tool_calls: u32,
    /// Bytes of what the model writes and of what tools give back.
    pub bytes: u64,
}

impl Default for Budgets {
    /// Enough for a long talk with many tools, and little enough that a loop is noticed on the bill.
    fn default() -> Self {
        Self { tokens: 400_000, tool_calls: 64, bytes: 4 * 1024 * 1024 }
    }
}

/// How a failed call is tried again. The delay doubles from `first_delay` to `cap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Calls that are made before giving up, the first one included.
    pub attempts: u32,
    /// How long the first wait is.
    pub first_delay: Duration,
    /// The longest wait. A provider that asks for longer is not asked again.
    pub cap: Duration,
}

impl Default for Retries {
    /// Half a minute in all: long enough for a provider's hiccup, short enough for a person who waits.
    fn default() -> Self {
        Self { attempts: 5, first_delay: Duration::from_secs(1), cap: Duration::from_secs(20) }
    }
}

impl Retries {
    /// How long to wait after the `failed`th call failed (counted from one); `None` is for ever.
    pub(super) fn delay(&self, failed: u32, asked: Option<Duration>) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let doubled = self.first_delay.saturating_mul(1_u32.checked_shl(failed - 1).unwrap_or(u32::MAX));
        match asked {
            Some(asked) if asked > self.cap => None,
            Some(asked) => Some(asked.max(doubled.min(self.cap))),
            None => Some(doubled.min(self.cap)),
        }
    }
}

/// How long a call may be silent. Both are below the 300 s after which a silent run is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the connection stands.
    pub connect: Duration,
    /// Until the first piece of the reply.
    pub first_byte: Duration,
    /// Between two pieces.
    pub idle: Duration,
}

impl Default for Patience {
    /// A reasoning model may think for two minutes before its first word.
    fn default() -> Self {
        let (connect, silent) = (Duration::from_secs(10), Duration::from_secs(120));
        Self { connect, first_byte: silent, idle: silent }
    }
}

/// Everything that the builtin agent needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The API.
    pub provider: Provider,
    /// Where it is, as the provider's own clients take it; `None` is the provider itself.
    pub base_url: Option<String>,
    /// The key; a local server may need none.
    pub api_key: Option<ApiKey>,
    /// The model.
    pub model: String,
    /// What the owner wants the agent to be, before the fixed rules of a room.
    pub system_prompt: Option<String>,
    /// How much one run may use.
    pub budgets: Budgets,
    /// How failed calls are tried again.
    pub retries: Retries,
    /// How long a call may be silent.
    pub patience: Patience,
}

impl Settings {
    /// A model of a provider, with the defaults for the rest.
    pub fn new(provider: Provider, model: &str) -> Self {
        Self {
            provider,
            base_url: None,
            api_key: None,
            model: model.to_owned(),
            system_prompt: None,
            budgets: Budgets::default(),
            retries: Retries::default(),
            patience: Patience::default(),
        }
    }

    /// The base URL with the version and the final slash that the client expects.
    pub(super) fn endpoint(&self) -> String {
        let Some(base) = &self.base_url else { return self.provider.default_base().to_owned() };
        let base = format!("{}/", base.trim().trim_end_matches('/'));
        match self.provider.version() {
            Some(version) if !base.ends_with(&format!("/{version}")) => base + version,
            Some(_) | None => base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_taken_as_the_providers_own_clients_take_it() {
        let endpoint = |provider, base: &str| {
            let mut settings = Settings::new(provider, "m");
            settings.base_url = Some(base.to_owned());
            settings.endpoint()
        };
        assert_eq!(endpoint(Provider::OpenAiChat, "http://h:1/v1"), "http://h:1/v1/");
        assert_eq!(endpoint(Provider::Anthropic, "http://h:1"), "http://h:1/v1/");
        assert_eq!(endpoint(Provider::Anthropic, "http://h:1/v1/"), "http://h:1/v1/");
        assert_eq!(endpoint(Provider::Gemini, "http://h:1/"), "http://h:1/v1beta/");
        assert_eq!(endpoint(Provider::Ollama, "http://h:1"), "http://h:1/");
    }

    #[test]
    fn the_delay_doubles_to_its_cap_and_honours_the_provider() {
        let retries = Retries { attempts: 5, first_delay: Duration::from_secs(1), cap: Duration::from_secs(3) };
        let delays: Vec<_> = (1..=5).map(|failed| retries.delay(failed, None).map(|d| d.as_secs())).collect();
        assert_eq!(delays, [Some(1), Some(2), Some(3), Some(3), None]);
        assert_eq!(retries.delay(1, Some(Duration::from_secs(3))), Some(Duration::from_secs(3)));
        assert_eq!(retries.delay(1, Some(Duration::from_secs(4))), None, "longer than the cap is not waited for");
    }

    #[test]
    fn a_key_is_in_no_debug_output() {
        let mut settings = Settings::new(Provider::OpenAiChat, "m");
        settings.api_key = Some(ApiKey::new("canary-key"));
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
