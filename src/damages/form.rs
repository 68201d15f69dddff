//! [`MemberKind`]: what the chunks of a member hold.

use super::Checked;
use super::links::Links;
use bloscpack_wire::{Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, Packing};

/// The kind of a member: the form of its chunks.
#[derive(Debug, Default)]
pub(crate) enum MemberKind {
    #[default]
    Content,
    /// Records in an unknown form.
    Unknown(FormatError),
    Records {
        /// How many, by the metadata.
        count: Option<u64>,
    },
    Packed {
        packing: Packing,
        links: Links,
        /// How many records, by metadata that can be believed.
        count: Option<u64>,
    },
}

impl MemberKind {
    pub(crate) fn has_records(&self) -> bool {
        matches!(self, Self::Records { .. } | Self::Packed { .. })
    }

    pub(crate) fn packing(&self) -> Option<Packing> {
        match self {
            Self::Packed { packing, .. } => Some(*packing),
            _ => None,
        }
    }
}

/// The form of records according to metadata, without regard to the header.
pub(super) fn form_of(metadata: &Metadata) -> Checked<Form> {
    let header = Header {
        varlen: true,
        ..Header::new(FormatVersion::V3)
    };
    Form::of(&header, Some(metadata))
}

pub(super) fn is_array(metadata: &Metadata) -> bool {
    !matches!(NumpyArray::of(metadata), Ok(None))
}
