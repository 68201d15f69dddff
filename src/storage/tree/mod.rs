//! Files in folders below one root, and changes of many of them as a whole.

mod disk;
mod key;
mod memory;
mod root;
mod store;

pub use disk::DiskStore;
pub use key::Key;
pub use memory::MemoryStore;
pub(crate) use root::Root;
pub use store::{Entry, EntryKind, Guard, Object, Store};
