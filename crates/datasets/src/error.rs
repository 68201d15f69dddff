//! [`DatasetError`]: what can be wrong with a dataset.

use crate::dataset_layout::DatasetLayout;
use crate::wire::MetaError;
use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use bloscpack_wire::Limit;
use std::ops::RangeInclusive;
use thiserror::Error as ThisError;

/// An error in a dataset: in its files, or in how it is used.
///
/// The file is not part of it: [`Error::path`](bloscpack_error::Error::path) names it, relative to the root of the dataset.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::{Dataset, DatasetError};
/// use bloscpack_error::Category;
///
/// let error = Dataset::open("testdata").unwrap_err();
/// assert_eq!(error.category(), Category::Unsupported);
/// assert!(matches!(error.detail(), Some(DatasetError::NotADataset)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum DatasetError {
    /// The directory is not a dataset.
    #[error("not a dataset: there is no meta/sizes, meta/shape or __rootdirs__")]
    NotADataset,
    /// This build does not support the layout of the dataset.
    #[error("the layout {layout} requires the feature `{feature}` of bloscpack-datasets")]
    LayoutNotBuilt {
        /// The layout.
        layout: DatasetLayout,
        /// The name of the feature.
        feature: &'static str,
    },
    /// The elements are Python objects, stored as pickles, which this library never opens.
    #[error(
        "the elements are Python objects (pickles), which are not supported: export them with Python"
    )]
    PythonObjects,
    /// The name of a column has a dot in it, which would be taken for a column within another one.
    #[error("the name of the column {name:?} has a dot in it, which separates nested columns")]
    DottedColumn {
        /// The name.
        name: String,
    },

    /// The array cannot have an index.
    #[error("an array like this has no index: {reason}")]
    NoIndex {
        /// The reason.
        reason: String,
    },
    /// The index is of another array.
    #[error("the index is of {found}, the array has {expected}")]
    ForeignIndex {
        /// The dtype or the rows of a superchunk, according to the index.
        found: String,
        /// The dtype or the rows of a superchunk of the array.
        expected: String,
    },

    /// A file that describes the dataset is missing.
    #[error("file is missing")]
    MissingFile,
    /// A superchunk is missing.
    #[error("superchunk is missing; it should contain chunk {chunk} of {chunks}")]
    MissingSuperchunk {
        /// The number of its first chunk that was asked for.
        chunk: u64,
        /// The number of chunks of the array.
        chunks: u64,
    },
    /// There is no array in the folder of a column.
    #[error("the folder of the column does not contain an array")]
    MissingColumn,
    /// Something other than a regular file has the name of one. Links are not followed.
    #[error("not a regular file (links are not followed)")]
    NotAFile,
    /// A name in the dataset is not a valid file name, or points outside of the dataset.
    #[error("invalid name: {reason}")]
    InvalidName {
        /// The reason.
        reason: String,
    },
    /// Two columns share a folder.
    #[error("the column {name:?} has the same folder as another one")]
    SharedFolder {
        /// The name of the second column.
        name: String,
    },

    /// A small file cannot be read or written.
    #[error(transparent)]
    Metadata(#[from] MetaError),
    /// The shapes of an array and its chunks are impossible.
    #[error(
        "shape {shape:?} in chunks of {chunk_shape:?} with {itemsize} bytes per element: {reason}"
    )]
    Shape {
        /// The shape of the array.
        shape: Vec<u64>,
        /// The shape of its chunks.
        chunk_shape: Vec<u64>,
        /// Bytes of an element.
        itemsize: u64,
        /// The reason.
        reason: String,
    },
    /// The columns of a table have different numbers of rows.
    #[error("the column has {found} rows, others have {expected}")]
    UnevenColumns {
        /// The number of rows of the column.
        found: u64,
        /// The least number of rows of any column.
        expected: u64,
    },

    /// The header of a superchunk is not one that the layout allows.
    #[error("superchunk header: {found}, should be {expected}")]
    SuperchunkHeader {
        /// A description of the header.
        found: String,
        /// A description of the headers that are allowed.
        expected: &'static str,
    },
    /// A superchunk has another number of chunks than it should have.
    #[error("superchunk of {found} chunks, should be {expected}")]
    WrongCount {
        /// The number of chunks that it has.
        found: u64,
        /// The number of chunks that it should have.
        expected: u64,
    },
    /// An entry in the table of offsets of a superchunk is impossible.
    #[error("entry {entry} of the offsets is {found}, should be {} to {}", expected.start(), expected.end())]
    Offset {
        /// The number of the entry.
        entry: u64,
        /// The entry.
        found: u64,
        /// The range in which it should be.
        expected: RangeInclusive<u64>,
    },
    /// The uncompressed length of a chunk is wrong.
    #[error(
        "chunk {chunk} has {found} bytes of data, should be {}",
        span(expected)
    )]
    WrongLength {
        /// The number of the chunk.
        chunk: u64,
        /// Its uncompressed length in bytes.
        found: u64,
        /// The lengths that it may have.
        expected: RangeInclusive<u64>,
    },
    /// Bytes that belong to nothing follow a chunk, or the last chunk.
    #[error("{found} unexpected bytes follow {}", chunk_or_last(*chunk))]
    Trailing {
        /// How many.
        found: u64,
        /// The number of the chunk; `None` for the last one of a superchunk.
        chunk: Option<u64>,
    },
    /// A superchunk, or the space of a chunk in it, is shorter than it should be.
    #[error("cut short: {} has {found} bytes, should have at least {expected}", subject(*chunk))]
    CutShort {
        /// The number of the chunk; `None` for the file.
        chunk: Option<u64>,
        /// The bytes that are present.
        found: u64,
        /// The least number of bytes that there should be.
        expected: u64,
    },
    /// A superchunk has offsets of -1, as a writer leaves them that was interrupted.
    #[error("unfinished superchunk: its offsets are -1")]
    Unfinished,
    /// A change failed after it had begun. The dataset has to be opened again.
    #[error("the change failed: {reason}")]
    FailedChange {
        /// The reason.
        reason: String,
    },

    /// One of the [`Limits`](bloscpack_wire::Limits) is exceeded.
    #[error("{limit} of {found} bytes exceeds the limit of {allowed}")]
    Limit {
        /// The limit.
        limit: Limit,
        /// Uncompressed bytes of the array, or of a chunk.
        found: u64,
        /// The value of the limit.
        allowed: u64,
    },
    /// There is not enough memory for what the caller asked for.
    #[error("{bytes} bytes do not fit into memory: read or write less at once")]
    OutOfMemory {
        /// The bytes that are needed.
        bytes: u64,
    },
}

impl Detail for DatasetError {
    fn fault(&self) -> Fault {
        match self {
            Self::NotADataset
            | Self::LayoutNotBuilt { .. }
            | Self::PythonObjects
            | Self::NoIndex { .. }
            | Self::DottedColumn { .. } => Fault::Unsupported,
            Self::MissingFile
            | Self::MissingSuperchunk { .. }
            | Self::MissingColumn
            | Self::NotAFile
            | Self::InvalidName { .. }
            | Self::SharedFolder { .. }
            | Self::Shape { .. }
            | Self::UnevenColumns { .. }
            | Self::SuperchunkHeader { .. }
            | Self::WrongCount { .. }
            | Self::Offset { .. }
            | Self::WrongLength { .. }
            | Self::Trailing { .. }
            | Self::ForeignIndex { .. }
            | Self::FailedChange { .. } => Fault::Damaged,
            Self::CutShort { .. } | Self::Unfinished => Fault::CutShort,
            Self::Limit { .. } => Fault::OverLimit,
            Self::OutOfMemory { .. } => Fault::Usage,
            Self::Metadata(error) => error.fault(),
        }
    }

    fn limit(&self) -> Option<Limit> {
        match self {
            Self::Limit { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnevenColumns { .. } => Some("repair the table"),
            Self::FailedChange { .. } => {
                Some("open the dataset again; it is unchanged since the last flush")
            }
            _ => None,
        }
    }
}

impl From<MetaError> for Error {
    fn from(error: MetaError) -> Self {
        DatasetError::Metadata(error).into()
    }
}

fn span(lengths: &RangeInclusive<u64>) -> String {
    match (lengths.start(), lengths.end()) {
        (least, most) if least == most => least.to_string(),
        (0, most) => format!("at most {most}"),
        (least, most) => format!("{least} to {most}"),
    }
}

fn subject(chunk: Option<u64>) -> String {
    chunk.map_or_else(|| "the file".to_owned(), |chunk| format!("chunk {chunk}"))
}

fn chunk_or_last(chunk: Option<u64>) -> String {
    match chunk {
        Some(chunk) => format!("chunk {chunk}"),
        None => "the last chunk".to_owned(),
    }
}
