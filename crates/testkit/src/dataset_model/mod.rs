//! Datasets against a model: made up from bytes, changed step by step, and compared with what plain
//! vectors hold. Tests make the bytes up, and so does the fuzzer.
//!
//! | module | what |
//! |---|---|
//! | [`choices`] | bytes as decisions |
//! | [`sample`] | dtypes, and elements of them |
//! | [`boxes`] | boxes of elements in vectors |
//! | [`mod@array`] | an array and its steps |
//! | [`table`] | a table and its steps |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

pub mod array;
pub mod boxes;
pub mod choices;
pub mod sample;
pub mod table;

use bloscpack::Options;
use bloscpack::storage::Memory;
use bloscpack_open::datasets::{Dataset, DatasetLayout};
use serde_json::Value;

/// The state that a flush has made permanent.
pub struct Flushed<'a> {
    pub store: &'a Memory,
    pub layout: DatasetLayout,
    pub is_table: bool,
    pub attributes: Value,
    /// In order; of an array one, without a name.
    pub leaves: Vec<Leaf>,
    /// Columns that were removed while keeping their files.
    pub kept: &'a [String],
}

/// One column, or the whole of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    pub name: String,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
    /// Attributes of a column that has its own.
    pub attributes: Option<Value>,
}

/// An independent reader of the flushed state.
pub type Judge<'a> = &'a mut dyn FnMut(&Flushed<'_>);

/// One step on a dataset: the operation, the comparison after it, and its details.
pub type Step = [u8; 6];

/// Opens what was flushed for reading, and compares all of it.
fn compare(flushed: &Flushed<'_>, options: &Options) {
    let dataset = Dataset::open_in(flushed.store.clone(), options).unwrap();
    assert_eq!(dataset.layout(), flushed.layout, "layout");
    assert_eq!(
        dataset.attributes().to_value(),
        flushed.attributes,
        "attributes"
    );
    assert_eq!(found(&dataset, flushed), flushed.leaves, "reopened");
}

fn found(dataset: &Dataset, flushed: &Flushed<'_>) -> Vec<Leaf> {
    match dataset {
        Dataset::Array(array) => {
            assert!(!flushed.is_table, "an array, not a table");
            vec![array::leaf_of("", array, false)]
        }
        Dataset::Table(table) => {
            assert!(flushed.is_table, "a table, not an array");
            assert!(table.warnings().is_empty());
            let own = table::columns_have_attributes(flushed.layout);
            let names = table.names().iter();
            let leaves = names.map(|name| array::leaf_of(name, table.column(name).unwrap(), own));
            leaves.collect()
        }
    }
}

/// A log of the steps so far, printed on a panic.
#[derive(Default)]
pub struct Tale(Vec<String>);

impl Tale {
    pub fn tell(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }
}

impl Drop for Tale {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0.join("\n"));
        }
    }
}
