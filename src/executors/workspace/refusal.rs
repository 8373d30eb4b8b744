//! Why a file tool does not do what it was asked: a stable code, and a sentence for the agent.

use clankie_actors::ports::ToolReply;
use rustix::io::Errno;

use super::FILE_MAX;

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("The arguments do not fit: {0}.")]
    Arguments(String),
    #[error("path must be relative to the workspace, of at most 1024 bytes, without \"..\", \".\" or empty parts.")]
    Path,
    #[error("There is no such file or folder in the workspace.")]
    NotFound,
    #[error("The path leads through a link or out of the workspace.")]
    Outside,
    #[error("This is no plain file.")]
    NotAFile,
    #[error("This is no folder.")]
    NotAFolder,
    #[error("A file stands there already. Replacing it needs replace: true.")]
    Exists,
    #[error("The file is longer than {FILE_MAX} bytes.")]
    TooLarge,
    #[error("The file is no text.")]
    NotText,
    #[error("The system does not permit this.")]
    Denied,
    #[error("There is no room left on the disk.")]
    Full,
    /// Anything else; the words are for the log.
    #[error("The workspace cannot do this right now.")]
    Broken(String),
}

impl Refusal {
    /// As the agent hears it.
    pub(super) fn reply(&self) -> ToolReply {
        if let Self::Broken(why) = self {
            tracing::warn!(why, "a file tool failed");
        }
        ToolReply::Refused { code: self.code().to_owned(), sentence: self.to_string() }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "invalid_arguments",
            Self::Path => "invalid_path",
            Self::NotFound => "not_found",
            Self::Outside => "outside_workspace",
            Self::NotAFile => "not_a_file",
            Self::NotAFolder => "not_a_folder",
            Self::Exists => "file_exists",
            Self::TooLarge => "file_too_large",
            Self::NotText => "not_text",
            Self::Denied => "denied",
            Self::Full => "disk_full",
            Self::Broken(_) => "workspace_unavailable",
        }
    }
}

/// What the kernel said, in the words of this room. Without `openat2` nothing is resolved any other way.
impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::LOOP | Errno::XDEV => Self::Outside,
            Errno::ISDIR | Errno::NXIO => Self::NotAFile,
            Errno::NOTDIR => Self::NotAFolder,
            Errno::EXIST => Self::Exists,
            Errno::NAMETOOLONG => Self::Path,
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Denied,
            Errno::NOSPC | Errno::DQUOT => Self::Full,
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Broken(error.to_string()),
        }
    }
}
