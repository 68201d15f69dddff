//! [`Head`]: the parts before the chunks of a member (header, metadata, offset table), as far as they can be read.

use super::probe::{Probe, after};
use super::table::{Entry, Table};
use super::window::Part;
use super::{Checked, damage_of};
use crate::member_map::MemberMap;
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    FormatError, FormatVersion, Geometry, Header, Metadata, MetadataHeader, MetadataPlace, Section,
    internal::{ENTRY_LEN, MAGIC, METADATA_HEADER_LEN, Seal},
};
use serde_core::de::IgnoredAny;
use std::ops::Range;

/// Length of the longest header and of the bytes after it that distinguish two layouts.
const LOOK_LEN: usize = 40;
/// The most bytes between the beginning of a lost header and its metadata.
const MOST_HEAD: usize = 128;
/// The most bytes after a lost header that are searched for text.
const MOST_TEXT: usize = 64 << 10;
/// The number of table entries that are tried to confirm a header.
pub(super) const LEADING_ENTRIES: usize = 4;
/// The first byte of the magic while a change is in progress.
const CHANGING: u8 = b'!';

/// Damage to a part before the chunks.
#[derive(Debug)]
pub(crate) struct PartDamage {
    pub bytes: Range<u64>,
    pub section: Section,
    pub error: FormatError,
}

/// A readable header, and the parts to which it leads.
pub(super) struct Head {
    pub at: u64,
    pub header: Header,
    pub metadata: Option<Metadata>,
    /// Readable metadata that no digest or seal confirms.
    pub hint: Option<Metadata>,
    pub table: Table,
    /// All entries of the table are -1.
    pub is_unfilled: bool,
    /// Where the chunks begin, if header and metadata are sufficient to know.
    pub chunks_at: Option<u64>,
    /// The first position at which they can begin.
    pub earliest: u64,
    pub is_changing: bool,
    pub damages: Vec<PartDamage>,
}

impl Head {
    /// Reads the head of a member at this position; `whatever_magic` accepts any four bytes as the magic.
    pub(super) fn read<S: ReadAt>(
        probe: &mut Probe<'_, S>,
        at: u64,
        whatever_magic: bool,
    ) -> Result<Checked<Self>> {
        let mut bytes = probe.window.look(at, LOOK_LEN)?.to_vec();
        let is_changing = at == 0 && bytes.starts_with(&[CHANGING, b'l', b'p', b'k']);
        let found = bytes.get(..MAGIC.len()).unwrap_or(&bytes).to_vec();
        let is_other = found != MAGIC && (is_changing || whatever_magic);
        if let Some(magic) = bytes.first_chunk_mut().filter(|_| is_other) {
            *magic = MAGIC;
        }
        let decoded = Header::decode(&bytes);
        let header = match decoded.and_then(|header| Geometry::of(&header, 0).map(|_| header)) {
            Ok(header) => header,
            Err(error) => return Ok(Err(error)),
        };
        if !probe.allows(at) {
            return Ok(Err(FormatError::Trailing));
        }
        bytes.truncate(header.version.header_len());
        let mut head = Self {
            at,
            metadata: None,
            hint: None,
            table: Table::default(),
            is_unfilled: false,
            chunks_at: None,
            earliest: at + to_u64(bytes.len()),
            is_changing,
            damages: Vec::new(),
            header,
        };
        if is_other {
            let why = "its content may be partly old and partly new";
            let error = if is_changing {
                FormatError::Interrupted { why }
            } else {
                FormatError::Magic { found }
            };
            head.damage(at..at + 4, Section::Header, error);
        }
        head.read_metadata(probe, &bytes)?;
        head.read_table(probe)?;
        head.check_seal(probe, &bytes)?;
        Ok(Ok(head))
    }

    /// The positions at which the first chunks should begin.
    pub(super) fn leads_to(&self) -> impl Iterator<Item = u64> {
        let entries = self.table.places().take(LEADING_ENTRIES);
        self.chunks_at.into_iter().chain(entries)
    }

    pub(super) fn damage(&mut self, bytes: Range<u64>, section: Section, error: FormatError) {
        self.damages.push(PartDamage {
            bytes,
            section,
            error,
        });
    }

    /// Reads the metadata after the header `bytes`, and determines where the chunks begin.
    fn read_metadata<S: ReadAt>(&mut self, probe: &mut Probe<'_, S>, bytes: &[u8]) -> Result<()> {
        let len = match self.header.metadata {
            MetadataPlace::Absent => Some(0),
            MetadataPlace::Raw { len, .. } => Some(len.into()),
            MetadataPlace::Section => section_len(probe, self.earliest)?,
        };
        if self.header.metadata != MetadataPlace::Absent {
            let most = len_of(&(self.earliest..probe.size()));
            probe.spend(len.unwrap_or(0).min(most).min(probe.limits.metadata.into()));
            match metadata(probe, self.at, bytes)? {
                Ok(found) => self.metadata = Some(found),
                Err(error) => {
                    let bytes = self.earliest..after(self.earliest, len.unwrap_or(32));
                    self.damage(bytes, Section::Metadata, error);
                }
            }
        }
        let geometry = len.and_then(|len| Geometry::of(&self.header, len).ok());
        self.chunks_at = geometry.map(|geometry| after(self.at, geometry.chunks_at));
        if self.metadata.is_some() || self.header.metadata == MetadataPlace::Absent {
            self.earliest = after(self.earliest, len.unwrap_or(0));
        }
        Ok(())
    }

    /// Reads the counted entries of the table, as far as the source has bytes for them.
    fn read_table<S: ReadAt>(&mut self, probe: &mut Probe<'_, S>) -> Result<()> {
        let (Some(chunks_at), true) = (self.chunks_at, self.header.offsets) else {
            return Ok(());
        };
        let Some(len) = self.header.table_len() else {
            self.is_unfilled = true;
            self.chunks_at = Some(skip_unfilled(probe, chunks_at)?);
            return Ok(());
        };
        // The geometry of the header has room for all entries.
        let table_at = chunks_at - len * ENTRY_LEN;
        let counted = self.header.nchunks.unwrap_or(0);
        let most = counted
            .min(probe.limits.offsets / ENTRY_LEN)
            .min(len_of(&(table_at..probe.size())) / ENTRY_LEN);
        let table = table_at..table_at + most * ENTRY_LEN;
        probe.spend(len_of(&table));
        let words = words(probe, table.clone())?;
        self.is_unfilled = counted > 0 && words.iter().all(|word| *word == -1);
        let member_at = self.at;
        let entries = words.iter().zip(0..).filter_map(|(word, number)| {
            let at = member_at.checked_add(u64::try_from(*word).ok()?)?;
            Some(Entry { at, number })
        });
        self.table = Table::new(entries, &(self.earliest..probe.size()));
        let error = self.wrong_entry(&words, probe.size());
        if let Some(error) = error.filter(|_| !self.is_unfilled) {
            self.damage(table, Section::Offsets, error);
        }
        Ok(())
    }

    /// The first impossible entry.
    fn wrong_entry(&self, words: &[i64], size: u64) -> Option<FormatError> {
        let mut numbers = words.iter().zip(0..);
        let (found, entry) = numbers.find(|(word, number)| {
            // Saturates: an entry past all positions is past the end.
            let at = u64::try_from(**word).map(|offset| after(self.at, offset));
            // Chunks past the end were cut off, which other code reports.
            !at.is_ok_and(|at| at >= size || self.table.number_at(at) == Some(*number))
        })?;
        Some(FormatError::Offset {
            entry,
            found: i128::from(*found),
            expected: "between its neighbours and in the file".to_owned(),
        })
    }

    /// Checks the seal, which confirms metadata without a digest of its own.
    fn check_seal<S: ReadAt>(&mut self, probe: &mut Probe<'_, S>, bytes: &[u8]) -> Result<()> {
        let (Some(found), Some(chunks_at)) = (self.header.seal, self.chunks_at) else {
            return Ok(());
        };
        let from = self.at + to_u64(bytes.len());
        if chunks_at > probe.size() {
            self.hint = self.metadata.take();
            return Ok(());
        }
        probe.spend(len_of(&(from..chunks_at)));
        let mut seal = Seal::of_header(bytes);
        probe
            .window
            .each(from..chunks_at, |piece| seal.update(piece))?;
        if let Err(error) = seal.check(found) {
            self.hint = self.metadata.take();
            self.damage(self.at..chunks_at, Section::Header, error);
        }
        Ok(())
    }
}

/// Length of the metadata section at this position, if its header can be read.
fn section_len<S: ReadAt>(probe: &mut Probe<'_, S>, at: u64) -> Result<Option<u64>> {
    let bytes = probe.window.look(at, METADATA_HEADER_LEN)?;
    let header = bytes
        .first_chunk()
        .and_then(|bytes| MetadataHeader::decode(bytes).ok());
    Ok(header.map(|header| header.section_len()))
}

/// The metadata of the member at this position, whose header is `first`.
fn metadata<S: ReadAt>(probe: &Probe<'_, S>, at: u64, first: &[u8]) -> Result<Checked<Metadata>> {
    let source = probe.window.source();
    // `read_table` reads the table, as far as the source has bytes for it.
    let limits = probe.limits.offsets(u64::MAX);
    let found = first.len();
    match MemberMap::read(&Part { source, at, first }, &limits, &probe.hashers) {
        Ok(head) => {
            let metadata = head.and_then(|head| head.metadata);
            Ok(metadata.ok_or(FormatError::TornHeader { found }))
        }
        Err(error) => damage_of(error).map(Err),
    }
}

/// The metadata section of V3 after a lost header, and where it ends.
pub(super) fn metadata_after_lost<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    at: u64,
) -> Result<Option<(Metadata, u64)>> {
    let header = Header {
        metadata: MetadataPlace::Section,
        ..Header::new(FormatVersion::V3)
    };
    let bytes = header.encode().map_err(Error::from)?;
    let section_at = at + to_u64(bytes.len());
    let Some(len) = section_len(probe, section_at)?.filter(|_| probe.allows(at)) else {
        return Ok(None);
    };
    probe.spend(len.min(probe.limits.metadata.into()));
    let metadata = metadata(probe, at, &bytes)?.ok();
    Ok(metadata.map(|metadata| (metadata, after(section_at, len))))
}

/// Text that may be the metadata of V2 after a lost header.
pub(super) fn text_after_lost<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    at: u64,
) -> Result<Option<Metadata>> {
    let bytes = probe.window.look(at, MOST_TEXT)?;
    // The header may have lost or gained bytes.
    let begin = bytes.iter().take(MOST_HEAD).position(|byte| *byte == b'{');
    let Some(bytes) = begin.and_then(|begin| bytes.get(begin..)) else {
        return Ok(None);
    };
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let is_value = matches!(values.next(), Some(Ok(_)));
    let text = bytes.get(..values.byte_offset()).filter(|_| is_value);
    let text = text.and_then(|text| std::str::from_utf8(text).ok());
    Ok(text.and_then(|text| Metadata::from_json(text).ok()))
}

/// The offset table of a V3 member at byte 0 whose header is lost. It ends where the first chunk begins, and its first entry
/// contains that position.
pub(super) fn table_before<S: ReadAt>(
    probe: &mut Probe<'_, S>,
    first_chunk: u64,
) -> Result<Option<(Table, u64)>> {
    let least = to_u64(FormatVersion::V3.header_len());
    let entries = len_of(&(least..first_chunk)) / ENTRY_LEN;
    let most = entries.min(probe.limits.offsets / ENTRY_LEN);
    let from = first_chunk - most * ENTRY_LEN;
    let words = words(probe, from..first_chunk)?;
    let Ok(first) = i64::try_from(first_chunk) else {
        return Ok(None);
    };
    let Some(begin) = words.iter().position(|word| *word == first) else {
        return Ok(None);
    };
    // The table begins at one of the words; its filled entries precede the spare ones.
    let (_, rest) = words.split_at(begin);
    let (filled, spare) = rest.split_at(rest.partition_point(|word| *word != -1));
    let ascends = filled.is_sorted_by(|one, next| one < next);
    if !ascends || spare.iter().any(|word| *word != -1) {
        return Ok(None);
    }
    let entries = filled.iter().zip(0..).filter_map(|(word, number)| {
        let at = u64::try_from(*word).ok()?;
        Some(Entry { at, number })
    });
    let table = Table::new(entries, &(first_chunk..probe.size()));
    Ok(Some((table, to_u64(filled.len()))))
}

/// A range of the source as 64-bit words.
fn words<S: ReadAt>(probe: &Probe<'_, S>, range: Range<u64>) -> Result<Vec<i64>> {
    let mut words = Vec::with_capacity(in_memory(len_of(&range) / 8)?);
    // Pieces consist of whole entries, except for the last.
    probe.window.each(range, |piece| {
        let (entries, _) = piece.as_chunks();
        words.extend(entries.iter().map(|entry| i64::from_le_bytes(*entry)));
    })?;
    Ok(words)
}

/// Skips the entries of -1 of a table whose length is unknown.
fn skip_unfilled<S: ReadAt>(probe: &mut Probe<'_, S>, mut at: u64) -> Result<u64> {
    while probe.window.look(at, 8)? == [0xff; 8] {
        at += 8;
    }
    Ok(at)
}
