//! [`hides_a_loss`]: detects members that have the right number of chunks, but may have lost one and contain another one twice.

use super::gaps::wrong_entry;
use super::member::FoundMember;
use super::probe::SoundChunk;
use super::span::Span;
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, len_of, slice_mut, to_u64};
use bloscpack_storage::ReadAt;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

/// Bytes that are compared at once.
const PIECE: usize = 4 << 10;

/// Whether a chunk may be lost although the member has as many sound chunks as it counts: there is room where the chunk may
/// have been, and another chunk occurs twice.
pub(super) fn hides_a_loss<S: ReadAt>(
    source: &S,
    member: &FoundMember,
    spans: &[Span],
    end: u64,
) -> Result<bool> {
    let is_counted = member.count == Some(member.sound);
    let may_hide = is_counted && (has_room(member, spans) || ends_oddly(member, spans, end));
    Ok(may_hide && has_repeated(source, spans)?)
}

/// Whether there is room for a chunk before a sound one, where the table does not exclude one.
fn has_room(member: &FoundMember, spans: &[Span]) -> bool {
    let (mut from, mut next) = (member.first_at, Some(0));
    spans.iter().filter_map(Span::chunk).any(|found| {
        let number = member.table.number_at(found.at);
        let is_closed = number.is_some() && number == next;
        let room = len_of(&(from..found.at));
        from = found.end();
        next = number.map(|number| number + 1);
        room >= member.least() && !is_closed
    })
}

/// Whether there is room for a chunk after the last one, and the table or the length of the last one contradicts the chunks.
fn ends_oddly(member: &FoundMember, spans: &[Span], end: u64) -> bool {
    let Some(last) = spans.iter().rev().find_map(Span::chunk) else {
        return false;
    };
    if member.is_ended || len_of(&(last.end()..end)) < member.least() {
        return false;
    }
    let header = member.header.as_ref();
    let last_chunk = header.and_then(|header| header.last_chunk);
    last_chunk.is_some_and(|len| len != last.nbytes)
        || wrong_entry(member, spans).is_some()
        || !(member.tolerates_trailing() || member.allows_spare())
}

/// Whether a chunk occurs twice, with the same digest.
fn has_repeated<S: ReadAt>(source: &S, spans: &[Span]) -> Result<bool> {
    let mut seen = HashSet::new();
    for found in spans.iter().filter_map(Span::chunk) {
        if !seen.insert((found.ctbytes, fingerprint(source, &found)?)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A hash of a chunk and its digest.
fn fingerprint<S: ReadAt>(source: &S, found: &SoundChunk) -> Result<u64> {
    let (mut hasher, mut piece) = (DefaultHasher::new(), [0; PIECE]);
    let Range { start: mut at, end } = found.at..found.end();
    while at < end {
        let len = len_of(&(at..end)).min(to_u64(PIECE));
        let piece = slice_mut(&mut piece, 0..in_memory(len)?)?;
        source.read_exact_at(at, piece)?;
        hasher.write(piece);
        at += len;
    }
    Ok(hasher.finish())
}
