//! `blpk dataset set`: new elements in the place of others.

use std::io::{self, Read};
use std::path::PathBuf;

use bloscpack::{
    dataset::{CArray, Dataset},
    exchange::{BoxedSource, Format, ImportOptions, open_at},
};
use clap::Args;

use crate::dataset::edit::Target;
use crate::dataset::rows::{self, Rows};
use crate::dataset::slice::{self, Box, Slice};
use crate::dataset::source::Elements;
use crate::dataset::{needs_column, no_columns, read};
use crate::input::{Awaited, Input, STANDARD};
use crate::message::{Failure, quoted};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// Overwrite elements of an array, or of a column
///
/// IN has the bytes of the new elements, in C order and as the array has them: what 'blpk cat' prints. A
/// .npy file of the same dtype does, too. For example:
///   blpk dataset set grid --slice '0:10,:' new.npy
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Set {
    /// The elements to overwrite, as Python writes it: '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = slice::parse)]
    slice: Option<Slice>,

    /// The rows to overwrite, B not included
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = rows::parse, conflicts_with = "slice")]
    rows: Option<Rows>,

    /// The column, where DIR is a table
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
            let title = "which elements are to be overwritten, --slice or --rows tells";
            return Err(Failure::usage(title));
        }
        let target = Target::find(&self.path)?;
        let input = Input::open(&self.input)?;
        let mut dataset = target.edit(session)?;
        let place = self.place(&dataset, &target)?;
        let progress = Progress::new(session, Some(place.wanted.bytes(place.itemsize)));
        if Format::of_path(&self.input) == Some(Format::Npy) {
            let mut source = self.elements(&place, &input, &target)?;
            self.copy(
                &mut Elements::new(&mut *source),
                &place,
                &mut dataset,
                &target,
            )?;
        } else {
            let bytes = Awaited::begin(&input, &progress);
            let mut bytes = bytes.map_err(|error| Failure::io(input.name(), &error))?;
            self.copy(&mut bytes, &place, &mut dataset, &target)?;
        }
        progress.finish();
        target.flush(&mut dataset)?;
        Ok(Status::Done)
    }

    /// What is to be overwritten.
    fn place(&self, dataset: &Dataset, target: &Target<'_>) -> Result<Place, Failure> {
        let array: &CArray = match (dataset, &self.column) {
            (Dataset::Array(array), None) => array,
            (Dataset::Array(_), Some(_)) => return Err(no_columns(&self.path)),
            (Dataset::Table(table), Some(name)) => {
                table.column(name).map_err(|error| target.blame(&error))?
            }
            (Dataset::Table(table), None) => return Err(needs_column(&self.path, table)),
        };
        let name = quoted(&self.path);
        let wanted = match (&self.slice, self.rows) {
            (Some(slice), _) => slice.resolve(array.shape(), &name)?,
            (None, rows) => {
                let rows = rows.unwrap_or_default().resolve(array.rows(), &name)?;
                Box::of_rows(rows, array.shape())
            }
        };
        Ok(Place {
            wanted,
            itemsize: array.dtype().itemsize(),
            dtype: array.dtype().clone(),
            chunk: array.chunk_shape().to_vec(),
        })
    }

    /// The elements of an array of NumPy.
    fn elements(
        &self,
        place: &Place,
        input: &Input,
        target: &Target<'_>,
    ) -> Result<BoxedSource<'static>, Failure> {
        let file = input.file().try_clone();
        let file = file.map_err(|error| Failure::io(input.name(), &error))?;
        let source = open_at(file, Format::Npy, &ImportOptions::new());
        let source = source.map_err(|error| Failure::library(input.name(), &error))?;
        for column in &source.schema().columns {
            if column.dtype != place.dtype {
                let title = format!(
                    "{} has elements of {}, but {} of {}",
                    input.name(),
                    column.dtype,
                    target.name(),
                    place.dtype
                );
                return Err(Failure::usage(title));
            }
        }
        Ok(source)
    }

    /// Puts the bytes into their places, which have to be as many.
    fn copy(
        &self,
        bytes: &mut impl Read,
        place: &Place,
        dataset: &mut Dataset,
        target: &Target<'_>,
    ) -> Result<(), Failure> {
        let expected = place.wanted.bytes(place.itemsize);
        let mut block = Vec::new();
        let wrong = |what: &str| {
            let title = format!(
                "{} has {what} bytes than the {expected} of the elements to overwrite",
                crate::input::name(&self.input)
            );
            Failure::usage(title).detail(format!("{} is left as it was", target.name()))
        };
        let mut put = |part: &[std::ops::Range<u64>]| {
            let len = part.iter().map(|range| range.end - range.start);
            let len = len.fold(place.itemsize, u64::saturating_mul);
            block.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
            bytes
                .read_exact(&mut block)
                .map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => wrong("fewer"),
                    _ => target.blame(&error.into()),
                })?;
            let done = match (&mut *dataset, &self.column) {
                (Dataset::Array(array), _) => array.set_slice(part, &block),
                (Dataset::Table(table), name) => {
                    table.set_slice(name.as_deref().unwrap_or_default(), part, &block)
                }
            };
            done.map_err(|error| target.blame(&error))
        };
        read::in_parts(&place.wanted.ranges, place.itemsize, &place.chunk, &mut put)?;
        match bytes.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(wrong("more")),
            Err(error) => Err(target.blame(&error.into())),
        }
    }
}

/// Elements that are to be overwritten.
struct Place {
    wanted: Box,
    itemsize: u64,
    dtype: bloscpack::DType,
    chunk: Vec<u64>,
}
