//! Which service a command calls, and as whom.
//!
//! A running service leaves its address and the operator's token in its state directory. With
//! `--url` nothing of that directory is used: a token never goes to an address it was not made for.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::Deserialize;

use super::Global;
use super::client::Client;
use super::failure::Failure;
use crate::config::{self, Environment};

/// What a running service says about itself, in its state directory.
const SERVICE_FILE: &str = "service.json";
/// The operator's token, beside it.
const TOKEN_FILE: &str = "operator.token";
/// Where the tokens of the accounts are that were opened here.
const ACCOUNTS_DIR: &str = "accounts";
/// Permissions that a file with a secret must not have.
const LOOSE: u32 = 0o077;

/// A token, never printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credential(String);

impl Credential {
    pub(super) fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// The token itself, for the one header that needs it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

#[derive(Deserialize)]
struct ServiceFile {
    url: String,
}

/// The operator's caller. Nothing is contacted without a credential.
pub(super) fn operator(global: &Global, environment: &Environment) -> Result<Client, Failure> {
    let (url, credential) = match (&global.url, &global.token_file) {
        (Some(url), Some(file)) => (address(url)?, given_token(file)?),
        (Some(_), None) => {
            let why = "--url needs --token-file: the token of the state directory is for its own service".to_owned();
            return Err(Failure::NoCredential { why });
        }
        (None, file) => {
            let dir = state_dir(global, environment)?;
            let credential = file.as_deref().map_or_else(|| own_token(&dir), given_token)?;
            (service_url(&dir)?, credential)
        }
    };
    Client::new(url, credential)
}

/// The state directory, as the service itself would have it.
pub(super) fn state_dir(global: &Global, environment: &Environment) -> Result<PathBuf, Failure> {
    match &global.state_dir {
        Some(dir) => Ok(dir.clone()),
        None => Ok(config::load(&global.sources(environment))?.config.state_dir),
    }
}

/// The token of a local account, when it was opened here before.
pub(super) fn account(dir: &Path, name: &str) -> Result<Option<Credential>, Failure> {
    let path = account_path(dir, name);
    if !path.exists() {
        return Ok(None);
    }
    private_token(&path).map(Some)
}

/// Makes the place of account tokens, 0700: before an account is opened, so that its token is not lost.
pub(super) fn prepare_accounts(dir: &Path) -> Result<(), Failure> {
    let path = dir.join(ACCOUNTS_DIR);
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.map_err(|source| Failure::File { path, source })
}

/// Keeps the token of a local account, 0600, so that the next command is the same person.
pub(super) fn keep_account(dir: &Path, name: &str, credential: &Credential) -> Result<(), Failure> {
    let path = account_path(dir, name);
    let failed = |source| Failure::File { path: path.clone(), source };
    // A new file in the old one's place: an old one's permissions and links do not matter.
    let fresh = path.with_extension("new");
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).map_err(failed)?;
    writeln!(file, "{}", credential.expose()).map_err(failed)?;
    std::fs::rename(&fresh, &path).map_err(failed)
}

fn account_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(ACCOUNTS_DIR).join(format!("{name}.token"))
}

fn address(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| Failure::Usage(format!("--url {text}: must be an http or https address")))
}

fn service_url(dir: &Path) -> Result<Url, Failure> {
    let path = dir.join(SERVICE_FILE);
    let unknown = |why: String| Failure::NotReachable { url: None, why };
    let text = std::fs::read_to_string(&path)
        .map_err(|_| unknown(format!("no {} in {}; start it with `clankie serve`", SERVICE_FILE, dir.display())))?;
    let file: ServiceFile =
        serde_json::from_str(&text).map_err(|error| unknown(format!("{}: {error}", path.display())))?;
    address(&file.url)
}

fn own_token(dir: &Path) -> Result<Credential, Failure> {
    let path = dir.join(TOKEN_FILE);
    if !path.exists() {
        let why = format!(
            "there is no {TOKEN_FILE} in {}; start the service with `clankie serve`, or name a token with --token-file",
            dir.display()
        );
        return Err(Failure::NoCredential { why });
    }
    private_token(&path)
}

fn given_token(path: &Path) -> Result<Credential, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::NoCredential { why: format!("{}: {error}", path.display()) })?;
    token(path, &text)
}

fn private_token(path: &Path) -> Result<Credential, Failure> {
    let unusable = |why: String| Failure::NoCredential { why: format!("{}: {why}", path.display()) };
    let facts = std::fs::symlink_metadata(path).map_err(|error| unusable(error.to_string()))?;
    if !facts.is_file() || facts.permissions().mode() & LOOSE != 0 {
        return Err(unusable("is a link, or others may read it; it must be a file of mode 0600".to_owned()));
    }
    given_token(path)
}

fn token(path: &Path, text: &str) -> Result<Credential, Failure> {
    let text = text.trim();
    if text.is_empty() || text.contains(char::is_whitespace) || text.contains(char::is_control) {
        return Err(Failure::NoCredential { why: format!("{}: holds no token", path.display()) });
    }
    Ok(Credential::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    fn dir_with(files: &[(&str, &str, u32)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text, mode) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
            std::fs::set_permissions(dir.path().join(name), PermissionsExt::from_mode(*mode)).unwrap();
        }
        dir
    }

    fn exit(global: &Global) -> Option<Exit> {
        operator(global, &Environment::default()).map_err(|failure| failure.exit()).err()
    }

    #[test]
    fn without_an_operator_credential_nothing_is_contacted() {
        let service = ("service.json", "{\"url\":\"http://127.0.0.1:1\"}", 0o600);
        let table = [
            (vec![], Some(Exit::NotAuthorised)),
            (vec![service], Some(Exit::NotAuthorised)),
            (vec![("operator.token", "clk_a", 0o600)], Some(Exit::NotReachable)),
            (vec![service, ("operator.token", "clk_a", 0o644)], Some(Exit::NotAuthorised)),
            (vec![service, ("operator.token", " \n", 0o600)], Some(Exit::NotAuthorised)),
            (vec![("service.json", "{", 0o600), ("operator.token", "clk_a", 0o600)], Some(Exit::NotReachable)),
        ];
        for (files, expected) in table {
            let dir = dir_with(&files);
            let global = Global { state_dir: Some(dir.path().into()), ..Global::default() };
            assert_eq!(exit(&global), expected, "{files:?}");
        }
    }

    #[test]
    fn a_stored_token_never_goes_to_a_given_address() {
        let dir = dir_with(&[("operator.token", "clk_a", 0o600)]);
        let url = Some("http://127.0.0.1:1".to_owned());
        let global = Global { state_dir: Some(dir.path().into()), url, ..Global::default() };
        assert_eq!(exit(&global), Some(Exit::NotAuthorised));
    }

    #[test]
    fn an_accounts_token_is_kept_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Credential::new("clk_1"), Credential::new("clk_2"));
        assert_eq!(account(dir.path(), "ann").unwrap(), None);
        prepare_accounts(dir.path()).unwrap();
        keep_account(dir.path(), "ann", &first).unwrap();
        keep_account(dir.path(), "ann", &second).unwrap();
        assert_eq!(account(dir.path(), "ann").unwrap(), Some(second));
        let path = account_path(dir.path(), "ann");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(account(dir.path(), "ann").unwrap_err().exit(), Exit::NotAuthorised);
    }
}
