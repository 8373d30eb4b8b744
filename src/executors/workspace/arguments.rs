//! What the workspace's tools are told, read strictly: the gate and the call read the same words.

use serde::Deserialize;
use serde_json::Value;

use super::FILE_MAX;
use super::refusal::Refusal;

/// Longest path that a tool takes, in bytes: deeper than any project, and far below what a kernel takes.
const PATH_MAX: usize = 1_024;
/// The workspace itself, for listings.
const ITSELF: &str = ".";

/// A path beneath the workspace: its folder, and the name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inside {
    /// The folder, `.` for the workspace itself.
    pub(super) folder: String,
    /// The name in that folder.
    pub(super) name: String,
}

/// Whether a write may take the place of what stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacing {
    /// It may: the call needs the category.
    Allowed,
    /// It may not: what stands there stays.
    Refused,
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Writing {
    pub(super) at: Inside,
    pub(super) text: String,
    pub(super) replacing: Replacing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    text: String,
    #[serde(default)]
    replace: bool,
}

impl Inside {
    /// The whole path, relative to the workspace.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.folder, self.name)
    }
}

/// The folder that a listing names.
pub(super) fn listing(arguments: &Value) -> Result<String, Refusal> {
    let Named { path } = read(arguments)?;
    if path == ITSELF {
        return Ok(path);
    }
    inside(&path).map(|inside| inside.path())
}

/// The file that a call names.
pub(super) fn naming(arguments: &Value) -> Result<Inside, Refusal> {
    let Named { path } = read(arguments)?;
    inside(&path)
}

/// What a write names and says.
pub(super) fn writing(arguments: &Value) -> Result<Writing, Refusal> {
    let Written { path, text, replace } = read(arguments)?;
    if text.len() > FILE_MAX {
        return Err(Refusal::TooLarge);
    }
    let replacing = if replace { Replacing::Allowed } else { Replacing::Refused };
    Ok(Writing { at: inside(&path)?, text, replacing })
}

fn read<'a, T: Deserialize<'a>>(arguments: &'a Value) -> Result<T, Refusal> {
    T::deserialize(arguments).map_err(|why| Refusal::Arguments(why.to_string()))
}

/// The kernel holds the walls; what could only be a try at them is refused before it is asked.
fn inside(path: &str) -> Result<Inside, Refusal> {
    let sound = |part: &str| !part.is_empty() && part != "." && part != "..";
    if path.len() > PATH_MAX || path.contains('\0') || !path.split('/').all(sound) {
        return Err(Refusal::Path);
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or((ITSELF, path));
    Ok(Inside { folder: folder.to_owned(), name: name.to_owned() })
}
