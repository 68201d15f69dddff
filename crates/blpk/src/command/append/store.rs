//! `append STORE IN`: rows to a table of python-blosc2.

use std::path::{Path, PathBuf};

use bloscpack_open::{
    exchange::{ImportOptions, Source as _, import_store},
    internal::locate_store,
    stores::TableWriter,
};

use super::Append;
use crate::dataset::source::{self, ProgressSource};
use crate::failure::Failure;
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
        let mut table = table.map_err(|error| new.failed_from(&name, &error))?;
        let options = ImportOptions::new().for_store(table.columns());
        let options = options.map_err(|error| new.failed(&error))?;
        let opened = self.reading.open(&self.input, options, session);
        let (rows, format) = opened.map_err(|failure| new.unfinished(failure))?;
        let failed = |error| new.unfinished(source::failure(&from, format, &error));
        let mut rows = rows.fields().map_err(failed)?;
        let mut rows = ProgressSource::new(&mut *rows, session);
        let added = rows.rows();
        import_store(&mut rows, &mut table, &mut |_| ())
            .map_err(|error| source::advise(new.failed_from(&from, &error), format, &error))?;
        let all = table.finish().map_err(|error| new.failed(&error))?;
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
