//! `clankie rooms`: every room in which anything is kept, and every configured local one.

use super::clean::clean_line;
use super::client::Client;
use super::failure::Failure;
use super::screen::{Form, Screen};
use super::table::Table;
use crate::owner::wire::{NoArguments, Operation, Rooms};

/// Width of a cell, in characters.
const WIDTH: usize = 80;

/// Lists them.
pub(super) async fn run(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all: Rooms = client.dispatch(Operation::RoomsList(NoArguments {})).await?;
    match screen.form() {
        Form::Json => screen.json(&all)?,
        Form::Table => screen.table(&rows(&all))?,
    }
    Ok(())
}

fn rows(all: &Rooms) -> Vec<String> {
    let mut table = Table::new(["ROOM", "LIVE", "LAST MESSAGE"]);
    for room in &all.rooms {
        let last = room.last_message_at.as_deref().map_or_else(|| "never".to_owned(), |at| clean_line(at, WIDTH));
        table.row([clean_line(&room.room, WIDTH), room.live.to_string(), last]);
    }
    table.lines()
}
