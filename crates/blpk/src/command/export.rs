//! `blpk export`: a dataset as a file of another format.

mod frame;

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use bloscpack::{
    Category, DType,
    exchange::{Format, Source, export},
};
use clap::Args;

use crate::args;
use crate::dataset::failure;
use crate::dataset::new::{file_permissions, refuse_within};
use crate::dataset::rows::{self, Rows};
use crate::dataset::selection::Selection;
use crate::dataset::slice::{self, Slice};
use crate::dataset::source::Watched;
use crate::frame::parse_dtype;
use crate::input::Input;
use crate::message::{Failure, quoted};
use crate::output::{Output, is_standard_output};
use crate::session::Session;
use crate::size;
use crate::status::Status;
use crate::what::What;

/// Write a dataset or an array, or a part of it, as a file of another format
///
/// The ending of OUT tells which: .npy, .csv, .jsonl, .arrow, .arrows (a stream) or .parquet; .bin is the
/// elements of one column and nothing else. A table as .npy is an array whose elements have fields.
/// PATH may also be a Bloscpack file that holds an array of NumPy, or a Blosc2 frame that holds an
/// array: what the elements of Caterva's are, --dtype tells. For example:
///   blpk export prices prices.csv --columns day,close --rows ..1000
///   blpk export grid - --to csv --slice '0,:,:10'
///   blpk export cube.cat cube.npy --dtype '<f8'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Export {
    /// Only these columns, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,

    /// Only rows A to B, B not included; either may be left out
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = rows::parse, conflicts_with = "slice")]
    rows: Option<Rows>,

    /// Only these elements of an array or one column, as Python writes it: '0:10,:,-1'; no axis is dropped
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = slice::parse)]
    slice: Option<Slice>,

    /// What an element is, as NumPy calls it, where the file of a frame does not tell [default: void]
    #[arg(long, value_name = "DTYPE", value_parser = parse_dtype)]
    dtype: Option<DType>,

    /// Format of OUT, where its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    to: Option<Format>,

    /// Dataset or frame to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// File to write, or - for standard output, where --to tells the format
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Export {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let format = self.format()?;
        let selection = Selection {
            columns: &self.columns,
            rows: self.rows,
            slice: self.slice.as_ref(),
        };
        let what = What::of(&self.path)?;
        if self.dtype.is_some() && what != What::Frame {
            let title = format!("{} tells itself what its elements are", quoted(&self.path));
            return Err(Failure::usage(title).hint("--dtype is for Blosc2 frames"));
        }
        if what == What::Frame {
            return self.frame(&selection, format, session);
        }
        if what == What::Directory {
            refuse_within(&self.output, &self.path)?;
            return selection.of_dataset(&self.path, session, |source| {
                let like = file_permissions(&self.path);
                let output = Output::create_like(&self.output, &[], like, session)?;
                self.write(source, format, output, session)
            });
        }
        let input = Input::open_binary(&self.path, session)?;
        selection.of_file(&input, session, |source| {
            let output = Output::create(&self.output, &[&input], session)?;
            self.write(source, format, output, session)
        })
    }

    fn format(&self) -> Result<Format, Failure> {
        if let Some(format) = self.to.or_else(|| Format::of_path(&self.output)) {
            return Ok(format);
        }
        let name = match is_standard_output(&self.output) {
            true => "standard output".to_owned(),
            false => quoted(&self.output),
        };
        let title = format!("the name of {name} does not tell its format");
        Err(Failure::usage(title)
            .hint("--to npy, csv, jsonl, arrow, arrows, parquet or bin tells it"))
    }

    fn write(
        &self,
        source: &mut dyn Source,
        format: Format,
        mut output: Output,
        session: &Session,
    ) -> Result<Status, Failure> {
        let begun = Instant::now();
        let rows = source.rows();
        let mut watched = Watched::new(source, session);
        let mut to = BufWriter::new(&mut output);
        let done = export(&mut watched, format, &mut to, &mut |_| ());
        let done = done.and_then(|()| Ok(to.flush()?));
        // What could not be written is not tried again.
        drop(to.into_parts());
        if let Err(error) = done {
            return Err(self.blame(&error, &output));
        }
        let name = output.name().to_owned();
        let length = output.commit()?;
        session.verbose(format_args!(
            "{}, {rows} rows, exported into {name}, {}, in {:.2?}",
            quoted(&self.path),
            size::pretty(length),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// Finds out whose fault it is, and tells.
    fn blame(&self, error: &bloscpack::Error, output: &Output) -> Failure {
        if output.has_failed() {
            return output.explain(Failure::library(output.name(), error));
        }
        let failure = match error.category() {
            Category::Damaged | Category::CutShort => failure(&self.path, error),
            _ => Failure::library(quoted(&self.path), error),
        };
        output.explain(failure)
    }
}
