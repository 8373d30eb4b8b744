//! An object must come as an object: `serde` would also read it from an array of its fields.

use serde::Serialize;
use serde_json::Value;

use crate::http::problem::{Problem, Reason};

/// Refuses where `sent` has an array in the place of an object of what was read from it.
pub(super) fn same<T: Serialize>(sent: &Value, read: &T) -> Result<(), Problem> {
    let read = serde_json::to_value(read).map_err(|_| Problem::new(Reason::BadRequest))?;
    walk(sent, &read, &mut Vec::new())
}

fn walk<'a>(sent: &'a Value, read: &'a Value, path: &mut Vec<&'a str>) -> Result<(), Problem> {
    match (sent, read) {
        (Value::Array(_), Value::Object(_)) if path.is_empty() => {
            Err(Problem::new(Reason::BadRequest).because("the body must be an object"))
        }
        (Value::Array(_), Value::Object(_)) => Err(Problem::field(path.join("."), "must be an object")),
        (Value::Array(sent), Value::Array(read)) => {
            sent.iter().zip(read).try_for_each(|(sent, read)| walk(sent, read, path))
        }
        (Value::Object(sent), Value::Object(read)) => sent.iter().try_for_each(|(key, sent)| {
            path.push(key);
            if let Some(read) = read.get(key) {
                walk(sent, read, path)?;
            }
            path.pop();
            Ok(())
        }),
        _ => Ok(()),
    }
}
