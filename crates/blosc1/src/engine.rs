//! The choice of engine: the code of this crate, or C-Blosc2.

/// The code that decodes whole chunks and encodes Blosc 2 chunks.
///
/// Blosc 1 chunks are always encoded, and parts of chunks always decoded, by the native engine.
///
/// ```
/// use blosc1::{ChunkDecoder, Engine};
///
/// let chunk = blosc1::compress(&[7; 5000], Default::default())?;
/// let data = ChunkDecoder::new().engine(Engine::Native).decode_to_vec(&chunk)?;
/// assert_eq!(data, [7; 5000]);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The code of this crate, which treats every byte as hostile.
    #[default]
    Native,
    /// C-Blosc2 2.15 by the crate `blosc2-rs`: for second opinions, or to use its encoder. Requires
    /// the cargo feature `blosc2-rs`.
    ///
    /// **Do not use it for untrusted input.** Its decoder is written in C and is not memory-safe:
    /// one of 2,000 damaged chunks crashed the process, and its blosclz [writes out of
    /// bounds](https://github.com/Blosc/c-blosc2/issues/801) for very long matches. This crate
    /// checks the header, sizes, limits, filters, and the position of every block and stream before
    /// C-Blosc2 sees the chunk, but it cannot check the compressed bytes.
    ///
    /// Decoding:
    ///
    /// - [`decode`](super::ChunkDecoder::decode) uses C-Blosc2. Decoded natively are ranges, single
    ///   blocks, empty chunks, and uninitialized special values, for which C-Blosc2 does not write
    ///   to the output.
    /// - In addition to the features that the native engine refuses, Snappy, dictionaries and a
    ///   shuffle with a meta byte are [`Unsupported`](super::Fault::Unsupported), whatever the
    ///   [`ShuffleMeta`](super::ShuffleMeta).
    ///
    /// Encoding with [`Blosc2Encoder`](super::Blosc2Encoder):
    ///
    /// - As with the native engine, at most `data.len() + 32` bytes are appended.
    /// - At most two filters are supported: with a third one, C-Blosc2 2.15 overwrites its input.
    /// - A block size is rounded down to whole elements; without one, C-Blosc2 chooses it.
    /// - Truncated precision is applied at its position, not before all other filters.
    /// - Zeros that are not whole elements are encoded natively, because C-Blosc2 does not read its
    ///   own chunks of these.
    ///
    /// C-Blosc2 runs on the calling thread. Its tables (`blosc2_init`) are set up once for the
    /// process and never freed.
    #[cfg(feature = "blosc2-rs")]
    CBlosc2,
}
