//! One ask, whole: what is asked, by whom, what can be chosen, and how it stands.

use super::{DEEPER, INDENT, fact, fact_whole, place, section, set_in};
use crate::cli::table::card;
use crate::cli::words;
use crate::owner::wire::{GivenBody, OptionBody, QuestionBody, WorkerBody};

/// The ask as it stands at that moment.
pub(in crate::cli) fn ask(question: &QuestionBody, now: jiff::Timestamp) -> Vec<String> {
    let mut lines = vec![head(question, now)];
    lines.extend(card(&facts(question)));
    lines.extend(section("asks", &question.prompt));
    let texts = [("what waits", &question.waiting_on), ("context", &question.context)];
    lines.extend(texts.into_iter().flat_map(|(heading, text)| text.iter().flat_map(|text| section(heading, text))));
    lines.extend(recommended(question));
    lines.extend(steps(&question.steps));
    lines.extend(options(question));
    lines.extend(question.worker_question.iter().flat_map(worker));
    lines.extend(answered(question));
    lines.extend(next(question));
    lines
}

fn head(question: &QuestionBody, now: jiff::Timestamp) -> String {
    let mut parts = vec![words::ask(question), fact(&question.purpose)];
    parts.extend(question.gate.as_deref().map(fact));
    parts.push(format!("{} old", words::age(&question.created_at, now)));
    if question.secret {
        parts.push("private answer".to_owned());
    }
    parts.join(" · ")
}

fn facts(question: &QuestionBody) -> Vec<(&'static str, String)> {
    let origin = &question.origin;
    let mut facts = vec![
        ("ask", fact(&question.request_id)),
        ("room", fact(&origin.room)),
        ("person", format!("{} ({})", fact(&origin.actor_name), fact(&origin.actor))),
        ("source", format!("handoff {}", fact(&origin.handoff_id))),
        ("conversation", fact(&question.conversation_id)),
        ("incarnation", fact(&question.incarnation_id)),
        ("revision", question.revision.to_string()),
    ];
    facts.extend(question.workspace.as_deref().map(|dir| ("workspace", fact(dir))));
    if let Some(issue) = &question.issue {
        facts.push(("issue", format!("{} {}, {}", fact(&issue.tracker), fact(&issue.key), place(&issue.url))));
    }
    facts.extend(question.provenance.as_deref().map(|who| ("context by", fact(who))));
    facts
}

/// A recommendation that is none of the options stands by itself.
fn recommended(question: &QuestionBody) -> Vec<String> {
    let words = question.recommendation.as_deref().filter(|words| !question.options.iter().any(|o| o.label == **words));
    words.map(|words| section("the agent recommends", words)).unwrap_or_default()
}

fn steps(steps: &[String]) -> Vec<String> {
    if steps.is_empty() {
        return Vec::new();
    }
    let numbered = steps.iter().enumerate().flat_map(|(at, step)| numbered(INDENT, at, step));
    ["", "what only you can do:"].map(str::to_owned).into_iter().chain(numbered).collect()
}

fn options(question: &QuestionBody) -> Vec<String> {
    if question.options.is_empty() {
        return Vec::new();
    }
    let recommends = |option: &OptionBody| question.recommendation.as_ref() == Some(&option.label);
    let mut lines = vec![String::new(), "options:".to_owned()];
    for (at, option) in question.options.iter().enumerate() {
        lines.extend(numbered(if recommends(option) { "* " } else { INDENT }, at, &option.label));
        lines.extend(option.description.iter().flat_map(|text| set_in(text, DEEPER)));
        lines.push(format!("{DEEPER}{}", fact(&option.option_id)));
    }
    if question.options.iter().any(recommends) {
        lines.push("* is what the agent recommends".to_owned());
    }
    if question.allow_freeform {
        lines.push("or your own words".to_owned());
    }
    lines
}

/// One of several, by its number; its further lines stand below its first.
fn numbered(mark: &str, at: usize, text: &str) -> Vec<String> {
    let mut lines = set_in(text, DEEPER);
    if let Some(first) = lines.first_mut() {
        let number = at + 1;
        *first = format!("{mark}{number:<3}{}", first.trim_start());
    }
    lines
}

fn worker(worker: &WorkerBody) -> Vec<String> {
    let mut lines = vec![String::new(), format!("questions of the worker {}:", fact(&worker.seat_id))];
    for item in &worker.questions {
        let private = if item.secret { " · private answer" } else { "" };
        lines.push(format!("{INDENT}[{}]{private}", fact(&item.id)));
        lines.extend(set_in(&item.text, DEEPER));
        lines.extend(item.options.iter().flat_map(|option| set_in(&format!("- {option}"), DEEPER)));
    }
    lines
}

fn answered(question: &QuestionBody) -> Vec<String> {
    let said = match &question.answer {
        None => Vec::new(),
        Some(GivenBody::Choice { label, .. }) => section("answer", label),
        Some(GivenBody::Text { text }) => section("answer", text),
        Some(GivenBody::Private) => section("answer", "Private answer"),
        Some(GivenBody::Worker { answers }) => {
            let line = |(id, said): (&String, &Vec<String>)| match said.as_slice() {
                [] => format!("[{id}] Private answer"),
                said => format!("[{id}] {}", said.join(", ")),
            };
            section("answer", &answers.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
    };
    let by = question.resolved_by.as_ref().zip(question.resolved_at.as_ref());
    let by = by.map(|(by, at)| vec![String::new(), format!("resolved {} by {}", fact(at), words::who(by))]);
    said.into_iter().chain(by.unwrap_or_default()).collect()
}

/// What can be done about it. An answer that did not arrive is never offered to be sent again.
fn next(question: &QuestionBody) -> Vec<String> {
    let id = fact_whole(&question.request_id);
    let does: Vec<(&str, String)> = if question.status == "pending" {
        let how = how(question);
        vec![("answer", format!("clankie asks answer {id} {how}")), ("cancel", format!("clankie asks cancel {id}"))]
    } else if words::undelivered(question) {
        let source = fact_whole(&question.origin.handoff_id);
        vec![
            ("open source", format!("clankie handoffs show {source}")),
            ("mark as seen", format!("clankie asks seen {id}")),
        ]
    } else {
        Vec::new()
    };
    if does.is_empty() { Vec::new() } else { std::iter::once(String::new()).chain(card(&does)).collect() }
}

fn how(question: &QuestionBody) -> &'static str {
    let roles = question.options.iter().any(|option| option.role.is_some());
    match (question.worker_question.is_some(), roles, question.options.is_empty(), question.secret) {
        (true, _, _, _) => "--worker-stdin",
        (false, true, _, _) => "--approve (or --decline)",
        (false, false, false, _) => "--option NUMBER",
        (false, false, true, true) => "--stdin",
        (false, false, true, false) => "--text TEXT",
    }
}
