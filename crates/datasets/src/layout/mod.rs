//! The layouts of dataset directories: one module for each, behind the trait [`LayoutFiles`].

mod bcolz;
mod blz;
#[cfg(feature = "documents")]
mod blz_document;
#[cfg(feature = "documents")]
mod carray_document;
mod default;
#[cfg(feature = "documents")]
mod documents;
#[cfg(feature = "documents")]
mod nested;
mod real;

use crate::array_storage::ArraySpec;
use crate::dataset_layout::DatasetLayout;
use crate::error::not_a_file;
use crate::files::{Files, below};
use crate::new::NewArray;
use crate::wire::Attributes;
use bloscpack_error::Result;
use bloscpack_storage::{EntryKind, Key};

pub(crate) use default::is_short as is_short_default;
pub(crate) use real::rows as rows_of_array;

/// The layout of a dataset, and whether it is a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatasetKind {
    pub layout: DatasetLayout,
    pub is_table: bool,
}

/// An array, as its files describe it.
#[derive(Debug)]
pub(crate) struct ArrayDescription {
    pub spec: ArraySpec,
    pub attributes: Attributes,
    pub warnings: Vec<String>,
}

/// A table, as its files describe it.
#[derive(Debug)]
pub(crate) struct TableDescription {
    pub columns: Vec<ColumnDescription>,
    pub attributes: Attributes,
    pub warnings: Vec<String>,
}

/// A column of a table, as the table's files describe it.
#[derive(Debug)]
pub(crate) struct ColumnDescription {
    pub name: String,
    pub source: ColumnSource,
}

/// Where a column is described.
#[derive(Debug)]
pub(crate) enum ColumnSource {
    /// In its own folder, like any array.
    Own(Key),
    /// In the files of the table.
    #[cfg_attr(
        not(feature = "documents"),
        allow(dead_code, reason = "only the layouts of the two documents use it")
    )]
    Shared(Box<ArraySpec>),
}

/// Reads and writes the small files of one layout.
pub(crate) trait LayoutFiles: Sync {
    /// Reads the description of an array.
    fn open_array(&self, files: &Files, at: &Key, lenient: bool) -> Result<ArrayDescription>;

    /// Reads the description of a table.
    fn open_table(&self, files: &Files, at: &Key) -> Result<TableDescription>;

    /// The description of a new array; an error if this layout cannot store it.
    fn new_array(&self, folder: Key, new: &NewArray) -> Result<ArraySpec>;

    /// The description of a new column that its table describes.
    fn new_column(&self, at: &Key, name: &str, new: &NewArray) -> Result<ArraySpec>;

    /// Writes the description of an array, without its number of rows.
    fn put_array(&self, files: &Files, at: &Key, spec: &ArraySpec) -> Result<()>;

    /// Writes the description of a table, without its number of rows: the names of the columns if they are datasets of their
    /// own, otherwise their descriptions.
    fn put_table(
        &self,
        files: &Files,
        at: &Key,
        columns: &[(&str, Option<&ArraySpec>)],
    ) -> Result<()>;

    /// Writes the number of rows of an array, or of all columns that one file describes.
    fn put_sizes(&self, files: &Files, at: &Key, specs: &[&ArraySpec]) -> Result<()>;

    /// Writes the attributes of an array or a table.
    fn put_attributes(&self, files: &Files, at: &Key, attributes: &Attributes) -> Result<()>;

    /// Refuses a new column that cannot be in the same table as `other`.
    fn check_beside(&self, _other: &ArraySpec, _new: &NewArray) -> Result<()> {
        Ok(())
    }
}

impl DatasetLayout {
    /// The files of this layout.
    ///
    /// # Errors
    /// Returns [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) if this build does not support it.
    pub(crate) fn files(self) -> Result<&'static dyn LayoutFiles> {
        match self {
            Self::Bcolz => Ok(&bcolz::BCOLZ),
            Self::Blz => Ok(&blz::BLZ),
            #[cfg(feature = "documents")]
            Self::BlzDocument => Ok(&blz_document::BlzDocument),
            #[cfg(feature = "documents")]
            Self::CarrayDocument => Ok(&carray_document::CarrayDocument),
            #[cfg(not(feature = "documents"))]
            Self::BlzDocument | Self::CarrayDocument => Err(not_built(self)),
        }
    }
}

#[cfg(not(feature = "documents"))]
fn not_built(layout: DatasetLayout) -> bloscpack_error::Error {
    bloscpack_error::Error::new(
        bloscpack_error::Code::NotBuilt,
        format!("the layout {layout} requires the feature `documents` of bloscpack-datasets"),
    )
}

/// The kind of the dataset in a folder, from the presence and content of its small files; `None` if it is not a dataset.
pub(crate) fn detect(files: &Files, at: &Key) -> Result<Option<DatasetKind>> {
    let is_file = |names: &[&str]| files.is_file(&below(at, names)?);
    let rootdirs = below(at, &["__rootdirs__"])?;
    match files.kind(&rootdirs)? {
        Some(EntryKind::File) => {
            let layout = real::layout_of_table(files, at)?;
            let is_table = true;
            return Ok(Some(DatasetKind { layout, is_table }));
        }
        // A folder or link in the place of `__rootdirs__` is damage.
        Some(_) => {
            return Err(files.locate(&rootdirs, not_a_file()));
        }
        None => {}
    }
    if is_file(&["meta", "shape"])? {
        return document(files, at, DatasetLayout::CarrayDocument);
    }
    if !is_file(&["meta", "sizes"])? && !is_file(&["meta", "storage"])? {
        return Ok(None);
    }
    if !is_file(&["__attrs__"])?
        && (is_file(&["meta", "attributes"])? || is_file(&["data", "__1__.bin"])?)
    {
        return document(files, at, DatasetLayout::BlzDocument);
    }
    Ok(Some(DatasetKind {
        layout: real::layout_of_array(files, at)?,
        is_table: false,
    }))
}

/// The kind of a dataset in one of the layouts of the documents.
#[cfg(feature = "documents")]
fn document(files: &Files, at: &Key, layout: DatasetLayout) -> Result<Option<DatasetKind>> {
    let is_table = match layout {
        DatasetLayout::CarrayDocument => carray_document::is_table(files, at)?,
        _ => blz_document::is_table(files, at)?,
    };
    Ok(Some(DatasetKind { layout, is_table }))
}

#[cfg(not(feature = "documents"))]
fn document(files: &Files, at: &Key, layout: DatasetLayout) -> Result<Option<DatasetKind>> {
    Err(files.locate(at, not_built(layout)))
}

/// Creates the folders of an array or a table.
fn make_folders(files: &Files, at: &Key) -> Result<()> {
    files.make_folders(&below(at, &["meta"])?)?;
    files.make_folders(&below(at, &["data"])?)
}

/// The file with the number of rows.
pub(crate) fn sizes_key(layout: DatasetLayout, at: &Key) -> Result<Key> {
    let name = match layout {
        DatasetLayout::CarrayDocument => "shape",
        _ => "sizes",
    };
    below(at, &["meta", name])
}

/// The file with the index of an array; `None` in the layouts of the documents.
pub(crate) fn index_key(layout: DatasetLayout, at: &Key) -> Result<Option<Key>> {
    let has_one = layout.columns_are_datasets();
    has_one.then(|| below(at, &["meta", INDEX])).transpose()
}

/// The small files of an array or a table, without the files of columns in their own folders.
pub(crate) fn meta_keys(layout: DatasetLayout, at: &Key) -> Result<Vec<Key>> {
    let names: &[&[&str]] = match layout {
        DatasetLayout::Bcolz | DatasetLayout::Blz => &[
            &["meta", "sizes"],
            &["meta", "storage"],
            &["__attrs__"],
            &["__rootdirs__"],
            &["meta", INDEX],
        ],
        DatasetLayout::BlzDocument => &[
            &["meta", "sizes"],
            &["meta", "storage"],
            &["meta", SUPERCHUNK_SIZE],
            &["meta", "attributes"],
        ],
        DatasetLayout::CarrayDocument => &[
            &["meta", "shape"],
            &["meta", "storage"],
            &["meta", "attributes"],
        ],
    };
    names.iter().map(|names| below(at, names)).collect()
}

/// The file with the statistics of superchunks, which only this library writes. bcolz and BLZ ignore it.
const INDEX: &str = "index";

/// The file in `blz-doc` with the number of chunks per superchunk, which only this library writes.
const SUPERCHUNK_SIZE: &str = "superchunksize";
