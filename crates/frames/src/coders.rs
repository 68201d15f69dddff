//! [`Coders`]: what compresses and decompresses the chunks of a frame.

use super::FrameOptions;
use crate::wire::{ArrayKind, FrameHeader};
use blosc1::{
    Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkError, Compressor, Fault, FilterPipeline,
    ShuffleMeta,
};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::Pool;
use bloscpack_wire::Limits;

/// Decoders, encoders and buffers that threads share, and how chunks are made.
#[derive(Debug)]
pub(super) struct Coders {
    pub threads: usize,
    pub buffer: usize,
    pub limits: Limits,
    shuffle_meta: ShuffleMeta,
    decoders: Pool<ChunkDecoder>,
    encoders: Pool<(Blosc2Encoder, Vec<u8>)>,
    pub bytes: Pool<Vec<u8>>,
}

impl Coders {
    /// Those of a frame that says to be an array of this kind.
    pub(super) fn new(options: &FrameOptions, kind: Option<ArrayKind>) -> Self {
        // Only `b2nd` arrays are known to be newer than the last change of what it means.
        let shuffle_meta = match kind {
            Some(ArrayKind::B2nd) => ShuffleMeta::Width,
            _ => ShuffleMeta::Refuse,
        };
        Self {
            threads: options.threads,
            buffer: options.buffer,
            limits: options.limits,
            shuffle_meta,
            decoders: Pool::default(),
            encoders: Pool::default(),
            bytes: Pool::default(),
        }
    }

    pub(super) fn decode<T>(&self, act: impl FnOnce(&mut ChunkDecoder) -> Result<T>) -> Result<T> {
        let make = || {
            let decoder = self.limits.decoder();
            Ok(decoder.shuffle_meta(self.shuffle_meta))
        };
        self.decoders.lend(make, act)
    }

    /// Compresses the data of a chunk.
    pub(super) fn encode(&self, header: &FrameHeader, data: &[u8]) -> Result<Vec<u8>> {
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

    /// A buffer that is lent.
    pub(super) fn with_bytes<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> Result<T>) -> Result<T> {
        self.bytes.lend(|| Ok(Vec::new()), act)
    }
}

/// How new chunks of a frame are made, as its header tells.
pub(super) fn settings(header: &FrameHeader) -> Result<Blosc2Settings> {
    let unsupported = |what: String| crate::error::frame(Fault::Unsupported, what);
    let compressor = match header.codec {
        0 => Compressor::Blosclz,
        1 => Compressor::Lz4,
        2 => Compressor::Lz4hc,
        4 => Compressor::Zlib,
        5 => Compressor::Zstd,
        other => {
            return Err(unsupported(format!(
                "new chunks would need compressor number {other}, which this library does not have"
            )));
        }
    };
    // The width of a shuffle stands in each chunk, and need not be the same in all.
    let metas = header.filters.iter().zip(header.filters_meta);
    let mut plain = [0; 6];
    for (place, (id, meta)) in plain.iter_mut().zip(metas) {
        *place = if *id == SHUFFLE { 0 } else { meta };
    }
    // What a chunk has no number for, it takes as bytes; so do the C libraries.
    let typesize = u8::try_from(header.typesize).ok().filter(|size| *size > 0);
    Ok(Blosc2Settings::default()
        .compressor(compressor)
        .level(header.level.min(9))
        .filters(FilterPipeline::from_ids(header.filters, plain)?)
        .typesize(typesize.unwrap_or(1))
        .blocksize((header.blocksize > 0).then_some(header.blocksize)))
}

/// The number of the shuffle filter.
const SHUFFLE: u8 = 1;

/// What a compressor's number is in a frame's header.
pub(super) fn codec_id(compressor: Compressor) -> std::result::Result<u8, ChunkError> {
    match compressor {
        Compressor::Blosclz => Ok(0),
        Compressor::Lz4 => Ok(1),
        Compressor::Lz4hc => Ok(2),
        Compressor::Zlib => Ok(4),
        Compressor::Zstd => Ok(5),
        Compressor::Snappy => Err(ChunkError::UnknownCompressor { code: 2 }),
    }
}
