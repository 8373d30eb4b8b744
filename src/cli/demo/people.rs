//! Who is there this evening, and how each of them speaks to the service.

use anyhow::{Result, bail};

use super::api::Api;

/// How often a taken name is tried again with a number: a kept state directory has those of before.
const NAMES_MAX: u32 = 99;
/// The lane that carries everybody who has no account.
const LANE: &str = "evening";

/// The way that somebody's words come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// Into local rooms, under an account of their own.
    Account {
        /// The account's token.
        token: String,
    },
    /// Over a lane that vouches for who speaks.
    Lane {
        /// The lane's name.
        lane: String,
        /// The lane's token, the same for everybody on it.
        token: String,
    },
}

/// One person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    /// As they are shown.
    pub(super) name: &'static str,
    /// The transport's own id of them.
    pub(super) id: String,
    /// How they speak.
    pub(super) way: Way,
}

impl Person {
    /// Their full actor id.
    pub(super) fn actor(&self) -> String {
        match &self.way {
            Way::Account { .. } => format!("local:{}", self.id),
            Way::Lane { lane, .. } => format!("ingress:{lane}:{}", self.id),
        }
    }

    /// The full id of the room that they call `short`.
    pub(super) fn room(&self, short: &str) -> String {
        match &self.way {
            Way::Account { .. } => format!("local:{short}"),
            Way::Lane { lane, .. } => format!("ingress:{lane}:{short}"),
        }
    }
}

/// Everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cast {
    pub(super) ann: Person,
    pub(super) ben: Person,
    pub(super) chloe: Person,
    pub(super) dev: Person,
    pub(super) eva: Person,
    pub(super) finn: Person,
    pub(super) gus: Person,
    pub(super) hana: Person,
    pub(super) ivy: Person,
    pub(super) jo: Person,
    pub(super) kim: Person,
    pub(super) leo: Person,
    pub(super) mia: Person,
}

impl Cast {
    /// Everybody, in one row.
    pub(super) fn all(&self) -> [&Person; 13] {
        let Self { ann, ben, chloe, dev, eva, finn, gus, hana, ivy, jo, kim, leo, mia } = self;
        [ann, ben, chloe, dev, eva, finn, gus, hana, ivy, jo, kim, leo, mia]
    }

    /// Opens two accounts and a lane for the rest.
    pub(super) async fn invite(api: &Api) -> Result<Self> {
        let (lane, token) = named(LANE, async |name| api.lane(name).await).await?;
        let by_lane = |name: &'static str| Person {
            name,
            id: name.to_lowercase(),
            way: Way::Lane { lane: lane.clone(), token: token.clone() },
        };
        Ok(Self {
            ann: with_account(api, "Ann").await?,
            ben: with_account(api, "Ben").await?,
            chloe: by_lane("Chloe"),
            dev: by_lane("Dev"),
            eva: by_lane("Eva"),
            finn: by_lane("Finn"),
            gus: by_lane("Gus"),
            hana: by_lane("Hana"),
            ivy: by_lane("Ivy"),
            jo: by_lane("Jo"),
            kim: by_lane("Kim"),
            leo: by_lane("Leo"),
            mia: by_lane("Mia"),
        })
    }
}

async fn with_account(api: &Api, name: &'static str) -> Result<Person> {
    let (id, token) = named(&name.to_lowercase(), async |name| api.account(name).await).await?;
    Ok(Person { name, id, way: Way::Account { token } })
}

/// Makes a token under `name`, or under `name` and a number where that name was used before.
async fn named(name: &str, make: impl AsyncFn(&str) -> Result<Option<String>>) -> Result<(String, String)> {
    for number in 1..=NAMES_MAX {
        let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        if let Some(token) = make(&name).await? {
            return Ok((name, token));
        }
    }
    bail!("the state directory has {NAMES_MAX} evenings in it; use an empty one")
}
