//! What the story counts and which laws it holds the program to. Nothing is a violation but what stands here.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::process::ExitCode;

/// Broken cases of one law that are printed; the rest is only counted.
const SHOWN: usize = 10;

/// Counts and laws, each by its words.
#[derive(Debug, Default)]
pub(crate) struct Book {
    counts: BTreeMap<&'static str, usize>,
    laws: BTreeMap<&'static str, Law>,
}

#[derive(Debug, Default)]
struct Law {
    seen: usize,
    broken: Vec<String>,
}

impl Book {
    /// Counts one more of them.
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// How many were counted.
    pub(crate) fn counted(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or_default()
    }

    /// One more case of a law: it is broken unless the two are the same.
    pub(crate) fn law<T: PartialEq + Debug>(&mut self, law: &'static str, about: &str, (found, wanted): (T, T)) {
        let law = self.laws.entry(law).or_default();
        law.seen += 1;
        if found != wanted {
            law.broken.push(format!("{about}: {found:?} instead of {wanted:?}"));
        }
    }

    /// Prints it, and says whether every law held. A story that looked at nothing held nothing.
    pub(crate) fn close(&self) -> ExitCode {
        for (what, count) in &self.counts {
            println!("{count:>6} {what}");
        }
        for (name, law) in &self.laws {
            let word = if law.broken.is_empty() { "held" } else { "BROKEN" };
            println!("{word} {name} ({} looked at, {} broken)", law.seen, law.broken.len());
            law.broken.iter().take(SHOWN).for_each(|what| println!("    {what}"));
        }
        let broken = self.laws.values().filter(|law| !law.broken.is_empty()).count();
        println!("{} laws held, {broken} violated", self.laws.len() - broken);
        if broken == 0 && !self.laws.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
