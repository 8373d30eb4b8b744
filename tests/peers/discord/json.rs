//! Things as Discord writes them in JSON.

use serde_json::{Map, Value, json};

use super::ids::{Channel, Guild, Message, Person, now, timestamp};
use super::world::{EPHEMERAL, Kind, Said, Stored, World};

/// Everything but administration, for the one role that everybody has; denials stand in the channels.
const ALL_RIGHTS: &str = "1125899906842615";

pub(super) fn user(world: &World, person: Person) -> Value {
    let name = world.people.get(&person).map_or("gone", String::as_str);
    json!({
        "id": person.to_string(), "username": name, "discriminator": "0", "global_name": name,
        "avatar": null, "bot": person == world.bot, "system": false, "public_flags": 0, "flags": 0,
    })
}

pub(super) fn own_user(world: &World) -> Value {
    let mut own = user(world, world.bot);
    own["mfa_enabled"] = json!(true);
    own["verified"] = json!(true);
    own["email"] = Value::Null;
    own
}

/// A member without the user in it, as it stands in a message.
pub(super) fn partial_member(person: Person) -> Value {
    json!({
        "nick": null, "avatar": null, "roles": [], "joined_at": timestamp(person.0), "premium_since": null,
        "deaf": false, "mute": false, "pending": false, "flags": 0, "communication_disabled_until": null,
    })
}

pub(super) fn member(world: &World, person: Person) -> Value {
    let mut member = partial_member(person);
    member["user"] = user(world, person);
    member
}

pub(super) fn channel(world: &World, id: Channel) -> Value {
    let place = &world.places[&id];
    let last = world.said.keys().filter(|(channel, _)| *channel == id).map(|(_, message)| *message).max();
    let last = world.announced.get(&id).copied().or(last);
    let mut shown = json!({
        "id": id.to_string(), "last_message_id": last.map(|last| last.to_string()),
        "type": kind(place.kind), "flags": 0,
    });
    if place.kind == Kind::Direct {
        shown["recipients"] = json!([user(world, place.owner)]);
        return shown;
    }
    shown["name"] = json!(place.name);
    shown["guild_id"] = json!(place.guild.map(|guild| guild.to_string()));
    shown["parent_id"] = json!(place.parent.map(|parent| parent.to_string()));
    if place.kind == Kind::Thread {
        shown["owner_id"] = json!(place.owner.to_string());
        shown["message_count"] = json!(0);
        shown["member_count"] = json!(1);
        shown["rate_limit_per_user"] = json!(0);
        shown["thread_metadata"] = json!({
            "archived": place.archived, "locked": place.locked, "auto_archive_duration": 1440,
            "archive_timestamp": now(), "create_timestamp": timestamp(id.0),
        });
        return shown;
    }
    let denied = place.denied.iter().fold(0, |bits, right| bits | right.bits());
    shown["permission_overwrites"] = match denied {
        0 => json!([]),
        bits => json!([{ "id": world.bot.to_string(), "type": 1, "allow": "0", "deny": bits.to_string() }]),
    };
    let more = json!({ "position": 0, "topic": null, "nsfw": false, "rate_limit_per_user": 0 });
    merge(&mut shown, more);
    shown
}

fn kind(kind: Kind) -> u8 {
    match kind {
        Kind::Text => 0,
        Kind::Direct => 1,
        Kind::Voice => 2,
        Kind::Thread => 11,
        Kind::Forum => 15,
    }
}

/// A guild as `GET` shows it.
pub(super) fn guild(world: &World, guild: Guild) -> Value {
    let everyone = json!({
        "id": guild.to_string(), "name": "@everyone", "permissions": ALL_RIGHTS, "position": 0, "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false, "managed": false, "mentionable": false, "icon": null, "unicode_emoji": null, "flags": 0,
    });
    // Owned by nobody who is here: an owner would have every right whatever is denied.
    let mut shown = json!({
        "id": guild.to_string(), "name": world.guilds[&guild], "icon": null, "splash": null,
        "discovery_splash": null, "owner_id": "1", "afk_channel_id": null, "afk_timeout": 300,
        "widget_enabled": false, "widget_channel_id": null, "verification_level": 0,
        "default_message_notifications": 0, "explicit_content_filter": 0, "roles": [everyone], "emojis": [],
        "features": [], "mfa_level": 0, "application_id": null, "system_channel_id": null,
    });
    let more = json!({
        "system_channel_flags": 0, "rules_channel_id": null, "max_presences": null, "max_members": 500_000,
        "vanity_url_code": null, "description": null, "banner": null, "premium_tier": 0,
        "premium_subscription_count": 0, "preferred_locale": "en-US", "public_updates_channel_id": null,
        "max_video_channel_users": 25, "nsfw_level": 0, "stickers": [], "premium_progress_bar_enabled": false,
        "safety_alerts_channel_id": null,
    });
    merge(&mut shown, more);
    shown
}

/// A guild as `GUILD_CREATE` shows it.
pub(super) fn whole_guild(world: &World, id: Guild) -> Value {
    let of = |thread: bool| -> Vec<Value> {
        let here = world.places.values().filter(|place| place.guild == Some(id) && !place.archived);
        here.filter(|place| (place.kind == Kind::Thread) == thread).map(|place| channel(world, place.id)).collect()
    };
    let members: Vec<Value> = world.people.keys().map(|person| member(world, *person)).collect();
    let mut shown = guild(world, id);
    let more = json!({
        "joined_at": timestamp(id.0), "large": false, "unavailable": false, "member_count": members.len(),
        "voice_states": [], "members": members, "channels": of(false), "threads": of(true), "presences": [],
        "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": [],
    });
    merge(&mut shown, more);
    shown
}

pub(super) fn attachment(world: &World, channel: Channel, file: &Stored) -> Value {
    let url = format!("http://{}/attachments/{channel}/{}/{}", world.address, file.id, file.name);
    json!({
        "id": file.id.to_string(), "filename": file.name, "size": file.bytes.len(), "url": url,
        "proxy_url": url, "content_type": file.kind,
    })
}

/// A message as REST shows it: without guild and member.
pub(super) fn message(world: &World, said: &Said) -> Value {
    let mut shown = plain(world, said);
    if let Some(target) = said.reply_to {
        shown["type"] = json!(19);
        shown["message_reference"] = json!({
            "type": 0, "message_id": target.to_string(), "channel_id": said.channel.to_string(),
            "guild_id": world.member_of(said.channel).map(|guild| guild.to_string()),
        });
        let quoted = world.said.get(&(said.channel, target));
        shown["referenced_message"] = quoted.map_or(Value::Null, |quoted| plain(world, quoted));
    }
    shown
}

fn plain(world: &World, said: &Said) -> Value {
    let files: Vec<Value> = said.files.iter().map(|file| attachment(world, said.channel, file)).collect();
    let mentions: Vec<Value> = said.pings.people.iter().map(|person| user(world, *person)).collect();
    let roles: Vec<String> = said.pings.roles.iter().map(u64::to_string).collect();
    let mut shown = json!({
        "id": said.id.to_string(), "channel_id": said.channel.to_string(), "author": user(world, said.author),
        "content": said.content, "timestamp": timestamp(said.id.0), "edited_timestamp": said.edited, "tts": false,
        "mention_everyone": said.pings.everyone, "mentions": mentions, "mention_roles": roles,
        "attachments": files, "embeds": [], "pinned": false, "type": 0, "flags": said.flags, "components": [],
    });
    if let Some(kind) = said.kind {
        shown["type"] = json!(kind);
    }
    if !said.reactions.is_empty() {
        shown["reactions"] = reactions(world, said);
    }
    if let Some(nonce) = &said.nonce {
        shown["nonce"] = nonce.clone();
    }
    shown
}

fn reactions(world: &World, said: &Said) -> Value {
    let mut kinds: Vec<&str> = Vec::new();
    for (_, kind) in &said.reactions {
        if !kinds.contains(&kind.as_str()) {
            kinds.push(kind);
        }
    }
    let row = |kind: &&str| {
        let by: Vec<Person> = said.reactions.iter().filter(|(_, k)| k == kind).map(|(who, _)| *who).collect();
        json!({
            "count": by.len(), "count_details": { "burst": 0, "normal": by.len() }, "me": by.contains(&world.bot),
            "me_burst": false, "emoji": emoji(kind), "burst_colors": [],
        })
    };
    kinds.iter().map(row).collect()
}

/// `name:id` is a custom one, anything else Unicode.
pub(super) fn emoji(kind: &str) -> Value {
    match kind.split_once(':') {
        Some((name, id)) => json!({ "id": id, "name": name, "animated": false }),
        None => json!({ "id": null, "name": kind }),
    }
}

/// A message as the gateway shows it.
pub(super) fn message_event(world: &World, said: &Said) -> Value {
    let mut shown = message(world, said);
    if let Some(guild) = world.member_of(said.channel) {
        shown["guild_id"] = json!(guild.to_string());
        shown["member"] = partial_member(said.author);
    }
    shown
}

pub(super) fn visible(said: &Said) -> bool {
    said.flags & EPHEMERAL == 0
}

pub(super) fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        let more: Map<String, Value> = more;
        into.extend(more);
    }
}

pub(super) fn message_gone(world: &World, channel: Channel, message: Message) -> Value {
    let mut shown = json!({ "id": message.to_string(), "channel_id": channel.to_string() });
    if let Some(guild) = world.member_of(channel) {
        shown["guild_id"] = json!(guild.to_string());
    }
    shown
}
