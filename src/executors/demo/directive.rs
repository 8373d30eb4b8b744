//! The directives of the demo agent, read from the lines of a request or a steer.
//!
//! A line that begins with `!` is a directive or a complaint that says what is wrong with it;
//! every other line is words.

use std::time::Duration;

use clankie_domain::result::FailCode;
use serde_json::Value;

/// Longest wait of one directive: a day. A run has no deadline, but a clock cannot be added to for ever.
const WAIT_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// Most bytes of one `!spew`: far beyond what any run may put out, so the run's own bound is what ends it.
const SPEW_MAX: u64 = 1 << 30;
/// Most bytes of one `!file`: twice what may be kept, so that the refusal can be seen.
const FILE_MAX: u64 = 50 * 1024 * 1024;
/// Longest code of `!fail`, as the record keeps it.
const CODE_MAX: usize = 64;
/// How much of a wrong line a complaint repeats, in characters.
const SHOWN_MAX: usize = 80;

/// One thing that the demo agent does on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Directive {
    /// Waits.
    Sleep(Duration),
    /// Adds a line to the reply.
    Say(String),
    /// Ends with no reply.
    Silent,
    /// Ends with the files alone.
    Wordless,
    /// Makes a file of this name and so many bytes that goes with the reply.
    File { name: String, size: usize },
    /// Fails with this code, at once.
    Fail(FailCode),
    /// Emits nothing for ever.
    Hang,
    /// Puts out this many bytes of tool output.
    Spew(u64),
    /// Calls a tool.
    Tool { name: String, arguments: Value },
    /// Ends at once, waiting for an approval.
    Approval(String),
    /// Waits until a steer is read.
    WaitSteer(Duration),
    /// Dies as a crashed process would.
    Exit,
}

/// A line that looks like a directive and is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("I cannot obey `{shown}`: {rule}")]
pub(super) struct Complaint {
    shown: String,
    rule: &'static str,
}

/// What a text says and what it tells the agent to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// The lines that are no directives.
    pub(super) words: String,
    /// The others, in order.
    pub(super) steps: Vec<Result<Directive, Complaint>>,
}

/// Reads a request or a steer.
pub(super) fn script(text: &str) -> Script {
    let (steps, words): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('!'));
    let steps = steps.into_iter().map(directive).collect();
    Script { words: words.join("\n").trim().to_owned(), steps }
}

fn directive(line: &str) -> Result<Directive, Complaint> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    parse(name, rest.trim()).map_err(|rule| Complaint { shown: line.chars().take(SHOWN_MAX).collect(), rule })
}

fn parse(name: &str, rest: &str) -> Result<Directive, &'static str> {
    match name {
        "!sleep" => Ok(Directive::Sleep(wait(rest)?)),
        "!say" => Ok(Directive::Say(rest.to_owned())),
        "!silent" => bare(rest, Directive::Silent),
        "!wordless" => bare(rest, Directive::Wordless),
        "!file" => file(rest),
        "!fail" => fail(rest),
        "!hang" => bare(rest, Directive::Hang),
        "!spew" => Ok(Directive::Spew(number(rest, SPEW_MAX, "BYTES must be a whole number of at most 1073741824")?)),
        "!update" => Ok(tool("send_text_update", serde_json::json!({ "text": rest }))),
        "!ask" => Ok(tool("request_user_input", json(rest)?)),
        "!mail" => Ok(tool("mail_owner_update", json(rest)?)),
        "!tool" => named_tool(rest),
        "!approval" => Ok(Directive::Approval(rest.to_owned())),
        "!wait-steer" => Ok(Directive::WaitSteer(wait(rest)?)),
        "!exit" => bare(rest, Directive::Exit),
        _ => Err("there is no such directive"),
    }
}

fn tool(name: &str, arguments: Value) -> Directive {
    Directive::Tool { name: name.to_owned(), arguments }
}

fn named_tool(rest: &str) -> Result<Directive, &'static str> {
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
    if name.is_empty() {
        return Err("it needs the NAME of a tool, then its arguments as JSON");
    }
    Ok(tool(name, json(arguments)?))
}

fn file(rest: &str) -> Result<Directive, &'static str> {
    let rule = "it needs a NAME and how many BYTES, at most 52428800";
    let (name, size) = rest.rsplit_once(char::is_whitespace).ok_or(rule)?;
    let size = usize::try_from(number(size, FILE_MAX, rule)?).map_err(|_| rule)?;
    Ok(Directive::File { name: name.trim().to_owned(), size })
}

fn bare(rest: &str, directive: Directive) -> Result<Directive, &'static str> {
    if rest.is_empty() { Ok(directive) } else { Err("it takes nothing after its name") }
}

fn fail(code: &str) -> Result<Directive, &'static str> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if code.is_empty() || code.len() > CODE_MAX || !code.chars().all(legal) {
        return Err("CODE must be 1–64 letters, digits or '_'");
    }
    Ok(Directive::Fail(FailCode::parse(code)))
}

fn json(text: &str) -> Result<Value, &'static str> {
    let value: Value = serde_json::from_str(text).map_err(|_| "what follows must be JSON on the same line")?;
    if value.is_object() { Ok(value) } else { Err("the JSON must be an object") }
}

fn wait(text: &str) -> Result<Duration, &'static str> {
    let ms = number(text, WAIT_MAX_MS, "MS must be a whole number of milliseconds, at most a day")?;
    Ok(Duration::from_millis(ms))
}

fn number(text: &str, most: u64, rule: &'static str) -> Result<u64, &'static str> {
    text.parse().ok().filter(|number| *number <= most).ok_or(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_directives_are_told_apart_by_the_first_character() {
        let read = script("hello\r\n!say one\n  !say is words\n!sleep 5");
        let steps = vec![Ok(Directive::Say("one".to_owned())), Ok(Directive::Sleep(Duration::from_millis(5)))];
        assert_eq!(read, Script { words: "hello\n  !say is words".to_owned(), steps });
    }

    #[test]
    fn a_wrong_line_is_a_complaint_and_never_something_else() {
        for line in [
            "!",
            "!nonsense",
            "!sleep",
            "!sleep -1",
            "!sleep 99999999999999999999",
            "!spew many",
            "!file",
            "!file a.txt",
            "!file a.txt -1",
            "!file a.txt 99999999999",
            "!wordless now",
            "!fail",
            "!fail no spaces",
            "!ask {",
            "!ask []",
            "!mail",
            "!tool",
            "!tool react [1]",
            "!exit now",
        ] {
            let read = script(line);
            assert!(matches!(read.steps.as_slice(), [Err(_)]), "{line:?} was read as {read:?}");
        }
    }

    #[test]
    fn a_tool_without_arguments_gets_an_empty_object() {
        assert_eq!(script("!tool list_handoffs").steps, vec![Ok(tool("list_handoffs", serde_json::json!({})))]);
    }
}
