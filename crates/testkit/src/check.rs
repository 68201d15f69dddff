//! Checks of the files that remain after a crash or a failure.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::crash::Files;
use super::scenario::{Content, JOURNAL, MORE, NAME, Scenario};
use bloscpack::storage::{Folder, Memory, ReadAt, Snapshot, SourceReader};
use bloscpack::{
    Decoder,
    indexed::IndexedReader,
    records::{IndexedRecordReader, RecordReader},
};
use std::ffi::OsStr;
use std::io::Read;

/// The option of records, in V2 and V3.
const VARLEN: u8 = 4;

/// The result of a check; an error describes the failure.
pub type Verdict<T> = Result<T, String>;

/// All of an input, read in order.
pub fn read(mut input: impl Read) -> bloscpack::Result<Content> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut reader = RecordReader::new(bytes.as_slice());
    if reader.read_header()?.varlen {
        let metadata = reader.read_metadata()?;
        let metadata = metadata.map(|metadata| metadata.value().clone());
        return content_of(&mut reader, metadata);
    }
    let mut decoder = Decoder::new(bytes.as_slice());
    let metadata = decoder
        .read_metadata()?
        .map(|metadata| metadata.value().clone());
    let mut data = Vec::new();
    decoder.copy_to(&mut data)?;
    Ok(Content {
        data,
        metadata,
        records: None,
    })
}

fn content_of(
    records: impl Iterator<Item = bloscpack::Result<impl AsRef<[u8]>>>,
    metadata: Option<serde_json::Value>,
) -> bloscpack::Result<Content> {
    let mut content = Content {
        data: Vec::new(),
        metadata,
        records: Some(0),
    };
    for record in records {
        content.push(record?.as_ref());
    }
    Ok(content)
}

/// All of a source, read by position.
pub fn read_indexed(source: impl ReadAt) -> bloscpack::Result<Content> {
    let mut first = [0; 6];
    let is_there = source.read_exact_at(0, &mut first).is_ok();
    if is_there && first[..4] == *b"blpk" && first[4] > 1 && first[5] & VARLEN != 0 {
        let reader = IndexedRecordReader::open(source)?;
        let metadata = reader.metadata().map(|metadata| metadata.value().clone());
        return content_of(reader.iter(), metadata);
    }
    let reader = IndexedReader::open(source)?;
    let mut data = Vec::new();
    reader.copy_range(0..reader.content_len(), &mut data)?;
    let metadata = reader.metadata().map(|metadata| metadata.value().clone());
    Ok(Content {
        data,
        metadata,
        records: None,
    })
}

/// Files as a folder. No locks outlive a crash.
pub fn folder(files: &Files) -> Memory {
    files.iter().cloned().collect()
}

fn snapshot(folder: &Memory) -> bloscpack::Result<impl ReadAt + use<>> {
    Ok(Snapshot::open_in(folder, OsStr::new(NAME))?)
}

fn told<T>(what: &str, result: bloscpack::Result<T>) -> Verdict<T> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// Reads through the journal and checks that the result is one of the allowed contents.
fn through_journal(folder: &Memory, allowed: &[Content]) -> Verdict<Content> {
    let seen = told(
        "reading",
        snapshot(folder).and_then(|source| read(SourceReader::new(source))),
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

/// A reader that ignores the journal, or does not find it, sees an allowed content or an error.
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
    let snapshot = snapshot(&folder(&files)).and_then(|source| read(SourceReader::new(source)));
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

/// There is only the file, with the expected content.
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

/// Checks the files after a crash; returns their content.
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
    let more = super::scenario::Edit::Append(MORE.to_vec());
    let mut editor = told("opening again", scenario.open(folder.clone()))?;
    told("going on", more.apply(&mut editor))?;
    drop(editor);
    alone(folder, &more.model(seen))
}
