//! Changes the lengths of axes.

use super::NdArray;
use super::store::grid_of;
use crate::part::FramePart;
use crate::wire::ChunkPlace;
use crate::wire::array::ArrayMeta;
use bloscpack_array::Geometry;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Changes the shape: each axis is cut off at its end, or extended with zeros. The number of axes stays the same.
    ///
    /// Only the index changes, and chunks at the old end of an axis that contain old padding. Chunks that lie outside of the
    /// new shape are dropped.
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
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another number of axes,
    /// [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for more chunks than the limit `offsets` allows, and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading. Returns any I/O error, and any
    /// damage to the chunks at the old end; the array must then be reopened, and is unchanged since the last flush.
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

    /// Runs the rest of a change that cannot be undone. If it fails, the frame is marked as unusable, so no flush makes half of
    /// it permanent.
    pub(super) fn all_or_poison<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let done = act(self);
        self.frame_mut().or_poison(done)
    }

    /// Sets another shape. `from` returns, for the position of each new chunk, the position of the old chunk that takes it;
    /// `None`, or a position without a chunk, is a chunk of zeros.
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

    /// The index entry of the chunk at this position; `None` if there is none.
    fn slot_at(&self, at: &[u64]) -> Result<Option<usize>> {
        if !self.grid().chunks.has(at) {
            return Ok(None);
        }
        let number = self.grid().chunks.number(at);
        let slot = usize::try_from(number).ok();
        slot.map(Some)
            .ok_or_else(|| Error::bug(format!("chunk {number} is beyond all memory")))
    }

    /// The grid of a new shape, and the bytes of a chunk, of a block, and of all chunks. Refuses a shape that cannot be stored.
    fn grid_for(&self, meta: &ArrayMeta) -> Result<(Geometry, [u32; 2], u64)> {
        // Refuses a shape that cannot be stored.
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

    /// Clears the padding in chunks at the old end that became part of the array.
    fn clear_padding(&mut self, old: &[u64]) -> Result<()> {
        let ends = old.iter().zip(self.grid().chunks.chunk_shape());
        // A chunk length of 0 is possible only in arrays without elements.
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

    /// Sets a slice to zeros. Chunks that are already zero there are not written.
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
