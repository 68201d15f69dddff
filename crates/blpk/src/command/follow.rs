//! `--follow`: what others append to a file is printed as it comes.

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

/// How often to look whether the output is still read.
const LOOK: Duration = Duration::from_millis(500);

/// The options of a follower that begins at a record or a byte, once there is a file. Only regular Bloscpack files are followed.
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

/// Waits until there is a file of this name.
fn wait_for_file(path: &Path, name: &str, session: &Session) -> Result<(), Failure> {
    let is_missing =
        || matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
    // A folder that is missing is more likely a mistake.
    let has_folder = path
        .parent()
        .is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir());
    if !has_folder || !is_missing() {
        return Ok(());
    }
    session.note(format_args!("{name} is not there yet: waiting for it"));
    while is_missing() {
        interrupt::check().about(name)?;
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Whether what cannot be opened may be a file that is being made.
fn may_become_file(error: &Error) -> bool {
    let is_missing = error
        .io_error()
        .is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_missing || error.category() == Category::CutShort
}

/// The follower of the file at `path`; `instead` helps with a file of the other kind.
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

/// What follows a file.
pub trait Follower {
    /// Waits for this time at most; true if there is something new.
    fn wait_for(&mut self, time: Duration) -> bloscpack::Result<bool>;
    /// Opens the file with the name anew, and begins at its beginning.
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

/// Waits for more of a file that is followed, or of another that takes its place; false if nobody reads the output any more.
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
            // The writer of the new file may not be done with its beginning.
            Err(error) if is_replaced && may_become_file(&error) => thread::sleep(LOOK),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
