//! [`FoundMember`]: a member, with the chunks and damages that a scan has found.

use super::head::{Head, PartDamage};
use super::kind::{MemberKind, form_of, is_array};
use super::probe::SoundChunk;
use super::span::{Gap, Span};
use super::table::Table;
use bloscpack_error::checked::to_u64;
use bloscpack_wire::{
    Checksum, Form, FormatVersion, Header, Metadata, Section, internal::CHUNK_HEADER_LEN,
};
use std::ops::Range;

/// If the header is lost, the length of all chunks is assumed after this number of equal ones.
const LIKE_SIZES: u64 = 3;

/// A member as far as a scan has found it.
#[derive(Debug, Default)]
pub(crate) struct FoundMember {
    pub at: u64,
    /// `None` if it is lost.
    pub header: Option<Header>,
    /// The checksum by which chunks are sound, once it is known.
    pub checksum: Option<Checksum>,
    pub metadata: Option<Metadata>,
    /// Readable metadata that no digest or seal confirms.
    pub hint: Option<Metadata>,
    /// According to the readable part of the head, chunks have no common size, as in a member of records.
    pub varies: bool,
    /// The form of its chunks, according to all findings.
    pub kind: MemberKind,
    pub table: Table,
    /// The number of chunks according to the header or, if it is lost, to the table.
    pub count: Option<u64>,
    pub is_unfilled: bool,
    pub is_changing: bool,
    /// Where chunks begin according to the head, or the first position at which they could begin.
    pub first_at: u64,
    /// The most uncompressed bytes of a chunk that is found by searching.
    pub chunk_size: Option<u32>,
    pub spans: Vec<Span>,
    pub damages: Vec<PartDamage>,
    /// Its end mark was found.
    pub is_ended: bool,
    /// Trailing bytes after it.
    pub trailing: Option<Range<u64>>,
    /// Number of chunks so far: sound ones, and damaged ones of known extent.
    pub known: u64,
    /// Number of sound chunks so far.
    pub sound: u64,
    /// Uncompressed bytes of the first sound chunk.
    pub usual: Option<u32>,
    /// A chunk shorter than the others was found.
    short: bool,
    size_is_claimed: bool,
}

impl FoundMember {
    /// A member whose header is lost.
    pub(super) fn lost(at: u64) -> Self {
        Self {
            at,
            first_at: at,
            ..Self::default()
        }
    }

    /// A member by its head. With `trusted`, the checksum in the header is used; with `leads`, the head leads to a chunk, and
    /// the sizes in the header are used as well.
    pub(super) fn of(head: Head, first_at: u64, trusted: bool, leads: bool) -> Self {
        let header = &head.header;
        // A checksum of "none" may be a flipped bit: the first chunk decides.
        let is_sure = header.checksum != Checksum::None
            || matches!(header.version, FormatVersion::V0 | FormatVersion::V1);
        // A single chunk of Bloscpack 0.2 has a chunk size of 0.
        let sizes = [header.chunk_size, header.last_chunk];
        let chunk_size = sizes.into_iter().flatten().max().filter(|size| *size > 0);
        let chunk_size = chunk_size.filter(|_| leads && header.chunk_size.is_some());
        let varies = has_no_size(header);
        Self {
            checksum: Some(header.checksum).filter(|_| trusted && is_sure),
            metadata: head.metadata,
            hint: head.hint,
            varies,
            count: header.nchunks.filter(|count| leads || *count > 0),
            is_unfilled: head.is_unfilled,
            is_changing: head.is_changing,
            table: head.table,
            damages: head.damages,
            chunk_size,
            size_is_claimed: varies || chunk_size.is_some(),
            header: Some(head.header),
            first_at,
            ..Self::lost(head.at)
        }
    }

    /// The number of its last chunk, if chunks are counted.
    pub(super) fn last_number(&self) -> Option<u64> {
        self.count?.checked_sub(1)
    }

    /// Whether all of its chunks were found.
    pub(super) fn is_complete(&self) -> bool {
        self.is_ended || self.count.is_some_and(|count| self.known >= count)
    }

    /// The checksum by which its chunks are sound.
    pub(super) fn by(&self) -> Checksum {
        self.checksum.unwrap_or(Checksum::None)
    }

    /// Whether this part of its head is damaged.
    pub(super) fn is_damaged(&self, section: Section) -> bool {
        self.damages.iter().any(|damage| damage.section == section)
    }

    /// Bytes of the shortest possible chunk, with its digest.
    pub(super) fn least(&self) -> u64 {
        CHUNK_HEADER_LEN + to_u64(self.by().digest_len())
    }

    /// Whether a chunk of this length may be among the others, as a full one or as the last.
    pub(super) fn has_size(&self, nbytes: u32) -> bool {
        let last = self.header.as_ref().and_then(|header| header.last_chunk);
        self.chunk_size.is_none_or(|size| size == nbytes) || last == Some(nbytes)
    }

    /// Adds a sound chunk. Its digest confirms facts that overrule the header.
    pub(super) fn push(&mut self, found: SoundChunk) {
        self.checksum = Some(found.by);
        self.usual.get_or_insert(found.nbytes);
        // Without a header, chunks of one length may also be records.
        let least = if self.header.is_some() { 1 } else { LIKE_SIZES };
        let is_shorter = self.chunk_size.is_some_and(|size| found.nbytes < size);
        let is_longer = self.chunk_size.is_some_and(|size| found.nbytes > size);
        if is_longer || (self.short && self.sound > 0) {
            // Chunks have no common size, or another one than in the header.
            (self.chunk_size, self.size_is_claimed) = (None, true);
        } else if !self.size_is_claimed && self.sound >= least && self.usual == Some(found.nbytes) {
            (self.chunk_size, self.size_is_claimed) = (Some(found.nbytes), true);
        }
        self.short |= is_shorter;
        (self.known, self.sound) = (self.known + 1, self.sound + 1);
        self.spans.push(Span::Chunk(found));
    }

    /// Adds a gap, or extends the last one if both have an unknown number of chunks and are adjacent.
    pub(super) fn push_gap(&mut self, gap: Gap) {
        if let Some(Span::Gap(before)) = self.spans.last_mut()
            && before.chunks.is_none()
            && gap.chunks.is_none()
            && before.bytes.end == gap.bytes.start
        {
            before.bytes.end = gap.bytes.end;
            return;
        }
        // A gap of an unknown number of chunks counts as none.
        self.known += gap.chunks.unwrap_or(0);
        self.spans.push(Span::Gap(Box::new(gap)));
    }

    /// Removes the chunks before an end mark, back to the damage after which they were found, if the member counts its chunks:
    /// then the mark and these chunks are data of a damaged chunk. Returns false if there is no such damage or no count.
    pub(super) fn forget_inner(&mut self, end: u64) -> bool {
        let is_counted = self.header.is_some() && self.count.is_some();
        let first = self.spans.iter().rposition(Span::is_open);
        let Some(first) = first.filter(|_| is_counted) else {
            return false;
        };
        for span in self.spans.drain(first + 1..) {
            self.known -= span.chunks().unwrap_or(0);
            self.sound -= u64::from(span.chunk().is_some());
        }
        if let Some(Span::Gap(gap)) = self.spans.last_mut() {
            gap.bytes.end = end;
        }
        true
    }

    /// Whether it has no chunks, and should have none.
    pub(crate) fn is_sound_and_empty(&self) -> bool {
        let is_whole = self.header.is_some() && self.spans.is_empty();
        is_whole && (self.is_ended || self.count == Some(0))
    }

    /// Treats it as a sound member without chunks.
    pub(crate) fn empty(&mut self) {
        self.spans.clear();
        self.damages.clear();
        self.trailing = None;
        self.count = Some(0);
    }

    /// If the metadata after a lost header describes records, expects chunks without a common size.
    pub(super) fn look_for_records(&mut self) {
        let metadata = self.metadata.as_ref().or(self.hint.as_ref());
        let form = metadata.filter(|metadata| !is_array(metadata)).map(form_of);
        if let Some(Ok(Form::Packed { .. } | Form::Records { count: Some(_) })) = form {
            (self.varies, self.size_is_claimed) = (true, true);
        }
    }

    /// Whether there is damage where its first chunk should be.
    pub(super) fn begins_badly(&self) -> bool {
        matches!(self.spans.first(), Some(Span::Gap(_)))
    }

    pub(crate) fn sound_chunks(&self) -> impl Iterator<Item = SoundChunk> + '_ {
        self.spans.iter().filter_map(Span::chunk)
    }

    /// Whether, in a run of consecutive chunks, a chunk except the last has another length than the first, or the last is
    /// longer. This does not occur in one content.
    pub(super) fn is_ragged(&self) -> bool {
        let mut size = None;
        let mut was_short = false;
        for span in &self.spans {
            let Span::Chunk(found) = span else {
                (size, was_short) = (None, false);
                continue;
            };
            let size = *size.get_or_insert(found.nbytes);
            if was_short || found.nbytes > size {
                return true;
            }
            was_short = found.nbytes < size;
        }
        false
    }

    /// The checksum id in its header, if its chunks are sound by another checksum.
    pub(super) fn wrong_checksum_id(&self) -> Option<u8> {
        let named = self.header.as_ref()?.checksum;
        let found = self.checksum.filter(|_| self.sound > 0)?;
        (found != named).then(|| named.id())
    }

    /// The checksum of its chunks, if its layout has a field for one. With a lost header, "none" may be a layout without it.
    pub(crate) fn own_checksum(&self) -> Option<Checksum> {
        self.checksum.filter(|checksum| match &self.header {
            Some(header) => !matches!(header.version, FormatVersion::V0 | FormatVersion::V1),
            None => *checksum != Checksum::None,
        })
    }

    /// The likely length of its chunks except the last, if it has any.
    pub(crate) fn likely_size(&self) -> Option<u32> {
        let claimed = self.header.as_ref().and_then(|header| header.chunk_size);
        let claimed = claimed.filter(|size| self.chunk_size == Some(*size));
        let largest = || self.sound_chunks().map(|found| found.nbytes).max();
        claimed.or_else(largest).filter(|size| *size > 0)
    }

    /// Whether trailing bytes are allowed, as an append by the reference implementation leaves them.
    pub(super) fn tolerates_trailing(&self) -> bool {
        self.header.as_ref().is_some_and(|header| {
            header.version == FormatVersion::V3
                && (header.offsets || header.checksum == Checksum::None)
        })
    }

    /// Whether there may be spare space between chunks.
    pub(super) fn allows_spare(&self) -> bool {
        let header = self.header.as_ref();
        header.is_some_and(|header| header.version == FormatVersion::V2 && header.offsets)
    }
}

/// Whether a header counts chunks but contains no size for them.
fn has_no_size(header: &Header) -> bool {
    let has_fields = matches!(header.version, FormatVersion::V2 | FormatVersion::V3);
    let is_counted = header.nchunks.is_some_and(|count| count > 0);
    let has_none = header.chunk_size.is_none() && header.last_chunk.is_none();
    header.varlen || (has_fields && is_counted && has_none)
}
