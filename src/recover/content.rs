//! From what a scan found to the content: which chunks there are, what is lost between them, and
//! where that was.

use super::member::{Bad, Item, Member};
use super::probe::Found;
use bloscpack_wire::{Checksum, FormatError, FormatVersion, Section, offsets::CHUNK_HEADER_LEN};
use std::ops::Range;

/// A stretch of a member's content.
#[derive(Debug)]
pub(super) enum Piece {
    /// A sound chunk.
    Chunk(Found),
    /// Nothing that is sound.
    Gap(Box<Gap>),
}

/// Bytes of the source that hold no sound chunk, or chunks that are missing.
#[derive(Debug)]
pub(super) struct Gap {
    pub bytes: Range<u64>,
    /// The number of its first chunk, where that is known.
    pub number: Option<u64>,
    /// How many chunks are lost, where that is known or can be inferred.
    pub chunks: Option<u64>,
    /// Uncompressed bytes of those.
    pub len: Option<u64>,
    /// Bytes are missing here, and with them perhaps whole chunks.
    pub is_short: bool,
    pub section: Section,
    pub error: FormatError,
}

impl Gap {
    fn of(bad: Bad) -> Self {
        Self {
            bytes: bad.bytes,
            number: None,
            chunks: bad.chunks,
            len: bad.nbytes.map(u64::from),
            is_short: bad.is_short,
            section: Section::Chunk,
            error: bad.error,
        }
    }
}

/// The pieces of a member's content, in order.
pub(super) fn pieces(member: &mut Member, size: u64) -> Vec<Piece> {
    let items = without_data(member);
    let mut pieces: Vec<_> = items.into_iter().map(Piece::of).collect();
    let is_open = ends_open(member, &pieces, size);
    if is_open || member.count.is_some() {
        let tail = tail(member, &pieces, size);
        pieces.push(Piece::Gap(Box::new(tail)));
    }
    close_small_gaps(member, &mut pieces);
    let doubtful = match member.count {
        Some(count) if accounted(&pieces) >= count => {
            torn(member, &pieces, &by_table(member, &pieces))
        }
        _ => Vec::new(),
    };
    count_by_table(member, &mut pieces);
    count_by_header(member, &mut pieces, is_open);
    open(&mut pieces, &doubtful);
    measure(member, &mut pieces);
    number(&mut pieces);
    let is_real = |gap: &Gap| !gap.bytes.is_empty() || gap.chunks != Some(0);
    pieces.retain(|piece| !matches!(piece, Piece::Gap(gap) if !is_real(gap)));
    pieces
}

/// What may be missing behind the last byte.
pub(super) fn tail(member: &Member, pieces: &[Piece], size: u64) -> Gap {
    let end = match pieces.last() {
        Some(Piece::Chunk(found)) => found.bytes(member.checksum.unwrap_or(Checksum::None)).end,
        Some(Piece::Gap(gap)) => gap.bytes.end,
        None => member.first_at.min(size),
    };
    let found = member.sound;
    let error = match member.count {
        _ if member.is_unfilled => FormatError::Unfinished { found },
        Some(expected) => FormatError::MissingChunks { found, expected },
        None => FormatError::Unterminated,
    };
    Gap {
        bytes: end..end,
        number: None,
        chunks: None,
        len: None,
        is_short: false,
        section: Section::Chunk,
        error,
    }
}

/// Whether something may be missing behind the last item.
fn ends_open(member: &Member, pieces: &[Piece], size: u64) -> bool {
    let last_chunk = member.header.as_ref().and_then(|header| header.last_chunk);
    let differs = |nbytes: u64| last_chunk.is_some_and(|last| u64::from(last) != nbytes);
    if member.is_ended {
        return false;
    }
    let count = member.count;
    match pieces.last() {
        _ if count.is_none() => true,
        None => count != Some(0),
        Some(Piece::Chunk(found)) => match member.table.number_at(found.at) {
            Some(number) => count != Some(number.saturating_add(1)),
            None => differs(found.nbytes.into()),
        },
        Some(Piece::Gap(gap)) => {
            let is_cut = gap.bytes.end == size && matches!(gap.error, FormatError::Cut { .. });
            gap.chunks.is_some() && (is_cut || gap.len.is_some_and(differs))
        }
    }
}

/// What is shorter than any chunk was none, and neither was a head of usual length.
pub(super) fn close_small_gaps(member: &Member, pieces: &mut [Piece]) {
    let least = CHUNK_HEADER_LEN.saturating_add(member.digest_len());
    let heads = [0, 8, 16, 32].map(|len| member.at.saturating_add(len));
    let is_lost = member.header.is_none();
    for (index, piece) in pieces.iter_mut().enumerate() {
        let Piece::Gap(gap) = piece else { continue };
        let len = gap.bytes.end.saturating_sub(gap.bytes.start);
        let is_head = index == 0 && is_lost && (heads.contains(&gap.bytes.end) || len == 0);
        let is_small = len > 0 && len < least;
        if gap.chunks.is_none() && (is_small || is_head) {
            gap.chunks = Some(0);
            // Still, what is missing may have been here.
            gap.is_short |= is_small && !is_head;
        }
    }
}

/// The number of each chunk that begins where the table says.
fn by_table(member: &Member, pieces: &[Piece]) -> Vec<Option<u64>> {
    let number = |piece: &Piece| match piece {
        Piece::Chunk(found) => member.table.number_at(found.at),
        Piece::Gap(_) => None,
    };
    pieces.iter().map(number).collect()
}

/// Where all chunks that are counted were found, and a table says of some what their `numbers` are:
/// the gaps that may be chunks all the same. Where nothing has moved before and behind, but chunks
/// and damage between, these chunks are in the place of others, as when one part of a file was
/// written over another.
pub(super) fn torn(member: &Member, pieces: &[Piece], numbers: &[Option<u64>]) -> Vec<usize> {
    let least = CHUNK_HEADER_LEN.saturating_add(member.digest_len());
    let (mut torn, mut gaps, mut has_moved) = (Vec::new(), Vec::new(), false);
    for (index, (piece, number)) in pieces.iter().zip(numbers).enumerate() {
        match (piece, number) {
            (Piece::Chunk(_), Some(_)) => {
                if has_moved {
                    torn.append(&mut gaps);
                }
                gaps.clear();
                has_moved = false;
            }
            (Piece::Chunk(_), None) => has_moved = true,
            (Piece::Gap(gap), _) => {
                let len = gap.bytes.end.saturating_sub(gap.bytes.start);
                if gap.chunks.is_none() && len >= least {
                    gaps.push(index);
                }
            }
        }
    }
    torn
}

/// Takes back how many chunks these gaps are.
pub(super) fn open(pieces: &mut [Piece], gaps: &[usize]) {
    for index in gaps {
        if let Some(gap) = pieces.get_mut(*index).and_then(Piece::gap_mut) {
            gap.chunks = None;
        }
    }
}

/// Between two chunks of the table lie as many as their numbers say.
fn count_by_table(member: &Member, pieces: &mut [Piece]) {
    // If none is missing, a table that disagrees is wrong.
    let is_all = member.count.is_some_and(|count| accounted(pieces) >= count);
    if member.table.len() == 0 || is_all {
        return;
    }
    let mut next_number = Some(0);
    let mut from = 0;
    for at in 0..=pieces.len() {
        let number = match pieces.get(at) {
            Some(Piece::Gap(_)) => continue,
            Some(Piece::Chunk(found)) => member.table.number_at(found.at),
            None => member.count,
        };
        if let (Some(first), Some(number)) = (next_number, number)
            && let Some(gaps) = pieces.get_mut(from..at)
        {
            share(gaps, number.saturating_sub(first));
        }
        next_number = number.map(|number| number.saturating_add(1));
        from = at.saturating_add(1);
    }
}

/// Gives the one open gap among these what the others leave of so many chunks.
fn share(gaps: &mut [Piece], chunks: u64) {
    let known: u64 = gaps.iter().filter_map(chunks_lost).sum();
    let mut open = gaps.iter_mut().filter_map(|piece| match piece {
        Piece::Gap(gap) if gap.chunks.is_none() => Some(gap),
        _ => None,
    });
    if let (Some(gap), None, Some(left)) = (open.next(), open.next(), chunks.checked_sub(known)) {
        gap.chunks = Some(left);
    }
}

fn chunks_lost(piece: &Piece) -> Option<u64> {
    match piece {
        Piece::Gap(gap) => gap.chunks,
        Piece::Chunk(_) => Some(0),
    }
}

/// Chunks that are sound, or lost in known number.
pub(super) fn accounted(pieces: &[Piece]) -> u64 {
    let chunks = pieces.iter().map(|piece| match piece {
        Piece::Chunk(_) => 1,
        Piece::Gap(gap) => gap.chunks.unwrap_or(0),
    });
    chunks.sum()
}

/// What is missing by the header's count is what the open gaps have lost.
fn count_by_header(member: &Member, pieces: &mut [Piece], is_open: bool) {
    let Some(count) = member.count else {
        return;
    };
    let missing = count.saturating_sub(accounted(pieces));
    let is_tail = |gap: &Gap| gap.bytes.is_empty();
    let gaps = pieces.iter().filter_map(|piece| match piece {
        Piece::Gap(gap) if gap.chunks.is_none() => Some(gap),
        _ => None,
    });
    let gaps: Vec<_> = gaps.map(|gap| is_tail(gap)).collect();
    let inner = gaps.iter().filter(|is_tail| !**is_tail).count();
    if missing > 0 && inner == 0 && !is_open && hides(pieces, missing) {
        return;
    }
    // Where the end is where it should be, the tail counts only if nothing else is open.
    let counts_tail = gaps.contains(&true) && (is_open || inner == 0);
    let open = inner.saturating_add(usize::from(counts_tail));
    let each = match u64::try_from(open).unwrap_or(u64::MAX) {
        _ if missing == 0 => Some(0),
        1 => Some(missing),
        open if open == missing => Some(1),
        _ => None,
    };
    for piece in pieces {
        if let Piece::Gap(gap) = piece
            && gap.chunks.is_none()
        {
            gap.chunks = if is_tail(gap) && !counts_tail {
                Some(0)
            } else {
                each
            };
        }
    }
}

/// Where all else is closed, whole chunks are missing where bytes are, or else where any damage is,
/// if that is one place.
fn hides(pieces: &mut [Piece], missing: u64) -> bool {
    let is_short = |piece: &Piece| matches!(piece, Piece::Gap(gap) if gap.is_short);
    let is_damage = |piece: &Piece| matches!(piece, Piece::Gap(gap) if !gap.bytes.is_empty());
    let Some(short) = one_place(pieces, is_short).or_else(|| one_place(pieces, is_damage)) else {
        return false;
    };
    for (index, piece) in pieces.iter_mut().enumerate() {
        match piece {
            Piece::Gap(gap) if index == short => {
                gap.chunks = gap.chunks.map(|chunks| chunks.saturating_add(missing));
                gap.len = None;
            }
            Piece::Gap(gap) if gap.chunks.is_none() => gap.chunks = Some(0),
            _ => {}
        }
    }
    true
}

/// Where the first of these pieces is, if no chunk lies between them.
fn one_place(pieces: &[Piece], wanted: impl Fn(&Piece) -> bool) -> Option<usize> {
    let first = pieces.iter().position(&wanted)?;
    let last = pieces.iter().rposition(&wanted)?;
    let is_chunk = |piece: &Piece| matches!(piece, Piece::Chunk(_));
    let are_apart = pieces.get(first..last)?.iter().any(is_chunk);
    (!are_apart).then_some(first)
}

/// Finds the lengths of lost chunks, where all but the last are of one size.
fn measure(member: &Member, pieces: &mut [Piece]) {
    let size = uniform_size(member, pieces);
    let last = member.header.as_ref().and_then(|header| header.last_chunk);
    let mut holds_last = member.count.is_some();
    for piece in pieces.iter_mut().rev() {
        let Piece::Gap(gap) = piece else {
            holds_last = false;
            continue;
        };
        let Some(chunks) = gap.chunks else {
            holds_last = false;
            gap.len = None;
            continue;
        };
        if chunks == 0 {
            gap.len = Some(0);
            continue;
        }
        if gap.len.is_none() || chunks > 1 {
            let full = if holds_last { chunks - 1 } else { chunks };
            let end = if holds_last {
                last.map(u64::from)
            } else {
                Some(0)
            };
            let before = match full {
                0 => Some(0),
                full => size.and_then(|size| full.checked_mul(size.into())),
            };
            gap.len = before
                .zip(end)
                .and_then(|(before, end)| before.checked_add(end));
        }
        holds_last = false;
    }
}

/// The length of all chunks but the last, by the header or, where that is lost or wrong, by the
/// chunks.
fn uniform_size(member: &Member, pieces: &[Piece]) -> Option<u32> {
    let mut sizes = pieces.iter().filter_map(|piece| match piece {
        Piece::Chunk(found) => Some(found.nbytes),
        Piece::Gap(_) => None,
    });
    let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
    let claimed = claimed.filter(|size| *size > 0);
    let Some(last) = sizes.next_back() else {
        return claimed;
    };
    let others: Vec<_> = sizes.collect();
    match others.first() {
        None if claimed.is_some_and(|size| last <= size) => claimed,
        None => Some(last),
        Some(size) if others.iter().all(|other| other == size) && last <= *size => Some(*size),
        Some(_) => None,
    }
}

/// Numbers the gaps, as far as nothing uncertain lies before them.
pub(super) fn number(pieces: &mut [Piece]) {
    let mut next = Some(0);
    for piece in pieces {
        if let Piece::Gap(gap) = piece {
            gap.number = next.filter(|_| gap.chunks != Some(0));
        }
        next = piece.number_behind(next);
    }
}

/// The first entry of the table that leads elsewhere than to its chunk, which is sound.
pub(super) fn wrong_entry(member: &Member, pieces: &[Piece]) -> Option<FormatError> {
    let mut next = Some(0);
    for piece in pieces {
        let number = next?;
        if let Piece::Chunk(found) = piece
            && let Some(at) = member.table.place_of(number)
            && at != found.at
        {
            let offset = |at: u64| at.saturating_sub(member.at);
            return Some(FormatError::Offset {
                entry: number,
                found: offset(at).into(),
                expected: format!("{}, where its chunk lies", offset(found.at)),
            });
        }
        next = piece.number_behind(next);
    }
    None
}

impl Piece {
    pub(super) fn of(item: Item) -> Self {
        match item {
            Item::Sound(found) => Self::Chunk(found),
            Item::Bad(bad) => Self::Gap(Box::new(Gap::of(*bad))),
        }
    }

    pub(super) fn gap_mut(&mut self) -> Option<&mut Gap> {
        match self {
            Self::Gap(gap) => Some(gap),
            Self::Chunk(_) => None,
        }
    }

    /// The number of the chunk behind this piece, by that of the first in it.
    pub(super) fn number_behind(&self, first: Option<u64>) -> Option<u64> {
        let chunks = match self {
            Self::Chunk(_) => Some(1),
            Self::Gap(gap) => gap.chunks,
        };
        first
            .zip(chunks)
            .map(|(first, chunks)| first.saturating_add(chunks))
    }
}

/// The items of a member without those that can only be data of a damaged chunk: where there are
/// more chunks than the header counts, and one would be missing without those that lie between
/// damage of unknown extent, it is that one whose data they are.
pub(super) fn without_data(member: &mut Member) -> Vec<Item> {
    let items = without_misfits(member);
    let Some(count) = member.count else {
        return items;
    };
    if is_possible(&items, count, member) {
        return items;
    }
    let least = CHUNK_HEADER_LEN.saturating_add(member.digest_len());
    let is_open = |item: &Item| match item {
        Item::Bad(bad) => bad.is_open() && bad.bytes.end.saturating_sub(bad.bytes.start) >= least,
        Item::Sound(_) => false,
    };
    let first = items.iter().position(is_open);
    let last = items.iter().rposition(is_open);
    let (Some(first), Some(last)) = (first, last) else {
        return items;
    };
    let is_named = items.get(first..last).unwrap_or_default().iter().any(
        |item| matches!(item, Item::Sound(found) if member.table.number_at(found.at).is_some()),
    );
    if first == last || is_named {
        return items;
    }
    let dropped = items.get(first..=last).unwrap_or_default().iter();
    let dropped = dropped
        .filter(|item| matches!(item, Item::Sound(_)))
        .count();
    // What stays counts every chunk, with or without one for the damage in between: else what would
    // go may be chunks after all.
    let outside = items
        .get(..first)
        .into_iter()
        .chain(items.get(last.saturating_add(1)..))
        .flatten();
    let outside: u64 = outside.map(|item| counted(item, least)).sum();
    if outside != count && outside.saturating_add(1) != count {
        return items;
    }
    member.sound = member
        .sound
        .saturating_sub(u64::try_from(dropped).unwrap_or(0));
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match (item, kept.last_mut()) {
            (Item::Bad(bad), Some(Item::Bad(before))) if index > first && index <= last => {
                before.bytes.end = bad.bytes.end;
                before.chunks = None;
                before.nbytes = None;
            }
            (_, _) if index > first && index <= last => {}
            (item, _) => kept.push(item),
        }
    }
    kept
}

/// The items without chunks of another size than the others have, between damage on both sides.
fn without_misfits(member: &mut Member) -> Vec<Item> {
    let mut items = std::mem::take(&mut member.items);
    let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
    let last_chunk = member.header.as_ref().and_then(|header| header.last_chunk);
    let usual = |item: &&Item| matches!(item, Item::Sound(found) if Some(found.nbytes) == claimed);
    let confirming = u64::try_from(items.iter().filter(usual).count()).unwrap_or(0);
    let last = items
        .iter()
        .rposition(|item| matches!(item, Item::Sound(_)));
    if confirming < 2 || confirming.saturating_mul(2) < member.sound {
        return items;
    }
    let is_bad = |index: Option<usize>| {
        let item = index.and_then(|index| items.get(index));
        matches!(item, Some(Item::Bad(_)))
    };
    let misfits: Vec<_> = (0..items.len())
        .filter(|index| {
            let size = match items.get(*index) {
                Some(Item::Sound(found)) => Some(found.nbytes),
                _ => claimed,
            };
            let is_alone = is_bad(index.checked_sub(1)) && is_bad(index.checked_add(1));
            let is_possible = size == claimed || size == last_chunk;
            !is_possible && is_alone && Some(*index) != last
        })
        .collect();
    if misfits.is_empty() {
        return items;
    }
    let checksum = member.checksum.unwrap_or(Checksum::None);
    let mut misfits = misfits.into_iter().peekable();
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    for (index, item) in items.drain(..).enumerate() {
        let is_misfit = misfits.next_if_eq(&index).is_some();
        match (item, kept.last_mut()) {
            // It goes to the damage before it.
            (Item::Sound(found), Some(Item::Bad(before))) if is_misfit => {
                before.bytes.end = found.bytes(checksum).end;
                member.sound = member.sound.saturating_sub(1);
            }
            (item, _) => kept.push(item),
        }
    }
    kept
}

/// Whether so many chunks can be counted among the items.
fn is_possible(items: &[Item], count: u64, member: &Member) -> bool {
    let least = CHUNK_HEADER_LEN.saturating_add(member.digest_len());
    items.iter().map(|item| counted(item, least)).sum::<u64>() <= count
}

/// How many chunks an item is, or is at the least.
fn counted(item: &Item, least: u64) -> u64 {
    match item {
        Item::Sound(_) => 1,
        Item::Bad(bad) => bad.chunks.unwrap_or_else(|| {
            let len = bad.bytes.end.saturating_sub(bad.bytes.start);
            u64::from(len >= least)
        }),
    }
}

/// Whether bytes behind the last chunk may be there, as the reference's append leaves them.
pub(super) fn tolerates_trailing(member: &Member) -> bool {
    member.header.as_ref().is_some_and(|header| {
        header.layout == FormatVersion::V3 && (header.offsets || header.checksum == Checksum::None)
    })
}
