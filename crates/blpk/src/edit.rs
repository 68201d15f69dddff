//! Files and datasets that are changed in place.

mod dataset;
mod file;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use dataset::DatasetEdit;
pub use file::FileEdit;

use crate::interrupt::{self, Deferred};
use crate::message;
use crate::output::unchanged;
use crate::session::Session;
use crate::text::quoted;

/// How long it waits before it says so.
const SILENCE: Duration = Duration::from_secs(1);

/// The file or dataset that is changed. While this lives, Ctrl-C asks the change to stop.
#[derive(Debug)]
struct InPlace<'a> {
    path: &'a Path,
    _deferred: Deferred,
}

impl<'a> InPlace<'a> {
    fn begin(path: &'a Path) -> Self {
        Self {
            path,
            _deferred: Deferred::begin(),
        }
    }

    /// Its name in messages.
    fn name(&self) -> String {
        quoted(self.path)
    }

    /// The detail of a failure that changed nothing.
    fn unchanged(&self) -> String {
        unchanged(&self.name())
    }

    /// Called while the change waits for a lock: reports that after a while, and returns whether to go on waiting.
    fn while_waiting(
        &self,
        session: &Session,
    ) -> impl Fn(Duration) -> bool + Send + Sync + 'static {
        let (name, reported) = (self.name(), AtomicBool::new(session.quiet));
        move |waited| {
            if waited >= SILENCE && !reported.swap(true, Ordering::Relaxed) {
                message::note(format_args!("waiting for others to finish with {name}"));
            }
            !interrupt::is_requested()
        }
    }

    /// Reports a signal that came too late to stop the change.
    fn report_late_signal(&self) {
        if interrupt::is_requested() {
            let name = self.name();
            message::note(format_args!(
                "{name}: the change could no longer be stopped, and is complete"
            ));
        }
    }
}
