//! A single file that is changed atomically, through a journal beside it.

mod change;
mod follower;
mod history;
mod journaled;
mod keeper;
mod pinned;
mod replacement;
mod snapshot;

pub use change::{Change, Draft, GAP};
pub use journaled::{JournaledFile, MARK};
pub use replacement::Replacement;
pub use snapshot::Snapshot;

#[cfg(test)]
mod tests;
