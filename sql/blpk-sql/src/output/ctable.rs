//! [`Ctable`]: writes rows as a new table in a directory.

use super::{TEMPORARY, arrow_failed, begun, parent, refuse_existing};
use crate::failure::Failure;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::ipc::writer::FileWriter;
use bloscpack::storage::{Disk, Folder as _};
use bloscpack_open::datasets::CTableBuilder;
use bloscpack_open::exchange::{self, Format, ImportOptions};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A table that is made after the last row: the length of its strings is unknown before.
pub struct Ctable {
    path: PathBuf,
    may_replace: bool,
    rows: FileWriter<File>,
    kept: NamedTempFile,
}

impl Ctable {
    pub fn new(path: &Path, may_replace: bool, schema: &Schema) -> Result<Self, Failure> {
        refuse_existing(path, may_replace)?;
        let kept = NamedTempFile::new()?;
        Ok(Self {
            path: path.to_owned(),
            may_replace,
            rows: FileWriter::try_new(kept.reopen()?, schema).map_err(arrow_failed)?,
            kept,
        })
    }

    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        self.rows.write(rows).map_err(arrow_failed)
    }

    /// Makes the table, which appears under its name once it is complete.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.rows.finish().map_err(arrow_failed)?;
        if self.may_replace && self.path.exists() {
            // The library replaces a dataset in a single change.
            return self.make(&self.path);
        }
        let folder = parent(&self.path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // The usual permissions of a directory, minus the user's mask.
            builder.permissions(std::fs::Permissions::from_mode(0o777));
        }
        let failed =
            |error: io::Error| Failure::failed(format!("'{}': {error}", self.path.display()));
        let made = builder.tempdir_in(folder).map_err(failed)?;
        *begun() = Some(made.path().to_owned());
        self.make(made.path())?;
        std::fs::rename(made.path(), &self.path).map_err(failed)?;
        // It was renamed.
        let _ = made.keep();
        Disk::new(folder).sync().map_err(failed)
    }

    fn make(&self, dir: &Path) -> Result<(), Failure> {
        let mut rows = exchange::open_at(
            File::open(self.kept.path())?,
            Format::Arrow,
            &ImportOptions::new(),
        )?;
        let builder = CTableBuilder::of_schema(rows.schema(), |_, column| column);
        let builder = builder.replace(self.may_replace);
        let mut table = builder.create(dir)?;
        exchange::import_table(&mut *rows, &mut table, &mut |_| ())?;
        table.flush()?;
        Ok(())
    }
}
