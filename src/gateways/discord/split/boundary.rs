//! The places between two character clusters at which a part may end, and how good each one is.

use unicode_segmentation::UnicodeSegmentation;

use super::fence::{self, Fence, Line};

/// How far a mention, `<@…>` and its like, reaches at most.
const LONGEST_MENTION: usize = 64;

/// What a cut here would do, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Breaks a fence's line, or makes one where none was.
    Misleading,
    /// Leaves an empty code block on one side.
    EmptyBlock,
    /// Breaks a mention.
    Mention,
    Cluster,
    Word,
    Sentence,
    Line,
    Paragraph,
}

impl Kind {
    /// Whether a reader would pause here.
    pub(super) fn is_natural(self) -> bool {
        self >= Self::Word
    }

    /// Whether the text reads the same with this cut.
    pub(super) fn is_sound(self) -> bool {
        self >= Self::Mention
    }
}

/// One place to cut at.
#[derive(Debug, Clone)]
pub(super) struct Boundary {
    /// Bytes before it.
    pub(super) at: usize,
    /// Code points before it.
    pub(super) chars: usize,
    pub(super) kind: Kind,
    /// The code block that is open here, and where its line begins if that is in this text.
    pub(super) open: Option<(Option<usize>, Fence)>,
}

/// Where the reading stands: the line, and the block that it is in.
struct Reading<'t> {
    text: &'t str,
    line: usize,
    line_is_fence: bool,
    opened: bool,
    open: Option<(Option<usize>, Fence)>,
}

/// Every boundary up to which the text, and the fence that closes it there, fit into the room.
pub(super) fn boundaries(text: &str, open: Option<&Fence>, room: usize) -> Vec<Boundary> {
    let open = open.map(|fence| (None, fence.clone()));
    let mut reading = Reading { text, line: 0, line_is_fence: false, opened: false, open };
    reading.line_is_fence = reading.current() != Line::Plain;
    let (mut found, mut chars) = (Vec::new(), 0);
    for (start, cluster) in text.grapheme_indices(true) {
        chars += cluster.chars().count();
        if chars > room {
            break;
        }
        let at = start + cluster.len();
        let newline = cluster.ends_with('\n');
        if newline || at == text.len() {
            reading.end_line(at);
        }
        let cost = reading.open.as_ref().map_or(0, |(_, fence)| fence.closing_cost(newline));
        if chars + cost <= room {
            found.push(Boundary { at, chars, kind: reading.kind(at, cluster), open: reading.open.clone() });
        }
    }
    found
}

impl Reading<'_> {
    fn fence(&self) -> Option<&Fence> {
        self.open.as_ref().map(|(_, fence)| fence)
    }

    fn line_at(&self, at: usize) -> &str {
        self.text[at..].split_inclusive('\n').next().unwrap_or_default()
    }

    fn current(&self) -> Line {
        fence::read(self.line_at(self.line), self.fence())
    }

    fn end_line(&mut self, at: usize) {
        let line = self.current();
        self.opened = matches!(line, Line::Opens(_));
        match line {
            Line::Opens(fence) => self.open = Some((Some(self.line), fence)),
            Line::Closes => self.open = None,
            Line::Plain => {}
        }
        self.line = at;
        self.line_is_fence = self.current() != Line::Plain;
    }

    fn kind(&self, at: usize, cluster: &str) -> Kind {
        if at == self.line {
            return self.kind_between_lines(at);
        }
        let head = fence::read(&self.text[self.line..at], self.fence());
        if self.line_is_fence || head != Line::Plain || self.tail_is_fence(at) {
            return Kind::Misleading;
        }
        let before = self.text[self.line..at].trim_end();
        let ends = before.trim_end_matches(['"', '\'', ')', '*', '_', '”', '’']).chars().next_back();
        if cluster.chars().all(char::is_whitespace) {
            return if matches!(ends, Some('.' | '!' | '?' | '…' | ':')) { Kind::Sentence } else { Kind::Word };
        }
        match ends {
            Some('。' | '！' | '？') => Kind::Sentence,
            _ if self.in_mention(at) => Kind::Mention,
            _ => Kind::Cluster,
        }
    }

    /// Looks for the marks first: a line may be as long as the whole text.
    fn tail_is_fence(&self, at: usize) -> bool {
        let inner = self.text[at..].trim_start_matches([' ', '\t']);
        let marked = inner.starts_with("```") || inner.starts_with("~~~");
        marked && fence::read(self.line_at(at), self.fence()) != Line::Plain
    }

    fn kind_between_lines(&self, at: usize) -> Kind {
        if self.open.is_some() && (self.opened || self.line_is_fence) {
            return Kind::EmptyBlock;
        }
        let before = self.text[..at].trim_end_matches(['\n', '\r']).len();
        let newlines = self.text[before..at].matches('\n').count();
        if newlines > 1 { Kind::Paragraph } else { Kind::Line }
    }

    fn in_mention(&self, at: usize) -> bool {
        let inside = |c: char| !c.is_whitespace() && c != '<' && c != '>';
        let before = self.text[self.line..at].char_indices().rev().take(LONGEST_MENTION).find(|(_, c)| !inside(*c));
        let after = self.text[at..].chars().take(LONGEST_MENTION).find(|c| !inside(*c));
        matches!((before, after), (Some((_, '<')), Some('>')))
    }
}
