//! The model of the builtin executor: from `[model]`, or from a provider's usual variables.
//!
//! A secret is named here and read in one place, [`KeySource::read`]; no configuration holds one.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::Environment;
use super::check::{repeatable, value, web_address};
use super::document::{ModelKeys, Provider};
use super::error::{ConfigError, Origin};
use super::layers::Layers;

/// Permissions that a file with a secret must not have: anything for group and others.
const LOOSE: u32 = 0o077;

/// A model to run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The protocol.
    pub provider: Provider,
    /// Where, when it is not the provider's own address.
    pub base_url: Option<Url>,
    /// Which model there.
    pub model: String,
    /// Where its key is found.
    pub key: KeySource,
    /// Tokens one run may use.
    pub token_budget: u64,
    /// Tool calls one run may make.
    pub tool_call_budget: u32,
    /// Attempts after the first at one request.
    pub retries: u16,
}

/// Where a model's key is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The provider's usual variable, which a local endpoint can do without.
    Usual(&'static str),
    /// This variable, which must be there.
    Variable(String),
    /// This file, of mode 0600.
    File(PathBuf),
    /// The provider takes none.
    Keyless,
}

/// A model's key. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Why a model's key is not there.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set.
    #[error("the variable {0} is not set; export the secret in it, or name a file of mode 0600 instead")]
    Unset(String),
    /// The file cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// Others may read the file.
    #[error("{}: others may read it; chmod 600 it first", .0.display())]
    Loose(PathBuf),
    /// Nothing stands there.
    #[error("{0}: is empty")]
    Empty(String),
}

impl Secret {
    /// The key itself, for the one request header that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl KeySource {
    /// Reads the key; `None` when the endpoint is asked without one.
    pub fn read(&self, environment: &Environment) -> Result<Option<Secret>, KeyError> {
        match self {
            Self::Keyless => Ok(None),
            Self::Usual(name) => environment.get(name).map(|text| secret(text, name)).transpose(),
            Self::Variable(name) => {
                let text = environment.get(name).ok_or_else(|| KeyError::Unset(name.clone()))?;
                secret(text, name).map(Some)
            }
            Self::File(path) => secret(&private_file(path)?, &path.display().to_string()).map(Some),
        }
    }
}

fn secret(text: &str, from: &str) -> Result<Secret, KeyError> {
    let text = text.trim();
    if text.is_empty() { Err(KeyError::Empty(from.to_owned())) } else { Ok(Secret(text.to_owned())) }
}

fn private_file(path: &Path) -> Result<String, KeyError> {
    let why = |error: std::io::Error| KeyError::Unreadable { path: path.into(), why: error.to_string() };
    let mode = std::fs::metadata(path).map_err(why)?.permissions().mode();
    if mode & LOOSE != 0 {
        return Err(KeyError::Loose(path.into()));
    }
    std::fs::read_to_string(path).map_err(why)
}

/// The variables that a provider's own tools read, and the model that they mean when none is named.
struct Usual {
    provider: Provider,
    key: &'static str,
    base_url: &'static str,
    model: &'static str,
    /// Nobody chose it, so it is a quick one that calls tools.
    default_model: &'static str,
}

/// Asked in this order; the first whose key is set is taken, and the start says which.
const USUAL: [Usual; 3] = [
    Usual {
        provider: Provider::Openai,
        key: "OPENAI_API_KEY",
        base_url: "OPENAI_BASE_URL",
        model: "OPENAI_MODEL",
        default_model: "gpt-5-mini",
    },
    Usual {
        provider: Provider::Anthropic,
        key: "ANTHROPIC_API_KEY",
        base_url: "ANTHROPIC_BASE_URL",
        model: "ANTHROPIC_MODEL",
        default_model: "claude-sonnet-4-5",
    },
    Usual {
        provider: Provider::Gemini,
        key: "GEMINI_API_KEY",
        base_url: "GOOGLE_GEMINI_BASE_URL",
        model: "GEMINI_MODEL",
        default_model: "gemini-2.5-flash",
    },
];

/// The model that is configured, if one is. Fills into `keys` what the environment said.
pub(super) fn resolve(
    keys: &mut ModelKeys,
    layers: &mut Layers,
    environment: &Environment,
) -> Result<Option<Model>, ConfigError> {
    if keys.names_nothing() && !from_environment(keys, layers, environment) {
        return Ok(None);
    }
    let begun = layers.first_of("model").unwrap_or(Origin::Default);
    let missing = |missing| ConfigError::IncompleteModel { missing, at: begun.clone() };
    let provider = keys.provider.ok_or_else(|| missing("model.provider"))?;
    let model = keys.model.clone().filter(|name| !name.trim().is_empty()).ok_or_else(|| missing("model.model"))?;
    let refused = |text: &String| value("model.base_url", repeatable(text), layers);
    let base_url = keys.base_url.as_ref().map(|text| web_address(text).ok_or_else(|| refused(text))).transpose()?;
    let key = keys.key_source(provider, layers)?;
    let (token_budget, tool_call_budget) = (keys.token_budget.get(), keys.tool_call_budget.get());
    Ok(Some(Model { provider, base_url, model, key, token_budget, tool_call_budget, retries: keys.retries }))
}

fn from_environment(keys: &mut ModelKeys, layers: &mut Layers, environment: &Environment) -> bool {
    let set = |name: &str| environment.get(name).filter(|text| !text.trim().is_empty());
    let Some(usual) = USUAL.iter().find(|usual| set(usual.key).is_some()) else { return false };
    keys.provider = Some(usual.provider);
    keys.base_url = set(usual.base_url).map(str::to_owned);
    keys.model = Some(set(usual.model).unwrap_or(usual.default_model).to_owned());
    let named = [("model.provider", usual.key), ("model.base_url", usual.base_url), ("model.model", usual.model)];
    for (key, variable) in named.into_iter().filter(|(_, variable)| set(variable).is_some()) {
        layers.found(key, Origin::Environment { variable: variable.to_owned() });
    }
    true
}

impl ModelKeys {
    fn names_nothing(&self) -> bool {
        let Self { provider, base_url, model, api_key_env, api_key_file, .. } = self;
        provider.is_none() && base_url.is_none() && model.is_none() && api_key_env.is_none() && api_key_file.is_none()
    }

    fn key_source(&self, provider: Provider, layers: &Layers) -> Result<KeySource, ConfigError> {
        match (&self.api_key_env, &self.api_key_file) {
            (Some(_), Some(_)) => Err(ConfigError::TwoSecrets { at: layers.origin("model.api_key_file") }),
            (Some(name), None) if is_variable(name) => Ok(KeySource::Variable(name.clone())),
            // The text is not repeated: who pastes the key itself here must not find it in a log.
            (Some(_), None) => Err(value("model.api_key_env", "no such name", layers)),
            (None, Some(path)) => Ok(KeySource::File(path.clone())),
            (None, None) => Ok(provider.usual_key()),
        }
    }
}

/// Variables are written in capitals; so nobody's pasted key passes for one.
pub(super) fn is_variable(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(legal) && !name.starts_with(|c: char| c.is_ascii_digit())
}

impl Provider {
    fn usual_key(self) -> KeySource {
        match self {
            Self::Openai | Self::OpenaiResponses => KeySource::Usual("OPENAI_API_KEY"),
            Self::Anthropic => KeySource::Usual("ANTHROPIC_API_KEY"),
            Self::Gemini => KeySource::Usual("GEMINI_API_KEY"),
            Self::Ollama => KeySource::Keyless,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b106_a_models_key_is_in_no_debug_output() {
        let environment = Environment::from_iter([("OPENAI_API_KEY", "sk-canary")]);
        let read = KeySource::Usual("OPENAI_API_KEY").read(&environment).unwrap().unwrap();
        assert_eq!(read.expose(), "sk-canary");
        assert!(!format!("{read:?} {environment:?}").contains("canary"));
    }

    #[test]
    fn a_key_file_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        std::fs::write(&path, "secret\n").unwrap();
        let source = KeySource::File(path.clone());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(source.read(&Environment::default()), Err(KeyError::Loose(path.clone())));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(source.read(&Environment::default()).unwrap().unwrap().expose(), "secret");
    }

    #[test]
    fn a_named_variable_must_be_there_and_a_usual_one_need_not() {
        let none = Environment::default();
        assert_eq!(KeySource::Variable("K".into()).read(&none), Err(KeyError::Unset("K".into())));
        assert_eq!(KeySource::Usual("OPENAI_API_KEY").read(&none), Ok(None));
    }
}
