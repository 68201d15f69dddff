//! The layouts of directories, one file each, behind one set of calls.

mod bcolz;
mod blz;
mod blz_document;
mod carray_document;
mod default;
mod nested;
mod real;

use super::leaf::Spec;
use super::new::NewArray;
use crate::wire::Attributes;
use blosc1::Fault;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{EntryKind, JournaledStore, Key};
use std::fmt;

/// How a dataset lies in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DatasetLayout {
    /// What bcolz writes, and carray 0.5 wrote: a superchunk a chunk, `__attrs__`, `cparams`. bcolz opens it.
    #[default]
    Bcolz,
    /// What BLZ 0.6 writes: as bcolz, but for `bparams` and `dirs`.
    Blz,
    /// What the BLZ document describes: several chunks a superchunk, checksums, offsets, spare space, nested columns.
    BlzDocument,
    /// What the carray proposal describes: chunks of any shape, several a superchunk, checksums, offsets, spare space, nested
    /// columns, YAML.
    CarrayDocument,
}

impl DatasetLayout {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Bcolz,
        Self::Blz,
        Self::BlzDocument,
        Self::CarrayDocument,
    ];

    /// The name that the command line has for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcolz => "bcolz",
            Self::Blz => "blz",
            Self::BlzDocument => "blz-doc",
            Self::CarrayDocument => "carray-doc",
        }
    }
}

impl DatasetLayout {
    /// Whether each column of a table is a dataset of its own.
    pub(super) const fn columns_are_datasets(self) -> bool {
        matches!(self, Self::Bcolz | Self::Blz)
    }
}

impl fmt::Display for DatasetLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a directory turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sign {
    pub layout: DatasetLayout,
    pub is_table: bool,
}

/// An array as its directory describes it.
#[derive(Debug)]
pub(crate) struct ArrayParts {
    pub spec: Spec,
    pub attributes: Attributes,
    pub notes: Vec<Note>,
}

/// A table as its directory describes it.
#[derive(Debug)]
pub(crate) struct TableParts {
    pub columns: Vec<ColumnParts>,
    pub attributes: Attributes,
    pub notes: Vec<Note>,
}

/// A column of a table.
#[derive(Debug)]
pub(crate) struct ColumnParts {
    pub name: String,
    pub place: ColumnPlace,
}

/// Where a column is described.
#[derive(Debug)]
pub(crate) enum ColumnPlace {
    /// In a directory of its own, which is an array like any other.
    Own(Key),
    /// Together with the others.
    Shared(Box<Spec>),
}

/// Something that is not as it should be, and does not keep the dataset from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub path: String,
    pub what: String,
}

/// No file of metadata that anybody wrote is larger.
pub(super) const MAX_META: u64 = 64 << 20;

/// The whole of a small file.
pub(super) fn get(root: &JournaledStore, key: &Key) -> Result<Vec<u8>> {
    root.get(key, MAX_META).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            crate::error::dataset(Fault::Damaged, "this file is missing").in_file(key)
        }
        _ => unread(error, key),
    })
}

/// That a small file cannot be read, or is none.
fn unread(error: std::io::Error, key: &Key) -> Error {
    let error = match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            crate::error::dataset(Fault::OverLimit, error.to_string())
        }
        // A name that no dataset has.
        std::io::ErrorKind::InvalidInput => {
            crate::error::dataset(Fault::Damaged, error.to_string())
        }
        _ => Error::from(error),
    };
    error.in_file(key)
}

/// The whole of a small file that need not be there.
pub(crate) fn get_if_there(root: &JournaledStore, key: &Key) -> Result<Option<Vec<u8>>> {
    match root.get(key, MAX_META) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some).map_err(|error| unread(error, key)),
    }
}

/// Writes a small file, unless it is so already: what is written last is seen last, so nothing is written twice.
pub(crate) fn put(root: &JournaledStore, key: &Key, bytes: &[u8]) -> Result<()> {
    let max = usize::try_from(MAX_META).unwrap_or(usize::MAX);
    if bytes.len() > max {
        let found = bytes.len();
        let what = format!("{found} bytes, where at most {max} can be read again");
        return Err(crate::error::dataset(Fault::OverLimit, what).in_file(key));
    }
    if get_if_there(root, key)?.is_some_and(|there| there == bytes) {
        return Ok(());
    }
    root.put(key, bytes)
        .map_err(|error| Error::from(error).in_file(key))
}

/// What kind of dataset lies here, if any does.
pub(crate) fn detect(root: &JournaledStore, at: &Key) -> Result<Option<Sign>> {
    let is_file = |names: &[&str]| -> Result<bool> {
        let key = names
            .iter()
            .try_fold(at.clone(), |key, name| key.join(name))?;
        Ok(root.kind(&key)? == Some(EntryKind::File))
    };
    let rootdirs = at.join("__rootdirs__")?;
    // Its columns are not to be taken for arrays of their own.
    if root
        .kind(&rootdirs)?
        .is_some_and(|kind| kind != EntryKind::File)
    {
        return Err(
            crate::error::dataset(Fault::Damaged, "this is no regular file").in_file(&rootdirs),
        );
    }
    if is_file(&["__rootdirs__"])? {
        let layout = real::layout_of_table(root, at)?;
        return Ok(Some(Sign {
            layout,
            is_table: true,
        }));
    }
    if is_file(&["meta", "shape"])? {
        let is_table = carray_document::is_table(root, at)?;
        return Ok(Some(Sign {
            layout: DatasetLayout::CarrayDocument,
            is_table,
        }));
    }
    if !is_file(&["meta", "sizes"])? && !is_file(&["meta", "storage"])? {
        return Ok(None);
    }
    if !is_file(&["__attrs__"])?
        && (is_file(&["meta", "attributes"])? || is_file(&["data", "__1__.bin"])?)
    {
        let is_table = blz_document::is_table(root, at)?;
        return Ok(Some(Sign {
            layout: DatasetLayout::BlzDocument,
            is_table,
        }));
    }
    let layout = real::layout_of_array(root, at)?;
    Ok(Some(Sign {
        layout,
        is_table: false,
    }))
}

/// Reads how an array is described.
pub(crate) fn open_array(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    lenient: bool,
) -> Result<ArrayParts> {
    match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => real::open_array(root, at, lenient),
        DatasetLayout::BlzDocument => blz_document::open_array(root, at),
        DatasetLayout::CarrayDocument => carray_document::open_array(root, at),
    }
}

/// Reads how a table is described.
pub(crate) fn open_table(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
) -> Result<TableParts> {
    match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => real::open_table(root, at),
        DatasetLayout::BlzDocument => blz_document::open_table(root, at),
        DatasetLayout::CarrayDocument => carray_document::open_table(root, at),
    }
}

/// What a new array is in this layout, or why it cannot be in it.
pub(crate) fn new_spec(layout: DatasetLayout, at: &Key, new: &NewArray) -> Result<Spec> {
    match layout {
        DatasetLayout::Bcolz => bcolz::new_spec(&at.join("data")?, new),
        DatasetLayout::Blz => blz::new_spec(&at.join("data")?, new),
        DatasetLayout::BlzDocument => blz_document::new_spec(&at.join("data")?, new),
        DatasetLayout::CarrayDocument => carray_document::new_spec(&at.join("data")?, new),
    }
}

/// What a column of a new table is, where columns are described together; its name has a dot between the levels.
pub(crate) fn new_leaf(
    layout: DatasetLayout,
    at: &Key,
    name: &str,
    new: &NewArray,
) -> Result<Spec> {
    if new.dtype.fields().is_some() {
        let what =
            "its fields would be columns in this layout: add them one by one, as COLUMN.FIELD";
        return Err(Error::usage(format!("column {name:?} has fields: {what}")));
    }
    let folder = name
        .split('.')
        .try_fold(at.join("data")?, |key, name| key.join(name))?;
    match layout {
        DatasetLayout::BlzDocument => blz_document::new_spec(&folder, new),
        _ => carray_document::new_spec(&folder, new),
    }
}

/// Writes all that describes an array but how many rows it has.
pub(crate) fn put_array(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    spec: &Spec,
) -> Result<()> {
    make_folders(root, at, &["meta", "data"])?;
    match layout {
        DatasetLayout::Bcolz => bcolz::put_storage(root, at, spec),
        DatasetLayout::Blz => blz::put_storage(root, at, spec),
        DatasetLayout::BlzDocument => blz_document::put_storage(root, at, spec),
        DatasetLayout::CarrayDocument => carray_document::put_storage(root, at, &[("", spec)]),
    }
}

/// Writes which columns a table has: by their names where each is described in a directory of its own, else with what describes
/// them.
pub(crate) fn put_table(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    columns: &[(&str, Option<&Spec>)],
) -> Result<()> {
    let specs: Vec<(&str, &Spec)> = columns
        .iter()
        .filter_map(|(name, spec)| Some((*name, (*spec)?)))
        .collect();
    if layout.columns_are_datasets() {
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        return real::put_rootdirs(layout, root, at, names);
    }
    make_folders(root, at, &["meta", "data"])?;
    for (_, spec) in &specs {
        make_folders_of(root, &spec.folder)?;
    }
    match layout {
        DatasetLayout::BlzDocument => blz_document::put_table(root, at, &specs),
        _ => carray_document::put_storage(root, at, &specs),
    }
}

/// Makes a folder of a dataset.
pub(crate) fn make_folder(root: &JournaledStore, key: &Key) -> Result<()> {
    make_folders_of(root, key)
}

/// Makes folders of a dataset.
fn make_folders(root: &JournaledStore, at: &Key, names: &[&str]) -> Result<()> {
    names
        .iter()
        .try_for_each(|name| make_folders_of(root, &at.join(name)?))
}

/// Makes a folder, and those that it lies in.
pub(crate) fn make_folders_of(root: &JournaledStore, folder: &Key) -> Result<()> {
    let mut key = Key::root();
    for name in folder.names() {
        key = key.join(name)?;
        if root.kind(&key)? != Some(EntryKind::Folder) {
            root.make_folder(&key)
                .map_err(|error| Error::from(error).in_file(&key))?;
        }
    }
    Ok(())
}

/// Writes how many rows there are, in one array or in several that are described together.
pub(crate) fn put_sizes(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    specs: &[&Spec],
) -> Result<()> {
    match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => specs
            .iter()
            .try_for_each(|spec| real::put_sizes(root, at, spec)),
        DatasetLayout::BlzDocument => blz_document::put_sizes(root, at, specs),
        DatasetLayout::CarrayDocument => carray_document::put_sizes(root, at, specs),
    }
}

/// Writes the attributes of an array or a table.
pub(crate) fn put_attributes(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    attributes: &Attributes,
) -> Result<()> {
    match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => {
            put(root, &at.join("__attrs__")?, &attributes.encode())
        }
        DatasetLayout::BlzDocument => put(
            root,
            &at.join("meta")?.join("attributes")?,
            &attributes.encode(),
        ),
        DatasetLayout::CarrayDocument => carray_document::put_attributes(root, at, attributes),
    }
}

/// Whether this default, if there is one, can be read again.
pub(crate) fn is_short_default(dtype: &DType, default: Option<&[u8]>, row_shape: &[u64]) -> bool {
    default::is_short(dtype, default, row_shape)
}

/// Refuses a column that cannot be described together with another.
pub(crate) fn check_beside(layout: DatasetLayout, one: &Spec, new: &NewArray) -> Result<()> {
    let row = one.grid.shape().get(1..).unwrap_or_default();
    let fits = layout != DatasetLayout::CarrayDocument
        || (new.row_shape == row && new.chunk_shape == one.grid.chunk_shape());
    match fits {
        true => Ok(()),
        false => Err(Error::usage(
            "in this layout all columns have rows and chunks of the same shape",
        )),
    }
}

/// The file that tells how many rows there are.
pub(crate) fn sizes_key(layout: DatasetLayout, at: &Key) -> Result<Key> {
    let name = match layout {
        DatasetLayout::CarrayDocument => "shape",
        _ => "sizes",
    };
    Ok(at.join("meta")?.join(name)?)
}

/// The files that describe an array or a table of this layout, superchunks and columns aside.
pub(crate) fn meta_keys(layout: DatasetLayout, at: &Key) -> Result<Vec<Key>> {
    let names: &[&[&str]] = match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => &[
            &["meta", "sizes"],
            &["meta", "storage"],
            &["__attrs__"],
            &["__rootdirs__"],
        ],
        DatasetLayout::BlzDocument => &[
            &["meta", "sizes"],
            &["meta", "storage"],
            &["meta", blz_document::NOTED],
            &["meta", "attributes"],
        ],
        DatasetLayout::CarrayDocument => &[
            &["meta", "shape"],
            &["meta", "storage"],
            &["meta", "attributes"],
        ],
    };
    let key = |names: &&[&str]| {
        names
            .iter()
            .try_fold(at.clone(), |key, name| Ok(key.join(name)?))
    };
    names.iter().map(key).collect()
}
