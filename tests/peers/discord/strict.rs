//! What Discord refuses in a body: unknown fields, wrong types, too much of anything.

use serde_json::Value;

use super::call::Reply;
use super::world::World;

/// Code points in one message.
pub(super) const CONTENT: usize = 2000;
/// Characters in a nonce.
const NONCE: usize = 25;
/// Mentions that may be listed.
const LISTED: usize = 100;

pub(super) const POST: &[&str] = &[
    "content",
    "nonce",
    "tts",
    "embeds",
    "allowed_mentions",
    "message_reference",
    "components",
    "sticker_ids",
    "flags",
    "attachments",
    "enforce_nonce",
    "poll",
];
pub(super) const EDIT: &[&str] = &["content", "embeds", "flags", "allowed_mentions", "components", "attachments"];
pub(super) const FOLLOWUP: &[&str] =
    &["content", "tts", "embeds", "allowed_mentions", "components", "flags", "attachments", "poll"];

impl World {
    /// Refuses a body with a field that the route does not have. The real one would ignore it; no
    /// client should send it.
    pub(super) fn only(&mut self, body: &Value, known: &[&str]) -> Result<(), Reply> {
        let Value::Object(fields) = body else {
            self.violation("a body that is no object");
            return Err(Reply::refused(400, 50109, "The request body contains invalid JSON."));
        };
        match fields.keys().find(|field| !known.contains(&field.as_str())) {
            None => Ok(()),
            Some(field) => {
                self.violation(format!("unknown field {field}"));
                Err(Reply::invalid(field, "UNKNOWN_FIELD", "This field is not known."))
            }
        }
    }

    fn wrong(&mut self, field: &str, code: &str, message: &str) -> Reply {
        self.violation(format!("{field}: {message}"));
        Reply::invalid(field, code, message)
    }

    pub(super) fn check_content(&mut self, content: &Value) -> Result<(), Reply> {
        match content {
            Value::Null => Ok(()),
            Value::String(text) if text.chars().count() <= CONTENT => Ok(()),
            Value::String(_) => Err(self.wrong("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")),
            _ => Err(self.wrong("content", "STRING_TYPE_CONVERT", "Could not interpret as string.")),
        }
    }

    pub(super) fn check_nonce(&mut self, body: &Value) -> Result<Option<String>, Reply> {
        let nonce = match &body["nonce"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => return Err(self.wrong("nonce", "NONCE_TYPE", "Must be a string or an integer.")),
        };
        if nonce.as_ref().is_some_and(|nonce| nonce.chars().count() > NONCE) {
            return Err(self.wrong("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."));
        }
        if !matches!(body["enforce_nonce"], Value::Null | Value::Bool(_)) {
            return Err(self.wrong("enforce_nonce", "BOOLEAN_TYPE_CONVERT", "Must be either true or false."));
        }
        Ok(nonce)
    }

    pub(super) fn check_mentions(&mut self, allowed: &Value) -> Result<(), Reply> {
        if allowed.is_null() {
            return Ok(());
        }
        self.only(allowed, &["parse", "users", "roles", "replied_user"])?;
        let list = |name: &str| allowed[name].as_array().cloned().unwrap_or_default();
        let (parse, users, roles) = (list("parse"), list("users"), list("roles"));
        let known = |kind: &Value| matches!(kind.as_str(), Some("users" | "roles" | "everyone"));
        if !parse.iter().all(known) {
            return Err(self.wrong("allowed_mentions", "BASE_TYPE_CHOICES", "parse: users, roles or everyone."));
        }
        for (name, listed) in [("users", &users), ("roles", &roles)] {
            if !listed.is_empty() && parse.iter().any(|kind| kind == name) {
                let message = format!("parse:[\"{name}\"] and {name}: [ids...] are mutually exclusive.");
                return Err(self.wrong("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", &message));
            }
            let snowflake = |id: &Value| id.as_str().is_some_and(|id| id.parse::<u64>().is_ok());
            if listed.len() > LISTED || !listed.iter().all(snowflake) {
                return Err(self.wrong("allowed_mentions", "LIST_TYPE_CONVERT", "At most 100 snowflakes."));
            }
        }
        if !matches!(allowed["replied_user"], Value::Null | Value::Bool(_)) {
            return Err(self.wrong("allowed_mentions", "BOOLEAN_TYPE_CONVERT", "replied_user: true or false."));
        }
        Ok(())
    }
}
