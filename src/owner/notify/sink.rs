//! One place outside where the owner hears news.

use async_trait::async_trait;

use super::news::News;

/// A place where the owner hears news. It has deadlines of its own; whoever tells it waits for nobody else.
#[async_trait]
pub trait Sink: Send + Sync {
    /// Its name in the configuration, in status and in logs.
    fn name(&self) -> &'static str;

    /// Tells it once. The same news may be told again with the same id when the outcome was unclear.
    async fn tell(&self, news: &News) -> Result<(), Untold>;
}

/// Why a sink was not told. The text says what happened, and holds neither address nor credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// It may go well later.
    #[error("{0}")]
    NotNow(String),
    /// It never will for this news.
    #[error("{0}")]
    Refused(String),
    /// The sink wants nothing any more.
    #[error("{0}")]
    Gone(String),
}
