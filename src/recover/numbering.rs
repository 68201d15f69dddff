//! Finds the number and the position of lost records. Since the numbers of later records depend on it, a number is only set
//! if it follows from the data.
//!
//! A table gives the number of a chunk that begins at its entry and ends at the next one. Between two such chunks, the number
//! of missing ones is known; elsewhere it follows from the count, if chunks can be missing in only one place.

use super::content::{
    Gap, Stretch, accounted, close_small_gaps, number, open, tail, torn, without_data,
};
use super::member::FoundMember;
use super::probe::SoundChunk;
use crate::checked::len_of;
use bloscpack_wire::{Checksum, FormatError};

/// The stretches of a member of records, in order.
pub(super) fn stretches(member: &mut FoundMember, size: u64) -> Vec<Stretch> {
    let items = without_data(member);
    let mut stretches: Vec<_> = items.into_iter().map(Stretch::of).collect();
    if !member.is_ended {
        let tail = tail(member, &stretches, size);
        stretches.push(Stretch::Gap(Box::new(tail)));
    }
    close_small_gaps(member, &mut stretches);
    open_short_gaps(&mut stretches);
    let mut doubtful = Vec::new();
    if member
        .count
        .is_none_or(|count| accounted(&stretches) < count)
    {
        part_moved(member, &mut stretches);
        count_between(member, &mut stretches);
        close_end(member, &mut stretches);
    } else {
        doubtful = torn(member, &stretches, &numbers(member, &stretches));
    }
    share_missing(member, &mut stretches);
    open(&mut stretches, &doubtful);
    forget_lengths(&mut stretches);
    number(&mut stretches);
    let is_spare = |gap: &Gap| matches!(gap.error, FormatError::Spare { .. });
    let is_real = |gap: &Gap| {
        let is_something = !gap.bytes.is_empty() && !is_spare(gap);
        is_something || gap.chunks != Some(0)
    };
    stretches.retain(|stretch| !matches!(stretch, Stretch::Gap(gap) if !is_real(gap)));
    stretches
}

/// Where bytes are missing, whole chunks may be missing.
fn open_short_gaps(stretches: &mut [Stretch]) {
    for gap in stretches.iter_mut().filter_map(Stretch::gap_mut) {
        if gap.is_short {
            gap.chunks = None;
        }
    }
}

/// Between a chunk that is at its entry in the table and one that is not, others may be missing without a trace.
fn part_moved(member: &FoundMember, stretches: &mut Vec<Stretch>) {
    let numbers = numbers(member, stretches);
    let mut parted = Vec::with_capacity(stretches.len());
    let mut was_located = false;
    for (stretch, number) in stretches.drain(..).zip(numbers) {
        if let (Stretch::Chunk(found), true, None) = (&stretch, was_located, number) {
            parted.push(Stretch::Gap(Box::new(nothing_at(member, found.at))));
        }
        was_located = match &stretch {
            Stretch::Chunk(_) => number.is_some(),
            Stretch::Gap(gap) => was_located && gap.chunks.is_some(),
        };
        parted.push(stretch);
    }
    *stretches = parted;
}

/// The number of each chunk that is at its entry in the table. A neighbor, if there is one, must confirm it: if everything has
/// moved, a chunk may by chance be where another one should be.
fn numbers(member: &FoundMember, stretches: &[Stretch]) -> Vec<Option<u64>> {
    let number = |index: Option<usize>| match stretches.get(index?)? {
        Stretch::Chunk(found) => Some(located(member, found)),
        Stretch::Gap(_) => None,
    };
    let confirmed = |index: usize| {
        let own = number(Some(index))??;
        let before = number(index.checked_sub(1));
        let next = number(index.checked_add(1));
        let is_alone = before.is_none() && next.is_none();
        let fits_before = before.is_some_and(|before| before == own.checked_sub(1));
        let fits_next = next == Some(own.checked_add(1));
        // An unknown number is not a neighbor's number, either.
        let fits = (fits_before && own > 0) || fits_next;
        (is_alone || fits).then_some(own)
    };
    (0..stretches.len()).map(confirmed).collect()
}

/// A gap of no bytes.
fn nothing_at(member: &FoundMember, at: u64) -> Gap {
    let error = FormatError::MissingChunks {
        found: member.sound,
        expected: member.count.unwrap_or(member.sound),
    };
    Gap::new(at..at, error)
}

/// The number of a chunk by the table, if it begins and ends at the entries there.
fn located(member: &FoundMember, found: &SoundChunk) -> Option<u64> {
    let number = member.table.number_at(found.at)?;
    let end = found.bytes(member.checksum.unwrap_or(Checksum::None)).end;
    let next = member.table.place_of(number + 1);
    let ends_there = |next: u64| end == next || (member.allows_spare() && end < next);
    next.is_none_or(ends_there).then_some(number)
}

/// The chunks between two chunks of the table are counted by their numbers.
fn count_between(member: &FoundMember, stretches: &mut [Stretch]) {
    let numbers = numbers(member, stretches);
    let is_open = |stretch: &Stretch| matches!(stretch, Stretch::Gap(gap) if gap.chunks.is_none());
    let open: Vec<_> = stretches.iter().map(is_open).collect();
    let (mut next, mut from) = (Some(0), 0);
    for at in 0..=stretches.len() {
        let number = match numbers.get(at) {
            Some(None) => continue,
            Some(number) => *number,
            None => member.count,
        };
        if let (Some(first), Some(number)) = (next, number)
            && let Some(between) = stretches.get_mut(from..at)
        {
            share(between, len_of(&(first..number)));
        }
        next = number.map(|number| number + 1);
        from = at + 1;
    }
    if member
        .count
        .is_none_or(|count| accounted(stretches) <= count)
    {
        return;
    }
    // The table is wrong.
    for (stretch, _) in stretches
        .iter_mut()
        .zip(open)
        .filter(|(_, is_open)| *is_open)
    {
        if let Some(gap) = stretch.gap_mut() {
            gap.chunks = None;
        }
    }
}

/// Attributes to the one open gap among these the chunks that the others do not account for; if none are left, there may be any
/// number of open gaps.
fn share(stretches: &mut [Stretch], chunks: u64) {
    let Some(left) = chunks.checked_sub(accounted(stretches)) else {
        return;
    };
    let mut open: Vec<_> = stretches
        .iter_mut()
        .filter_map(Stretch::gap_mut)
        .filter(|gap| gap.chunks.is_none())
        .collect();
    if open.len() == 1 || left == 0 {
        open.iter_mut().for_each(|gap| gap.chunks = Some(left));
    }
}

/// Nothing is missing at the end if the last chunks, though moved, have the lengths of the last ones in the table.
fn close_end(member: &FoundMember, stretches: &mut [Stretch]) {
    let Some((Stretch::Gap(tail), before)) = stretches.split_last_mut() else {
        return;
    };
    let run = before.iter().rev().map_while(|stretch| match stretch {
        Stretch::Chunk(found) => Some(found),
        Stretch::Gap(_) => None,
    });
    let run: Vec<_> = run.collect();
    let number = |from_end: usize| {
        let from_end = u64::try_from(from_end).ok()?;
        member.count?.checked_sub(from_end)?.checked_sub(1)
    };
    let place = |from_end: usize| member.table.place_of(number(from_end)?);
    let is_same = |(index, pair): (usize, &[&SoundChunk])| {
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

/// The chunks that are missing by the count are lost in the one open gap.
fn share_missing(member: &FoundMember, stretches: &mut [Stretch]) {
    if let Some(count) = member.count {
        share(stretches, count.max(accounted(stretches)));
    }
}

/// Records may have any length.
fn forget_lengths(stretches: &mut [Stretch]) {
    for gap in stretches.iter_mut().filter_map(Stretch::gap_mut) {
        gap.len = None;
    }
}
