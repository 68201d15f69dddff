//! `blpk cat`: prints uncompressed content on standard output.

use std::io::Write as _;
use std::path::PathBuf;

use bloscpack::{
    Error,
    dtype::{DType, Kind as DTypeKind},
    error::IoSide as _,
    wire::internal::to_u64,
};
use bloscpack_open::{
    Bounds, Container, Kind, Part, Selection, Slice,
    exchange::{Column, Format},
    internal::not_a_table,
};
use clap::{ArgGroup, Args};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::follow;
use crate::args;
use crate::command::info::BOLD;
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::input::{self, STANDARD};
use crate::message;
use crate::output::{self, MadeFrom, Replaces, Target};
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, is_url, plain};

/// The length of one read of a followed file.
const BUFFER_LEN: usize = 1 << 20;

/// Print the content of a file, dataset or frame, or part of it
///
/// A table is shown on a terminal in aligned columns, with its first and last rows. A pipe gets all rows as CSV, or the bytes
/// of one --column.
///
/// Records are printed without separators. Arrays in directories and Blosc2 frames are printed as the bytes of their elements
/// in C order, and frames without an array as the bytes of their chunks.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("part"))]
pub struct Cat {
    /// Bytes A to B of the content, excluding B, such as 1M..2M; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::bytes, group = "part")]
    range: Option<Bounds>,

    /// Chunk N, counted from 0 across all concatenated files
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, group = "part")]
    chunk: Option<u64>,

    /// Rows A to B of an array or table, excluding B, counted from 0; negative numbers count from the end, and either may be
    /// omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, group = "part")]
    rows: Option<Bounds>,

    /// Slice of an array in Python notation, such as '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice, group = "part")]
    slice: Option<Slice>,

    /// Keep printing the bytes that are appended to a Bloscpack file, from byte A with --range A..; waits for a file that does
    /// not exist yet, and continues with a file that replaces it
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
        // Standard input is not a table. A path that does not exist is refused with the same message.
        if self.column.is_some() && !self.path.exists() && !is_url(&self.path) {
            return Err(not_a_table()).about(&input::name(&self.path));
        }
        let mut opened = Opened::open(&self.path, session)?;
        let is_rows = self.is_rows(&opened).about(&opened.origin)?;
        if is_rows && message::is_shown() && self.look(&mut opened, session)? {
            return Ok(Status::Done);
        }
        let origin = opened.input.as_ref().into();
        let mut output = Target::file(STANDARD.as_ref(), Replaces::Plain, origin, session)?;
        let selection = Selection::of(self.part()).columns(&self.column);
        let done = if is_rows {
            opened
                .container
                .export(&selection, Format::Csv, &mut output)
        } else {
            opened.container.copy(&selection, &mut output)
        };
        opened.finish(session);
        done.about(&output.made_from(&opened.origin))?;
        output.commit(session)?;
        Ok(Status::Done)
    }

    /// Whether to print the rows of a table as text.
    fn is_rows(&self, opened: &Opened) -> bloscpack::Result<bool> {
        let is_part = self.range.is_some() || self.chunk.is_some() || self.slice.is_some();
        let may_be_table = matches!(opened.container.kind(), Kind::Table | Kind::File(_));
        let may_be = may_be_table && !is_part && self.column.is_none();
        Ok(may_be && opened.container.outline()?.columns.is_some())
    }

    /// Shows a table in aligned columns. Returns false if its rows are too long.
    fn look(&self, opened: &mut Opened, session: &Session) -> Result<bool, Failure> {
        let bounds = self.rows.unwrap_or_default();
        let text = table_text(&mut *opened.container, bounds, message::width());
        opened.finish(session);
        let text = text.about(&opened.origin)?;
        let is_shown = text.is_some();
        output::print(&text.unwrap_or_default())?;
        Ok(is_shown)
    }

    /// Prints the content, then all appended bytes, until the output is closed.
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
            MadeFrom::Nothing,
            session,
        )?;
        let (mut buffer, name) = (vec![0; BUFFER_LEN], input::name(&self.path));
        let mut print = || -> bloscpack::Result<bool> {
            let len = follower.try_read(&mut buffer).reading()?;
            let bytes = buffer
                .get(..len)
                .ok_or_else(|| Error::bug("more than there is room for"))?;
            output.write_all(bytes).writing()?;
            Ok(len > 0 || follow::wait(&mut follower, &output, &name, session)?)
        };
        loop {
            match print() {
                Ok(true) => {}
                Ok(false) => return Ok(Status::Done),
                Err(error) => {
                    return Err(error).about(&output.made_from(&name));
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

/// Rows shown from the beginning and from the end of a table.
const HEAD: u64 = 10;
const TAIL: u64 = 5;
/// Up to this number, all rows are shown.
const FEW: u64 = 20;
/// Most columns of a table that are printed; no terminal is wider.
const MOST: usize = 100;
/// The maximum width of a cell, in columns of the terminal.
const WIDEST: usize = 24;
/// Elements shown of a cell with several elements.
const ELEMENTS: usize = 4;
/// Rows of more bytes are not read for this display.
const LONG: u64 = 1 << 20;

/// A column: its name, its type and its cells, as text.
struct Shown {
    cells: Vec<String>,
    is_number: bool,
    width: usize,
}

/// The table as text, for a terminal of this width; `None` if its rows are too long.
fn table_text(
    container: &mut dyn Container,
    bounds: Bounds,
    width: usize,
) -> bloscpack::Result<Option<String>> {
    let whole = container.columns(&Selection::default())?;
    let (all, schema) = (whole.known_rows()?, whole.schema().clone());
    drop(whole);
    let bounds = bounds.resolve(all)?;
    let rows = bounds.end - bounds.start;
    if schema.row_bytes() > LONG {
        return Ok(None);
    }
    let columns = schema.columns.get(..MOST).unwrap_or(&schema.columns);
    let mut shown: Vec<Shown> = columns.iter().map(Shown::new).collect();
    let (head, tail) = if rows <= FEW { (rows, 0) } else { (HEAD, TAIL) };
    let start = bounds.start;
    add(container, columns, start..start + head, &mut shown)?;
    if tail > 0 {
        shown
            .iter_mut()
            .for_each(|column| column.push("…".to_owned()));
        let end = start + rows;
        add(container, columns, end - tail..end, &mut shown)?;
    }
    let fitting = fitting(&shown, width);
    let mut text = String::new();
    let lines = shown.first().map_or(0, |column| column.cells.len());
    for line in 0..lines {
        let cells = shown.iter().take(fitting);
        let cells = cells.map(|column| column.cell(line)).collect::<Vec<_>>();
        let cells = cells.join("  ");
        let cells = cells.trim_end();
        text += &match line {
            0 => format!("{BOLD}{cells}{BOLD:#}\n"),
            _ => format!("{cells}\n"),
        };
    }
    let others: Vec<_> = schema.columns.iter().skip(fitting).collect();
    text += &note(rows, head + tail, &others);
    Ok(Some(text))
}

/// A line that counts the rows and names the columns that are not shown.
fn note(rows: u64, shown: u64, others: &[&Column]) -> String {
    let mut note = if shown < rows {
        format!("{shown} of {}", count(rows, "row"))
    } else {
        count(rows, "row")
    };
    if !others.is_empty() {
        let names: Vec<_> = others
            .iter()
            .take(MOST)
            .map(|column| plain(&column.name))
            .collect();
        let number = count(to_u64(others.len()), "more column");
        note += &format!("; {number}: {}", cut(&names.join(", "), 3 * WIDEST));
    }
    format!("({note})\n")
}

/// The number of columns that fit, at least one.
fn fitting(columns: &[Shown], width: usize) -> usize {
    let mut used = 0;
    let fits = columns.iter().take_while(|column| {
        used += column.width + 2;
        used <= width + 2
    });
    fits.count().max(1)
}

/// Adds the cells of these rows.
fn add(
    container: &mut dyn Container,
    columns: &[Column],
    rows: std::ops::Range<u64>,
    shown: &mut [Shown],
) -> bloscpack::Result<()> {
    let names = columns.iter().map(|column| column.name.as_str());
    let selection = Selection::of(Part::Rows(rows.into())).columns(names);
    let mut source = container.columns(&selection)?;
    while let Some(batch) = source.next_batch(1 << 20)? {
        let columns = columns.iter().zip(&batch.columns).zip(&mut *shown);
        for (number, ((column, bytes), shown)) in columns.enumerate() {
            let of = batch.cells(number);
            let cells = cells(column, bytes, batch.rows)?.into_iter().enumerate();
            for (row, cell) in cells {
                let text = of.text(row).map(|text| cut(&plain(&text), WIDEST));
                shown.push(text.unwrap_or(cell));
            }
        }
    }
    Ok(())
}

/// The rows of a column as text.
fn cells(column: &Column, bytes: &[u8], rows: u64) -> bloscpack::Result<Vec<String>> {
    let rows = usize::try_from(rows).map_err(|_| Error::bug("more rows than memory"))?;
    Ok(match bytes.len().checked_div(rows) {
        None => Vec::new(),
        Some(0) => vec![String::new(); rows],
        Some(each) => bytes
            .chunks_exact(each)
            .map(|row| cell(column, row))
            .collect(),
    })
}

fn cell(column: &Column, row: &[u8]) -> String {
    let text = |element: &[u8]| {
        let mut text = String::new();
        column.dtype.write_text(element, &mut text);
        text
    };
    let itemsize = usize::try_from(column.dtype.itemsize());
    let text = match (column.row_shape.as_slice(), itemsize) {
        ([], _) => text(row),
        (_, Ok(itemsize @ 1..)) => {
            let elements = row.chunks(itemsize).take(ELEMENTS).map(text);
            let more = if column.row_len() > to_u64(ELEMENTS) {
                ", …"
            } else {
                ""
            };
            format!("[{}{more}]", elements.collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    };
    cut(&plain(&text), WIDEST)
}

/// The text, cut to this width.
fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let (mut cut, mut width) = (String::new(), 1);
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width > most {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

impl Shown {
    fn new(column: &Column) -> Self {
        let mut shown = Self {
            cells: Vec::new(),
            is_number: is_number(&column.dtype) && column.row_shape.is_empty(),
            width: 0,
        };
        shown.push(cut(&plain(&column.name), WIDEST));
        let shape = match column.row_shape.as_slice() {
            [] => String::new(),
            shape => format!("{shape:?}"),
        };
        shown.push(cut(&format!("{}{shape}", column.dtype), WIDEST));
        shown
    }

    fn push(&mut self, cell: String) {
        self.width = self.width.max(cell.width());
        self.cells.push(cell);
    }

    /// The cell of a line, padded to the width of the column: numbers are aligned right, other cells left.
    fn cell(&self, line: usize) -> String {
        let cell = self.cells.get(line).map_or("", String::as_str);
        let room = " ".repeat(self.width.saturating_sub(cell.width()));
        if self.is_number {
            format!("{room}{cell}")
        } else {
            format!("{cell}{room}")
        }
    }
}

fn is_number(dtype: &DType) -> bool {
    matches!(
        dtype.kind(),
        DTypeKind::Int | DTypeKind::Uint | DTypeKind::Float | DTypeKind::Complex
    )
}
