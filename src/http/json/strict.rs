//! JSON text into a value, keeping where it stands so that a refusal can name the field.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::http::problem::{Problem, Reason};

/// Deepest nesting: the deepest request of the contract has five levels.
const DEPTH_MAX: usize = 32;

/// Where the reader stands, and the rule of ours that was broken there.
#[derive(Debug, Default)]
struct Place {
    path: Vec<String>,
    broken: Option<&'static str>,
}

/// Reads the whole of `bytes` as one JSON value.
pub(super) fn read(bytes: &[u8]) -> Result<Value, Problem> {
    let mut place = Place::default();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = Walk(&mut place).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|fault| {
        let rule = place.broken.map_or_else(
            || format!("is not valid JSON at line {} column {}", fault.line(), fault.column()),
            str::to_owned,
        );
        if place.path.is_empty() {
            Problem::new(Reason::BadRequest).because(format!("the body {rule}"))
        } else {
            Problem::field(place.path.join("."), rule)
        }
    })
}

struct Walk<'a>(&'a mut Place);

impl Walk<'_> {
    fn refuse<E: Error>(self, rule: &'static str) -> E {
        self.0.broken = Some(rule);
        E::custom(rule)
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        if self.0.path.len() > DEPTH_MAX {
            return Err(self.refuse("is nested too deeply"));
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        match Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.refuse("is not a number that can be kept")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        if text.contains('\0') {
            return Err(self.refuse("must hold no NUL character"));
        }
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            self.0.path.push(list.len().to_string());
            let Some(item) = items.next_element_seed(Walk(self.0))? else { break };
            list.push(item);
            self.0.path.pop();
        }
        self.0.path.pop();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.0.path.push(key.replace('\0', "\u{fffd}"));
            if key.contains('\0') {
                return Err(self.refuse("is a key with a NUL character"));
            }
            if map.contains_key(&key) {
                return Err(self.refuse("stands twice"));
            }
            let value = entries.next_value_seed(Walk(self.0))?;
            map.insert(key, value);
            self.0.path.pop();
        }
        Ok(Value::Object(map))
    }
}
