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

/// Where the reading stands. All of it is kept up as the text goes by, since a run of white space
/// or a line may be as long as a part.
struct Reading<'t> {
    text: &'t str,
    line: usize,
    line_does: Line,
    /// Whether this line starts with marks, so that its head may look like a fence.
    marked: bool,
    /// Whether the line before this one opened the block.
    opened: bool,
    newlines: usize,
    /// The last character of this line that is neither white space nor closes a quotation.
    ends: Option<char>,
    /// The next place that is no blank or tab.
    inner: usize,
    mention_end: usize,
    open: Option<(Option<usize>, Fence)>,
}

/// Every boundary up to which the text, and the fence that closes it there, fit into the room.
pub(super) fn boundaries(text: &str, open: Option<&Fence>, room: usize) -> Vec<Boundary> {
    let mut reading = Reading::new(text, open.map(|fence| (None, fence.clone())));
    let (mut found, mut chars) = (Vec::new(), 0);
    for (start, cluster) in text.grapheme_indices(true) {
        chars += cluster.chars().count();
        if chars > room {
            break;
        }
        let at = start + cluster.len();
        reading.pass(start, cluster);
        let cost = reading.open.as_ref().map_or(0, |(_, fence)| fence.closing_cost(cluster));
        let kind = reading.kind(at, cluster);
        if chars + cost <= room {
            found.push(Boundary { at, chars, kind, open: reading.open.clone() });
        }
    }
    found
}

impl<'t> Reading<'t> {
    fn new(text: &'t str, open: Option<(Option<usize>, Fence)>) -> Self {
        let (opened, newlines, ends, inner, mention_end) = (false, 0, None, 0, 0);
        let (line_does, marked) = (Line::Plain, false);
        let mut new = Self { text, line: 0, line_does, marked, opened, newlines, ends, inner, mention_end, open };
        new.begin_line(0);
        new
    }

    fn pass(&mut self, start: usize, cluster: &str) {
        let at = start + cluster.len();
        if cluster == "<" {
            self.mention_end = self.mention_from(start).max(self.mention_end);
        }
        if cluster.ends_with('\n') || at == self.text.len() {
            self.newlines = if cluster.ends_with('\n') { self.newlines + 1 } else { 0 };
            return self.end_line(at);
        }
        self.newlines = if cluster == "\r" { self.newlines } else { 0 };
        let telling = |c: &char| !c.is_whitespace() && !['"', '\'', ')', '*', '_', '”', '’'].contains(c);
        self.ends = cluster.chars().rfind(telling).or(self.ends);
    }

    fn begin_line(&mut self, at: usize) {
        let line = self.text[at..].split_inclusive('\n').next().unwrap_or_default();
        let inner = line.trim_start_matches([' ', '\t']);
        self.marked = inner.starts_with("```") || inner.starts_with("~~~");
        self.line_does = fence::read(line, self.fence());
        (self.line, self.ends) = (at, None);
    }

    fn end_line(&mut self, at: usize) {
        let line = std::mem::replace(&mut self.line_does, Line::Plain);
        self.opened = matches!(line, Line::Opens(_));
        match line {
            Line::Opens(fence) => self.open = Some((Some(self.line), fence)),
            Line::Closes => self.open = None,
            Line::Plain => {}
        }
        self.begin_line(at);
    }

    fn fence(&self) -> Option<&Fence> {
        self.open.as_ref().map(|(_, fence)| fence)
    }

    fn kind(&mut self, at: usize, cluster: &str) -> Kind {
        if at == self.line {
            return self.kind_between_lines();
        }
        if self.line_does != Line::Plain || self.head_is_fence(at) || self.tail_is_fence(at) {
            return Kind::Misleading;
        }
        if cluster.chars().all(char::is_whitespace) {
            return if matches!(self.ends, Some('.' | '!' | '?' | '…' | ':')) { Kind::Sentence } else { Kind::Word };
        }
        match self.ends {
            Some('。' | '！' | '？') => Kind::Sentence,
            _ if at < self.mention_end => Kind::Mention,
            _ => Kind::Cluster,
        }
    }

    fn kind_between_lines(&self) -> Kind {
        if self.open.is_some() && (self.opened || self.line_does != Line::Plain) {
            return Kind::EmptyBlock;
        }
        if self.newlines > 1 { Kind::Paragraph } else { Kind::Line }
    }

    fn head_is_fence(&self, at: usize) -> bool {
        self.marked && fence::read(&self.text[self.line..at], self.fence()) != Line::Plain
    }

    fn tail_is_fence(&mut self, at: usize) -> bool {
        if self.inner < at {
            self.inner = self.text.len() - self.text[at..].trim_start_matches([' ', '\t']).len();
        }
        let inner = &self.text[self.inner..];
        if !inner.starts_with("```") && !inner.starts_with("~~~") {
            return false;
        }
        let line = self.text[at..].split_inclusive('\n').next().unwrap_or_default();
        fence::read(line, self.fence()) != Line::Plain
    }

    /// Where a mention that begins here ends; before here if none begins.
    fn mention_from(&self, at: usize) -> usize {
        let text = &self.text[at..];
        if !["<@", "<#", "<:", "<a:", "<t:", "</"].iter().any(|start| text.starts_with(start)) {
            return 0;
        }
        let end = text.char_indices().skip(1).take(LONGEST_MENTION).find(|(_, c)| c.is_whitespace() || *c == '>');
        end.filter(|(_, c)| *c == '>').map_or(0, |(end, _)| at + end + 1)
    }
}
