//! `blpk dataset set`: overwrites a part of an array with new elements.

use std::io::{self, Read};
use std::path::PathBuf;

use bloscpack::{Error, dtype::DType};
use bloscpack_convert::ElementReader;
use bloscpack_open::{
    Bounds, Region, Slice,
    datasets::{CArray, Dataset},
    exchange::{BoxedSource, Ending, Format, ImportOptions, OneArray, open_at},
};
use clap::Args;

use crate::args;
use crate::dataset;
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Failure, Subject as _};
use crate::input::{Input, InterruptibleReader, STANDARD};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::quoted;

/// Overwrite elements of an array or a column
///
/// IN contains the bytes of the new elements in C order, as blpk cat prints them, or is a .npy file with the same dtype.
///
/// For example: blpk dataset set grid --slice '0:10,:' new.npy
#[derive(Args, Debug)]
pub struct Set {
    /// Slice to overwrite, in Python notation, such as '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice)]
    slice: Option<Slice>,

    /// Rows to overwrite, A to B, excluding B, counted from 0; negative numbers count from the end
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, conflicts_with = "slice")]
    rows: Option<Bounds>,

    /// Column to change, if DIR is a table
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// File with the new elements, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

impl Set {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if self.slice.is_none() && self.rows.is_none() {
            let title = "--slice or --rows is required";
            return Err(Failure::usage(title).hint("they select the elements to overwrite"));
        }
        match Ending::of_path(&self.input) {
            None | Some(Ending::Format(Format::Npy | Format::Bytes)) => {}
            Some(other) => {
                let title = format!(
                    "by its ending, {} is {other}, but new elements must be .npy or raw bytes",
                    quoted(&self.input)
                );
                return Err(Failure::usage(title)
                    .hint("convert it to raw bytes with blpk import and blpk cat"));
            }
        }
        let edit = DatasetEdit::find(&self.path)?;
        let input = Input::open(&self.input, session)?;
        let mut dataset = edit.open(session)?;
        let target = self.target(&dataset)?;
        let progress = Progress::new(session, Some(target.bytes()));
        if Format::of_path(&self.input) == Some(Format::Npy) {
            let mut source = open_elements(&target, &input, &edit, session)?;
            let array = OneArray::new(&mut *source).about(&input.name())?;
            let mut bytes = ElementReader::new(array);
            self.copy(&mut bytes, &target, &mut dataset, &input, &edit)?;
        } else {
            let bytes = InterruptibleReader::begin(&input, &progress);
            let mut bytes = bytes.about(&input.name())?;
            self.copy(&mut bytes, &target, &mut dataset, &input, &edit)?;
        }
        progress.finish();
        edit.flush(&mut dataset)?;
        Ok(Status::Done)
    }

    /// The elements to overwrite.
    fn target(&self, dataset: &Dataset) -> Result<Elements, Failure> {
        let array: &CArray = dataset::array(&self.path, dataset, self.column.as_deref())?;
        let name = quoted(&self.path);
        let region = match (&self.slice, self.rows) {
            (Some(slice), _) => slice.resolve(array.shape()),
            (None, rows) => rows
                .unwrap_or_default()
                .resolve(array.rows())
                .map(|rows| Region::of_rows(rows, array.shape())),
        };
        let region = region.about(&name)?;
        Ok(Elements {
            region,
            dtype: array.dtype().clone(),
            chunk: array.chunk_shape().to_vec(),
        })
    }

    /// Copies the bytes, whose number must be exactly that of the target.
    fn copy(
        &self,
        bytes: &mut impl Read,
        target: &Elements,
        dataset: &mut Dataset,
        input: &Input,
        edit: &DatasetEdit<'_>,
    ) -> Result<(), Failure> {
        let itemsize = target.dtype.itemsize();
        let wrong = |what: &str| {
            let title = format!(
                "{} has {what} than the {} of the elements to overwrite",
                input.name(),
                target.bytes()
            );
            edit.explain(Failure::usage(title))
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => wrong("fewer bytes"),
            _ => edit.explain(Failure::from(error).named(input.name())),
        };
        let mut block = Vec::new();
        let put = |part: &Region| {
            let len = usize::try_from(part.bytes(itemsize));
            let len = len.map_err(|error| failed(io::Error::other(error)))?;
            block.resize(len, 0);
            bytes.read_exact(&mut block).map_err(failed)?;
            let part = &part.ranges;
            let done = match (&mut *dataset, &self.column) {
                (Dataset::Array(array), _) => array.set_slice(part, &block),
                (Dataset::Table(table), Some(name)) => table.set_slice(name, part, &block),
                (Dataset::Table(_), None) => Err(Error::bug("a table without a column")),
            };
            done.about(edit)
        };
        let region = &target.region;
        region.for_each_part(itemsize, &target.chunk, put)?;
        match bytes.read(&mut [0]).map_err(failed)? {
            0 => Ok(()),
            _ => Err(wrong("more bytes")),
        }
    }
}

/// Opens the elements of a `.npy` file, which must have the dtype of the target.
fn open_elements(
    target: &Elements,
    input: &Input,
    edit: &DatasetEdit<'_>,
    session: &Session,
) -> Result<BoxedSource<'static>, Failure> {
    let source = open_at(
        input.whole_file(session)?,
        Format::Npy,
        &ImportOptions::new(),
    );
    let source = source.about(&input.name())?;
    for column in &source.schema().columns {
        if column.dtype != target.dtype {
            let title = format!(
                "{} has elements of type {}, but {} has {}",
                input.name(),
                column.dtype,
                edit.name(),
                target.dtype
            );
            return Err(Failure::usage(title));
        }
    }
    Ok(source)
}

/// The elements to overwrite.
struct Elements {
    region: Region,
    dtype: DType,
    chunk: Vec<u64>,
}

impl Elements {
    fn bytes(&self) -> u64 {
        self.region.bytes(self.dtype.itemsize())
    }
}
