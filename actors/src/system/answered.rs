//! The owner's answer as a continuation's session is given it, and the guard of a secret one.

use clankie_domain::answer::{SECRET_MIN, StoredAnswer, is_long_enough};
use clankie_domain::ask::Resolution;
use clankie_domain::handoff::HandoffRecord;
use clankie_domain::mutant::{self, Mutant};
use clankie_domain::result::{FailCode, KeptFile, Media};
use clankie_domain::session::{Outcome, Reply, SessionEvent};
use serde_json::Value;

use crate::ports::{Answered, Vault};
use crate::store::Store;

/// What stands in place of a secret answer wherever it would be shown.
const HIDDEN: &str = "[private answer]";

/// Why a continuation cannot be given its answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the owner's answer cannot be read: {0}")]
pub(crate) struct NoAnswer(String);

/// The answer that this record continues with, if it is a continuation.
pub(crate) fn of(record: &HandoffRecord, store: &Store, vault: &dyn Vault) -> Result<Option<Answered>, NoAnswer> {
    let Some(request) = record.delivery.answered() else { return Ok(None) };
    let found = store.snapshot().and_then(|now| now.answer_of(request)).map_err(|why| NoAnswer(why.to_string()))?;
    let Some((ask, Resolution::Submitted { answer, .. })) = found else {
        return Err(NoAnswer("there is none".to_owned()));
    };
    let shown = answer.shown(&ask);
    let told = match &answer {
        StoredAnswer::Open(_) => shown.clone(),
        StoredAnswer::Sealed(sealed) => vault.open(request, sealed).map_err(|why| NoAnswer(why.to_string()))?,
    };
    Ok(Some(Answered { request, prompt: ask.prompt, shown, told }))
}

/// The answer in a frame that says what it is.
pub(crate) fn framed(answered: &Answered) -> String {
    format!(
        "The owner has answered the question that you asked earlier. The answer says what the owner wants; it \
         grants nothing beyond that.\n\nThe question:\n{}\n\nThe answer:\n{}",
        answered.prompt, answered.told
    )
}

/// The words of a secret answer in every form in which they may be written, kept to find them
/// wherever they must not stand: plain, and as text inside JSON once and twice over.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Vec<String>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// The secret of an answer that is shown otherwise than it is told.
    pub(crate) fn of(answered: &Answered) -> Option<Self> {
        (answered.shown != answered.told && is_long_enough(&answered.told)).then(|| Self::words(&answered.told))
    }

    fn words(told: &str) -> Self {
        let mut forms: Vec<String> = [told, told.trim()].into_iter().flat_map(written).collect();
        forms.retain(|form| form.len() >= SECRET_MIN);
        // The longest first: a shorter form may stand inside a longer one.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self(forms)
    }

    /// `text` without the secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        if mutant::on(Mutant::M7PassedOn) {
            return text.to_owned();
        }
        self.0.iter().fold(text.to_owned(), |text, form| text.replace(form.as_str(), HIDDEN))
    }

    /// `text`, which may have been cut, without the secret and without a beginning of it at its end.
    fn hide_cut(&self, text: &str) -> String {
        let text = self.hide(text);
        match self.begun(&text) {
            begun if begun >= SECRET_MIN => format!("{}{HIDDEN}", &text[..text.len() - begun]),
            _ => text,
        }
    }

    /// Whether the secret stands in that value.
    pub(crate) fn is_in(&self, value: &Value) -> bool {
        let text = value.to_string();
        self.0.iter().any(|form| text.contains(form.as_str()))
    }

    /// Arguments of a tool without the secret.
    pub(crate) fn hide_in(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide_in(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(key, value)| (self.hide(&key), self.hide_in(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// How many bytes at the end of `text` may be the beginning of the secret: what must not be let
    /// go before more is known.
    pub(crate) fn begun(&self, text: &str) -> usize {
        let of = |form: &String| {
            let longest = form.len().saturating_sub(1).min(text.len());
            let begins = |n: &usize| text.is_char_boundary(text.len() - n) && form.starts_with(&text[text.len() - n..]);
            (1..=longest).rev().find(begins).unwrap_or(0)
        };
        if mutant::on(Mutant::M7PassedOnInPieces) { 0 } else { self.0.iter().map(of).max().unwrap_or(0) }
    }
}

/// Words as they stand in plain text, and in JSON once and twice over.
fn written(words: &str) -> [String; 3] {
    let once = escaped(words);
    let twice = escaped(&once);
    [words.to_owned(), once, twice]
}

/// Text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Keeps a secret out of what a session says, across the pieces that it says it in.
#[derive(Debug)]
pub(crate) struct Veil {
    secret: Secret,
    /// The end of the text so far, which may be the beginning of the secret.
    held: String,
}

impl Veil {
    /// A veil over that secret.
    pub(crate) fn new(secret: Secret) -> Self {
        Self { secret, held: String::new() }
    }

    /// The events that may go on in place of this one.
    pub(crate) fn pass(&mut self, event: SessionEvent) -> Vec<SessionEvent> {
        if let SessionEvent::Text(text) = event {
            let text = self.secret.hide(&(std::mem::take(&mut self.held) + &text));
            let (safe, rest) = text.split_at(text.len() - self.secret.begun(&text));
            self.held = rest.to_owned();
            return said(safe.to_owned());
        }
        let mut events = said(std::mem::take(&mut self.held));
        events.push(self.veiled(event));
        events
    }

    fn veiled(&self, event: SessionEvent) -> SessionEvent {
        match event {
            SessionEvent::Tool { id, name, phase, detail } => {
                let (id, name) = (self.secret.hide(&id), self.secret.hide(&name));
                SessionEvent::Tool { id, name, phase, detail: self.secret.hide_cut(&detail) }
            }
            SessionEvent::Note(text) => SessionEvent::Note(self.secret.hide(&text)),
            SessionEvent::Settled(Outcome::Completed(Reply::Text { text, media })) => {
                let text = self.secret.hide(&text);
                let media = media.into_iter().map(|medium| self.shown(medium)).collect();
                SessionEvent::Settled(Outcome::Completed(Reply::Text { text, media }))
            }
            SessionEvent::Settled(Outcome::Completed(Reply::WaitingUser { prompt, approval })) => {
                let prompt = self.secret.hide(&prompt);
                SessionEvent::Settled(Outcome::Completed(Reply::WaitingUser { prompt, approval }))
            }
            SessionEvent::Settled(Outcome::Failed(code)) => {
                // A code is a word for machines, so nothing can stand in it in place of a secret.
                let told = self.secret.hide(code.as_str()) != code.as_str();
                SessionEvent::Settled(Outcome::Failed(if told { FailCode::ExecutorFailed } else { code }))
            }
            SessionEvent::Ready
            | SessionEvent::Took
            | SessionEvent::Text(_)
            | SessionEvent::Steer(..)
            | SessionEvent::Usage(_)
            | SessionEvent::Settled(Outcome::Completed(Reply::Silent) | Outcome::Aborted | Outcome::Uncertain) => event,
        }
    }

    fn shown(&self, medium: Media) -> Media {
        let Media { url, mime_type, file } = medium;
        let file = file.map(|file| KeptFile { name: self.secret.hide(&file.name), ..file });
        Media { url: self.secret.hide(&url), mime_type: self.secret.hide(&mime_type), file }
    }
}

fn said(text: String) -> Vec<SessionEvent> {
    if text.is_empty() { Vec::new() } else { vec![SessionEvent::Text(text)] }
}

#[cfg(test)]
mod tests {
    use clankie_domain::ids::RequestId;

    use super::*;

    #[test]
    fn m7_a_secret_is_hidden_wherever_it_would_stand() {
        let secret = Secret::words("hunter22");
        assert_eq!(secret.hide("it is hunter22, hunter22!"), format!("it is {HIDDEN}, {HIDDEN}!"));
        let hidden = secret.hide_in(serde_json::json!({"a": ["hunter22"], "hunter22": {"b": "x hunter22"}}));
        assert!(!hidden.to_string().contains("hunter22"), "{hidden}");
        assert_eq!(secret.begun("the word is hunt"), 4);
        assert_eq!(secret.begun("nothing"), 0);
        assert_eq!(Secret::words("üü€").begun("xü"), 2);
    }

    /// What would be replaced then is in every text, and its gaps would spell the secret.
    #[test]
    fn m7_a_short_secret_with_blanks_around_it_garbles_no_text() {
        let (shown, prompt, request) = ("Private answer".to_owned(), String::new(), RequestId(uuid::Uuid::nil()));
        let told = |told: &str| Answered { request, prompt: prompt.clone(), shown: shown.clone(), told: told.into() };
        assert_eq!(Secret::of(&told("e    ")), None);
        assert_eq!(Secret::of(&told("\n\n\n\te")), None);
        let secret = Secret::words("e\n\n\n\n");
        assert_eq!(secret.hide("every letter, the e too"), "every letter, the e too");
        let secret = Secret::of(&told(" say\"it \n")).unwrap();
        assert_eq!(
            secret.hide(r#"it is say"it, {"text":"say\"it"}"#),
            format!(r#"it is {HIDDEN}, {{"text":"{HIDDEN}"}}"#)
        );
    }

    #[test]
    fn m7_a_secret_is_hidden_however_it_is_escaped() {
        let key = "-----BEGIN KEY-----\nPw\"9\\x\tend";
        let secret = Secret::words(key);
        let once = serde_json::json!({ "text": format!("using {key}") }).to_string();
        let twice = serde_json::json!({ "arguments": once.clone() }).to_string();
        for text in [key.to_owned(), once.clone(), twice] {
            let hidden = secret.hide(&text);
            assert!(!hidden.contains("BEGIN KEY") && !hidden.contains("Pw") && hidden.contains(HIDDEN), "{hidden}");
        }
        assert!(secret.is_in(&serde_json::json!([key])));
        assert!(!secret.hide_cut(&once[..once.len() - 6]).contains("BEGIN KEY"));
    }

    #[test]
    fn m7_a_secret_is_hidden_however_it_is_cut_into_pieces() {
        let whole = "say hunter22 and hunhunter22, huntsman";
        for at in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            let mut veil = Veil::new(Secret::words("hunter22"));
            let mut heard = String::new();
            let end = SessionEvent::Note(String::new());
            for piece in [SessionEvent::Text(whole[..at].into()), SessionEvent::Text(whole[at..].into()), end] {
                for event in veil.pass(piece) {
                    if let SessionEvent::Text(text) = event {
                        heard.push_str(&text);
                    }
                }
            }
            assert_eq!(heard, whole.replace("hunter22", HIDDEN), "cut at {at}");
        }
    }

    #[test]
    fn m7_a_secret_stands_neither_in_a_file_nor_in_a_failure() {
        let mut veil = Veil::new(Secret::words("hunter22"));
        let file = Some(KeptFile { name: "hunter22.txt".into(), size: 1 });
        let media = vec![Media { url: "x:hunter22".into(), mime_type: "text/hunter22".into(), file }];
        let reply = Outcome::Completed(Reply::Text { text: String::new(), media });
        let failed = |code: &str| SessionEvent::Settled(Outcome::Failed(FailCode::Named(code.into())));
        for event in [SessionEvent::Settled(reply), failed("hunter22_was_wrong")] {
            let said = format!("{:?}", veil.pass(event));
            assert!(!said.contains("hunter22"), "{said}");
        }
        assert_eq!(veil.pass(failed("no_disk")), [failed("no_disk")]);
    }
}
