//! [`MemberKind`]: whether the chunks of a member contain parts of one content, one record each, or packed records; and
//! [`Links`]: the heads of packed chunks.

use super::Checked;
use super::probe::{Probe, SoundChunk};
use super::table::longest_series;
use bloscpack_error::Result;
use bloscpack_error::checked::in_memory;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, PackHead, Packing,
    internal::PACK_HEAD_LEN,
};

/// The most chunks that are examined to decide whether all are packed.
const SAMPLE: usize = 8;

/// The kind of a member: the form of its chunks.
#[derive(Debug, Default)]
pub(crate) enum MemberKind {
    #[default]
    Content,
    /// Records in an unknown form.
    Unknown(FormatError),
    Records {
        /// The number of records according to the metadata.
        count: Option<u64>,
    },
    Packed {
        packing: Packing,
        links: Links,
        /// The number of records according to undamaged metadata.
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

/// The form of records according to metadata alone.
pub(super) fn form_of(metadata: &Metadata) -> Checked<Form> {
    let header = Header {
        varlen: true,
        ..Header::new(FormatVersion::V3)
    };
    Form::of(&header, Some(metadata))
}

/// Whether metadata describes a NumPy array, also in a form that is not understood.
pub(super) fn is_array(metadata: &Metadata) -> bool {
    !matches!(NumpyArray::of(metadata), Ok(None))
}

/// A chunk, and the numbers of its records according to its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub at: u64,
    pub nbytes: u32,
    pub head: PackHead,
}

/// The largest set of links whose records ascend, in order.
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

    /// The longest series of links in which the records ascend.
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

    /// Uncompressed bytes of the largest chunk with more than one record.
    pub(super) fn largest(&self) -> u32 {
        let several = self.0.iter().filter(|link| link.head.count > 1);
        several.map(|link| link.nbytes).max().unwrap_or(0)
    }

    /// The likely packing: chunk sizes are usually powers of two.
    pub(super) fn packing(&self) -> Option<Packing> {
        Packing::new(self.largest().next_power_of_two().max(64))
    }
}

/// Whether most of the first few sound chunks are packed. A chunk of content does not look packed by accident.
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

/// The head of a packed chunk; `None` if the chunk has no plausible one.
fn head_of<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    found: SoundChunk,
    packing: Packing,
) -> Result<Option<PackHead>> {
    let begin = probe.beginning(found, PACK_HEAD_LEN)?;
    Ok(begin.and_then(|begin| PackHead::decode(&begin, found.nbytes, packing).ok()))
}

/// Whether the lengths of the records add up to the length of the chunk.
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
