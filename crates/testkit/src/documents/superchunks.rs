//! The common part of both documents: superchunks `__1__.bin`, `__2__.bin`, ... of several chunks, each chunk with
//! its digest and perhaps room after it.

use super::chunk::Chunk;
use super::digest::digest;
use super::{content, int64, listed};
use serde_json::Value;
use std::path::Path;

/// The header of a superchunk.
pub struct Front {
    pub checksum: u8,
    /// The number of chunks.
    pub nchunks: usize,
    /// Where the table of offsets begins, or the chunks.
    pub at: usize,
    pub offsets: bool,
}

/// The superchunks of one leaf, `(name, bytes)` in order, by names without a gap.
pub fn superchunks(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = listed(folder);
    let expected = (1..=names.len()).map(|number| format!("__{number}__.bin"));
    let read = |name: String| {
        assert!(
            names.contains(&name),
            "{}: no {name} in {names:?}",
            folder.display()
        );
        let file = folder.join(&name);
        (file.display().to_string(), content(&file))
    };
    expected.map(read).collect()
}

/// The chunks of a superchunk, which take up all of the file after its front; `check` sees each.
pub fn chunks(file: &[u8], of: &str, front: &Front, mut check: impl FnMut(&Chunk)) -> Vec<Vec<u8>> {
    let entries = if front.offsets { front.nchunks } else { 0 };
    let first = front.at + 8 * entries;
    assert!(first <= file.len(), "{of}: offsets cut");
    let entry = |number: usize| int64(file, front.at + 8 * number);
    let entry = |number| usize::try_from(entry(number)).unwrap();
    let offsets: Vec<usize> = (0..entries).map(entry).collect();
    let mut at = first;
    let mut contents = Vec::new();
    for number in 0..front.nchunks {
        let chunk = Chunk::at(file, at, of);
        check(&chunk);
        contents.push(chunk.data());
        at = digest_end(file, at, &chunk, front.checksum, of);
        let next = offsets.get(number + 1).copied();
        let room = if front.offsets {
            next.unwrap_or(file.len())
        } else {
            at
        };
        assert!(
            at <= room && room <= file.len(),
            "{of}: chunk {number} ends at {at}, its room at {room}"
        );
        assert!(
            file[at..room].iter().all(|byte| *byte == 0),
            "{of}: room at {at} is in use"
        );
        assert!(
            !front.offsets || number > 0 || offsets[0] == first,
            "{of}: first offset"
        );
        at = room;
    }
    assert_eq!(at, file.len(), "{of}: bytes after the last chunk");
    contents
}

fn digest_end(file: &[u8], at: usize, chunk: &Chunk, checksum: u8, of: &str) -> usize {
    let expected = digest(checksum, chunk.bytes);
    let from = at + chunk.bytes.len();
    let end = from + expected.len();
    assert!(end <= file.len(), "{of}: digest cut");
    assert_eq!(
        file[from..end],
        expected,
        "{of}: checksum {checksum} of the chunk at {at}"
    );
    end
}

/// Every superchunk but the last has as many chunks as the first.
pub fn evenly_filled(counts: &[usize], of: &Path) {
    let of = of.display();
    let Some((last, others)) = counts.split_last() else {
        return;
    };
    let first = counts[0];
    assert!(
        others.iter().all(|count| *count == first),
        "{of}: {counts:?} chunks"
    );
    assert!((1..=first).contains(last), "{of}: {counts:?} chunks");
}

/// A column of a nested dtype, and its path below `data`.
pub struct Column {
    pub path: Vec<String>,
    pub dtype: String,
    /// The shape of a row.
    pub shape: Vec<u64>,
}

impl Column {
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}

/// A folder below `data` has a folder for each column, and nothing else.
pub fn only_columns(data: &Path, columns: &[Column]) {
    let mut folders = std::collections::BTreeMap::<_, std::collections::BTreeSet<_>>::new();
    for column in columns {
        let mut folder = data.to_owned();
        for name in &column.path {
            folders
                .entry(folder.clone())
                .or_default()
                .insert(name.clone());
            folder.push(name);
        }
    }
    for (folder, names) in folders {
        assert_eq!(listed(&folder), names, "{}", folder.display());
    }
}

/// Names that can be a folder and a part of a dotted name.
pub fn folder_name(name: &Value) -> String {
    let name = name.as_str().unwrap_or_else(|| panic!("column {name}"));
    let reserved = name.is_empty() || name.starts_with('.') || name.contains(['/', '\0', '.']);
    assert!(!reserved, "column {name:?}");
    name.to_owned()
}
