//! `blpk dataset append`: the rows of a file of another format behind those of a dataset.

use std::path::PathBuf;
use std::time::Instant;

use bloscpack::{
    dataset::Dataset,
    exchange::{BoxedSource, ImportOptions, Source, import_array, import_table},
};
use clap::Args;

use crate::command::import::Reading;
use crate::dataset::edit::Target;
use crate::dataset::source::{self, Watched};
use crate::input;
use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;

/// Append the rows of a file to a dataset
///
/// IN is .npy, .csv, .arrow or .parquet. The columns of a table are found by their names, and have to
/// be all there; the types are those of the dataset. For example:
///   blpk dataset append prices today.csv
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Append {
    #[command(flatten)]
    reading: Reading,

    /// Dataset to append to
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// File with the rows, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let options = options(&dataset).map_err(|error| target.blame(&error))?;
        let (source, format) =
            self.reading
                .open(&self.input, &self.reading.apply(options), session)?;
        let mut source = self.fit(source, &dataset, &target)?;
        let mut watched = Watched::new(&mut *source, session);
        let rows = watched.rows();
        let done = match &mut dataset {
            Dataset::Array(array) => import_array(&mut watched, array, &mut |_| ()),
            Dataset::Table(table) => import_table(&mut watched, table, &mut |_| ()),
        };
        if let (Err(error), true) = (&done, watched.has_failed()) {
            let failure = source::failure(&input::name(&self.input), format, error);
            return Err(target.undone(failure));
        }
        drop(watched);
        target.confirm(done)?;
        let there = dataset.rows().map_err(|error| target.blame(&error))?;
        session.verbose(format_args!(
            "{}, {rows} rows, appended to {}, which has {there} now, in {:.2?}",
            input::name(&self.input),
            target.name(),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// Takes the fields of an array apart where a table is to have them.
    fn fit(
        &self,
        source: BoxedSource<'static>,
        dataset: &Dataset,
        target: &Target<'_>,
    ) -> Result<BoxedSource<'static>, Failure> {
        if matches!(dataset, Dataset::Array(_)) || source.schema().is_table {
            return Ok(source);
        }
        let source = source.fields().map_err(|error| target.blame(&error))?;
        if source.schema().is_table {
            return Ok(source);
        }
        let title = format!(
            "{} is an array without fields, but {} is a table",
            input::name(&self.input),
            target.name()
        );
        Err(Failure::usage(title)
            .hint("all columns get rows at once: give fields, or a file with columns"))
    }
}

/// The types of the dataset are those that the file is to have.
fn options(dataset: &Dataset) -> bloscpack::Result<ImportOptions> {
    let options = ImportOptions::new();
    match dataset {
        Dataset::Array(array) => Ok(options.for_array("value", array)),
        Dataset::Table(table) => options.for_table(table),
    }
}
