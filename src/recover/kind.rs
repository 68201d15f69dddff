//! [`MemberKind`]: whether the chunks of a damaged member hold parts of one content, one record each, or many.
//!
//! Header and metadata decide if they can be believed. If they are lost, the chunks decide: packed ones have a head that cannot
//! be mistaken, and chunks of one content all have the same length except for the last. Records of one length, one to a chunk,
//! look like content without their header and metadata, and are treated as content.

use super::head::PartDamage;
use super::links::{Links, are_packed};
use super::member::FoundMember;
use super::probe::Probe;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    Checksum, Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, Packing, Section,
};

/// The kind of a member: the form of its chunks.
#[derive(Debug, Default)]
pub(super) enum MemberKind {
    #[default]
    Content,
    /// Records in an unknown form.
    Unknown(FormatError),
    Records,
    Packed {
        packing: Packing,
        links: Links,
        count: Option<u64>,
    },
}

impl MemberKind {
    pub(super) fn has_records(&self) -> bool {
        matches!(self, Self::Records | Self::Packed { .. })
    }

    pub(super) fn packing(&self) -> Option<Packing> {
        match self {
            Self::Packed { packing, .. } => Some(*packing),
            _ => None,
        }
    }
}

/// The facts that are known before all chunks are read.
enum Evidence {
    Content,
    Unknown(FormatError),
    Records {
        count: Option<u64>,
    },
    /// Nothing vouches for the packing, if there is one.
    Packed {
        hint: Option<Packing>,
    },
    /// By metadata that can be believed.
    Declared {
        packing: Packing,
        count: Option<u64>,
    },
}

/// Finds out the kind of every member, and counts the records of members that hold records.
///
/// # Errors
/// Returns any error of the source.
pub(super) fn find<S: ReadAt>(probe: &mut Probe<'_, S>, members: &mut [FoundMember]) -> Result<()> {
    let mut all = Vec::new();
    for member in members.iter() {
        all.push(evidence(probe, member)?);
    }
    for (member, evidence) in members.iter_mut().zip(all) {
        member.kind = match evidence {
            Evidence::Unknown(error) => MemberKind::Unknown(error),
            Evidence::Content => MemberKind::Content,
            Evidence::Records { count } => {
                settle_count(member, count);
                MemberKind::Records
            }
            Evidence::Packed { hint } => packed(probe, member, hint)?,
            Evidence::Declared { packing, count } => MemberKind::Packed {
                packing,
                links: Links::read(probe, member, packing, count)?,
                count,
            },
        };
        if member.kind.has_records() {
            note_flipped_bit(member);
        }
    }
    Ok(())
}

/// The header does not mention records although there are some.
fn note_flipped_bit(member: &mut FoundMember) {
    if member.header.as_ref().is_some_and(|header| !header.varlen) {
        member.damages.push(PartDamage {
            bytes: member.at..member.first_at,
            section: Section::Header,
            error: FormatError::Field {
                name: "option bit 2",
                found: 0,
                expected: "1, since the chunks hold records",
            },
        });
    }
}

/// The header has no digest in V3, but metadata does. If they contradict each other, the chunks decide.
fn settle_count(member: &mut FoundMember, count: Option<u64>) {
    let is_by_header = member.count == Some(member.known);
    if let Some(count) = count.filter(|_| !is_by_header) {
        member.count = Some(count);
    }
    if let (Some(header), Some(metadata)) = (&member.header, &member.metadata)
        && let Err(error) = Form::of(header, Some(metadata))
    {
        member.damages.push(PartDamage {
            bytes: member.at..member.first_at,
            section: Section::Metadata,
            error,
        });
    }
}

fn packed<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    member: &FoundMember,
    hint: Option<Packing>,
) -> Result<MemberKind> {
    let Some(any) = Packing::new(Packing::MAX_CHUNK_SIZE) else {
        return Ok(MemberKind::Records);
    };
    let links = Links::read(probe, member, any, None)?;
    let fits = |packing: &Packing| packing.chunk_size() >= links.largest();
    Ok(MemberKind::Packed {
        packing: hint.filter(fits).or(links.packing()).unwrap_or(any),
        links,
        count: None,
    })
}

fn evidence<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<Evidence> {
    let Some(header) = &member.header else {
        return without_header(probe, member);
    };
    let is_doubtful = !member.damages.is_empty() || member.begins_badly();
    if !header.varlen && !member.varies {
        return match Form::of(header, member.metadata.as_ref()) {
            // The bit for records was flipped.
            Err(_) if are_packed(probe, member)? => Ok(by_metadata(member.metadata.as_ref())),
            _ if is_doubtful && header.chunk_size != member.usual => by_chunks(probe, member),
            _ => Ok(Evidence::Content),
        };
    }
    if let Some(metadata) = &member.metadata {
        let evidence = by_metadata(Some(metadata));
        let is_named = match &evidence {
            Evidence::Records { count } => *count == header.nchunks,
            _ => true,
        };
        let is_one = header.varlen || is_doubtful || is_named;
        return Ok(if is_one { evidence } else { Evidence::Content });
    }
    if is_doubtful && are_packed(probe, member)? {
        let hint = hint(member);
        return Ok(Evidence::Packed { hint });
    }
    if let Some(metadata) = &member.hint
        && !matches!(by_metadata(Some(metadata)), Evidence::Records { .. })
    {
        let what = "the metadata, which is damaged, describes packed records, but the chunks are not packed that way";
        let what = what.to_owned();
        return Ok(Evidence::Unknown(FormatError::Unsupported { what }));
    }
    Ok(if header.varlen || is_doubtful {
        Evidence::Records { count: None }
    } else {
        Evidence::Content
    })
}

/// The kind that the chunks alone suggest.
fn by_chunks<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<Evidence> {
    if are_packed(probe, member)? {
        return Ok(match by_metadata(member.metadata.as_ref()) {
            evidence @ Evidence::Declared { .. } => evidence,
            _ => Evidence::Packed { hint: hint(member) },
        });
    }
    // Without a digest, bytes that decode by accident have any length.
    let has_digests = member.checksum.is_some_and(|kind| kind != Checksum::None);
    Ok(if has_digests && member.is_ragged() {
        Evidence::Records { count: None }
    } else {
        Evidence::Content
    })
}

fn without_header<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<Evidence> {
    let evidence = by_chunks(probe, member)?;
    if matches!(
        evidence,
        Evidence::Packed { .. } | Evidence::Declared { .. }
    ) {
        return Ok(evidence);
    }
    let vouched = member.metadata.as_ref();
    let metadata = vouched.or(member.hint.as_ref());
    let count = match metadata.map(|metadata| by_metadata(Some(metadata))) {
        Some(Evidence::Records { count }) => count,
        _ => None,
    };
    let is_array = metadata.is_some_and(|metadata| !matches!(NumpyArray::of(metadata), Ok(None)));
    let chunks = member.count.unwrap_or(member.known);
    let is_counted = !is_array && chunks > 1 && count == Some(chunks);
    Ok(
        if is_counted || matches!(evidence, Evidence::Records { .. }) {
            let count = vouched.and(count);
            Evidence::Records { count }
        } else {
            Evidence::Content
        },
    )
}

/// The form of records according to metadata, without regard to the count in the header.
fn by_metadata(metadata: Option<&Metadata>) -> Evidence {
    let header = Header {
        varlen: true,
        ..Header::new(FormatVersion::V3)
    };
    match Form::of(&header, metadata) {
        Ok(Form::Packed { packing, count }) => Evidence::Declared { packing, count },
        Ok(form) => Evidence::Records {
            count: form.count(),
        },
        Err(error) => Evidence::Unknown(error),
    }
}

/// The packing by metadata that nothing vouches for.
fn hint(member: &FoundMember) -> Option<Packing> {
    match by_metadata(member.hint.as_ref()) {
        Evidence::Declared { packing, .. } => Some(packing),
        _ => None,
    }
}
