//! `blpk cat`: uncompressed content on standard output.

mod table;

use std::io::Write as _;
use std::path::PathBuf;

use bloscpack::{Error, error::IoSide as _};
use bloscpack_open::{Bounds, Kind, Part, Selection, Slice, internal::not_a_table};
use clap::{ArgGroup, Args};

use super::follow;
use crate::args;
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::input::{self, STANDARD};
use crate::output::{self, MadeFrom, Replaces, Target};
use crate::session::Session;
use crate::status::Status;
use crate::terminal;
use crate::url;

/// Bytes of a file that is followed that are read at once.
const BUFFER_LEN: usize = 1 << 20;

/// Print the content of a file, or part of it
///
/// Records are printed without separators. Arrays in directories and Blosc2 frames are printed as the bytes of their
/// elements in C order, and frames without an array as the bytes of their chunks. A table is shown on a terminal with aligned
/// columns, its first and its last rows; a pipe gets the bytes of one --column, or CSV by blpk export PATH - --to csv.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("part"))]
pub struct Cat {
    /// Bytes A to B, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::bytes, group = "part")]
    range: Option<Bounds>,

    /// Chunk N, counted from 0; in concatenated files, across all of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, group = "part")]
    chunk: Option<u64>,

    /// Rows A to B of an array or table, counted from 0, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, group = "part")]
    rows: Option<Bounds>,

    /// Slice of an array in Python notation, such as '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice, group = "part")]
    slice: Option<Slice>,

    /// Go on printing what is appended to a Bloscpack file; --range A.. begins at byte A
    #[arg(short = 'F', long, conflicts_with_all = ["chunk", "rows", "slice", "column"])]
    follow: bool,

    /// Column to print, if PATH is a table
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk cat --follow app.blp | grep warning
  blpk cat --column price --rows 0..10 table | od -A n -t f8
  blpk cat --slice '0:10,:,-1' array
  blpk cat --slice '5,-100:' cube.b2nd | od -A n -t f4";

impl Cat {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if self.follow {
            return self.follow(session);
        }
        // A path that leads nowhere is refused in the same way.
        if self.column.is_some() && !self.path.exists() && !url::is_url(&self.path) {
            return Err(not_a_table()).about(&input::name(&self.path));
        }
        let mut opened = Opened::open(&self.path, session)?;
        if self.is_look(&opened) && self.look(&mut opened, session)? {
            return Ok(Status::Done);
        }
        let inputs = opened.inputs();
        let origin = MadeFrom::Inputs(&inputs);
        let mut output = Target::file(STANDARD.as_ref(), Replaces::Plain, origin, session)?;
        let selection = Selection::of(self.part()).columns(&self.column);
        let done = opened.container.copy(&selection, &mut output);
        opened.finish(session);
        done.about(&output.made_from(&opened.origin))?;
        output.commit(session)?;
        Ok(Status::Done)
    }

    /// Whether a table is to be looked at.
    fn is_look(&self, opened: &Opened) -> bool {
        let is_part = self.range.is_some() || self.chunk.is_some() || self.slice.is_some();
        let is_table = opened.container.kind() == Kind::Table && self.column.is_none();
        is_table && !is_part && terminal::is_shown()
    }

    /// Shows a table; false if it is not one that can be shown.
    fn look(&self, opened: &mut Opened, session: &Session) -> Result<bool, Failure> {
        let bounds = self.rows.unwrap_or_default();
        let text = table::text(&mut *opened.container, bounds, terminal::width());
        opened.finish(session);
        let text = text.about(&opened.origin)?;
        let is_shown = text.is_some();
        output::print(&text.unwrap_or_default())?;
        Ok(is_shown)
    }

    /// Prints what is there and what comes, until the output is closed.
    fn follow(&self, session: &Session) -> Result<Status, Failure> {
        let range = self.range.unwrap_or_default();
        if range.end.is_some() {
            let title = "--follow has no end, but the range has one";
            return Err(Failure::usage(title).hint("use --range A.., or leave out --follow"));
        }
        let options = follow::options(&self.path, range.start, session)?;
        let follower = options.content(&self.path);
        let records = "blpk records unpack --follow prints records";
        let mut follower = follow::opened(follower, &self.path, records)?;
        let mut output = Target::file(
            STANDARD.as_ref(),
            Replaces::Plain,
            MadeFrom::Inputs(&[]),
            session,
        )?;
        let mut buffer = vec![0; BUFFER_LEN];
        let mut print = || -> bloscpack::Result<bool> {
            let len = follower.try_read(&mut buffer).reading()?;
            let bytes = buffer
                .get(..len)
                .ok_or_else(|| Error::bug("more than there is room for"))?;
            output.write_all(bytes).writing()?;
            Ok(len > 0 || follow::wait(|time| follower.wait(time), &output)?)
        };
        loop {
            match print() {
                Ok(true) => {}
                Ok(false) => return Ok(Status::Done),
                Err(error) => {
                    return Err(error).about(&output.made_from(&input::name(&self.path)));
                }
            }
        }
    }

    fn part(&self) -> Part {
        let bytes = self.range.map(Part::Bytes);
        let rows = self.rows.map(Part::Rows);
        let slice = self.slice.clone().map(Part::Slice);
        let chunk = self.chunk.map(Part::Chunk);
        bytes.or(rows).or(slice).or(chunk).unwrap_or_default()
    }
}
