//! Who decodes and encodes: the code of this crate, or C-Blosc2.

/// What decodes whole chunks, and encodes those of Blosc 2.
///
/// ```
/// use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Engine};
///
/// let mut chunk = Vec::new();
/// ChunkEncoder::new(ChunkSettings::default())?.encode(&[7; 5000], &mut chunk)?;
/// let mut data = [0; 5000];
/// ChunkDecoder::new().engine(Engine::default()).decode(&chunk, &mut data)?;
/// assert_eq!(data, [7; 5000]);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The code of this crate, which takes every byte for hostile.
    #[default]
    Native,
    /// C-Blosc2 2.15 by the crate `blosc2-rs`: for second opinions, and for those who want its
    /// writer. Needs the cargo feature `blosc2-rs`.
    ///
    /// **Not for bytes of strangers.** Its decoder is C, and not safe for memory: one of 2,000 damaged
    /// chunks ended the process, and its blosclz
    /// [writes out of bounds](https://github.com/Blosc/c-blosc2/issues/801) where a match is very
    /// long. What this crate can tell beforehand is checked before C sees the chunk: header, sizes,
    /// limits, filters, and where every block and stream lies. The compressed bytes are not.
    ///
    /// - [`decode`](super::ChunkDecoder::decode) is by C-Blosc2. Ranges and single blocks stay
    ///   native, as do chunks without data and special values of no matter, which C-Blosc2 leaves as
    ///   they are in memory.
    /// - [`Unsupported`](super::Fault::Unsupported), beyond what the native engine refuses: Snappy,
    ///   dictionaries, and a shuffle with a second byte, whatever the
    ///   [`ShuffleMeta`](super::ShuffleMeta).
    /// - [`Blosc2Encoder`](super::Blosc2Encoder) makes chunks of at most `data.len() + 32` bytes with
    ///   it, too. It takes two filters at most: with the third, C-Blosc2 2.15 writes over the data that
    ///   it is given. A block size is rounded down to whole elements if it has any; without one,
    ///   C-Blosc2 chooses. Truncated precision is applied where it stands, not before all others.
    ///   Zeros that are no whole elements are encoded natively: C-Blosc2 does not read its own.
    ///
    /// One thread is used. The library's tables (`blosc2_init`) are set up once for the process, and
    /// never taken down.
    #[cfg(feature = "blosc2-rs")]
    CBlosc2,
}
