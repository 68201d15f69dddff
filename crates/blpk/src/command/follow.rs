//! `--follow`: prints the data that other programs append to a file.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use bloscpack::{
    Category, Code, Error,
    follow::{ContentFollower, FollowOptions, RecordFollower},
};
use bloscpack_open::{Family, probe};

use crate::failure::{About as _, Failure, RECOVER, Subject as _};
use crate::input::{self, Journaled, is_standard_input};
use crate::interrupt;
use crate::output::Target;
use crate::session::Session;
use crate::text::{is_url, quoted};

/// How often to check whether the output is still read.
const LOOK: Duration = Duration::from_millis(500);

/// The options of a follower that begins at a record or a byte. Waits until the file exists. Only regular Bloscpack files can be
/// followed.
pub fn options(path: &Path, from: u64, session: &Session) -> Result<FollowOptions, Failure> {
    let name = input::name(path);
    let refused = |title: String| Failure::usage(title).hint("name a Bloscpack file");
    if is_standard_input(path) {
        return Err(refused("standard input cannot be followed".into()));
    }
    if is_url(path) {
        let title = format!(
            "{}: an object cannot be followed, since nothing is appended to it",
            quoted(path)
        );
        return Err(
            Failure::usage(title).hint("read it again when there is a new one, without --follow")
        );
    }
    wait_for_file(path, &name, session)?;
    if !path.metadata().about(&name)?.is_file() {
        return Err(refused(format!("{name} is not a regular file")));
    }
    if probe(path).about(&name)?.family == Some(Family::Frame) {
        return Err(refused(format!("{name} is a Blosc2 frame")));
    }
    let reading = session.options();
    Ok(FollowOptions::new().from(from).options(reading))
}

/// Waits until a file of this name exists.
fn wait_for_file(path: &Path, name: &str, session: &Session) -> Result<(), Failure> {
    let is_missing =
        || matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
    // A missing folder is more likely a mistake.
    let has_folder = path
        .parent()
        .is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir());
    if !has_folder || !is_missing() {
        return Ok(());
    }
    session.note(format_args!("{name} does not exist yet: waiting for it"));
    while is_missing() {
        interrupt::check().about(name)?;
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Whether the file may still be being made.
fn may_become_file(error: &Error) -> bool {
    let is_missing = error
        .io_error()
        .is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_missing || error.category() == Category::CutShort
}

/// The follower of the file at `path`. `instead` is the hint for a file of the other kind.
pub fn opened<T>(follower: bloscpack::Result<T>, path: &Path, instead: &str) -> Result<T, Failure> {
    follower.map_err(|error| {
        let is_other = error.category() == Category::Unsupported;
        let failure = Journaled(path).explain(error.into()).if_damaged(RECOVER);
        if is_other {
            failure.hint(instead)
        } else {
            failure
        }
    })
}

/// A follower of records or of content.
pub trait Follower {
    /// Waits for at most this time. Returns true if there is new data.
    fn wait_for(&mut self, time: Duration) -> bloscpack::Result<bool>;
    /// Opens the file of this name again, and starts at its beginning.
    fn restart(&mut self) -> bloscpack::Result<()>;
}

impl Follower for RecordFollower {
    fn wait_for(&mut self, time: Duration) -> bloscpack::Result<bool> {
        self.wait(Some(time))
    }

    fn restart(&mut self) -> bloscpack::Result<()> {
        self.seek(0)
    }
}

impl Follower for ContentFollower {
    fn wait_for(&mut self, time: Duration) -> bloscpack::Result<bool> {
        self.wait(Some(time))
    }

    fn restart(&mut self) -> bloscpack::Result<()> {
        self.seek(0)
    }
}

/// Waits for more data in a followed file, or in a file that replaces it. Returns false if the output is no longer read.
pub fn wait(
    follower: &mut impl Follower,
    output: &Target,
    name: &str,
    session: &Session,
) -> bloscpack::Result<bool> {
    let mut is_replaced = false;
    while !output.is_abandoned() {
        let waited = if is_replaced {
            follower.restart().map(|()| true)
        } else {
            follower.wait_for(LOOK)
        };
        match waited {
            Ok(false) => {}
            Ok(true) => {
                if is_replaced {
                    session.note(format_args!("{name} was replaced: following the new file"));
                }
                return Ok(true);
            }
            Err(error) if error.code() == Code::Replaced => is_replaced = true,
            // The writer of the new file may not have finished its header.
            Err(error) if is_replaced && may_become_file(&error) => thread::sleep(LOOK),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
