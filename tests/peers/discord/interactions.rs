//! Slash commands: registering them, and answering the people who use them.

use serde_json::{Value, json};

use super::call::{Answered, Call, Reply};
use super::dispatch::Scope;
use super::ids::{Channel, Interaction, Message, Person};
use super::json;
use super::log::{Answer, Happening};
use super::strict;
use super::world::{Asked, AskedState, EPHEMERAL, LOADING, World};

const COMMAND: &[&str] = &[
    "id",
    "name",
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "default_member_permissions",
    "dm_permission",
    "type",
    "integration_types",
    "contexts",
    "nsfw",
    "handler",
];

impl World {
    pub(super) fn applications(&mut self, call: &Call, rest: &[&str]) -> Answered {
        match (call.method.as_str(), rest) {
            ("GET", ["commands"] | ["guilds", _, "commands"]) => Ok(Reply::ok(json!(self.commands))),
            ("PUT", ["commands"] | ["guilds", _, "commands"]) => {
                let wanted = call.json().as_array().cloned().unwrap_or_default();
                self.commands = wanted.iter().map(|one| self.command(one)).collect::<Result<_, _>>()?;
                self.registered()
            }
            ("POST", ["commands"] | ["guilds", _, "commands"]) => {
                let command = self.command(call.json())?;
                self.commands.retain(|known| known["name"] != command["name"]);
                self.commands.push(command.clone());
                self.registered()?;
                Ok(Reply::created(command))
            }
            _ => Err(self.unknown(call)),
        }
    }

    fn registered(&mut self) -> Answered {
        let names = self.commands.iter().filter_map(|command| command["name"].as_str().map(str::to_owned));
        let names = names.collect();
        self.note(Happening::Commands { names });
        Ok(Reply::ok(json!(self.commands)))
    }

    fn command(&mut self, wanted: &Value) -> Result<Value, Reply> {
        self.only(wanted, COMMAND)?;
        let name = wanted["name"].as_str().unwrap_or_default();
        let letters = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if !(1..=32).contains(&name.chars().count()) || !name.chars().all(letters) || name.to_lowercase() != name {
            return Err(Reply::invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"));
        }
        let described = wanted["description"].as_str().unwrap_or_default();
        if !(1..=100).contains(&described.chars().count()) {
            return Err(Reply::invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."));
        }
        let known = self.commands.iter().find(|known| known["name"] == wanted["name"]);
        let id = known.map(|known| known["id"].clone());
        let id = id.unwrap_or_else(|| json!(self.mint.next().to_string()));
        let mut command = wanted.clone();
        let version = self.mint.next().to_string();
        let more = json!({
            "id": id, "application_id": self.bot.to_string(), "version": version,
            "type": wanted.get("type").cloned().unwrap_or(json!(1)), "default_member_permissions": null,
        });
        json::merge(&mut command, more);
        Ok(command)
    }

    /// Someone uses a command: its name, then sub-commands; option values as text.
    pub(super) fn ask(&mut self, at: (Channel, Person), words: &[&str], options: &[(&str, &str)]) -> Interaction {
        let command = self.commands.iter().find(|known| known["name"] == words[0]).cloned();
        let command = command.unwrap_or_else(|| panic!("nobody can use /{}: it is not registered", words[0]));
        let (channel, who) = at;
        let id = Interaction(self.mint.next());
        let token = format!("interaction-{id}");
        let mut asked = json!({
            "id": id.to_string(), "application_id": self.bot.to_string(), "type": 2, "token": token, "version": 1,
            "data": {
                "id": command["id"], "name": words[0], "type": 1,
                "options": chosen(&command["options"], &words[1..], options),
            },
            "channel_id": channel.to_string(), "channel": json::channel(self, channel),
            "app_permissions": "1125899906842623", "locale": "en-US", "entitlements": [],
            "authorizing_integration_owners": {}, "context": 0, "attachment_size_limit": self.file_bytes,
        });
        match self.member_of(channel) {
            Some(guild) => {
                let mut member = json::member(self, who);
                member["permissions"] = json!("1125899906842623");
                asked["member"] = member;
                asked["guild_id"] = json!(guild.to_string());
                asked["guild_locale"] = json!("en-US");
            }
            None => {
                asked["user"] = json::user(self, who);
                asked["context"] = json!(1);
            }
        }
        let state = AskedState::Waiting;
        self.asked.insert(id, Asked { token, channel, state, original: None, answers: Vec::new() });
        self.tell(Scope::Always, "INTERACTION_CREATE", &asked);
        id
    }

    pub(super) fn callback(&mut self, call: &Call, id: Interaction, token: &str) -> Answered {
        let asked = self.asked.get(&id).filter(|asked| asked.token == token).cloned();
        let Some(asked) = asked.filter(|asked| asked.state != AskedState::Expired) else {
            return Err(Reply::refused(404, 10062, "Unknown interaction"));
        };
        if asked.state == AskedState::Acknowledged {
            self.violation("an interaction was acknowledged twice");
            return Err(Reply::refused(400, 40060, "Interaction has already been acknowledged."));
        }
        let body = call.json().clone();
        self.only(&body, &["type", "data"])?;
        let data = body["data"].clone();
        let (kind, loading) = match body["type"].as_u64() {
            Some(4) => ("message", 0),
            Some(5) => ("deferred", LOADING),
            Some(1 | 6 | 7 | 8 | 9) => ("other", 0),
            _ => return Err(Reply::invalid("type", "BASE_TYPE_CHOICES", "No such callback.")),
        };
        if !data.is_null() {
            self.only(&data, strict::FOLLOWUP)?;
            self.check_content(&data["content"])?;
            self.check_mentions(&data["allowed_mentions"])?;
        }
        if kind == "message" {
            self.check_empty(&data, call.files())?;
        }
        let message = self.answer_with(asked.channel, &data, call);
        self.said.get_mut(&(asked.channel, message)).unwrap().flags |= loading;
        let asked = self.asked.get_mut(&id).unwrap();
        (asked.state, asked.original) = (AskedState::Acknowledged, Some(message));
        self.answered(id, kind, &data);
        Ok(Reply::nothing())
    }

    fn answer_with(&mut self, channel: Channel, data: &Value, call: &Call) -> Message {
        let said = self.stand(channel, data, (None, call.files()));
        self.tell_message("MESSAGE_CREATE", &said);
        said.id
    }

    fn answered(&mut self, interaction: Interaction, kind: &'static str, data: &Value) {
        let content = data["content"].as_str().unwrap_or_default().to_owned();
        let ephemeral = data["flags"].as_u64().unwrap_or_default() & EPHEMERAL != 0;
        let answer = Answer { kind, content, ephemeral };
        self.asked.get_mut(&interaction).unwrap().answers.push(answer.clone());
        self.note(Happening::Answered { interaction, answer });
    }

    pub(super) fn followups(&mut self, call: &Call, token: &str, rest: &[&str]) -> Answered {
        let found = self.asked.iter().find(|(_, asked)| asked.token == token).map(|(id, asked)| (*id, asked.clone()));
        let known = found.filter(|(_, asked)| asked.state == AskedState::Acknowledged);
        let Some((id, asked)) = known else {
            return Err(Reply::refused(404, 10015, "Unknown Webhook"));
        };
        let message = match rest {
            ["messages", "@original"] => asked.original,
            ["messages", message] => Some(Message(self.id(message)?)),
            _ => None,
        };
        let at = message.map(|message| (asked.channel, message)).filter(|at| self.said.contains_key(at));
        match (call.method.as_str(), rest, at) {
            ("POST", [], _) => self.follow(call, id, asked.channel),
            (_, ["messages", _], None) => Err(Reply::refused(404, 10008, "Unknown Message")),
            ("GET", _, Some(at)) => Ok(Reply::ok(json::message(self, &self.said[&at]))),
            ("DELETE", _, Some(at)) => {
                self.removed(at.0, at.1);
                self.answered(id, "deleted", &Value::Null);
                Ok(Reply::nothing())
            }
            ("PATCH", _, Some(at)) => self.rewrite(call, id, at),
            _ => Err(self.unknown(call)),
        }
    }

    fn follow(&mut self, call: &Call, id: Interaction, channel: Channel) -> Answered {
        let body = call.json().clone();
        self.only(&body, strict::FOLLOWUP)?;
        self.check_content(&body["content"])?;
        self.check_mentions(&body["allowed_mentions"])?;
        self.check_empty(&body, call.files())?;
        let message = self.answer_with(channel, &body, call);
        self.answered(id, "followup", &body);
        Ok(Reply::ok(json::message(self, &self.said[&(channel, message)])))
    }

    fn rewrite(&mut self, call: &Call, id: Interaction, at: (Channel, Message)) -> Answered {
        let mut body = call.json().clone();
        self.only(&body, strict::EDIT)?;
        self.check_content(&body["content"])?;
        self.check_mentions(&body["allowed_mentions"])?;
        let said = self.said.get_mut(&at).unwrap();
        said.flags &= !LOADING;
        // Whether only the asker sees it was settled by the first answer.
        body["flags"] = json!(said.flags);
        let said = self.edited(at.0, at.1, body["content"].as_str());
        self.answered(id, "edit", &body);
        Ok(Reply::ok(json::message(self, &said)))
    }
}

/// The chosen options, typed as the command declares them.
fn chosen(declared: &Value, words: &[&str], options: &[(&str, &str)]) -> Value {
    let known = |name: &str| declared.as_array().and_then(|list| list.iter().find(|one| one["name"] == name));
    if let [word, rest @ ..] = words {
        let sub = known(word).unwrap_or_else(|| panic!("there is no sub-command {word}"));
        return json!([{ "name": word, "type": sub["type"], "options": chosen(&sub["options"], rest, options) }]);
    }
    let typed = |(name, text): &(&str, &str)| {
        let option = known(name).unwrap_or_else(|| panic!("there is no option {name}"));
        let value = match option["type"].as_u64() {
            Some(4) => json!(text.parse::<i64>().unwrap()),
            Some(5) => json!(text.parse::<bool>().unwrap()),
            _ => json!(text),
        };
        json!({ "name": name, "type": option["type"], "value": value })
    };
    options.iter().map(typed).collect()
}
