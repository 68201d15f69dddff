//! [`TableWriter::open`]: adds rows to an existing table.

use super::Settings;
use super::column::{ColumnWriter, Mask, Missing, Values, with};
use super::growing::{Grid, Growing};
use super::items::ItemsWriter;
use super::table::TableWriter;
use crate::error::{damaged, unsupported};
use crate::table::{
    COLUMNS, ColumnKind, Layout, Nulls, Sentinel, StoreColumn, StoreTable, VALID_ROWS, slice,
    typed, words,
};
use crate::{FrameStore, INDEXES, join};
use bloscpack::Options;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{IoSide as _, Result};
use bloscpack_frames::NdArrayBuilder;
use bloscpack_storage::DiskStore;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is needed to open the columns of a table for writing.
struct Opening<'a> {
    tree: &'a FrameStore,
    options: &'a Options,
    settings: &'a Settings,
    /// The positions that stay: new rows begin here.
    base: u64,
    grid: Grid,
}

impl TableWriter {
    /// Opens the table at `path` in the directory `root` of a store, to add rows to it.
    ///
    /// The directory is changed at once, not atomically: deleted rows at the end of the table are dropped, and its
    /// [indexes](Self::dropped_indexes) are removed, because they would be out of date. Use a copy of the store, such as one from
    /// [`unpack_store`](crate::unpack_store).
    ///
    /// `settings` sets the compression of null masks that the new rows may require; all other arrays keep theirs.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_stores::{ColumnData, ColumnKind, ItemKind, StoreColumn, TableWriter, Value};
    ///
    /// let temp = tempfile::tempdir()?;
    /// let columns = [StoreColumn::new("word", ColumnKind::Varying(ItemKind::Text), true)?];
    /// let rows = |text: &str| ColumnData::Varying(vec![Value::Text(text.to_owned()), Value::Nil]);
    /// let mut table = TableWriter::create(temp.path(), &columns, None, |array| array)?;
    /// table.append(2, &[rows("one")])?;
    /// table.finish()?;
    ///
    /// let mut table = TableWriter::open(temp.path(), "", &Options::new(), |array| array)?;
    /// table.append(2, &[rows("two")])?;
    /// assert_eq!(table.finish()?, 4);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) if there is no table;
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a table within `embed.b2e`, for objects that have a chunk
    /// each, and for an unknown kind of column; any I/O error; and any damage.
    pub fn open(
        root: &Path,
        path: &str,
        options: &Options,
        settings: impl Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync + 'static,
    ) -> Result<Self> {
        let store = DiskStore::open(root).reading()?;
        let tree = Arc::new(FrameStore::open(Arc::new(store), options.clone())?);
        let table = tree.table(path)?;
        let folder = path
            .split('/')
            .fold(root.to_owned(), |folder, name| match name {
                "" => folder,
                name => folder.join(name),
            });
        let valid_path = folder.join(format!("{VALID_ROWS}.b2nd"));
        // Frames in `embed.b2e` cannot grow.
        if !valid_path.is_file() {
            let what = "a table within embed.b2e, which is only read";
            return Err(unsupported(path, what));
        }
        let base = table.end()?;
        let mut valid = Growing::edit(&valid_path, options)?;
        let settings: Settings = Arc::new(settings);
        let opening = Opening {
            tree: &tree,
            options,
            settings: &settings,
            base,
            grid: valid.grid(),
        };
        valid.truncate(base)?;
        let cols = join(path, COLUMNS);
        let open = |column| opening.column(column, &cols, &folder.join(COLUMNS));
        let columns = table.columns().iter().map(open).collect::<Result<_>>()?;
        remove_indexes(&folder)?;
        Ok(Self {
            root: root.to_owned(),
            folder,
            columns,
            valid,
            rows: table.rows(),
            options: options.clone(),
            kinds: table.columns().to_vec(),
            dropped_indexes: table.indexes(),
            is_new: false,
            attributes: Vec::new(),
        })
    }
}

/// Removes the indexes of a table, if it has any.
fn remove_indexes(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder.join(INDEXES)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

impl Opening<'_> {
    /// Opens a column, cut to the positions that stay.
    fn column(&self, column: &StoreColumn, path: &str, folder: &Path) -> Result<ColumnWriter> {
        let (path, file) = (join(path, &column.path), folder.join(&column.path));
        let values = self.values(column, &path, &file)?;
        Ok(ColumnWriter {
            name: column.name.clone(),
            values,
            nulls: self.nulls(column, with(&file, ".notnull.b2nd"))?,
        })
    }

    /// Opens the values of a column. Fewer of them than positions are damage.
    fn values(&self, column: &StoreColumn, path: &str, file: &Path) -> Result<Values> {
        let array = || {
            let mut array = Growing::edit(&with(file, ".b2nd"), self.options)?;
            array.truncate(self.base)?;
            if array.rows() == self.base {
                Ok(array)
            } else {
                let what = format!("{} rows where the table has more", array.rows());
                Err(damaged(path, what))
            }
        };
        match &column.layout {
            Layout::Array | Layout::WideBool => array().map(Box::new).map(Values::Fixed),
            Layout::Text => {
                let end = match self.base {
                    0 => 0,
                    base => text_end(self.tree, path, base)?,
                };
                Values::edit_text(file, self.base, end, self.options)
            }
            Layout::Codes(_) => {
                let path = format!("{path}_dict");
                let all = words(self.tree, &path)?;
                let words = all.iter().zip(0..);
                let words =
                    words.filter_map(|(word, code)| Some((word.as_text()?.to_owned(), code)));
                let words: HashMap<_, _> = words.collect();
                if words.len() < all.len() {
                    return Err(damaged(path, "a dictionary with the same word twice"));
                }
                let file = with(file, "_dict.b2b");
                let dictionary = self.items(&path, &file, to_u64(words.len()))?;
                Ok(Values::Codes {
                    words,
                    codes: Box::new(array()?),
                    dictionary,
                })
            }
            Layout::Items(description) => Ok(Values::Items {
                items: self.items(path, &with(file, ".b2b"), self.base)?,
                description: description.clone(),
            }),
        }
    }

    /// Opens items, cut to the first `items`.
    fn items(&self, path: &str, file: &Path, items: u64) -> Result<Box<ItemsWriter>> {
        ItemsWriter::edit(self.tree, path, file, items, self.options).map(Box::new)
    }

    /// How missing values of a column are written.
    fn nulls(&self, column: &StoreColumn, mask: PathBuf) -> Result<Missing> {
        let refused = || {
            let what = "the value that stands for missing ones is of another type";
            damaged(&column.name, what)
        };
        Ok(match (&column.nulls, &column.layout, &column.kind) {
            (_, Layout::Codes(none), _) => {
                let none = i32::try_from(*none).map_err(|_| refused())?;
                Missing::Element(none.to_le_bytes().to_vec())
            }
            (Nulls::Inherent, Layout::Items(_), _) if column.nullable => Missing::Nil,
            (Nulls::Inherent, ..) => Missing::Refused,
            (Nulls::Mask, ..) => Missing::Mask(Box::new(self.mask(mask)?)),
            (Nulls::Sentinel(_), Layout::WideBool, _) => Missing::Element(vec![u8::MAX]),
            (Nulls::Sentinel(Json::String(text)), Layout::Text, _) => Missing::Text(text.clone()),
            (Nulls::Sentinel(json), _, ColumnKind::Fixed { dtype, .. }) => {
                let sentinel = Sentinel::of(json, dtype).ok_or_else(refused)?;
                let element = sentinel.element(dtype).ok_or_else(refused)?;
                let size = in_memory(dtype.itemsize())?.max(1);
                let row = in_memory(column.row_bytes())?;
                Missing::Element(element.repeat(row / size))
            }
            _ => return Err(refused()),
        })
    }

    /// Opens the null mask of a column, if it exists.
    fn mask(&self, path: PathBuf) -> Result<Mask> {
        let mut array = if path.is_file() {
            Some(Growing::edit(&path, self.options)?)
        } else {
            None
        };
        if let Some(array) = &mut array {
            array.truncate(self.base)?;
            // Positions past its end have values.
            array.repeat(&[1], self.base - array.rows())?;
        }
        Ok(Mask {
            path,
            array,
            rows: self.base,
            grid: self.grid,
            settings: Arc::clone(self.settings),
        })
    }
}

/// The byte at which the text of this row begins.
fn text_end(tree: &FrameStore, path: &str, row: u64) -> Result<u64> {
    let array = typed(tree, path, &DType::I64)?;
    let bytes = slice(&array, &(row..row + 1), path)?;
    let end = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let text = typed(tree, &format!("{path}.utf8"), &DType::U8)?;
    let there = text.shape().first().copied().unwrap_or(0);
    let end = end.filter(|end| *end <= there);
    end.ok_or_else(|| damaged(path, format!("text past byte {there}")))
}

impl StoreTable {
    /// The position after the last row. Reads `_valid_rows` from its end.
    pub(super) fn end(&self) -> Result<u64> {
        const STEP: u64 = 1 << 20;
        let mut end = self.positions();
        while end > 0 {
            let start = end.saturating_sub(STEP);
            let live = self.live(start..end)?;
            if let Some(last) = live.iter().rposition(|live| *live) {
                return Ok(start + to_u64(last) + 1);
            }
            end = start;
        }
        Ok(0)
    }
}
