//! The history: what commits have overwritten, for readers of older content.
//!
//! A file is treated as a store with one key, the root. A writer has a [`Keeper`], which appends to
//! the history before each commit if there are readers. A reader has a [`Follower`], which looks at
//! the history after each read, and a [`View`] of what is to be read elsewhere.

mod follower;
mod keeper;
mod pinned;
mod queue;
mod reading;
mod record;
mod view;

pub(crate) use follower::{Follower, Start};
pub(crate) use keeper::{Keeper, Site};
pub(crate) use pinned::Place;
pub(crate) use queue::as_only_writer;
pub(crate) use reading::Reading;
pub(crate) use record::{Entry, Former};
pub(crate) use view::{Pin, View};

use crate::{FileStatus, Lock, Presence};
use std::io;
use std::ops::Range;

/// The slot of a writer.
const WRITER: u64 = 0;
/// The slot of a writer that may still have to complete the change of an earlier one.
const SETTLER: u64 = 1;
/// The slots of both.
const WRITERS: Range<u64> = WRITER..SETTLER + 1;
/// The slot of readers that have no history. Those with a history of epoch N, which is at least 1,
/// are announced N slots later.
const READERS: u64 = 2;
const MAX_EPOCH: u64 = 1 << 60;

/// The slots of writers that wait until another one has gone, by the order in which they have come.
const QUEUE: Range<u64> = 3 << 59..(3 << 59) + (1 << 40);
/// The slots of writers, by the number of their process.
const PROCESSES: Range<u64> = QUEUE.end..QUEUE.end + (1 << 32);

/// The slot of the readers with a history of this epoch.
fn slot_of(epoch: u64) -> u64 {
    READERS + epoch.min(MAX_EPOCH)
}

/// The slots of all readers, or of those before an epoch.
fn readers(before: Option<u64>) -> Range<u64> {
    READERS..slot_of(before.unwrap_or(MAX_EPOCH + 1))
}

fn presence_of<F: Lock>(file: &F) -> io::Result<&dyn Presence> {
    file.presence().ok_or(io::ErrorKind::Unsupported.into())
}

pub(crate) fn status_of<F: Lock>(file: &F) -> io::Result<FileStatus> {
    presence_of(file)?.status()
}
