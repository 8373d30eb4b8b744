//! `clankie devices`: pair a phone or another computer, approve it, narrow it, revoke it.

use clap::{Args, Subcommand, ValueEnum};
use reqwest::Url;
use uuid::Uuid;

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::pick::whole_id;
use super::screen::{Form, Screen};
use super::table::{Table, card};
use crate::owner::wire::{
    DeviceApprove, DeviceBody, DevicePairBegin, DeviceRevoke, Devices, NoArguments, Operation, PairingOffer, Refusal,
};

/// Width of a cell, in characters.
const WIDTH: usize = 64;

/// What to do with devices.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum DevicesCommand {
    /// List devices, and those that wait for your approval.
    List,
    /// Print a code for the other device.
    Pair(PairArguments),
    /// Approve a device that waits, or give one that you have other grants.
    Approve(ApproveArguments),
    /// Revoke a device at once, or deny one that waits.
    Revoke {
        /// The device, as the list shows it.
        #[arg(value_parser = whole_id)]
        id: Uuid,
    },
}

/// What may be approved at most.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PairArguments {
    /// What may be approved at most; everything but device_admin unless you say otherwise.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Grant::Chat, Grant::Steer, Grant::Observe, Grant::TerminalControl])]
    grants: Vec<Grant>,
}

/// Which device, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ApproveArguments {
    /// The device, as the list shows it.
    #[arg(value_parser = whole_id)]
    id: Uuid,
    /// What it may do from now on; everything that was offered with its code unless you say less.
    #[arg(long, value_enum, value_delimiter = ',')]
    grants: Vec<Grant>,
}

/// What a device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Grant {
    /// Talk in local rooms.
    Chat,
    /// Cancel and message handoffs.
    Steer,
    /// Read handoffs and transcripts.
    Observe,
    /// All of the mailbox.
    TerminalControl,
    /// Approve devices.
    DeviceAdmin,
}

impl Grant {
    fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Steer => "steer",
            Self::Observe => "observe",
            Self::TerminalControl => "terminal_control",
            Self::DeviceAdmin => "device_admin",
        }
    }
}

/// Runs one of the commands.
pub(super) async fn run(command: DevicesCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        DevicesCommand::List => list(client, screen).await,
        DevicesCommand::Pair(arguments) => pair(&arguments, client, screen).await,
        DevicesCommand::Approve(arguments) => approve(arguments, client, screen).await,
        DevicesCommand::Revoke { id } => revoke(id, client, screen).await,
    }
}

async fn all(client: &Client) -> Result<Devices, Failure> {
    client.dispatch(Operation::DeviceList(NoArguments {})).await
}

async fn list(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all = all(client).await?;
    match screen.form() {
        Form::Json => screen.json(&all)?,
        Form::Table => screen.table(&rows(&all))?,
    }
    Ok(())
}

async fn pair(arguments: &PairArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let begin = DevicePairBegin { grants: names(&arguments.grants) };
    let offer: PairingOffer = client.dispatch(Operation::DevicePairBegin(begin)).await?;
    match screen.text_form() {
        Form::Json => screen.json(&offer)?,
        Form::Table => screen.line(&clean_line(&offer.code, WIDTH))?,
    }
    screen.words(&advice(&offer));
    Ok(())
}

/// What to do with the code, on both sides.
fn advice(offer: &PairingOffer) -> String {
    let reach = if is_here_only(&offer.url) {
        "\nOnly this machine reaches that address: for another device set public_url, behind TLS or a private network."
    } else {
        ""
    };
    format!(
        "The other device sends {{\"code\": \"{1}\", \"name\": \"…\"}} to {0} before {2}; docs/access.md has the calls.\n\
         Then here: clankie devices list, compare the name and the id, and clankie devices approve ID.\nApprove only a device whose code you asked for just now.{reach}",
        clean_line(&offer.url, usize::MAX),
        clean_line(&offer.code, WIDTH),
        clean_line(&offer.expires_at, WIDTH),
    )
}

fn is_here_only(url: &str) -> bool {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.is_none_or(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
}

async fn approve(arguments: ApproveArguments, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let device_id = arguments.id.simple().to_string();
    let grants =
        if arguments.grants.is_empty() { offered(&device_id, client).await? } else { names(&arguments.grants) };
    let approved = client.dispatch(Operation::DeviceApprove(DeviceApprove { device_id, grants })).await?;
    show(&approved, screen)
}

/// Everything that was offered with the code of a device that waits.
async fn offered(device_id: &str, client: &Client) -> Result<Vec<String>, Failure> {
    let all = all(client).await?;
    let waiting = all.devices.into_iter().find(|device| device.device_id == device_id && device.state == "pending");
    waiting.map(|device| device.offered).ok_or_else(|| {
        let detail = "no such device waits; to give one that you have other grants, name them with --grants".to_owned();
        Failure::Refused(Refusal { reason: "unknown_device".to_owned(), detail })
    })
}

async fn revoke(id: Uuid, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let which = DeviceRevoke { device_id: id.simple().to_string() };
    let revoked = client.dispatch(Operation::DeviceRevoke(which)).await?;
    show(&revoked, screen)
}

fn show(device: &DeviceBody, screen: &Screen) -> Result<(), Failure> {
    let cell = |text: &str| clean_line(text, WIDTH);
    match screen.form() {
        Form::Json => screen.json(device)?,
        Form::Table => screen.lines(&card(&[
            ("device", cell(&device.device_id)),
            ("reported name", cell(&device.reported_name)),
            ("state", cell(&device.state)),
            ("grants", cell(&device.grants.join(", "))),
            ("speaks as", device.account.as_deref().map(cell).unwrap_or_default()),
        ]))?,
    }
    Ok(())
}

fn rows(all: &Devices) -> Vec<String> {
    let mut table = Table::new(["ID", "STATE", "REPORTED NAME", "GRANTS", "FROM", "LAST USED"]);
    for device in &all.devices {
        let cell = |text: &str| clean_line(text, WIDTH);
        let grants = if device.state == "pending" {
            format!("offered: {}", cell(&device.offered.join(",")))
        } else {
            cell(&device.grants.join(","))
        };
        let used = device.last_used_at.as_deref().map_or_else(|| "never".to_owned(), cell);
        let from = device.address.as_deref().map(cell).unwrap_or_default();
        let (id, state) = (cell(&device.device_id), cell(&device.state));
        table.row([id, state, cell(&device.reported_name), grants, from, used]);
    }
    table.lines()
}

fn names(grants: &[Grant]) -> Vec<String> {
    grants.iter().map(|grant| grant.as_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_only_this_machine_can_use_says_so() {
        for (url, here) in [
            ("http://127.0.0.1:4310/pair/v1/redeem", true),
            ("http://localhost:4310/pair/v1/redeem", true),
            ("http://[::1]:4310/pair/v1/redeem", true),
            ("https://clankie.example/pair/v1/redeem", false),
        ] {
            assert_eq!(is_here_only(url), here, "{url}");
        }
    }
}
