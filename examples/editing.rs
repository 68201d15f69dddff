//! Appends to a compressed file and overwrites a part of it. A crash at any moment leaves the old file or the new one.
//!
//! `cargo run --example editing`

use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::storage::Snapshot;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("words.blp");
    std::fs::write(&path, bloscpack::compress(b"one two")?)?;

    let before = Snapshot::open(&path)?; // keeps its content, whatever writers do
    let mut editor = Editor::open(&path)?; // other writers wait
    let mut appender = editor.append()?;
    appender.write_all(b" three")?;
    appender.finish()?; // dropped before this, it changes nothing
    editor.patch(4, b"TWO".as_slice())?;
    drop(editor);

    for (name, file) in [("before", before), ("after", Snapshot::open(&path)?)] {
        let reader = IndexedReader::open(file)?;
        let mut words = Vec::new();
        reader.copy_range(0..reader.content_len(), &mut words)?;
        println!("{name}: {}", String::from_utf8_lossy(&words));
    }
    Ok(())
}
