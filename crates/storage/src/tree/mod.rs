//! Files in folders below one root, and changes of many of them as a whole.
//!
//! [`Root`] is what datasets stand on: it reads a [`Store`] as its last complete change left it, gathers changes, and makes
//! them all or none.

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
pub use root::Root;
pub use store::{Entry, EntryKind, Guard, Object, Store};

#[cfg(test)]
mod tests;
