//! Columns of text, as wide as their widest cell.

/// Spaces between two columns.
const GAP: usize = 2;

/// A table: a head and rows of cells that hold one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table<const COLUMNS: usize> {
    head: [&'static str; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// An empty table under that head.
    pub(super) fn new(head: [&'static str; COLUMNS]) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// One more row.
    pub(super) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells);
    }

    /// The lines, the head first, without spaces at their ends.
    pub(super) fn lines(&self) -> Vec<String> {
        let head = self.head.map(str::to_owned);
        let all = || std::iter::once(&head).chain(&self.rows);
        let widths: [usize; COLUMNS] =
            std::array::from_fn(|column| all().map(|cells| cells[column].chars().count()).max().unwrap_or(0));
        all().map(|cells| line(cells, &widths)).collect()
    }
}

/// Names and values under each other, for one thing.
pub(super) fn card(facts: &[(&str, String)]) -> Vec<String> {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + GAP;
    facts.iter().map(|(name, value)| format!("{name:<width$}{value}").trim_end().to_owned()).collect()
}

fn line<const COLUMNS: usize>(cells: &[String; COLUMNS], widths: &[usize; COLUMNS]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let width = width + GAP;
        line.push_str(&format!("{cell:<width$}"));
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["ROOM", "LIVE"]);
        table.row(["local:lobby".into(), "2".into()]);
        table.row(["ä".into(), String::new()]);
        assert_eq!(table.lines(), ["ROOM         LIVE", "local:lobby  2", "ä"]);
        assert_eq!(card(&[("url", "u".into()), ("version", String::new())]), ["url      u", "version"]);
    }
}
