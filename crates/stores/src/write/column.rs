//! [`ColumnWriter`]: writes the values of a column, batch after batch.

use super::Settings;
use super::growing::{Grid, Growing};
use super::items::ItemsWriter;
use crate::table::{ColumnData, NO_WORD, accepts};
use bloscpack::Options;
use bloscpack_array::msgpack::Value;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The shapes of the two arrays of text. python-blosc2 uses the same.
const POSITIONS: Grid = Grid {
    chunk: 1 << 17,
    block: 1 << 15,
};
const TEXT: Grid = Grid {
    chunk: 1 << 21,
    block: 1 << 18,
};
/// The maximum bytes of all text of a column together: positions are int64.
const MAX_TEXT: u64 = 1 << 62;

/// Writes the values of a column.
pub(super) struct ColumnWriter {
    pub name: String,
    pub values: Values,
    pub nulls: Missing,
}

/// The arrays that values are written to.
pub(super) enum Values {
    /// Elements of a fixed length.
    Fixed(Box<Growing>),
    /// Text: the position at which each row begins, the bytes, and how many bytes there are.
    Text {
        positions: Box<Growing>,
        bytes: Box<Growing>,
        end: u64,
    },
    /// Codes of a dictionary, and its words.
    Codes {
        codes: Box<Growing>,
        words: HashMap<String, i32>,
        dictionary: Box<ItemsWriter>,
    },
    /// Items in batches, which `description` describes as in a schema.
    Items {
        items: Box<ItemsWriter>,
        description: Json,
    },
}

/// How missing values are written.
pub(super) enum Missing {
    /// Not at all: they are an error.
    Refused,
    /// As this element.
    Element(Vec<u8>),
    /// As this text.
    Text(String),
    /// In a null mask.
    Mask(Box<Mask>),
    /// As nil.
    Nil,
}

/// A null mask: true where there is a value. The array is created when the first value is missing.
pub(super) struct Mask {
    pub path: PathBuf,
    pub array: Option<Growing>,
    pub rows: u64,
    pub grid: Grid,
    pub settings: Settings,
}

impl Mask {
    /// Adds rows. `None` means that no value is missing.
    fn push(&mut self, rows: u64, present: Option<&[bool]>) -> Result<()> {
        let is_missing = present.is_some_and(|present| present.contains(&false));
        if self.array.is_none() && is_missing {
            let (grid, settings) = (self.grid, &self.settings);
            let mut array = Growing::create(&self.path, &DType::BOOL, &[], grid, settings)?;
            array.repeat(&[1], self.rows)?;
            self.array = Some(array);
        }
        self.rows += rows;
        match (&mut self.array, present) {
            (None, _) => Ok(()),
            (Some(array), None) => array.repeat(&[1], rows),
            (Some(array), Some(present)) => {
                let bytes: Vec<u8> = present.iter().map(|present| u8::from(*present)).collect();
                array.push(&bytes)
            }
        }
    }
}

impl Values {
    /// Creates the two arrays of text, without rows.
    pub fn new_text(path: &Path, settings: &Settings) -> Result<Self> {
        let (positions, bytes) = text_paths(path);
        let mut positions = Growing::create(&positions, &DType::I64, &[], POSITIONS, settings)?;
        positions.push(&[0; 8])?;
        let bytes = Growing::create(&bytes, &DType::U8, &[], TEXT, settings)?;
        Ok(Self::Text {
            positions: Box::new(positions),
            bytes: Box::new(bytes),
            end: 0,
        })
    }

    /// Opens the two arrays of existing text, cut to `rows` rows, which end at byte `end`.
    pub fn edit_text(path: &Path, rows: u64, end: u64, options: &Options) -> Result<Self> {
        let (positions, bytes) = text_paths(path);
        let mut positions = Growing::edit(&positions, options)?;
        positions.truncate(rows + 1)?;
        if positions.rows() == 0 {
            positions.push(&[0; 8])?;
        }
        let mut bytes = Growing::edit(&bytes, options)?;
        bytes.truncate(end)?;
        Ok(Self::Text {
            positions: Box::new(positions),
            bytes: Box::new(bytes),
            end,
        })
    }

    /// Writes everything that is still in memory.
    fn finish(self) -> Result<()> {
        match self {
            Self::Fixed(array) => array.finish(),
            Self::Codes {
                codes, dictionary, ..
            } => {
                codes.finish()?;
                dictionary.finish()
            }
            Self::Items { items, .. } => items.finish(),
            Self::Text {
                positions,
                mut bytes,
                ..
            } => {
                if bytes.rows() == 0 {
                    // python-blosc2 never writes an empty array of bytes.
                    bytes.push(&[0])?;
                }
                positions.finish()?;
                bytes.finish()
            }
        }
    }
}

/// The files of the positions and of the bytes of text.
fn text_paths(path: &Path) -> (PathBuf, PathBuf) {
    (with(path, ".b2nd"), with(path, ".utf8.b2nd"))
}

/// A path with `ending` appended to its last name.
pub(super) fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl ColumnWriter {
    /// Adds one value for each of `rows` rows.
    pub fn push(&mut self, rows: u64, data: &ColumnData) -> Result<()> {
        match data {
            ColumnData::Fixed { bytes, present } => {
                self.push_fixed(rows, bytes, present.as_deref())
            }
            ColumnData::Varying(values) => self.push_varying(rows, values),
        }
    }

    /// Adds elements of a fixed length, with missing ones as a mask or an element.
    fn push_fixed(&mut self, rows: u64, bytes: &[u8], present: Option<&[bool]>) -> Result<()> {
        let Values::Fixed(array) = &mut self.values else {
            return Err(self.wrong("elements, expected text"));
        };
        let row = array.row_bytes();
        let expected = in_memory(rows)?.checked_mul(row);
        let marks = present.map_or(rows, |present| to_u64(present.len()));
        if expected != Some(bytes.len()) || marks != rows {
            return Err(self.wrong("not as many elements as rows"));
        }
        let missing = present.filter(|present| present.contains(&false));
        match (&mut self.nulls, missing) {
            (Missing::Mask(mask), present) => mask.push(rows, present)?,
            (_, None) => {}
            (Missing::Element(element), Some(present)) => {
                let elements = bytes.chunks_exact(row).zip(present);
                let elements = elements
                    .flat_map(|(found, present)| if *present { found } else { element.as_slice() });
                let elements: Vec<u8> = elements.copied().collect();
                return array.push(&elements);
            }
            _ => return Err(self.missing()),
        }
        array.push(bytes)
    }

    /// Adds text, words or items. Nil is a missing value.
    fn push_varying(&mut self, rows: u64, values: &[Value]) -> Result<()> {
        if to_u64(values.len()) != rows {
            return Err(self.wrong("not as many values as rows"));
        }
        if let Missing::Mask(mask) = &mut self.nulls {
            let present: Vec<bool> = values.iter().map(|value| *value != Value::Nil).collect();
            mask.push(rows, Some(&present))?;
        }
        let absent = match &self.nulls {
            Missing::Mask(_) => Some(""),
            Missing::Text(text) => Some(text.as_str()),
            _ => None,
        };
        match &mut self.values {
            Values::Text {
                positions,
                bytes,
                end,
            } => {
                let (mut ends, mut all) = (Vec::new(), Vec::new());
                for value in values {
                    let text = match (value, absent) {
                        (Value::Text(text), _) => text.as_str(),
                        (Value::Nil, Some(absent)) => absent,
                        (Value::Nil, None) => return Err(self.missing()),
                        _ => return Err(self.wrong("another value than text")),
                    };
                    all.extend_from_slice(text.as_bytes());
                    *end = end
                        .checked_add(to_u64(text.len()))
                        .filter(|end| *end <= MAX_TEXT)
                        .ok_or_else(|| Error::usage("more text than a column can have"))?;
                    ends.extend(end.to_le_bytes());
                }
                positions.push(&ends)?;
                bytes.push(&all)
            }
            Values::Codes {
                codes,
                words,
                dictionary,
            } => {
                let mut all = Vec::new();
                for value in values {
                    let code = match (value, &self.nulls) {
                        (Value::Nil, Missing::Element(none)) => {
                            all.extend_from_slice(none);
                            continue;
                        }
                        (Value::Nil, _) => return Err(self.missing()),
                        (Value::Text(text), _) => words.get(text.as_str()).copied(),
                        _ => return Err(self.wrong("another value than text")),
                    };
                    let code = match (code, value) {
                        (None, Value::Text(text)) => {
                            let new = i32::try_from(words.len()).map_err(|_| {
                                Error::usage("more words than a dictionary can have")
                            })?;
                            dictionary.push(value)?;
                            words.insert(text.clone(), new);
                            new
                        }
                        (code, _) => code.unwrap_or_default(),
                    };
                    all.extend(code.to_le_bytes());
                }
                codes.push(&all)
            }
            Values::Items { items, description } => {
                for value in values {
                    match (value, &self.nulls) {
                        (Value::Nil, Missing::Nil | Missing::Mask(_)) => {}
                        (Value::Nil, _) => return Err(self.missing()),
                        _ if accepts(description, value) => {}
                        _ => {
                            let kind = description.get("kind").and_then(Json::as_str);
                            let what = format!(
                                "a value that is not of the kind {}",
                                kind.unwrap_or_default()
                            );
                            return Err(self.wrong(&what));
                        }
                    }
                    items.push(value)?;
                }
                Ok(())
            }
            Values::Fixed(_) => Err(self.wrong("text, expected elements")),
        }
    }

    /// Adds a position that is not a row. Text and items have only rows.
    pub fn push_dead(&mut self) -> Result<()> {
        match &mut self.values {
            Values::Fixed(array) => {
                let row = vec![0; array.row_bytes()];
                array.push(&row)
            }
            Values::Codes { codes, .. } => match &self.nulls {
                Missing::Element(none) => codes.push(none),
                _ => codes.push(&NO_WORD.to_le_bytes()),
            },
            Values::Text { .. } | Values::Items { .. } => Ok(()),
        }
    }

    /// Writes everything that is still in memory.
    pub fn finish(self) -> Result<()> {
        if let Missing::Mask(mask) = self.nulls
            && let Some(array) = mask.array
        {
            array.finish()?;
        }
        self.values.finish()
    }

    /// The error for data of the wrong kind or length.
    fn wrong(&self, what: &str) -> Error {
        Error::usage(format!("column {:?}: {what}", self.name))
    }

    /// The error for a missing value in a column that cannot have any.
    fn missing(&self) -> Error {
        let name = &self.name;
        Error::usage(format!(
            "column {name:?} has a missing value, but none of its values may be missing"
        ))
    }
}
