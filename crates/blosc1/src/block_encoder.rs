//! Encodes single blocks of Blosc 1 chunks.

use super::compressor::StreamEncoder;
use super::layout::Layout;
use super::output::Output;
use super::scratch::room_for;
use super::{ChunkError, Compressor, Filter, filter};

/// What all blocks of a chunk have in common: data, layout and settings.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub layout: &'a Layout,
    pub data: &'a [u8],
    pub compressor: Compressor,
    pub level: u8,
    pub filter: Filter,
}

/// Encodes blocks, and keeps its buffer and the compressor's state for the next one.
#[derive(Default)]
pub(super) struct BlockEncoder {
    /// Made on first use.
    compressor: Option<StreamEncoder>,
    /// A filtered block.
    filtered: Vec<u8>,
    /// The blocks of a chunk that this encoder has encoded, if it is one of several threads.
    pub(super) part: Vec<u8>,
    /// A compressed stream, before it is appended to `part`.
    pub(super) compressed: Vec<u8>,
}

impl BlockEncoder {
    /// Drops the compressor's state, which depends on the compressor and the level.
    pub fn forget_compressor(&mut self) {
        self.compressor = None;
    }

    /// Appends the streams of block `index`, and reduces `room` by their lengths.
    ///
    /// `room` excludes the length and one byte of each stream, for which the caller has reserved
    /// space. Returns `false`, with unspecified bytes appended, if the streams do not fit.
    pub fn encode(
        &mut self,
        job: &Job<'_>,
        index: u32,
        room: &mut usize,
        out: &mut impl Output,
    ) -> Result<bool, ChunkError> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(StreamEncoder::new(job.compressor, job.level)?),
        };
        let block = &job.data[job.layout.block(index)];
        let block = apply(job.filter, job.layout, block, &mut self.filtered);
        let stream_len = block.len() / job.layout.streams(block.len());
        for stream in block.chunks_exact(stream_len) {
            let Some(len) = out.append_stream(compressor, stream, *room + 1)? else {
                return Ok(false);
            };
            *room = (*room + 1).saturating_sub(len);
        }
        Ok(true)
    }
}

/// Applies the filter to a block. Returns the block itself if the filter would not change it.
pub(super) fn apply<'a>(
    filter: Filter,
    layout: &Layout,
    block: &'a [u8],
    filtered: &'a mut Vec<u8>,
) -> &'a [u8] {
    let typesize = usize::from(layout.typesize);
    let run = match filter {
        Filter::Byte if typesize > 1 => filter::shuffle,
        Filter::Bit if block.len() >= typesize => filter::bitshuffle,
        _ => return block,
    };
    let filtered = room_for(filtered, block.len());
    run(typesize, block, filtered);
    filtered
}
