//! What `clankie doctor` looks at without the service: configuration, state directory, and Discord.
//!
//! It changes nothing: no directory is made, no store opened, no message sent.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use clankie_actors::ports::Clock;
use rustix::fs::Access;

use super::discord;
use super::real::SystemClock;
use crate::cli::doctor::Check;
use crate::config::{self, Config, Environment, Sources};
use crate::gateways::discord::{Look, Seen};
use crate::owner::auth;

/// What others may do with the state directory: nothing.
const OTHERS: u32 = 0o077;

/// Looks at everything that needs no running service.
pub async fn doctor(sources: &Sources, environment: &Environment) -> Vec<Check> {
    let config = match config::load(sources) {
        Ok(loaded) => loaded.config,
        Err(refused) => return vec![Check::failed("config", refused.to_string(), "change what it names")],
    };
    let mut checks = vec![Check::passed("config", "it parses and fits together".to_owned())];
    checks.push(state_dir(&config.state_dir));
    checks.push(operator_token(&config.state_dir));
    checks.extend(bot(&config, environment).await);
    checks
}

fn state_dir(dir: &Path) -> Check {
    let (id, shown) = ("state_dir", dir.display());
    let Ok(found) = dir.symlink_metadata() else {
        return Check::skipped(id, format!("{shown} is not there yet; the first start makes it"));
    };
    if found.is_symlink() || !found.is_dir() {
        return Check::failed(id, format!("{shown} is no directory of its own"), "name the directory itself");
    }
    if found.mode() & OTHERS != 0 {
        let why = format!("{shown} has mode {:o}, so others can use it", found.mode() & 0o777);
        return Check::failed(id, why, "chmod 700 it");
    }
    match rustix::fs::access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::passed(id, format!("{shown} is private and writable")),
        Err(error) => Check::failed(id, format!("{shown} cannot be used: {error}"), "give it to the user who serves"),
    }
}

fn operator_token(dir: &Path) -> Check {
    match auth::check_before_start(dir) {
        Ok(()) => Check::passed("operator_token", "its file is private, or not made yet".to_owned()),
        Err(error) => Check::failed("operator_token", error.to_string(), "do what it says, or move the file away"),
    }
}

async fn bot(config: &Config, environment: &Environment) -> Vec<Check> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    match discord::discord(config, environment, &clock) {
        Ok(None) => vec![Check::skipped("discord", "no bot is configured".to_owned())],
        Ok(Some(bot)) => bot.look().await.into_iter().map(check).collect(),
        Err(error) => {
            vec![Check::failed("discord.token", format!("{error:#}"), "put the token where the configuration looks")]
        }
    }
}

fn check(Look { id, seen }: Look) -> Check {
    match seen {
        Seen::Right(seen) => Check::passed(&id, seen),
        Seen::Wrong(why, hint) => Check::failed(&id, why, hint),
        Seen::Unknown(why) => Check::skipped(&id, why),
    }
}
