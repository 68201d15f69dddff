//! [`scan`]: finds the members of a source, their sound chunks, and the damage between them.
//!
//! A chunk is followed by a chunk, an end mark, a member, or the end of the source. While that holds, the scan moves from one
//! to the next, and never searches inside a sound chunk. At damage, it continues where the damaged chunk ends by its own
//! header, if a sound part begins there or the offset table agrees. Otherwise it searches byte by byte
//! ([`search`](super::search)) for the next sound chunk or member.

use super::head::{Head, PartDamage, metadata_after_lost, table_before, text_after_lost};
use super::member::FoundMember;
use super::probe::{Probe, SoundChunk, end_of};
use super::span::Gap;
use super::window::Part;
use blosc1::{ChunkError, HEADER_LEN};
use bloscpack_error::Result;
use bloscpack_error::checked::{len_of, to_u64};
use bloscpack_storage::internal::GAP;
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_wire::{Checksum, FormatError, Hashers, Limits, Section};
use std::io::Read;

const MAGIC_LEN: u64 = 4;
/// Bytes of the shortest head.
const LEAST_HEAD: u64 = 8;

/// A scan of a source, with the members found so far.
pub(super) struct Scan<'a, S> {
    pub(super) probe: Probe<'a, S>,
    /// The members before the last one. The first is a placeholder, with which a scan begins.
    pub(super) before: Vec<FoundMember>,
    pub(super) member: FoundMember,
    /// The index of the member in whose damaged chunk the last member was found. The last member may be data of that chunk.
    pub(super) outer: Option<usize>,
}

/// Scans a source.
///
/// # Errors
/// Returns any error of the source.
pub(super) fn scan<S: ReadAt>(
    source: &S,
    limits: Limits,
    hashers: Hashers,
) -> Result<Vec<FoundMember>> {
    let mut scan = Scan {
        probe: Probe::new(source, limits, hashers)?,
        before: Vec::new(),
        member: FoundMember::lost(0),
        outer: None,
    };
    let mut at = scan.begin(0)?;
    while at < scan.probe.size() {
        at = scan.step(at)?;
    }
    scan.before.push(scan.member);
    scan.before.remove(0);
    Ok(scan.before)
}

impl<S: ReadAt> Scan<'_, S> {
    /// Finds the span that begins at `at`, and returns its end.
    fn step(&mut self, at: u64) -> Result<u64> {
        let checksum = self.member.checksum;
        if !self.member.is_ended {
            if let Some(found) = self.probe.sound(at, checksum)?
                && self.may_belong(found)?
            {
                return self.take(found);
            }
            if let Some(end) = self.probe.end_mark(at, checksum)? {
                let may_end = end == self.probe.size() || self.probe.is_magic(end)?;
                self.member.is_ended = may_end || !self.member.forget_inner(end);
                return Ok(end);
            }
        }
        let is_complete = self.member.is_complete();
        if self.probe.is_magic(at)? || (is_complete && self.is_head(at, true)?) {
            return self.begin(at);
        }
        self.damaged(at)
    }

    /// Begins a member, which becomes the last one.
    pub(super) fn open(&mut self, member: FoundMember) {
        self.outer = None;
        self.before
            .push(std::mem::replace(&mut self.member, member));
    }

    /// Adds a sound chunk to the last member, and returns its end.
    pub(super) fn push(&mut self, found: SoundChunk) -> u64 {
        self.member.push(found);
        found.end()
    }

    /// Whether a chunk without a digest may belong to the last member, whose checksum may not be known yet.
    pub(super) fn may_belong(&mut self, found: SoundChunk) -> Result<bool> {
        if found.by != Checksum::None || self.member.checksum.is_some() {
            return Ok(true);
        }
        let named = self.member.header.as_ref().map(|header| header.checksum);
        // If the digest was cut off, nothing follows the chunk.
        let is_followed = len_of(&(found.end()..self.probe.size())) >= to_u64(HEADER_LEN);
        Ok(named == Some(Checksum::None)
            || (self.probe.is_landing(found.end())? && (named.is_none() || is_followed)))
    }

    /// As [`push`](Self::push). If the chunk has no digest and a better one begins inside it, as after a loss of bytes, adds
    /// the better one instead.
    fn take(&mut self, found: SoundChunk) -> Result<u64> {
        if found.by == Checksum::None
            && !self.probe.is_landing(found.end())?
            && let Some(early) = self.search_across(found.at, found.end())?
        {
            self.member.checksum.get_or_insert(found.by);
            let error = FormatError::Chunk(ChunkError::Header {
                field: "ctbytes",
                found: found.ctbytes,
                expected: "where the next chunk begins",
            });
            self.gap(Gap::one(found.at..early.at, found.nbytes, error).cut());
            return Ok(self.push(early));
        }
        Ok(self.push(found))
    }

    /// Begins a member at this position, and returns the position of its first chunk.
    pub(super) fn begin(&mut self, at: u64) -> Result<u64> {
        let head = match Head::read(&mut self.probe, at, false)? {
            Ok(head) => head,
            Err(error) => match Head::read(&mut self.probe, at, true)? {
                Ok(head) if self.leads(&head)? => head,
                _ => return self.begin_lost(at, error),
            },
        };
        self.enter(head)
    }

    /// Begins the member of a readable head, and returns the position of its first chunk, or the end of the first one that a
    /// search finds before it.
    fn enter(&mut self, mut head: Head) -> Result<u64> {
        let (size, from) = (self.probe.size(), head.at + LEAST_HEAD);
        let chunks_at = head.chunks_at.filter(|at| *at <= size);
        let first_at = chunks_at.unwrap_or(head.earliest);
        let is_end = chunks_at == Some(size);
        let is_empty = head.header.nchunks == Some(0)
            && chunks_at.is_some()
            && (is_end || self.probe.is_magic(first_at)?);
        let leads = is_empty || self.leads(&head)?;
        let is_there =
            is_empty || is_end || (chunks_at.is_some() && self.is_begun(&head, first_at)?);
        if let (None, Some(expected)) = (chunks_at, head.chunks_at) {
            let section = if head.header.offsets {
                Section::Offsets
            } else {
                Section::Metadata
            };
            let error = FormatError::Cut {
                found: len_of(&(head.at..size)),
                expected: len_of(&(head.at..expected)),
            };
            head.damage(head.at..size, section, error);
        }
        let earliest = head.earliest;
        let trusted = leads || !self.leads_by_any(&head)?;
        self.open(FoundMember::of(head, first_at, trusted, leads));
        if is_there {
            return Ok(first_at);
        }
        // The head may have lost bytes, or contain a wrong length.
        let Some(found) = self.search_early(from, chunks_at.unwrap_or(size))? else {
            return Ok(first_at);
        };
        self.find_table(found.at)?;
        let error = FormatError::Field {
            name: "position of the first chunk",
            found: found.at.into(),
            expected: "where header, metadata and table end",
        };
        self.gap(Gap {
            chunks: chunks_at.map(|_| 0),
            is_short: chunks_at.is_some(),
            ..Gap::new(earliest.min(found.at)..found.at, error)
        });
        Ok(self.push(found))
    }

    /// Begins a member whose header cannot be read, with the metadata that can be found after it.
    fn begin_lost(&mut self, at: u64, error: FormatError) -> Result<u64> {
        let mut member = FoundMember::lost(at);
        if let Some((metadata, end)) = metadata_after_lost(&mut self.probe, at)? {
            (member.metadata, member.first_at) = (Some(metadata), end);
        } else {
            member.hint = text_after_lost(&mut self.probe, at)?;
        }
        member.look_for_records();
        member.damages.push(PartDamage {
            bytes: at..self.probe.size().min(at + 32),
            section: Section::Header,
            error,
        });
        // Skip a magic that is left: it would look like another member.
        if self.probe.is_magic(at)? {
            member.first_at = member.first_at.max(at + MAGIC_LEN);
        }
        let first_at = member.first_at;
        self.open(member);
        Ok(first_at)
    }

    /// Whether a member begins at this position whose head leads to a chunk or to an end mark.
    pub(super) fn is_head(&mut self, at: u64, whatever_magic: bool) -> Result<bool> {
        match Head::read(&mut self.probe, at, whatever_magic)? {
            Ok(head) => self.leads(&head),
            Err(_) => Ok(false),
        }
    }

    /// Whether the head leads to a sound chunk or an end mark.
    fn leads(&mut self, head: &Head) -> Result<bool> {
        for at in head.leads_to() {
            if self.is_begun(head, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether its head leads to a chunk with another checksum than it contains, or to two chunks in a row without any.
    fn leads_by_any(&mut self, head: &Head) -> Result<bool> {
        let named = Some(head.header.checksum);
        for at in head.leads_to() {
            let Some(found) = self.probe.sound(at, None)? else {
                continue;
            };
            let end = found.end();
            let is_other = match found.by {
                // If the second chunk has a digest, only the digest of the first one is damaged.
                Checksum::None => {
                    self.probe.sound(end, named)?.is_none()
                        && self.probe.sound(end, Some(Checksum::None))?.is_some()
                }
                _ => true,
            };
            if is_other {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a sound chunk or an end mark begins here, by the checksum in the head.
    fn is_begun(&mut self, head: &Head, at: u64) -> Result<bool> {
        let checksum = Some(head.header.checksum).filter(|kind| *kind != Checksum::None);
        self.is_chunk(at, checksum)
    }

    /// Whether a sound chunk or an end mark begins here.
    fn is_chunk(&mut self, at: u64, checksum: Option<Checksum>) -> Result<bool> {
        Ok(self.probe.sound(at, checksum)?.is_some()
            || self.probe.end_mark(at, checksum)?.is_some())
    }

    /// Finds the end of the damage that begins here.
    fn damaged(&mut self, at: u64) -> Result<u64> {
        if let Some(end) = self.spare_end(at)? {
            return Ok(end);
        }
        if self.member.is_complete() {
            return self.search(at);
        }
        if let Some(end) = self.by_own_header(at)? {
            return Ok(end);
        }
        self.search(at)
    }

    /// Skips the zeros between two chunks, or after the last one.
    fn spare_end(&mut self, at: u64) -> Result<Option<u64>> {
        let table = &self.member.table;
        let (is_entry, next) = (table.number_at(at).is_some(), table.after(at).next());
        if !self.member.allows_spare() || is_entry {
            return Ok(None);
        }
        let end = next.unwrap_or(self.probe.size());
        let mut from = at;
        while from < end {
            let bytes = self.probe.window.sweep(from, 1)?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == bytes.len();
            from = (from + to_u64(zeros)).min(end);
            if !is_all {
                break;
            }
        }
        // After the last chunk, the next step examines the bytes after the zeros.
        let is_told = self.member.is_complete() || next == Some(from);
        let checksum = self.member.checksum;
        let is_spare = from > at && (is_told || self.probe.sound(from, checksum)?.is_some());
        // If no table confirms the spare space, the zeros may be a record that was overwritten.
        let may_be_record = self.member.varies && len_of(&(at..from)) >= self.member.least();
        if is_spare && !is_told && may_be_record {
            self.gap(Gap::new(at..from, FormatError::Spare { found: 0 }));
        }
        Ok(is_spare.then_some(from))
    }

    /// The end of a damaged chunk according to its own header, if another part confirms it.
    fn by_own_header(&mut self, at: u64) -> Result<Option<u64>> {
        let (Ok(header), Some(by)) = (self.probe.header(at)?, self.member.checksum) else {
            return Ok(None);
        };
        let (member, size) = (&self.member, self.probe.size());
        let end = end_of(at, header.ctbytes, by);
        if header.is_end_mark() || !member.has_size(header.nbytes) {
            return Ok(None);
        }
        let is_entry = |at| member.table.number_at(at).is_some();
        let are_entries = is_entry(at) && is_entry(end);
        let is_border = end == size
            || (end < size && (self.is_chunk(end, Some(by))? || self.probe.is_magic(end)?));
        if !is_border && !are_entries {
            return Ok(None);
        }
        let (error, end) = (self.fault(at)?, end.min(size));
        // If bytes are missing in the chunk, the next one begins before its end.
        let early = if is_border {
            None
        } else {
            self.search_across(at, end)?
        };
        let Some(found) = early else {
            self.gap(Gap::one(at..end, header.nbytes, error));
            return Ok(Some(end));
        };
        self.gap(Gap::one(at..found.at, header.nbytes, error).cut());
        Ok(Some(self.push(found)))
    }

    /// The error at a position where a chunk should begin.
    pub(super) fn fault(&mut self, at: u64) -> Result<FormatError> {
        match (self.probe.header(at)?, self.member.checksum) {
            (Err(error), _) => Ok(error),
            (Ok(header), Some(checksum)) if !header.is_end_mark() => {
                self.probe.fault(at, &header, checksum)
            }
            _ => Ok(FormatError::Trailing),
        }
    }

    /// Adds a gap to the last member.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.member.push_gap(gap);
    }

    /// Searches for the offset table of a member with a lost header, once its first chunk was found.
    pub(super) fn find_table(&mut self, first_chunk: u64) -> Result<()> {
        let member = &self.member;
        let header = member.header.as_ref();
        let may_have = header.is_none_or(|header| header.offsets && !member.is_unfilled);
        let lacks_table = member.sound == 0 && member.table.len() == 0 && may_have;
        if self.before.len() == 1
            && lacks_table
            && let Some((table, count)) = table_before(&mut self.probe, first_chunk)?
        {
            self.member.table = table;
            self.member.count.get_or_insert(count);
        }
        Ok(())
    }
}

/// Whether a sound chunk follows byte `from`, as in a concatenated member with a damaged header.
///
/// An append by the reference implementation leaves the end of a chunk there, which contains no sound chunk. If the bytes
/// begin with as many zeros as an uncommitted append of this library does, they are not searched.
///
/// # Errors
/// Returns any error of the source.
pub(crate) fn holds_chunks<S: ReadAt>(
    source: &S,
    from: u64,
    limits: &Limits,
    hashers: &Hashers,
) -> Result<bool> {
    let (at, first) = (from, &[][..]);
    let trailing = Part { source, at, first };
    let mut first = Vec::new();
    SourceReader::new(&trailing)
        .take(GAP)
        .read_to_end(&mut first)?;
    if to_u64(first.len()) == GAP && first.iter().all(|byte| *byte == 0) {
        return Ok(false);
    }
    let members = scan(&trailing, *limits, hashers.clone())?;
    Ok(members.iter().any(|member| member.sound > 0))
}
