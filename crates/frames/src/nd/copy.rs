//! Copies arrays to others, and removes axes of one element.

use super::NdArray;
use super::store::grid_of;
use crate::wire::array::ArrayMeta;
use crate::wire::kind::ArrayKind;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Copies all elements to another array of the same shape and element size. The shapes of chunks and blocks may differ, and
    /// so may the dtype: bytes are copied without conversion.
    ///
    /// Works in pieces of whole chunks of the target, each up to the cache size in the options of the target (64 MiB by
    /// default) or one chunk. Does not flush the target.
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
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for another shape or element size, and the errors of
    /// [`read_slice`](Self::read_slice) and [`write_slice`](Self::write_slice). After an error, a part of the elements may be
    /// copied.
    pub fn copy_to(&self, target: &mut Self) -> Result<()> {
        if self.shape() != target.shape() || self.itemsize() != target.itemsize() {
            return Err(Error::usage(format!(
                "an array of shape {:?} with elements of {} bytes cannot be copied to one of {:?} with {}",
                self.shape(),
                self.itemsize(),
                target.shape(),
                target.itemsize()
            )));
        }
        for slice in target.boxes(target.frame().coder.buffer) {
            let data = self.read_slice(&slice)?;
            target.write_slice(&slice, &data)?;
        }
        Ok(())
    }

    /// Splits the array into slices of whole chunks in C order, each of up to `bytes` uncompressed bytes, or one chunk. A
    /// program that writes these slices one after another compresses each chunk once.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<i16>(&[100, 50]).chunk_shape(&[40, 25]).in_memory()?;
    /// let boxes: Vec<_> = array.boxes(6000).collect();
    /// assert_eq!(boxes, [[0..40, 0..50], [40..80, 0..50], [80..100, 0..50]]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn boxes(&self, bytes: usize) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let bands = self
            .grid()
            .chunks
            .bands(to_u64(self.grid().chunk_len), to_u64(bytes));
        bands.map(|band| band.ranges)
    }

    /// Removes all axes that have a single element.
    ///
    /// # Errors
    /// Returns the errors of [`squeeze_axes`](Self::squeeze_axes).
    pub fn squeeze(&mut self) -> Result<()> {
        let single: Vec<usize> = (0..)
            .zip(self.shape())
            .filter(|(_, len)| **len == 1)
            .map(|(axis, _)| axis)
            .collect();
        self.squeeze_axes(&single)
    }

    /// Removes these axes. Each must have a single element, in chunks of a single element. Changes only the description of the
    /// array.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<i16>(&[100, 1]).in_memory()?;
    /// array.squeeze_axes(&[1])?;
    /// assert_eq!(array.shape(), [100]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for an axis that does not exist or has more elements, for one
    /// whose chunks have room for more (copy the array to other chunks first), and for the last axis of a Caterva array; and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading.
    pub fn squeeze_axes(&mut self, axes: &[usize]) -> Result<()> {
        for axis in axes {
            let lens = (
                self.shape().get(*axis),
                self.grid().blocks.shape().get(*axis),
            );
            if lens != (Some(&1), Some(&1)) {
                return Err(Error::usage(format!(
                    "axis {axis} of the shape {:?}, in chunks of {:?}: only axes of one element in chunks of one can be \
                     removed; copy the array to chunks of that shape first",
                    self.shape(),
                    self.chunk_shape()
                )));
            }
        }
        if axes.is_empty() {
            return Ok(());
        }
        self.frame_mut().begin()?;
        self.spill()?;
        let meta = ArrayMeta {
            kind: self.meta.kind,
            shape: without(&self.meta.shape, axes),
            chunk_shape: without(&self.meta.chunk_shape, axes),
            block_shape: without(&self.meta.block_shape, axes),
            dtype: self.meta.dtype.clone(),
        };
        if meta.shape.is_empty() && meta.kind == ArrayKind::Caterva {
            return Err(Error::usage("a Caterva array has at least one axis"));
        }
        let grid = grid_of(&meta, self.itemsize())
            .ok_or_else(|| Error::bug("chunks grew as they lost an axis"))?;
        self.frame_mut()
            .put_metalayer(meta.kind.name(), meta.encode()?)?;
        self.meta = meta;
        self.chunks.set_geometry(grid);
        self.chunks.forget(0..u64::MAX);
        Ok(())
    }
}

/// The values of all axes except these.
fn without<T: Copy>(all: &[T], axes: &[usize]) -> Vec<T> {
    let kept = (0..).zip(all).filter(|(axis, _)| !axes.contains(axis));
    kept.map(|(_, one)| *one).collect()
}
