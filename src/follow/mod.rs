//! Follow a file that other programs append to, as `tail -f` does.
//!
//! [`RecordFollower`] returns the records of a file one by one, and waits for further records; [`ContentFollower`] returns the
//! bytes of a content. Both begin at any position: a program stores [`number`](RecordFollower::number) or
//! [`position`](ContentFollower::position), and later continues there with [`from`](FollowOptions::from).
//!
//! ```text
//!   FollowOptions ─► records(path) ─► RecordFollower ──┐
//!                 ─► content(path) ─► ContentFollower ─┴─► read what is new ─► wait for a commit ─► refresh ─► read ...
//! ```
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
//! # What a follower sees
//!
//! A follower sees each commit as a whole, a moment after it was made, or a fifth of a second later on file systems that report
//! no changes, such as network file systems. It holds no lock while it waits, and no writer waits for it. Nothing is delivered
//! twice: if content before the position is patched, the follower does not return to it.
//!
//! If the file is removed, the follower waits until a file with this name exists again. If another file takes its place, the
//! follower compares what precedes its position: the last record, or up to 4 KiB of content. If that is the same, as in a file
//! that an append has rewritten, it continues at its position. Otherwise it fails with
//! [`Code::Replaced`](bloscpack_error::Code::Replaced), and [`seek`](RecordFollower::seek) to 0 begins with the new file.

mod content;
mod core;
mod options;
mod records;
mod source;

pub use content::ContentFollower;
pub use options::FollowOptions;
pub use records::RecordFollower;
