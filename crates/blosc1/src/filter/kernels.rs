//! The four filters, built from four kernels that exist once for each kind of processor.
//!
//! A kernel handles a tile: up to 16 ranks (byte columns) of some elements. The loops over blocks,
//! ranks and leftovers are the same for all processors, and are here, in safe code. A kernel may
//! contain unsafe code, whose bounds [`Ranks::check`] and [`check_bits`] establish.

/// Maximum number of ranks of one kernel call.
pub(super) const MAX_WIDTH: usize = 16;
/// Elements of a tile. Eight of them share a byte of a bit row, so a bit row of a tile has 64
/// bytes, one cache line.
///
/// Rows of a block are often a multiple of 4096 bytes apart and fall into the same cache set. If
/// the ranks took turns at writing smaller pieces, they would evict each other.
pub(super) const TILE: usize = 512;

/// Tiles of a large block that are handled together, rank by rank. A row is then written or read in
/// pieces of 512 bytes, which processors prefetch and which stay in the cache longer.
const TILES: usize = 8;
/// Minimum length of a large block, for which the setup of [`TILES`] tiles takes relatively little
/// time.
const LARGE: usize = 64 * 1024;

/// Elements of more than 16 bytes that shuffle handles before it moves on to the next ranks.
const PIECE: usize = 256;

/// One rank of a tile: a byte of each element.
pub(super) type Bytes = [u8; TILE];
/// Bytes in a tile's row of bits.
pub(super) const LINE: usize = TILE / 8;

/// Panics unless `rows` has room for 8 rows of a tile's bits, `stride` bytes apart, lowest bit
/// first.
///
/// Every kernel for bits calls this first; the safety of its loops depends on it.
pub(super) fn check_bits(rows: &[u8], stride: usize) {
    assert!(7 * stride + LINE <= rows.len());
}

/// The bytes of the elements that a kernel call moves: ranks `first..first + width()`, whose rows
/// are `stride` bytes apart.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    pub typesize: usize,
    pub first: usize,
    pub stride: usize,
}

impl Ranks {
    /// The number of ranks: all of a small element, 16 of a large one.
    pub fn width(self) -> usize {
        self.typesize.min(MAX_WIDTH)
    }

    /// The number of elements in `elements`. Panics unless the rows in `rows` have room for as
    /// many.
    ///
    /// Every kernel for bytes calls this first; the safety of its loops depends on it.
    pub fn check(self, elements: &[u8], rows: &[u8]) -> usize {
        let count = elements.len() / self.typesize;
        assert!(self.first + self.width() <= self.typesize);
        assert!((self.width() - 1) * self.stride + count <= rows.len());
        count
    }
}

/// Moves bytes from elements (second argument) to rows (third).
pub(super) type Spread = fn(&Ranks, &[u8], &mut [u8]);
/// Moves bytes from rows (second argument) to elements (third). Elements of up to 16 bytes are
/// written completely, larger ones only at the given ranks.
pub(super) type Gather = fn(&Ranks, &[u8], &mut [u8]);

/// The kernels of one kind of processor.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    #[cfg_attr(not(test), allow(dead_code, reason = "names the set in test failures"))]
    pub name: &'static str,
    pub spread: Spread,
    pub gather: Gather,
    /// Moves bits from bytes to rows; the last argument is the distance between rows in bytes.
    pub to_bits: fn(&Bytes, &mut [u8], usize),
    /// Moves bits from rows to bytes; the second argument is the distance between rows in bytes.
    pub from_bits: fn(&[u8], usize, &mut Bytes),
}

impl Kernels {
    /// Moves the bytes of each rank to one row, tile by tile.
    pub fn shuffle(&self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        let whole = copy_rest(typesize, src, dst);
        if typesize <= 1 || whole == 0 {
            dst[..whole].copy_from_slice(&src[..whole]);
            return;
        }
        let stride = whole / typesize;
        let (src, dst) = (&src[..whole], &mut dst[..whole]);
        for (i, tile) in src.chunks(piece_len(typesize)).enumerate() {
            for first in batches(typesize) {
                let ranks = Ranks {
                    typesize,
                    first,
                    stride,
                };
                (self.spread)(&ranks, tile, &mut dst[first * stride + i * PIECE..]);
            }
        }
    }

    /// The inverse of [`Kernels::shuffle`], in the same steps.
    pub fn unshuffle(&self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        let whole = copy_rest(typesize, src, dst);
        if typesize <= 1 || whole == 0 {
            dst[..whole].copy_from_slice(&src[..whole]);
            return;
        }
        let stride = whole / typesize;
        let (src, dst) = (&src[..whole], &mut dst[..whole]);
        for (i, tile) in dst.chunks_mut(piece_len(typesize)).enumerate() {
            for first in batches(typesize) {
                let ranks = Ranks {
                    typesize,
                    first,
                    stride,
                };
                (self.gather)(&ranks, &src[first * stride + i * PIECE..], tile);
            }
        }
    }

    /// Moves the bits of each rank to eight rows, in steps that suit the length of the block.
    pub fn bitshuffle(&self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        match (src.len(), typesize) {
            (LARGE.., ..=8) => self.bitshuffle_by::<8, TILES>(typesize, src, dst),
            (LARGE.., _) => self.bitshuffle_by::<MAX_WIDTH, TILES>(typesize, src, dst),
            _ => self.bitshuffle_by::<MAX_WIDTH, 1>(typesize, src, dst),
        }
    }

    /// Bitshuffle in steps of `TILES` tiles and at most `WIDTH` ranks: bytes to ranks, then ranks
    /// to bits.
    ///
    /// Not inlined, so that small blocks do not pay for the stack of large ones.
    #[inline(never)]
    fn bitshuffle_by<const WIDTH: usize, const TILES: usize>(
        &self,
        typesize: usize,
        src: &[u8],
        dst: &mut [u8],
    ) {
        let whole = copy_rest(typesize, src, dst);
        let Some(row) = bit_row(typesize, whole) else {
            dst[..whole].copy_from_slice(&src[..whole]);
            return;
        };
        let mut bytes = [[[0; TILE]; TILES]; WIDTH];
        for (i, tiles) in src[..whole].chunks(TILES * TILE * typesize).enumerate() {
            for first in batches(typesize) {
                let ranks = Ranks {
                    typesize,
                    first,
                    stride: TILES * TILE,
                };
                let room = bytes.as_flattened_mut().as_flattened_mut();
                (self.spread)(&ranks, tiles, room);
                let rows = dst[8 * first * row..whole].chunks_exact_mut(8 * row);
                for (bytes, rows) in bytes[..ranks.width()].iter().zip(rows) {
                    let starts = (i * TILES * LINE..row).step_by(LINE);
                    for (bytes, start) in bytes.iter().zip(starts) {
                        self.write_bits(bytes, &mut rows[start..], row);
                    }
                }
            }
        }
    }

    /// The inverse of [`Kernels::bitshuffle`].
    pub fn bitunshuffle(&self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        match (src.len(), typesize) {
            (LARGE.., ..=8) => self.bitunshuffle_by::<8, TILES>(typesize, src, dst),
            (LARGE.., _) => self.bitunshuffle_by::<MAX_WIDTH, TILES>(typesize, src, dst),
            _ => self.bitunshuffle_by::<MAX_WIDTH, 1>(typesize, src, dst),
        }
    }

    /// The inverse of [`Kernels::bitshuffle_by`], in the same steps.
    #[inline(never)]
    fn bitunshuffle_by<const WIDTH: usize, const TILES: usize>(
        &self,
        typesize: usize,
        src: &[u8],
        dst: &mut [u8],
    ) {
        let whole = copy_rest(typesize, src, dst);
        let Some(row) = bit_row(typesize, whole) else {
            dst[..whole].copy_from_slice(&src[..whole]);
            return;
        };
        let mut bytes = [[[0; TILE]; TILES]; WIDTH];
        for (i, tiles) in dst[..whole].chunks_mut(TILES * TILE * typesize).enumerate() {
            for first in batches(typesize) {
                let ranks = Ranks {
                    typesize,
                    first,
                    stride: TILES * TILE,
                };
                let rows = src[8 * first * row..whole].chunks_exact(8 * row);
                for (bytes, rows) in bytes[..ranks.width()].iter_mut().zip(rows) {
                    let starts = (i * TILES * LINE..row).step_by(LINE);
                    for (bytes, start) in bytes.iter_mut().zip(starts) {
                        self.read_bits(&rows[start..], row, bytes);
                    }
                }
                (self.gather)(&ranks, bytes.as_flattened().as_flattened(), tiles);
            }
        }
    }

    /// Writes a rank of a tile to its 8 rows of `stride` bytes, from the beginning of `rows`.
    ///
    /// The rows of the last tile of a block may be shorter than those of a full tile; they go
    /// through a buffer.
    #[inline]
    fn write_bits(&self, bytes: &Bytes, rows: &mut [u8], stride: usize) {
        if rows.len() - 7 * stride >= LINE {
            return (self.to_bits)(bytes, rows, stride);
        }
        let mut bits = [[0; LINE]; 8];
        (self.to_bits)(bytes, bits.as_flattened_mut(), LINE);
        let filled = rows.len() - 7 * stride;
        for (from, to) in bits.iter().zip(rows.chunks_mut(stride)) {
            to[..filled].copy_from_slice(&from[..filled]);
        }
    }

    /// The inverse of [`Kernels::write_bits`].
    #[inline]
    fn read_bits(&self, rows: &[u8], stride: usize, bytes: &mut Bytes) {
        if rows.len() - 7 * stride >= LINE {
            return (self.from_bits)(rows, stride, bytes);
        }
        let mut bits = [[0; LINE]; 8];
        let filled = rows.len() - 7 * stride;
        for (to, from) in bits.iter_mut().zip(rows.chunks(stride)) {
            to[..filled].copy_from_slice(&from[..filled]);
        }
        (self.from_bits)(bits.as_flattened(), LINE, bytes);
    }
}

/// Copies the bytes after the last whole element; returns the number of bytes before them.
fn copy_rest(typesize: usize, src: &[u8], dst: &mut [u8]) -> usize {
    assert_eq!(
        src.len(),
        dst.len(),
        "a filter needs slices of equal length"
    );
    let whole = src.len() - src.len() % typesize;
    if whole < src.len() {
        dst[whole..].copy_from_slice(&src[whole..]);
    }
    whole
}

/// Bytes in one row of bits; `None` if there are no elements, or their number is not a multiple of
/// 8.
fn bit_row(typesize: usize, whole: usize) -> Option<usize> {
    let count = whole / typesize;
    (count != 0 && count.is_multiple_of(8)).then_some(count / 8)
}

/// Bytes after which shuffle moves on to the next ranks: all bytes if one call handles all ranks,
/// otherwise few enough that the elements stay in the first-level cache.
fn piece_len(typesize: usize) -> usize {
    if typesize <= MAX_WIDTH {
        usize::MAX
    } else {
        PIECE * typesize
    }
}

/// The first ranks of the kernel calls that cover an element. The last call may overlap the one
/// before.
fn batches(typesize: usize) -> impl Iterator<Item = usize> {
    // Elements of up to 16 bytes take a single call, with first rank 0.
    let last = typesize.saturating_sub(MAX_WIDTH);
    (0..typesize)
        .step_by(MAX_WIDTH)
        .map(move |first| first.min(last))
}
