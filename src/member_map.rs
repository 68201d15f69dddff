//! [`MemberHead`]: the parts before the table and the chunks of the first member.

use crate::walk::Walk;
use bloscpack_error::Result;
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{Event, Header, Limits, Metadata, MetadataHeader, MetadataPlace};

/// Header and metadata of the first member.
pub(crate) struct MemberHead {
    pub header: Header,
    pub metadata: Option<Metadata>,
    /// The header of the metadata, in V3.
    pub section: Option<MetadataHeader>,
    /// Bytes of the metadata in the file.
    pub metadata_len: u64,
}

/// Reads the head of the first member, if there is a member.
pub(crate) fn head<S: ReadAt>(source: &S, limits: &Limits) -> Result<Option<MemberHead>> {
    let mut head: Option<MemberHead> = None;
    let mut walk = Walk::of_file(Cursor::new(source), limits)?;
    walk.run_until(|event, _| match (event, &mut head) {
        (Event::Header(header), _) => {
            let raw = match header.metadata {
                MetadataPlace::Raw { len, .. } => len.into(),
                _ => 0,
            };
            let is_all = header.metadata == MetadataPlace::Absent;
            head = Some(MemberHead {
                header,
                metadata: None,
                section: None,
                metadata_len: raw,
            });
            is_all
        }
        (Event::Metadata(metadata, section), Some(head)) => {
            head.metadata = Some(metadata);
            if let Some(section) = section {
                head.metadata_len = section.section_len();
                head.section = Some(section);
            }
            true
        }
        _ => false,
    })?;
    Ok(head)
}
