//! [`Process`]: tells a process from its forked children.

use std::io;

/// The process in which something was opened.
///
/// A child of `fork` has a copy of its parent's memory and shares the locks of open files, but has none of the
/// parent's other threads. Staged files, locks and removals therefore belong to the parent, whatever the child
/// does with its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        // WebAssembly has no process id.
        let is_alone = cfg!(target_family = "wasm");
        Self(if is_alone { 0 } else { std::process::id() })
    }

    /// Whether this is the current process; false in a forked child.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Refuses to use in a child what its parent has opened.
    ///
    /// # Errors
    /// Returns an error in any other process.
    pub fn check(self) -> io::Result<()> {
        if self.is_current() {
            return Ok(());
        }
        let what = format!(
            "opened by process {} before it forked this one: open it again in this process",
            self.0
        );
        Err(io::Error::other(what))
    }

    /// The process id; 0 where there are none.
    pub(crate) fn id(self) -> u32 {
        self.0
    }
}
