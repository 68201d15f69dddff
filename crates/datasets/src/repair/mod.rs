//! [`repair`]: datasets that other programs have left in disorder.

mod array;
mod count;
mod small;

use super::layout::{self, DatasetLayout};
use super::options::{DatasetOptions, beneath};
use super::{CArray, CTable, Dataset};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, JournaledStore, Key, Store};
use std::path::Path;
use std::sync::Arc;

/// What to do with rows that are in superchunks but not counted by the dataset.
///
/// bcolz leaves them where it ends without a flush, and where it cuts an array off exactly between two chunks; which of the two it
/// was cannot always be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Uncounted {
    /// Count them where they were appended for sure, remove them where they were cut off for sure, else leave them.
    #[default]
    Tell,
    /// Count them.
    Keep,
    /// Remove them.
    Drop,
}

/// How a dataset is repaired.
///
/// ```
/// use bloscpack_datasets::RepairOptions;
/// use bloscpack_datasets::{CArray, Remedy};
/// use bloscpack_storage::{Key, MemoryStore, Store};
///
/// let store = MemoryStore::new();
/// let mut array = CArray::of::<u8>().chunk_rows(100).create_in(store.clone())?;
/// array.append(&[7; 300])?;
/// array.flush()?;
/// drop(array);
/// // As a program leaves it that dies before its first flush.
/// let sizes = Key::parse("meta/sizes")?;
/// store.remove(&sizes)?;
/// store.create(&sizes, br#"{"shape": [0], "nbytes": 0, "cbytes": 100}"#)?;
///
/// let found = RepairOptions::new().repair_in(store.clone())?;
/// assert_eq!(found[0].what, "300 rows are in the superchunks, of which the dataset counts 0");
/// assert_eq!(found[0].remedy, Remedy::Done("counted all 300 rows".to_owned()));
/// assert_eq!(CArray::open_in(store)?.rows(), 300);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    dry_run: bool,
    uncounted: Uncounted,
    cut: bool,
    options: DatasetOptions,
}

/// Something that was found to be in disorder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder, below the root.
    pub path: String,
    /// What is wrong with it.
    pub what: String,
    /// What was done about it, or would be.
    pub remedy: Remedy,
}

/// What comes of a [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// This was done, or would be but for the dry run.
    Done(String),
    /// Nothing was done, since somebody has to decide, or nothing can be.
    Left(String),
}

impl RepairOptions {
    /// Changes what is sure, and nothing else.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells what would be done, and changes nothing but that it completes a change of ours that was interrupted. It holds the dataset
    /// as a writer does.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// What to do with rows that are not counted.
    #[must_use]
    pub fn uncounted(mut self, uncounted: Uncounted) -> Self {
        self.uncounted = uncounted;
        self
    }

    /// Cuts the rows off whose superchunks at the end are missing or damaged.
    #[must_use]
    pub fn cut(mut self, cut: bool) -> Self {
        self.cut = cut;
        self
    }

    /// Threads, memory and limits.
    #[must_use]
    pub fn options(mut self, options: DatasetOptions) -> Self {
        self.options = options;
        self
    }

    /// Repairs the dataset in this directory, as a whole or not at all, and tells what was found.
    ///
    /// It completes a change that was interrupted, counts rows that were never flushed, removes stale superchunks and litter,
    /// and puts wrong or missing counts right. What is damaged within a chunk stays as it is.
    ///
    /// # Errors
    /// Those of opening the dataset for changes (for reading, in a dry run), if what is wrong keeps it from being opened and cannot
    /// be put right.
    pub fn repair(&self, path: impl AsRef<Path>) -> Result<Vec<Finding>> {
        let (store, at) = beneath(path.as_ref())?;
        self.repair_at(Arc::new(store), &at)
    }

    /// Repairs the dataset at the root of a store.
    ///
    /// # Errors
    /// As [`repair`](Self::repair).
    pub fn repair_in(&self, store: impl Store + 'static) -> Result<Vec<Finding>> {
        self.repair_at(Arc::new(store), &Key::root())
    }

    fn repair_at(&self, store: Arc<dyn Store>, at: &Key) -> Result<Vec<Finding>> {
        // Of a dry run nothing is ever committed.
        let root = Arc::new(JournaledStore::open(store, Access::Write)?);
        let mut found = Vec::new();
        if root.was_interrupted() {
            note(
                &mut found,
                at,
                "a change was interrupted",
                Remedy::Done("completed it from its journal".to_owned()),
            );
        }
        small::restore(&root, at, self.keeps(), &mut found)?;
        let opened = Dataset::open_beneath(&root, at, &self.options, Access::Write);
        let (shrinks, folders) = match opened {
            Ok(Dataset::Array(mut array)) => (
                self.repair_array(&mut array, &mut found)?,
                small::folders(at, [&*array])?,
            ),
            Ok(Dataset::Table(mut table)) => {
                let shrinks = self.repair_table(&mut table, &mut found)?;
                let columns = table.all_mut()?;
                (
                    shrinks,
                    small::folders(at, columns.iter().map(|column| &**column))?,
                )
            }
            // What keeps it from being opened has been told.
            Err(_)
                if found
                    .iter()
                    .any(|finding| matches!(finding.remedy, Remedy::Left(_))) =>
            {
                root.rollback()?;
                return Ok(found);
            }
            Err(error) => return Err(error),
        };
        small::sweep(&root, &folders, &mut found)?;
        match self.dry_run {
            true => root.rollback()?,
            false => root.commit_counts(&shrinks.0, shrinks.1)?,
        }
        Ok(found)
    }

    fn keeps(&self) -> bool {
        self.uncounted == Uncounted::Keep
    }

    /// Repairs an array; returns the keys of its counts, and whether it has fewer rows than before.
    fn repair_array(
        &self,
        array: &mut CArray,
        found: &mut Vec<Finding>,
    ) -> Result<(Vec<Key>, bool)> {
        let rows = array.rows();
        array::repair(array, self, found)?;
        put_sizes(array)?;
        let home = array.home();
        Ok((
            vec![layout::sizes_key(home.layout, &home.at)?],
            array.rows() < rows,
        ))
    }

    fn repair_table(
        &self,
        table: &mut CTable,
        found: &mut Vec<Finding>,
    ) -> Result<(Vec<Key>, bool)> {
        let home = table.home().clone();
        let own = home.layout.columns_are_datasets();
        if own {
            for at in table.column_keys() {
                small::restore(&home.root, &at, self.keeps(), found)?;
            }
        }
        let before = table.rows()?;
        let mut columns = table.all_mut()?;
        let (mut settled, mut keys) = (true, Vec::new());
        for column in &mut columns {
            settled &= array::repair(column, self, found)?;
        }
        let rows = columns
            .iter()
            .map(|column| column.rows())
            .min()
            .unwrap_or(0);
        let may_cut = settled && (self.cut || self.uncounted == Uncounted::Drop);
        for column in &mut columns {
            even(column, rows, may_cut, found)?;
            if own {
                put_sizes(column)?;
                keys.push(layout::sizes_key(home.layout, &column.home().at)?);
            }
        }
        if !own {
            put_shared_sizes(home.layout, &home.root, &home.at, &columns)?;
            keys.push(layout::sizes_key(home.layout, &home.at)?);
        }
        Ok((keys, rows < before))
    }
}

/// Cuts a column off where the shortest ends.
fn even(column: &mut CArray, rows: u64, may_cut: bool, found: &mut Vec<Finding>) -> Result<()> {
    let there = column.rows();
    if there <= rows {
        return Ok(());
    }
    let what = format!("the column has {there} rows, another has only {rows}");
    let at = column.home().at.clone();
    if !may_cut {
        let advice = "the table has as many rows as the shortest of its columns: cutting the others off would lose theirs";
        note(found, at, what, Remedy::Left(advice.to_owned()));
        return Ok(());
    }
    note(
        found,
        at,
        what,
        Remedy::Done(format!("cut it off at {rows} rows")),
    );
    column.leaf_mut().trim(rows)
}

fn put_sizes(array: &CArray) -> Result<()> {
    let home = array.home();
    match home.in_table && !home.layout.columns_are_datasets() {
        true => Ok(()),
        false => layout::put_sizes(home.layout, &home.root, &home.at, &[array.leaf().spec()]),
    }
}

fn put_shared_sizes(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    columns: &[&mut CArray],
) -> Result<()> {
    let specs: Vec<_> = columns.iter().map(|column| column.leaf().spec()).collect();
    layout::put_sizes(layout, root, at, &specs)
}

fn note(found: &mut Vec<Finding>, path: impl ToString, what: impl Into<String>, remedy: Remedy) {
    found.push(Finding {
        path: path.to_string(),
        what: what.into(),
        remedy,
    });
}

/// What is told of an error that nothing can be done about.
fn leave(found: &mut Vec<Finding>, error: &Error, advice: &str) {
    let path = error.path().map(|path| path.display().to_string());
    let what = match error.position() {
        Some(position) => format!("{position}: {}", error.kind()),
        None => error.kind().to_string(),
    };
    found.push(Finding {
        path: path.unwrap_or_default(),
        what,
        remedy: Remedy::Left(advice.to_owned()),
    });
}
