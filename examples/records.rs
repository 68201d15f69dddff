//! Writes a log of records, appends to it, and reads records by number.
//!
//! `cargo run --example records`

use bloscpack::FormatVersion;
use bloscpack::edit::RecordEditor;
use bloscpack::records::{IndexedRecordReader, RecordWriter};
use bloscpack::storage::Snapshot;
use std::fs::File;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.blp");

    // `quick` packs small records together; version 3 of the format grows in place.
    let mut writer = RecordWriter::builder()
        .quick()
        .version(FormatVersion::V3)
        .write_to_file(File::create_new(&path)?)?;
    for number in 0..10_000 {
        writer.push(format!("event {number}"))?;
    }
    writer.finish()?;

    let mut editor = RecordEditor::open(&path)?;
    let mut appender = editor.append()?;
    appender.push("the last event")?;
    appender.finish()?; // readers see the record from here on
    drop(editor);

    let records = IndexedRecordReader::open(Snapshot::open(&path)?)?;
    println!("{} records", records.len());
    println!("number 4242: {}", records.get_as::<String>(4242)?);
    println!("the last: {}", records.get_as::<String>(records.len() - 1)?);
    Ok(())
}
