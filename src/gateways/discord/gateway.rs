//! Which gateway may be connected to: Discord's own, or one at the configured API base, and no other.
//!
//! The address is what the API hands out, and the token goes there first thing. So it is read as an
//! address and compared part by part; a part of a text says nothing about where a connection goes.

use discord_reqwest::Url;

/// The domain of Discord's own gateways.
const REAL: &str = "discord.gg";

/// The address that was handed out leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Elsewhere {
    /// It cannot be read.
    #[error("the gateway that was handed out is no address")]
    NoAddress,
    /// The base that is configured stands elsewhere.
    #[error("the gateway that was handed out is not at the configured api_url; nothing is sent there")]
    NotAtTheBase,
    /// Discord's gateways stand elsewhere.
    #[error("the gateway that was handed out is not Discord's; nothing is sent there")]
    NotDiscords,
}

/// The gateway to connect to, out of what was handed out, without a query.
pub(super) fn allowed(handed_out: &str, api_url: Option<&str>) -> Result<String, Elsewhere> {
    let mut gateway = Url::parse(handed_out).map_err(|_| Elsewhere::NoAddress)?;
    let plain = gateway.username().is_empty() && gateway.password().is_none();
    match api_url {
        Some(base) if !plain || !is_at(&gateway, base) => return Err(Elsewhere::NotAtTheBase),
        None if !plain || !is_discords(&gateway) => return Err(Elsewhere::NotDiscords),
        Some(_) | None => {}
    }
    gateway.set_query(None);
    gateway.set_fragment(None);
    Ok(gateway.as_str().trim_end_matches('/').to_owned())
}

fn is_at(gateway: &Url, base: &str) -> bool {
    let Ok(base) = Url::parse(base) else { return false };
    let scheme = if base.scheme() == "https" { "wss" } else { "ws" };
    let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
    gateway.scheme() == scheme && place(gateway) == place(&base)
}

fn is_discords(gateway: &Url) -> bool {
    let host = gateway.host_str().unwrap_or_default();
    let ours = host.strip_suffix(REAL).is_some_and(|name| name.ends_with('.'));
    gateway.scheme() == "wss" && gateway.port_or_known_default() == Some(443) && ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_place_of_the_configured_base_is_allowed() {
        let base = Some("http://127.0.0.1:8080");
        assert_eq!(allowed("ws://127.0.0.1:8080/?v=9", base).as_deref(), Ok("ws://127.0.0.1:8080"));
        assert_eq!(allowed("wss://d.example/gate", Some("https://d.example")).as_deref(), Ok("wss://d.example/gate"));
        for elsewhere in [
            "wss://gateway.discord.gg",
            "ws://127.0.0.1:8081",
            "ws://127.0.0.2:8080",
            "wss://127.0.0.1:8080",
            "ws://127.0.0.1:8080@gateway.discord.gg:8080",
            "ws://user@127.0.0.1:8080",
            "ws://127.0.0.1:8080.d.example",
        ] {
            assert!(allowed(elsewhere, base).is_err(), "{elsewhere}");
        }
        assert!(allowed("ws://d.example", Some("https://d.example")).is_err());
        assert_eq!(allowed("gateway", base), Err(Elsewhere::NoAddress));
    }

    #[test]
    fn without_a_base_only_discords_own_is_allowed() {
        assert_eq!(allowed("wss://gateway.discord.gg", None).as_deref(), Ok("wss://gateway.discord.gg"));
        assert!(allowed("wss://gateway-us-east1-b.discord.gg/", None).is_ok());
        for elsewhere in [
            "ws://gateway.discord.gg",
            "wss://gateway.discord.gg:8443",
            "wss://gateway.discord.gg.d.example",
            "wss://notdiscord.gg",
            "wss://d.example/gateway.discord.gg",
        ] {
            assert_eq!(allowed(elsewhere, None), Err(Elsewhere::NotDiscords), "{elsewhere}");
        }
    }
}
