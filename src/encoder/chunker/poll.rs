//! A chunker that never blocks: it wakes the task when a worker is free, or when settings are chosen.

use super::{Chunker, Tuning};
use crate::encoder::ChunkSink;
use crate::encoder::auto::AutoTune;
use blosc1::Tuned;
use bloscpack_error::checked::slice;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::Pipeline;
use std::task::{Context, Poll, ready};

/// A choice of settings in progress on the crew.
pub(super) struct Trial {
    auto: AutoTune,
    pipeline: Pipeline<Vec<u8>, Result<Tuned>>,
}

impl Trial {
    fn begin(auto: AutoTune, data: &[u8]) -> Self {
        let own = auto.clone();
        let make_worker = move || {
            let auto = own.clone();
            move |data: Vec<u8>| auto.by_data(&data)
        };
        let mut pipeline = Pipeline::new(1, make_worker);
        if let Some(crew) = auto.crew() {
            pipeline = pipeline.on(crew);
        }
        pipeline.submit(data.to_vec());
        Self { auto, pipeline }
    }
}

impl Chunker {
    /// Passes on compressed chunks until [`write`](Self::write) need not wait.
    pub(crate) fn poll_room(
        &mut self,
        task: &Context<'_>,
        sink: &mut impl ChunkSink,
    ) -> Poll<Result<()>> {
        if self.filling.data.len() >= self.chunk_size {
            ready!(self.poll_settle(task, sink))?;
        }
        self.compressor.poll_room(false, task, sink)
    }

    /// Passes on all submitted chunks, so that a flush or the end need not wait.
    pub(crate) fn poll_drain(
        &mut self,
        is_end: bool,
        task: &Context<'_>,
        sink: &mut impl ChunkSink,
    ) -> Poll<Result<()>> {
        let len = self.filling.data.len();
        if is_end || len >= self.chunk_size || self.is_interactive && len > 0 {
            ready!(self.poll_settle(task, sink))?;
        }
        self.compressor.poll_room(true, task, sink)
    }

    /// Lets the crew choose the settings, unless the choice has been made.
    fn poll_settle(&mut self, task: &Context<'_>, sink: &mut impl ChunkSink) -> Poll<Result<()>> {
        if let Tuning::Pending(auto) = &self.tuning {
            let data = self.filling.data.data()?;
            let first = slice(data, 0..data.len().min(self.chunk_size))?;
            self.tuning = Tuning::Trying(Trial::begin(auto.clone(), first));
        }
        let Tuning::Trying(trial) = &mut self.tuning else {
            return Poll::Ready(Ok(()));
        };
        let done = ready!(trial.pipeline.poll_next(task));
        let done = done.ok_or_else(|| Error::bug("a choice that nobody makes"))?;
        let tuned = done.map_err(Error::from).and_then(|tuned| tuned);
        self.tuning = Tuning::Pending(trial.auto.clone());
        Poll::Ready(self.settle(|_, _| tuned, sink))
    }
}
