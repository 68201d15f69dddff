//! `blpk dataset ...`: changes arrays and tables in directories in place.

mod attrs;
mod index;
mod repair;
mod set;

use std::path::{Path, PathBuf};

use bloscpack::{Code, wire::internal::to_u64};
use bloscpack_convert::{Counted, Goal};
use bloscpack_open::{
    array::BATCH,
    datasets::{CArrayBuilder, Dataset as Data},
    exchange::{BoxedSource, ImportOptions, import_array, import_table},
};
use clap::{Args, Subcommand};

use crate::args;
use crate::dataset::{source::ImportArgs, storage_args::StorageArgs};
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Failure};
use crate::grow::Growing;
use crate::input;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, quoted};

/// Change datasets: arrays and tables in directories
///
/// Each change is atomic: an error, Ctrl-C or a power cut leaves either the old dataset or the new one, and readers see
/// the old one until the change is complete.
#[derive(Debug, Subcommand)]
pub enum Dataset {
    Append(Append),
    Trim(Trim),
    Resize(Resize),
    Set(set::Set),
    Attrs(attrs::Attrs),
    AddColumn(AddColumn),
    DeleteColumn(DeleteColumn),
    Widen(Widen),
    Index(index::Index),
    Repair(repair::Repair),
}

impl Dataset {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match self {
            Self::Append(command) => command.run(session),
            Self::Trim(command) => command.run(session),
            Self::Resize(command) => command.run(session),
            Self::Set(command) => command.run(session),
            Self::Attrs(command) => command.run(session),
            Self::AddColumn(command) => command.run(session),
            Self::DeleteColumn(command) => command.run(session),
            Self::Widen(command) => command.run(session),
            Self::Index(command) => command.run(session),
            Self::Repair(command) => command.run(session),
        }
    }
}

/// Append the rows of a file to a dataset
///
/// IN has any format that blpk import reads, and is read with the types of the dataset. Columns are matched by name; IN must
/// have all columns of a table.
///
/// For example: blpk dataset append prices today.csv
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
        let options = import_options(&dataset).about(&edit)?;
        let (source, file) = self.reading.open(&self.input, options, session)?;
        let mut source = Counted::new(self.with_columns(source, &dataset, &edit)?);
        let before = dataset.rows().about(&edit)?;
        let done = match &mut dataset {
            Data::Array(array) => import_array(&mut source, array, &mut |_| ()),
            Data::Table(table) => import_table(&mut source, table, &mut |_| ()),
        };
        let done = done.map_err(|error| match error.code() {
            Code::CannotStore => {
                error.with_hint("blpk dataset widen makes room for longer text in a column")
            }
            _ => error,
        });
        edit.confirm(done, Some(&file))?;
        session.warnings(&file.name, &source.warnings());
        let total = dataset.rows().about(&edit)?;
        session.done(format_args!(
            "{}, {}, appended to {}, which now has {total},",
            file.name,
            count(total - before, "row"),
            edit.name(),
        ));
        Ok(Status::Done)
    }

    /// Makes columns of the fields of an array, if the dataset is a table.
    fn with_columns(
        &self,
        source: BoxedSource<'static>,
        dataset: &Data,
        edit: &DatasetEdit<'_>,
    ) -> Result<BoxedSource<'static>, Failure> {
        if matches!(dataset, Data::Array(_)) || source.schema().is_table {
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

/// Options that read the rows with the types of the dataset.
fn import_options(dataset: &Data) -> bloscpack::Result<ImportOptions> {
    let options = ImportOptions::new();
    match dataset {
        Data::Array(array) => Ok(options.for_array("value", array)),
        Data::Table(table) => options.for_table(table),
    }
}

/// Remove rows from the end of a dataset
#[derive(Args, Debug)]
pub struct Trim {
    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Number of rows to keep
    #[arg(value_name = "ROWS", allow_negative_numbers = true, value_parser = args::count)]
    rows: u64,
}

/// Change the number of rows of a dataset, or the shape of an array
///
/// Rows are removed from the end of a dataset, or rows of default values are appended. For an array in a Blosc2 frame or in
/// Zarr, give the length of each axis; new elements are zero in a frame, and the fill value in Zarr.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  blpk dataset resize prices 1000
  blpk dataset resize cube.b2nd 100,64,64
  blpk dataset resize cube.zarr 100,64,64")]
pub struct Resize {
    /// Dataset, frame or Zarr array to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// New number of rows, or the length of each axis of a frame or a Zarr array
    #[arg(value_name = "ROWS|N,N,...", required = true, num_args = 1, action = clap::ArgAction::Set, allow_negative_numbers = true, value_delimiter = ',', value_parser = args::count)]
    shape: Vec<u64>,
}

impl Trim {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        change_rows(&self.path, session, |name, before, dataset| {
            if self.rows > before {
                let title = format!("{name} has only {}", count(before, "row"));
                let hint = "blpk dataset resize appends default values";
                return Err(Failure::usage(title).hint(hint));
            }
            match dataset {
                Data::Array(array) => array.trim(self.rows)?,
                Data::Table(table) => table.trim(self.rows)?,
            }
            Ok(())
        })
    }
}

impl Resize {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if let Some(mut array) = Growing::open(&self.path, session)? {
            let before = array.shape().to_vec();
            array.resize(&self.shape).about(self.path.as_path())?;
            session.verbose(format_args!(
                "{} had the shape {before:?}, and now has {:?}",
                quoted(&self.path),
                array.shape(),
            ));
            return Ok(Status::Done);
        }
        let [rows] = self.shape.as_slice() else {
            let title = "only an array in a frame or in Zarr can change its length along each axis";
            return Err(Failure::usage(title).hint("give the number of rows"));
        };
        change_rows(&self.path, session, |_, _, dataset| {
            match dataset {
                Data::Array(array) => array.resize(*rows)?,
                Data::Table(table) => table.resize(*rows)?,
            }
            Ok(())
        })
    }
}

/// Makes a change, and reports the number of rows before and after.
fn change_rows(
    path: &Path,
    session: &Session,
    stage: impl FnOnce(&str, u64, &mut Data) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    let (before, after) = DatasetEdit::change(path, session, |edit, dataset| {
        let before = dataset.rows()?;
        stage(&edit.name(), before, dataset)?;
        Ok((before, dataset.rows()?))
    })?;
    session.verbose(format_args!(
        "{} had {}, and now has {after}",
        quoted(path),
        count(before, "row"),
    ));
    Ok(Status::Done)
}

/// Add a column to a table
///
/// IN has any format that blpk import reads, one column, and as many rows as the table. It is read into memory.
#[derive(Args, Debug)]
pub struct AddColumn {
    #[command(flatten)]
    storage: StorageArgs,

    #[command(flatten)]
    reading: ImportArgs,

    /// Position among the columns, counted from 0 [default: after the last]
    #[arg(long, value_name = "N", value_parser = args::index)]
    at: Option<usize>,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,

    /// File with the rows of the column, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
}

/// Remove a column from a table
#[derive(Args, Debug)]
pub struct DeleteColumn {
    /// Keep the files of the deleted column
    #[arg(long, alias = "keep")]
    keep_files: bool,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,
}

impl AddColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        DatasetEdit::change(&self.path, session, |edit, dataset| {
            let storage = self.storage.storage();
            storage.check(Goal::Dataset(dataset.layout()))?;
            let table = edit.table(dataset)?;
            let options = ImportOptions::new();
            let (mut source, file) = self.reading.open(&self.input, options, session)?;
            let columns = source.schema().columns.len();
            if columns != 1 {
                let columns = count(to_u64(columns), "column");
                let title = format!("{} has {columns}, expected one", file.name);
                return Err(Failure::usage(title));
            }
            let builder = storage.array(CArrayBuilder::of_schema(source.schema())?);
            let mut data = Vec::new();
            while let Some(batch) = source.next_batch(BATCH).about(&file)? {
                batch
                    .columns
                    .iter()
                    .for_each(|column| data.extend_from_slice(column));
            }
            Ok(table.add_column(&self.name, builder, &data, self.at)?)
        })?;
        Ok(Status::Done)
    }
}

/// Allow longer text in a column of a table
#[derive(Args, Debug)]
pub struct Widen {
    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,

    /// Length of the longest text in characters; in bytes if the column contains bytes
    #[arg(value_name = "LENGTH", value_parser = args::count)]
    length: u64,
}

impl Widen {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        DatasetEdit::change(&self.path, session, |edit, dataset| {
            let table = edit.table(dataset)?;
            Ok(table.widen_column(&self.name, self.length)?)
        })?;
        Ok(Status::Done)
    }
}

impl DeleteColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        DatasetEdit::change(&self.path, session, |edit, dataset| {
            let table = edit.table(dataset)?;
            Ok(table.delete_column(&self.name, self.keep_files)?)
        })?;
        Ok(Status::Done)
    }
}
