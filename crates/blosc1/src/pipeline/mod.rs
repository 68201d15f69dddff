//! The six filters that a chunk of Blosc 2 has, one after the other.

use super::filter;
use super::{ChunkError, Filter};

pub(super) mod delta;
pub(super) mod truncate;

/// Filters of a chunk at most.
const SLOTS: usize = 6;

const NONE: u8 = 0;
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNCATE: u8 = 4;

/// One step of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterStep {
    /// Nothing.
    None,
    /// Bytes of equal rank are put together.
    Shuffle,
    /// Bits of equal rank are put together.
    Bitshuffle,
    /// The difference from the element before, or from that of the first block.
    Delta,
    /// The lowest bits of floating-point numbers become zero: what is read back is not what was
    /// written.
    TruncatePrecision {
        /// Bits of the mantissa that are kept or, if negative, that many that are not.
        bits: i8,
    },
}

impl FilterStep {
    const fn id(self) -> u8 {
        match self {
            Self::None => NONE,
            Self::Shuffle => SHUFFLE,
            Self::Bitshuffle => BITSHUFFLE,
            Self::Delta => DELTA,
            Self::TruncatePrecision { .. } => TRUNCATE,
        }
    }

    const fn meta(self) -> u8 {
        match self {
            Self::TruncatePrecision { bits } => bits.to_le_bytes()[0],
            Self::None | Self::Shuffle | Self::Bitshuffle | Self::Delta => 0,
        }
    }

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

/// Six filters, applied from the first to the last and undone from the last to the first.
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
    /// A pipeline of these steps, in the last of its six places.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::Fault::Usage) for more than six steps;
    /// [`Unsupported`](crate::Fault::Unsupported) for delta behind a step other than
    /// truncated precision: C-Blosc2 cannot undo it there.
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

    /// A pipeline as the numbers in a chunk's or a frame's header tell it.
    ///
    /// The second bytes are kept as they are, even where they have no meaning.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](crate::Fault::Unsupported) for a number without a meaning or of a
    /// plug-in, and for delta behind a step other than truncated precision.
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

    /// The steps, of which the places without a filter are [`FilterStep::None`].
    pub fn steps(&self) -> impl Iterator<Item = FilterStep> + use<> {
        let slots = self.ids.into_iter().zip(self.metas);
        slots.filter_map(|(id, meta)| FilterStep::from_id(id, meta))
    }

    /// The filters' numbers.
    #[must_use]
    pub const fn ids(&self) -> [u8; SLOTS] {
        self.ids
    }

    /// A byte for each filter: bits for truncated precision; for shuffle, 0 or what
    /// [`ShuffleMeta`](crate::ShuffleMeta) is about.
    #[must_use]
    pub const fn metas(&self) -> [u8; SLOTS] {
        self.metas
    }

    /// What is to be undone.
    pub(crate) fn undo(&self, typesize: u8, version: u8) -> Undo {
        let mut undo = Undo::default();
        for (id, meta) in self.ids.into_iter().zip(self.metas).rev() {
            match (id, meta) {
                (SHUFFLE, 0) => undo.push(Move::Shuffle { width: typesize }),
                (SHUFFLE, width) => {
                    undo.shuffle_meta = undo.shuffle_meta.max(width);
                    undo.push(Move::Shuffle { width });
                }
                (BITSHUFFLE, _) if version <= LAST_OF_BLOSC1 => undo.push(Move::BitshuffleEights),
                (BITSHUFFLE, _) => undo.push(Move::Bitshuffle),
                (DELTA, _) => undo.delta = true,
                _ => {}
            }
        }
        undo
    }
}

impl Default for FilterPipeline {
    /// Shuffle, in the last place.
    fn default() -> Self {
        Filter::Byte.into()
    }
}

impl From<Filter> for FilterPipeline {
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

/// The last format version whose bitshuffle leaves a block alone whose elements do not come in
/// eights.
const LAST_OF_BLOSC1: u8 = 2;

/// A filter that moves bytes or bits from one buffer to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Shuffle {
        width: u8,
    },
    /// As Blosc 2 has it: elements beyond the last eight stay.
    Bitshuffle,
    /// As Blosc 1 has it: all or none.
    BitshuffleEights,
}

impl Move {
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

/// The filters of a chunk, in the order in which they are undone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    moves: [Option<Move>; SLOTS],
    count: usize,
    /// Whether delta is undone at the end.
    pub delta: bool,
    /// The largest second byte that a shuffle has.
    pub shuffle_meta: u8,
}

impl Undo {
    /// Those of a header without extension.
    pub fn of_flags(filter: Filter, delta: bool, typesize: u8, version: u8) -> Self {
        let mut undo = FilterPipeline::from(filter).undo(typesize, version);
        undo.delta = delta;
        undo
    }

    /// Those that move bytes or bits.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = Move> + Clone + use<> {
        self.moves.into_iter().take(self.count).flatten()
    }

    fn push(&mut self, step: Move) {
        if matches!(step, Move::Shuffle { width: 0..=1 }) {
            return;
        }
        if let Some(slot) = self.moves.get_mut(self.count) {
            *slot = Some(step);
            self.count += 1;
        }
    }
}
