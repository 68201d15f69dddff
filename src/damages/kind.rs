//! [`MemberKind`]: whether the chunks of a damaged member hold parts of one content, one record each, or many.
//!
//! Header and metadata decide if they can be trusted. If they are lost, the chunks decide: packed ones have a head that cannot
//! be mistaken, and chunks of one content all have the same length except for the last. Records of one length, one to a chunk,
//! look like content without their header and metadata, and are treated as content.

use super::Checked;
use super::member::FoundMember;
use super::probe::{Probe, SoundChunk};
use super::table::longest_series;
use bloscpack_error::Result;
use bloscpack_error::checked::in_memory;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    Checksum, Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, PackHead, Packing,
    internal::PACK_HEAD_LEN,
};

/// The most chunks that are looked at to find out whether all are packed.
const SAMPLE: usize = 8;

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

/// Finds out the kind of every member, and counts the records of members that hold records.
///
/// # Errors
/// Returns any error of the source.
pub(super) fn find<S: ReadAt>(probe: &mut Probe<'_, S>, members: &mut [FoundMember]) -> Result<()> {
    for member in members {
        member.kind = kind_of(probe, member)?;
        // The header has no digest in V3, but metadata does. If they contradict each other, the chunks decide.
        if let MemberKind::Records { count: Some(count) } = member.kind
            && member.count != Some(member.known)
        {
            member.count = Some(count);
        }
    }
    Ok(())
}

fn kind_of<S: ReadAt>(probe: &mut Probe<'_, S>, member: &FoundMember) -> Result<MemberKind> {
    let Some(header) = &member.header else {
        return without_header(probe, member);
    };
    let is_doubtful = !member.damages.is_empty() || member.begins_badly();
    if !header.varlen && !member.varies {
        // The bit for records may have been flipped.
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
    // Without a digest, bytes that decode by accident have any length.
    let has_digests = member.by() != Checksum::None;
    Ok(if has_digests && member.is_ragged() {
        MemberKind::Records { count: None }
    } else {
        MemberKind::Content
    })
}

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

/// The kind by metadata that can be believed.
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

/// Packed records, of which nothing vouches for the packing.
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

/// A chunk, and the numbers of its records according to its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub at: u64,
    pub nbytes: u32,
    pub head: PackHead,
}

/// The links whose records ascend, in order.
#[derive(Debug, Default)]
pub(crate) struct Links(Vec<Link>);

impl Links {
    /// Reads the heads of all sound chunks; no record may have a number of `count` or above.
    pub(super) fn read<S: ReadAt>(
        probe: &mut Probe<'_, S>,
        chunks: impl Iterator<Item = SoundChunk>,
        packing: Packing,
        count: Option<u64>,
    ) -> Result<Self> {
        let mut links = Vec::new();
        for found in chunks {
            let head = head_of(probe, found, packing)?;
            let is_counted = |head: &PackHead| count.is_none_or(|count| head.end() <= count);
            links.extend(head.filter(is_counted).map(|head| Link {
                at: found.at,
                nbytes: found.nbytes,
                head,
            }));
        }
        Ok(Self(Self::row(links)))
    }

    /// The longest row of links in which no record occurs twice.
    fn row(links: Vec<Link>) -> Vec<Link> {
        longest_series(links, |link| link.head.first..link.head.end())
    }

    /// The head of the chunk that begins here.
    pub(super) fn head_at(&self, at: u64) -> Option<PackHead> {
        let index = self.0.binary_search_by_key(&at, |link| link.at).ok()?;
        Some(self.0.get(index)?.head)
    }

    /// The first record of the next chunk after `at`.
    pub(super) fn first_after(&self, at: u64) -> Option<u64> {
        let next = self.0.partition_point(|link| link.at <= at);
        Some(self.0.get(next)?.head.first)
    }

    /// Bytes of the largest chunk with more than one record.
    pub(super) fn largest(&self) -> u32 {
        let several = self.0.iter().filter(|link| link.head.count > 1);
        several.map(|link| link.nbytes).max().unwrap_or(0)
    }

    /// The likely packing into such chunks: their sizes are usually powers of two.
    pub(super) fn packing(&self) -> Option<Packing> {
        Packing::new(self.largest().next_power_of_two().max(64))
    }
}

/// Whether most of a member's sound chunks are packed, judging by the first few. A chunk cannot look packed by accident.
pub(super) fn are_packed<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    chunks: impl Iterator<Item = SoundChunk>,
) -> Result<bool> {
    let Some(packing) = Packing::new(Packing::MAX_CHUNK_SIZE) else {
        return Ok(false);
    };
    let (mut looked, mut packed) = (0usize, 0usize);
    for found in chunks.take(SAMPLE) {
        looked += 1;
        let is_packed = match head_of(probe, found, packing)? {
            Some(head) => adds_up(probe, found, head)?,
            None => false,
        };
        packed += usize::from(is_packed);
    }
    Ok(packed * 2 > looked)
}

fn head_of<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    found: SoundChunk,
    packing: Packing,
) -> Result<Option<PackHead>> {
    let begin = probe.beginning(found, PACK_HEAD_LEN)?;
    Ok(begin.and_then(|begin| PackHead::decode(&begin, found.nbytes, packing).ok()))
}

/// Whether the lengths of the records are those of the chunk.
fn adds_up<S: ReadAt>(probe: &mut Probe<'_, S>, found: SoundChunk, head: PackHead) -> Result<bool> {
    let begin = probe.beginning(found, in_memory(head.values_at())?)?;
    Ok(begin.is_some_and(|begin| head.check_lengths(&begin, found.nbytes).is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(at: u64, first: u64, count: u32) -> Link {
        let mut content = first.to_le_bytes().to_vec();
        content.extend(count.to_le_bytes());
        content.extend([1, 0, 0, 0]);
        let packing = Packing::new(1 << 24).unwrap();
        let head = PackHead::decode(&content, 1 << 24, packing).unwrap();
        let nbytes = 100;
        Link { at, nbytes, head }
    }

    #[test]
    fn what_contradicts_the_most_is_left_out() {
        type Case = (&'static [(u64, u32)], &'static [u64]);
        let rows: [Case; 5] = [
            (&[(0, 5), (5, 5), (10, 1)], &[0, 5, 10]),
            (&[(0, 5), (900, 5), (5, 5), (10, 1)], &[0, 5, 10]),
            (&[(0, 5), (5, 900), (10, 1), (11, 3)], &[0, 10, 11]),
            (&[(7, 5), (0, 7), (7, 5), (6, 3)], &[0, 7]),
            (&[(30, 1), (20, 1)], &[20]),
        ];
        for (links, expected) in rows {
            let links = (0..)
                .zip(links)
                .map(|(at, (first, count))| link(at, *first, *count));
            let row = Links::row(links.collect());
            let firsts: Vec<_> = row.iter().map(|link| link.head.first).collect();
            assert_eq!(firsts, expected);
            assert!(row.is_sorted_by(|one, next| one.at < next.at));
        }
    }
}
