//! Axes that grow and shrink.

use super::NdArray;
use super::grid::{Grid, Positions};
use crate::wire::{ArrayMeta, ChunkPlace};
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Gives the array another shape: every axis is cut off at its end, or lengthened with zeros.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for another number of axes, for a shape that has more chunks than the limit `offsets`
    /// allows, and if the array was opened for reading only; whatever is wrong with the chunks at the old end, after which the
    /// array has to be opened again, and is as the last flush left it.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        let old = self.shape().to_vec();
        if shape.len() != old.len() {
            let what = format!("the shape {shape:?} for an array of {} axes", old.len());
            return Err(Error::usage(what));
        }
        self.frame.begin()?;
        self.spill()?;
        self.reshape(shape, |at, _| Some(at.to_vec()))?;
        self.as_a_whole(|array| array.clear_behind(&old))
    }

    /// The rest of an operation that has changed something already: if it fails, no flush makes half of it permanent.
    pub(super) fn as_a_whole<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let done = act(self);
        self.frame.failed |= done.is_err();
        done
    }

    /// Another shape, whose chunks at each position are those that were at the one that `from` tells, if there was one.
    pub(super) fn reshape(
        &mut self,
        shape: &[u64],
        from: impl Fn(&[u64], &Grid) -> Option<Vec<u64>>,
    ) -> Result<()> {
        let meta = ArrayMeta {
            shape: shape.to_vec(),
            ..self.meta.clone()
        };
        let (grid, chunks) = self.grid_for(&meta)?;
        let old = &self.grid;
        let is_there = |at: &[u64]| at.iter().zip(&old.counts).all(|(at, count)| at < count);
        let mut places = Vec::new();
        let mut kept = vec![false; self.frame.outline.places.len()];
        for at in Positions::new(grid.counts.iter().map(|count| 0..*count).collect()) {
            let number = from(&at, old)
                .filter(|at| is_there(at))
                .map(|at| old.number(&at));
            let number = number.and_then(|number| usize::try_from(number).ok());
            let place = number.and_then(|number| self.frame.outline.places.get(number));
            if let Some(kept) = number.and_then(|number| kept.get_mut(number)) {
                *kept = true;
            }
            places.push(place.copied().unwrap_or(ChunkPlace::Zeros));
        }
        let gone: Vec<ChunkPlace> = std::mem::replace(&mut self.frame.outline.places, places)
            .into_iter()
            .zip(kept)
            .filter_map(|(place, kept)| (!kept).then_some(place))
            .collect();
        let header = &mut self.frame.outline.header;
        header.content_len =
            chunks.saturating_mul(u64::try_from(grid.chunk_len).unwrap_or(u64::MAX));
        header.chunk_size = u32::try_from(grid.chunk_len).ok().filter(|len| *len > 0);
        header.blocksize = u32::try_from(grid.block_len).unwrap_or(u32::MAX);
        self.frame.put_metalayer(meta.kind.name(), meta.encode()?)?;
        (self.meta, self.grid) = (meta, grid);
        gone.into_iter()
            .try_for_each(|place| self.frame.discard(place))
    }

    /// The grid of a new description, and how many chunks it has.
    fn grid_for(&self, meta: &ArrayMeta) -> Result<(Grid, u64)> {
        meta.encode()
            .map_err(|error| Error::usage(error.to_string()))?;
        let grid = Grid::of(meta, self.itemsize());
        let chunks = match grid.counts.contains(&0) {
            true => Some(0),
            false => grid
                .counts
                .iter()
                .try_fold(1u64, |all, count| all.checked_mul(*count)),
        };
        let chunk_len = u64::try_from(grid.chunk_len).unwrap_or(u64::MAX);
        let most = self.frame.coders.limits.offsets / 8;
        match chunks {
            Some(chunks)
                if chunks <= most
                    && chunks
                        .checked_mul(chunk_len)
                        .is_some_and(|len| i64::try_from(len).is_ok()) =>
            {
                Ok((grid, chunks))
            }
            _ => Err(crate::error::frame(
                Fault::Usage,
                format!(
                    "the shape {:?} would take more than {most} chunks, the limit `offsets`",
                    meta.shape
                ),
            )),
        }
    }

    /// Clears what was padding in the chunks at the old end, and is part of the array now.
    fn clear_behind(&mut self, old: &[u64]) -> Result<()> {
        let ends: Vec<u64> = old
            .iter()
            .zip(&self.grid.chunk)
            .map(|(len, chunk)| len.div_ceil(*chunk.max(&1)).saturating_mul(*chunk))
            .collect();
        let known: Vec<Range<u64>> = self
            .shape()
            .iter()
            .zip(&ends)
            .map(|(len, end)| 0..*len.min(end))
            .collect();
        for axis in 0..old.len() {
            let mut slice = known.clone();
            let (Some(range), Some(begin)) = (slice.get_mut(axis), old.get(axis)) else {
                continue;
            };
            range.start = *begin;
            if slice.iter().all(|range| range.start < range.end) {
                self.clear(&slice)?;
            }
        }
        Ok(())
    }

    /// Sets a box to zeros, but no chunk that has nothing else there.
    fn clear(&mut self, slice: &[Range<u64>]) -> Result<()> {
        let zero = vec![0; self.grid.itemsize];
        for at in self.grid.chunks_of(slice) {
            let number = self.grid.number(&at);
            if self.frame.place(number)? == ChunkPlace::Zeros && !self.dirty.contains_key(&number) {
                continue;
            }
            let part = super::grid::common(slice, &self.grid.extent(&self.grid.origin(&at)));
            if self.read_slice(&part)?.iter().any(|byte| *byte != 0) {
                self.fill_slice(&part, &zero)?;
            }
        }
        Ok(())
    }
}
