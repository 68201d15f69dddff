//! The chunks of a member with bit 2: one record each, or many small ones.
//!
//! ```text
//! {"dtype": "varchar", "shape": [1024]}                                       one record a chunk
//! {"dtype": "varchar", "shape": [1024],
//!  "packing": {"name": "lengths", "version": 1, "chunk_size": 65536}}         many
//! ```
//!
//! The first is that of the proposal for variable-length data; the second is the answer to its open
//! question, and [`packing`] has its bytes. A reader that does not know the packing that metadata
//! declares must refuse the member: its chunks are not records.

mod metadata;
pub mod packing;

pub use metadata::{counted, declared};
pub use packing::{PackHead, Packing};

use super::error::FormatError;
use super::header::Header;
use super::metadata::Metadata;
use metadata::Declared;

/// The meaning of the chunks of a member.
///
/// ```
/// use bloscpack_wire::{Form, Header, FormatVersion, Metadata};
/// let header = Header { varlen: true, nchunks: Some(3), ..Header::new(FormatVersion::V2) };
/// assert_eq!(Form::of(&header, None)?, Form::Records { count: None });
///
/// let unknown = Metadata::from_json(r#"{"packing": {"name": "braided", "version": 1}}"#)?;
/// assert!(Form::of(&header, Some(&unknown)).is_err());
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Pieces of one content.
    Content,
    /// One record each.
    Records {
        /// How many, by the metadata.
        count: Option<u64>,
    },
    /// Many small records each.
    Packed {
        /// The way they are packed in a chunk.
        packing: Packing,
        /// How many, by the metadata.
        count: Option<u64>,
    },
}

impl Form {
    /// The form that header and metadata declare.
    ///
    /// # Errors
    /// Returns [`FormatError::Unsupported`] for a packing that is not known; [`FormatError::MetadataData`]
    /// for a packing where the header has no records, and for numbers of records that differ.
    pub fn of(header: &Header, metadata: Option<&Metadata>) -> Result<Self, FormatError> {
        let Declared { count, packing } = metadata.map(Declared::of).unwrap_or_default();
        if !header.varlen {
            return match packing {
                // Another key of the same name is the user's own.
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

    /// Whether the chunks hold records.
    #[must_use]
    pub fn has_records(&self) -> bool {
        !matches!(self, Self::Content)
    }

    /// How many records the metadata counts.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Content => None,
            Self::Records { count } | Self::Packed { count, .. } => *count,
        }
    }

    /// Refuses packed records, whose chunks are not bytes of one content.
    pub fn check_content(&self) -> Result<(), FormatError> {
        match self {
            Self::Content | Self::Records { .. } => Ok(()),
            Self::Packed { .. } => Err(FormatError::Unsupported {
                what: "the chunks contain packed records, which must be read as records".to_owned(),
            }),
        }
    }

    /// Refuses chunks that are not records.
    pub fn check_records(&self) -> Result<(), FormatError> {
        if self.has_records() {
            return Ok(());
        }
        let what = "the file contains content, but no records".to_owned();
        Err(FormatError::Unsupported { what })
    }

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
