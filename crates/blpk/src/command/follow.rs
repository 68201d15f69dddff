//! `--follow`: what others append to a file is printed as it comes.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use bloscpack::{Category, Code, Error, follow::FollowOptions};
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

/// Whether a follower goes on after this error: another file has taken the place of the one that was followed, and begins anew.
/// Its writer may not be done with its beginning.
pub fn is_rotated(
    error: &Error,
    mut restart: impl FnMut() -> bloscpack::Result<()>,
    output: &Target,
) -> bloscpack::Result<bool> {
    if error.code() != Code::Replaced {
        return Ok(false);
    }
    loop {
        match restart() {
            Err(error) if may_become_file(&error) && !output.is_abandoned() => thread::sleep(LOOK),
            done => return done.map(|()| true),
        }
    }
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

/// Waits for more of a file that is followed; false if nobody reads the output any more.
pub fn wait(
    mut wait: impl FnMut(Option<Duration>) -> bloscpack::Result<bool>,
    output: &Target,
) -> bloscpack::Result<bool> {
    while !output.is_abandoned() {
        if wait(Some(LOOK))? {
            return Ok(true);
        }
    }
    Ok(false)
}
