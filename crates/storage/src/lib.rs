//! Files and stores that are read at any position and changed atomically.
//!
//! This crate knows no file format. It is the layer below the `bloscpack` crates, and useful
//! wherever a file is read by several threads at once, or has to survive a crash in the middle of
//! a change.
//!
//! # Where to start
//!
//! | you have | you want to | use |
//! |---|---|---|
//! | a [`File`](std::fs::File), bytes, or a reader that seeks | read at any position, from several threads | [`ReadAt`], [`Seekable`] |
//! | a source of positions | read in order and seek | [`SourceReader`] |
//! | a source of positions where each read takes long | make few and large reads of many small ones | [`ReadAhead`] |
//! | a file that others may be changing | read it as of its last committed change | [`Snapshot`] |
//! | a file that others are changing | wait for the next change | [`FileWatch`] |
//! | a file | change it atomically | [`JournaledFile`] |
//! | a directory of many files | change several of them atomically | [`DiskStore`] and [`JournaledStore`] |
//! | a ZIP archive | read the files in it | `ZipStore` (feature `zip`) |
//! | a test | avoid the disk, or make it fail | [`Memory`], or your own [`Folder`] or [`Store`] |
//!
//! # Example
//!
//! One change of two files, which a reader sees atomically:
//!
//! ```
//! use bloscpack_storage::{Access, JournaledStore, Key, Memory};
//! use std::sync::Arc;
//!
//! let store = Arc::new(Memory::from([("count", b"1".to_vec())]));
//! let writer = JournaledStore::open(store.clone(), Access::Write)?;
//! writer.put(&Key::parse("one")?, b"the first")?;
//! writer.put(&Key::parse("count")?, b"2")?;
//!
//! let reader = JournaledStore::open(store.clone(), Access::Read)?;
//! assert_eq!(reader.get(&Key::parse("count")?, 100)?, b"1");
//! drop(reader);
//!
//! writer.commit()?;
//! let reader = JournaledStore::open(store, Access::Read)?;
//! assert_eq!(reader.get(&Key::parse("count")?, 100)?, b"2");
//! # Ok::<(), bloscpack_storage::Error>(())
//! ```
//!
//! # Guarantees
//!
//! After a crash at any moment, a file or a store has its old content or its new content, and can
//! be read immediately, even where it is not writable. A commit that has returned survives. The
//! protocol, its assumptions and its limits are in `docs/crash-safety.md` of the repository.
//!
//! Locks are advisory: they exclude other users of this crate, not programs that do not ask for
//! them. On Windows they exclude every program.
//!
//! # Errors
//!
//! Operations on open files and stores return [`std::io::Error`]. Opening, which may find a change
//! that was interrupted and cannot be completed, returns [`Error`].
//!
//! # Features
//!
//! `mmap` adds `Map`, a file mapped into memory. It is off by default, because a map is only
//! correct for files that no program changes. `zip` adds `ZipStore`, a ZIP archive as a store that is only read.

#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod convert;
mod disk;
mod error;
mod file;
mod folder;
mod history;
#[doc(hidden)]
pub mod internal;
mod journal;
mod lock;
mod lock_timeout;
#[cfg(feature = "mmap")]
mod map;
mod memory;
mod mutex;
mod owners;
#[doc(hidden)]
pub mod parallel;
mod presence;
mod process;
mod read_ahead;
mod read_at;
mod refresh;
mod seekable;
mod source_reader;
mod tree;
mod watch;
mod windows_name;
mod write_at;
#[cfg(feature = "zip")]
mod zip;

pub use disk::Disk;
pub use error::{ArchiveError, Error, JournalFault, Result, Subject};
pub use file::{Change, JournaledFile, Replacement, Snapshot};
pub use folder::{Access, Folder};
pub use lock::{Lock, LockMode};
pub use lock_timeout::LockTimeout;
#[cfg(feature = "mmap")]
pub use map::Map;
pub use memory::{Memory, MemoryFile};
pub use presence::{FileStatus, Presence};
pub use read_ahead::ReadAhead;
pub use read_at::{ReadAt, SharedSource};
pub use refresh::{Refresh, Refreshed};
pub use seekable::Seekable;
pub use source_reader::SourceReader;
pub use tree::{
    Below, DiskStore, Entry, EntryKind, JournaledStore, Key, Store, StoreFile, StoreHandle,
    StoreLock,
};
pub use watch::{FileWatch, StopSignal};
pub use write_at::WriteAt;
#[cfg(feature = "zip")]
pub use zip::{ZipStore, zip_folder};

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
