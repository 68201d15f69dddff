//! Files in folders below one root, and changes of many of them as a whole.
//!
//! [`Root`] is what datasets stand on: it reads a [`Store`] as its last complete change left it, gathers changes, and makes
//! them all or none.

#![allow(dead_code, reason = "datasets stand on it")]

mod apply;
mod change;
mod commit;
mod disk;
mod journal;
mod key;
mod memory;
mod op;
mod open;
mod own;
mod patch;
mod pieces;
mod root;
mod state;
mod store;
mod verify;

pub use disk::DiskStore;
pub use key::Key;
pub use memory::MemoryStore;
pub(crate) use root::Root;
pub use store::{Entry, EntryKind, Guard, Object, Store};

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod disk_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod test_model;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../../tests/support/tree_crash.rs"]
mod tree_crash;
#[cfg(test)]
#[path = "../../../tests/support/tree_faulty.rs"]
mod tree_faulty;
#[cfg(test)]
#[path = "../../../tests/support/tree_recorder.rs"]
mod tree_recorder;
