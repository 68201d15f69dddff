//! Determines the [`MemberKind`] of damaged members.
//!
//! Header and metadata decide if they can be trusted. If they are lost, the chunks decide: packed chunks have a head that
//! content does not have by accident, and chunks of one content all have the same length except for the last. Unpacked records
//! of equal lengths cannot be distinguished from content then, and are treated as content.

use super::kind::{Links, MemberKind, are_packed, form_of, is_array};
use super::member::FoundMember;
use super::probe::Probe;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, Form, FormatError, Metadata, Packing};

/// Determines the kind of every member, and the number of chunks of members with records.
///
/// # Errors
/// Returns any error of the source.
pub(super) fn find<S: ReadAt>(probe: &mut Probe<'_, S>, members: &mut [FoundMember]) -> Result<()> {
    for member in members {
        member.kind = kind_of(probe, member)?;
        // In V3, the metadata has a digest and the header has none. If they contradict each other, the chunks decide.
        if let MemberKind::Records { count: Some(count) } = member.kind
            && member.count != Some(member.known)
        {
            member.count = Some(count);
        }
    }
    Ok(())
}

/// The kind of a member, by its header if that is consistent with the rest, and otherwise by metadata and chunks.
fn kind_of<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<MemberKind> {
    let Some(header) = &member.header else {
        return without_header(probe, member);
    };
    let is_doubtful = !member.damages.is_empty() || member.begins_badly();
    if !header.varlen && !member.varies {
        // The bit for records in the header may be flipped.
        let is_contradicted = Form::of(header, member.metadata.as_ref()).is_err();
        return if is_contradicted || (is_doubtful && header.chunk_size != member.usual) {
            by_chunks(probe, member)
        } else {
            Ok(MemberKind::Content)
        };
    }
    let may_be = header.varlen || is_doubtful;
    if let Some(metadata) = &member.metadata {
        let kind = declared(probe, member, metadata)?;
        let is_other = matches!(kind, MemberKind::Records { count } if count != header.nchunks);
        return Ok(if may_be || !is_other {
            kind
        } else {
            MemberKind::Content
        });
    }
    if is_doubtful && are_packed(probe, member.sound_chunks())? {
        return packed(probe, member);
    }
    if let Some(metadata) = &member.hint
        && !matches!(form_of(metadata), Ok(Form::Records { .. }))
    {
        let what = "the metadata, which is damaged, describes packed records, but the chunks are not packed that way";
        let what = what.to_owned();
        return Ok(MemberKind::Unknown(FormatError::Unsupported { what }));
    }
    Ok(if may_be {
        MemberKind::Records { count: None }
    } else {
        MemberKind::Content
    })
}

/// The kind that the chunks alone suggest.
fn by_chunks<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<MemberKind> {
    if are_packed(probe, member.sound_chunks())? {
        return match &member.metadata {
            Some(metadata) if matches!(form_of(metadata), Ok(Form::Packed { .. })) => {
                declared(probe, member, metadata)
            }
            _ => packed(probe, member),
        };
    }
    // Without a digest, the chunks may be bytes that decode by accident, with any lengths.
    let has_digests = member.by() != Checksum::None;
    Ok(if has_digests && member.is_ragged() {
        MemberKind::Records { count: None }
    } else {
        MemberKind::Content
    })
}

/// The kind of a member with a lost header. Packed chunks, chunks of different lengths, or a count in the metadata that equals
/// the number of chunks make it a member of records.
fn without_header<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<MemberKind> {
    let kind = by_chunks(probe, member)?;
    if kind.packing().is_some() {
        return Ok(kind);
    }
    let vouched = member.metadata.as_ref();
    let metadata = vouched.or(member.hint.as_ref());
    let form = metadata.filter(|metadata| !is_array(metadata)).map(form_of);
    let count = form.and_then(|form| form.ok()?.count());
    let chunks = member.count.unwrap_or(member.known);
    let is_counted = chunks > 1 && count == Some(chunks);
    Ok(if is_counted || kind.has_records() {
        MemberKind::Records {
            count: vouched.and(count),
        }
    } else {
        MemberKind::Content
    })
}

/// The kind according to undamaged metadata.
fn declared<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    member: &FoundMember,
    metadata: &Metadata,
) -> Result<MemberKind> {
    Ok(match form_of(metadata) {
        Ok(Form::Packed { packing, count }) => MemberKind::Packed {
            packing,
            links: Links::read(probe, member.sound_chunks(), packing, count)?,
            count,
        },
        Ok(form) => MemberKind::Records {
            count: form.count(),
        },
        Err(error) => MemberKind::Unknown(error),
    })
}

/// Packed records without trustworthy metadata: the packing follows from the chunks.
fn packed<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<MemberKind> {
    let Some(any) = Packing::new(Packing::MAX_CHUNK_SIZE) else {
        return Ok(MemberKind::Records { count: None });
    };
    let links = Links::read(probe, member.sound_chunks(), any, None)?;
    let hint = match member.hint.as_ref().map(form_of) {
        Some(Ok(Form::Packed { packing, .. })) => Some(packing),
        _ => None,
    };
    let fits = |packing: &Packing| packing.chunk_size() >= links.largest();
    Ok(MemberKind::Packed {
        packing: hint.filter(fits).or(links.packing()).unwrap_or(any),
        links,
        count: None,
    })
}
