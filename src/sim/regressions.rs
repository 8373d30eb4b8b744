//! Seeds that once broke something: every test run plays them again.

/// The committed seeds, one a line with its reason; `#` begins a remark.
const SEEDS: &str = include_str!("regressions.txt");

/// A seed and why it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regression {
    /// The seed.
    pub seed: u64,
    /// What it broke.
    pub reason: &'static str,
}

/// Every committed seed. A line that is none is an error that says so.
pub fn regressions() -> Result<Vec<Regression>, String> {
    let lines = SEEDS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(parse).collect()
}

fn parse(line: &'static str) -> Result<Regression, String> {
    let (seed, reason) = line.split_once(' ').ok_or_else(|| format!("{line:?} says no reason"))?;
    let seed = seed.parse().map_err(|_| format!("{seed:?} is no seed"))?;
    Ok(Regression { seed, reason: reason.trim() })
}
