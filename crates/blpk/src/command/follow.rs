//! `--follow`: what others append to a file is printed as it comes.

use std::path::Path;
use std::time::Duration;

use bloscpack::{Error, ReadOptions, follow::FollowOptions};
use bloscpack_open::{Family, probe};

use crate::failure::{Failure, RECOVER};
use crate::input::{self, is_standard_input};
use crate::output::{Target, is_standard_output};
use crate::session::Session;
use crate::url;

/// How often to look whether the output is still read.
const LOOK: Duration = Duration::from_millis(500);

/// The options of a follower that begins at a record or a byte. Only regular Bloscpack files are followed.
pub fn options(path: &Path, from: u64, session: &Session) -> Result<FollowOptions, Failure> {
    let name = input::name(path);
    let failed = |error: std::io::Error| Failure::io(&name, &error);
    let refused = |title: String| Failure::usage(title).hint("name a Bloscpack file");
    if is_standard_input(path) {
        return Err(refused("standard input cannot be followed".into()));
    }
    if url::is_url(path) {
        let title = format!(
            "{}: an object cannot be followed, since nothing is appended to it",
            url::name(path)
        );
        return Err(
            Failure::usage(title).hint("read it again when there is a new one, without --follow")
        );
    }
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(refused(format!("{name} is not a regular file")));
    }
    if probe(path).map_err(failed)?.family == Some(Family::Frame) {
        return Err(refused(format!("{name} is a Blosc2 frame")));
    }
    let reading = ReadOptions::new().limits(session.limits);
    Ok(FollowOptions::new().from(from).reading(reading))
}

/// Refuses an output that gets its name only when it is complete.
pub fn refuse_file(path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) {
        return Ok(());
    }
    let title = "--follow writes to standard output, for the output is never complete";
    Err(Failure::usage(title).hint("redirect standard output"))
}

/// The failure to open the file at `path`.
pub fn not_opened(path: &Path, error: &Error) -> Failure {
    input::failure(path, error).if_damaged(RECOVER)
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
