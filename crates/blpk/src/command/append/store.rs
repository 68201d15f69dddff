//! `append STORE IN`: rows to a table of python-blosc2.

use std::path::{Path, PathBuf};

use bloscpack_open::{
    exchange::{ImportOptions, Source as _, import_store},
    internal::locate_store,
    stores::TableWriter,
};

use super::Append;
use crate::dataset::source::ProgressSource;
use crate::failure::{About as _, Failure};
use crate::frame;
use crate::input::{self, is_standard_input};
use crate::session::Session;
use crate::status::Status;
use crate::store::HeldStore;
use crate::text::{count, quoted};
use crate::url;

/// The store that a path leads to, and the path in it.
pub fn find(path: &Path) -> Option<(PathBuf, String)> {
    if is_standard_input(path) || url::is_url(path) {
        None
    } else {
        locate_store(path)
    }
}

impl Append {
    /// Adds the rows of a file. The store is copied, the copy changed, and put in its place.
    pub(super) fn to_store(
        &self,
        (root, inside): (&Path, &str),
        session: &Session,
    ) -> Result<Status, Failure> {
        self.check_for_store()?;
        let (name, from) = (quoted(&self.file), input::name(&self.input));
        let held = HeldStore::begin(root)?;
        let new = held.copy()?;
        let options = frame::options(session);
        let table = TableWriter::open(new.path(), inside, &options, |array| array);
        let mut table = table.about(&new.made_from(&name))?;
        let options = ImportOptions::new().for_store(table.columns());
        let opened = self
            .reading
            .open(&self.input, options.about(&new)?, session);
        let (rows, file) = opened.about(&new)?;
        let import = || {
            let mut rows = rows.fields()?;
            let mut rows = ProgressSource::new(&mut *rows, session);
            import_store(&mut rows, &mut table, &mut |_| ())?;
            Ok(rows.rows())
        };
        let done: bloscpack::Result<u64> = import();
        let added = done.about(&new.made_from(&file))?;
        let all = table.finish().about(&new)?;
        held.replace(new, session)?;
        session.done(format_args!(
            "{from}, {}, appended to {name}, which now has {},",
            count(added, "row"),
            count(all, "row"),
        ));
        Ok(Status::Done)
    }

    /// Refuses options that are only for Bloscpack files.
    fn check_for_store(&self) -> Result<(), Failure> {
        let chunks = self.chunks.is_any_given() || self.chunk_size.is_some();
        if chunks || self.metadata.is_some() || self.max_app_chunks.is_some() {
            let title = "the options of chunks and metadata are only for Bloscpack files";
            return Err(
                Failure::usage(title).hint("the columns of a table are compressed as they are now")
            );
        }
        Ok(())
    }
}
