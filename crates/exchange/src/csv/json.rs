//! Reads JSON lines: an object per line, whose keys are the columns, or a value per line, which are the rows of an array.

use super::guess::Guess;
use crate::error::{damaged, not_utf8, over_limit};
use crate::format::Format;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_stores::{ItemKind, Value as Item};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// The longest line in bytes.
const MAX_LINE: u64 = 64 << 20;
/// The maximum number of columns.
const MAX_COLUMNS: usize = 1 << 16;

/// Reads the next line into a vector, which it clears first; false after the last.
pub type NextLine = Box<dyn FnMut(&mut Vec<u8>) -> Result<bool> + Send>;

/// Reads the lines of a file.
pub(super) fn lines_of<S: ReadAt + 'static>(bytes: &Arc<S>) -> NextLine {
    let mut reader = BufReader::new(SourceReader::new(Arc::clone(bytes)));
    Box::new(move |line| {
        line.clear();
        let mut limited = reader.by_ref().take(MAX_LINE + 1);
        let read = limited.read_until(b'\n', line)?;
        if to_u64(read) > MAX_LINE {
            let unit = "bytes of a line";
            return Err(over_limit(Format::JsonLines, unit, to_u64(read), MAX_LINE));
        }
        Ok(read > 0)
    })
}

/// Reads lines, or records, as JSON values.
pub(super) struct JsonLines {
    next: NextLine,
    /// Whether they are text instead of JSON.
    is_text: bool,
    line: Vec<u8>,
    number: u64,
}

impl JsonLines {
    pub fn new(next: NextLine, is_text: bool) -> Self {
        Self {
            next,
            is_text,
            line: Vec::new(),
            number: 0,
        }
    }

    /// The next value, with the number of its line; `None` after the last. Skips empty lines of JSON.
    pub fn next(&mut self) -> Result<Option<(u64, Value)>> {
        loop {
            if !(self.next)(&mut self.line)? {
                return Ok(None);
            }
            self.number += 1;
            let part = || format!("line {}", self.number);
            if self.is_text {
                let text = String::from_utf8(std::mem::take(&mut self.line));
                let text =
                    text.map_err(|_| damaged(Format::JsonLines, &part(), "it is not UTF-8"))?;
                return Ok(Some((self.number, Value::String(text))));
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let value = serde_json::from_slice(&self.line);
            let value = value.map_err(|error| damaged(Format::JsonLines, &part(), error))?;
            return Ok(Some((self.number, value)));
        }
    }
}

/// A column after all lines were scanned.
pub(super) struct JsonColumn {
    pub name: String,
    /// The guess for single values, or for the items of lists.
    pub items: Guess,
    /// The guess for the values as text.
    pub text: Guess,
    /// The shape of all values so far as nested lists; `None` if they differ or contain objects.
    pub shape: Option<Vec<u64>>,
    /// The kind of all values so far.
    pub kind: Seen,
    /// The number of lines with a value.
    seen: u64,
}

/// Scans all lines. Returns the columns, whether lines are objects, and the number of lines.
pub(super) fn look(lines: &mut JsonLines) -> Result<(Vec<JsonColumn>, bool, u64)> {
    let (mut columns, mut places) = (Vec::<JsonColumn>::new(), HashMap::new());
    let (mut rows, mut is_table) = (0, None);
    while let Some((line, value)) = lines.next()? {
        let is_object = value.is_object();
        if *is_table.get_or_insert(is_object) != is_object {
            let what = "lines that are objects, and others";
            let error = Error::new(Code::Damaged, format!("JSON lines: line {line}: {what}"));
            return Err(error.with_hint("each line has to be an object with the columns"));
        }
        for (name, value) in fields(value) {
            let next = columns.len();
            let place = *places.entry(name.clone()).or_insert(next);
            if place == next {
                if next == MAX_COLUMNS {
                    let most = to_u64(MAX_COLUMNS);
                    return Err(over_limit(Format::JsonLines, "columns", most + 1, most));
                }
                columns.push(JsonColumn::new(name));
            }
            if let Some(column) = columns.get_mut(place) {
                column.see(&value);
            }
        }
        rows += 1;
    }
    for column in &mut columns {
        // A line without the key is a missing value.
        if column.seen < rows {
            column.items.see(b"", true);
            column.text.see(b"", true);
        }
    }
    Ok((columns, is_table.unwrap_or(true), rows))
}

/// The name of the only column, if lines are not objects.
const VALUE: &str = "value";

/// The values of a line by column name.
fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([(VALUE.to_owned(), other)]),
    }
}

/// The cells of a line in the order of these columns.
pub(super) fn cells(value: Value, names: &[String]) -> Vec<Option<String>> {
    let mut fields = fields(value);
    let cells = names.iter().map(|name| match fields.get_mut(name)? {
        Value::Null => None,
        Value::String(text) => Some(std::mem::take(text)),
        other => Some(other.to_string()),
    });
    cells.collect()
}

/// The kind of the values of a column, as far as they were seen.
pub(super) enum Seen {
    /// No value but null.
    Nothing,
    /// Booleans, integers of 64 bits with a sign, floats or text.
    One(ItemKind),
    Lists(Box<Self>),
    /// Objects, larger integers, or values of different kinds.
    Mixed,
}

impl Seen {
    fn join(&mut self, value: &Value) {
        let kind = match value {
            Value::Null => return,
            Value::Array(values) => {
                if matches!(self, Self::Nothing) {
                    *self = Self::Lists(Box::new(Self::Nothing));
                }
                match self {
                    Self::Lists(items) => values.iter().for_each(|value| items.join(value)),
                    _ => *self = Self::Mixed,
                }
                return;
            }
            Value::Bool(_) => Some(ItemKind::Bool),
            Value::Number(number) if number.is_i64() => Some(ItemKind::Int),
            Value::Number(number) if number.is_f64() => Some(ItemKind::Float),
            Value::String(_) => Some(ItemKind::Text),
            _ => None,
        };
        *self = match (&*self, kind) {
            (Self::Nothing, Some(kind)) => Self::One(kind),
            (Self::One(ItemKind::Int), Some(ItemKind::Float))
            | (Self::One(ItemKind::Float), Some(ItemKind::Int)) => Self::One(ItemKind::Float),
            (Self::One(seen), Some(kind)) if *seen == kind => return,
            _ => Self::Mixed,
        };
    }

    /// The kind, if all values were lists of items of one kind.
    pub fn lists(&self) -> Option<ItemKind> {
        match self {
            Self::Lists(items) => Some(ItemKind::List(Box::new(match &**items {
                Self::One(kind) => kind.clone(),
                items => items.lists()?,
            }))),
            _ => None,
        }
    }
}

/// The value of a cell: text itself, and JSON for other kinds.
pub(super) fn value(cell: &[u8], kind: &ItemKind) -> Result<Item> {
    let text = || std::str::from_utf8(cell).map_err(|_| not_utf8("a cell"));
    Ok(match kind {
        ItemKind::Text => Item::Text(text()?.to_owned()),
        ItemKind::Bytes => Item::Bytes(cell.to_vec()),
        _ => match (Item::of_json(text()?), kind) {
            (Ok(item), _) => of_kind(item, kind),
            // JSON lines have text without its quotes here.
            (Err(_), ItemKind::Any) => Item::Text(text()?.to_owned()),
            (Err(error), _) => return Err(error),
        },
    })
}

/// Floats in place of integers, and bytes in place of text, where the kind says so.
#[expect(clippy::cast_precision_loss, reason = "JSON has one kind of number")]
fn of_kind(item: Item, kind: &ItemKind) -> Item {
    match (item, kind) {
        (Item::Int(number), ItemKind::Float) => Item::Float(number as f64),
        (Item::Text(text), ItemKind::Bytes) => Item::Bytes(text.into_bytes()),
        (Item::List(items), ItemKind::List(kind)) => {
            Item::List(items.into_iter().map(|item| of_kind(item, kind)).collect())
        }
        (item, _) => item,
    }
}

impl JsonColumn {
    fn new(name: String) -> Self {
        Self {
            name,
            items: Guess::new(),
            text: Guess::new(),
            shape: None,
            kind: Seen::Nothing,
            seen: 0,
        }
    }

    fn see(&mut self, value: &Value) {
        if value.is_null() {
            return;
        }
        let shape = shape_of(value);
        if self.seen == 0 {
            self.shape = shape;
        } else if self.shape != shape {
            self.shape = None;
        }
        self.seen += 1;
        self.kind.join(value);
        match value {
            Value::String(text) => self.text.see_text(text),
            other => self.text.see_text(&other.to_string()),
        }
        if self.shape.is_some() {
            self.see_items(value);
        }
    }

    fn see_items(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.see_items(value)),
            Value::String(text) => self.items.see_text(text),
            Value::Null => self.items.see(b"", true),
            other => self.items.see(other.to_string().as_bytes(), false),
        }
    }
}

/// The lengths of nested lists; `None` for objects, and for lists of different lengths.
fn shape_of(value: &Value) -> Option<Vec<u64>> {
    match value {
        Value::Object(_) => None,
        Value::Array(values) => {
            let mut shapes = values.iter().map(shape_of);
            let first = match shapes.next() {
                Some(first) => first?,
                None => Vec::new(),
            };
            let is_same = shapes.all(|shape| shape.as_ref() == Some(&first));
            is_same.then(|| [&[to_u64(values.len())], first.as_slice()].concat())
        }
        _ => Some(Vec::new()),
    }
}
