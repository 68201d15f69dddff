//! `--follow`: what others append to a file is printed as it comes.

use std::path::Path;
use std::time::Duration;

use bloscpack::{Category, follow::FollowOptions};
use bloscpack_open::{Family, probe};

use crate::failure::{About as _, Failure, RECOVER, Subject as _};
use crate::input::{self, Journaled, is_standard_input};
use crate::output::Target;
use crate::session::Session;
use crate::text::{is_url, quoted};

/// How often to look whether the output is still read.
const LOOK: Duration = Duration::from_millis(500);

/// The options of a follower that begins at a record or a byte. Only regular Bloscpack files are followed.
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
    if !path.metadata().about(&name)?.is_file() {
        return Err(refused(format!("{name} is not a regular file")));
    }
    if probe(path).about(&name)?.family == Some(Family::Frame) {
        return Err(refused(format!("{name} is a Blosc2 frame")));
    }
    let reading = session.options();
    Ok(FollowOptions::new().from(from).options(reading))
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
