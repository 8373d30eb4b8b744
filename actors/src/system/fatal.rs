//! Why the process must end, when it must: the first reason stands.

use tokio::sync::watch;

/// The reason, once there is one.
#[derive(Debug, Clone)]
pub(crate) struct Fatal(watch::Sender<Option<String>>);

/// Burns when its owner goes. For actors that nobody watches over.
#[derive(Debug)]
pub(crate) struct Fuse {
    fatal: Fatal,
    owner: &'static str,
}

impl Default for Fatal {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Fatal {
    /// Says why the process must end.
    pub(crate) fn burn(&self, why: String) {
        self.0.send_if_modified(|reason| {
            let first = reason.is_none();
            if first {
                *reason = Some(why);
            }
            first
        });
    }

    /// A fuse for `owner`, which must live as long as the process.
    pub(crate) fn fuse(&self, owner: &'static str) -> Fuse {
        Fuse { fatal: self.clone(), owner }
    }

    /// The reason, to be waited for.
    pub(crate) fn reason(&self) -> watch::Receiver<Option<String>> {
        self.0.subscribe()
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        self.fatal.burn(format!("{} is gone", self.owner));
    }
}
