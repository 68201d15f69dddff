//! Axes that grow and shrink.

use super::NdArray;
use super::store::grid_of;
use crate::part::FramePart;
use crate::wire::ChunkPlace;
use crate::wire::array::ArrayMeta;
use bloscpack_array::Geometry;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Gives the array another shape: each axis is cut off at its end, or extended with zeros. Chunks stay as they are, except
    /// those at the old end.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<u8>(&[2, 2]).full(&[7]).in_memory()?;
    /// array.resize(&[1, 3])?;
    /// assert_eq!(array.to_vec::<u8>(&[0..1, 0..3])?, [7, 7, 0]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for another number of axes, for a shape that has more chunks than the
    /// limit `offsets` allows, and if the array was opened for reading only; any I/O error, and any damage to the chunks at the
    /// old end. After the latter, the array has to be reopened; it is unchanged since the last flush.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        let old = self.shape().to_vec();
        if shape.len() != old.len() {
            return Err(Error::usage(format!(
                "the shape {shape:?} has {} axes, but the array has {}",
                shape.len(),
                old.len()
            )));
        }
        self.frame_mut().begin()?;
        self.spill()?;
        self.reshape(shape, |at| Ok(Some(at.to_vec())))?;
        self.all_or_poison(|array| array.clear_padding(&old))
    }

    /// The rest of an operation that has changed something already. If it fails, no flush makes half of it permanent.
    pub(super) fn all_or_poison<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let done = act(self);
        self.frame_mut().or_poison(done)
    }

    /// Another shape. Each chunk is the one that was at the position that `from` returns, if it returns one and there was a
    /// chunk there; others are zeros.
    pub(super) fn reshape(
        &mut self,
        shape: &[u64],
        from: impl Fn(&[u64]) -> Result<Option<Vec<u64>>>,
    ) -> Result<()> {
        let meta = ArrayMeta {
            shape: shape.to_vec(),
            ..self.meta.clone()
        };
        let (grid, [chunk_len, block_len], content_len) = self.grid_for(&meta)?;
        let old_places = &self.frame().meta.places;
        let mut places = Vec::new();
        let mut kept = vec![false; old_places.len()];
        for at in grid.chunks.positions(&grid.chunks.whole()) {
            let slot = match from(&at)? {
                Some(at) => self.slot_at(&at)?,
                None => None,
            };
            let Some(slot) = slot else {
                places.push(ChunkPlace::Zeros);
                continue;
            };
            let (Some(place), Some(kept)) = (old_places.get(slot), kept.get_mut(slot)) else {
                let chunks = old_places.len();
                return Err(Error::bug(format!("chunk {slot} of {chunks} is kept")));
            };
            *kept = true;
            places.push(*place);
        }
        self.frame_mut()
            .put_metalayer(meta.kind.name(), meta.encode()?)?;
        let gone: Vec<ChunkPlace> = std::mem::replace(&mut self.frame_mut().meta.places, places)
            .into_iter()
            .zip(kept)
            .filter_map(|(place, kept)| (!kept).then_some(place))
            .collect();
        let header = &mut self.frame_mut().meta.header;
        header.content_len = content_len;
        header.chunk_size = Some(chunk_len).filter(|len| *len > 0);
        header.blocksize = block_len;
        self.meta = meta;
        self.chunks.set_geometry(grid);
        self.chunks.forget(0..u64::MAX);
        gone.into_iter()
            .try_for_each(|place| self.frame_mut().discard(place))
    }

    /// The index of the entry for the chunk at this position, if there is one.
    fn slot_at(&self, at: &[u64]) -> Result<Option<usize>> {
        if !self.grid().chunks.has(at) {
            return Ok(None);
        }
        let number = self.grid().chunks.number(at);
        let slot = usize::try_from(number).ok();
        slot.map(Some)
            .ok_or_else(|| Error::bug(format!("chunk {number} is beyond all memory")))
    }

    /// The grid of a new shape, and the bytes of a chunk, of a block, and of all chunks.
    fn grid_for(&self, meta: &ArrayMeta) -> Result<(Geometry, [u32; 2], u64)> {
        // A shape that cannot be stored is refused here.
        meta.encode()?;
        let most = self.frame().coder.limits.offsets / 8;
        let too_large = || {
            let (part, found) = (FramePart::Array(meta.kind), format!("{:?}", meta.shape));
            let expected = format!("at most {most} chunks, the limit `offsets`");
            part.cannot_store("shape", found, expected)
        };
        let grid = grid_of(meta, self.itemsize()).ok_or_else(too_large)?;
        let sizes = [grid.chunk_len, grid.block_len].map(u32::try_from);
        let [Ok(chunk_len), Ok(block_len)] = sizes else {
            return Err(too_large());
        };
        let chunks = grid.chunks.count().filter(|chunks| *chunks <= most);
        let len = chunks.and_then(|chunks| chunks.checked_mul(chunk_len.into()));
        let len = len.filter(|len| i64::try_from(*len).is_ok());
        Ok((grid, [chunk_len, block_len], len.ok_or_else(too_large)?))
    }

    /// Clears the padding of chunks at the old end that is part of the array now.
    fn clear_padding(&mut self, old: &[u64]) -> Result<()> {
        let ends = old.iter().zip(self.grid().chunks.chunk_shape());
        // Only arrays without elements have chunks without any.
        let ends = ends.map(|(len, chunk)| len.div_ceil(*chunk.max(&1)) * chunk);
        let ends: Vec<u64> = ends.collect();
        let stored = self.shape().iter().zip(&ends);
        let stored: Vec<Range<u64>> = stored.map(|(len, end)| 0..*len.min(end)).collect();
        for (axis, begin) in old.iter().enumerate() {
            let mut slice = stored.clone();
            if let Some(range) = slice.get_mut(axis) {
                range.start = *begin;
            }
            if slice.iter().all(|range| range.start < range.end) {
                self.clear(&slice)?;
            }
        }
        Ok(())
    }

    /// Sets a slice to zeros, except in chunks that contain only zeros there.
    fn clear(&mut self, slice: &[Range<u64>]) -> Result<()> {
        let zero = vec![0; self.grid().itemsize];
        for at in self.grid().chunks.positions(slice) {
            let part = self.grid().chunks.part(at, slice);
            let number = part.number;
            if self.frame().place(number)? == ChunkPlace::Zeros
                && !self.chunks.store().dirty.contains_key(&number)
            {
                continue;
            }
            if self.read_slice(&part.region)?.iter().any(|byte| *byte != 0) {
                self.fill_slice(&part.region, &zero)?;
            }
        }
        Ok(())
    }
}
