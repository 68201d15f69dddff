//! [`CTable`]: columns of the same length.

mod builder;
mod change;
mod read;

use super::carray::{CArray, Home};
use super::layout::{self, ColumnPlace, DatasetLayout, Note};
use super::options::DatasetOptions;
use crate::wire::Attributes;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, Key};
use std::path::Path;
use std::sync::OnceLock;

pub use builder::CTableBuilder;
pub use read::TableBlocks;

/// Columns of the same number of rows, each an array, in a directory.
///
/// A column is opened when it is first asked for. What is changed is seen by this `CTable` at once, and by others when
/// [`flush`](Self::flush) has made all of it permanent as a whole.
///
/// ```
/// use bloscpack_datasets::{CArray, CTable};
/// use bloscpack_storage::MemoryStore;
///
/// let store = MemoryStore::new();
/// let mut table = CTable::builder()
///     .column("day", CArray::of::<u32>())
///     .column("price", CArray::of::<f64>())
///     .create_in(store.clone())?;
/// let (days, prices) = ([20u32, 21], [1.5f64, 1.25]);
/// table.append(&[bytemuck::cast_slice(&days), bytemuck::cast_slice(&prices)])?;
/// table.flush()?;
///
/// let table = CTable::open_in(store)?;
/// assert_eq!(table.names(), ["day", "price"]);
/// assert_eq!(table.column("price")?.to_vec::<f64>(0..2)?, prices);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct CTable {
    home: Home,
    names: Vec<String>,
    columns: Vec<Column>,
    attributes: Attributes,
    notes: Vec<Note>,
    options: DatasetOptions,
}

/// A column that is opened when it is asked for.
#[derive(Debug)]
struct Column {
    /// Where it is described, where that is in a directory of its own.
    at: Option<Key>,
    array: OnceLock<CArray>,
}

impl Column {
    fn opened(array: CArray) -> Self {
        let at = array
            .home()
            .layout
            .columns_are_datasets()
            .then(|| array.home().at.clone());
        Self {
            at,
            array: OnceLock::from(array),
        }
    }
}

impl CTable {
    /// Opens the table in this directory for reading.
    ///
    /// # Errors
    /// As [`DatasetOptions::open`], and wrong usage if it is an array.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().table(path.as_ref(), Access::Read)
    }

    /// Opens the table in this directory for reading and changing it.
    ///
    /// # Errors
    /// As [`DatasetOptions::edit`], and wrong usage if it is an array.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        DatasetOptions::new().table(path.as_ref(), Access::Write)
    }

    /// Opens the table at the root of a store for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(store: impl bloscpack_storage::Store + 'static) -> Result<Self> {
        DatasetOptions::new().open_in(store)?.into_table()
    }

    /// Opens the table at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn edit_in(store: impl bloscpack_storage::Store + 'static) -> Result<Self> {
        DatasetOptions::new().edit_in(store)?.into_table()
    }

    pub(super) fn open_beneath(home: Home, options: &DatasetOptions) -> Result<Self> {
        let parts = layout::open_table(home.layout, &home.root, &home.at)?;
        let options = &options.clone().for_columns(parts.columns.len());
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for column in parts.columns {
            names.push(column.name);
            columns.push(match column.place {
                ColumnPlace::Own(at) => Column {
                    at: Some(at),
                    array: OnceLock::new(),
                },
                ColumnPlace::Shared(spec) => {
                    let home = Home {
                        in_table: true,
                        ..home.clone()
                    };
                    Column {
                        at: None,
                        array: OnceLock::from(CArray::of_spec(home, *spec, options)),
                    }
                }
            });
        }
        Ok(Self {
            home,
            names,
            columns,
            attributes: parts.attributes,
            notes: parts.notes,
            options: options.clone(),
        })
    }

    /// The names of its columns, in their order; those within others have a dot between the levels.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How it lies in its directory.
    #[must_use]
    pub fn layout(&self) -> DatasetLayout {
        self.home.layout
    }

    /// What its users have said about it.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// What is not as it should be, and does not keep it from being read.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes
            .iter()
            .map(|note| (note.path.as_str(), note.what.as_str()))
    }

    /// How many rows it has: as many as its shortest column, as after a crash of other programs they may differ.
    ///
    /// # Errors
    /// Those of opening the columns.
    pub fn rows(&self) -> Result<u64> {
        let rows = self
            .names
            .iter()
            .map(|name| self.column(name).map(CArray::rows));
        rows.reduce(|one, other| Ok(one?.min(other?)))
            .unwrap_or(Ok(0))
    }

    /// A column, for reading.
    ///
    /// # Errors
    /// Wrong usage if there is none of this name; those of opening it.
    pub fn column(&self, name: impl AsRef<str>) -> Result<&CArray> {
        let (index, name) = (self.index(name.as_ref())?, name.as_ref());
        let column = self.columns.get(index).ok_or_else(|| self.unknown(name))?;
        if let Some(array) = column.array.get() {
            return Ok(array);
        }
        let array = self
            .open_column(column)
            .map_err(|error| match error.path() {
                Some(_) => error,
                None => error.in_file(name),
            })?;
        Ok(column.array.get_or_init(|| array))
    }

    fn open_column(&self, column: &Column) -> Result<CArray> {
        let at = column.at.clone().unwrap_or_default();
        let layout = match layout::detect(&self.home.root, &at)? {
            // Those that are described together have no columns elsewhere, and columns elsewhere are none of them.
            Some(sign) if !sign.is_table && sign.layout.columns_are_datasets() => sign.layout,
            _ => {
                return Err(crate::error::dataset(
                    blosc1::Fault::Damaged,
                    "there is no array where this column should be",
                )
                .in_file(&at));
            }
        };
        CArray::open_beneath(
            Home {
                at,
                layout,
                in_table: true,
                ..self.home.clone()
            },
            &self.options,
        )
    }

    /// Puts columns within the same column side by side, as they are when the table is opened again.
    fn group(&mut self) {
        if self.home.layout.columns_are_datasets() {
            return;
        }
        let names = std::mem::take(&mut self.names);
        let first_of = |outer: &str| {
            let is_within = |name: &String| {
                let rest = name.strip_prefix(outer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            names.iter().position(is_within)
        };
        let places = names.iter().map(|name| {
            let ends = name.match_indices('.').map(|(at, _)| at);
            let outer = ends.chain([name.len()]).filter_map(|end| name.get(..end));
            outer.map(first_of).collect::<Vec<_>>()
        });
        let mut order: Vec<_> = places.zip(self.columns.drain(..)).zip(&names).collect();
        order.sort_by(|((one, _), _), ((other, _), _)| one.cmp(other));
        for ((_, column), name) in order {
            self.names.push(name.clone());
            self.columns.push(column);
        }
    }

    fn index(&self, name: &str) -> Result<usize> {
        self.names
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        Error::usage(format!(
            "no column {name:?}; there are {}",
            self.names.join(", ")
        ))
    }

    /// Where the columns are described that are datasets of their own.
    pub(super) fn column_keys(&self) -> Vec<Key> {
        self.columns
            .iter()
            .filter_map(|column| column.at.clone())
            .collect()
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }
}
