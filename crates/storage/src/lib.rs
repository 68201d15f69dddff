//! Files and stores that are read at any position and changed atomically.
//!
//! After a crash at any moment, a file or a store has its old content or its new content, and can be read
//! immediately. The crate knows no file format, apart from ZIP archives with the feature `zip`. It is the layer
//! below the `bloscpack` crates.
//!
//! # How a change is made
//!
//! ```text
//!           one file: JournaledFile                   many files: JournaledStore
//!
//! files     NAME               the file               .blpk/SALT-NUMBER  staged files,
//!                                                                        draft of the journal
//!           NAME.blpk-journal  the new bytes          .blpk/journal      the steps of a
//!                                                                        committed change
//!           NAME.blpk-history  old bytes for readers  .blpk/history      old bytes for readers
//!
//! 1 stage   new bytes ──► journal                     new files ──► .blpk/SALT-NUMBER
//! 2 sync    journal, folder                           staged files, journal, .blpk, root
//! 3 commit  the file's first byte becomes "!"; sync   draft renamed to .blpk/journal; sync
//! 4 apply   bytes ──► their places in the file; sync  files renamed, patched, removed; sync
//! 5 finish  the first byte is restored; sync          .blpk/journal is removed; sync
//!
//! crash before 3: the old content
//! crash after 3:  the new content: readers read through the journal,
//!                 the next writer completes the change
//!
//! journal   head 32 bytes                             head 68 bytes
//!           bytes of all pieces                       steps: key, kind, lengths, checksums
//!           index, 32 bytes a piece                   bytes of the patches
//!           tail 148 bytes                            crc32, 4 bytes
//! ```
//!
//! `SALT` is a random number that identifies a writer. `docs/crash-safety.md` in the repository describes the
//! protocol, its assumptions and its limits, and the layout of the journals and of the history.
//!
//! # Where to start
//!
//! | you have | you want to | use |
//! |---|---|---|
//! | a [`File`](std::fs::File), bytes, a reader that seeks | read at any position, by many threads | [`ReadAt`], [`Seekable`] |
//! | a source of positions | read in order and seek | [`SourceReader`] |
//! | a source with slow reads | turn many small reads into few large ones | [`ReadAhead`] |
//! | a file that others may change | read its last committed content | [`Snapshot`] |
//! | a file that others are changing | wait for the next change | [`FileWatch`] |
//! | a file | change it atomically | [`JournaledFile`] |
//! | a directory of many files | change several of them atomically | [`DiskStore`] and [`JournaledStore`] |
//! | a ZIP archive | read the files in it | `ZipStore` (feature `zip`) |
//! | a test | avoid the disk, or make it fail | [`Memory`], or your own [`Folder`] or [`Store`] |
//!
//! # Reading
//!
//! [`ReadAt`] reads by position and is shared by threads. [`Snapshot`] reads one file, [`JournaledStore::open`]
//! with [`Access::Read`] a store. Both keep the content they were opened with, or return an error that says
//! to open them again, and change nothing on the disk. [`Refresh`] moves on to the current content.
//!
//! # Writing
//!
//! [`JournaledFile::change`] begins a [`Change`] of one file; [`JournaledStore`] gathers changes of many files.
//! Both apply them atomically in `commit`. A commit that has returned without an error survives a power cut, except
//! on Windows, which cannot sync directories. There is one writer at a time; others wait up to a [`LockTimeout`].
//!
//! Locks are advisory: they exclude other users of this crate, not programs that ignore locks. On Windows they
//! exclude every program.
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
//! # Errors
//!
//! Operations on open files and stores return [`std::io::Error`]. Opening and committing, which may find or
//! leave an unfinished change, return [`Error`]. An [`io::Error`](std::io::Error) of this crate converts into
//! [`Error`] without loss.
//!
//! # Features
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `mmap` | `Map`, a file mapped into memory. A map is only correct for files that no program changes. | no |
//! | `zip` | `ZipStore`, a ZIP archive as a read-only store, and `zip_folder` | no |

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
    Below, DiskStore, Entry, EntryKind, JournaledStore, Key, Store, StoreHandle, StoreLock,
};
pub use watch::{FileWatch, StopSignal};
pub use write_at::WriteAt;
#[cfg(feature = "zip")]
pub use zip::{ZipStore, zip_folder};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
