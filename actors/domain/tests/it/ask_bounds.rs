//! The one set of bounds of asks and updates: at the bound is taken, one over is refused, by field.

use clankie_domain::ask::{Draft, DraftRefused, IssueRef, Purpose, Secrecy, WorkerRequestId};
use clankie_domain::autonomy::Category;
use clankie_domain::update::{Link, MailMedia, URL_MAX, UpdateDraft};

use crate::drafts::{approval, decision, escalation, news, preference, question, secret};

/// Field, most, and how a draft gets that many of it.
type Row<D> = (&'static str, usize, fn(&mut D, usize));

/// Field, and how a draft gets that text for it.
type Said<D> = (&'static str, fn(&mut D, &str));

/// Characters are counted, not bytes.
fn words(many: usize) -> String {
    "ü".repeat(many)
}

fn url(bytes: usize) -> String {
    format!("https://example.org/{}", "x".repeat(bytes - 20))
}

fn issue(tracker: &str, key: &str, url: &str) -> IssueRef {
    IssueRef { tracker: tracker.into(), key: key.into(), url: url.into() }
}

/// Holds that `most` is taken and one more is refused with that field.
fn hold<D: Clone>(base: &D, (field, most, set): &Row<D>, check: fn(&D) -> Result<(), DraftRefused>) {
    let at = |many| {
        let mut draft = base.clone();
        set(&mut draft, many);
        check(&draft).map_err(|refused| refused.field)
    };
    assert_eq!(at(*most), Ok(()), "{field} at {most}");
    assert_eq!(at(most + 1), Err(*field), "{field} over {most}");
}

/// Where nothing, and only space, is refused too.
fn hold_not_blank<D: Clone>(base: &D, rows: &[Said<D>], check: fn(&D) -> Result<(), DraftRefused>) {
    for (field, set) in rows {
        for text in ["", " \n\t", "a\u{202e}b", "a\u{2066}b", "a\0b", "a\rb", "a\u{85}b"] {
            let mut draft = base.clone();
            set(&mut draft, text);
            let refused = check(&draft).map_err(|refused| refused.field);
            assert_eq!(refused, Err(*field), "{text:?}");
        }
        let mut draft = base.clone();
        set(&mut draft, "two\n\tlines");
        assert_eq!(check(&draft), Ok(()), "{field}");
    }
}

#[test]
fn every_text_of_a_draft_has_its_bound() {
    let base = decision("which?", &["a", "b"]);
    let rows: [Row<Draft>; 10] = [
        ("prompt", 2_000, |d, n| d.prompt = words(n)),
        ("recommendation", 2_000, |d, n| d.recommendation = Some(words(n))),
        ("waiting_on", 2_000, |d, n| d.waiting_on = Some(words(n))),
        ("steps", 2_000, |d, n| d.steps = vec![words(n)]),
        ("steps", 20, |d, n| d.steps = vec!["step".into(); n]),
        ("options.label", 200, |d, n| d.options[1].0 = words(n)),
        ("options.description", 500, |d, n| d.options[1].1 = Some(words(n))),
        ("options", 8, |d, n| d.options = (0..n).map(|n| (n.to_string(), None)).collect()),
        ("issue.tracker", 200, |d, n| d.issue = Some(issue(&words(n), "K-1", "https://x.org"))),
        ("issue.key", 200, |d, n| d.issue = Some(issue("t", &words(n), "https://x.org"))),
    ];
    for row in &rows {
        hold(&base, row, Draft::check);
    }
    hold(&base, &("issue.url", URL_MAX, |d, n| d.issue = Some(issue("t", "k", &url(n)))), Draft::check);
}

#[test]
fn every_text_of_an_escalation_has_its_bound() {
    let base = escalation(WorkerRequestId::Number(1), &["q"]);
    let rows: [Row<Draft>; 8] = [
        ("worker_question.seat_id", 512, |d, n| d.worker.as_mut().unwrap().seat_id = words(n)),
        ("worker_question.session_id", 512, |d, n| d.worker.as_mut().unwrap().session_id = words(n)),
        ("worker_question.request_id", 512, |d, n| {
            d.worker.as_mut().unwrap().request_id = WorkerRequestId::Text(words(n));
        }),
        ("worker_question.questions", 16, |d, n| {
            let ids: Vec<_> = (0..n).map(|n| n.to_string()).collect();
            let ids: Vec<_> = ids.iter().map(String::as_str).collect();
            d.worker = escalation(WorkerRequestId::Number(1), &ids).worker;
        }),
        ("worker_question.questions.id", 512, |d, n| d.worker.as_mut().unwrap().questions[0].id = words(n)),
        ("worker_question.questions.text", 2_000, |d, n| d.worker.as_mut().unwrap().questions[0].text = words(n)),
        ("worker_question.questions.options", 32, |d, n| {
            d.worker.as_mut().unwrap().questions[0].options = vec!["o".into(); n];
        }),
        ("worker_question.questions.options", 2_000, |d, n| {
            d.worker.as_mut().unwrap().questions[0].options = vec![words(n)];
        }),
    ];
    for row in &rows {
        hold(&base, row, Draft::check);
    }
    let twice = escalation(WorkerRequestId::Number(1), &["q", "q"]);
    assert_eq!(twice.check().unwrap_err().field, "worker_question.questions.id");
}

#[test]
fn every_text_of_an_update_has_its_bound() {
    let base = UpdateDraft {
        links: vec![Link { label: "l".into(), url: "http://x.org".into() }],
        media: vec![MailMedia { url: "http://x.org".into(), mime_type: "image/png".into(), alt: None }],
        ..news("title")
    };
    let rows: [Row<UpdateDraft>; 10] = [
        ("title", 200, |d, n| d.title = words(n)),
        ("body", 2_000, |d, n| d.body = words(n)),
        ("links", 8, |d, n| d.links = vec![d.links[0].clone(); n]),
        ("media", 8, |d, n| d.media = vec![d.media[0].clone(); n]),
        ("links.label", 200, |d, n| d.links[0].label = words(n)),
        ("links.url", URL_MAX, |d, n| d.links[0].url = url(n)),
        ("media.url", URL_MAX, |d, n| d.media[0].url = url(n)),
        ("media.mime_type", 100, |d, n| d.media[0].mime_type = words(n)),
        ("media.alt", 500, |d, n| d.media[0].alt = Some(words(n))),
        ("seat_id", 512, |d, n| d.seat_id = Some(words(n))),
    ];
    for row in &rows {
        hold(&base, row, UpdateDraft::check);
    }
    hold_not_blank(
        &base,
        &[("title", |d, t| d.title = t.into()), ("body", |d, t| d.body = t.into())],
        UpdateDraft::check,
    );
}

#[test]
fn labels_that_look_the_same_are_not_distinct_and_what_is_not_shown_stands_in_none() {
    let labelled =
        |labels: &[&str]| decision("which?", labels).check().map_err(|refused| (refused.field, refused.rule));
    let rule = |labels: &[&str]| labelled(labels).unwrap_err();
    for hidden in
        ["B\u{200b}", "B\u{200d}", "\u{ad}B", "B\u{fe0f}", "B\u{3164}", "B\u{e0041}", "\u{2060}", "👍\u{200d}"]
    {
        let (field, said) = rule(&["A", hidden]);
        assert!(field == "options.label" && said.contains("not shown"), "{hidden:?}: {said}");
        assert_eq!(labelled(&["B", hidden]).map_err(|refused| refused.0), Err("options.label"), "{hidden:?}");
    }
    for alike in [["B", " B\n"], ["Ship it", "Ship \u{a0}it"], ["❤", "❤\u{fe0f}"], ["👩🔬", "👩\u{200d}🔬"]]
    {
        let (field, said) = rule(&alike);
        assert!(field == "options.label" && said.contains("look different"), "{alike:?}: {said}");
    }
    let distinct =
        ["👩\u{200d}🔬", "👩\u{200d}🚀", "❤\u{fe0f}\u{200d}🔥 Go", "1\u{fe0f}\u{20e3}", "می\u{200c}خواهم", "B", "b"];
    assert_eq!(labelled(&distinct), Ok(()));
}

#[test]
fn blank_and_illegible_texts_are_no_texts() {
    let base = Draft { steps: vec!["s".into()], ..decision("which?", &["a", "b"]) };
    hold_not_blank(
        &base,
        &[
            ("prompt", |d, t| d.prompt = t.into()),
            ("recommendation", |d, t| d.recommendation = Some(t.into())),
            ("waiting_on", |d, t| d.waiting_on = Some(t.into())),
            ("steps", |d, t| d.steps[0] = t.into()),
            ("options.label", |d, t| d.options[0].0 = t.into()),
        ],
        Draft::check,
    );
    let mut spoofed = base;
    spoofed.options[0].1 = Some("\u{202e}enilceD".into());
    let refused = spoofed.check().unwrap_err();
    assert_eq!(refused.field, "options.description");
    assert!(refused.rule.contains("U+202A–U+202E"), "{}", refused.rule);
}

#[test]
fn each_purpose_demands_what_it_is_answered_by() {
    let two = || vec![("a".to_owned(), None), (" a ".to_owned(), None)];
    let push = || approval("may I push?", Category::Push);
    let choice = || decision("which?", &["a", "b"]);
    let table: [(Draft, &str); 18] = [
        (Draft { options: two(), ..question("?") }, "options"),
        (Draft { options: Vec::new(), ..choice() }, "options"),
        (decision("which?", &["a"]), "options"),
        (Draft { options: two(), ..choice() }, "options.label"),
        (Draft { recommendation: None, ..choice() }, "recommendation"),
        (Draft { purpose: Purpose::Decision, recommendation: Some("a".into()), ..question("?") }, "kind"),
        (Draft { waiting_on: None, ..choice() }, "waiting_on"),
        (Draft { waiting_on: None, ..push() }, "waiting_on"),
        (Draft { waiting_on: None, ..question("?") }, "waiting_on"),
        (Draft { steps: Vec::new(), ..question("?") }, "steps"),
        (Draft { gate: None, ..push() }, "gate"),
        (Draft { gate: Some(Category::Unspecified), ..push() }, "gate"),
        (Draft { options: vec![("Approve".to_owned(), None), ("No".to_owned(), None)], ..push() }, "options"),
        (Draft { worker: escalation(WorkerRequestId::Number(1), &["q"]).worker, ..push() }, "worker_question"),
        (Draft { secrecy: Secrecy::Secret, ..choice() }, "secret"),
        (Draft { secrecy: Secrecy::Secret, ..push() }, "secret"),
        (Draft { purpose: Purpose::Gate, ..push() }, "purpose"),
        (Draft { purpose: Purpose::Verify, ..question("?") }, "purpose"),
    ];
    for (draft, field) in table {
        assert_eq!(draft.check().unwrap_err().field, field, "{draft:?}");
    }
    let escalated = Draft {
        purpose: Purpose::Decision,
        recommendation: Some("yes".into()),
        ..escalation(WorkerRequestId::Text("r".into()), &["q"])
    };
    for draft in [question("?"), choice(), push(), preference("?"), secret("?"), escalated] {
        assert_eq!(draft.check(), Ok(()), "{draft:?}");
    }
    let gate = Draft { purpose: Purpose::Gate, ..push() };
    assert_eq!(gate.bounds(), Ok(()), "the host may raise it");
}

#[test]
fn an_address_is_http_with_a_host_and_nothing_hidden() {
    let fits = |url: &str| Draft { issue: Some(issue("t", "k", url)), ..question("?") }.check().is_ok();
    for good in [
        "http://example.org",
        "HTTPS://Example.ORG:8443/a/b?c=d#e",
        "https://example.org.",
        "http://localhost:80",
        "http://127.0.0.1/x",
        "https://[::1]:8080/x",
        "https://x.org?q=ä",
        "https://x.org/@name",
    ] {
        assert!(fits(good), "{good}");
    }
    for bad in [
        "",
        "example.org",
        "//example.org",
        "ftp://example.org",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "javascript://example.org/%0aalert(1)",
        "http:/example.org",
        "http:example.org",
        " http://example.org",
        "http://",
        "http:///x",
        "http://?q",
        "http://:80",
        "http://x.org:",
        "http://x.org:65536",
        "http://x.org:8a",
        "http://owner@x.org",
        "http://x.org:80@evil.org",
        "http://x.org\\@evil.org",
        "http://a..b",
        "http://x.org/a b",
        "http://x.org/a\tb",
        "http://x.org/\n",
        "http://x.org/\"onclick",
        "http://x.org/<b>",
        "http://x.org/\u{202e}",
        "http://x.org/\u{a0}",
        "http://[::1",
        "http://[x.org]",
        "http://[::1]x",
        "http://exämple.org",
        "http://x.org%2f",
    ] {
        assert!(!fits(bad), "{bad:?}");
    }
}
