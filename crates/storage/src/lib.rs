//! Where bytes live: the layer under files, and under whatever else is read at any place or
//! changed as a whole.
//!
//! [`ReadAt`] is what random access stands on. It takes no `&mut`, so that several threads can
//! share one source; a [`File`](std::fs::File) is read by position, bytes in memory are simply
//! there, and anything that seeks is shared behind a lock by [`Seekable`]. With the cargo feature
//! `mmap` a file can also be mapped into memory, as `Map`, whose documentation says when not to.
//!
//! A [`Folder`] has files by name, which are [written](WriteAt) at any place and [locked](Lock).
//! What writes to files changes them through a journal; whoever reads one at the same time, or
//! after a crash, takes a [`Snapshot`]. A [`Disk`], a [`Memory`], and doubles of yours are folders.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod change;
pub mod crew;
mod cursor;
mod disk;
mod error;
mod folder;
mod held;
mod journal;
mod lock;
mod lock_timeout;
#[cfg(feature = "mmap")]
mod map;
mod memory;
mod overlay;
pub mod pool;
mod read_at;
mod replacement;
mod seekable;
mod snapshot;
pub mod threads;
mod tree;
mod write_at;

pub use change::{Change, Draft, GAP};
pub use cursor::Cursor;
pub use cursor::target;
pub use disk::Disk;
pub use error::{Error, Result};
pub use folder::{Access, Folder};
pub use held::{Held, MARK};
pub use lock::{Lock, LockMode};
pub use lock_timeout::LockTimeout;
#[cfg(feature = "mmap")]
pub use map::Map;
pub use memory::{Memory, MemoryFile};
pub use read_at::ReadAt;
pub use read_at::for_each_step;
pub use replacement::Replacement;
pub use seekable::Seekable;
pub use snapshot::Snapshot;
pub use tree::Root;
pub use tree::{DiskStore, Entry, EntryKind, Guard, Key, MemoryStore, Object, Store};
pub use write_at::WriteAt;
