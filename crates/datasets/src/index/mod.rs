//! The index of an array: statistics of its superchunks, with which readers skip superchunks that cannot match.

mod check;
mod table;
mod update;

use crate::carray::CArray;
use crate::dataset_layout::DatasetLayout;
use crate::error::no_index;
use crate::layout;
use crate::wire::{Elements, Index};
use bloscpack_array::{Zone, Zones};
use bloscpack_dtype::DType;
use bloscpack_error::{Category, Code, Error, Result};
use bloscpack_storage::{Access, Key};
pub use check::IndexCheck;
pub use update::IndexUpdate;

/// The index of an array, or the reason it has none; see [`CArray::find_index`].
#[derive(Debug)]
pub enum IndexState {
    /// There is no file `meta/index`, or the layout has none.
    Absent,
    /// The file is damaged, has another version, or is of an array with another dtype or chunk length. The whole index is
    /// ignored.
    Unusable(Error),
    /// The file is an index of this array. Each entry may be out of date; [`CArray::index_holds`] checks one.
    Usable(Index),
}

impl CArray {
    /// Reads the index of the array: minimum, maximum, nulls and order of the elements of each superchunk. `None` if there is
    /// none, or if it cannot be used; [`find_index`](Self::find_index) distinguishes the two.
    ///
    /// Other programs change superchunks without updating the index. Call [`index_holds`](Self::index_holds) before you rely on
    /// an entry.
    ///
    /// # Errors
    /// Returns any I/O error. Damage is not an error.
    pub fn index(&self) -> Result<Option<Index>> {
        match self.find_index()? {
            IndexState::Usable(index) => Ok(Some(index)),
            IndexState::Absent | IndexState::Unusable(_) => Ok(None),
        }
    }

    /// Reads the index of the array, or the reason why it cannot be used. The file is read as a whole, up to 64 MiB.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, IndexState};
    /// use bloscpack_storage::Memory;
    /// let mut array = CArray::of::<f64>().create_in(Memory::new())?;
    /// assert!(matches!(array.find_index()?, IndexState::Absent));
    /// array.update_index(|_| Ok(()))?;
    /// assert!(matches!(array.find_index()?, IndexState::Usable(_)));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error. Damage is not an error, but [`IndexState::Unusable`].
    pub fn find_index(&self) -> Result<IndexState> {
        let Some(key) = self.index_key()? else {
            return Ok(IndexState::Absent);
        };
        let files = &self.handle().files;
        let parsed = files.parse_if_present(&key, Index::parse);
        let checked = parsed.and_then(|index| match index {
            Some(index) => match self.check_index_of(&index) {
                Ok(()) => Ok(IndexState::Usable(index)),
                Err(error) => Err(files.locate(&key, error)),
            },
            None => Ok(IndexState::Absent),
        });
        match checked {
            Err(error) if error.category() != Category::Failed => Ok(IndexState::Unusable(error)),
            state => state,
        }
    }

    /// Whether the statistics of a superchunk, counted from 0, still apply: its file has the length and the XXH3-128 digest in
    /// the index, and the array has as many rows in it. Reads the whole file unless the lengths differ, and decompresses
    /// nothing.
    ///
    /// False for a superchunk that the index does not describe, and for an index of another array. XXH3 is not cryptographic: a
    /// forged index is not detected.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    /// let mut array = CArray::of::<u8>().chunk_rows(2).index(true).create_in(Memory::new())?;
    /// array.append_values(&[1u8, 2, 3])?;
    /// array.flush()?;
    /// let index = array.index()?.ok_or("no index")?;
    /// array.append_values(&[4u8])?;
    /// assert!(array.index_holds(&index, 0)?);
    /// assert!(!array.index_holds(&index, 1)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error. A missing superchunk is not an error: its statistics do not apply.
    pub fn index_holds(&self, index: &Index, superchunk: u64) -> Result<bool> {
        match index.entry(superchunk) {
            Some(entry) if self.check_index_of(index).is_ok() => {
                self.storage().holds(superchunk, entry)
            }
            _ => Ok(false),
        }
    }

    /// Returns an error if the array cannot have an index.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_error::Code;
    /// use bloscpack_storage::Memory;
    /// let array = CArray::of::<f32>().row_shape(&[3]).create_in(Memory::new())?;
    /// let error = array.check_indexable().unwrap_err();
    /// assert_eq!(error.code(), Code::NoIndex);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::NoIndex`] for the layouts of the documents, for rows of several elements, and for elements without an
    /// order: complex numbers, fields, void, Python objects, floats of more than 8 bytes, and `S` or `U` of more than 64 bytes.
    pub fn check_indexable(&self) -> Result<()> {
        check_layout(self.layout())?;
        check_elements(self.dtype(), self.storage().grid().row_shape())
    }

    /// Refuses an index whose dtype or superchunk length differs from the array's.
    fn check_index_of(&self, index: &Index) -> Result<()> {
        self.check_indexable()?;
        let rows = self.storage().grid().band_rows();
        let foreign = |found: String, expected: String| {
            let message = format!("the index is of {found}, the array has {expected}");
            Err(Error::new(Code::Damaged, message))
        };
        if index.dtype() != self.dtype() {
            return foreign(index.dtype().to_string(), self.dtype().to_string());
        }
        if index.superchunk_rows() != rows {
            let of = |rows| format!("superchunks of {rows} rows");
            return foreign(of(index.superchunk_rows()), of(rows));
        }
        Ok(())
    }

    /// Begins to keep the index up to date, if the array was opened for changes and has one.
    pub(crate) fn keep_index(&mut self) -> Result<()> {
        if self.handle().access != Access::Write || self.check_indexable().is_err() {
            return Ok(());
        }
        if let Some(key) = self.index_key()?
            && self.handle().files.is_file(&key)?
        {
            self.storage_mut().note_writes(false);
        }
        Ok(())
    }

    /// The index if there is a usable one. It is read once, and again after the array was changed.
    pub(crate) fn read_zones(&self) -> Option<&Index> {
        let index = self.zones.get_or_init(|| self.index().ok().flatten());
        index.as_ref()
    }

    /// The key of `meta/index`; `None` in the layouts of the documents.
    fn index_key(&self) -> Result<Option<Key>> {
        layout::index_key(self.layout(), &self.handle().at)
    }
}

impl Zones for CArray {
    fn rows(&self) -> u64 {
        self.storage().grid().band_rows().max(1)
    }

    fn len(&self) -> u64 {
        self.read_zones().map_or(0, Index::len)
    }

    fn zone(&self, number: u64) -> Option<Zone<'_>> {
        let entry = self.read_zones()?.entry(number)?;
        Some(Zone {
            nulls: entry.nulls,
            bounds: entry.min.as_deref().zip(entry.max.as_deref()),
        })
    }

    fn holds(&self, number: u64) -> Result<bool> {
        match self.read_zones() {
            Some(index) => self.index_holds(index, number),
            None => Ok(false),
        }
    }
}

/// Refuses the layouts of the documents.
pub(crate) fn check_layout(layout: DatasetLayout) -> Result<()> {
    if layout.columns_are_datasets() {
        Ok(())
    } else {
        Err(no_index(format!(
            "the layout {layout} has no place for one"
        )))
    }
}

/// Refuses elements without an order, and rows of several elements.
pub(crate) fn check_elements(dtype: &DType, row_shape: &[u64]) -> Result<()> {
    if !row_shape.is_empty() {
        return Err(no_index(format!("its rows have the shape {row_shape:?}")));
    }
    match Elements::of(dtype) {
        Ok(_) => Ok(()),
        Err(reason) => Err(no_index(format!("its dtype is {dtype}: {reason}"))),
    }
}
