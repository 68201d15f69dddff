//! Arrays copied to others, and axes of one element taken away.

use super::NdArray;
use super::grid::common;
use crate::wire::ArrayMeta;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Copies all elements to an array of the same shape and size of elements, whatever its chunks are, one after another of
    /// those.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[100, 100]).full(&7i16.to_le_bytes()).in_memory()?;
    /// let mut copy = array.like()?.chunk_shape(&[10, 100]).block_shape(&[10, 10]).in_memory()?;
    /// array.copy_to(&mut copy)?;
    /// assert_eq!(copy.to_vec::<i16>(&[0..1, 0..3])?, [7, 7, 7]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for another shape or size; as [`read_slice`](Self::read_slice) and
    /// [`write_slice`](Self::write_slice).
    pub fn copy_to(&self, target: &mut Self) -> Result<()> {
        if self.shape() != target.shape() || self.itemsize() != target.itemsize() {
            return Err(Error::usage(format!(
                "an array of shape {:?} with elements of {} bytes cannot become one of {:?} with {}",
                self.shape(),
                self.itemsize(),
                target.shape(),
                target.itemsize()
            )));
        }
        for slice in target.boxes(target.frame.coders.buffer) {
            let data = self.read_slice(&slice)?;
            target.write_slice(&slice, &data)?;
        }
        Ok(())
    }

    /// The whole array as boxes of whole chunks in C order, each of so many bytes at the most, or one chunk: whoever writes one
    /// after another compresses each chunk once.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[100, 50]).chunk_shape(&[40, 25]).in_memory()?;
    /// let boxes: Vec<_> = array.boxes(6000).collect();
    /// assert_eq!(boxes, [[0..40, 0..50], [40..80, 0..50], [80..100, 0..50]]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn boxes(&self, bytes: usize) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let whole = self.grid.whole();
        self.grid
            .bands(bytes)
            .map(move |band| common(&whole, &band))
    }

    /// Takes away the axes that have a single element, all of them.
    ///
    /// # Errors
    /// As [`squeeze_axes`](Self::squeeze_axes).
    pub fn squeeze(&mut self) -> Result<()> {
        let single: Vec<usize> = (0..)
            .zip(self.shape())
            .filter(|(_, len)| **len == 1)
            .map(|(axis, _)| axis)
            .collect();
        self.squeeze_axes(&single)
    }

    /// Takes away these axes, each of which has a single element.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if one has more elements, or chunks that have room for more: then a copy with other
    /// chunks can lose it; and if the array was opened for reading only.
    pub fn squeeze_axes(&mut self, axes: &[usize]) -> Result<()> {
        for axis in axes {
            let parts = (self.shape().get(*axis), self.grid.stored.get(*axis));
            if parts != (Some(&1), Some(&1)) {
                return Err(Error::usage(format!(
                    "axis {axis} of the shape {:?}, in chunks of {:?}: only axes of one element in chunks of one can go; \
                     copy the array to chunks of that shape first",
                    self.shape(),
                    self.chunk_shape()
                )));
            }
        }
        if axes.is_empty() {
            return Ok(());
        }
        self.frame.begin()?;
        self.spill()?;
        let meta = ArrayMeta {
            kind: self.meta.kind,
            shape: without(&self.meta.shape, axes),
            chunk_shape: without(&self.meta.chunk_shape, axes),
            block_shape: without(&self.meta.block_shape, axes),
            dtype: self.meta.dtype.clone(),
        };
        if meta.shape.is_empty() && meta.kind == crate::wire::ArrayKind::Caterva {
            return Err(Error::usage("an array of Caterva keeps at least one axis"));
        }
        self.frame.put_metalayer(meta.kind.name(), meta.encode()?)?;
        self.grid = super::Grid::of(&meta, self.itemsize());
        self.meta = meta;
        Ok(())
    }
}

fn without<T: Copy>(all: &[T], axes: &[usize]) -> Vec<T> {
    let kept = (0..).zip(all).filter(|(axis, _)| !axes.contains(axis));
    kept.map(|(_, one)| *one).collect()
}
