//! `blpk export`: a dataset, a frame, or the array in a file, as a file of another format.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use bloscpack::{
    Error,
    dtype::{DType, npy::NpyHeader},
    exchange::{Format, NdSource, Source, export},
};
use clap::Args;

use crate::args;
use crate::dataset::copy::copy_region;
use crate::dataset::new::{file_permissions, refuse_within};
use crate::dataset::rows::{self, Rows};
use crate::dataset::selection::{Selection, not_a_table};
use crate::dataset::slice::{self, Region, Slice};
use crate::dataset::source::ProgressSource;
use crate::failure::{Failure, VERIFY};
use crate::frame;
use crate::input::{self, Input, InputKind};
use crate::output::{Output, is_standard_output};
use crate::session::Session;
use crate::size;
use crate::status::Status;
use crate::text::{count, quoted};

/// Convert a dataset or an array, or part of it, into another format
///
/// The extension of OUT selects the format: .npy, .csv, .jsonl, .arrow, .arrows (a stream) or .parquet; .bin contains only
/// the elements of one column. A table becomes a .npy array whose elements have fields. PATH may also be a Bloscpack file
/// with a NumPy array, or a Blosc2 frame with an array. --dtype is needed for the arrays of Caterva, which do not store
/// their dtype.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// Only these columns, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,

    /// Only rows A to B, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = rows::parse, conflicts_with = "slice")]
    rows: Option<Rows>,

    /// Only this slice of an array or a single column, in Python notation, such as '0:10,:,-1'; keeps all axes
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = slice::parse)]
    slice: Option<Slice>,

    /// NumPy dtype of the elements, for frames that do not store it [default: void]
    #[arg(long, value_name = "DTYPE", value_parser = args::dtype)]
    dtype: Option<DType>,

    /// Format of OUT, if its name does not show it
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    to: Option<Format>,

    /// Dataset, frame or file to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// File to write, or - for standard output, with --to
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk export prices prices.csv --columns day,close --rows ..1000
  blpk export grid - --to csv --slice '0,:,:10'
  blpk export cube.cat cube.npy --dtype '<f8'";

impl Export {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let format = self.format()?;
        let selection = Selection {
            columns: &self.columns,
            rows: self.rows,
            slice: self.slice.as_ref(),
        };
        let kind = InputKind::of(&self.path)?;
        if self.dtype.is_some() && kind != InputKind::Frame {
            return Err(frame::has_dtype(&quoted(&self.path)));
        }
        if kind == InputKind::File {
            let input = Input::open_binary(&self.path, session)?;
            return selection.of_file(&input, session, |source| {
                let output = Output::create(&self.output, &[&input], session)?;
                self.write(source, format, output, session)
            });
        }
        refuse_within(&self.output, &self.path)?;
        match kind {
            InputKind::Frame => self.frame(&selection, format, session),
            _ => selection.of_dataset(&self.path, session, |source| {
                self.write(source, format, self.create(session)?, session)
            }),
        }
    }

    fn format(&self) -> Result<Format, Failure> {
        if let Some(format) = self.to.or_else(|| Format::of_path(&self.output)) {
            return Ok(format);
        }
        let title = match is_standard_output(&self.output) {
            true => "standard output needs a format".to_owned(),
            false => format!(
                "the name of {} does not show its format",
                quoted(&self.output)
            ),
        };
        Err(Failure::usage(title).hint("use --to npy, csv, jsonl, arrow, arrows, parquet or bin"))
    }

    /// Begins an output that is as private as a dataset or frame.
    fn create(&self, session: &Session) -> Result<Output, Failure> {
        Output::create_with(file_permissions(&self.path), &self.output, &[], session)
    }

    fn write(
        &self,
        source: &mut dyn Source,
        format: Format,
        mut output: Output,
        session: &Session,
    ) -> Result<Status, Failure> {
        let name = input::name(&self.path);
        let rows = source.rows();
        let mut source = ProgressSource::new(source, session);
        let mut to = BufWriter::new(&mut output);
        let done = export(&mut source, format, &mut to, &mut |_| ());
        let done = done.and_then(|()| Ok(to.flush()?));
        // After an error, the buffer is not written again.
        drop(to.into_parts());
        done.map_err(|error| output.failed_from(&name, &error).if_damaged(VERIFY))?;
        let exported = output.name().to_owned();
        let length = output.commit()?;
        session.done(format_args!(
            "{name}, {}, exported to {exported}, {},",
            count(rows, "row"),
            size::pretty(length),
        ));
        Ok(Status::Done)
    }

    /// Writes the array in a frame, or a region of it.
    fn frame(
        &self,
        selection: &Selection<'_>,
        format: Format,
        session: &Session,
    ) -> Result<Status, Failure> {
        let name = input::name(&self.path);
        if !self.columns.is_empty() {
            return Err(not_a_table(&name));
        }
        let failed = |error: Error| frame::failure(&self.path, &error);
        let array = frame::array(&self.path, session)?;
        let region = selection.region(array.shape(), &name)?;
        let dtype = frame::dtype(&array, self.dtype.as_ref(), &self.path, session)?;
        let mut output = self.create(session)?;
        let header = match format {
            Format::Npy => npy_header(&dtype, &region, &name)?,
            Format::Bytes => Vec::new(),
            _ => {
                let source = NdSource::new(&array)
                    .and_then(|source| source.dtype(dtype))
                    .and_then(|source| source.slice(&region.ranges));
                let mut source = source.map_err(failed)?;
                return self.write(&mut source, format, output, session);
            }
        };
        // A row may be longer than memory, so these are not written by rows.
        output
            .write_all(&header)
            .map_err(|error| output.failed(&error))?;
        copy_region(&array, &region, 0..u64::MAX, &failed, &mut output, session)?;
        output.commit()?;
        Ok(Status::Done)
    }
}

fn npy_header(dtype: &DType, region: &Region, name: &str) -> Result<Vec<u8>, Failure> {
    let header = NpyHeader {
        dtype: dtype.clone(),
        fortran_order: false,
        shape: region.shape(),
    };
    let bytes = header.encode();
    bytes.map_err(|error| Failure::usage(format!("{name}: {error}")))
}
