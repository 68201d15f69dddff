//! The up to six consecutive filters of a Blosc 2 chunk.

use super::filter;
use super::{ChunkError, Filter};

pub(super) mod delta;
pub(super) mod truncate;

/// Maximum number of filters of a chunk.
const SLOTS: usize = 6;

const NONE: u8 = 0;
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNCATE: u8 = 4;

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
}

impl FilterStep {
    /// The number of the filter in a header.
    const fn id(self) -> u8 {
        match self {
            Self::None => NONE,
            Self::Shuffle => SHUFFLE,
            Self::Bitshuffle => BITSHUFFLE,
            Self::Delta => DELTA,
            Self::TruncatePrecision { .. } => TRUNCATE,
        }
    }

    /// The parameter of the filter in a header.
    const fn meta(self) -> u8 {
        match self {
            Self::TruncatePrecision { bits } => bits.to_le_bytes()[0],
            Self::None | Self::Shuffle | Self::Bitshuffle | Self::Delta => 0,
        }
    }

    /// The step with this number and parameter; `None` for an unknown number.
    const fn from_id(id: u8, meta: u8) -> Option<Self> {
        match id {
            NONE => Some(Self::None),
            SHUFFLE => Some(Self::Shuffle),
            BITSHUFFLE => Some(Self::Bitshuffle),
            DELTA => Some(Self::Delta),
            TRUNCATE => {
                let bits = i8::from_le_bytes([meta]);
                Some(Self::TruncatePrecision { bits })
            }
            _ => None,
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
            (*id, *meta) = (step.id(), step.meta());
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
    /// Returns [`ChunkError::UnknownFilter`] for an unassigned number or one of a plug-in, and
    /// [`ChunkError::FilterOrder`] for delta after a step other than truncated precision.
    ///
    /// ```
    /// use blosc1::{ChunkError, FilterPipeline};
    ///
    /// let error = FilterPipeline::from_ids([0, 0, 0, 0, 0, 35], [0; 6]).unwrap_err();
    /// assert_eq!(error, ChunkError::UnknownFilter { id: 35 });
    /// ```
    pub fn from_ids(ids: [u8; SLOTS], metas: [u8; SLOTS]) -> Result<Self, ChunkError> {
        let mut moved = false;
        for id in ids {
            match id {
                NONE | TRUNCATE => {}
                DELTA if moved => return Err(ChunkError::FilterOrder),
                SHUFFLE | BITSHUFFLE | DELTA => moved = true,
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
        slots.filter_map(|(id, meta)| FilterStep::from_id(id, meta))
    }

    /// The numbers of the filters, as an extended header stores them; 0 for unused places.
    #[must_use]
    pub const fn ids(&self) -> [u8; SLOTS] {
        self.ids
    }

    /// The meta byte of each filter: for truncated precision its bits as a signed byte, for shuffle
    /// 0 or the byte that [`ShuffleMeta`](crate::ShuffleMeta) explains.
    #[must_use]
    pub const fn metas(&self) -> [u8; SLOTS] {
        self.metas
    }

    /// The filters in the order of decoding, for a chunk of this typesize and format version.
    #[inline(never)]
    pub(crate) fn inverse(&self, typesize: u8, version: u8) -> InverseFilters {
        let mut inverse = InverseFilters::default();
        for (id, meta) in self.ids.into_iter().zip(self.metas).rev() {
            match (id, meta) {
                (SHUFFLE, 0) => inverse.push(Transpose::Shuffle { width: typesize }),
                (SHUFFLE, width) => {
                    inverse.shuffle_meta = inverse.shuffle_meta.max(width);
                    inverse.push(Transpose::Shuffle { width });
                }
                (BITSHUFFLE, _) => inverse.push(Transpose::bitshuffle(version)),
                (DELTA, _) => inverse.delta = true,
                // Truncated precision cannot be undone.
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

/// A filter that moves bytes or bits from one buffer to another. The width of a shuffle is the
/// typesize, or the meta byte.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transpose {
    Shuffle {
        width: u8,
    },
    /// The bitshuffle of Blosc 2, which leaves the last `n % 8` elements unchanged.
    Bitshuffle,
    /// The bitshuffle of Blosc 1, which changes all elements or none.
    BitshuffleEights,
}

impl Transpose {
    /// The bitshuffle of a format version.
    fn bitshuffle(version: u8) -> Self {
        match version {
            ..=LAST_OF_BLOSC1 => Self::BitshuffleEights,
            _ => Self::Bitshuffle,
        }
    }

    /// The width of a shuffle, or a smaller number.
    #[inline(always)]
    fn code(self) -> u8 {
        match self {
            Self::BitshuffleEights => 0,
            Self::Bitshuffle => 1,
            Self::Shuffle { width } => width,
        }
    }

    /// The inverse of [`Transpose::code`].
    #[inline(always)]
    fn from_code(code: u8) -> Self {
        match code {
            0 => Self::BitshuffleEights,
            1 => Self::Bitshuffle,
            width => Self::Shuffle { width },
        }
    }

    /// Applies the filter.
    pub fn apply(self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        match self {
            Self::Shuffle { width } => filter::shuffle(width.into(), src, dst),
            Self::Bitshuffle => filter::bitshuffle_rounded(typesize, src, dst),
            Self::BitshuffleEights => filter::bitshuffle(typesize, src, dst),
        }
    }

    /// Undoes the filter.
    pub fn undo(self, typesize: usize, src: &[u8], dst: &mut [u8]) {
        match self {
            Self::Shuffle { width } => filter::unshuffle(width.into(), src, dst),
            Self::Bitshuffle => filter::bitunshuffle_rounded(typesize, src, dst),
            Self::BitshuffleEights => filter::bitunshuffle(typesize, src, dst),
        }
    }
}

/// The filters of a chunk, in the order of decoding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InverseFilters {
    /// The codes of the filters that move bytes or bits, from the lowest byte on. A number fits a
    /// register; an array would go through memory with the view of each chunk.
    codes: u64,
    /// The number of filters that move bytes or bits.
    pub count: u32,
    /// Whether delta is undone after all other filters.
    pub delta: bool,
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
            Filter::Byte => inverse.push(Transpose::Shuffle { width: typesize }),
            Filter::Bit => inverse.push(Transpose::bitshuffle(version)),
        }
        inverse
    }

    /// The filters that move bytes or bits.
    pub fn transposes(self) -> impl DoubleEndedIterator<Item = Transpose> {
        let code = move |i: u32| (self.codes >> (8 * i)).to_le_bytes()[0];
        (0..self.count).map(move |i| Transpose::from_code(code(i)))
    }

    /// Appends a filter, unless it would not change anything: shuffle of single bytes.
    #[inline(always)]
    fn push(&mut self, step: Transpose) {
        if matches!(step, Transpose::Shuffle { width: 0..=1 }) {
            return;
        }
        // A pipeline has six steps, and the number room for eight.
        self.codes |= u64::from(step.code()) << (8 * self.count);
        self.count += 1;
    }
}
