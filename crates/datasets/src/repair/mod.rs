//! [`RepairOptions`]: repairs datasets that other programs have left incomplete.

mod array;
mod meta;
mod uncounted;

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset::Dataset;
use crate::files::Files;
use crate::layout;
use crate::open::{open_beneath, store_of};
use bloscpack::Options;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{Access, Key, Store};
use std::path::Path;
use std::sync::Arc;

/// What to do with rows that are in superchunks, the files in `data/`, but not in the dataset's count.
///
/// bcolz leaves such rows when it ends without a flush, and when it trims an array exactly to the end of a chunk. The two cases
/// cannot always be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Uncounted {
    /// Count rows that were certainly appended (the last chunk is longer than its rows, or several full superchunks follow).
    /// Report all others and leave them.
    #[default]
    Report,
    /// Count all of them, if they are sound. Also restores a missing or damaged `meta/sizes` of an array of single elements.
    Keep,
    /// Remove them, and cut longer columns of a table to the shortest one.
    Drop,
}

/// Repairs a dataset that a program left incomplete; a chain of calls that ends in [`repair`](Self::repair).
///
/// `docs/tables.md` lists under "Repairing" which problems are repaired and how. Damage inside chunks cannot be repaired.
///
/// ```
/// use bloscpack_datasets::{CArray, Remedy, RepairOptions};
/// use bloscpack_storage::{Key, Memory, Store};
///
/// let store = Memory::new();
/// let mut array = CArray::of::<u8>().chunk_rows(100).create_in(store.clone())?;
/// array.append(&[7; 300])?;
/// array.flush()?;
/// drop(array);
/// // Other programs leave such a dataset if they are killed before their first flush.
/// let sizes = Key::parse("meta/sizes")?;
/// store.remove(&sizes)?;
/// store.create(&sizes, br#"{"shape": [0], "nbytes": 0, "cbytes": 100}"#)?;
///
/// let findings = RepairOptions::new().repair_in(store.clone())?;
/// assert_eq!(findings[0].message, "the superchunks contain 300 rows, of which the dataset counts 0");
/// assert_eq!(findings[0].remedy, Remedy::Done("counted all 300 rows".to_owned()));
/// assert_eq!(CArray::open_in(store)?.rows(), 300);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    dry_run: bool,
    uncounted: Uncounted,
    cut: bool,
    options: Options,
}

/// A problem that [`RepairOptions::repair`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder, relative to the root of the dataset; empty for the root.
    pub path: String,
    /// A description of the problem.
    pub message: String,
    /// What was done about it, or would be done without `dry_run`.
    pub remedy: Remedy,
}

/// What was done about a [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// The repair that was made, or would be made without `dry_run`.
    Done(String),
    /// Nothing was done. The text says what the user can decide, or that nothing can be done.
    Left(String),
}

impl RepairOptions {
    /// The defaults: repair what is certain, and report everything else.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to report only, without changes; false by default. A dry run still locks the dataset as a writer, and completes
    /// an interrupted change of this library.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// What to do with uncounted rows; [`Uncounted::Report`] by default.
    #[must_use]
    pub fn uncounted(mut self, uncounted: Uncounted) -> Self {
        self.uncounted = uncounted;
        self
    }

    /// Whether to cut off rows at the end whose superchunks are missing or damaged, and longer columns of a table; false by
    /// default.
    #[must_use]
    pub fn cut(mut self, cut: bool) -> Self {
        self.cut = cut;
        self
    }

    /// Threads, cache, limits and lock timeout, as for [`Dataset::edit_with`].
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Repairs the dataset in a directory in one atomic change, and returns all problems that were found; none for a sound
    /// dataset.
    ///
    /// Reads every chunk, without decompressing those that are counted. The path of a column repairs that column.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::edit`] if the dataset cannot be opened and no finding explains it, and any I/O error.
    pub fn repair(&self, path: impl AsRef<Path>) -> Result<Vec<Finding>> {
        let (store, at) = store_of(path.as_ref()).writing()?;
        self.repair_at(Arc::new(store), &at)
    }

    /// Repairs the dataset at the root of a store.
    ///
    /// # Errors
    /// Returns the errors of [`repair`](Self::repair).
    pub fn repair_in(&self, store: impl Store + 'static) -> Result<Vec<Finding>> {
        self.repair_at(Arc::new(store), &Key::root())
    }

    fn repair_at(&self, store: Arc<dyn Store>, at: &Key) -> Result<Vec<Finding>> {
        let lock_timeout = self.options.lock_timeout.clone();
        let files = Arc::new(Files::open(store, Access::Write, lock_timeout)?);
        let mut findings = Vec::new();
        if files.was_interrupted() {
            let remedy = Remedy::Done("completed it from its journal".to_owned());
            note(&mut findings, at, "a change was interrupted", remedy);
        }
        meta::restore(&files, at, self.keeps(), &mut findings)?;
        let (counts, folders) = match open_beneath(&files, at, &self.options, Access::Write) {
            Ok(Dataset::Array(mut array)) => (
                self.repair_array(&mut array, &mut findings)?,
                meta::folders(at, [&*array])?,
            ),
            Ok(Dataset::Table(mut table)) => {
                let counts = self.repair_table(&mut table, &mut findings)?;
                let columns = table.all_mut()?;
                let columns = columns.iter().map(|column| &**column);
                (counts, meta::folders(at, columns)?)
            }
            // A finding explains why it cannot be opened.
            Err(_) if findings.iter().any(Finding::is_left) => {
                files.rollback()?;
                return Ok(findings);
            }
            Err(error) => return Err(error),
        };
        meta::sweep(&files, &folders, &mut findings)?;
        if self.dry_run {
            files.rollback()?
        } else {
            files.commit(&counts.keys, counts.removes_rows)?
        }
        Ok(findings)
    }

    fn keeps(&self) -> bool {
        self.uncounted == Uncounted::Keep
    }

    fn repair_array(&self, array: &mut CArray, findings: &mut Vec<Finding>) -> Result<Counts> {
        let rows = array.rows();
        array::repair(array, self, findings)?;
        let handle = array.handle();
        if !handle.is_shared_column() {
            array.put_sizes()?;
        }
        array.put_index()?;
        let handle = array.handle();
        Ok(Counts {
            keys: vec![layout::sizes_key(handle.layout, &handle.at)?],
            removes_rows: array.rows() < rows,
        })
    }

    fn repair_table(&self, table: &mut CTable, findings: &mut Vec<Finding>) -> Result<Counts> {
        let handle = table.handle().clone();
        let are_datasets = handle.layout.columns_are_datasets();
        if are_datasets {
            for at in table.column_keys() {
                meta::restore(&handle.files, &at, self.keeps(), findings)?;
            }
        }
        let before = table.rows()?;
        let mut columns = table.all_mut()?;
        let (mut settled, mut keys) = (true, Vec::new());
        for column in &mut columns {
            settled &= array::repair(column, self, findings)?;
        }
        // A table without columns has no rows.
        let rows = columns.iter().map(|column| column.rows()).min();
        let rows = rows.unwrap_or(0);
        let may_cut = settled && (self.cut || self.uncounted == Uncounted::Drop);
        for column in &mut columns {
            cut_to(column, rows, may_cut, findings)?;
            if are_datasets {
                column.put_sizes()?;
                column.put_index()?;
                keys.push(layout::sizes_key(handle.layout, &column.handle().at)?);
            }
        }
        if !are_datasets {
            let specs: Vec<_> = columns
                .iter()
                .map(|column| column.storage().spec())
                .collect();
            let layout = handle.layout.files()?;
            layout.put_sizes(&handle.files, &handle.at, &specs)?;
            keys.push(layout::sizes_key(handle.layout, &handle.at)?);
        }
        Ok(Counts {
            keys,
            removes_rows: rows < before,
        })
    }
}

/// The files with the number of rows, and whether the number has decreased.
struct Counts {
    keys: Vec<Key>,
    removes_rows: bool,
}

impl Finding {
    fn is_left(&self) -> bool {
        matches!(self.remedy, Remedy::Left(_))
    }
}

/// Cuts a column off after `rows` rows if it has more and `may_cut` is set; otherwise reports it.
fn cut_to(
    column: &mut CArray,
    rows: u64,
    may_cut: bool,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    let found = column.rows();
    if found <= rows {
        return Ok(());
    }
    let message = format!("the column has {found} rows, another one only {rows}");
    let at = column.handle().at.clone();
    if !may_cut {
        let advice = "the table has as many rows as its shortest column: cutting off the others would lose their rows";
        note(findings, at, message, Remedy::Left(advice.to_owned()));
        return Ok(());
    }
    let remedy = Remedy::Done(format!("cut it off after {rows} rows"));
    note(findings, at, message, remedy);
    column.storage_mut().trim(rows)
}

fn note(
    findings: &mut Vec<Finding>,
    path: impl ToString,
    message: impl Into<String>,
    remedy: Remedy,
) {
    findings.push(Finding {
        path: path.to_string(),
        message: message.into(),
        remedy,
    });
}

/// Reports an error as a finding.
fn note_error(findings: &mut Vec<Finding>, error: &Error, remedy: Remedy) {
    let path = error.path().map(|path| path.display().to_string());
    let message = match error.position() {
        Some(position) => format!("{position}: {}", error.message()),
        None => error.message().to_string(),
    };
    note(findings, path.unwrap_or_default(), message, remedy);
}
