//! The history: what commits have overwritten, for readers of older content.
//!
//! A file counts as a store with one key, the root. A writer has a [`Keeper`], which appends to the history
//! before each commit if there are readers. A reader has a [`Follower`], which looks at the history after each
//! read, and a [`View`] with the ranges to be read elsewhere.
//!
//! ```text
//!  writer: Keeper                                     reader: Follower, View
//!    announces itself                                   announces itself
//!    commit, with the file locked:                      reads, then looks at the history:
//!      readers announced?                                 unchanged: the bytes belong to the view
//!      saves the old bytes ──► history, record "begun"    longer: pins the old bytes ──► View, reads again
//!      changes the file; record "done"                    writer gone and stamp changed: the content is lost
//! ```
//!
//! Handles announce themselves in slots, one byte each, far after the end of the file ([`Presence`]):
//!
//! ```text
//!  0                      a writer that has completed the changes of earlier ones
//!  1                      a writer that may still have to
//!  2                      readers without a history
//!  2 + N                  readers of the history of epoch N, from 1
//!  3 * 2^59 + T           the waiting writer with ticket T
//!  3 * 2^59 + 2^40 + P    a writer in the process P
//! ```

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
/// The slot of a writer that may still have to complete an earlier writer's change.
const SETTLER: u64 = 1;
/// Both slots of writers.
const WRITERS: Range<u64> = WRITER..SETTLER + 1;
/// The slot of readers without a history. Readers of a history of epoch N (1 or more) use the slot N later.
const READERS: u64 = 2;
const MAX_EPOCH: u64 = 1 << 60;

/// The slots of waiting writers, in the order of their arrival.
const QUEUE: Range<u64> = 3 << 59..(3 << 59) + (1 << 40);
/// The slots of writers by process id.
const PROCESSES: Range<u64> = QUEUE.end..QUEUE.end + (1 << 32);

/// The slot of readers of a history of this epoch.
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
