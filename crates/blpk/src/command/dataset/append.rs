//! `blpk dataset append`: the rows of a file to the end of a dataset.

use std::path::PathBuf;

use bloscpack_open::{
    datasets::Dataset,
    exchange::{BoxedSource, ImportOptions, Source, import_array, import_table},
};
use clap::Args;

use crate::dataset::import_args::ImportArgs;
use crate::dataset::source::{self, ProgressSource};
use crate::edit::DatasetEdit;
use crate::failure::Failure;
use crate::input;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;

/// Append the rows of a file to a dataset
///
/// IN is of any format that blpk import reads. Columns are matched by name, and all columns of a table are needed. The types are
/// those of the dataset. For example: blpk dataset append prices today.csv
#[derive(Args, Debug)]
pub struct Append {
    #[command(flatten)]
    reading: ImportArgs,

    /// Dataset to append to
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// File with the rows, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let mut dataset = edit.open(session)?;
        let options = options(&dataset).map_err(|error| edit.failed(&error))?;
        let (source, format) = self.reading.open(&self.input, options, session)?;
        let mut source = self.with_columns(source, &dataset, &edit)?;
        let mut source = ProgressSource::new(&mut *source, session);
        let (rows, name) = (source.rows(), input::name(&self.input));
        let done = match &mut dataset {
            Dataset::Array(array) => import_array(&mut source, array, &mut |_| ()),
            Dataset::Table(table) => import_table(&mut source, table, &mut |_| ()),
        };
        if let Err(error) = &done {
            let from_source = |error: &_| source::failure(&name, format, error);
            return Err(edit.failed_from(from_source, error));
        }
        edit.confirm(done)?;
        source.warn_of_missing(&name, session);
        let total = dataset.rows().map_err(|error| edit.failed(&error))?;
        session.done(format_args!(
            "{name}, {}, appended to {}, which now has {total},",
            count(rows, "row"),
            edit.name(),
        ));
        Ok(Status::Done)
    }

    /// Makes columns of the fields of an array, if the dataset is a table.
    fn with_columns(
        &self,
        source: BoxedSource<'static>,
        dataset: &Dataset,
        edit: &DatasetEdit<'_>,
    ) -> Result<BoxedSource<'static>, Failure> {
        if matches!(dataset, Dataset::Array(_)) || source.schema().is_table {
            return Ok(source);
        }
        let source = source.fields().map_err(|error| edit.failed(&error))?;
        if source.schema().is_table {
            return Ok(source);
        }
        let title = format!(
            "{} is an array without fields, but {} is a table",
            input::name(&self.input),
            edit.name()
        );
        Err(Failure::usage(title)
            .hint("all columns grow together: use an array with fields, or a file with columns"))
    }
}

/// The types of the dataset, which the rows must have.
fn options(dataset: &Dataset) -> bloscpack::Result<ImportOptions> {
    let options = ImportOptions::new();
    match dataset {
        Dataset::Array(array) => Ok(options.for_array("value", array)),
        Dataset::Table(table) => options.for_table(table),
    }
}
