//! One REST call as it came in, and its answer.

use serde_json::{Value, json};

/// A call: what a fault and a rule can look at.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// The path below `/api/v10`, percent-decoded, in pieces.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Body,
}

/// What came along with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Empty,
    Json(Value),
    /// The `payload_json` part, and the files by the number in `files[N]`.
    Form(Value, Vec<File>),
    /// Something that is neither.
    Unreadable,
}

/// An uploaded file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct File {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) bytes: Vec<u8>,
}

impl Call {
    pub(crate) fn is_post(&self) -> bool {
        self.method == "POST" && matches!(self.pieces().as_slice(), ["channels", _, "messages"])
    }

    pub(crate) fn pieces(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    pub(crate) fn shown(&self) -> String {
        format!("/{}", self.path.join("/"))
    }

    pub(crate) fn json(&self) -> &Value {
        match &self.body {
            Body::Json(value) | Body::Form(value, _) => value,
            Body::Empty | Body::Unreadable => &Value::Null,
        }
    }

    pub(crate) fn files(&self) -> &[File] {
        match &self.body {
            Body::Form(_, files) => files,
            _ => &[],
        }
    }

    /// The content of the message that it would post, or nothing.
    pub(crate) fn content(&self) -> &str {
        self.json()["content"].as_str().unwrap_or_default()
    }

    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The bucket of the real thing: the route, and the guild, channel or webhook in it.
    pub(crate) fn bucket(&self) -> String {
        let number = |piece: &str| piece.len() > 10 && piece.chars().all(|c| c.is_ascii_digit());
        let keep = |(at, piece): (usize, &String)| match at {
            0 | 1 => piece.clone(),
            _ if number(piece) => ":id".to_owned(),
            _ if self.path.get(at - 1).is_some_and(|before| before == "reactions") => ":emoji".to_owned(),
            _ => piece.clone(),
        };
        let route: Vec<String> = self.path.iter().enumerate().map(keep).collect();
        format!("{} /{}", self.method, route.join("/"))
    }
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// What a rule refuses.
pub(crate) type Answered = Result<Reply, Reply>;

impl Reply {
    pub(crate) fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    pub(crate) fn created(body: Value) -> Self {
        Self { status: 201, body }
    }

    pub(crate) fn nothing() -> Self {
        Self { status: 204, body: Value::Null }
    }

    /// A refusal with Discord's own code.
    pub(crate) fn refused(status: u16, code: u32, message: &str) -> Self {
        Self { status, body: json!({ "message": message, "code": code }) }
    }

    /// 50035: what is wrong with which field.
    pub(crate) fn invalid(field: &str, code: &str, message: &str) -> Self {
        let errors = json!({ field: { "_errors": [{ "code": code, "message": message }] } });
        Self { status: 400, body: json!({ "message": "Invalid Form Body", "code": 50035, "errors": errors }) }
    }

    pub(crate) fn code(&self) -> u64 {
        self.body["code"].as_u64().unwrap_or_default()
    }
}
