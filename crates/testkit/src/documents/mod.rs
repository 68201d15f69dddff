//! Readers of directory datasets that go by the documents alone, and use nothing of the crate: only
//! std, JSON, C-Blosc for chunks that are compressed, and published checksums.
//!
//! They judge written datasets. Any deviation from the layout panics with its position, even if a practical reader
//! would ignore it.
//!
//! | module | layout |
//! |---|---|
//! | [`bcolz`] | bcolz 1.1 and later, and what came before it, as the programs write it |
//! | [`blz`] | BLZ 0.6 as the program writes it |
//! | [`blz_document`] | BLZ as its document describes it |
//! | [`carray_document`] | the proposal for carray |
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a deviation fails the test that reads"
)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

pub mod bcolz;
pub mod blz;
pub mod blz_document;
pub mod carray_document;
pub mod chunk;
pub mod digest;
pub mod element;
pub mod handmade;
pub mod python;
pub mod real;
pub mod superchunks;
pub mod yaml;

/// All that a dataset holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// For an array, the text; for a table or a nested array, a list of `[name, dtype]`, where the dtype of a nested
    /// column is again such a list.
    pub dtype: Value,
    /// For a table, its number of rows.
    pub shape: Vec<u64>,
    /// Where Python's `NaN`, `Infinity` and `-Infinity` occur, they are text.
    pub attributes: Value,
    /// In the order of names or dtype. An array that is not nested has one, without a name.
    pub leaves: Vec<Leaf>,
}

/// One column, or the whole of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// `col.subcol` where columns are nested.
    pub name: String,
    /// As it is written in the dataset.
    pub dtype: String,
    /// Whether elements of several bytes begin with the highest.
    pub big_endian: bool,
    /// With the row's own dimensions, if it has any.
    pub shape: Vec<u64>,
    /// All elements in C order, as stored. Objects are concatenated pickles.
    pub bytes: Vec<u8>,
    /// A column's own; empty in the layouts of documents.
    pub attributes: Value,
}

impl Read {
    /// The leaf of this name.
    pub fn leaf(&self, name: &str) -> &Leaf {
        let leaf = self.leaves.iter().find(|leaf| leaf.name == name);
        leaf.unwrap_or_else(|| panic!("no leaf {name:?} in {:?}", self.names()))
    }

    /// The bytes of an array that has neither columns nor fields of its own folder.
    pub fn bytes(&self) -> &[u8] {
        assert_eq!(self.names(), [""], "not a table");
        &self.leaves[0].bytes
    }

    pub fn names(&self) -> Vec<&str> {
        self.leaves.iter().map(|leaf| leaf.name.as_str()).collect()
    }
}

thread_local! {
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The result of a reader, or `None` if it panics; the panic message is not printed.
pub fn unless_it_panics<T>(read: impl FnOnce() -> T) -> Option<T> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(true);
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    QUIET.set(false);
    read.ok()
}

/// The names in a folder, which has to be one itself and not a link to one.
fn listed(folder: &Path) -> BTreeSet<String> {
    let metadata = folder.symlink_metadata();
    let metadata = metadata.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    assert!(metadata.is_dir(), "{}: not a folder", folder.display());
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let entries = folder.read_dir().unwrap().map(name);
    entries.map(|name| name.into_string().unwrap()).collect()
}

fn lists_only(folder: &Path, names: &[&str]) {
    let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(listed(folder), expected, "names in {}", folder.display());
}

/// The bytes of a file, which has to be one itself and not a link to one.
fn content(file: &Path) -> Vec<u8> {
    let metadata = file.symlink_metadata();
    let metadata = metadata.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let small = metadata.is_file() && metadata.len() < 1 << 26;
    assert!(small, "{}: not a file, or a huge one", file.display());
    std::fs::read(file).unwrap()
}

/// A JSON object on a line of its own, in ASCII.
fn json_line(file: &Path) -> Value {
    let bytes = content(file);
    let of = file.display();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.is_ascii(), "{of}: not ASCII: {text}");
    let line = text.strip_suffix('\n');
    let line = line.unwrap_or_else(|| panic!("{of}: no newline at the end: {text:?}"));
    assert!(!line.contains('\n'), "{of}: more than one line");
    let value = python::json(line);
    assert!(value.is_object(), "{of}: not an object: {line}");
    value
}

/// The object has these keys and no others.
fn has_keys(value: &Value, keys: &[&str], of: &str) {
    let found: BTreeSet<&str> = value.as_object().unwrap().keys().map(|k| &**k).collect();
    let expected: BTreeSet<&str> = keys.iter().copied().collect();
    assert_eq!(found, expected, "keys of {of}: {value}");
}

fn number(value: &Value, key: &str) -> u64 {
    let found = value[key].as_u64();
    found.unwrap_or_else(|| panic!("{key:?} is no count: {value}"))
}

fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array();
    let list = list.unwrap_or_else(|| panic!("no list: {value}"));
    let count = |one: &Value| one.as_u64().unwrap_or_else(|| panic!("no count: {value}"));
    list.iter().map(count).collect()
}

fn size(number: u64) -> usize {
    number.try_into().unwrap()
}

fn count(size: usize) -> u64 {
    size.try_into().unwrap()
}

fn int32(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn int64(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// How many elements are in a box with these sides.
fn product(sides: &[u64]) -> u64 {
    let product = |sides: u64, side: &u64| sides.checked_mul(*side).unwrap();
    sides.iter().fold(1, product)
}
