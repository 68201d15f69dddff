//! A single file that is changed atomically, through a journal beside it.

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
