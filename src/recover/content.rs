//! Turns the items of a scan into the content: its chunks, and the position and the length of each loss between them.

use super::member::{FoundMember, Item};
use super::probe::SoundChunk;
use crate::checked::{len_of, to_u64};
use bloscpack_wire::{Checksum, FormatError, internal::CHUNK_HEADER_LEN};
use std::ops::Range;

/// A part of a member's content.
#[derive(Debug)]
pub(super) enum Stretch {
    /// A sound chunk.
    Chunk(SoundChunk),
    /// No sound chunk.
    Gap(Box<Gap>),
}

/// Bytes of the source without a sound chunk, or missing chunks.
#[derive(Debug)]
pub(super) struct Gap {
    pub bytes: Range<u64>,
    /// The number of its first chunk, if it is known.
    pub number: Option<u64>,
    /// How many chunks are lost, if that is known or can be inferred.
    pub chunks: Option<u64>,
    /// Uncompressed bytes of those.
    pub len: Option<u64>,
    /// Bytes are missing here, and whole chunks may be missing with them.
    pub is_short: bool,
    pub error: FormatError,
}

impl Gap {
    /// A gap of which nothing else is known.
    pub(super) fn new(bytes: Range<u64>, error: FormatError) -> Self {
        Self {
            bytes,
            number: None,
            chunks: None,
            len: None,
            is_short: false,
            error,
        }
    }
}

/// The stretches of a member's content, in order.
pub(super) fn stretches(member: &mut FoundMember, size: u64) -> Vec<Stretch> {
    let items = without_data(member);
    let mut stretches: Vec<_> = items.into_iter().map(Stretch::of).collect();
    let is_open = ends_open(member, &stretches, size);
    if is_open || member.count.is_some() {
        let tail = tail(member, &stretches, size);
        stretches.push(Stretch::Gap(Box::new(tail)));
    }
    close_small_gaps(member, &mut stretches);
    let doubtful = match member.count {
        Some(count) if accounted(&stretches) >= count => {
            torn(member, &stretches, &by_table(member, &stretches))
        }
        _ => Vec::new(),
    };
    count_by_table(member, &mut stretches);
    count_by_header(member, &mut stretches, is_open);
    open(&mut stretches, &doubtful);
    measure(member, &mut stretches);
    number(&mut stretches);
    let is_real = |gap: &Gap| !gap.bytes.is_empty() || gap.chunks != Some(0);
    stretches.retain(|stretch| !matches!(stretch, Stretch::Gap(gap) if !is_real(gap)));
    stretches
}

/// The gap after the last byte, in which chunks may be missing.
pub(super) fn tail(member: &FoundMember, stretches: &[Stretch], size: u64) -> Gap {
    let end = match stretches.last() {
        Some(Stretch::Chunk(found)) => found.bytes(member.checksum.unwrap_or(Checksum::None)).end,
        Some(Stretch::Gap(gap)) => gap.bytes.end,
        None => member.first_at.min(size),
    };
    let found = member.sound;
    let error = match member.count {
        _ if member.is_unfilled => FormatError::Unfinished { found },
        Some(expected) => FormatError::MissingChunks { found, expected },
        None => FormatError::Unterminated,
    };
    Gap::new(end..end, error)
}

/// Whether chunks may be missing after the last item.
fn ends_open(member: &FoundMember, stretches: &[Stretch], size: u64) -> bool {
    let last_chunk = member.header.as_ref().and_then(|header| header.last_chunk);
    let differs = |nbytes: u64| last_chunk.is_some_and(|last| u64::from(last) != nbytes);
    if member.is_ended {
        return false;
    }
    let count = member.count;
    match stretches.last() {
        _ if count.is_none() => true,
        None => count != Some(0),
        Some(Stretch::Chunk(found)) => match member.table.number_at(found.at) {
            Some(number) => count != Some(number + 1),
            None => differs(found.nbytes.into()),
        },
        Some(Stretch::Gap(gap)) => {
            let is_cut = gap.bytes.end == size && matches!(gap.error, FormatError::Cut { .. });
            gap.chunks.is_some() && (is_cut || gap.len.is_some_and(differs))
        }
    }
}

/// Gaps that are shorter than any chunk were not chunks, and neither was a head of usual length.
pub(super) fn close_small_gaps(member: &FoundMember, stretches: &mut [Stretch]) {
    let least = CHUNK_HEADER_LEN + member.digest_len();
    let heads = [0, 8, 16, 32].map(|len| member.at + len);
    let is_lost = member.header.is_none();
    for (index, stretch) in stretches.iter_mut().enumerate() {
        let Stretch::Gap(gap) = stretch else { continue };
        let len = len_of(&gap.bytes);
        let is_head = index == 0 && is_lost && (heads.contains(&gap.bytes.end) || len == 0);
        let is_small = len > 0 && len < least;
        if gap.chunks.is_none() && (is_small || is_head) {
            gap.chunks = Some(0);
            // Still, missing chunks may have been here.
            gap.is_short |= is_small && !is_head;
        }
    }
}

/// The number of each chunk that begins at its entry in the table.
fn by_table(member: &FoundMember, stretches: &[Stretch]) -> Vec<Option<u64>> {
    let number = |stretch: &Stretch| match stretch {
        Stretch::Chunk(found) => member.table.number_at(found.at),
        Stretch::Gap(_) => None,
    };
    stretches.iter().map(number).collect()
}

/// The gaps that may be chunks although all counted chunks of the member were found; `numbers` are the numbers of the chunks
/// that the table knows. If chunks and damage are between two chunks that have not moved, these chunks are in the place of
/// others, as if one part of a file was written over another.
pub(super) fn torn(
    member: &FoundMember,
    stretches: &[Stretch],
    numbers: &[Option<u64>],
) -> Vec<usize> {
    let least = CHUNK_HEADER_LEN + member.digest_len();
    let (mut torn, mut gaps, mut has_moved) = (Vec::new(), Vec::new(), false);
    for (index, (stretch, number)) in stretches.iter().zip(numbers).enumerate() {
        match (stretch, number) {
            (Stretch::Chunk(_), Some(_)) => {
                if has_moved {
                    torn.append(&mut gaps);
                }
                gaps.clear();
                has_moved = false;
            }
            (Stretch::Chunk(_), None) => has_moved = true,
            (Stretch::Gap(gap), _) => {
                let len = len_of(&gap.bytes);
                if gap.chunks.is_none() && len >= least {
                    gaps.push(index);
                }
            }
        }
    }
    torn
}

/// Marks the number of chunks in these gaps as unknown.
pub(super) fn open(stretches: &mut [Stretch], gaps: &[usize]) {
    for index in gaps {
        if let Some(gap) = stretches.get_mut(*index).and_then(Stretch::gap_mut) {
            gap.chunks = None;
        }
    }
}

/// The chunks between two chunks of the table are counted by their numbers.
fn count_by_table(member: &FoundMember, stretches: &mut [Stretch]) {
    // If none is missing, a table that contradicts that is wrong.
    let is_all = member
        .count
        .is_some_and(|count| accounted(stretches) >= count);
    if member.table.len() == 0 || is_all {
        return;
    }
    let mut next_number = Some(0);
    let mut from = 0;
    for at in 0..=stretches.len() {
        let number = match stretches.get(at) {
            Some(Stretch::Gap(_)) => continue,
            Some(Stretch::Chunk(found)) => member.table.number_at(found.at),
            None => member.count,
        };
        if let (Some(first), Some(number)) = (next_number, number)
            && let Some(gaps) = stretches.get_mut(from..at)
        {
            share(gaps, len_of(&(first..number)));
        }
        next_number = number.map(|number| number + 1);
        from = at + 1;
    }
}

/// Attributes to the one open gap among these the chunks that the others do not account for.
fn share(gaps: &mut [Stretch], chunks: u64) {
    let known: u64 = gaps.iter().filter_map(chunks_lost).sum();
    let mut open = gaps.iter_mut().filter_map(|stretch| match stretch {
        Stretch::Gap(gap) if gap.chunks.is_none() => Some(gap),
        _ => None,
    });
    if let (Some(gap), None, Some(left)) = (open.next(), open.next(), chunks.checked_sub(known)) {
        gap.chunks = Some(left);
    }
}

fn chunks_lost(stretch: &Stretch) -> Option<u64> {
    match stretch {
        Stretch::Gap(gap) => gap.chunks,
        Stretch::Chunk(_) => Some(0),
    }
}

/// Chunks that are sound, or lost in known number.
pub(super) fn accounted(stretches: &[Stretch]) -> u64 {
    let chunks = stretches.iter().map(|stretch| match stretch {
        Stretch::Chunk(_) => 1,
        Stretch::Gap(gap) => gap.chunks.unwrap_or(0),
    });
    chunks.sum()
}

/// The chunks that are missing by the header's count are lost in the open gaps.
fn count_by_header(member: &FoundMember, stretches: &mut [Stretch], is_open: bool) {
    let Some(count) = member.count else {
        return;
    };
    let missing = len_of(&(accounted(stretches)..count));
    let is_tail = |gap: &Gap| gap.bytes.is_empty();
    let gaps = stretches.iter().filter_map(|stretch| match stretch {
        Stretch::Gap(gap) if gap.chunks.is_none() => Some(gap),
        _ => None,
    });
    let gaps: Vec<_> = gaps.map(|gap| is_tail(gap)).collect();
    let inner = gaps.iter().filter(|is_tail| !**is_tail).count();
    if missing > 0 && inner == 0 && !is_open && hides(stretches, missing) {
        return;
    }
    // If the end is where it should be, the tail counts only if nothing else is open.
    let counts_tail = gaps.contains(&true) && (is_open || inner == 0);
    let open = inner + usize::from(counts_tail);
    let each = match to_u64(open) {
        _ if missing == 0 => Some(0),
        1 => Some(missing),
        open if open == missing => Some(1),
        _ => None,
    };
    for stretch in stretches {
        if let Stretch::Gap(gap) = stretch
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

/// If everything else is closed, whole chunks are missing where bytes are, or otherwise where any damage is, if that is one
/// place.
fn hides(stretches: &mut [Stretch], missing: u64) -> bool {
    let is_short = |stretch: &Stretch| matches!(stretch, Stretch::Gap(gap) if gap.is_short);
    let is_damage =
        |stretch: &Stretch| matches!(stretch, Stretch::Gap(gap) if !gap.bytes.is_empty());
    let Some(short) = one_place(stretches, is_short).or_else(|| one_place(stretches, is_damage))
    else {
        return false;
    };
    for (index, stretch) in stretches.iter_mut().enumerate() {
        match stretch {
            Stretch::Gap(gap) if index == short => {
                // Saturates: a damaged header may count any number.
                gap.chunks = gap.chunks.map(|chunks| chunks.saturating_add(missing));
                gap.len = None;
            }
            Stretch::Gap(gap) if gap.chunks.is_none() => gap.chunks = Some(0),
            _ => {}
        }
    }
    true
}

/// The index of the first of these stretches, if no chunk is between them.
fn one_place(stretches: &[Stretch], wanted: impl Fn(&Stretch) -> bool) -> Option<usize> {
    let first = stretches.iter().position(&wanted)?;
    let last = stretches.iter().rposition(&wanted)?;
    let is_chunk = |stretch: &Stretch| matches!(stretch, Stretch::Chunk(_));
    let are_apart = stretches.get(first..last)?.iter().any(is_chunk);
    (!are_apart).then_some(first)
}

/// Finds the lengths of lost chunks, if all except the last have one size.
fn measure(member: &FoundMember, stretches: &mut [Stretch]) {
    let size = uniform_size(member, stretches);
    let last = member.header.as_ref().and_then(|header| header.last_chunk);
    let mut holds_last = member.count.is_some();
    for stretch in stretches.iter_mut().rev() {
        let Stretch::Gap(gap) = stretch else {
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

/// The length of all chunks except the last, by the header or, if that is lost or wrong, by the chunks.
fn uniform_size(member: &FoundMember, stretches: &[Stretch]) -> Option<u32> {
    let mut sizes = stretches.iter().filter_map(|stretch| match stretch {
        Stretch::Chunk(found) => Some(found.nbytes),
        Stretch::Gap(_) => None,
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

/// Numbers the gaps, as far as nothing before them is uncertain.
pub(super) fn number(stretches: &mut [Stretch]) {
    let mut next = Some(0);
    for stretch in stretches {
        if let Stretch::Gap(gap) = stretch {
            gap.number = next.filter(|_| gap.chunks != Some(0));
        }
        next = stretch.number_after(next);
    }
}

/// The first entry of the table that does not lead to its chunk, which is sound.
pub(super) fn wrong_entry(member: &FoundMember, stretches: &[Stretch]) -> Option<FormatError> {
    let mut next = Some(0);
    for stretch in stretches {
        let number = next?;
        if let Stretch::Chunk(found) = stretch
            && let Some(at) = member.table.place_of(number)
            && at != found.at
        {
            let offset = |at: u64| len_of(&(member.at..at));
            return Some(FormatError::Offset {
                entry: number,
                found: offset(at).into(),
                expected: format!("{}, where its chunk begins", offset(found.at)),
            });
        }
        next = stretch.number_after(next);
    }
    None
}

impl Stretch {
    pub(super) fn of(item: Item) -> Self {
        match item {
            Item::Sound(found) => Self::Chunk(found),
            Item::DamagedRange(bad) => Self::Gap(Box::new(Gap {
                chunks: bad.chunks,
                len: bad.nbytes.map(u64::from),
                is_short: bad.is_short,
                ..Gap::new(bad.bytes, bad.error)
            })),
        }
    }

    pub(super) fn gap_mut(&mut self) -> Option<&mut Gap> {
        match self {
            Self::Gap(gap) => Some(gap),
            Self::Chunk(_) => None,
        }
    }

    /// The number of the chunk after this stretch, by that of the first in it.
    pub(super) fn number_after(&self, first: Option<u64>) -> Option<u64> {
        let chunks = match self {
            Self::Chunk(_) => Some(1),
            Self::Gap(gap) => gap.chunks,
        };
        first
            .zip(chunks)
            // Saturates: a damaged header may count any number.
            .map(|(first, chunks)| first.saturating_add(chunks))
    }
}

/// The items of a member without those that can only be data of a damaged chunk. If there are more chunks than the header
/// counts, and one would be missing without those between damage of unknown extent, they are data of that one.
pub(super) fn without_data(member: &mut FoundMember) -> Vec<Item> {
    let items = without_misfits(member);
    let Some(count) = member.count else {
        return items;
    };
    if is_possible(&items, count, member) {
        return items;
    }
    let least = CHUNK_HEADER_LEN + member.digest_len();
    let is_open = |item: &Item| match item {
        Item::DamagedRange(bad) => bad.is_open() && len_of(&bad.bytes) >= least,
        Item::Sound(_) => false,
    };
    let first = items.iter().position(is_open);
    let last = items.iter().rposition(is_open);
    let (Some(first), Some(last)) = (first, last) else {
        return items;
    };
    let mut between = items.iter().take(last).skip(first);
    let is_named = between.any(
        |item| matches!(item, Item::Sound(found) if member.table.number_at(found.at).is_some()),
    );
    if first == last || is_named {
        return items;
    }
    let dropped = items.iter().take(last + 1).skip(first);
    let dropped = dropped
        .filter(|item| matches!(item, Item::Sound(_)))
        .count();
    // The items that stay must account for every chunk, with or without one for the damage in between: otherwise the items
    // that would go may be chunks after all.
    let outside = items
        .get(..first)
        .into_iter()
        .chain(items.get(last + 1..))
        .flatten();
    let outside: u64 = outside.map(|item| counted(item, least)).sum();
    if outside != count && outside + 1 != count {
        return items;
    }
    member.sound -= to_u64(dropped);
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match (item, kept.last_mut()) {
            (Item::DamagedRange(bad), Some(Item::DamagedRange(before)))
                if index > first && index <= last =>
            {
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

/// The items without chunks of an unusual size with damage on both sides.
fn without_misfits(member: &mut FoundMember) -> Vec<Item> {
    let mut items = std::mem::take(&mut member.items);
    let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
    let last_chunk = member.header.as_ref().and_then(|header| header.last_chunk);
    let usual = |item: &&Item| matches!(item, Item::Sound(found) if Some(found.nbytes) == claimed);
    let confirming = to_u64(items.iter().filter(usual).count());
    let last = items
        .iter()
        .rposition(|item| matches!(item, Item::Sound(_)));
    if confirming < 2 || confirming * 2 < member.sound {
        return items;
    }
    let is_bad = |index: Option<usize>| {
        let item = index.and_then(|index| items.get(index));
        matches!(item, Some(Item::DamagedRange(_)))
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
            // It becomes part of the damage before it.
            (Item::Sound(found), Some(Item::DamagedRange(before))) if is_misfit => {
                before.bytes.end = found.bytes(checksum).end;
                member.sound -= 1;
            }
            (item, _) => kept.push(item),
        }
    }
    kept
}

/// Whether the items can be this many chunks.
fn is_possible(items: &[Item], count: u64, member: &FoundMember) -> bool {
    let least = CHUNK_HEADER_LEN + member.digest_len();
    items.iter().map(|item| counted(item, least)).sum::<u64>() <= count
}

/// How many chunks an item is, or the least number.
fn counted(item: &Item, least: u64) -> u64 {
    match item {
        Item::Sound(_) => 1,
        Item::DamagedRange(bad) => bad.chunks.unwrap_or_else(|| {
            let len = len_of(&bad.bytes);
            u64::from(len >= least)
        }),
    }
}
