//! Temporary files that a killed run has left.

use std::fs::{self, DirEntry, File};
use std::path::Path;
use std::time::Duration;

use super::folder::is_temporary;
use crate::session::Session;
use crate::text::quoted;

/// Entries of a folder that are looked at: a loop over the files of a large one must not list it again and again.
const LOOK: usize = 1000;
/// A file that is younger may not be locked yet.
const AGE: Duration = Duration::from_secs(60);

/// Removes temporary files in a folder that nobody writes any more.
///
/// While a file is written, its writer holds a lock on it, which ends with the process.
pub fn remove(folder: &Path, session: &Session) {
    let entries = fs::read_dir(folder).into_iter().flatten().take(LOOK);
    for entry in entries.flatten().filter(is_left_over) {
        let path = entry.path();
        if fs::remove_file(&path).is_ok() {
            let name = quoted(&path);
            session.note(format_args!(
                "{name}, which an interrupted run has left, is removed"
            ));
        }
    }
}

fn is_left_over(entry: &DirEntry) -> bool {
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    if !is_file || !is_temporary(&entry.file_name()) {
        return false;
    }
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|time| time.elapsed().ok());
    let file = File::options().write(true).open(entry.path());
    age.is_some_and(|age| age > AGE) && file.is_ok_and(|file| file.try_lock().is_ok())
}
