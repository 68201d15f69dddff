//! [`ArraySpec`]: the description of one array, whatever its layout.

use crate::grid::BandedGrid;
use crate::superchunk::Container;
use blosc1::ChunkSettings;
use bloscpack_dtype::{DType, Kind};
use bloscpack_storage::Key;
use std::num::NonZeroU64;

/// The description of one array, whatever its layout.
#[derive(Debug, Clone)]
pub(crate) struct ArraySpec {
    pub dtype: DType,
    pub grid: BandedGrid,
    /// The folder of its superchunks.
    pub folder: Key,
    pub naming: Naming,
    pub container: Container,
    /// Chunks per superchunk; the last one may have fewer.
    pub chunks_per_file: NonZeroU64,
    /// The compression of new chunks, without the typesize.
    pub settings: ChunkSettings,
    /// The bytes of a default element or row; `None` for zeros.
    pub default: Option<Vec<u8>>,
    /// The number of rows that the creator expected.
    pub expected_rows: u64,
    /// Compressed bytes of full chunks, as the dataset counts them. The count may be wrong.
    pub cbytes: i64,
    /// Bytes that this count includes for each chunk in addition.
    pub chunk_overhead: u8,
}

/// The file names of superchunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `__0.blp`, `__1.blp`, ...
    FromZero,
    /// `__1__.bin`, `__2__.bin`, ...
    #[cfg_attr(
        not(feature = "documents"),
        allow(dead_code, reason = "only the layouts of the two documents use it")
    )]
    FromOne,
}

impl Naming {
    /// The file name of superchunk `number`, counted from 0.
    pub(crate) fn name(self, number: u64) -> String {
        match self {
            Self::FromZero => format!("__{number}.blp"),
            Self::FromOne => format!("__{}__.bin", u128::from(number) + 1),
        }
    }

    /// The number of the superchunk with this file name; `None` unless it is exactly a [`name`](Self::name).
    pub(crate) fn number(self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix("__")?;
        let number: u64 = match self {
            Self::FromZero => digits.strip_suffix(".blp")?.parse().ok()?,
            Self::FromOne => digits
                .strip_suffix("__.bin")?
                .parse::<u64>()
                .ok()?
                .checked_sub(1)?,
        };
        // Excludes `__01.blp` and `__+1.blp`.
        (self.name(number) == name).then_some(number)
    }
}

impl ArraySpec {
    /// The settings of new chunks. The typesize must match the dtype: bcolz selects elements of a chunk by item number, which
    /// Blosc counts in units of the typesize.
    pub(crate) fn chunk_settings(&self) -> ChunkSettings {
        self.settings.typesize(self.typesize())
    }

    /// The typesize of new chunks.
    pub(crate) fn typesize(&self) -> u8 {
        typesize(&self.dtype)
    }
}

/// The typesize of chunks of this dtype, as bcolz chooses it for each kind.
pub(crate) fn typesize(dtype: &DType) -> u8 {
    match dtype.kind() {
        Kind::Bytes | Kind::Object => 1,
        Kind::Text => 4,
        // Elements of more than 255 bytes do not fit into the header's byte; Blosc treats them as single bytes.
        _ => u8::try_from(dtype.itemsize()).unwrap_or(1).max(1),
    }
}
