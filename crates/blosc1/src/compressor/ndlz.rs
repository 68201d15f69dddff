//! NDLZ, a compressor of C-Blosc2 for blocks of two axes and elements of one byte.
//!
//! ```text
//! stream   2 | rows: u32 | columns: u32 | cells in C order
//! cell     0       the bytes of the cell, row by row
//!          0x40    one byte, which the whole cell repeats
//!          0xC0    distance: u16. The bytes of the cell lie that far before its token
//!          other   distance: u16 (two of them for two pairs of rows). Some rows lie there, the others follow
//! ```
//!
//! Cells have 4 × 4 or 8 × 8 bytes, fewer at the end of an axis. A distance refers to bytes of the stream, not of the block.

/// Decompresses a stream with cells of `side` bytes, and returns whether it is sound and gives exactly `dst.len()` bytes.
pub(super) fn decompress(side: u8, src: &[u8], dst: &mut [u8]) -> bool {
    let done = match side {
        4 => cells::<4>(src, dst, rows_of_4),
        8 => cells::<8>(src, dst, rows_of_8),
        _ => None,
    };
    done.is_some()
}

/// Rows of one cell that lie together elsewhere in the stream.
struct Found {
    /// The position of the bytes.
    at: usize,
    /// The rows, in the order in which the bytes lie there.
    rows: [Option<usize>; 3],
}

/// Reads the rows that a token names, from the position after it.
type ReadRows = fn(token: u8, src: &mut Source<'_>) -> Option<[Option<Found>; 2]>;

/// The stream, and the position of the next byte.
struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Source<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..len)?;
        self.at += len;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// A distance, as the position that lies that far before `from`.
    fn distance(&mut self, from: usize) -> Option<usize> {
        let distance = self
            .take(2)?
            .first_chunk()
            .copied()
            .map(u16::from_le_bytes)?;
        from.checked_sub(distance.into())
    }
}

fn cells<const SIDE: usize>(src: &[u8], dst: &mut [u8], read_rows: ReadRows) -> Option<()> {
    let mut src = Source { bytes: src, at: 0 };
    let axes = src.byte()?;
    let (rows, columns) = (src.word()? as usize, src.word()? as usize);
    if axes != 2 || rows.checked_mul(columns) != Some(dst.len()) {
        return None;
    }
    let mut cell = [[0; SIDE]; SIDE];
    for top in (0..rows).step_by(SIDE) {
        let height = SIDE.min(rows - top);
        for left in (0..columns).step_by(SIDE) {
            let width = SIDE.min(columns - left);
            let token_at = src.at;
            let token = src.byte()?;
            let whole = match token {
                LITERAL => Some(src.take(width * height)?),
                SAME_CELL => {
                    let at = src.distance(token_at)?;
                    Some(src.bytes.get(at..at + width * height)?)
                }
                ONE_BYTE => {
                    cell = [[src.byte()?; SIDE]; SIDE];
                    None
                }
                _ => {
                    fill(&mut cell, read_rows(token, &mut src)?, &mut src)?;
                    None
                }
            };
            for row in 0..height {
                let start = (top + row) * columns + left;
                let place = dst.get_mut(start..start + width)?;
                // The rows of a cell that is not stored whole follow each other without a gap, also where the cell is cut off.
                let bytes = whole.unwrap_or(cell.as_flattened());
                place.copy_from_slice(bytes.get(row * width..(row + 1) * width)?);
            }
        }
    }
    Some(())
}

const LITERAL: u8 = 0;
const ONE_BYTE: u8 = 0x40;
const SAME_CELL: u8 = 0xC0;

/// Copies rows that were found elsewhere to their places in the cell, and reads the other rows.
fn fill<const SIDE: usize>(
    cell: &mut [[u8; SIDE]; SIDE],
    found: [Option<Found>; 2],
    src: &mut Source<'_>,
) -> Option<()> {
    let mut is_found = [false; SIDE];
    for Found { at, rows } in found.into_iter().flatten() {
        let stored = src.bytes.get(at..)?;
        for (row, bytes) in rows
            .into_iter()
            .flatten()
            .zip(stored.chunks(SIDE).chain(std::iter::repeat(&[][..])))
        {
            *cell.get_mut(row)? = *bytes.first_chunk()?;
            *is_found.get_mut(row)? = true;
        }
    }
    for (row, _) in cell
        .iter_mut()
        .zip(is_found)
        .filter(|(_, is_found)| !is_found)
    {
        *row = *src.take(SIDE)?.first_chunk()?;
    }
    Some(())
}

/// The rows that a token of a cell of 4 × 4 names: three, two, or twice two.
fn rows_of_4(token: u8, src: &mut Source<'_>) -> Option<[Option<Found>; 2]> {
    let from = src.at - 1;
    let code = usize::from(token >> 3);
    match token {
        40..=63 => {
            let (one, other) = (src.distance(from)?, src.distance(from)?);
            let with_first = code - 4;
            let mut rest = (1..4).filter(|row| *row != with_first);
            let first = Found {
                at: one,
                rows: [Some(0), Some(with_first), None],
            };
            let second = Found {
                at: other,
                rows: [rest.next(), rest.next(), None],
            };
            Some([Some(first), Some(second)])
        }
        128..=191 => {
            let rows = match token {
                128 => [2, 3],
                _ => [(code - 16) >> 2, (code - 16) & 3],
            };
            let [one, other] = rows.map(Some);
            let at = src.distance(from)?;
            Some([
                Some(Found {
                    at,
                    rows: [one, other, None],
                }),
                None,
            ])
        }
        224..=255 => {
            let rows = match code {
                28 => [1, 2, 3],
                29 => [0, 1, 2],
                30 => [0, 1, 3],
                _ => [0, 2, 3],
            };
            let at = src.distance(from)?;
            Some([
                Some(Found {
                    at,
                    rows: rows.map(Some),
                }),
                None,
            ])
        }
        _ => None,
    }
}

/// The rows that a token of a cell of 8 × 8 names: three or two that follow each other.
fn rows_of_8(token: u8, src: &mut Source<'_>) -> Option<[Option<Found>; 2]> {
    let from = src.at - 1;
    let (first, count) = (
        usize::from(token & 7),
        match token >> 3 {
            17 => 2,
            21 => 3,
            _ => return None,
        },
    );
    let mut rows = [None; 3];
    rows.iter_mut()
        .zip(first..)
        .take(count)
        .for_each(|(row, number)| *row = Some(number));
    let at = src.distance(from)?;
    Some([Some(Found { at, rows }), None])
}
