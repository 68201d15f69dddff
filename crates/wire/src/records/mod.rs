//! The chunks of a member with option 0x04: one record each, or many small ones.
//!
//! ```text
//! {"dtype": "varchar", "shape": [1024]}                                       one record a chunk
//! {"dtype": "varchar", "shape": [1024],
//!  "packing": {"name": "lengths", "version": 1, "chunk_size": 65536}}         many
//! ```
//!
//! The first form is the one of the proposal for variable-length data. The second adds small
//! records, which the proposal leaves open; [`packing`] describes its bytes. A reader must refuse a
//! member that declares an unknown packing: its chunks are not records.

mod metadata;
pub mod packing;

pub use metadata::{counted, declared};
pub use packing::{PackHead, Packing};

use super::error::FormatError;
use super::header::Header;
use super::metadata::Metadata;
use metadata::Declared;

/// The meaning of the chunks of a member (`docs/format.md`, "Records").
///
/// ```
/// use bloscpack_wire::{Form, Header, FormatVersion, Metadata};
///
/// let header = Header { varlen: true, nchunks: Some(3), ..Header::new(FormatVersion::V2) };
/// assert_eq!(Form::of(&header, None)?, Form::Records { count: None });
///
/// let unknown = Metadata::from_json(r#"{"packing": {"name": "braided", "version": 1}}"#)?;
/// assert!(Form::of(&header, Some(&unknown)).is_err());
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each chunk is a piece of one content.
    Content,
    /// Each chunk is one record.
    Records {
        /// The number of records according to the metadata; `None` if it does not state one.
        count: Option<u64>,
    },
    /// Each chunk contains many small records, or one that is too large for that.
    Packed {
        /// How they are packed in a chunk.
        packing: Packing,
        /// The number of records according to the metadata; `None` if it does not state one.
        count: Option<u64>,
    },
}

impl Form {
    /// The form that header and metadata declare.
    ///
    /// # Errors
    /// - [`FormatError::Unsupported`] for an unknown packing of records;
    /// - [`FormatError::MetadataData`] for a known packing if the header declares no records, and
    ///   for a number of records that contradicts the number of chunks.
    pub fn of(header: &Header, metadata: Option<&Metadata>) -> Result<Self, FormatError> {
        let Declared { count, packing } = metadata.map(Declared::of).unwrap_or_default();
        if !header.varlen {
            return match packing {
                // A key `packing` of another form is the user's own.
                None | Some(Err(_)) => Ok(Self::Content),
                Some(Ok(_)) => Err(FormatError::MetadataData {
                    why: "it declares packed records, but the header has none".to_owned(),
                }),
            };
        }
        let form = match packing.transpose()? {
            None => Self::Records { count },
            Some(packing) => Self::Packed { packing, count },
        };
        form.check_count(header.nchunks)
    }

    /// Whether the chunks contain records.
    #[must_use]
    pub fn has_records(&self) -> bool {
        !matches!(self, Self::Content)
    }

    /// The number of records according to the metadata; `None` for content, or if it does not state
    /// one.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Content => None,
            Self::Records { count } | Self::Packed { count, .. } => *count,
        }
    }

    /// Checks that the uncompressed chunks are the bytes of one content.
    ///
    /// # Errors
    /// Returns [`FormatError::Unsupported`] for packed records.
    pub fn check_content(&self) -> Result<(), FormatError> {
        match self {
            Self::Content | Self::Records { .. } => Ok(()),
            Self::Packed { .. } => Err(FormatError::Unsupported {
                what: "the chunks contain packed records, which must be read as records".to_owned(),
            }),
        }
    }

    /// Checks that the chunks contain records.
    ///
    /// # Errors
    /// Returns [`FormatError::Unsupported`] for content.
    pub fn check_records(&self) -> Result<(), FormatError> {
        if self.has_records() {
            return Ok(());
        }
        let what = "the file contains content, but no records".to_owned();
        Err(FormatError::Unsupported { what })
    }

    /// Compares the number of records with the number of chunks: equal, or for packed records at
    /// least as large.
    fn check_count(self, nchunks: Option<u64>) -> Result<Self, FormatError> {
        let (Some(count), Some(chunks)) = (self.count(), nchunks) else {
            return Ok(self);
        };
        let fits = match self {
            Self::Packed { .. } => chunks <= count && (count == 0) == (chunks == 0),
            _ => chunks == count,
        };
        if fits {
            return Ok(self);
        }
        let why = format!("its shape has {count} records, but the header counts {chunks} chunks");
        Err(FormatError::MetadataData { why })
    }
}
