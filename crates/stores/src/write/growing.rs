//! [`Growing`]: an array to which rows are appended, one chunk at a time.

use super::Settings;
use bloscpack::Options;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_frames::NdArray;
use std::path::{Path, PathBuf};

/// The rows of new chunks and of their blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub chunk: u32,
    pub block: u32,
}

/// An array to which rows are appended. Up to one chunk of rows is in memory, so each chunk is compressed once.
pub(super) struct Growing {
    path: PathBuf,
    array: NdArray,
    /// Bytes of a row, at least 1.
    row: usize,
    /// Rows that are not in the array yet.
    pending: Vec<u8>,
}

impl Growing {
    /// Creates an array without rows, and the folders above it.
    pub fn create(
        path: &Path,
        dtype: &DType,
        row_shape: &[u64],
        grid: Grid,
        settings: &Settings,
    ) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut shape = vec![0];
        shape.extend(row_shape);
        let (mut chunk, mut block) = (vec![grid.chunk], vec![grid.block]);
        for axis in row_shape {
            let axis = u32::try_from(*axis).map_err(|_| {
                Error::usage(format!(
                    "{axis} elements along an axis of a row are too many"
                ))
            })?;
            chunk.push(axis.max(1));
            block.push(axis.max(1));
        }
        let builder = NdArray::builder(&shape, itemsize(dtype)?).dtype(dtype.clone());
        let builder = settings(builder).chunk_shape(&chunk).block_shape(&block);
        Self::of(path, builder.create(path)?)
    }

    /// Opens an existing array.
    pub fn edit(path: &Path, options: &Options) -> Result<Self> {
        Self::of(path, NdArray::edit_with(path, options)?)
    }

    /// Computes the bytes of a row from the shape of the array.
    fn of(path: &Path, array: NdArray) -> Result<Self> {
        let axes = array.shape().iter().skip(1);
        let row = axes
            .copied()
            .try_fold(u64::from(array.itemsize()), u64::checked_mul);
        let row = in_memory(row.unwrap_or(u64::MAX))?;
        Ok(Self {
            path: path.to_owned(),
            array,
            row: row.max(1),
            pending: Vec::new(),
        })
    }

    /// The number of rows, including those in memory.
    pub fn rows(&self) -> u64 {
        self.stored() + to_u64(self.pending.len() / self.row)
    }

    /// The number of rows in the array.
    fn stored(&self) -> u64 {
        self.array.shape().first().copied().unwrap_or(0)
    }

    /// The rows of its chunks and blocks.
    pub fn grid(&self) -> Grid {
        let rows = |shape: &[u32]| shape.first().copied().unwrap_or(1);
        Grid {
            chunk: rows(self.array.chunk_shape()),
            block: rows(self.array.block_shape()),
        }
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.row
    }

    /// Drops all rows after the first `rows`.
    pub fn truncate(&mut self, rows: u64) -> Result<()> {
        let mut shape = self.array.shape().to_vec();
        match shape.first_mut() {
            Some(first) if *first > rows => *first = rows,
            _ => return Ok(()),
        }
        self.array.resize(&shape).map_err(|error| self.named(error))
    }

    /// Appends whole rows.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let full = self.room()?;
            let room = full - self.pending.len();
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            bytes = later;
            self.pending.extend_from_slice(now);
            if self.pending.len() == full {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Appends the same row `count` times.
    pub fn repeat(&mut self, row: &[u8], count: u64) -> Result<()> {
        const STEP: u64 = 1 << 16;
        let mut left = count;
        while left > 0 {
            let now = left.min(STEP);
            self.push(&row.repeat(in_memory(now)?))?;
            left -= now;
        }
        Ok(())
    }

    /// Bytes that fill the last chunk of the array, or a new one.
    fn room(&self) -> Result<usize> {
        let chunk = self.grid().chunk.max(1);
        let filled = self.stored() % u64::from(chunk);
        // No chunk is longer than 2 GiB: saturation does not happen.
        let rows = in_memory(u64::from(chunk) - filled)?;
        Ok(rows.saturating_mul(self.row))
    }

    /// Appends the rows in memory to the array.
    fn write(&mut self) -> Result<()> {
        let done = self.array.append(0, &self.pending);
        self.pending.clear();
        done.map_err(|error| self.named(error))
    }

    /// Appends the rows in memory to the array, and flushes it.
    pub fn finish(mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.write()?;
        }
        self.array.flush().map_err(|error| self.named(error))
    }

    /// Adds the path of the array to an error.
    fn named(&self, error: Error) -> Error {
        error.in_file(&self.path)
    }
}

/// Bytes of an element, or [`Code::Usage`](bloscpack_error::Code::Usage) for too many.
fn itemsize(dtype: &DType) -> Result<u32> {
    let size = u32::try_from(dtype.itemsize());
    size.map_err(|_| {
        Error::usage(format!(
            "elements of {} bytes are too long",
            dtype.itemsize()
        ))
    })
}
