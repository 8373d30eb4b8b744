//! The sinks that configuration wants, and how the owner's surface sees them.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::config::{self, Config, Environment};
use crate::gateways::discord::direct::{NotTold, Note};
use crate::gateways::discord::{Discord, Owners};
use crate::owner::notify::{News, Notifier, Ntfy, Secret, Sink, Terms, Untold, Updates, Webhook, client};

/// The notifier that is configured, perhaps without a sink. `store` is the store's identity. Needs
/// no network.
pub(super) fn notifier(config: &Config, bot: Option<&Discord>, store: Uuid) -> anyhow::Result<Notifier> {
    let (notify, environment) = (&config.notify, Environment::of_process());
    let mut sinks: Vec<Arc<dyn Sink>> = Vec::new();
    if let Some(configured) = &notify.ntfy {
        sinks.push(Arc::new(ntfy(configured, &environment)?));
    }
    if let Some(configured) = &notify.webhook {
        sinks.push(Arc::new(webhook(configured, &environment, store)?));
    }
    if let Some(bot) = bot.filter(|bot| notify.discord && !bot.owners().people().is_empty()) {
        sinks.push(Arc::new(Direct { bot: bot.clone(), owners: bot.owners(), told: Mutex::default() }));
    }
    let updates = if notify.updates { Updates::Told } else { Updates::Kept };
    let terms = Terms { delay: notify.delay.duration(), updates };
    Ok(Notifier::new(terms, sinks))
}

fn ntfy(configured: &config::Ntfy, environment: &Environment) -> anyhow::Result<Ntfy> {
    let token = configured.token.as_ref().map(|source| source.read(environment)).transpose();
    let token = token.context("the access token of ntfy")?.flatten();
    let (server, topic) = (configured.url.expose().clone(), configured.topic.expose());
    Ok(Ntfy::new(client()?, server, topic, token.as_ref().map(config::Secret::expose)))
}

fn webhook(configured: &config::Webhook, environment: &Environment, store: Uuid) -> anyhow::Result<Webhook> {
    let secret = configured.secret.read(environment).context("the signing secret of the webhook")?;
    let secret = Secret::parse(secret.context("the webhook has no signing secret")?.expose())?;
    Ok(Webhook::new(client()?, configured.url.expose().clone(), secret, store))
}

/// The bot's direct messages to the owners.
struct Direct {
    bot: Discord,
    owners: Owners,
    /// Who was told of which news already, while the others are tried again.
    told: Mutex<(String, BTreeSet<u64>)>,
}

#[async_trait]
impl Sink for Direct {
    fn name(&self) -> &'static str {
        "discord"
    }

    async fn tell(&self, news: &News) -> Result<(), Untold> {
        let people = self.owners.people();
        if people.is_empty() {
            return Err(Untold::Refused("none of grants.owners is a person on Discord any more".to_owned()));
        }
        let mut told = self.told.lock().await;
        if told.0 != news.id {
            *told = (news.id.clone(), BTreeSet::new());
        }
        let mut missed = None;
        for person in people {
            if told.1.contains(&person) {
                continue;
            }
            match self.bot.tell(person, &note(news)).await {
                Ok(()) => drop(told.1.insert(person)),
                Err(why @ NotTold::Unclear) => return Err(Untold::NotNow(why.to_string())),
                Err(why @ NotTold::Refused { .. }) => missed = Some(why),
            }
        }
        missed.map_or(Ok(()), |why| Err(Untold::Refused(why.to_string())))
    }
}

fn note(news: &News) -> Note {
    let News { id, title, facts, words, command, .. } = news.clone();
    Note { id, title, facts, words, command }
}
