//! [`AutoTune`]: settings that are chosen when the first data arrives.

use super::chunk_compressor::{ChunkCompressor, ChunkOptions, ChunkSink};
use blosc1::{Tuned, Tuner};
use bloscpack_dtype::npy::NpyHeader;
use bloscpack_error::checked::len_of;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::SharedSource;
#[cfg(feature = "aio")]
use bloscpack_storage::parallel::Crew;
use bloscpack_storage::{ReadAt, SourceReader};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
#[cfg(feature = "aio")]
use std::sync::Arc;

/// A choice of settings that has not been made yet.
#[derive(Clone)]
pub(crate) struct AutoTune {
    tuner: Tuner,
    /// All other options.
    options: ChunkOptions,
}

impl AutoTune {
    pub(super) fn new(tuner: Tuner, options: ChunkOptions) -> Self {
        Self { tuner, options }
    }

    /// The threads that make it, if not the caller's.
    #[cfg(feature = "aio")]
    pub(super) fn crew(&self) -> Option<Arc<Crew>> {
        self.options.crew.clone()
    }

    /// Chooses by data in memory.
    pub(super) fn by_data(&self, data: &[u8]) -> Result<Tuned> {
        Ok(tuner_for(self.tuner, data).tune(data)?)
    }

    /// Chooses by pieces from the whole range of the source.
    pub(super) fn by_source(&self, source: &SharedSource, bytes: &Range<u64>) -> Result<Tuned> {
        tuned_at(self.tuner, source, bytes)
    }

    /// Reports the settings that were chosen to the sink, and returns a compressor that uses them.
    pub(super) fn settle(
        &self,
        tuned: &Tuned,
        sink: &mut impl ChunkSink,
    ) -> Result<ChunkCompressor> {
        let chunk = *tuned.settings();
        sink.tuned(&chunk)?;
        ChunkCompressor::new(&ChunkOptions {
            chunk,
            ..self.options.clone()
        })
    }
}

/// The settings, chosen by pieces from the whole range of the source.
pub(super) fn tuned_at<S: ReadAt>(tuner: Tuner, source: &S, bytes: &Range<u64>) -> Result<Tuned> {
    let mut pieces = Vec::new();
    for place in tuner.places(len_of(bytes)) {
        let mut reader = SourceReader::new(source);
        reader
            .seek(SeekFrom::Start(bytes.start + place.start))
            .reading()?;
        let mut piece = Vec::new();
        // A source that ends early makes it shorter.
        reader
            .take(len_of(&place))
            .read_to_end(&mut piece)
            .reading()?;
        pieces.push(piece);
    }
    let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
    let tuner = tuner_for(tuner, pieces.first().copied().unwrap_or_default());
    Ok(tuner.tune_pieces(&pieces)?)
}

/// The tuner for data that begins with these bytes.
fn tuner_for(tuner: Tuner, start: &[u8]) -> Tuner {
    tuner.typesize_of_data(NpyHeader::number_size(start))
}
