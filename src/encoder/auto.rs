//! Settings that are chosen when the first data is there.

use super::chunk_compressor::{Line, Recipe, Sink};
use crate::shared_source::{Shared, in_order};
use blosc1::{Tuned, Tuner};
use bloscpack_error::{IoSide, Result};
use std::io::Read;
use std::ops::Range;

/// What a stage still has to choose.
pub(crate) struct Auto {
    tuner: Tuner,
    /// How chunks are made otherwise.
    recipe: Recipe,
}

impl Auto {
    pub(super) fn new(tuner: Tuner, recipe: Recipe) -> Self {
        Self { tuner, recipe }
    }

    /// Chooses by data that lies in memory.
    pub(super) fn by_data(&self, data: &[u8]) -> Result<Tuned> {
        Ok(self.tuner.tune(data)?)
    }

    /// Chooses by pieces from all over these bytes of a source.
    pub(super) fn by_source(&self, source: &Shared, bytes: &Range<u64>) -> Result<Tuned> {
        let len = bytes.end.saturating_sub(bytes.start);
        let mut pieces = Vec::new();
        for place in self.tuner.places(len) {
            let from = |at| bytes.start.saturating_add(at);
            let mut piece = Vec::new();
            // It is shorter where the source ends before.
            in_order(source, from(place.start)..from(place.end))
                .reading()?
                .read_to_end(&mut piece)
                .reading()?;
            pieces.push(piece);
        }
        let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
        Ok(self.tuner.tune_pieces(&pieces)?)
    }

    /// What makes chunks with the settings that were chosen, once the sink knows them.
    pub(super) fn settle(&self, tuned: &Tuned, sink: &mut impl Sink) -> Result<Line> {
        let chunk = *tuned.settings();
        sink.tuned(&chunk)?;
        Line::new(&Recipe {
            chunk,
            ..self.recipe
        })
    }
}
