//! The builtin agent: an agent loop of our own on one model API, in this process.
//!
//! It has no file, no shell and no credential but its key; all it can do is talk and call the
//! tools of its handoff. A model that is down, refuses or is out of quota ends the run as
//! `model_unavailable`; nothing else is put in its place.

mod budget;
mod failure;
mod model;
mod prompt;
mod session;
pub mod settings;
mod tools;

use std::sync::Arc;

use clankie_actors::ports::{EventSink, Executor, SessionHandle, SessionSpec};
use clankie_domain::ids::ExecutorName;
use clankie_domain::steering::SteerSupport;

pub use model::SetupError;

use super::in_process;
use model::Model;
use settings::Settings;

/// The executor of the builtin agent.
#[derive(Debug)]
pub struct Builtin {
    name: ExecutorName,
    shared: Arc<Shared>,
}

/// What all its sessions share: settings and connections, no state of any run.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    model: Model,
}

impl Builtin {
    /// The builtin agent under the name that it is configured by. The process must have installed
    /// a TLS provider. Nothing is called yet.
    pub fn new(name: ExecutorName, settings: Settings) -> Result<Self, SetupError> {
        let model = Model::new(&settings)?;
        Ok(Self { name, shared: Arc::new(Shared { settings, model }) })
    }
}

impl Executor for Builtin {
    fn name(&self) -> &ExecutorName {
        &self.name
    }

    fn steer(&self) -> SteerSupport {
        SteerSupport::Receipt
    }

    fn start(&self, spec: SessionSpec, events: EventSink) -> SessionHandle {
        let shared = Arc::clone(&self.shared);
        in_process(events, move |inbox| session::Session::new(spec, inbox, shared).run())
    }
}
