//! Files that are read while they grow.
//!
//! [`RecordFollower`] returns the records of a file one by one, and waits for those that others append; [`ContentFollower`]
//! does the same with the bytes of a content. Both begin at any number, so that a follower that was interrupted can go on
//! where it was.
//!
//! ```
//! use bloscpack::{edit::RecordEditor, follow::FollowOptions, records::RecordWriter};
//! use std::{fs::File, thread, time::Duration};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.blp");
//! let mut writer = RecordWriter::builder().write_to_file(File::create_new(&path)?)?;
//! writer.push("zero")?;
//! writer.finish()?;
//!
//! let mut follower = FollowOptions::new().timeout(Duration::from_secs(10)).records(&path)?;
//! let appending = thread::spawn(move || {
//!     let mut editor = RecordEditor::open(path)?;
//!     let mut appender = editor.append()?;
//!     appender.push("one")?;
//!     appender.finish()
//! });
//! let records: Result<Vec<_>, _> = follower.by_ref().take(2).collect();
//! assert_eq!(records?, ["zero", "one"]);
//! assert_eq!(follower.number(), 2);
//! # appending.join().map_err(|_| "panicked")??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is seen
//!
//! Each commit is seen at once, as a whole, a moment after it was made; on file systems that report no changes, such as those
//! of a network, a fifth of a second later. A follower that waits holds no lock, and no writer waits for it. Nothing is
//! delivered twice: if content before the position is patched, the follower does not return to it.
//!
//! Another file may take the place of the one that is followed. If it goes on from it, as a file that an append has
//! rewritten does, the follower goes on there. Whether it does is decided by what precedes the position: the last record, or
//! up to 4 KiB of content. Otherwise the follower fails; [`seek`](RecordFollower::seek) to 0 then begins with the new file. A file
//! without a name is waited for.

mod content;
mod core;
mod options;
mod records;
mod source;

pub use content::ContentFollower;
pub use options::FollowOptions;
pub use records::RecordFollower;
