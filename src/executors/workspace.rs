//! The workspace: one directory of the owner's choice in which machine tools read and write files.
//!
//! A tool sees plain files strictly beneath that directory and nothing else: the kernel resolves
//! each path beneath the directory that was opened at the start, and follows no link. What replaces
//! or deletes a file needs the category `destructive`, which is decided by the arguments alone.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use clankie_actors::ports::{MachineTool, ToolReply, ToolSpec};
use clankie_domain::autonomy::Category;
use serde_json::{Value, json};

mod arguments;
mod beneath;
mod place;
mod refusal;

use arguments::{Replacing, listing, naming, writing};
use beneath::Beneath;
use refusal::Refusal;

pub use place::{Guarded, WorkspaceError};

/// Longest file that is read or written, in bytes: what a model and a transcript get of one call.
pub const FILE_MAX: usize = super::TOOL_DETAIL_MAX;
/// Most entries that one listing gives: with usual names about as much text as the longest file.
pub const LISTED_MAX: usize = 500;

/// The directory, opened once: whatever is put in its place later is never seen.
#[derive(Debug)]
pub struct Workspace {
    beneath: Arc<Beneath>,
}

impl Workspace {
    /// Opens the directory. It may not hold, be or lie in any of what is `guarded`.
    pub fn open(dir: &Path, guarded: &[Guarded]) -> Result<Self, WorkspaceError> {
        let beneath = Arc::new(place::open(dir, guarded)?);
        Ok(Self { beneath })
    }

    /// Every tool of a workspace.
    pub fn tools(&self) -> Vec<Arc<dyn MachineTool>> {
        let tool = |verb| Arc::new(FileTool { verb, beneath: Arc::clone(&self.beneath) }) as Arc<dyn MachineTool>;
        [Verb::List, Verb::Read, Verb::Write, Verb::Delete].map(tool).to_vec()
    }
}

/// What one tool does.
#[derive(Debug, Clone, Copy)]
enum Verb {
    List,
    Read,
    Write,
    Delete,
}

/// One tool of the workspace.
#[derive(Debug)]
struct FileTool {
    verb: Verb,
    beneath: Arc<Beneath>,
}

#[async_trait]
impl MachineTool for FileTool {
    fn spec(&self) -> ToolSpec {
        let (name, description) = self.verb.told();
        ToolSpec { name: name.to_owned(), description, parameters: self.verb.parameters() }
    }

    /// Arguments that the call will refuse need nothing: they must not use an approval up.
    fn gate(&self, arguments: &Value) -> Option<Category> {
        let destroys = match self.verb {
            Verb::List | Verb::Read => false,
            Verb::Write => writing(arguments).is_ok_and(|write| write.replacing == Replacing::Allowed),
            Verb::Delete => naming(arguments).is_ok(),
        };
        destroys.then_some(Category::Destructive)
    }

    /// Runs off the async runtime, and to its end even when nobody waits for it any more.
    async fn call(&self, arguments: Value) -> ToolReply {
        let (verb, beneath) = (self.verb, Arc::clone(&self.beneath));
        let done = tokio::task::spawn_blocking(move || verb.carry_out(&beneath, &arguments)).await;
        match done.unwrap_or_else(|died| Err(Refusal::Broken(died.to_string()))) {
            Ok(output) => ToolReply::Done(output),
            Err(refusal) => refusal.reply(),
        }
    }
}

impl Verb {
    fn carry_out(self, beneath: &Beneath, arguments: &Value) -> Result<String, Refusal> {
        match self {
            Self::List => beneath.list(&listing(arguments)?).map(|listing| listing.to_string()),
            Self::Read => beneath.read(&naming(arguments)?),
            Self::Write => {
                let write = writing(arguments)?;
                beneath.write(&write).map(|()| format!("wrote {} bytes", write.text.len()))
            }
            Self::Delete => beneath.delete(&naming(arguments)?).map(|()| "deleted".to_owned()),
        }
    }

    fn told(self) -> (&'static str, String) {
        match self {
            Self::List => (
                "file_list",
                format!(
                    "Lists a folder of the workspace (\".\" is the workspace itself), at most {LISTED_MAX} entries."
                ),
            ),
            Self::Read => ("file_read", format!("Reads a text file of the workspace of at most {FILE_MAX} bytes.")),
            Self::Write => (
                "file_write",
                format!(
                    "Writes a text file of at most {FILE_MAX} bytes into an existing folder of the workspace. \
                     Replacing a file needs replace: true, which may need the owner's approval (category destructive)."
                ),
            ),
            Self::Delete => (
                "file_delete",
                "Deletes a file of the workspace. It may need the owner's approval (category destructive).".to_owned(),
            ),
        }
    }

    fn parameters(self) -> Value {
        let path = json!({"type": "string", "description": "Relative to the workspace, without \"..\"."});
        let object = |properties: Value, required: &[&str]| {
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })
        };
        match self {
            Self::List | Self::Read | Self::Delete => object(json!({ "path": path }), &["path"]),
            Self::Write => {
                let (text, replace) = (json!({"type": "string"}), json!({"type": "boolean", "default": false}));
                object(json!({ "path": path, "text": text, "replace": replace }), &["path", "text"])
            }
        }
    }
}

#[cfg(test)]
mod tests;
