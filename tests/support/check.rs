//! What must hold of whatever a crash or a failure has left.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test uses its own part")]

use crate::crash::Files;
use crate::scenario::{Content, JOURNAL, MORE, NAME, Scenario};
use bloscpack::storage::{Cursor, Folder, Memory, ReadAt, Snapshot};
use bloscpack::{Decoder, IndexedReader};
use std::ffi::OsStr;
use std::io::Read;

/// What went wrong, in words.
pub type Verdict<T> = Result<T, String>;

/// All of an input, read in order.
pub fn read(input: impl Read) -> bloscpack::Result<Content> {
    let mut decoder = Decoder::new(input);
    let metadata = decoder
        .read_metadata()?
        .map(|metadata| metadata.value().clone());
    let mut data = Vec::new();
    decoder.copy_to(&mut data)?;
    Ok(Content { data, metadata })
}

/// All of a source, read by position.
pub fn read_indexed(source: impl ReadAt) -> bloscpack::Result<Content> {
    let reader = IndexedReader::open(source)?;
    let mut data = Vec::new();
    reader.copy_range(0..reader.content_len(), &mut data)?;
    let metadata = reader.metadata().map(|metadata| metadata.value().clone());
    Ok(Content { data, metadata })
}

/// Files as a folder. No locks outlive a crash.
pub fn folder(files: &Files) -> Memory {
    files.iter().cloned().collect()
}

fn snapshot(folder: &Memory) -> bloscpack::Result<impl ReadAt + use<>> {
    Snapshot::open_in(folder, OsStr::new(NAME))
}

fn told<T>(what: &str, result: bloscpack::Result<T>) -> Verdict<T> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// What a reader sees through the journal: one of the contents that are allowed.
fn through_journal(folder: &Memory, allowed: &[Content]) -> Verdict<Content> {
    let seen = told(
        "reading",
        snapshot(folder).and_then(|source| read(Cursor::new(source))),
    )?;
    if !allowed.contains(&seen) {
        return Err(format!(
            "a reader sees neither the old nor the new: {seen:?}"
        ));
    }
    let indexed = told("random access", snapshot(folder).and_then(read_indexed))?;
    if indexed != seen {
        return Err("random access sees something else".to_owned());
    }
    Ok(seen)
}

/// Whoever knows nothing of the journal, or has lost it, sees what is allowed or an error.
fn without_journal(files: &Files, allowed: &[Content]) -> Verdict<()> {
    let files: Files = files
        .iter()
        .filter(|(name, _)| name != JOURNAL)
        .cloned()
        .collect();
    let bytes = files
        .iter()
        .find(|(name, _)| name == NAME)
        .map(|(_, bytes)| bytes);
    let bytes = bytes.ok_or("the file is gone")?;
    let snapshot = snapshot(&folder(&files)).and_then(|source| read(Cursor::new(source)));
    for seen in [
        read(bytes.as_slice()),
        read_indexed(bytes.as_slice()),
        snapshot,
    ] {
        if let Ok(seen) = seen
            && !allowed.contains(&seen)
        {
            return Err(format!("misread without its journal: {seen:?}"));
        }
    }
    Ok(())
}

/// The file alone, and nothing else, holds what it should.
fn alone(folder: &Memory, wanted: &Content) -> Verdict<()> {
    let names = folder.list().unwrap();
    if names != [NAME] {
        return Err(format!("litter: {names:?}"));
    }
    let bytes = folder.bytes(NAME).unwrap();
    let found = told("after recovery", read(bytes.as_slice()))?;
    if found != *wanted {
        return Err("recovery gives something else than reading".to_owned());
    }
    Ok(())
}

/// Checks files that a crash has left; gives what they hold.
pub fn check(files: &Files, scenario: &Scenario, allowed: &[Content]) -> Verdict<Content> {
    without_journal(files, allowed)?;
    let folder = folder(files);
    let seen = through_journal(&folder, allowed)?;
    drop(told("recovery", scenario.open(folder.clone()))?);
    alone(&folder, &seen)?;
    goes_on(&folder, scenario, &seen)?;
    Ok(seen)
}

/// Something can be appended, and stays.
fn goes_on(folder: &Memory, scenario: &Scenario, seen: &Content) -> Verdict<()> {
    let more = crate::scenario::Edit::Append(MORE.to_vec());
    let mut editor = told("opening again", scenario.open(folder.clone()))?;
    told("going on", more.apply(&mut editor))?;
    drop(editor);
    alone(folder, &more.model(seen))
}
