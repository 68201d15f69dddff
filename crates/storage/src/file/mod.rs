//! One file that is changed atomically, through a journal beside it.
//!
//! ```text
//!  open.rs         opens the file and its journal, completes an earlier change ──► JournaledFile
//!  change.rs       Change: pieces ──► journal, or after the end of the file; commit
//!  journaled.rs    JournaledFile: mark, pieces, unmark
//!  replacement.rs  Replacement: a new file, if the change does not fit
//!  snapshot.rs     Snapshot: reads one version, through journal and history
//! ```

mod change;
mod journaled;
mod open;
mod replacement;
mod site;
mod snapshot;

pub use change::{Change, Draft, GAP};
pub use journaled::{JournaledFile, MARK};
pub use replacement::Replacement;
pub use snapshot::Snapshot;

#[cfg(test)]
mod tests;
