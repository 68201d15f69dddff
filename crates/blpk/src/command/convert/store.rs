//! Tables and arrays into a store of python-blosc2.

use std::path::Path;

use bloscpack::storage::Key;
use bloscpack_open::{
    Inner, Selection,
    datasets::Attributes,
    exchange::import_store,
    frames::ArrayKind,
    stores::{create_tree, seal_store},
};

use super::Convert;
use super::dataset::column_attributes;
use crate::container::Opened;
use crate::dataset::source::ProgressSource;
use crate::failure::{About as _, Failure};
use crate::layout::StoreForm;
use crate::output::Target;
use crate::session::Session;
use crate::store::{self, new_table};
use crate::text::quoted;

impl Convert {
    /// Makes a store, and returns its name.
    pub(super) fn store(
        &self,
        opened: &mut Opened,
        form: StoreForm,
        session: &Session,
    ) -> Result<String, Failure> {
        let new = store::new_target(self.output(), self.path(), form, session)?;
        let schema = opened.container.columns(&Selection::default());
        let is_table = schema.is_ok_and(|source| source.schema().is_table) || self.table;
        let filled = if is_table && self.column.is_none() {
            self.store_table(opened, &new, session)
        } else {
            self.store_arrays(opened, &new, session)
        };
        filled.about(&new.made_from(&opened.origin))?;
        Ok(new.commit(session)?.name)
    }

    /// Rows of any table into a new one, whose text keeps its length.
    fn store_table(
        &self,
        opened: &mut Opened,
        new: &Target,
        session: &Session,
    ) -> Result<(), Failure> {
        self.storage.refuse_axes()?;
        if self.paths().len() > 1 {
            let title = format!(
                "{} is a table; several inputs must be arrays",
                opened.origin.name
            );
            return Err(Failure::usage(title));
        }
        let name = opened.origin.name.clone();
        let same = match opened.container.inner() {
            Inner::StoreTable(table) => Some(table.attributes().about(&opened.origin)?),
            _ => None,
        };
        let attributes = match same {
            Some(_) => Attributes::default(),
            None => self.attributes(opened, session)?,
        };
        let mut of_columns = column_attributes(opened)?;
        of_columns.retain(|(_, attributes)| !attributes.without_missing().is_empty());
        for (column, _) in of_columns {
            session.warning(format_args!(
                "{name}: the attributes of column {column} are dropped: a table of python-blosc2 has none for columns"
            ));
        }
        let mut source = self.rows(&*opened.container)?;
        let mut schema = source.schema().clone();
        schema.attributes = attributes;
        // The lengths of text in files of other programs are those of the longest, unless they are given.
        let is_file = opened.is_of_text();
        let keeps_length = |name: &str| !is_file || self.reading.has_type(name);
        let mut table = new_table(new, &schema, keeps_length, &self.storage, session)?;
        if let Some(same) = same {
            table = table.attributes(same);
        }
        let mut rows = ProgressSource::new(&mut *source, session);
        import_store(&mut rows, &mut table, &mut |_| ())?;
        table.finish()?;
        Ok(())
    }

    /// Arrays into a tree, each under the name of its file.
    fn store_arrays(
        &self,
        first: &mut Opened,
        new: &Target,
        session: &Session,
    ) -> Result<(), Failure> {
        let folder = new.path();
        create_tree(folder).about(new)?;
        for (number, path) in self.paths().enumerate() {
            let member = folder.join(format!("{}.b2nd", self.member(path)?));
            if member.exists() {
                let title = format!("two arrays have the name of {}", quoted(path));
                return Err(Failure::usage(title).hint("rename one of them"));
            }
            let mut other;
            let opened = if number == 0 {
                &mut *first
            } else {
                other = self.open(path, None, session)?;
                &mut other
            };
            self.check_one_array(opened)?;
            let filled = self.fill_frame((new, &member), opened, ArrayKind::B2nd, session);
            filled.about(&new.made_from(&opened.origin))?;
            opened.warn(session);
        }
        seal_store(folder).about(new)
    }

    /// The name of an array in a tree: that of its column, or of its file without the ending.
    fn member(&self, path: &Path) -> Result<String, Failure> {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let name = self.column.as_deref().or(stem).unwrap_or_default();
        match Key::root().join(name) {
            Ok(_) if !name.contains('\\') => Ok(name.to_owned()),
            _ => {
                let title = format!("{name:?}, of {}, cannot be a name in a store", quoted(path));
                Err(Failure::usage(title).hint("rename it"))
            }
        }
    }
}
