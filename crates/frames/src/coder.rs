//! [`ChunkCoder`]: compresses and decompresses the chunks of a frame.

use crate::part::FramePart;
use crate::wire::header::FrameHeader;
use crate::wire::{array::ArrayMeta, kind::ArrayKind};
use blosc1::{
    BlockShape, Blosc2Encoder, Blosc2Settings, ChunkContext, ChunkDecoder, ChunkError, Compressor,
    FilterPipeline, ShuffleMeta,
};
use bloscpack::Options;
use bloscpack_array::Resources;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::Pool;
use bloscpack_wire::Limits;

/// Bytes of changed, uncompressed chunks that stay in memory if `Options::cache` is not set.
const DEFAULT_BUFFER: usize = 64 << 20;

/// The settings of a frame, and decoders, encoders and buffers that its threads share.
#[derive(Debug)]
pub(crate) struct ChunkCoder {
    /// Threads that compress or decompress at once.
    pub threads: usize,
    /// Bytes of decompressed chunks that may be in memory while an array is written.
    pub buffer: usize,
    /// The limits that chunks and metadata are checked against.
    pub limits: Limits,
    pub resources: Resources,
    /// The facts about chunks that only the frame records.
    pub context: ChunkContext,
    encoders: Pool<(Blosc2Encoder, Vec<u8>)>,
}

impl ChunkCoder {
    /// The coder for a frame. `array` is the array in the frame, `None` for a plain frame.
    pub(crate) fn new(options: &Options, array: Option<&ArrayMeta>) -> Self {
        // The parameter byte of a shuffle has had several meanings over time. All programs that write `b2nd` use the latest.
        let shuffle_meta = match array.map(|array| array.kind) {
            Some(ArrayKind::B2nd) => ShuffleMeta::Width,
            _ => ShuffleMeta::Refuse,
        };
        let context = ChunkContext {
            shuffle_meta,
            block_shape: array.and_then(block_shape),
        };
        Self {
            threads: options.workers(),
            buffer: options.cache.unwrap_or(DEFAULT_BUFFER),
            limits: options.limits,
            resources: Resources::new(options),
            context,
            encoders: Pool::default(),
        }
    }

    /// Calls `act` with a decoder that keeps to the limits.
    pub(crate) fn decode<T, E>(
        &self,
        act: impl FnOnce(&mut ChunkDecoder) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.resources.with_decoder(self.context, act)
    }

    /// Compresses the data of a chunk with the codec, level, filters and block size in `header`. Returns the chunk.
    ///
    /// Allocates memory for the chunk on each call. Fails if this build lacks the compressor, or if the header names an unknown
    /// one.
    pub(crate) fn encode(&self, header: &FrameHeader, data: &[u8]) -> Result<Vec<u8>> {
        let make = || {
            let encoder = Blosc2Encoder::new(settings(header)?)?;
            Ok::<_, Error>((encoder, Vec::new()))
        };
        self.encoders.lend(make, |(encoder, out)| {
            out.clear();
            encoder.encode(data, out)?;
            Ok(out.clone())
        })
    }

    /// Drops the encoders, after a change of the settings.
    pub(crate) fn drop_encoders(&mut self) {
        self.encoders = Pool::default();
    }

    /// Calls `act` with a buffer of unspecified content and length.
    pub(crate) fn with_bytes<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> Result<T>) -> Result<T> {
        self.resources.with_bytes(act)
    }
}

/// The shape of the blocks of an array, for the filters that need it.
fn block_shape(array: &ArrayMeta) -> Option<BlockShape> {
    BlockShape::new(&array.block_shape)
}

/// The settings with which new chunks of a frame are compressed.
///
/// Returns [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a codec or filter that this crate does not have.
/// Levels above 9 count as 9.
pub(crate) fn settings(header: &FrameHeader) -> Result<Blosc2Settings> {
    let compressor = compressor(header.codec).ok_or_else(|| {
        let (part, field) = (FramePart::Header, "compressor of new chunks");
        let expected = "0, 1, 2, 4 or 5";
        part.unsupported(None, field, header.codec, expected)
    })?;
    // The encoder writes the width of a shuffle into each chunk; it may differ between chunks.
    let metas = header.filters.iter().zip(header.filters_meta);
    let mut plain = [0; 6];
    for (to, (id, meta)) in plain.iter_mut().zip(metas) {
        *to = if *id == SHUFFLE { 0 } else { meta };
    }
    // Elements of more than 255 bytes do not fit the header of a chunk. As in the C libraries, it then says 1.
    let typesize = u8::try_from(header.typesize).ok().filter(|size| *size > 0);
    let array = ArrayMeta::of(&header.metalayers).ok().flatten();
    Ok(Blosc2Settings::default()
        .block_shape(array.as_ref().and_then(block_shape))
        .compressor(compressor)
        .level(header.level.min(9))
        .filters(FilterPipeline::from_ids(header.filters, plain)?)
        .typesize(typesize.unwrap_or(1))
        .blocksize((header.blocksize > 0).then_some(header.blocksize)))
}

/// The number of the shuffle filter in a frame header.
const SHUFFLE: u8 = 1;

/// The compressor with this number in a frame header; `None` for an unknown number.
pub(crate) fn compressor(codec: u8) -> Option<Compressor> {
    let mut all = Compressor::ALL.into_iter();
    all.find(|compressor| codec_id(*compressor).is_ok_and(|id| id == codec))
}

/// The number of a compressor in a frame header. Blosc2 has no Snappy.
pub(crate) fn codec_id(compressor: Compressor) -> std::result::Result<u8, ChunkError> {
    match compressor {
        Compressor::Blosclz => Ok(0),
        Compressor::Lz4 => Ok(1),
        Compressor::Lz4hc => Ok(2),
        Compressor::Zlib => Ok(4),
        Compressor::Zstd => Ok(5),
        _ => Err(ChunkError::NotInBlosc2 { compressor }),
    }
}
