//! `blpk export`: writes a dataset, a frame, or the array in a file as a file of another format.

use std::ffi::OsStr;
use std::path::PathBuf;

use bloscpack::dtype::DType;
use bloscpack_convert::{Conversion, Goal, mismatch};
use bloscpack_open::{
    Bounds, Part, Slice,
    exchange::{Ending, Format},
};
use clap::Args;

use super::convert::write;
use crate::args;
use crate::container::{Opened, Reading};
use crate::failure::{About as _, Failure};
use crate::output::is_standard_output;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, quoted};

/// Write a dataset or frame as .npy, CSV, ...
///
/// The ending of OUT selects the format: .npy, .npz, .csv, .tsv, .jsonl, or .bin (only the elements of one column); with the
/// feature arrow, which blpk --version shows, also .arrow, .arrows (a stream) and .parquet. If --to is given, it must agree.
///
/// A table becomes a .npy array whose elements have fields. An array of two axes becomes CSV with a column for each position
/// along the second axis.
///
/// PATH may also be a Bloscpack file that contains a NumPy array or a .npy file, or a Blosc2 frame with an array. Arrays of
/// Caterva do not store their dtype: give it with --dtype.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// Only these columns, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,

    /// Only rows A to B, excluding B, counted from 0; negative numbers count from the end, and either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, conflicts_with = "slice")]
    rows: Option<Bounds>,

    /// Only this slice of an array or a single column, in Python notation, such as '0:10,:,-1'; keeps all axes
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice)]
    slice: Option<Slice>,

    /// NumPy dtype of the elements, for frames that do not store it [default: void]
    #[arg(long, value_name = "DTYPE", value_parser = args::dtype)]
    dtype: Option<DType>,

    /// Write NaN and NaT as missing values, even in columns that had no missing cells when blpk imported them
    #[arg(long)]
    nan_as_null: bool,

    /// Format of OUT, if its ending does not tell
    #[arg(long, value_name = "FORMAT", value_parser = args::format_written())]
    to: Option<Format>,

    /// Dataset, frame or file to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// File to write, or - for standard output, which needs --to
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk export prices prices.csv --columns day,close --rows ..1000
  blpk export grid - --to csv --slice '0,:,:10'
  blpk export cube.cat cube.npy --dtype '<f8'";

/// The formats that are written.
const FORMATS: &str = "--to npy, csv, tsv, jsonl, arrow, arrows, parquet or bin";

impl Export {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let format = self.format()?;
        let mut reading = Reading::default();
        if format.has_missing() {
            reading.options = reading.options.keep_missing();
        }
        let mut opened =
            Opened::open_reading(&self.path, &reading, session, |options| match &self.dtype {
                Some(dtype) => options.dtype(dtype.clone()),
                None => options,
            })?;
        let rows = self.rows.map(Part::Rows);
        let part = rows.or(self.slice.clone().map(Part::Slice));
        let mut conversion = Conversion::new(Goal::Format(format));
        conversion.part = part.unwrap_or_default();
        conversion.columns.clone_from(&self.columns);
        conversion.nan_as_null = self.nan_as_null;
        let paths = (self.path.as_path(), self.output.as_path());
        let (rows, made) = write(&mut opened, &conversion, paths, session)?;
        session.done(format_args!(
            "{}, {}, exported to {made}",
            opened.origin.name,
            count(rows, "row"),
        ));
        Ok(Status::Done)
    }

    /// The format of OUT: from `--to` or from the ending of its name. They must not contradict each other.
    fn format(&self) -> Result<Format, Failure> {
        let name = quoted(&self.output);
        match (Ending::of_path(&self.output), self.to) {
            (None, Some(given)) => Ok(given),
            (Some(Ending::Format(named)), given) if given.unwrap_or(named) == named => Ok(named),
            // Readers distinguish the two formats by their content.
            (Some(Ending::Format(Format::Arrow)), Some(Format::ArrowStream)) => {
                Ok(Format::ArrowStream)
            }
            (None, None) => {
                let title = if is_standard_output(&self.output) {
                    "standard output needs a format".to_owned()
                } else {
                    format!("the ending of {name} does not tell its format")
                };
                Err(Failure::usage(title).hint(format!("use {FORMATS}")))
            }
            (Some(ending), given) => {
                let (path, plain) = (quoted(&self.path), self.output.with_extension(""));
                let inner = given.or_else(|| Format::of_path(&plain));
                let extension = self.output.extension().and_then(OsStr::to_str);
                let hint = match (ending, extension) {
                    (Ending::Format(_), _) => "choose another name, or omit --to".to_owned(),
                    (Ending::Foreign(_), Some("gz")) => {
                        let to = inner.map_or("csv", Format::ending);
                        format!("blpk export {path} - --to {to} | gzip > {name}")
                    }
                    (Ending::Foreign(_), _) => {
                        format!("choose another name, or use {FORMATS} to standard output")
                    }
                    _ => format!("use blpk convert {path} {name}, or choose another name"),
                };
                Err(mismatch(&ending.to_string(), hint)).about(self.output.as_path())
            }
        }
    }
}
