//! [`CTableBuilder`]: a new table.

use super::{CTable, Column};
use crate::carray::{CArray, CArrayBuilder, Home};
use crate::create::{Target, begin};
use crate::layout::{self, DatasetLayout};
use crate::options::DatasetOptions;
use crate::wire::Attributes;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, JournaledStore, Key, Store};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// What a new table is to be; ends in [`create`](Self::create).
///
/// ```
/// use bloscpack_datasets::{CArray, CTable, DatasetLayout};
/// use bloscpack_storage::MemoryStore;
///
/// let table = CTable::builder()
///     .layout(DatasetLayout::BlzDocument)
///     .chunk_rows(1000)
///     .column("place.lat", CArray::of::<f64>())
///     .column("place.lon", CArray::of::<f64>())
///     .create_in(MemoryStore::new())?;
/// assert_eq!(table.names(), ["place.lat", "place.lon"]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CTableBuilder {
    columns: Vec<(String, CArrayBuilder)>,
    layout: DatasetLayout,
    chunk_rows: Option<u64>,
    attributes: Attributes,
    replace: bool,
    options: DatasetOptions,
}

/// Names that mean something else in a table's directory, or nothing to its readers.
const TAKEN: [&str; 3] = ["__attrs__", "__rootdirs__", ".blpk"];

/// Refuses what cannot be the name of a column beside these, which is that of a folder, too.
pub(super) fn check_name<'a>(
    layout: DatasetLayout,
    name: &str,
    mut others: impl Iterator<Item = &'a str>,
) -> Result<()> {
    check_usable(layout, name)?;
    let is_around = |one: &str, other: &str| {
        let rest = other.strip_prefix(one);
        !layout.columns_are_datasets() && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    match others.find(|other| *other == name || is_around(other, name) || is_around(name, other)) {
        None => Ok(()),
        Some(other) if other == name => Err(twice(name)),
        Some(other) => Err(part_of(name, other)),
    }
}

fn twice(name: &str) -> Error {
    Error::usage(format!("there is a column {name:?} already"))
}

fn part_of(name: &str, other: &str) -> Error {
    Error::usage(format!(
        "the column {name:?} cannot be beside {other:?}: of one of them the other is a part"
    ))
}

/// Refuses what cannot be the name of a column, whatever others there are.
fn check_usable(layout: DatasetLayout, name: &str) -> Result<()> {
    let usable = |name: &str| Key::root().join(name).is_ok() && !name.starts_with("._");
    let sound = match layout.columns_are_datasets() {
        true => usable(name) && !TAKEN.contains(&name),
        false => name
            .split('.')
            .all(|part| usable(part) && !part.starts_with("__")),
    };
    if !sound {
        return Err(Error::usage(format!(
            "{name:?} cannot be the name of a column, which is that of a directory, too"
        )));
    }
    Ok(())
}

impl CTable {
    /// A new table.
    #[must_use]
    pub fn builder() -> CTableBuilder {
        CTableBuilder::default()
    }
}

impl CTableBuilder {
    /// Adds a column behind the others. A dot in its name stands for a column within another, in the two documented layouts.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, array: CArrayBuilder) -> Self {
        self.columns.push((name.into(), array));
        self
    }

    /// How the table lies in its directory; what the columns say of that does not count.
    #[must_use]
    pub fn layout(mut self, layout: DatasetLayout) -> Self {
        self.layout = layout;
        self
    }

    /// Rows of a chunk in all columns. In the two documented layouts it has to be the same in all, and is 65536 by default;
    /// in the others each column decides.
    #[must_use]
    pub fn chunk_rows(mut self, rows: u64) -> Self {
        self.chunk_rows = Some(rows);
        self
    }

    /// What its users say about it.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = attributes;
        self
    }

    /// Takes the place of the dataset that is there, if one is.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Threads, memory and limits.
    #[must_use]
    pub fn options(mut self, options: DatasetOptions) -> Self {
        self.options = options;
        self
    }

    /// Creates the table in this directory, which is made if it is not there; the one that it lies in has to be. Others see it
    /// after the first [`flush`](CTable::flush).
    ///
    /// # Errors
    /// As [`CArrayBuilder::create`], and wrong usage for names that cannot be or are there twice.
    pub fn create(self, path: impl AsRef<Path>) -> Result<CTable> {
        self.check()?;
        let target = Target::of_path(path.as_ref())?;
        self.create_at(target)
    }

    /// Creates the table at the root of a store.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in(self, store: impl Store + 'static) -> Result<CTable> {
        self.check()?;
        self.create_at(Target::of_store(Arc::new(store)))
    }

    fn check(&self) -> Result<()> {
        let nests = !self.layout.columns_are_datasets();
        // By the names of columns, and of those that they lie within, the columns.
        let (mut known, mut around) = (HashSet::new(), HashMap::new());
        for (name, _) in &self.columns {
            check_usable(self.layout, name)?;
            let ends = name.match_indices('.').filter(|_| nests);
            let outer: Vec<&str> = ends.filter_map(|(end, _)| name.get(..end)).collect();
            let other = outer.iter().find(|outer| known.contains(**outer)).copied();
            if let Some(other) = other.or_else(|| around.get(name.as_str()).copied()) {
                return Err(part_of(name, other));
            }
            if !known.insert(name.as_str()) {
                return Err(twice(name));
            }
            for outer in outer {
                around.entry(outer).or_insert(name.as_str());
            }
        }
        Ok(())
    }

    fn create_at(mut self, target: Target) -> Result<CTable> {
        self.options = self.options.for_columns(self.columns.len());
        let layout = self.layout;
        let root = begin(target, self.replace, &self.options)?;
        let home = Home {
            root: Arc::clone(&root),
            at: Key::root(),
            layout,
            access: Access::Write,
            in_table: false,
            failed: Arc::default(),
        };
        let mut arrays = Vec::new();
        for (name, array) in &self.columns {
            arrays.push(new_column(
                &home,
                name,
                array,
                self.chunk_rows,
                &self.options,
            )?);
        }
        put_columns(
            &root,
            &home.at,
            layout,
            self.columns
                .iter()
                .map(|(name, _)| name.as_str())
                .zip(&arrays),
        )?;
        layout::put_attributes(layout, &root, &home.at, &self.attributes)?;
        let mut table = CTable {
            home,
            names: self.columns.into_iter().map(|(name, _)| name).collect(),
            columns: arrays.into_iter().map(Column::opened).collect(),
            attributes: self.attributes,
            notes: Vec::new(),
            options: self.options,
        };
        table.group();
        Ok(table)
    }
}

/// Rows of a chunk that all columns of a table share.
const SHARED_CHUNK_ROWS: u64 = 1 << 16;

/// Creates a column, in a directory of its own or as one that is described with the others.
pub(super) fn new_column(
    home: &Home,
    name: &str,
    array: &CArrayBuilder,
    chunk_rows: Option<u64>,
    options: &DatasetOptions,
) -> Result<CArray> {
    let array = array.clone().options(options.clone());
    let in_table = Home {
        in_table: true,
        ..home.clone()
    };
    if home.layout.columns_are_datasets() {
        let array = match chunk_rows {
            Some(rows) => array.chunk_rows(rows),
            None => array,
        };
        let new = array.plan(home.layout)?;
        let at = home.at.join(name)?;
        layout::make_folder(&home.root, &at)?;
        let created = array.create_beneath(&home.root, &at, home.layout, new)?;
        created.leaf().clear()?;
        return Ok(created.in_table(home));
    }
    let new = array
        .chunk_rows(chunk_rows.unwrap_or(SHARED_CHUNK_ROWS))
        .plan(home.layout)?;
    let spec = layout::new_leaf(home.layout, &home.at, name, &new)?;
    layout::make_folders_of(&home.root, &spec.folder)?;
    let column = CArray::of_spec(in_table, spec, options);
    column.leaf().clear()?;
    Ok(column)
}

/// Writes which columns there are.
pub(super) fn put_columns<'a>(
    root: &JournaledStore,
    at: &Key,
    layout: DatasetLayout,
    columns: impl Iterator<Item = (&'a str, &'a CArray)>,
) -> Result<()> {
    let columns: Vec<_> = columns
        .map(|(name, array)| (name, Some(array.leaf().spec())))
        .collect();
    layout::put_table(layout, root, at, &columns)
}
