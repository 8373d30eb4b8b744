//! Which kinds of step the owner keeps, and which are delegated.
//!
//! A category that nothing delegates is reserved: absence never opens anything.

use std::collections::{BTreeMap, BTreeSet};

/// A kind of step that an owner may want to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Committing.
    Commit,
    /// Pushing.
    Push,
    /// Releasing.
    Release,
    /// Merging.
    Merge,
    /// Spending money.
    Spend,
    /// What cannot be undone.
    Destructive,
    /// Writing to systems of other people.
    ExternalWrite,
    /// A plan before it is carried out.
    Plan,
    /// What an agent called an approval without naming a kind. Set by the host, always reserved.
    Unspecified,
}

impl Category {
    /// Every category that a draft or the configuration may name.
    pub const NAMED: [Self; 8] = [
        Self::Commit,
        Self::Push,
        Self::Release,
        Self::Merge,
        Self::Spend,
        Self::Destructive,
        Self::ExternalWrite,
        Self::Plan,
    ];

    /// The category as the contract writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Push => "push",
            Self::Release => "release",
            Self::Merge => "merge",
            Self::Spend => "spend",
            Self::Destructive => "destructive",
            Self::ExternalWrite => "external_write",
            Self::Plan => "plan",
            Self::Unspecified => "unspecified",
        }
    }

    /// Reads a name that a draft may use.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|category| category.as_str() == name)
    }
}

/// Whose decision a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decider {
    /// The owner's.
    Reserved,
    /// The agent's own, by the owner's settings.
    Delegated,
}

/// `[autonomy]` as configuration has it now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Autonomy {
    /// What is delegated everywhere.
    pub delegated: BTreeSet<Category>,
    /// What a project says itself, by its canonical root. A project wins over the rest.
    pub projects: BTreeMap<String, BTreeMap<Category, Decider>>,
}

impl Autonomy {
    /// Who decides a step of that category in that project.
    pub fn decider(&self, category: Category, project: Option<&str>) -> Decider {
        if category == Category::Unspecified {
            return Decider::Reserved;
        }
        let own = project.and_then(|root| self.projects.get(root)).and_then(|says| says.get(&category));
        match own {
            Some(decider) => *decider,
            None if self.delegated.contains(&category) => Decider::Delegated,
            None => Decider::Reserved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_delegates_is_reserved_and_a_project_wins() {
        let mut autonomy = Autonomy::default();
        assert!(Category::NAMED.iter().all(|category| autonomy.decider(*category, None) == Decider::Reserved));
        autonomy.delegated = BTreeSet::from([Category::Push, Category::Unspecified]);
        autonomy.projects.insert("/p".into(), BTreeMap::from([(Category::Push, Decider::Reserved)]));
        assert_eq!(autonomy.decider(Category::Push, None), Decider::Delegated);
        assert_eq!(autonomy.decider(Category::Push, Some("/p")), Decider::Reserved);
        assert_eq!(autonomy.decider(Category::Push, Some("/q")), Decider::Delegated);
        assert_eq!(autonomy.decider(Category::Unspecified, None), Decider::Reserved);
    }

    #[test]
    fn every_name_reads_back_and_no_draft_can_name_the_host_s_own() {
        for category in Category::NAMED {
            assert_eq!(Category::parse(category.as_str()), Some(category));
        }
        assert_eq!(Category::parse("unspecified"), None);
    }
}
