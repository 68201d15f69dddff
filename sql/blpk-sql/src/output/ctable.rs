//! [`Ctable`]: rows as a new table in a directory.

use super::{arrow_failed, refuse_existing};
use crate::failure::Failure;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::ipc::writer::FileWriter;
use bloscpack::exchange::{self, Format, ImportOptions};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A table that is made when all rows are there: only then the length of its strings is known.
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

    pub fn finish(mut self) -> Result<(), Failure> {
        self.rows.finish().map_err(arrow_failed)?;
        let mut rows = exchange::open_at(
            File::open(self.kept.path())?,
            Format::Arrow,
            &ImportOptions::new(),
        )?;
        let builder = rows.schema().table_builder(|_, column| column);
        let builder = builder.replace(self.may_replace);
        let mut table = builder.create(&self.path)?;
        exchange::import_table(&mut *rows, &mut table, &mut |_| ())?;
        table.flush()?;
        Ok(())
    }
}
