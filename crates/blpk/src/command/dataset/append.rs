//! `blpk dataset append`: the rows of a file to the end of a dataset.

use std::path::PathBuf;

use bloscpack_open::{
    datasets::Dataset,
    exchange::{BoxedSource, ImportOptions, Source, import_array, import_table},
};
use clap::Args;

use crate::dataset::import_args::ImportArgs;
use crate::dataset::source::ProgressSource;
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Failure};
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
        let options = options(&dataset).about(&edit)?;
        let (source, file) = self.reading.open(&self.input, options, session)?;
        let mut source = self.with_columns(source, &dataset, &edit)?;
        let mut source = ProgressSource::new(&mut *source, session);
        let rows = source.rows();
        let done = match &mut dataset {
            Dataset::Array(array) => import_array(&mut source, array, &mut |_| ()),
            Dataset::Table(table) => import_table(&mut source, table, &mut |_| ()),
        };
        edit.confirm(done, Some(&file))?;
        source.warn_of_missing(&file.name, session);
        let total = dataset.rows().about(&edit)?;
        session.done(format_args!(
            "{}, {}, appended to {}, which now has {total},",
            file.name,
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
        let source = source.fields().about(edit)?;
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
