//! The machine tools of this build, and what their workspace must stay apart from.

use std::sync::Arc;

use clankie_actors::ports::MachineTool;

use crate::config::{Config, KeySource, Sources};
use crate::executors::workspace::{Guarded, Workspace, WorkspaceError};

/// Every machine tool that there is; a grant has those that the configuration lists.
pub(super) fn machine_tools(sources: &Sources, config: &Config) -> Result<Vec<Arc<dyn MachineTool>>, WorkspaceError> {
    match &config.workspace {
        Some(dir) => Ok(Workspace::open(dir, &guarded(sources, config))?.tools()),
        None => Ok(Vec::new()),
    }
}

/// What an agent that could read or write it would gain more by than its grant gives.
fn guarded(sources: &Sources, config: &Config) -> Vec<Guarded> {
    let files = sources.user_file().into_iter().chain(sources.file.clone());
    let keys = [config.model.as_ref().map(|model| &model.key), config.discord.as_ref().map(|bot| &bot.token)];
    let secrets = keys.into_iter().flatten().filter_map(|key| match key {
        KeySource::File(path) => Some(path.clone()),
        KeySource::Usual(_) | KeySource::Variable(_) | KeySource::Keyless => None,
    });
    let named = |what| move |path| Guarded { what, path };
    std::iter::once(config.state_dir.clone())
        .map(named("the state directory"))
        .chain(files.map(named("the configuration")))
        .chain(secrets.map(named("a file of secrets")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_tool_that_may_be_listed_is_there_and_no_other() {
        let (state, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut config = Config::defaults(state.path().to_owned()).unwrap();
        assert!(machine_tools(&Sources::default(), &config).unwrap().is_empty());
        config.workspace = Some(dir.path().to_owned());
        let tools = machine_tools(&Sources::default(), &config).unwrap();
        let names: Vec<String> = tools.iter().map(|tool| tool.spec().name).collect();
        assert_eq!(names, Config::MACHINE_TOOLS);
    }
}
