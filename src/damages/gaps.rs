//! Finds out which chunks are lost in the gaps between those that a scan has found: their number, their length, and their
//! position among the others.
//!
//! A table gives the number of a chunk that begins at its entry. Between two such chunks the number of missing ones is known;
//! elsewhere it follows from the count, if chunks can be missing in only one place. Since the numbers of later records depend
//! on it, a number is only set if it follows from the data. Lengths follow if all chunks except the last have one.

use super::member::FoundMember;
use super::probe::SoundChunk;
use super::spans::{Gap, Span};
use crate::checked::{len_of, to_u64};
use bloscpack_wire::FormatError;

/// The chunks and gaps of a member, in order. Records may have any length.
pub(super) fn resolve(member: &mut FoundMember, has_records: bool, size: u64) -> Vec<Span> {
    let mut spans = without_data(member);
    let is_open = ends_open(member, &spans, size);
    if !member.is_ended || (member.count.is_some() && !has_records) {
        spans.push(tail(member, &spans, size));
    }
    close_small(member, &mut spans);
    if has_records {
        let gaps = spans.iter_mut().filter_map(Span::gap_mut);
        gaps.filter(|gap| gap.is_short)
            .for_each(|gap| gap.chunks = None);
    }
    let mut doubtful = Vec::new();
    if member.count.is_some_and(|count| accounted(&spans) >= count) {
        doubtful = torn(member, &spans, has_records);
    } else {
        if has_records {
            spans = part_moved(member, spans);
        }
        count_between(member, &mut spans, has_records);
        if has_records {
            close_end(member, &mut spans);
        }
    }
    count_all(member, &mut spans, is_open, has_records);
    for index in doubtful {
        if let Some(gap) = spans.get_mut(index).and_then(Span::gap_mut) {
            gap.chunks = None;
        }
    }
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

/// The gap after the last byte, in which chunks may be missing.
fn tail(member: &FoundMember, spans: &[Span], size: u64) -> Span {
    let end = match spans.last() {
        Some(Span::Chunk(found)) => found.end(),
        Some(Span::Gap(gap)) => gap.bytes.end,
        None => member.first_at.min(size),
    };
    let found = member.sound;
    let error = match member.count {
        _ if member.is_unfilled => FormatError::Unfinished { found },
        Some(expected) => FormatError::MissingChunks { found, expected },
        None => FormatError::Unterminated,
    };
    Span::Gap(Box::new(Gap::new(end..end, error)))
}

/// Whether chunks of one content may be missing after the last span.
fn ends_open(member: &FoundMember, spans: &[Span], size: u64) -> bool {
    let last_chunk = member.header.as_ref().and_then(|header| header.last_chunk);
    let differs = |nbytes: u64| last_chunk.is_some_and(|last| u64::from(last) != nbytes);
    match spans.last() {
        _ if member.is_ended => false,
        _ if member.count.is_none() => true,
        None => member.count != Some(0),
        Some(Span::Chunk(found)) => match member.table.number_at(found.at) {
            Some(number) => member.count != Some(number + 1),
            None => differs(found.nbytes.into()),
        },
        Some(Span::Gap(gap)) => {
            let is_cut = gap.bytes.end == size && matches!(gap.error, FormatError::Cut { .. });
            gap.chunks.is_some() && (is_cut || gap.len.is_some_and(differs))
        }
    }
}

/// Gaps that are shorter than any chunk were not chunks, and neither was a head of usual length.
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
                // Still, missing chunks may have been here.
                gap.is_short |= is_small && !is_head;
            }
        }
        may_be_head = false;
    }
}

/// The number of each chunk that is at its entry in the table. A neighbor, if there is one, must confirm that of a record: if
/// everything has moved, a record may by chance be where another one should be.
fn numbers(member: &FoundMember, spans: &[Span], has_records: bool) -> Vec<Option<u64>> {
    let number = |index: Option<usize>| {
        let found = spans.get(index?)?.chunk()?;
        Some(member.table.number_at(found.at))
    };
    let confirmed = |index: usize| {
        let own = number(Some(index))??;
        let (before, next) = (number(index.checked_sub(1)), number(index.checked_add(1)));
        let is_alone = !has_records || (before.is_none() && next.is_none());
        let fits_before = before.flatten().is_some_and(|before| before + 1 == own);
        (is_alone || fits_before || next == Some(Some(own + 1))).then_some(own)
    };
    (0..spans.len()).map(confirmed).collect()
}

/// The gaps that may be chunks although all counted chunks of the member were found. If chunks and damage are between two
/// chunks that have not moved, these chunks are in the place of others, as if one part of a file was written over another.
fn torn(member: &FoundMember, spans: &[Span], has_records: bool) -> Vec<usize> {
    let (mut torn, mut gaps, mut has_moved) = (Vec::new(), Vec::new(), false);
    for (index, (span, number)) in spans
        .iter()
        .zip(numbers(member, spans, has_records))
        .enumerate()
    {
        match (span.gap(), number) {
            (Some(gap), _) if span.is_open() && len_of(&gap.bytes) >= member.least() => {
                gaps.push(index);
            }
            (Some(_), _) => {}
            (None, None) => has_moved = true,
            (None, Some(_)) => {
                torn.extend(gaps.drain(..).filter(|_| has_moved));
                has_moved = false;
            }
        }
    }
    torn
}

/// Between a chunk that is at its entry in the table and one that is not, others may be missing without a trace.
fn part_moved(member: &FoundMember, spans: Vec<Span>) -> Vec<Span> {
    let numbers = numbers(member, &spans, true);
    let (mut parted, mut was_located) = (Vec::with_capacity(spans.len()), false);
    for (span, number) in spans.into_iter().zip(numbers) {
        if let (Span::Chunk(found), true, None) = (&span, was_located, number) {
            let error = FormatError::MissingChunks {
                found: member.sound,
                expected: member.count.unwrap_or(member.sound),
            };
            parted.push(Span::Gap(Box::new(Gap::new(found.at..found.at, error))));
        }
        was_located = match &span {
            Span::Chunk(_) => number.is_some(),
            Span::Gap(_) => was_located && !span.is_open(),
        };
        parted.push(span);
    }
    parted
}

/// The chunks between two chunks of the table are counted by their numbers.
fn count_between(member: &FoundMember, spans: &mut [Span], has_records: bool) {
    let numbers = numbers(member, spans, has_records);
    let (mut next, mut from) = (Some(0), 0);
    for at in 0..=spans.len() {
        let number = match numbers.get(at) {
            Some(None) if spans.get(at).is_some_and(|span| span.gap().is_some()) => continue,
            Some(number) => *number,
            None => member.count,
        };
        if let (Some(first), Some(number)) = (next, number)
            && let Some(between) = spans.get_mut(from..at)
        {
            share(between, len_of(&(first..number)));
        }
        next = number.map(|number| number + 1);
        from = at + 1;
    }
}

/// Attributes to the one open gap among these the chunks that the others do not account for; if none are left, there may be any
/// number of open gaps.
fn share(spans: &mut [Span], chunks: u64) {
    let Some(left) = chunks.checked_sub(accounted(spans)) else {
        return;
    };
    let gaps = spans.iter_mut().filter_map(Span::gap_mut);
    let mut open: Vec<_> = gaps.filter(|gap| gap.chunks.is_none()).collect();
    if open.len() == 1 || left == 0 {
        open.iter_mut().for_each(|gap| gap.chunks = Some(left));
    }
}

/// Chunks that are sound, or lost in known number.
pub(super) fn accounted(spans: &[Span]) -> u64 {
    spans.iter().filter_map(Span::chunks).sum()
}

/// Nothing is missing at the end if the last chunks, though moved, have the lengths of the last ones in the table.
fn close_end(member: &FoundMember, spans: &mut [Span]) {
    let Some((Span::Gap(tail), before)) = spans.split_last_mut() else {
        return;
    };
    let run: Vec<_> = before.iter().rev().map_while(Span::chunk).collect();
    let place = |from_end: usize| {
        let number = member.count?.checked_sub(to_u64(from_end) + 1)?;
        member.table.place_of(number)
    };
    let is_same = |(index, pair): (usize, &[SoundChunk])| {
        let [later, earlier] = pair else { return false };
        let by_table = place(index).zip(place(index + 1));
        let len = later.at.checked_sub(earlier.at);
        by_table.and_then(|(later, earlier)| later.checked_sub(earlier)) == len
    };
    let is_whole = run.len() > 1 && run.windows(2).enumerate().all(is_same);
    if is_whole && tail.bytes.is_empty() && tail.chunks.is_none() {
        tail.chunks = Some(0);
    }
}

/// The chunks that are missing by the header's count are lost in the one open gap.
fn count_all(member: &FoundMember, spans: &mut [Span], is_open: bool, has_records: bool) {
    let Some(count) = member.count else {
        return;
    };
    let count = count.max(accounted(spans));
    if !has_records && !is_open {
        // If the end is where it should be, chunks are only missing there if nothing else is open.
        let is_inner = |span: &Span| span.is_open() && !span.gap().is_some_and(is_tail);
        let is_inner_open = spans.iter().any(is_inner);
        let hides = !is_inner_open && accounted(spans) < count;
        if (hides && open_place(spans)) || is_inner_open {
            let gaps = spans.iter_mut().filter_map(Span::gap_mut);
            let tails = gaps.filter(|gap| gap.chunks.is_none() && is_tail(gap));
            tails.for_each(|gap| gap.chunks = Some(0));
        }
    }
    share(spans, count);
}

fn is_tail(gap: &Gap) -> bool {
    gap.bytes.is_empty()
}

/// If everything else is closed, whole chunks are missing where bytes are, or otherwise where any damage is, if that is one
/// place. Returns whether it is.
fn open_place(spans: &mut [Span]) -> bool {
    let short = |gap: &Gap| gap.is_short;
    let place = one_place(spans, short).or_else(|| one_place(spans, |gap| !is_tail(gap)));
    let gap = place.and_then(|place| spans.get_mut(place)?.gap_mut());
    let is_one = gap.is_some();
    if let Some(gap) = gap {
        (gap.chunks, gap.len) = (None, None);
    }
    is_one
}

/// The index of the first of these gaps, if no chunk is between them.
fn one_place(spans: &[Span], wanted: impl Fn(&Gap) -> bool) -> Option<usize> {
    let is_wanted = |span: &Span| span.gap().is_some_and(&wanted);
    let first = spans.iter().position(is_wanted)?;
    let last = spans.iter().rposition(is_wanted)?;
    let are_apart = spans
        .get(first..last)?
        .iter()
        .any(|span| span.chunk().is_some());
    (!are_apart).then_some(first)
}

/// Finds the lengths of lost chunks, if all except the last have one size.
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

/// The length of all chunks except the last, by the header or, if that is lost or wrong, by the chunks.
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

/// The spans of a member without those that can only be data of a damaged chunk. If there are more chunks than the header
/// counts, and one would be missing without those between damage of unknown extent, they are data of that one.
fn without_data(member: &mut FoundMember) -> Vec<Span> {
    let mut spans = std::mem::take(&mut member.spans);
    let least = member.least();
    // How many chunks a span is, or the least number.
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
    // The spans that stay must account for every chunk, with or without one for the damage in between: otherwise the spans
    // that would go may be chunks after all.
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
