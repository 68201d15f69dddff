//! Determines how many chunks are lost in the gaps of a member.
//!
//! The number of a chunk is known at three kinds of points: the beginning of the member, a sound chunk to which an entry of
//! the offset table leads, and the end, by the count of the header. The number of lost chunks between two such points follows.
//! If chunks may be missing in one place between them, they were lost there. If there are several such places, the number lost
//! in each is unknown, and so are the numbers of all chunks up to the next point.
//!
//! ```text
//!   source   chunk   chunk   ~ damage ~   chunk   chunk       the header counts 7
//!   entry    0       1                    5       6
//!   number   0       1       2, 3, 4      5       6           3 chunks are lost in the damage
//! ```
//!
//! The lengths of lost chunks follow if all chunks except the last have one size.

use super::member::FoundMember;
use super::probe::SoundChunk;
use super::span::{Gap, Span};
use bloscpack_error::checked::len_of;
use bloscpack_wire::FormatError;

/// A chunk that was submitted to a worker and not passed on yet.
pub(super) struct PendingChunk {
    pub found: SoundChunk,
    pub number: Option<u64>,
}

impl PendingChunk {
    /// The gap that replaces this chunk if it cannot be decoded although its digest is right.
    pub(super) fn gap(&self, error: FormatError) -> Gap {
        Gap {
            number: self.number,
            ..Gap::one(self.found.at..self.found.end(), self.found.nbytes, error)
        }
    }
}

/// The chunks and gaps of a member, in order.
pub(super) fn resolve(member: &mut FoundMember, has_records: bool, size: u64) -> Vec<Span> {
    let mut spans = without_data(member);
    close_small(member, &mut spans);
    if has_records {
        open(&mut spans, |gap| gap.is_short);
    }
    let numbers = numbers(member, &mut spans, has_records);
    if may_go_on(member, &spans, has_records) {
        spans.push(tail(member, &spans, size));
    }
    count_lost(member, &mut spans, &numbers);
    measure(member, &mut spans, has_records);
    let mut next = Some(0);
    for span in &mut spans {
        let after = span.number_after(next);
        if let Some(gap) = span.gap_mut() {
            gap.number = next.filter(|_| gap.chunks != Some(0));
        }
        next = after;
    }
    spans.retain(|span| {
        let is_spare = |gap: &Gap| matches!(gap.error, FormatError::Spare { .. });
        let is_nothing = |gap: &Gap| gap.bytes.is_empty() || is_spare(gap);
        span.chunks() != Some(0) || !span.gap().is_some_and(is_nothing)
    });
    spans
}

/// The number of chunks that are sound, or lost in known number.
pub(super) fn accounted(spans: &[Span]) -> u64 {
    spans.iter().filter_map(Span::chunks).sum()
}

/// Marks gaps without chunks: gaps shorter than any chunk, and a lost head of usual length.
fn close_small(member: &FoundMember, spans: &mut [Span]) {
    let heads = [0, 8, 16, 32].map(|len| member.at + len);
    let mut may_be_head = member.header.is_none();
    for span in spans {
        if let Some(gap) = span.gap_mut().filter(|gap| gap.chunks.is_none()) {
            let len = len_of(&gap.bytes);
            let is_head = may_be_head && (heads.contains(&gap.bytes.end) || len == 0);
            let is_small = len > 0 && len < member.least();
            if is_small || is_head {
                gap.chunks = Some(0);
                // Chunks may still be missing here, without a byte of them left.
                gap.is_short |= is_small && !is_head;
            }
        }
        may_be_head = false;
    }
}

/// Sets the number of chunks lost in these gaps to unknown.
fn open(spans: &mut [Span], which: impl Fn(&Gap) -> bool) {
    let gaps = spans.iter_mut().filter_map(Span::gap_mut);
    for gap in gaps.filter(|gap| which(gap)) {
        (gap.chunks, gap.len) = (None, None);
    }
}

/// The number of each chunk, by the entry of the table that leads to it. For records, the table must lead to all chunks: after
/// bytes were added or removed, a chunk may be by chance where another one should be.
fn numbers(member: &FoundMember, spans: &mut Vec<Span>, has_records: bool) -> Vec<Option<u64>> {
    let number = |span: &Span| member.table.number_at(span.chunk()?.at);
    let mut trusts_table = true;
    if member.count.is_some_and(|count| accounted(spans) < count) {
        // After the last chunk that is in its place, some may be missing without a trace.
        let last = spans.iter().rposition(|span| number(span).is_some());
        if let Some(at) = last.map(|last| last + 1)
            && let Some(Span::Chunk(found)) = spans.get(at)
        {
            let gap = Gap::new(found.at..found.at, missing(member));
            spans.insert(at, Span::Gap(Box::new(gap)));
        }
        // If the source ends with a chunk, it was cut exactly there, or whole chunks were removed from it.
        if has_records && let Some(last @ Span::Chunk(_)) = spans.last() {
            trusts_table = number(last) == member.last_number();
            if !trusts_table {
                open(spans, |_| true);
            }
        }
    }
    let mut chunks = spans.iter().filter(|span| span.gap().is_none());
    trusts_table &= !has_records || chunks.all(|span| number(span).is_some());
    let is_known = |number: &u64| trusts_table || Some(*number) == member.last_number();
    let numbers = spans.iter().map(|span| number(span).filter(is_known));
    numbers.collect()
}

/// The error of an empty gap.
fn missing(member: &FoundMember) -> FormatError {
    let found = member.sound;
    match member.count {
        _ if member.is_unfilled => FormatError::Unfinished { found },
        Some(expected) => FormatError::MissingChunks { found, expected },
        None => FormatError::Unterminated,
    }
}

/// Whether chunks may be missing in a span.
fn may_hold(span: &Span) -> bool {
    span.gap()
        .is_some_and(|gap| gap.is_short || gap.chunks != Some(0))
}

/// Whether chunks may be missing after the last span, or are missing and fit nowhere else.
fn may_go_on(member: &FoundMember, spans: &[Span], has_records: bool) -> bool {
    let last_len = member.header.as_ref().and_then(|header| header.last_chunk);
    let is_last = |found: SoundChunk| match member.table.number_at(found.at) {
        Some(number) => Some(number) == member.last_number(),
        None => !has_records && last_len.is_none_or(|len| len == found.nbytes),
    };
    let mut others = spans.iter().rev().filter(|span| span.chunks() != Some(0));
    let last = others.next().and_then(Span::chunk);
    let is_ended = member.is_ended || (member.count.is_some() && last.is_some_and(is_last));
    let lacks_some = member.count.is_some_and(|count| accounted(spans) < count);
    !is_ended || (lacks_some && !spans.iter().any(may_hold))
}

/// The empty gap after the last span, in which chunks may be missing.
fn tail(member: &FoundMember, spans: &[Span], size: u64) -> Span {
    let end = match spans.last() {
        Some(Span::Chunk(found)) => found.end(),
        Some(Span::Gap(gap)) => gap.bytes.end,
        None => member.first_at.min(size),
    };
    Span::Gap(Box::new(Gap::new(end..end, missing(member))))
}

/// Counts the lost chunks between chunks of known number.
fn count_lost(member: &FoundMember, spans: &mut [Span], numbers: &[Option<u64>]) {
    let ends = numbers.iter().copied().enumerate();
    let ends = ends.filter_map(|(at, number)| Some((at, number?)));
    let (mut next, mut from) = (0, 0);
    for (at, number) in ends.chain(member.count.map(|count| (spans.len(), count))) {
        let between = spans.get_mut(from..at).unwrap_or_default();
        let lost = number
            .checked_sub(next)
            .and_then(|chunks| chunks.checked_sub(accounted(between)));
        if let Some(lost) = lost {
            share(between, lost);
        }
        // Saturates: a damaged header may count any number.
        (next, from) = (number.saturating_add(1), at + 1);
    }
}

/// Attributes lost chunks to the place where they may have been, if there is only one.
fn share(spans: &mut [Span], lost: u64) {
    let has_open = spans.iter().any(Span::is_open);
    let is_possible = |span: &Span| {
        if has_open {
            span.is_open()
        } else {
            may_hold(span)
        }
    };
    let first = spans.iter().position(is_possible);
    let last = spans.iter().rposition(is_possible);
    let (Some(first), Some(last)) = (first, last) else {
        return;
    };
    let is_one_place = spans
        .get(first..last)
        .is_some_and(|between| between.iter().all(|span| span.gap().is_some()));
    if lost > 0 && !is_one_place {
        // More chunks are lost than the damaged ones.
        if !has_open {
            open(spans, |_| true);
        }
        return;
    }
    let mut lost = lost;
    for gap in spans
        .iter_mut()
        .filter(|span| is_possible(span))
        .filter_map(Span::gap_mut)
    {
        if gap.chunks.is_none() || lost > 0 {
            (gap.chunks, gap.len) = (Some(gap.chunks.unwrap_or(0) + lost), None);
            lost = 0;
        }
    }
}

/// Determines the lengths of lost chunks, if all chunks except the last have one size.
fn measure(member: &FoundMember, spans: &mut [Span], has_records: bool) {
    let size = uniform_size(member, spans);
    let last = member.header.as_ref().and_then(|header| header.last_chunk);
    let mut holds_last = member.count.is_some();
    for span in spans.iter_mut().rev() {
        let Some(gap) = span.gap_mut() else {
            holds_last = false;
            continue;
        };
        let full = match gap.chunks.filter(|_| !has_records) {
            Some(0) => {
                gap.len = Some(0);
                continue;
            }
            Some(chunks) if holds_last => Some((chunks - 1, last)),
            Some(chunks) => Some((chunks, Some(0))),
            None => None,
        };
        if gap.len.is_none() || gap.chunks != Some(1) || has_records {
            gap.len = full.and_then(|(full, end)| {
                let before = match full {
                    0 => Some(0),
                    full => full.checked_mul(size?.into()),
                };
                before?.checked_add(end?.into())
            });
        }
        holds_last = false;
    }
}

/// The length of all chunks except the last, by the header or, if it is lost or wrong, by the chunks.
fn uniform_size(member: &FoundMember, spans: &[Span]) -> Option<u32> {
    let mut sizes = spans
        .iter()
        .filter_map(Span::chunk)
        .map(|found| found.nbytes);
    let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
    let claimed = claimed.filter(|size| *size > 0);
    let Some(last) = sizes.next_back() else {
        return claimed;
    };
    match sizes.next() {
        None if claimed.is_some_and(|size| last <= size) => claimed,
        None => Some(last),
        Some(size) => (last <= size && sizes.all(|other| other == size)).then_some(size),
    }
}

/// The first entry of the table that does not lead to its chunk, which is sound.
pub(super) fn wrong_entry(member: &FoundMember, spans: &[Span]) -> Option<FormatError> {
    let mut next = Some(0);
    for span in spans {
        let entry = next?;
        if let Some(found) = span.chunk()
            && let Some(at) = member.table.place_of(entry)
            && at != found.at
        {
            let offset = |at: u64| len_of(&(member.at..at));
            return Some(FormatError::Offset {
                entry,
                found: offset(at).into(),
                expected: format!("{}, where its chunk begins", offset(found.at)),
            });
        }
        next = span.number_after(next);
    }
    None
}

/// The spans of a member, without spans that are data of a damaged chunk. This is assumed if there are more chunks than the
/// header counts, and the count is right without the spans between two damages of unknown extent.
fn without_data(member: &mut FoundMember) -> Vec<Span> {
    let mut spans = std::mem::take(&mut member.spans);
    let least = member.least();
    // The number of chunks in a span, or the least number possible.
    let counted = |span: &Span| match span.gap() {
        Some(gap) => gap.chunks.unwrap_or(u64::from(len_of(&gap.bytes) >= least)),
        None => 1,
    };
    let sum = |spans: &[Span]| spans.iter().map(counted).sum::<u64>();
    let may_hold = |span: &Span| {
        let gap = span.gap();
        gap.is_some_and(|gap| (span.is_open() || gap.is_short) && len_of(&gap.bytes) >= least)
    };
    let first = spans.iter().position(may_hold);
    let last = spans.iter().rposition(may_hold);
    let (Some(count), Some(first), Some(last)) = (member.count, first, last) else {
        return spans;
    };
    let all = sum(&spans);
    let Some(between) = spans.get(first..=last).filter(|_| first < last) else {
        return spans;
    };
    let mut chunks = between.iter().filter_map(Span::chunk);
    let is_named = chunks.any(|found| member.table.number_at(found.at).is_some());
    // The other spans must account for every chunk, with or without one for the damage in between. Otherwise, the spans may be
    // chunks after all.
    let outside = all - sum(between);
    if all <= count || is_named || (outside != count && outside + 1 != count) {
        return spans;
    }
    let mut end = 0;
    for span in spans.drain(first + 1..=last) {
        match span {
            Span::Chunk(_) => member.sound -= 1,
            Span::Gap(gap) => end = gap.bytes.end,
        }
    }
    if let Some(gap) = spans.get_mut(first).and_then(Span::gap_mut) {
        (gap.bytes.end, gap.chunks, gap.len) = (end, None, None);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn a_chunk_costs_as_much_memory_as_documented() {
        assert!(size_of::<Span>() <= 24);
    }
}
