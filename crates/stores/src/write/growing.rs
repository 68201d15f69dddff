//! [`Growing`]: an array to which rows are added, a chunk at a time.

use super::Settings;
use bloscpack::Options;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_frames::NdArray;
use std::path::{Path, PathBuf};

/// The shape of new chunks and blocks, in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub chunk: u32,
    pub block: u32,
}

/// An array to which rows are added. Up to one chunk of them is in memory.
pub(super) struct Growing {
    path: PathBuf,
    array: NdArray,
    /// Bytes of a row.
    row: usize,
    pending: Vec<u8>,
}

impl Growing {
    /// A new array without rows.
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

    /// An array that is there.
    pub fn edit(path: &Path, options: &Options) -> Result<Self> {
        Self::of(path, NdArray::edit_with(path, options)?)
    }

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

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.stored() + to_u64(self.pending.len() / self.row)
    }

    fn stored(&self) -> u64 {
        self.array.shape().first().copied().unwrap_or(0)
    }

    /// The shape of its chunks and blocks, in rows.
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

    /// Drops all rows from this one on.
    pub fn truncate(&mut self, rows: u64) -> Result<()> {
        let mut shape = self.array.shape().to_vec();
        match shape.first_mut() {
            Some(first) if *first > rows => *first = rows,
            _ => return Ok(()),
        }
        self.array.resize(&shape).map_err(|error| self.named(error))
    }

    /// Adds whole rows.
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

    /// Adds a row so often.
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

    /// Bytes from the stored rows to the end of their chunk.
    fn room(&self) -> Result<usize> {
        let chunk = self.grid().chunk.max(1);
        let filled = self.stored() % u64::from(chunk);
        // No chunk is longer than 2 GiB.
        let rows = in_memory(u64::from(chunk) - filled)?;
        Ok(rows.saturating_mul(self.row))
    }

    fn write(&mut self) -> Result<()> {
        let done = self.array.append(0, &self.pending);
        self.pending.clear();
        done.map_err(|error| self.named(error))
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.write()?;
        }
        self.array.flush().map_err(|error| self.named(error))
    }

    fn named(&self, error: Error) -> Error {
        error.in_file(&self.path)
    }
}

fn itemsize(dtype: &DType) -> Result<u32> {
    let size = u32::try_from(dtype.itemsize());
    size.map_err(|_| {
        Error::usage(format!(
            "elements of {} bytes are too long",
            dtype.itemsize()
        ))
    })
}
