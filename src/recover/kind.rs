//! What the chunks of a damaged member hold: pieces of one content, a record each, or many.
//!
//! Header and metadata tell, where they can be believed. Where they are lost, the chunks tell:
//! packed ones have a head that nothing else looks like, and chunks of one content are all of one
//! length but for the last. Records of one length, one to a chunk, look like content without their
//! header and metadata, and are taken for it.

use super::head::Flaw;
use super::links::{Links, are_packed};
use super::member::Member;
use super::probe::Probe;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    Checksum, Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, Packing, Section,
};

/// What the chunks of a member hold.
#[derive(Debug)]
pub(super) enum Kind {
    Content,
    /// Records in a way that is not known.
    Unknown(FormatError),
    Records,
    Packed {
        packing: Packing,
        links: Links,
        count: Option<u64>,
    },
}

impl Kind {
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

/// What is known before all chunks are looked at.
enum Told {
    Content,
    Unknown(FormatError),
    Records {
        count: Option<u64>,
    },
    /// Nothing vouches for the packing, if it is told.
    Packed {
        hint: Option<Packing>,
    },
    /// By metadata that can be believed.
    Declared {
        packing: Packing,
        count: Option<u64>,
    },
}

/// Finds out what all members hold, and lets members of records count them.
///
/// # Errors
/// Those of the source.
pub(super) fn kinds<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    members: &mut [Member],
) -> Result<Vec<Kind>> {
    let mut all = Vec::new();
    for member in members.iter() {
        all.push(told(probe, member)?);
    }
    let is_of_records = |(member, told): (&Member, &Told)| {
        member.header.is_some() && !matches!(told, Told::Content | Told::Unknown(_))
    };
    let has_records = members.iter().zip(&all).any(is_of_records);
    let mut kinds = Vec::new();
    for (member, told) in members.iter_mut().zip(all) {
        let is_like_others = has_records && member.header.is_none();
        let kind = match told {
            Told::Unknown(error) => Kind::Unknown(error),
            Told::Content if is_like_others => Kind::Records,
            Told::Content => Kind::Content,
            Told::Records { count } => {
                settle_count(member, count);
                Kind::Records
            }
            Told::Packed { hint } => packed(probe, member, hint)?,
            Told::Declared { packing, count } => Kind::Packed {
                packing,
                links: Links::read(probe, member, packing, count)?,
                count,
            },
        };
        member.has_records = kind.has_records();
        if kind.has_records() {
            note_flipped_bit(member);
        }
        kinds.push(kind);
    }
    Ok(kinds)
}

/// The header says nothing of records where there are some.
fn note_flipped_bit(member: &mut Member) {
    if member.header.as_ref().is_some_and(|header| !header.varlen) {
        member.flaws.push(Flaw {
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

/// The header has no digest in V3, but metadata does; where they contradict each other, what is
/// there decides.
fn settle_count(member: &mut Member, count: Option<u64>) {
    let is_by_header = member.count == Some(member.known);
    if let Some(count) = count.filter(|_| !is_by_header) {
        member.count = Some(count);
    }
    if let (Some(header), Some(metadata)) = (&member.header, &member.metadata)
        && let Err(error) = Form::of(header, Some(metadata))
    {
        member.flaws.push(Flaw {
            bytes: member.at..member.first_at,
            section: Section::Metadata,
            error,
        });
    }
}

fn packed<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    member: &Member,
    hint: Option<Packing>,
) -> Result<Kind> {
    let Some(any) = Packing::new(Packing::MAX_CHUNK_SIZE) else {
        return Ok(Kind::Records);
    };
    let links = Links::read(probe, member, any, None)?;
    let fits = |packing: &Packing| packing.chunk_size() >= links.largest();
    Ok(Kind::Packed {
        packing: hint.filter(fits).or(links.packing()).unwrap_or(any),
        links,
        count: None,
    })
}

fn told<S: ReadAt>(probe: &mut Probe<'_, S>, member: &Member) -> Result<Told> {
    let Some(header) = &member.header else {
        return without_header(probe, member);
    };
    let is_doubtful = !member.flaws.is_empty() || member.begins_badly();
    if !header.varlen && !member.varies {
        return match Form::of(header, member.metadata.as_ref()) {
            // The bit for records was flipped.
            Err(_) if are_packed(probe, member)? => Ok(by_metadata(member.metadata.as_ref())),
            _ if is_doubtful && header.chunk_size != member.usual => by_chunks(probe, member),
            _ => Ok(Told::Content),
        };
    }
    if let Some(metadata) = &member.metadata {
        let told = by_metadata(Some(metadata));
        let is_named = match &told {
            Told::Records { count } => *count == header.nchunks,
            _ => true,
        };
        let is_one = header.varlen || is_doubtful || is_named;
        return Ok(if is_one { told } else { Told::Content });
    }
    if is_doubtful && are_packed(probe, member)? {
        let hint = hint(member);
        return Ok(Told::Packed { hint });
    }
    if let Some(metadata) = &member.hint
        && !matches!(by_metadata(Some(metadata)), Told::Records { .. })
    {
        let what = "the metadata, which is damaged, tells of packed records, but the chunks are not packed as it says";
        let what = what.to_owned();
        return Ok(Told::Unknown(FormatError::Unsupported { what }));
    }
    Ok(if header.varlen || is_doubtful {
        Told::Records { count: None }
    } else {
        Told::Content
    })
}

/// What the chunks alone tell.
fn by_chunks<S: ReadAt>(probe: &mut Probe<'_, S>, member: &Member) -> Result<Told> {
    if are_packed(probe, member)? {
        return Ok(match by_metadata(member.metadata.as_ref()) {
            told @ Told::Declared { .. } => told,
            _ => Told::Packed { hint: hint(member) },
        });
    }
    // Without a digest, what decodes by accident is of any length.
    let has_digests = member.checksum.is_some_and(|kind| kind != Checksum::None);
    Ok(if has_digests && member.is_ragged() {
        Told::Records { count: None }
    } else {
        Told::Content
    })
}

fn without_header<S: ReadAt>(probe: &mut Probe<'_, S>, member: &Member) -> Result<Told> {
    let told = by_chunks(probe, member)?;
    if matches!(told, Told::Packed { .. } | Told::Declared { .. }) {
        return Ok(told);
    }
    let vouched = member.metadata.as_ref();
    let metadata = vouched.or(member.hint.as_ref());
    let count = match metadata.map(|metadata| by_metadata(Some(metadata))) {
        Some(Told::Records { count }) => count,
        _ => None,
    };
    let is_array = metadata.is_some_and(|metadata| !matches!(NumpyArray::of(metadata), Ok(None)));
    let chunks = member.count.unwrap_or(member.known);
    let is_counted = !is_array && chunks > 1 && count == Some(chunks);
    Ok(if is_counted || matches!(told, Told::Records { .. }) {
        let count = vouched.and(count);
        Told::Records { count }
    } else {
        Told::Content
    })
}

/// What metadata says of records, whatever the header counts.
fn by_metadata(metadata: Option<&Metadata>) -> Told {
    let header = Header {
        varlen: true,
        ..Header::new(FormatVersion::V3)
    };
    match Form::of(&header, metadata) {
        Ok(Form::Packed { packing, count }) => Told::Declared { packing, count },
        Ok(form) => Told::Records {
            count: form.count(),
        },
        Err(error) => Told::Unknown(error),
    }
}

/// The packing by metadata that nothing vouches for.
fn hint(member: &Member) -> Option<Packing> {
    match by_metadata(member.hint.as_ref()) {
        Told::Declared { packing, .. } => Some(packing),
        _ => None,
    }
}
