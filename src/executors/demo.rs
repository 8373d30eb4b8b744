//! The demo agent: no language model, a script. It obeys the directives of its request and of
//! the steers that it reads, in order, so that everything else can be seen working without one.
//!
//! It reads steers between directives and every [`LOOK_EVERY`] while it waits.

mod agent;
mod directive;

use std::time::Duration;

use clankie_actors::ports::{EventSink, Executor, SessionHandle, SessionSpec};
use clankie_domain::ids::ExecutorName;
use clankie_domain::steering::SteerSupport;

use super::in_process;
use crate::files::Files;

/// How often it reads steers while it waits: a person's burst comes slower than this.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The executor of the demo agent.
#[derive(Debug)]
pub struct Demo {
    name: ExecutorName,
    files: Option<Files>,
}

impl Demo {
    /// The demo agent under the name that it is configured by.
    pub fn new(name: ExecutorName) -> Self {
        Self { name, files: None }
    }

    /// The same, with a place for the files that `!file` makes.
    #[must_use]
    pub fn with_files(self, files: Files) -> Self {
        Self { files: Some(files), ..self }
    }
}

impl Executor for Demo {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        SteerSupport::Receipt
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        in_process(events, {
            let files = self.files.clone();
            move |inbox| agent::Agent::new(spec, inbox, files).run()
        })
    }
}
