//! The words that clients say and the model understands: which text it is, and how to answer it.
//!
//! Every text has an id of its own. A delivery's first text has the delivery's id; its edits have
//! `~1`, `~2` and so on behind it. So the model's log says which words were put to it.

const MARK: &str = "[[delivery:";
const END: &str = "]]";
/// Begins each line that is a quotation and no request.
const QUOTE: &str = "> ";
/// Begins the prompt of each ask; the run's number follows.
const ASK: &str = "ask-";

/// How the model answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// In a few milliseconds.
    Quick,
    /// In some hundred milliseconds, so that steers and kills find it at work.
    Slow,
    /// It says a word on the way first.
    Update,
    /// When the harness lets go.
    Hold,
    /// It asks the owner to choose first.
    Decide,
    /// It asks the owner to approve first.
    Approve,
    /// It asks the owner for words first.
    Describe,
    /// It asks the owner for words that are a secret first.
    Secret,
    /// It leaves the owner a note first.
    Mail,
}

impl Manner {
    const ALL: [Self; 9] = [
        Self::Quick,
        Self::Slow,
        Self::Update,
        Self::Hold,
        Self::Decide,
        Self::Approve,
        Self::Describe,
        Self::Secret,
        Self::Mail,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Slow => "slow",
            Self::Update => "update",
            Self::Hold => "hold",
            Self::Decide => "decide",
            Self::Approve => "approve",
            Self::Describe => "describe",
            Self::Secret => "secret",
            Self::Mail => "mail",
        }
    }
}

/// The body of the text `id`.
pub(crate) fn body(id: &str, manner: Manner) -> String {
    format!("{MARK}{id}{END} please be {}", manner.word())
}

/// The id of the `edit`th text of a delivery, counted from the first, which is 0.
pub(crate) fn text_id(delivery: &str, edit: usize) -> String {
    if edit == 0 { delivery.to_owned() } else { format!("{delivery}~{edit}") }
}

/// The delivery that a text belongs to.
pub(crate) fn delivery_of(text: &str) -> &str {
    text.split_once('~').map_or(text, |(delivery, _)| delivery)
}

/// The ids of the texts in `words`, without those that are only quoted.
pub(crate) fn texts(words: &str) -> Vec<String> {
    let own = words.lines().filter(|line| !line.starts_with(QUOTE));
    let marks = own.flat_map(|line| line.split(MARK).skip(1));
    marks.filter_map(|rest| rest.split_once(END)).map(|(id, _)| id.to_owned()).collect()
}

/// How `words` want to be answered.
pub(crate) fn manner(words: &str) -> Manner {
    let asked = words.lines().rfind(|line| !line.starts_with(QUOTE) && line.contains(MARK)).unwrap_or_default();
    Manner::ALL.into_iter().find(|manner| asked.ends_with(manner.word())).unwrap_or(Manner::Quick)
}

/// What the model says in run `run` when these texts are new to it.
pub(crate) fn reply(run: usize, texts: &[String]) -> String {
    format!("run-{run} answers {}", texts.join(" "))
}

/// The run and the first text that a settled reply names.
pub(crate) fn reply_of(text: &str) -> Option<(usize, String)> {
    let mut words = text.lines().next()?.split_whitespace();
    let run = run_in(words.next()?)?;
    Some((run, words.nth(1)?.to_owned()))
}

/// The run that the model's own earlier words or calls name.
pub(crate) fn run_in(words: &str) -> Option<usize> {
    let (_, rest) = words.split_once("run-")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The prompt of the ask that run `run` publishes.
pub(crate) fn prompt(run: usize) -> String {
    format!("{ASK}{run}: how to go on?")
}

/// The run whose ask has that prompt.
pub(crate) fn ask_of(prompt: &str) -> Option<usize> {
    prompt.strip_prefix(ASK)?.split_once(':')?.0.parse().ok()
}

/// The run whose ask is answered in `words`, and the answer.
pub(crate) fn woken(words: &str) -> Option<(usize, String)> {
    let (_, question) = words.split_once("\nThe question:\n")?;
    let (prompt, told) = question.split_once("\n\nThe answer:\n")?;
    Some((ask_of(prompt)?, told.to_owned()))
}
