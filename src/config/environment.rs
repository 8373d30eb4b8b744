//! The variables of the process, as a value: what is read from them can be tested without them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::ConfigError;

/// Every variable that is Unicode, and the name of the first of ours that is not.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    not_unicode: Option<String>,
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        let mut environment = Self::default();
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => drop(environment.variables.insert(name, value)),
                (Ok(name), Err(_)) if name.starts_with("CLANKIE_") => environment.not_unicode = Some(name),
                (Ok(_) | Err(_), _) => {}
            }
        }
        environment
    }

    /// One variable, unless it is absent or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// `XDG_STATE_HOME`, or its usual place.
    pub fn state_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// `XDG_CONFIG_HOME`, or its usual place.
    pub fn config_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    pub(super) fn ours(&self) -> Result<&BTreeMap<String, String>, ConfigError> {
        match &self.not_unicode {
            Some(variable) => Err(ConfigError::NotUnicode { variable: variable.clone() }),
            None => Ok(&self.variables),
        }
    }

    /// The XDG base directory rules: a relative path there is to be ignored.
    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let set = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| self.get("HOME").map(|home| PathBuf::from(home).join(below_home)))
    }
}

/// Values are not shown: among them are other programs' secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("names", &self.variables.keys()).finish_non_exhaustive()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, not_unicode: None }
    }
}
