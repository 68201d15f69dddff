//! The corpus, files that real tools wrote: in `target/corpus`, or where `BLOSCPACK_CORPUS` says.

use std::env;
use std::path::PathBuf;

fn folder() -> PathBuf {
    let unpacked = crate::root().join("target/corpus");
    env::var_os("BLOSCPACK_CORPUS").map_or(unpacked, PathBuf::from)
}

/// Where this part of it is, for a test that has other files to work on, too.
pub fn part(name: &str) -> Option<PathBuf> {
    let part = folder().join(name);
    part.join("manifest.json").is_file().then_some(part)
}

/// The folder with all of these parts, for a test that has nothing else to work on: without them it is [noted](crate::idle).
pub fn parts<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<PathBuf> {
    if names.into_iter().all(|name| part(name).is_some()) {
        return Some(folder());
    }
    crate::idle::note("the corpus of files by real tools is not unpacked in target/corpus");
    None
}
