//! `blpk cat`: uncompressed content on standard output.

use std::path::{Path, PathBuf};

use bloscpack::open::{Bounds, Part, Selection, SelectionError, Slice};
use clap::{ArgGroup, Args};

use crate::args;
use crate::container::Opened;
use crate::failure::Failure;
use crate::input::{self, STANDARD};
use crate::output::Output;
use crate::session::Session;
use crate::status::Status;

/// Print the uncompressed content of a file, or part of it
///
/// Records are printed without separators. Arrays in directories and Blosc2 frames are printed as the bytes of their
/// elements in C order, and frames without an array as the bytes of their chunks.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("part"))]
pub struct Cat {
    /// Bytes A to B, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::bytes, group = "part")]
    range: Option<Bounds>,

    /// Chunk N, counted from 0; in concatenated files, across all of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, group = "part")]
    chunk: Option<u64>,

    /// Rows A to B of an array, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, group = "part")]
    rows: Option<Bounds>,

    /// Slice of an array in Python notation, such as '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice, group = "part")]
    slice: Option<Slice>,

    /// Column to print, if PATH is a table
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk cat --column price --rows 0..10 table | od -A n -t f8
  blpk cat --slice '0:10,:,-1' array
  blpk cat --slice '5,-100:' cube.b2nd | od -A n -t f4";

impl Cat {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        // A path that leads nowhere is refused in the same way.
        if self.column.is_some() && !self.path.exists() {
            let error = SelectionError::NotATable.into();
            return Err(Failure::library(input::name(&self.path), &error));
        }
        let mut opened = Opened::open(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &opened.inputs(), session)?;
        let selection = Selection::of(self.part()).columns(&self.column);
        let done = opened.container.copy(&selection, &mut output);
        opened.finish(session);
        done.map_err(|error| opened.origin.failed_to_read(&error, &output))?;
        output.commit()?;
        Ok(Status::Done)
    }

    fn part(&self) -> Part {
        let bytes = self.range.map(Part::Bytes);
        let rows = self.rows.map(Part::Rows);
        let slice = self.slice.clone().map(Part::Slice);
        let chunk = self.chunk.map(Part::Chunk);
        bytes.or(rows).or(slice).or(chunk).unwrap_or_default()
    }
}
