//! Reads columns from CSV and JSON lines.

use super::block::Block;
use super::guess::Guess;
use super::input::Lines;
use super::json::{self, JsonLines, NextLine};
use super::place;
use super::text::parse_row;
use crate::error::{missing_part, missing_value, not_utf8, over_limit, too_long};
use crate::format::Format;
use crate::options::ImportOptions;
use bloscpack_array::Cells;
use bloscpack_array::is_value_of_nothing;
use bloscpack_array::{Batch, Column, Schema};
use bloscpack_array::{BoxedSource, Source};
use bloscpack_dtype::Kind;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{ReadAt, parallel};
use bloscpack_stores::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// A source of the lines of a text file.
struct TextSource<S> {
    reader: Reader<S>,
    block: Block,
    /// The lines after the block, read while its cells are parsed.
    ahead: Block,
    schema: Schema,
    fills: Vec<Filling>,
    /// Words for a missing value in columns other than text.
    missing: Vec<String>,
    warnings: Vec<String>,
    threads: usize,
    /// The number of rows, if they were counted.
    rows: Option<u64>,
    done: u64,
    has_ended: bool,
}

/// Reads lines, up to their number if that is known.
struct Reader<S> {
    lines: Rows<S>,
    unread: Option<u64>,
    /// The error of a line, returned after the rows before it.
    failed: Option<Error>,
    has_ended: bool,
}

impl<S: ReadAt> Reader<S> {
    fn new(lines: Rows<S>, rows: Option<u64>) -> Self {
        Self {
            lines,
            unread: rows,
            failed: None,
            has_ended: false,
        }
    }

    /// Reads the next lines into the block; none after the last, or after an error.
    fn read(&mut self, block: &mut Block) {
        block.clear();
        if self.has_ended {
            return;
        }
        let most = self.unread.unwrap_or(u64::MAX);
        self.failed = self.lines.read(block, most).err();
        let unread = self.unread.as_mut();
        let is_last = unread.is_some_and(|unread| {
            *unread -= block.rows();
            *unread == 0
        });
        self.has_ended = is_last || self.failed.is_some() || block.rows() == 0;
    }
}

/// The lines of a file.
enum Rows<S> {
    Csv(Lines<S>),
    /// JSON lines, and the names of the columns.
    Json(JsonLines, Vec<String>),
}

impl<S: ReadAt> Rows<S> {
    /// Fills the block with the next lines, at most `most`.
    fn read(&mut self, block: &mut Block, most: u64) -> Result<()> {
        block.clear();
        while !block.is_full(most) {
            let line = match self {
                Self::Csv(lines) => {
                    let Some((line, cells)) = lines.next()? else {
                        break;
                    };
                    for cell in cells {
                        block.push(Some(cell).filter(|cell| !cell.is_empty()))?;
                    }
                    line
                }
                Self::Json(lines, names) => {
                    let Some((line, value)) = lines.next()? else {
                        break;
                    };
                    for cell in json::cells(value, names) {
                        block.push(cell.as_ref().map(String::as_bytes))?;
                    }
                    line
                }
            };
            block.end_line(line);
        }
        Ok(())
    }

    /// The name of the format in errors.
    fn name(&self) -> &'static str {
        match self {
            Self::Csv(_) => "CSV",
            Self::Json(..) => "JSON lines",
        }
    }
}

/// How missing cells of a column are stored.
enum Filling {
    /// As this text, or as the value that the type has for them.
    Text(Option<String>),
    /// As missing values.
    Nothing,
    /// As nil, among values of varying length.
    Nil,
}

/// Opens a CSV file. Scans it once for the types of columns and the number of rows.
pub(crate) fn open_csv<S: ReadAt + 'static>(
    bytes: S,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let delimiter = match options.delimiter {
        Some(delimiter) => delimiter,
        None => noticed(&bytes)?,
    };
    open_separated(bytes, delimiter, options)
}

/// Opens a file like [`open_csv`], with tabs unless another separator is given.
pub(crate) fn open_tsv<S: ReadAt + 'static>(
    bytes: S,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    open_separated(bytes, options.delimiter.unwrap_or(b'\t'), options)
}

fn open_separated<S: ReadAt + 'static>(
    bytes: S,
    delimiter: u8,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let bytes = Arc::new(bytes);
    let mut lines = Lines::new(&bytes, delimiter);
    let (names, renamed) = names(&mut lines, options)?;
    if let Some(name) = options.types.keys().find(|name| !names.contains(name)) {
        let what = format!("CSV: no column {name:?} (found: {})", names.join(", "));
        return Err(Error::usage(what));
    }
    if !options.has_header {
        lines = Lines::new(&bytes, delimiter);
    }
    let (guesses, rows) = if options.is_counted || !has_types(&names, options) {
        let (guesses, rows) = look(&mut Rows::Csv(lines), names.len(), options)?;
        (guesses, Some(rows))
    } else {
        (names.iter().map(|_| Guess::of_gaps()).collect(), None)
    };
    let guessed = names.iter().zip(&guesses);
    let warnings = guessed
        .clone()
        .filter_map(|(name, guess)| warning(name, guess, options));
    let warnings = renamed.into_iter().chain(warnings).collect();
    let columns = guessed
        .map(|(name, guess)| column(name, guess, options))
        .collect::<Result<Vec<_>>>()?;
    let mut lines = Lines::new(&bytes, delimiter);
    if options.has_header {
        lines.next()?;
    }
    Ok(Box::new(TextSource {
        reader: Reader::new(Rows::Csv(lines), rows),
        block: Block::default(),
        ahead: Block::default(),
        fills: fills(&columns, options),
        schema: Schema::table(columns),
        missing: options.missing.clone(),
        warnings,
        threads: options.workers(),
        rows,
        done: 0,
        has_ended: false,
    }))
}

/// Whether the types of all columns are given, with their lengths.
fn has_types(names: &[String], options: &ImportOptions) -> bool {
    let mut types = names.iter().map(|name| options.types.get(name));
    types.all(|column| column.is_some_and(|column| column.dtype.itemsize() > 0))
}

/// Scans the cells of all lines, and counts the lines.
fn look<S: ReadAt>(
    lines: &mut Rows<S>,
    columns: usize,
    options: &ImportOptions,
) -> Result<(Vec<Guess>, u64)> {
    let mut guesses: Vec<Guess> = (0..columns).map(|_| Guess::new()).collect();
    let (mut block, mut rows) = (Block::default(), 0);
    loop {
        lines.read(&mut block, u64::MAX)?;
        if block.rows() == 0 {
            return Ok((guesses, rows));
        }
        rows += block.rows();
        let jobs = guesses.iter_mut().enumerate();
        parallel::for_each(options.workers(), jobs, |(number, guess)| {
            for (_, cell) in block.column(number) {
                let cell = cell.unwrap_or_default();
                guess.see(cell, is_missing(cell, &options.missing));
            }
            Ok::<_, Error>(())
        })?;
    }
}

/// How missing cells of each column are stored.
fn fills(columns: &[Column], options: &ImportOptions) -> Vec<Filling> {
    let fills = columns.iter().map(|column| {
        if column.varying.is_some() {
            Filling::Nil
        } else if column.nullable {
            Filling::Nothing
        } else {
            Filling::Text(options.filling(column))
        }
    });
    fills.collect()
}

/// Opens a file with a JSON value on each line. Objects are the rows of a table, other values the rows of an array. Lists with
/// the same shape on every line become further axes. Other lists stay lists if missing values [stay
/// missing](ImportOptions::keep_missing), and become text otherwise, like objects and values whose kind differs.
pub(crate) fn open_json_lines<S: ReadAt + 'static>(
    bytes: S,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let bytes = Arc::new(bytes);
    let lines = || JsonLines::new(json::lines_of(&bytes), false);
    let found = json::look(&mut lines())?;
    of_json(found, lines(), options)
}

/// Opens records as rows: records of JSON like [`Format::JsonLines`], other records as a column of text.
///
/// `open` returns a reader of all records from the first. It is called two or three times, to find the columns and to read the
/// rows.
///
/// ```
/// use bloscpack_exchange::{ImportOptions, open_records};
/// let records = [br#"{"id": 1}"#, br#"{"id": 2}"#];
/// let open = || {
///     let mut rest = records.into_iter();
///     let next: bloscpack_exchange::NextLine = Box::new(move |line| {
///         line.clear();
///         Ok(rest.next().map(|record| line.extend_from_slice(record)).is_some())
///     });
///     Ok(next)
/// };
/// let source = open_records(open, &ImportOptions::new())?;
/// assert_eq!((source.rows(), source.schema().columns[0].name.as_str()), (Some(2), "id"));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of `open`, and `Code::Damaged` for records that are neither JSON nor UTF-8.
pub fn open_records(
    open: impl Fn() -> Result<NextLine>,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let mut is_text = false;
    let found = match json::look(&mut JsonLines::new(open()?, is_text)) {
        // The records are not JSON. Damage of their chunks would have another code.
        Err(error) if error.code() == Code::Damaged => {
            is_text = true;
            json::look(&mut JsonLines::new(open()?, is_text))
        }
        found => found,
    };
    of_json(found?, JsonLines::new(open()?, is_text), options)
}

/// A source of lines after they were scanned.
fn of_json(
    (found, is_table, rows): (Vec<json::JsonColumn>, bool, u64),
    lines: JsonLines,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let names: Vec<String> = found.iter().map(|column| column.name.clone()).collect();
    if let Some(name) = options.types.keys().find(|name| !names.contains(name)) {
        let what = format!(
            "JSON lines: no column {name:?} (found: {})",
            names.join(", ")
        );
        return Err(Error::usage(what));
    }
    let columns = found.iter().map(|found| {
        let shape = found.shape.as_deref();
        let lists = found.kind.lists().filter(|_| shape.is_none());
        match (options.types.get(&found.name), lists) {
            (Some(given), _) if given.varying.is_some() => return Ok(given.clone()),
            (None, Some(kind)) if options.keeps_lists => {
                return Ok(Column::with_values(&found.name, kind));
            }
            _ => {}
        }
        let guess = shape.map_or(&found.text, |_| &found.items);
        let mut column = column(&found.name, guess, options)?;
        if !options.types.contains_key(&found.name) {
            column.row_shape = shape.unwrap_or_default().to_vec();
        }
        // In JSON, null and an empty text differ.
        if is_string(&column) && guess.has_gaps() && options.keeps_missing(&column) {
            column.nullable = true;
        }
        Ok(column)
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fills = fills(&columns, options);
    let mut schema = Schema::table(columns);
    schema.is_table = is_table;
    Ok(Box::new(TextSource::<Vec<u8>> {
        reader: Reader::new(Rows::Json(lines, names), Some(rows)),
        block: Block::default(),
        ahead: Block::default(),
        fills,
        schema,
        missing: Vec::new(),
        warnings: Vec::new(),
        threads: options.workers(),
        rows: Some(rows),
        done: 0,
        has_ended: false,
    }))
}

/// Whether a cell is a missing value: blank, or one of these words.
fn is_missing(cell: &[u8], missing: &[String]) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty() || missing.iter().any(|word| word.as_bytes() == cell)
}

/// The number of bytes at the beginning of a file in which the separator is looked for.
const START: usize = 64 << 10;

/// The separator in the first line: a comma if it occurs outside quotes, else a semicolon, else a tab, else a comma.
fn noticed(bytes: &impl ReadAt) -> Result<u8> {
    let mut start = vec![0; START];
    let mut len = 0;
    while let Some(room) = start.get_mut(len..).filter(|room| !room.is_empty()) {
        match bytes.read_at(to_u64(len), room) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut quoted = false;
    let mut found = Vec::new();
    for byte in start.iter().take(len) {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            b',' | b';' | b'\t' if !quoted => found.push(*byte),
            _ => {}
        }
    }
    let known = [b',', b';', b'\t'].into_iter();
    Ok(known
        .into_iter()
        .find(|one| found.contains(one))
        .unwrap_or(b','))
}

/// The maximum number of columns; commas alone could make millions.
const MAX_COLUMNS: usize = 1 << 16;

/// The name for a first column without one.
const INDEX: &str = "index";

/// The column names in the first line, or default names for its cells.
///
/// pandas writes its index first, as a column without a name. It is called `index`, with a warning.
fn names<S: ReadAt>(
    lines: &mut Lines<S>,
    options: &ImportOptions,
) -> Result<(Vec<String>, Option<String>)> {
    let Some((line, cells)) = lines.next()? else {
        return Err(missing_part(
            Format::Csv,
            "the first line, with the names of the columns,",
        ));
    };
    // Each column becomes a folder with files.
    if cells.len() > MAX_COLUMNS {
        return Err(over_limit(
            Format::Csv,
            "columns",
            to_u64(cells.len()),
            to_u64(MAX_COLUMNS),
        ));
    }
    if !options.has_header {
        let names = (0..cells.len()).map(|number| options.name_of(number));
        return Ok((names.collect(), None));
    }
    let wrong_name = |what| Error::new(Code::InvalidName, what).in_part(place(line));
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for cell in cells {
        let name = String::from_utf8(cell.to_vec()).map_err(|_| {
            let found = cell.escape_ascii();
            wrong_name(format!("\"{found}\" is not a valid name"))
        })?;
        if !known.insert(name.clone()) {
            return Err(wrong_name(format!("two columns with the name {name:?}")));
        }
        names.push(name);
    }
    let renamed = match names.as_mut_slice() {
        [first, _, ..] if first.is_empty() && !known.contains(INDEX) => {
            INDEX.clone_into(first);
            Some(format!(
                "the first column has no name, and is called {INDEX}"
            ))
        }
        _ => None,
    };
    Ok((names, renamed))
}

/// A column with the given or guessed type.
fn column(name: &str, guess: &Guess, options: &ImportOptions) -> Result<Column> {
    let filled = options.fills.contains_key(name) || options.fill_rest.is_some();
    let Some(given) = options.types.get(name) else {
        let filled = filled || options.keeps_missing;
        let column = Column::new(name, guess.dtype(name, filled)?);
        return Ok(with_gaps(column, guess, options));
    };
    let mut column = with_gaps(given.clone(), guess, options);
    match (column.dtype.kind(), column.dtype.itemsize()) {
        (Kind::Bytes, 0) => column.dtype = guess.bytes(name)?,
        (Kind::Text, 0) => column.dtype = guess.text(name)?.with_order(column.dtype.order()),
        _ => {}
    }
    if column.dtype.has_object() {
        let what =
            format!("column {name:?}: Python objects cannot be stored: a pickle is not data");
        return Err(Error::usage(what));
    }
    Ok(column)
}

/// The warning about a column whose type was guessed.
fn warning(name: &str, guess: &Guess, options: &ImportOptions) -> Option<String> {
    if options.types.contains_key(name) {
        return None;
    }
    if guess.has_long_numbers() {
        let why = "no number type keeps all digits of its cells";
        return Some(format!("column {name:?} is stored as text: {why}"));
    }
    let why = "it is not UTF-8";
    guess
        .has_other_bytes()
        .then(|| format!("column {name:?} is stored as bytes: {why}"))
}

/// Marks missing cells of a column: they stay missing, or become NaN or NaT. An empty cell of text is empty text.
fn with_gaps(mut column: Column, guess: &Guess, options: &ImportOptions) -> Column {
    column.nan_is_null = false;
    column.nullable = guess.has_gaps() && !is_string(&column) && options.keeps_missing(&column);
    let is_filled = column.nullable || options.filling(&column).is_some();
    if guess.has_gaps() && !is_filled {
        column = column.nan_as_null();
    }
    column
}

fn is_string(column: &Column) -> bool {
    matches!(column.dtype.kind(), Kind::Bytes | Kind::Text)
}

/// A job of one thread while a block is parsed.
enum Job<'a, S> {
    /// Reads the lines after the block.
    Read(&'a mut Reader<S>, &'a mut Block),
    /// Parses the cells of a column into the batch.
    Parse(
        usize,
        &'a Column,
        &'a Filling,
        (&'a mut Vec<u8>, &'a mut Cells),
    ),
}

impl<S: ReadAt> TextSource<S> {
    /// Moves up to `most` rows of the block into the batch. Threads parse its columns, and one of them reads the next block.
    fn parse(&mut self, batch: &mut Batch, most: u64) -> Result<()> {
        let block = &self.block;
        let rows = block.left().min(most);
        let format = self.reader.lines.name();
        let words = match self.reader.lines {
            Rows::Csv(_) => Some(self.missing.as_slice()),
            Rows::Json(..) => None,
        };
        let columns = self.schema.columns.iter().zip(&self.fills);
        let targets = batch.columns.iter_mut().zip(&mut batch.cells);
        let columns = columns.zip(targets).enumerate();
        let columns = columns
            .map(|(number, ((column, fill), target))| Job::Parse(number, column, fill, target));
        let mut jobs = Vec::new();
        if self.ahead.left() == 0 && rows == block.left() {
            jobs.push(Job::Read(&mut self.reader, &mut self.ahead));
        }
        jobs.extend(columns);
        // The first line with an error, the number of its column, and the error.
        let mut first: Option<(u64, usize, Error)> = None;
        let act = |job| {
            let (number, column, fill, target) = match job {
                Job::Read(reader, ahead) => {
                    reader.read(ahead);
                    return Ok(None);
                }
                Job::Parse(number, column, fill, target) => (number, column, fill, target),
            };
            let words = words.filter(|_| !is_string(column));
            let cells = block.column(number).take(in_memory(rows)?);
            let cells = cells.map(|(line, cell)| {
                let is_there = |cell: &&[u8]| words.is_none_or(|words| !is_missing(cell, words));
                (line, cell.filter(is_there))
            });
            let room = in_memory(rows.saturating_mul(column.row_bytes()))?;
            let parsed = parse_column((column, fill), cells, room, target);
            Ok::<_, Error>(parsed.err().map(|(line, error)| (line, number, error)))
        };
        parallel::map_in_order(self.threads, jobs.into_iter(), act, |failed| {
            if let Some(failed) = failed
                && first.as_ref().is_none_or(|first| failed.0 < first.0)
            {
                first = Some(failed);
            }
            Ok(())
        })?;
        batch.rows += rows;
        self.block.take(rows)?;
        let Some((line, number, error)) = first else {
            return Ok(());
        };
        let name = self.schema.columns.get(number);
        let name = name.map_or("", |column| &column.name);
        Err(error.in_part(format_args!("{format}: line {line}: column {name:?}")))
    }
}

/// Parses cells into the bytes of a column, which grow by `room` bytes. An error comes with its line.
fn parse_column<'a>(
    (column, fill): (&Column, &Filling),
    cells: impl Iterator<Item = (u64, Option<&'a [u8]>)>,
    room: usize,
    (bytes, form): (&mut Vec<u8>, &mut Cells),
) -> std::result::Result<(), (u64, Error)> {
    let whole = |error| (0, error);
    let no_room = |_| whole(Error::no_memory(to_u64(room)));
    if let (Some(kind), Cells::Varying(values)) = (&column.varying, &mut *form) {
        for (line, cell) in cells {
            let value = cell.map_or(Ok(Value::Nil), |cell| json::value(cell, kind));
            values.push(value.map_err(|error| (line, error))?);
        }
        return Ok(());
    }
    let len = in_memory(column.row_bytes()).map_err(whole)?;
    let mut start = bytes.len();
    bytes.try_reserve(room).map_err(no_room)?;
    bytes.resize(start + room, 0);
    for (line, cell) in cells {
        let row = bytes.get_mut(start..start + len);
        let row = row.ok_or_else(|| whole(Error::bug("a buffer that grew is too short")))?;
        start += len;
        if let Cells::Present(present) = form {
            present.push(cell.is_some());
            if cell.is_none() && !column.nan_is_null {
                continue;
            }
        }
        put(column, fill.text(), cell.unwrap_or_default(), row).map_err(|error| (line, error))?;
    }
    Ok(())
}

/// Parses a cell into a row.
fn put(column: &Column, fill: Option<&str>, cell: &[u8], row: &mut [u8]) -> Result<()> {
    let dtype = &column.dtype;
    if cell.is_empty() && fill.is_none() && !is_value_of_nothing(dtype) {
        return Err(missing_value(dtype));
    }
    let text = match (std::str::from_utf8(cell), fill) {
        (Ok(""), Some(fill)) => fill,
        (Ok(text), _) => text,
        // Bytes that are not text stay as they are.
        (Err(_), _) if matches!(dtype.kind(), Kind::Bytes) => {
            row.get_mut(..cell.len())
                .ok_or_else(|| too_long(cell.len(), "bytes", dtype))?
                .copy_from_slice(cell);
            return Ok(());
        }
        (Err(_), _) => {
            return Err(not_utf8(format_args!("\"{}\"", cell.escape_ascii())));
        }
    };
    parse_row(column, text, row)
}

impl Filling {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            Self::Nothing | Self::Nil => None,
        }
    }

    /// An empty [`Cells`] of the form that the column gets.
    fn cells(&self) -> Cells {
        match self {
            Self::Text(_) => Cells::Elements,
            Self::Nothing => Cells::Present(Vec::new()),
            Self::Nil => Cells::Varying(Vec::new()),
        }
    }
}

impl<S: ReadAt> Source for TextSource<S> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        if self.has_ended {
            return Ok(None);
        }
        let most = self.schema.rows_within(bytes);
        let mut batch = Batch {
            cells: self.fills.iter().map(Filling::cells).collect(),
            rows: 0,
            columns: vec![Vec::new(); self.schema.columns.len()],
        };
        while batch.rows < most {
            if self.block.left() == 0 {
                std::mem::swap(&mut self.block, &mut self.ahead);
                self.ahead.clear();
            }
            if self.block.left() == 0 {
                self.reader.read(&mut self.block);
            }
            if self.block.left() == 0 {
                break;
            }
            let rest = most - batch.rows;
            let parsed = self.parse(&mut batch, rest);
            parsed.inspect_err(|_| self.has_ended = true)?;
        }
        self.done += batch.rows;
        if batch.rows > 0 {
            return Ok(Some(batch));
        }
        self.has_ended = true;
        match (self.reader.failed.take(), self.rows) {
            (Some(error), _) => Err(error),
            (None, Some(rows)) if self.done < rows => Err(Error::new(
                Code::Damaged,
                "the file was truncated while being read",
            )
            .in_part(place(self.done))),
            _ => Ok(None),
        }
    }
}
