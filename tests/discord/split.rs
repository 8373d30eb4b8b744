//! The splitter's laws, on generated texts and on a corpus; field report B93.
//!
//! The oracle reads fences and puts parts together by itself; it shares the documented bounds with
//! the splitter and nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};

use clankie::gateways::discord::split::{LIMIT, split};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};
use unicode_segmentation::UnicodeSegmentation;

/// Texts that are generated; with `CLANKIE_FUZZ_TIMES=n`, n times as many.
const CASES: u32 = 10_000;
/// A cluster longer than this may not fit beside the fences of a part.
const LONG_CLUSTER: usize = 1_700;

/// What a part's last line leaves open: mark and length of the run.
type Open = Option<(char, usize)>;

fn open_after(text: &str) -> Open {
    let mut open: Open = None;
    for line in text.split('\n') {
        let line = line.trim_end_matches('\r');
        let inner = line.trim_start_matches([' ', '\t']);
        let mark = if inner.starts_with("```") { '`' } else { '~' };
        let run = inner.chars().take_while(|c| *c == mark).count();
        let (after, length) = (&inner[run..], line.chars().count());
        if !(3..=64).contains(&run) {
            continue;
        }
        match open {
            None if length <= 1_920 && (mark == '~' || !after.contains('`')) => open = Some((mark, run)),
            Some((m, r)) if m == mark && run >= r && after.trim().is_empty() && length <= 200 => open = None,
            _ => {}
        }
    }
    open
}

/// Without a fence closed at the end: what the words then may have been, with the marks.
fn undressed(part: &str) -> Vec<(&str, &str)> {
    let mut ways = vec![(part, "")];
    for mark in ['`', '~'] {
        let body = part.trim_end_matches(mark);
        let marks = &part[body.len()..];
        if marks.len() >= 3 && body.ends_with('\n') {
            ways.extend([(body, marks), (&body[..body.len() - 1], marks)]);
        }
    }
    ways
}

/// Without the line that opens a fence of these marks again.
fn reopened<'p>(part: &'p str, marks: &str) -> Option<&'p str> {
    if marks.is_empty() {
        return Some(part);
    }
    let (line, body) = part.split_once('\n')?;
    let language = line.strip_prefix(marks)?;
    (language.chars().count() <= 32 && !language.contains(char::is_whitespace)).then_some(body)
}

/// Puts parts together again: the byte offsets of the cuts if the parts, without fences that are
/// closed at the end of one and opened again at the start of the next, are exactly the text.
/// White space may be missing only at the end, and where it would have been a part by itself.
fn rejoin(text: &str, parts: &[String]) -> Option<Vec<usize>> {
    fn from(text: &str, at: usize, parts: &[String], marks: &str) -> Option<Vec<usize>> {
        let rest = &text[at..];
        let [part, others @ ..] = parts else { return rest.trim().is_empty().then(Vec::new) };
        let part = reopened(part, marks)?;
        for (body, marks) in undressed(part) {
            let skipped = if rest.starts_with(body) { 0 } else { missing_space(text, at, body) };
            let end = at + skipped + body.len();
            if text.get(at + skipped..).is_some_and(|rest| rest.starts_with(body))
                && let Some(mut cuts) = from(text, end, others, marks)
            {
                cuts.insert(0, end);
                return Some(cuts);
            }
        }
        None
    }
    from(text, 0, parts, "")
}

/// How much white space is missing here, if what follows it left no room for it.
fn missing_space(text: &str, at: usize, body: &str) -> usize {
    let next = text[at..].trim_start();
    let marked = next.starts_with("```") || next.starts_with("~~~");
    let unit = if marked { next.lines().next() } else { next.graphemes(true).next() };
    let space = text[..at].chars().rev().take_while(|c| c.is_whitespace()).count()
        + text[at..].chars().take_while(|c| c.is_whitespace()).count();
    if space + unit.unwrap_or_default().chars().count() <= LONG_CLUSTER {
        return 0;
    }
    let kept = body.len() - body.trim_start().len();
    (text[at..].len() - next.len()).saturating_sub(kept)
}

/// Every law; what broke, in words.
fn check(text: &str) -> Result<Vec<String>, String> {
    let parts = split(text);
    let show = || format!("{:.2000}\nparts: {:.6000}", format!("{text:?}"), format!("{parts:?}"));
    if split(text) != parts {
        return Err(format!("two answers for {}", show()));
    }
    if text.chars().count() <= LIMIT {
        let whole: Vec<String> = if text.trim().is_empty() { vec![] } else { vec![text.to_owned()] };
        return if parts == whole { Ok(parts) } else { Err(format!("a text that fits was changed: {}", show())) };
    }
    for part in &parts {
        if part.chars().count() > LIMIT || part.trim().is_empty() {
            return Err(format!("{} code points in {part:?} of {}", part.chars().count(), show()));
        }
        if open_after(part).is_some() {
            return Err(format!("open fence in {part:?} of {}", show()));
        }
    }
    let Some(cuts) = rejoin(text, &parts) else { return Err(format!("not the text: {}", show())) };
    let mut clusters = text.grapheme_indices(true).peekable();
    for cut in cuts {
        while clusters.peek().is_some_and(|(at, cluster)| at + cluster.len() <= cut) {
            clusters.next();
        }
        let broken = clusters.peek().filter(|(at, _)| *at < cut);
        if broken.is_some_and(|(_, cluster)| cluster.chars().count() <= LONG_CLUSTER) {
            return Err(format!("a cluster is cut at {cut} in {}", show()));
        }
    }
    Ok(parts)
}

fn piece() -> impl Strategy<Value = String> {
    let words = "[a-z]{1,9}( [a-z]{1,9}){0,12}[.!?]? ";
    let atom = prop_oneof![
        4 => words.prop_map(String::from),
        2 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just(" ".to_owned()),
        1 => prop::sample::select(vec![
            "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇫🇷🇪", "é", "e\u{301}\u{323}", "\u{200b}", "\u{200d}", "\u{2028}", "שלום ", "مرحبا", "漢字。", "한글",
            "नमस्ते", "\u{202e}", "👍🏽", "<@123456789012345678> ", "<#1>", "@everyone ", "`", "``", "*", "x",
        ]).prop_map(str::to_owned),
        2 => ("(`{3,6}|~{3,6})", "(rust|c\\+\\+|text x|)").prop_map(|(marks, info)| format!("\n{marks}{info}\n")),
        1 => ("(`{3,5}|~{3,5})", 0usize..70).prop_map(|(marks, more)| format!("{marks}{}\n", &marks[..1].repeat(more))),
        1 => "(`{3}|~{3})".prop_map(|marks| format!("\n{marks}{}\n", "i".repeat(1_900))),
        1 => "(`{3}|~{4})".prop_map(|marks| format!("  {marks} ")),
    ];
    // Most stand alone; some fill up to a part and a half.
    let fill = prop_oneof![12 => Just(1usize), 4 => 2usize..400, 1 => 400usize..3_000];
    (atom, fill).prop_map(|(atom, fill)| atom.repeat((fill / atom.chars().count()).max(1)))
}

#[test]
fn b93_parts_keep_every_law_on_generated_texts() {
    let store = FileFailurePersistence::Direct("tests/discord/corpus/split.seeds");
    let times = std::env::var("CLANKIE_FUZZ_TIMES").map_or(1, |times| times.parse().unwrap());
    let config = Config {
        cases: CASES * times,
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(store)),
        ..Config::default()
    };
    let (texts, cut, parts, fenced) = Default::default();
    let counts: [&AtomicUsize; 4] = [&texts, &cut, &parts, &fenced];
    let text = prop::collection::vec(piece(), 1..14).prop_map(|pieces| pieces.concat());
    let run = TestRunner::new(config).run(&text, |text| {
        let made = check(&text).map_err(TestCaseError::fail)?;
        let more = [1, usize::from(made.len() > 1), made.len(), usize::from(text.contains("\n```"))];
        counts.iter().zip(more).for_each(|(count, more)| {
            count.fetch_add(more, Ordering::Relaxed);
        });
        Ok(())
    });
    let seen = counts.map(|count| count.load(Ordering::Relaxed));
    println!("{} texts, {} of them cut, {} parts, {} texts with a fence", seen[0], seen[1], seen[2], seen[3]);
    if let Err(error) = run {
        panic!("{error}");
    }
    assert!(seen[1] * 5 > seen[0], "too few of the texts were long enough to be cut");
}

fn lines(count: usize) -> String {
    (0..count).map(|n| format!("let line_{n} = {n};\n")).collect()
}

/// Texts made to break it, with the number of parts that each one must have.
fn hard() -> Vec<(&'static str, String, usize)> {
    let family = "👨‍👩‍👧‍👦";
    vec![
        ("surrogate pairs at every cut", "😀".repeat(4_500), 3),
        ("joined emoji at every cut", family.repeat(900), 4),
        ("flags at every cut", "🇩🇪".repeat(1_500), 2),
        ("combining marks", "e\u{301}\u{323}".repeat(1_000), 2),
        ("one cluster longer than a part", format!("e{}", "\u{301}".repeat(4_999)), 3),
        ("right to left", "שלום עולם ".repeat(390), 2),
        ("zero width", "a\u{200b}".repeat(1_500), 2),
        ("carriage returns", "line\r\n".repeat(700), 3),
        ("nothing", String::new(), 0),
        ("white space alone", " \n".repeat(3_000), 0),
        ("white space that would fill parts", format!("a{}b", " ".repeat(5_000)), 2),
        ("a long info string", format!("```{}\n{}```", "i".repeat(1_900), lines(100)), 2),
        ("an info string longer than a part", format!("```{}\n{}```\n", "i".repeat(3_000), lines(10)), 2),
        ("a fence that stays open", format!("look:\n```rust\n{}", lines(200)), 2),
        ("only fences", "```\n".repeat(1_000), 2),
        ("only marks", "`".repeat(4_030), 3),
        ("a fence in a fence", format!("````md\n```rust\n{}```\n````\n", lines(200)), 2),
        ("a run of tildes", format!("~~~~~~\n{}~~~~~~", lines(200)), 2),
    ]
}

#[test]
fn b93_hard_texts_have_the_parts_they_should() {
    let made = |(name, text, count): (&'static str, String, usize)| {
        let parts = check(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (parts.len() != count).then(|| format!("{name}: {} parts, not {count}", parts.len()))
    };
    let wrong: Vec<String> = hard().into_iter().filter_map(made).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A newline in front of a block is kept where its loss would gain nothing.
#[test]
fn b93_space_before_a_block_is_kept_where_its_first_line_stands_alone_anyway() {
    for marks in ["```rust", "~~~"] {
        let text = format!("\n{marks}\n{}", "\u{200d}".repeat(2_500));
        let parts = check(&text).unwrap_or_else(|why| panic!("{marks}: {why:.300}"));
        assert!(parts[0].starts_with('\n'), "{:.20}", parts[0]);
    }
}

#[test]
fn the_corpus_keeps_every_law() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/discord/corpus");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect();
    assert!(texts.len() >= 3, "the corpus is gone");
    for path in texts {
        let text = std::fs::read_to_string(&path).unwrap();
        let parts = check(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(parts.len() > 1, "{} is too short to say anything", path.display());
    }
}

#[test]
fn a_code_block_that_fits_stays_whole_and_a_longer_one_keeps_its_language() {
    let block = format!("```rust\n{}```\n", lines(70));
    let text = format!("{}\n\n{block}\nthat was it", "Some words before it. ".repeat(60));
    let parts = split(&text);
    assert!(parts.iter().any(|part| part.contains(&block)), "the block was cut: {parts:#?}");
    let text = format!("before\n\n```rust\n{}```\nafter", lines(300));
    let parts = split(&text);
    assert!(parts.len() > 2);
    assert!(parts[1..].iter().all(|part| part.starts_with("```rust\nlet line_")), "{parts:#?}");
}

#[test]
fn cuts_fall_where_a_reader_would_pause() {
    let at = |before: &str, after: &str| {
        let text = format!("{}{before}{after}{}", "x".repeat(1_500), "y".repeat(1_000));
        split(&text)[0].clone()
    };
    assert!(at("One. Two\nthree", "\n\nfour").ends_with("three\n\n"));
    assert!(at("One. Two\n", "three four").ends_with("Two\n"));
    assert!(at("One. Two. ", "three four").ends_with("Two. "));
    assert!(at("One ", "two").ends_with("One "));
    let mention = format!("{}<@123456789012345678>{}", "x".repeat(1_990), "y".repeat(100));
    assert!(split(&mention)[1].starts_with("<@123456789012345678>"));
}

#[test]
fn b93_blanks_before_a_fence_are_kept_also_where_no_cut_is_good() {
    let overlong = "\u{200d}".repeat(2_500);
    for lead in ["  ", "\n  ", "x\n  ", "\t"] {
        for marks in ["```", "~~~~  ", "```rust"] {
            let text = format!("{lead}{marks}\n{overlong}");
            check(&text).unwrap_or_else(|why| panic!("{lead:?} {marks}: {why:.300}"));
        }
    }
}
