//! What is typed or piped in: answers, private words, and the word that approves.
//!
//! Nothing is asked of anybody without a terminal, and no private word is shown on one.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal, Stdin};

use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use super::failure::Failure;
use super::screen::Screen;

/// Longest answer, in bytes: the service takes no longer one.
pub(super) const ANSWER_MAX: usize = 64_000;
/// Longest map of a worker's answers, in bytes: their words are at most as long as one answer, and
/// JSON writes some characters in six bytes. One call of the service takes 288 KB.
const WORKER_MAX: usize = 256_000;
/// A line end after the words belongs to the pipe that brought them.
const LINE_ENDS: [&str; 2] = ["\r\n", "\n"];
/// What approves.
const APPROVE: &str = "approve";

/// Question id → answers.
pub(super) type WorkerAnswers = BTreeMap<String, Vec<String>>;

/// Whether somebody can be asked: they type here and see what is said.
pub(super) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The words of standard input, without the line end that a pipe puts after them.
pub(super) async fn words() -> Result<String, Failure> {
    piped("--stdin")?;
    let longest = ANSWER_MAX + LINE_ENDS[0].len();
    words_of(whole(longest, "an answer", ANSWER_MAX).await?)
}

/// The answers to every question of a worker, as a JSON map.
pub(super) async fn worker_answers() -> Result<WorkerAnswers, Failure> {
    piped("--worker-stdin")?;
    answers_of(&whole(WORKER_MAX, "a map of answers", WORKER_MAX).await?)
}

/// Private words: of standard input, or typed without being shown.
pub(super) async fn private_words(screen: &Screen) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return words().await;
    }
    let quiet = Quiet::begin()?;
    screen.words("Type the private answer and Enter; it is not shown.");
    let typed = typed_line().await;
    drop(quiet);
    words_of(typed?.into_bytes())
}

/// Whether the person there types the word that approves. What was typed before they were asked does
/// not count.
pub(super) async fn approves(screen: &Screen) -> Result<bool, Failure> {
    tcflush(io::stdin(), QueueSelector::IFlush).map_err(io::Error::from)?;
    screen.words(&format!("Type {APPROVE} and Enter to approve exactly this; anything else leaves it waiting."));
    Ok(typed_line().await?.trim() == APPROVE)
}

/// Words that stand on the command line.
pub(super) fn spoken(text: &str) -> Result<String, String> {
    sound(text).map(|()| text.to_owned())
}

fn piped(flag: &str) -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::Usage(format!("{flag} reads a pipe or a file, and standard input is a terminal")));
    }
    Ok(())
}

async fn whole(longest: usize, what: &str, said_max: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut input = tokio::io::stdin().take(longest as u64 + 1);
    input.read_to_end(&mut bytes).await?;
    if bytes.len() > longest {
        return Err(Failure::Usage(format!("{what} has at most {said_max} bytes; nothing was sent")));
    }
    Ok(bytes)
}

async fn typed_line() -> Result<String, Failure> {
    let line = BufReader::new(tokio::io::stdin()).lines().next_line().await?;
    Ok(line.unwrap_or_default())
}

fn words_of(bytes: Vec<u8>) -> Result<String, Failure> {
    let text = String::from_utf8(bytes).map_err(|_| Failure::Usage("an answer is UTF-8 text".to_owned()))?;
    let words = LINE_ENDS.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(&text);
    sound(words).map_err(Failure::Usage)?;
    Ok(words.to_owned())
}

/// B64: an empty answer is none.
fn sound(words: &str) -> Result<(), String> {
    if words.trim().is_empty() {
        return Err("an answer is not empty".to_owned());
    }
    if words.len() > ANSWER_MAX {
        return Err(format!("an answer has at most {ANSWER_MAX} bytes; nothing was sent"));
    }
    Ok(())
}

/// Reads the map. JSON lets a key stand twice; two answers to one question are none.
fn answers_of(json: &[u8]) -> Result<WorkerAnswers, Failure> {
    let refused = |error: serde_json::Error| {
        Failure::Usage(format!("--worker-stdin takes {{\"<question id>\": [\"<answer>\", …], …}}: {error}"))
    };
    let mut json = serde_json::Deserializer::from_slice(json);
    let answers = json.deserialize_map(EachOnce).map_err(refused)?;
    json.end().map_err(refused)?;
    Ok(answers)
}

struct EachOnce;

impl<'de> Visitor<'de> for EachOnce {
    type Value = WorkerAnswers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from question id to answers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WorkerAnswers, A::Error> {
        let mut answers = WorkerAnswers::new();
        while let Some((question, said)) = map.next_entry::<String, Vec<String>>()? {
            if answers.insert(question, said).is_some() {
                return Err(A::Error::custom("a question is answered twice"));
            }
        }
        Ok(answers)
    }
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Quiet {
    stdin: Stdin,
    before: Termios,
}

impl Quiet {
    fn begin() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        // What was typed before, in sight of everybody, is not taken for it.
        tcsetattr(&stdin, OptionalActions::Flush, &quiet)?;
        Ok(Self { stdin, before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _gone = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: &[u8]) -> Option<String> {
        words_of(bytes.to_vec()).ok()
    }

    #[test]
    fn b64_an_empty_answer_is_none_and_a_pipes_line_end_is_no_part_of_one() {
        let table: [(&[u8], Option<&str>); 9] = [
            (b"yes\n", Some("yes")),
            (b"yes\r\n", Some("yes")),
            (b"yes", Some("yes")),
            (b"two\nlines\n\n", Some("two\nlines\n")),
            (b" padded \n", Some(" padded ")),
            (b"", None),
            (b"\n", None),
            (b" \t\n", None),
            (b"\xff\n", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(taken(bytes).as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_has_at_most_64_000_bytes() {
        let longest = "é".repeat(ANSWER_MAX / 2);
        assert_eq!(taken(format!("{longest}\n").as_bytes()).as_ref(), Some(&longest));
        assert_eq!(taken(format!("{longest}x").as_bytes()), None);
    }

    #[test]
    fn a_workers_answers_name_every_question_once() {
        let table = [
            (r#"{"q1": ["a", "b"], "q2": ["c"]}"#, true),
            (r#"{"q1": ["a"]} "#, true),
            (r#"{"q1": ["a"], "q1": ["b"]}"#, false),
            (r#"{"q1": "a"}"#, false),
            (r#"{"q1": [1]}"#, false),
            (r#"[["q1"]]"#, false),
            (r#"{"q1": ["a"]} {}"#, false),
            ("", false),
        ];
        for (json, sound) in table {
            assert_eq!(answers_of(json.as_bytes()).is_ok(), sound, "{json}");
        }
        let expected = WorkerAnswers::from([("q1".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
        assert_eq!(answers_of(br#"{"q1": ["a", "b"]}"#).unwrap(), expected);
    }
}
