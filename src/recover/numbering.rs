//! How many records are lost where, in members of records: their numbers hang on it, so that a
//! number is told only where it follows from what there is.
//!
//! A table tells the number of a chunk that lies where its entry says and ends where the next one
//! says. Between two such chunks, what is missing is known; elsewhere the count tells, if there is
//! one place only where something can be missing.

use super::content::{
    Gap, Piece, accounted, close_small_gaps, number, open, tail, torn, without_data,
};
use super::member::Member;
use super::probe::Found;
use bloscpack_wire::{Checksum, FormatError, Section};

/// The pieces of a member of records, in order.
pub(super) fn pieces(member: &mut Member, size: u64) -> Vec<Piece> {
    let items = without_data(member);
    let mut pieces: Vec<_> = items.into_iter().map(Piece::of).collect();
    if !member.is_ended {
        let tail = tail(member, &pieces, size);
        pieces.push(Piece::Gap(Box::new(tail)));
    }
    close_small_gaps(member, &mut pieces);
    open_short_gaps(&mut pieces);
    let mut doubtful = Vec::new();
    if member.count.is_none_or(|count| accounted(&pieces) < count) {
        part_moved(member, &mut pieces);
        count_between(member, &mut pieces);
        close_end(member, &mut pieces);
    } else {
        doubtful = torn(member, &pieces, &numbers(member, &pieces));
    }
    share_missing(member, &mut pieces);
    open(&mut pieces, &doubtful);
    forget_lengths(&mut pieces);
    number(&mut pieces);
    let is_spare = |gap: &Gap| matches!(gap.error, FormatError::Spare { .. });
    let is_real = |gap: &Gap| {
        let is_something = !gap.bytes.is_empty() && !is_spare(gap);
        is_something || gap.chunks != Some(0)
    };
    pieces.retain(|piece| !matches!(piece, Piece::Gap(gap) if !is_real(gap)));
    pieces
}

/// Where bytes are missing, whole chunks may be.
fn open_short_gaps(pieces: &mut [Piece]) {
    for gap in pieces.iter_mut().filter_map(Piece::gap_mut) {
        if gap.is_short {
            gap.chunks = None;
        }
    }
}

/// Between a chunk that lies where the table says and one that does not, others may be missing
/// without a trace.
fn part_moved(member: &Member, pieces: &mut Vec<Piece>) {
    let numbers = numbers(member, pieces);
    let mut parted = Vec::with_capacity(pieces.len());
    let mut was_located = false;
    for (piece, number) in pieces.drain(..).zip(numbers) {
        if let (Piece::Chunk(found), true, None) = (&piece, was_located, number) {
            parted.push(Piece::Gap(Box::new(nothing_at(member, found.at))));
        }
        was_located = match &piece {
            Piece::Chunk(_) => number.is_some(),
            Piece::Gap(gap) => was_located && gap.chunks.is_some(),
        };
        parted.push(piece);
    }
    *pieces = parted;
}

/// The number of each chunk that lies where the table says, which that of a neighbour has to
/// confirm, if there is one: where all has moved, one may by chance lie where another should.
fn numbers(member: &Member, pieces: &[Piece]) -> Vec<Option<u64>> {
    let number = |index: Option<usize>| match pieces.get(index?)? {
        Piece::Chunk(found) => Some(located(member, found)),
        Piece::Gap(_) => None,
    };
    let confirmed = |index: usize| {
        let own = number(Some(index))??;
        let before = number(index.checked_sub(1));
        let behind = number(index.checked_add(1));
        let is_alone = before.is_none() && behind.is_none();
        let fits_before = before.is_some_and(|before| before == own.checked_sub(1));
        let fits_behind = behind == Some(own.checked_add(1));
        // No number at all is no neighbour's either.
        let fits = (fits_before && own > 0) || fits_behind;
        (is_alone || fits).then_some(own)
    };
    (0..pieces.len()).map(confirmed).collect()
}

/// A gap of no bytes.
fn nothing_at(member: &Member, at: u64) -> Gap {
    Gap {
        bytes: at..at,
        number: None,
        chunks: None,
        len: None,
        is_short: false,
        section: Section::Chunk,
        error: FormatError::MissingChunks {
            found: member.sound,
            expected: member.count.unwrap_or(member.sound),
        },
    }
}

/// The number of a chunk by the table, if it begins and ends where that says.
fn located(member: &Member, found: &Found) -> Option<u64> {
    let number = member.table.number_at(found.at)?;
    let end = found.bytes(member.checksum.unwrap_or(Checksum::None)).end;
    let next = member.table.place_of(number.saturating_add(1));
    let ends_there = |next: u64| end == next || (member.allows_spare() && end < next);
    next.is_none_or(ends_there).then_some(number)
}

/// Between two chunks of the table lie as many as their numbers say.
fn count_between(member: &Member, pieces: &mut [Piece]) {
    let numbers = numbers(member, pieces);
    let is_open = |piece: &Piece| matches!(piece, Piece::Gap(gap) if gap.chunks.is_none());
    let open: Vec<_> = pieces.iter().map(is_open).collect();
    let (mut next, mut from) = (Some(0), 0);
    for at in 0..=pieces.len() {
        let number = match numbers.get(at) {
            Some(None) => continue,
            Some(number) => *number,
            None => member.count,
        };
        if let (Some(first), Some(number)) = (next, number)
            && let Some(between) = pieces.get_mut(from..at)
        {
            share(between, number.saturating_sub(first));
        }
        next = number.map(|number| number.saturating_add(1));
        from = at.saturating_add(1);
    }
    if member.count.is_none_or(|count| accounted(pieces) <= count) {
        return;
    }
    // The table has misled.
    for (piece, _) in pieces.iter_mut().zip(open).filter(|(_, is_open)| *is_open) {
        if let Some(gap) = piece.gap_mut() {
            gap.chunks = None;
        }
    }
}

/// Gives the one open gap among these what the others leave of so many chunks; if nothing is left,
/// any number of them.
fn share(pieces: &mut [Piece], chunks: u64) {
    let Some(left) = chunks.checked_sub(accounted(pieces)) else {
        return;
    };
    let mut open: Vec<_> = pieces
        .iter_mut()
        .filter_map(Piece::gap_mut)
        .filter(|gap| gap.chunks.is_none())
        .collect();
    if open.len() == 1 || left == 0 {
        open.iter_mut().for_each(|gap| gap.chunks = Some(left));
    }
}

/// Nothing is missing at the end if the last chunks, though moved, are as long as the table has its
/// last ones.
fn close_end(member: &Member, pieces: &mut [Piece]) {
    let Some((Piece::Gap(tail), before)) = pieces.split_last_mut() else {
        return;
    };
    let run = before.iter().rev().map_while(|piece| match piece {
        Piece::Chunk(found) => Some(found),
        Piece::Gap(_) => None,
    });
    let run: Vec<_> = run.collect();
    let number = |from_end: usize| {
        let from_end = u64::try_from(from_end).ok()?;
        member.count?.checked_sub(from_end)?.checked_sub(1)
    };
    let place = |from_end: usize| member.table.place_of(number(from_end)?);
    let is_same = |(index, pair): (usize, &[&Found])| {
        let [later, earlier] = pair else { return false };
        let by_table = place(index).zip(place(index.saturating_add(1)));
        let len = later.at.checked_sub(earlier.at);
        by_table.and_then(|(later, earlier)| later.checked_sub(earlier)) == len
    };
    let is_whole = run.len() > 1 && run.windows(2).enumerate().all(is_same);
    if is_whole && tail.bytes.is_empty() && tail.chunks.is_none() {
        tail.chunks = Some(0);
    }
}

/// What is missing by the count is what the one open gap has lost.
fn share_missing(member: &Member, pieces: &mut [Piece]) {
    if let Some(count) = member.count {
        share(pieces, count.max(accounted(pieces)));
    }
}

/// Records have any length.
fn forget_lengths(pieces: &mut [Piece]) {
    for gap in pieces.iter_mut().filter_map(Piece::gap_mut) {
        gap.len = None;
    }
}
