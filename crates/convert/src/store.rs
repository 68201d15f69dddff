//! Writes python-blosc2's stores, of a table or of arrays.

use std::fs;
use std::path::Path;

use bloscpack::Compressor;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_open::{
    Container, Inner, Options,
    datasets::Attributes,
    exchange::{Schema, UserAttributes, import_store, store_columns},
    frames::ArrayKind,
    stores::{TableWriter, create_tree, seal_store},
};
use bloscpack_storage::Key;

use crate::{Conversion, Storage, Warn, Work, names_of_table, warn_about_lost, with_given};

/// Why an attribute does not become a metalayer.
pub(crate) const NO_LAYER: &str =
    "metalayers have names of at most 31 bytes, and integers of at most 64 bits";

impl Work<'_> {
    /// Makes a store of a table or an array, in a folder.
    pub(crate) fn store(&self, path: &Path) -> Result<()> {
        let settings = self.settings;
        let is_table = settings.table || names_of_table(self.source)?.is_some();
        if is_table && settings.column.is_none() {
            return self.store_table(path);
        }
        let mut tree = Tree::create(path)?;
        tree.add(&settings.name, settings, self.source, self.warn)?;
        tree.finish()
    }

    /// Writes the rows of any table into a new one.
    fn store_table(&self, path: &Path) -> Result<()> {
        let settings = self.settings;
        settings.storage.refuse_axes()?;
        let same = match self.source.inner() {
            Inner::StoreTable(table) => Some(table.attributes()?),
            _ => None,
        };
        let attributes = match same {
            Some(_) => Attributes::default(),
            None => self.attributes()?,
        };
        for (column, attributes) in self.column_attributes()? {
            if !attributes.without_missing().is_empty() {
                (self.warn)(&format!(
                    "the attributes of column {column} are dropped: a table of python-blosc2 has none for columns"
                ));
            }
        }
        let mut rows = settings.rows(self.source)?;
        let mut schema = rows.schema().clone();
        schema.attributes = attributes;
        // Text in files of other programs has the length of the longest, unless a length is given.
        let is_file = self.is_of_text();
        let keeps_length =
            |name: &str| !is_file || settings.typed.iter().any(|given| given == name);
        let (storage, options) = (&settings.storage, &settings.options);
        let mut table = new_table(path, &schema, keeps_length, (storage, options), self.warn)?;
        if let Some(same) = same {
            table = table.attributes(same);
        }
        import_store(&mut *rows, &mut table, &mut |_| ())?;
        table.finish()?;
        Ok(())
    }
}

/// Begins a table of a store at a path, with these columns. Text gets a varying length, except in columns for which
/// `keeps_length` returns true. The compressor is Zstandard unless `storage` sets another. `warn` receives the names of dropped
/// attributes.
///
/// Append rows to the writer and [finish](TableWriter::finish) it.
///
/// # Errors
/// Returns an error for a name or a type that such a table cannot have, `Code::Usage` for a `chunklen` of 2^32 and more, and
/// errors of writing.
pub fn new_table(
    path: &Path,
    schema: &Schema,
    keeps_length: impl Fn(&str) -> bool,
    (storage, options): (&Storage, &Options),
    warn: &Warn<'_>,
) -> Result<TableWriter> {
    let columns = store_columns(schema, keeps_length)?;
    let rows = storage.chunklen.map(|rows| u32::try_from(rows.get()));
    let rows = rows
        .transpose()
        .map_err(|_| Error::usage("chunklen: so many rows do not fit in a chunk"))?;
    let compressor = storage.compressor.unwrap_or(Compressor::Zstd);
    let level = storage.level.unwrap_or_else(|| compressor.default_level());
    let (filter, options) = (storage.filter, options.clone());
    let (attributes, lost) = UserAttributes::values(&schema.attributes);
    warn_about_lost(&lost, NO_LAYER, warn);
    let table = TableWriter::create(path, &columns, rows, move |array| {
        let array = array.compressor(compressor).level(level).filters_by_data();
        with_given!(array, filters: filter).options(options.clone())
    });
    Ok(table?.attributes(attributes))
}

/// A store of arrays that is being made in a folder.
///
/// Add each array, then call [`finish`](Self::finish).
#[derive(Debug)]
pub struct Tree<'a>(&'a Path);

impl<'a> Tree<'a> {
    /// Begins a store in an empty folder.
    ///
    /// # Errors
    /// Returns errors of writing.
    pub fn create(path: &'a Path) -> Result<Self> {
        create_tree(path)?;
        Ok(Self(path))
    }

    /// Adds an array under a name. Slashes in the name make folders.
    ///
    /// # Errors
    /// Returns `Code::NeedsColumn` for a table, `Code::Usage` for a name that is taken or that a store cannot have, and the
    /// errors of [`Conversion::make`].
    pub fn add(
        &mut self,
        name: &str,
        settings: &Conversion,
        source: &dyn Container,
        warn: &Warn<'_>,
    ) -> Result<()> {
        if Key::parse(name).is_err() || name.contains('\\') {
            return Err(Error::usage(format!(
                "{name:?} cannot be a name in a store"
            )));
        }
        let path = self.0.join(format!("{name}.b2nd"));
        if path.exists() {
            let message = format!("two arrays have the name {name:?}");
            return Err(Error::usage(message).with_hint("rename one of them"));
        }
        settings.check_one_array(source)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).writing()?;
        }
        let work = Work {
            settings,
            source,
            warn,
        };
        work.frame(ArrayKind::B2nd, &path)
    }

    /// Gives each frame a fingerprint, by which `verify` finds any changed bit, and syncs the folder.
    ///
    /// # Errors
    /// Returns errors of writing.
    pub fn finish(self) -> Result<()> {
        seal_store(self.0)
    }
}
