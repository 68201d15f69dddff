//! A table on a terminal: aligned columns, the first and the last rows.

use bloscpack::{
    Error,
    dtype::{DType, Kind},
    wire::internal::to_u64,
};
use bloscpack_open::{Bounds, Container, Part, Selection, exchange::Column};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::command::info::BOLD;
use crate::text::{count, plain};

/// Rows at the beginning and at the end that are shown.
const HEAD: u64 = 10;
const TAIL: u64 = 5;
/// Rows that are all shown.
const FEW: u64 = 20;
/// Columns that are looked at; no terminal is wider.
const MOST: usize = 100;
/// Columns of the terminal for a cell.
const WIDEST: usize = 24;
/// Elements of a cell with several.
const ELEMENTS: usize = 4;
/// Bytes of a row beyond which rows are not worth reading for a glimpse.
const LONG: u64 = 1 << 20;

/// A column: its name, its type, and its cells.
struct Shown {
    cells: Vec<String>,
    is_number: bool,
    width: usize,
}

/// The table as text, for a terminal of this width; `None` if its rows are too long.
pub fn text(
    container: &mut dyn Container,
    bounds: Bounds,
    width: usize,
) -> bloscpack::Result<Option<String>> {
    let whole = container.columns(&Selection::of(Part::Rows(bounds)))?;
    let (rows, schema) = (whole.rows(), whole.schema().clone());
    drop(whole);
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

/// The rows and columns that are not shown.
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

/// How many columns fit, at least one.
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
    let (start, end) = (rows.start, Some(rows.end));
    let names = columns.iter().map(|column| column.name.as_str());
    let selection = Selection::of(Part::Rows(Bounds { start, end })).columns(names);
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

    /// The cell of a line, as wide as the column: numbers at its right, all else at its left.
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
        Kind::Int | Kind::Uint | Kind::Float | Kind::Complex
    )
}
