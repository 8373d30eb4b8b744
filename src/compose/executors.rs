//! The executors of this build, as configuration wants them. None is ever started in another's place.

use std::sync::Arc;

use anyhow::Context;
use clankie_actors::ports::Executor;
use clankie_domain::ids::ExecutorName;

use crate::config::{self, Config, Environment, Model};
use crate::executors::builtin::Builtin;
use crate::executors::builtin::settings::{ApiKey, Budgets, Provider, Retries, Settings};
use crate::executors::demo::Demo;
use crate::files::Files;

/// The name of the executor without a model.
pub(super) const DEMO: &str = "demo";
const BUILTIN: &str = "builtin";

/// Every executor that can be started.
pub(super) fn executors(config: &Config, environment: &Environment) -> anyhow::Result<Vec<Arc<dyn Executor>>> {
    let demo = Demo::new(ExecutorName::parse(DEMO)?).with_files(Files::of(&config.state_dir));
    let mut executors: Vec<Arc<dyn Executor>> = vec![Arc::new(demo)];
    if let Some(model) = &config.model {
        let settings = builtin(model, environment)?;
        executors.push(Arc::new(Builtin::new(ExecutorName::parse(BUILTIN)?, settings)?));
    }
    Ok(executors)
}

fn builtin(model: &Model, environment: &Environment) -> anyhow::Result<Settings> {
    let key = model.key.read(environment).context("the model's key")?;
    let mut settings = Settings::new(provider(model.provider), &model.model);
    settings.base_url = model.base_url.as_ref().map(ToString::to_string);
    settings.api_key = key.map(|key| ApiKey::new(key.expose()));
    settings.budgets = Budgets { tokens: model.token_budget, tool_calls: model.tool_call_budget, ..Budgets::default() };
    settings.retries = Retries { attempts: u32::from(model.retries) + 1, ..Retries::default() };
    Ok(settings)
}

fn provider(configured: config::Provider) -> Provider {
    match configured {
        config::Provider::Openai => Provider::OpenAiChat,
        config::Provider::OpenaiResponses => Provider::OpenAiResponses,
        config::Provider::Anthropic => Provider::Anthropic,
        config::Provider::Gemini => Provider::Gemini,
        config::Provider::Ollama => Provider::Ollama,
    }
}
