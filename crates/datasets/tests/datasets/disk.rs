//! Tests of datasets on disk: changed step by step, and given to the readers of the documents.

use crate::dataset_model::sample;
use crate::documents::Read;
use bloscpack_datasets::CArray;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A folder for one test: in memory where there is such a place, as every flush waits for the disk.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// The content of each file below a folder.
pub fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// Reads a dataset with a reader that accepts only the files that its document names: our own file and, during
/// changes, our folder are set aside.
pub fn seen_by(reader: fn(&Path) -> Read, root: &Path) -> Read {
    let own = root.join("meta/superchunksize");
    let at_work = root.join(".blpk");
    let aside = folder();
    let to = aside.path().join("dataset");
    copy(root, &to, &[own, at_work]);
    reader(&to)
}

fn copy(from: &Path, to: &Path, but: &[PathBuf]) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if but.contains(&path) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to, but);
        } else {
            std::fs::copy(&path, to).unwrap();
        }
    }
}

/// An array as it has to be.
pub struct Wanted {
    /// Bytes of a row.
    pub row: usize,
    pub default: Vec<u8>,
    pub bytes: Vec<u8>,
    seed: u8,
}

impl Wanted {
    /// Nothing yet, with this default row.
    pub fn new(default: Vec<u8>) -> Self {
        Self {
            row: default.len(),
            default,
            bytes: Vec::new(),
            seed: 0,
        }
    }

    pub fn rows(&self) -> u64 {
        (self.bytes.len() / self.row) as u64
    }

    fn new_rows(&mut self, rows: u64) -> Vec<u8> {
        self.seed = self.seed.wrapping_add(1);
        sample::data(rows as usize * self.row, self.seed)
    }

    fn append(&mut self, array: &mut CArray, rows: u64) {
        let new = self.new_rows(rows);
        array.append(&new).unwrap();
        self.bytes.extend(new);
    }

    fn set(&mut self, array: &mut CArray, rows: Range<u64>) {
        let new = self.new_rows(rows.end - rows.start);
        let (from, to) = (rows.start as usize * self.row, rows.end as usize * self.row);
        let within = array.shape()[1..].iter().map(|side| 0..*side);
        let slice: Vec<_> = std::iter::once(rows).chain(within).collect();
        array.set_slice(&slice, &new).unwrap();
        self.bytes[from..to].copy_from_slice(&new);
    }

    fn resize(&mut self, array: &mut CArray, rows: u64) {
        array.resize(rows).unwrap();
        self.bytes.truncate(rows as usize * self.row);
        while self.rows() < rows {
            self.bytes.extend_from_slice(&self.default);
        }
    }
}

/// Changes an array in every way, around the borders of its chunks; `seen` looks after each.
pub fn change(array: &mut CArray, wanted: &mut Wanted, seen: &mut dyn FnMut(&Wanted)) {
    let chunk = array.chunk_shape()[0];
    let mut flush = |array: &mut CArray, wanted: &Wanted| {
        array.flush().unwrap();
        seen(wanted);
    };
    flush(array, wanted);
    for rows in [1, chunk - 1, chunk / 2, 2 * chunk + 1] {
        wanted.append(array, rows);
        flush(array, wanted);
    }
    let rows = wanted.rows();
    for range in [0..1, rows - 1..rows, chunk / 2..chunk + 1, 0..rows] {
        wanted.set(array, range);
        flush(array, wanted);
    }
    for rows in [
        rows - 1,
        3 * chunk,
        3 * chunk + 2,
        chunk + 1,
        chunk,
        5 * chunk,
        0,
        2,
    ] {
        wanted.resize(array, rows);
        flush(array, wanted);
    }
    wanted.append(array, chunk);
    flush(array, wanted);
}

#[test]
fn a_column_that_cannot_be_widened_is_not_lost() {
    use bloscpack_datasets::CTable;
    use bloscpack_dtype::DType;
    let temp = folder();
    let path = temp.path().join("table");
    let names = CArray::builder(DType::bytes(2).unwrap()).chunk_rows(4096);
    let mut table = CTable::builder()
        .column("name", names)
        .create(&path)
        .unwrap();
    table.flush().unwrap();
    // A chunk of 4 GiB is more than the format has.
    table.widen_column("name", 1 << 20).unwrap_err();
    table.flush().unwrap_err();
    drop(table);
    let table = CTable::open(&path).unwrap();
    assert_eq!(table.column("name").unwrap().dtype().itemsize(), 2);
}
