//! The datasets below a directory.

use std::path::{Path, PathBuf};

use bloscpack::Error;

use crate::container::Opened;
use crate::failure::Failure;
use crate::session::Session;
use crate::text::quoted;

/// A dataset that was found, or the reason why it cannot be opened.
pub type Found = (PathBuf, bloscpack::Result<Opened>);

/// Opens the datasets below a directory, in the order of their paths.
pub fn datasets(root: &Path, session: &Session) -> Result<impl Iterator<Item = Found>, Failure> {
    let mut list = Vec::new();
    let walked = bloscpack::dataset::walk(root, |path, error| {
        list.push((path.to_owned(), Some(error)));
    });
    let walked = walked.map_err(|error| Failure::library(quoted(root), &error))?;
    list.extend(walked.into_iter().map(|found| (found.path, None)));
    list.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(list.into_iter().map(move |(below, error)| {
        let path = join(root, &below);
        let opened = prefer(Opened::directory(&path, session), error);
        (path, opened)
    }))
}

/// Chooses the more precise result: an error that names no file says less than that of the walk.
fn prefer(opened: bloscpack::Result<Opened>, walked: Option<Error>) -> bloscpack::Result<Opened> {
    match (opened, walked) {
        (Err(vague), Some(error)) if vague.path().is_none() => Err(error),
        (opened, _) => opened,
    }
}

/// The path of something below a directory. `.` is left out.
fn join(folder: &Path, below: &Path) -> PathBuf {
    match (below.as_os_str().is_empty(), folder == Path::new(".")) {
        (true, _) => folder.to_owned(),
        (false, true) => below.to_owned(),
        (false, false) => folder.join(below),
    }
}
