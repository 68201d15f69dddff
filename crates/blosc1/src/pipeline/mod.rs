//! The up to six consecutive filters of a Blosc 2 chunk.

use super::filter;
use super::layout::Layout;
use super::{ChunkError, Filter};
use cells::Cells;

pub use cells::BlockShape;

mod bytedelta;
mod cells;
pub(super) mod delta;
pub(super) mod truncate;

/// Maximum number of filters of a chunk.
const SLOTS: usize = 6;
/// The first number of a filter that C-Blosc2 has as a plug-in.
pub(super) const FIRST_PLUG_IN: u8 = 32;

const NONE: u8 = 0;
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNCATE: u8 = 4;
const CELLS: u8 = FIRST_PLUG_IN;
const CELL_MEANS: u8 = 33;
const BYTEDELTA_FIRST: u8 = 34;
const BYTEDELTA: u8 = 35;
const TRUNCATE_INTEGER: u8 = 36;

/// One step of a [`FilterPipeline`].
///
/// ```
/// use blosc1::{Blosc2Encoder, Blosc2Settings, FilterPipeline, FilterStep};
///
/// // Floating-point numbers of which only 10 bits of the mantissa matter.
/// let precision = FilterStep::TruncatePrecision { bits: 10 };
/// let filters = FilterPipeline::new(&[precision, FilterStep::Shuffle])?;
/// let settings = Blosc2Settings::default().filters(filters).typesize(4);
/// let data: Vec<u8> = (0..5000).flat_map(|n| (n as f32).sqrt().to_le_bytes()).collect();
/// let mut chunk = Vec::new();
/// Blosc2Encoder::new(settings)?.encode(&data, &mut chunk)?;
///
/// let decoded = blosc1::decompress_range(&chunk, 4000..4001)?;
/// let number = f32::from_le_bytes(decoded.try_into().unwrap());
/// assert!((number - 4000_f32.sqrt()).abs() < 0.1);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterStep {
    /// No filter: number 0, an unused place.
    None,
    /// Number 1: groups the bytes of equal rank of all elements, like [`Filter::Byte`].
    Shuffle,
    /// Number 2: groups the bits of equal rank of all elements, like [`Filter::Bit`]. Unlike there,
    /// up to seven elements at the end of a block may stay unchanged while the others are shuffled.
    Bitshuffle,
    /// Number 3: stores the difference (exclusive or) from the previous element in the first block,
    /// and from the corresponding element of the first block in all others.
    Delta,
    /// Number 4: sets the lowest bits of floating-point numbers of 4 or 8 bytes to zero. This is
    /// lossy: the decoded data differs from the original.
    TruncatePrecision {
        /// Bits of the mantissa to keep or, if negative, the number of bits to set to zero. The
        /// mantissa has 23 bits in 4 bytes and 52 in 8; at least one must be kept.
        bits: i8,
    },
    /// Number 32, NDCELL: groups the elements of each cell of an n-dimensional block. Needs the [shape](BlockShape) of the
    /// blocks.
    Cells {
        /// The length of a cell along each axis, in elements; at least 1.
        side: u8,
    },
    /// Number 33, NDMEAN: replaces floating-point numbers of 4 or 8 bytes by the mean of their cell, and groups them as
    /// [`Cells`](Self::Cells) does. This is lossy, and is only read.
    CellMeans {
        /// The length of a cell along each axis, in elements; 1 to 127. A shorter axis of the block has one cell.
        side: u8,
    },
    /// Number 34: the first version of [`Bytedelta`](Self::Bytedelta), which is only read.
    BytedeltaFirst {
        /// The number of streams; 0 for the typesize.
        streams: u8,
    },
    /// Number 35: cuts a block into streams of equal length, and stores each byte as its difference from the one before it.
    /// After a shuffle, the streams are the bytes of equal rank.
    Bytedelta {
        /// The number of streams; 0 for the typesize. C-Blosc2 needs the number in chunks outside of a frame.
        streams: u8,
    },
    /// Number 36: sets the lowest bits of integers of 1, 2, 4 or 8 bytes to zero. This is lossy.
    TruncateInteger {
        /// Bits to keep or, if negative, the number of bits to set to zero; at least one must be kept.
        bits: i8,
    },
}

impl FilterStep {
    /// The number of the filter and its parameter, as in a header.
    pub(crate) const fn stored(self) -> (u8, u8) {
        match self {
            Self::None => (NONE, 0),
            Self::Shuffle => (SHUFFLE, 0),
            Self::Bitshuffle => (BITSHUFFLE, 0),
            Self::Delta => (DELTA, 0),
            Self::TruncatePrecision { bits } => (TRUNCATE, bits.cast_unsigned()),
            Self::Cells { side } => (CELLS, side),
            Self::CellMeans { side } => (CELL_MEANS, side),
            Self::BytedeltaFirst { streams } => (BYTEDELTA_FIRST, streams),
            Self::Bytedelta { streams } => (BYTEDELTA, streams),
            Self::TruncateInteger { bits } => (TRUNCATE_INTEGER, bits.cast_unsigned()),
        }
    }

    /// The step with this number and parameter; `None` for an unknown number.
    const fn from_stored(id: u8, meta: u8) -> Option<Self> {
        let bits = meta.cast_signed();
        match id {
            NONE => Some(Self::None),
            SHUFFLE => Some(Self::Shuffle),
            BITSHUFFLE => Some(Self::Bitshuffle),
            DELTA => Some(Self::Delta),
            TRUNCATE => Some(Self::TruncatePrecision { bits }),
            CELLS => Some(Self::Cells { side: meta }),
            CELL_MEANS => Some(Self::CellMeans { side: meta }),
            BYTEDELTA_FIRST => Some(Self::BytedeltaFirst { streams: meta }),
            BYTEDELTA => Some(Self::Bytedelta { streams: meta }),
            TRUNCATE_INTEGER => Some(Self::TruncateInteger { bits }),
            _ => None,
        }
    }

    /// The lowest bits of each element that the encoder sets to zero; `None` if the elements do not have them. 0 for filters
    /// that truncate nothing.
    pub(crate) const fn zeroed(self, typesize: u8) -> Option<u8> {
        let (is_float, bits) = match self {
            Self::TruncatePrecision { bits } => (true, bits),
            Self::TruncateInteger { bits } => (false, bits),
            _ => return Some(0),
        };
        match truncate::all_bits(is_float, typesize) {
            Some(all) => truncate::zeroed(all, bits),
            None => None,
        }
    }
}

/// The filters of a Blosc 2 chunk: up to six, applied from the first to the last and undone from
/// the last to the first.
///
/// The default is a single shuffle. A [`Filter`] converts to the pipeline with that filter alone.
///
/// ```
/// use blosc1::{FilterPipeline, FilterStep};
///
/// let pipeline = FilterPipeline::new(&[FilterStep::Delta, FilterStep::Shuffle])?;
/// assert_eq!(pipeline.ids(), [0, 0, 0, 0, 3, 1]);
/// assert_eq!(FilterPipeline::default().ids(), [0, 0, 0, 0, 0, 1]);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterPipeline {
    ids: [u8; SLOTS],
    metas: [u8; SLOTS],
}

impl FilterPipeline {
    /// A pipeline of these steps, which take the last of its six places. No steps mean no filter.
    ///
    /// The bits of truncated precision are not checked here, but by
    /// [`Blosc2Encoder::new`](crate::Blosc2Encoder::new), which knows the typesize.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::TooManyFilters`] for more than six steps, and
    /// [`ChunkError::FilterOrder`] for delta after a step other than truncated precision: versions
    /// of C-Blosc2 undo that differently.
    pub fn new(steps: &[FilterStep]) -> Result<Self, ChunkError> {
        let found = steps.len();
        let free = SLOTS
            .checked_sub(found)
            .ok_or(ChunkError::TooManyFilters { found })?;
        let (mut ids, mut metas) = ([NONE; SLOTS], [0; SLOTS]);
        let slots = ids.iter_mut().zip(&mut metas).skip(free);
        for ((id, meta), step) in slots.zip(steps) {
            (*id, *meta) = step.stored();
        }
        Self::from_ids(ids, metas)
    }

    /// A pipeline by the numbers of its filters and their meta bytes, as the header of a chunk or a
    /// frame stores them.
    ///
    /// Meta bytes are kept unchanged, even if they have no meaning.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::UnknownFilter`] for an unassigned number or one of a user, and
    /// [`ChunkError::FilterOrder`] for delta after a step that moves bytes.
    ///
    /// ```
    /// use blosc1::{ChunkError, FilterPipeline};
    ///
    /// let error = FilterPipeline::from_ids([0, 0, 0, 0, 0, 160], [0; 6]).unwrap_err();
    /// assert_eq!(error, ChunkError::UnknownFilter { id: 160 });
    /// ```
    pub fn from_ids(ids: [u8; SLOTS], metas: [u8; SLOTS]) -> Result<Self, ChunkError> {
        let mut moved = false;
        for id in ids {
            match id {
                NONE | TRUNCATE | TRUNCATE_INTEGER => {}
                DELTA if moved => return Err(ChunkError::FilterOrder),
                _ if FilterStep::from_stored(id, 0).is_some() => moved = true,
                _ => return Err(ChunkError::UnknownFilter { id }),
            }
        }
        Ok(Self { ids, metas })
    }

    /// The six steps in the order in which they are applied; [`FilterStep::None`] for unused
    /// places.
    ///
    /// ```
    /// use blosc1::{Filter, FilterPipeline, FilterStep};
    ///
    /// let steps: Vec<_> = FilterPipeline::from(Filter::Bit).steps().collect();
    /// assert_eq!((steps.len(), steps[0], steps[5]), (6, FilterStep::None, FilterStep::Bitshuffle));
    /// ```
    pub fn steps(&self) -> impl Iterator<Item = FilterStep> + use<> {
        let slots = self.ids.into_iter().zip(self.metas);
        slots.filter_map(|(id, meta)| FilterStep::from_stored(id, meta))
    }

    /// The numbers of the filters, as an extended header stores them; 0 for unused places.
    #[must_use]
    pub const fn ids(&self) -> [u8; SLOTS] {
        self.ids
    }

    /// The meta byte of each filter: the field of its [`FilterStep`]; for shuffle 0, or the byte that
    /// [`ShuffleMeta`](crate::ShuffleMeta) explains.
    #[must_use]
    pub const fn metas(&self) -> [u8; SLOTS] {
        self.metas
    }

    /// The filters in the order of decoding, for a chunk of this typesize and format version.
    #[inline(never)]
    pub(crate) fn inverse(&self, typesize: u8, version: u8) -> InverseFilters {
        let mut inverse = InverseFilters::default();
        let streams = |meta| if meta == 0 { typesize } else { meta };
        for (id, meta) in self.ids.into_iter().zip(self.metas).rev() {
            match (id, meta) {
                (SHUFFLE, 0) => inverse.push(BlockFilter::Shuffle { width: typesize }),
                (SHUFFLE, width) => {
                    inverse.shuffle_meta = inverse.shuffle_meta.max(width);
                    inverse.push(BlockFilter::Shuffle { width });
                }
                (BITSHUFFLE, _) => inverse.push(BlockFilter::bitshuffle(version)),
                (DELTA, _) => inverse.delta = true,
                (BYTEDELTA, _) => inverse.push(BlockFilter::Bytedelta(streams(meta))),
                (BYTEDELTA_FIRST, _) => inverse.push(BlockFilter::BytedeltaFirst(streams(meta))),
                (CELLS, side) => inverse.push(BlockFilter::Cells { side }),
                (CELL_MEANS, side) => inverse.push(BlockFilter::CellMeans { side }),
                // Truncated numbers stay as they are.
                _ => {}
            }
        }
        inverse
    }
}

impl Default for FilterPipeline {
    /// A single [`Shuffle`](FilterStep::Shuffle), in the last place.
    fn default() -> Self {
        Filter::Byte.into()
    }
}

impl From<Filter> for FilterPipeline {
    /// The filter in the last place of the pipeline.
    fn from(filter: Filter) -> Self {
        let last = match filter {
            Filter::None => NONE,
            Filter::Byte => SHUFFLE,
            Filter::Bit => BITSHUFFLE,
        };
        Self {
            ids: [NONE, NONE, NONE, NONE, NONE, last],
            metas: [0; SLOTS],
        }
    }
}

/// The last format version whose bitshuffle does not change a block unless its number of elements
/// is a multiple of 8.
const LAST_OF_BLOSC1: u8 = 2;

/// A filter that reads a block from one buffer, and writes it to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockFilter {
    /// The width is the typesize, or the meta byte.
    Shuffle {
        width: u8,
    },
    /// The bitshuffle of Blosc 2, which leaves the last `n % 8` elements unchanged.
    Bitshuffle,
    /// The bitshuffle of Blosc 1, which changes all elements or none.
    BitshuffleEights,
    /// The number of streams.
    Bytedelta(u8),
    /// The number of streams.
    BytedeltaFirst(u8),
    Cells {
        side: u8,
    },
    CellMeans {
        side: u8,
    },
}

impl BlockFilter {
    /// The bitshuffle of a format version.
    fn bitshuffle(version: u8) -> Self {
        match version {
            ..=LAST_OF_BLOSC1 => Self::BitshuffleEights,
            _ => Self::Bitshuffle,
        }
    }

    /// A number for the kind of filter, and its parameter.
    #[inline(always)]
    fn code(self) -> (u8, u8) {
        match self {
            Self::Shuffle { width } => (SHUFFLE, width),
            Self::Bitshuffle => (BITSHUFFLE, 0),
            Self::BitshuffleEights => (NONE, 0),
            Self::Bytedelta(streams) => (BYTEDELTA, streams),
            Self::BytedeltaFirst(streams) => (BYTEDELTA_FIRST, streams),
            Self::Cells { side } => (CELLS, side),
            Self::CellMeans { side } => (CELL_MEANS, side),
        }
    }

    /// The inverse of [`BlockFilter::code`].
    #[inline(always)]
    fn from_code(kind: u8, parameter: u8) -> Self {
        match kind {
            SHUFFLE => Self::Shuffle { width: parameter },
            BITSHUFFLE => Self::Bitshuffle,
            BYTEDELTA => Self::Bytedelta(parameter),
            BYTEDELTA_FIRST => Self::BytedeltaFirst(parameter),
            CELLS => Self::Cells { side: parameter },
            CELL_MEANS => Self::CellMeans { side: parameter },
            _ => Self::BitshuffleEights,
        }
    }

    /// How the filter cuts blocks of this shape into cells; `None` for a filter without cells, and for impossible ones.
    fn cells(self, shape: Option<BlockShape>) -> Option<Cells> {
        match self {
            Self::Cells { side } => Cells::equal(shape?, side),
            Self::CellMeans { side } => Cells::fitted(shape?, side),
            _ => None,
        }
    }

    /// Applies the filter to a block. The filters that are only read are a bug here.
    pub fn apply(
        self,
        typesize: usize,
        shape: Option<BlockShape>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<(), ChunkError> {
        match self {
            Self::Shuffle { width } => filter::shuffle(width.into(), src, dst),
            Self::Bitshuffle => filter::bitshuffle_rounded(typesize, src, dst),
            Self::BitshuffleEights => filter::bitshuffle(typesize, src, dst),
            Self::Bytedelta(streams) => bytedelta::apply(streams.into(), src, dst),
            Self::Cells { .. } => {
                let cells = self.cells(shape).ok_or(NO_CELLS)?;
                cells.gather(typesize, src, dst)?;
            }
            Self::BytedeltaFirst(_) | Self::CellMeans { .. } => {
                let what = "a filter that is only read is to be applied";
                return Err(ChunkError::Bug { what });
            }
        }
        Ok(())
    }

    /// Undoes the filter.
    pub fn undo(
        self,
        typesize: usize,
        shape: Option<BlockShape>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<(), ChunkError> {
        match self {
            Self::Shuffle { width } => filter::unshuffle(width.into(), src, dst),
            Self::Bitshuffle => filter::bitunshuffle_rounded(typesize, src, dst),
            Self::BitshuffleEights => filter::bitunshuffle(typesize, src, dst),
            Self::Bytedelta(streams) => bytedelta::undo(streams.into(), src, dst),
            Self::BytedeltaFirst(streams) => {
                bytedelta::undo_first_version(streams.into(), src, dst)
            }
            Self::Cells { .. } | Self::CellMeans { .. } => {
                let cells = self.cells(shape).ok_or(NO_CELLS)?;
                cells.scatter(typesize, src, dst)?;
            }
        }
        Ok(())
    }
}

/// [`InverseFilters::check`] has refused such blocks.
const NO_CELLS: ChunkError = ChunkError::Bug {
    what: "a block has no shape, or no cells",
};

/// The filters of a chunk, in the order of decoding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InverseFilters {
    /// The kinds of the filters that write another buffer, from the lowest byte on. A number fits a
    /// register; an array would go through memory with the view of each chunk.
    kinds: u64,
    /// Their parameters.
    parameters: u64,
    /// The number of filters that write another buffer.
    pub count: u32,
    /// Whether delta is undone after all other filters.
    pub delta: bool,
    /// Whether a filter needs the shape of the blocks.
    cells: bool,
    /// The largest meta byte of a shuffle.
    pub shuffle_meta: u8,
}

impl InverseFilters {
    /// The filters of a header without extension.
    #[inline(always)]
    pub fn of_flags(filter: Filter, delta: bool, typesize: u8, version: u8) -> Self {
        let mut inverse = Self {
            delta,
            ..Self::default()
        };
        match filter {
            Filter::None => {}
            Filter::Byte => inverse.push(BlockFilter::Shuffle { width: typesize }),
            Filter::Bit => inverse.push(BlockFilter::bitshuffle(version)),
        }
        inverse
    }

    /// The filters that write another buffer.
    pub fn block_filters(self) -> impl DoubleEndedIterator<Item = BlockFilter> {
        let byte = |number: u64, i: u32| (number >> (8 * i)).to_le_bytes()[0];
        (0..self.count)
            .map(move |i| BlockFilter::from_code(byte(self.kinds, i), byte(self.parameters, i)))
    }

    /// Whether one of the filters is a plug-in of C-Blosc2.
    #[cfg(feature = "blosc2-rs")]
    pub fn has_plug_in(self) -> bool {
        self.block_filters()
            .any(|filter| filter.code().0 >= FIRST_PLUG_IN)
    }

    /// Appends a filter, unless it would not change anything: shuffle of single bytes.
    #[inline(always)]
    fn push(&mut self, step: BlockFilter) {
        if matches!(step, BlockFilter::Shuffle { width: 0..=1 }) {
            return;
        }
        let (kind, parameter) = step.code();
        // A pipeline has six steps, and the numbers room for eight.
        self.kinds |= u64::from(kind) << (8 * self.count);
        self.parameters |= u64::from(parameter) << (8 * self.count);
        self.count += 1;
        self.cells |= matches!(
            step,
            BlockFilter::Cells { .. } | BlockFilter::CellMeans { .. }
        );
    }

    /// Checks that the filters with cells fit blocks of this shape and chunks of this layout.
    ///
    /// # Errors
    ///
    /// Returns [`ChunkError::NoBlockShape`] without a shape, [`ChunkError::BlockShape`] for blocks of another length or a last
    /// block that is shorter, and [`ChunkError::Cells`] for cells that C-Blosc2 refuses.
    #[inline(always)]
    pub fn check(self, shape: Option<BlockShape>, layout: &Layout) -> Result<(), ChunkError> {
        if self.cells {
            self.check_cells(shape, layout)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn check_cells(self, shape: Option<BlockShape>, layout: &Layout) -> Result<(), ChunkError> {
        for step in self.block_filters() {
            let (what, side) = match step {
                BlockFilter::Cells { side } => ("the filter NDCELL", side),
                BlockFilter::CellMeans { side } => ("the filter NDMEAN", side),
                _ => continue,
            };
            let shape = shape.ok_or(ChunkError::NoBlockShape { what })?;
            let expected = u64::from(shape.items()) * u64::from(layout.typesize);
            let (found, nbytes) = (layout.blocksize, layout.nbytes);
            if u64::from(found) != expected || !nbytes.is_multiple_of(found) {
                return Err(ChunkError::BlockShape {
                    found,
                    nbytes,
                    expected,
                });
            }
            if step.cells(Some(shape)).is_none() {
                return Err(ChunkError::Cells { side });
            }
        }
        Ok(())
    }
}
