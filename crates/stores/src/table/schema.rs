//! The schema of a table, which is JSON in `_meta`.
//!
//! ```text
//!  {"version": 3, "columns": [{"name": "id", "kind": "int64"},
//!                             {"name": "t", "kind": "timestamp", "unit": "ns", "nullable": true, "null_storage": "mask"}],
//!   "n_rows": 3333, "summary_indexes_built": true,
//!   "computed_columns": [{"name", "kind": "expression", "expression", "col_deps"}], "materialized_columns": [{"name", "stale"}]}
//! ```
//!
//! | kind | further fields | stored as |
//! |---|---|---|
//! | `int8` to `uint64`, `float32`, `float64`, `complex64`, `complex128`, `bool` | | an array of this dtype |
//! | `string`, `bytes` | `max_length` | an array of `U` or `S` |
//! | `timestamp` | `unit`, `timezone` | an array of int64 |
//! | `ndarray` | `item_shape`, `dtype_str` | an array of rows × item shape |
//! | `utf8` | | two arrays: positions and bytes |
//! | `vlstring`, `vlbytes`, `struct`, `object`, `list` | `item`, `serializer` | batches of MessagePack |
//! | `dictionary` | `null_code` | an array of int32 codes, and batches of strings |

use crate::error::{damaged, unsupported};
pub use bloscpack_array::ItemKind;
use bloscpack_array::msgpack::Value;
use bloscpack_dtype::{ByteOrder, DType, Kind, TimeBase, TimeUnit};
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use bloscpack_storage::Key;
use serde_json::{Map, Value as Json, json};

/// The latest version of a schema that is read. Tables with null masks have version 3, others 1.
const MAX_VERSION: u64 = 3;
/// The code of a dictionary that stands for no word, unless a table has another.
pub(crate) const NO_WORD: i32 = -1;
/// Items of a batch, as in python-blosc2.
pub(crate) const BATCH_ROWS: usize = 2048;

/// A column of a table: its name, and how its values are stored.
///
/// [`StoreTable::columns`](crate::StoreTable::columns) returns the columns of a table; [`new`](Self::new) describes one of a
/// new table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoreColumn {
    /// The name. A dot in it separates folders, unless a backslash precedes it.
    pub name: String,
    /// The kind in the schema, such as `int64` or `utf8`.
    pub stored_kind: String,
    /// The kind of values that are read and written.
    pub kind: ColumnKind,
    /// Whether values may be missing.
    pub nullable: bool,
    /// Whether the values were computed from other columns that have changed afterwards.
    pub stale: bool,
    /// The time zone in which timestamps are displayed. The stored counts are in UTC.
    pub timezone: Option<String>,
    /// The path of the column below the folder of columns.
    pub(crate) path: String,
    /// How missing values are stored.
    pub(crate) nulls: Nulls,
    /// How values are stored.
    pub(crate) layout: Layout,
}

impl StoreColumn {
    /// A column of a new table. If it is `nullable`, missing values are stored as a null mask, which exists once the first of
    /// them is written.
    ///
    /// | `kind` | column of python-blosc2 |
    /// |---|---|
    /// | `Fixed` without a row shape: bool, integers, `f4`, `f8`, `c8`, `c16`, `S`, `U`, `M8` in s, ms, us or ns | the kind of that name; `timestamp` for `M8` |
    /// | `Fixed` with a row shape: the same except `M8` | `ndarray` |
    /// | `Varying` of [`ItemKind::Text`] | `utf8` |
    /// | `Varying` of [`ItemKind::List`] | `list`, whose items are `bool`, `int64`, `uint64`, `float64`, `vlstring`, `vlbytes` or lists |
    /// | `Varying` of [`ItemKind::Bytes`] | `vlbytes` |
    /// | `Varying` of others, and lists of [`ItemKind::Any`] | `object` |
    ///
    /// The byte order of the dtype becomes little-endian. [`dictionary`](Self::dictionary) is another column of text.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_stores::{ColumnKind, ItemKind, StoreColumn};
    /// let price = ColumnKind::Fixed { dtype: DType::F64, row_shape: vec![] };
    /// assert_eq!(StoreColumn::new("price", price, false)?.stored_kind, "float64");
    /// let note = ColumnKind::Varying(ItemKind::Text);
    /// assert_eq!(StoreColumn::new("note", note, true)?.stored_kind, "utf8");
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for other kinds of values, for elements of 0 bytes,
    /// and for a name that is empty, contains a backslash, or does not make a path in a store.
    pub fn new(name: &str, kind: ColumnKind, nullable: bool) -> Result<Self> {
        let refused =
            |what: &dyn std::fmt::Display| unsupported(format_args!("column {name:?}"), what);
        let path = storage_path(name);
        let is_path = Key::parse(&path).is_ok_and(|key| key.as_str() == path);
        if !is_path || path.is_empty() || name.contains('\\') {
            return Err(refused(&"its name is not that of a file or folder"));
        }
        let (stored_kind, kind, layout) = match kind {
            ColumnKind::Fixed { dtype, row_shape } => {
                let dtype = dtype.with_order(ByteOrder::Little);
                let stored = stored_kind(&dtype, &row_shape);
                let what = || refused(&format!("a table of python-blosc2 has no kind for {dtype}"));
                let stored = stored.ok_or_else(what)?;
                (
                    stored,
                    ColumnKind::Fixed { dtype, row_shape },
                    Layout::Array,
                )
            }
            ColumnKind::Varying(ItemKind::Text) => ("utf8".to_owned(), kind, Layout::Text),
            ColumnKind::Varying(item) => {
                let description = described(&item, nullable);
                let stored = description.get("kind").and_then(Json::as_str);
                let stored = stored.unwrap_or_default().to_owned();
                let kind = match stored.as_str() {
                    "object" => ColumnKind::Varying(ItemKind::Any),
                    _ => ColumnKind::Varying(item),
                };
                (stored, kind, Layout::Items(description))
            }
            ColumnKind::Unsupported(what) => return Err(refused(&what)),
        };
        Ok(Self {
            name: name.to_owned(),
            stored_kind,
            kind,
            nullable,
            stale: false,
            timezone: None,
            path,
            nulls: match layout {
                Layout::Array | Layout::Text if nullable => Nulls::Mask,
                _ => Nulls::Inherent,
            },
            layout,
        })
    }

    /// A column of a new table for text of few different words: it stores each word once, and a code for each row. A missing
    /// value is the code -1.
    ///
    /// ```
    /// use bloscpack_stores::StoreColumn;
    /// assert_eq!(StoreColumn::dictionary("country", true)?.stored_kind, "dictionary");
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new) for the name.
    pub fn dictionary(name: &str, nullable: bool) -> Result<Self> {
        Ok(Self {
            stored_kind: "dictionary".to_owned(),
            nulls: Nulls::Inherent,
            layout: Layout::Codes(NO_WORD.into()),
            ..Self::new(name, ColumnKind::Varying(ItemKind::Text), nullable)?
        })
    }

    /// The only column of a frame of objects. `list` is the metalayer that describes lists, if there is one.
    pub(super) fn of_objects(list: Option<&Json>) -> Self {
        let (stored_kind, kind) = match list {
            Some(list) => ("list", item("list", list)),
            None => ("object", ItemKind::Any),
        };
        Self {
            name: "value".to_owned(),
            stored_kind: stored_kind.to_owned(),
            kind: ColumnKind::Varying(kind),
            nullable: true,
            stale: false,
            timezone: None,
            path: String::new(),
            nulls: Nulls::Inherent,
            layout: Layout::Items(Json::Null),
        }
    }

    /// The same column with this time zone. It is ignored unless the column contains timestamps.
    #[must_use]
    pub fn timezone(mut self, zone: Option<String>) -> Self {
        self.timezone = zone.filter(|_| self.stored_kind == "timestamp");
        self
    }

    /// The description of the column in the schema of a new table.
    pub(crate) fn to_json(&self) -> Json {
        let mut json = Map::new();
        let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
        put("name", json!(self.name));
        put("kind", json!(self.stored_kind));
        if let ColumnKind::Fixed { dtype, row_shape } = &self.kind {
            match (self.stored_kind.as_str(), dtype.kind()) {
                ("ndarray", _) => {
                    put("item_shape", json!(row_shape));
                    put("dtype_str", json!(dtype.code()));
                }
                (_, Kind::Text) => drop(put("max_length", json!(dtype.itemsize() / 4))),
                (_, Kind::Bytes) => drop(put("max_length", json!(dtype.itemsize()))),
                (_, Kind::Datetime(unit)) => {
                    put("unit", json!(unit_name(*unit)));
                    if let Some(zone) = &self.timezone {
                        put("timezone", json!(zone));
                    }
                }
                _ => {}
            }
        }
        if self.nullable {
            put("nullable", json!(true));
        }
        if self.nulls == Nulls::Mask {
            put("null_storage", json!("mask"));
        }
        match &self.layout {
            Layout::Items(Json::Object(description)) => json.extend(description.clone()),
            Layout::Codes(none) => {
                put("index_type", json!({"kind": "int32"}));
                put("value_type", described(&ItemKind::Text, false));
                put("ordered", json!(false));
                put("null_code", json!(none));
            }
            _ => {}
        }
        Json::Object(json)
    }

    /// Bytes of a row of fixed length, `u64::MAX` if they are more; 0 for values of varying length.
    pub(crate) fn row_bytes(&self) -> u64 {
        match &self.kind {
            // Saturates: such rows are refused.
            ColumnKind::Fixed { dtype, row_shape } => row_shape
                .iter()
                .fold(dtype.itemsize(), |len, axis| len.saturating_mul(*axis)),
            _ => 0,
        }
    }
}

/// A column without data. python-blosc2 computes its values from other columns whenever they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComputedColumn {
    /// The name.
    pub name: String,
    /// The expression, such as `price * qty`, or the call of a function, such as `f(a, b)`. For display.
    pub definition: String,
}

impl ComputedColumn {
    /// The computed columns of a schema. Those without a name are left out.
    pub(super) fn all(schema: &Json) -> Vec<Self> {
        let columns = schema.get("computed_columns").and_then(Json::as_array);
        let columns = columns.into_iter().flatten();
        columns.filter_map(Self::of).collect()
    }

    /// A computed column; `None` if it has no name.
    fn of(column: &Json) -> Option<Self> {
        let text = |key: &str| column.get(key).and_then(Json::as_str);
        let from = column.get("col_deps").and_then(Json::as_array);
        let from = from.into_iter().flatten().filter_map(Json::as_str);
        let from: Vec<&str> = from.collect();
        let definition = match (text("expression"), text("dsl_source")) {
            (Some(expression), _) => with_names(expression, &from),
            (None, Some(source)) => {
                let name = source
                    .split_once("def ")
                    .and_then(|(_, rest)| rest.split_once('('));
                let name = name.map_or("a function", |(name, _)| name);
                format!("{name}({})", from.join(", "))
            }
            (None, None) => format!("of {}", from.join(", ")),
        };
        Some(Self {
            name: text("name")?.to_owned(),
            definition,
        })
    }
}

/// An expression in which column names replace `o0`, `o1`, ...
fn with_names(expression: &str, names: &[&str]) -> String {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut text = String::new();
    let mut rest = expression;
    while !rest.is_empty() {
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let number = word
            .strip_prefix('o')
            .and_then(|digits| digits.parse::<usize>().ok());
        let name = number.and_then(|number| names.get(number));
        text.push_str(name.copied().unwrap_or(word));
        let next = after.find(is_word).unwrap_or(after.len());
        let (between, after) = after.split_at(next);
        text.push_str(between);
        rest = after;
    }
    text
}

/// The kind of values in a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Elements of a fixed length: one for each row, or an array of them.
    Fixed {
        /// The type of an element.
        dtype: DType,
        /// Elements of a row along each axis. Empty if a row is one element.
        row_shape: Vec<u64>,
    },
    /// Values of varying length.
    Varying(ItemKind),
    /// Values that are not read, with the reason.
    Unsupported(String),
}

/// How missing values are stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Nulls {
    /// As a value of their own (nil, or a code), or not at all.
    Inherent,
    /// In an array that is true where there is a value.
    Mask,
    /// As elements that equal this value.
    Sentinel(Json),
}

/// How the values of a column are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As an array.
    Array,
    /// As an array of bytes: 0, 1, and 255 for a missing value.
    WideBool,
    /// As two arrays: positions and bytes of text.
    Text,
    /// As items in batches, or one in each chunk, with their description.
    Items(Json),
    /// As codes of a dictionary. This code is a missing value.
    Codes(i64),
}

/// Parses a schema. `path` is the frame that contains it, for errors.
///
/// A column of an unknown kind is [`ColumnKind::Unsupported`]. A description without the fields of its kind, and two columns
/// with the same path, are damage.
pub(super) fn parse(text: &str, path: &str) -> Result<(Json, Vec<StoreColumn>)> {
    let schema: Json =
        serde_json::from_str(&plain_json(text)).map_err(|error| damaged(path, error))?;
    match schema.get("version").and_then(Json::as_u64) {
        Some(1..=MAX_VERSION) => {}
        Some(found) => {
            let what = format!("version {found} of a schema (known are 1 to {MAX_VERSION})");
            return Err(unsupported(path, what));
        }
        None => return Err(damaged(path, "a schema without a version")),
    }
    let columns = schema.get("columns").and_then(Json::as_array);
    let columns = columns.ok_or_else(|| damaged(path, "a schema without columns"))?;
    let mut parsed: Vec<StoreColumn> = Vec::new();
    for column in columns {
        let name = column.get("name").and_then(Json::as_str);
        let name = name.ok_or_else(|| damaged(path, "a column without a name"))?;
        parsed.push(
            one(name, column).ok_or_else(|| damaged(path, format!("column {name:?}: {column}")))?,
        );
    }
    let generated = schema.get("materialized_columns").and_then(Json::as_array);
    for generated in generated.into_iter().flatten() {
        let is_stale = generated.get("stale").and_then(Json::as_bool) == Some(true);
        let name = generated.get("name").and_then(Json::as_str);
        for column in &mut parsed {
            column.stale |= is_stale && name == Some(&column.name);
        }
    }
    let mut names: Vec<_> = parsed.iter().map(|column| &column.path).collect();
    names.sort_unstable();
    let twice = names.iter().zip(names.iter().skip(1)).find(|(a, b)| a == b);
    if let Some((name, _)) = twice {
        return Err(damaged(path, format!("two columns {name:?}")));
    }
    Ok((schema, parsed))
}

/// Parses the description of a column; `None` if a field is missing or wrong.
fn one(name: &str, column: &Json) -> Option<StoreColumn> {
    let stored_kind = column.get("kind")?.as_str()?;
    let (kind, layout) = kind(stored_kind, column)?;
    let null_value = column.get("null_value").filter(|value| !value.is_null());
    let nulls = match (
        column.get("null_storage").and_then(Json::as_str),
        null_value,
    ) {
        (Some("mask"), _) => Nulls::Mask,
        (_, Some(value)) => Nulls::Sentinel(value.clone()),
        _ => Nulls::Inherent,
    };
    let nullable = column.get("nullable").and_then(Json::as_bool);
    let layout = match (&nulls, stored_kind) {
        (Nulls::Sentinel(_), "bool") => Layout::WideBool,
        _ => layout,
    };
    Some(StoreColumn {
        name: name.to_owned(),
        stored_kind: stored_kind.to_owned(),
        kind,
        nullable: nullable.unwrap_or(nulls != Nulls::Inherent),
        stale: false,
        timezone: column
            .get("timezone")
            .and_then(Json::as_str)
            .map(str::to_owned),
        path: storage_path(name),
        nulls,
        layout,
    })
}

/// The kind and layout of a column; `None` if a field is missing or wrong.
fn kind(stored: &str, column: &Json) -> Option<(ColumnKind, Layout)> {
    let fixed = |dtype: DType, row_shape| (ColumnKind::Fixed { dtype, row_shape }, Layout::Array);
    let varying = |kind, layout| (ColumnKind::Varying(kind), layout);
    let items = || Layout::Items(column.clone());
    let max_length = || column.get("max_length").and_then(Json::as_u64);
    Some(match stored {
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64"
        | "float32" | "float64" | "complex64" | "complex128" | "bool" => {
            fixed(DType::parse(stored).ok()?, Vec::new())
        }
        "string" => fixed(DType::text(max_length()?).ok()?, Vec::new()),
        "bytes" => fixed(DType::bytes(max_length()?).ok()?, Vec::new()),
        "timestamp" => {
            let unit = column.get("unit")?.as_str()?;
            fixed(DType::parse(&format!("<M8[{unit}]")).ok()?, Vec::new())
        }
        "ndarray" => {
            let dtype = DType::parse(column.get("dtype_str")?.as_str()?).ok()?;
            let shape = column
                .get("item_shape")?
                .as_array()?
                .iter()
                .map(Json::as_u64);
            fixed(dtype, shape.collect::<Option<_>>()?)
        }
        "utf8" => varying(ItemKind::Text, Layout::Text),
        "dictionary" => {
            let code = column
                .get("null_code")
                .map_or(Some(NO_WORD.into()), Json::as_i64)?;
            varying(ItemKind::Text, Layout::Codes(code))
        }
        "list" if column.get("serializer").and_then(Json::as_str) == Some("arrow") => {
            let what = "lists that are serialized by Arrow";
            (ColumnKind::Unsupported(what.to_owned()), items())
        }
        other => match item(other, column) {
            ItemKind::Any if !["object", "struct"].contains(&other) => {
                let what = format!("values of the kind {other:?}");
                (ColumnKind::Unsupported(what), items())
            }
            kind => varying(kind, items()),
        },
    })
}

/// The kind of column for rows of this dtype and shape; `None` if python-blosc2 has none.
fn stored_kind(dtype: &DType, row_shape: &[u64]) -> Option<String> {
    let is_plain = row_shape.is_empty();
    let size = dtype.itemsize();
    let number = |name: &str| Some(format!("{name}{}", size * 8));
    match dtype.kind() {
        _ if size == 0 => None,
        Kind::Datetime(unit) => unit_name(*unit)
            .filter(|_| is_plain)
            .map(|_| "timestamp".to_owned()),
        Kind::Float if ![4, 8].contains(&size) => None,
        Kind::Complex if ![8, 16].contains(&size) => None,
        Kind::Struct(_) | Kind::Object | Kind::Void | Kind::Timedelta(_) => None,
        _ if !is_plain => Some("ndarray".to_owned()),
        Kind::Bool => Some("bool".to_owned()),
        Kind::Int => number("int"),
        Kind::Uint => number("uint"),
        Kind::Float => number("float"),
        Kind::Complex => number("complex"),
        Kind::Text => Some("string".to_owned()),
        Kind::Bytes => Some("bytes".to_owned()),
        _ => None,
    }
}

/// The unit of a `timestamp`; `None` for units that it does not have.
fn unit_name(unit: TimeUnit) -> Option<&'static str> {
    let named = [
        (TimeBase::Second, "s"),
        (TimeBase::Milli, "ms"),
        (TimeBase::Micro, "us"),
        (TimeBase::Nano, "ns"),
    ];
    let mut named = named.into_iter();
    let found = named.find(|(base, _)| TimeUnit::one(*base) == unit);
    found.map(|(_, name)| name)
}

/// The kind of an item of a column, or of the items of a list.
fn item(stored: &str, column: &Json) -> ItemKind {
    match stored {
        "bool" => ItemKind::Bool,
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" => ItemKind::Int,
        "uint64" => ItemKind::UInt,
        "float32" | "float64" => ItemKind::Float,
        "string" | "utf8" | "vlstring" | "dictionary" => ItemKind::Text,
        "bytes" | "vlbytes" => ItemKind::Bytes,
        "list" => {
            let within = column.get("item").unwrap_or(&Json::Null);
            let stored = within.get("kind").and_then(Json::as_str);
            ItemKind::List(Box::new(item(stored.unwrap_or_default(), within)))
        }
        _ => ItemKind::Any,
    }
}

/// The description of a new column with items of this kind, or of the items of a new list. Any item of a list may be missing.
fn described(kind: &ItemKind, nullable: bool) -> Json {
    let batched = |kind| json!({"kind": kind, "nullable": nullable, "serializer": "msgpack", "batch_rows": BATCH_ROWS});
    let plain = |kind| json!({"kind": kind, "nullable": nullable});
    match kind {
        ItemKind::Bool => plain("bool"),
        ItemKind::Int => plain("int64"),
        ItemKind::UInt => plain("uint64"),
        ItemKind::Float => plain("float64"),
        ItemKind::Text => batched("vlstring"),
        ItemKind::Bytes => batched("vlbytes"),
        ItemKind::List(item) if !has_any(item) => json!({
            "kind": "list", "item": described(item, true), "nullable": nullable,
            "storage": "batch", "serializer": "msgpack", "batch_rows": BATCH_ROWS,
        }),
        _ => batched("object"),
    }
}

/// Whether a kind is [`ItemKind::Any`], or lists of it.
fn has_any(kind: &ItemKind) -> bool {
    match kind {
        ItemKind::List(item) => has_any(item),
        kind => *kind == ItemKind::Any,
    }
}

/// Whether a value is one of a column, or an item of a list, with this description.
pub(crate) fn accepts(description: &Json, value: &Value) -> bool {
    let field = |name: &str| description.get(name);
    let kind = field("kind").and_then(Json::as_str).unwrap_or_default();
    let is_short = |len: usize| {
        let most = field("max_length").and_then(Json::as_u64);
        most.is_none_or(|most| to_u64(len) <= most)
    };
    match (kind, value) {
        ("object", _) => true,
        (_, Value::Nil) => field("nullable").and_then(Json::as_bool) == Some(true),
        ("bool", Value::Bool(_)) | ("float32" | "float64", Value::Float(_) | Value::Int(_)) => true,
        ("uint64", Value::UInt(_)) | ("int64", Value::Int(_)) => true,
        (_, Value::Int(number)) => match kind {
            "int8" => i8::try_from(*number).is_ok(),
            "int16" => i16::try_from(*number).is_ok(),
            "int32" => i32::try_from(*number).is_ok(),
            "uint8" => u8::try_from(*number).is_ok(),
            "uint16" => u16::try_from(*number).is_ok(),
            "uint32" => u32::try_from(*number).is_ok(),
            "uint64" => *number >= 0,
            _ => false,
        },
        ("string" | "utf8" | "vlstring" | "dictionary", Value::Text(text)) => {
            is_short(text.chars().count())
        }
        ("bytes" | "vlbytes", Value::Bytes(bytes)) => is_short(bytes.len()),
        ("list", Value::List(values)) => {
            let item = field("item").unwrap_or(&Json::Null);
            values.iter().all(|value| accepts(item, value))
        }
        ("struct", Value::Map(_)) => {
            let fields = field("fields").and_then(Json::as_array);
            fields.into_iter().flatten().all(|field| {
                let name = field.get("name").and_then(Json::as_str);
                let value = name.and_then(|name| value.get(name));
                value.is_some_and(|value| accepts(field, value))
            })
        }
        _ => false,
    }
}

/// The path of a column with this name, below the folder of columns.
///
/// A dot separates folders, unless a backslash precedes it. `%`, `/`, `.` and `\` in a name become `%25`, `%2F`, `%2E` and
/// `%5C`.
fn storage_path(name: &str) -> String {
    let mut path = String::new();
    let mut chars = name.chars();
    while let Some(char) = chars.next() {
        let plain = match char {
            '.' => {
                path.push('/');
                continue;
            }
            '\\' => chars.next().unwrap_or(char),
            char => char,
        };
        match plain {
            '%' => path.push_str("%25"),
            '/' => path.push_str("%2F"),
            '.' => path.push_str("%2E"),
            '\\' => path.push_str("%5C"),
            char => path.push(char),
        }
    }
    path
}

/// Standard JSON from the JSON of Python: `NaN` and infinities, which only Python writes, become strings.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (at, part) in bloscpack_array::msgpack::split_strings(text) {
        if at {
            plain.push_str(part)
        } else {
            let part = part
                .replace("-Infinity", "\"-inf\"")
                .replace("Infinity", "\"inf\"");
            plain.push_str(&part.replace("NaN", "\"nan\""));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths() {
        for (name, path) in [
            ("a", "a"),
            ("p.q", "p/q"),
            ("x\\.y", "x%2Ey"),
            ("a/b", "a%2Fb"),
            ("50%", "50%25"),
            ("../x", "//%2Fx"),
        ] {
            assert_eq!(storage_path(name), path);
        }
    }

    #[test]
    fn numbers_of_python_become_text_outside_of_text() {
        let json = r#"{"a": NaN, "NaN": "Infinity\" NaN", "b": [-Infinity, Infinity]}"#;
        let plain: Json = serde_json::from_str(&plain_json(json)).unwrap();
        let expected = r#"{"a": "nan", "NaN": "Infinity\" NaN", "b": ["-inf", "inf"]}"#;
        assert_eq!(plain, serde_json::from_str::<Json>(expected).unwrap());
    }

    #[test]
    fn computed_columns_are_named() {
        let schema = r#"{"computed_columns": [
            {"name": "total", "kind": "expression", "expression": "(o0 * o1) + o10", "col_deps": ["price", "qty"]},
            {"name": "k", "kind": "dsl", "dsl_source": "@dsl\ndef f(x, y):\n return x", "col_deps": ["a", "b"]}]}"#;
        let found = ComputedColumn::all(&serde_json::from_str(schema).unwrap());
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.definition.as_str()))
            .collect();
        assert_eq!(found, [("total", "(price * qty) + o10"), ("k", "f(a, b)")]);
    }

    #[test]
    fn columns_are_understood() {
        let text = r#"{"version": 3, "columns": [{"name": "a", "kind": "float64", "nullable": true, "null_value": NaN},
            {"name": "l", "kind": "list", "item": {"kind": "list", "item": {"kind": "uint64"}}}, {"name": "n", "kind": "new"}]}"#;
        let (_, columns) = parse(text, "_meta").unwrap();
        let [a, l, n] = columns.as_slice() else {
            panic!()
        };
        assert!(a.nullable && a.nulls == Nulls::Sentinel("nan".into()));
        let list = |kind| ItemKind::List(Box::new(kind));
        assert_eq!(l.kind, ColumnKind::Varying(list(list(ItemKind::UInt))));
        assert!(matches!(&n.kind, ColumnKind::Unsupported(what) if what.contains("new")));
        for bad in [
            "{}",
            r#"{"version": 4, "columns": []}"#,
            r#"{"version": 1}"#,
            r#"{"version": 1, "columns": [{"name": "a"}]}"#,
            r#"{"version": 1, "columns": [{"name": "s", "kind": "string"}]}"#,
            r#"{"version": 1, "columns": [{"name": "a", "kind": "int8"}, {"name": "a", "kind": "int8"}]}"#,
        ] {
            assert!(parse(bad, "_meta").is_err(), "{bad}");
        }
    }

    #[test]
    fn values_suit_their_description() {
        let item = |text: &str| serde_json::from_str::<Json>(text).unwrap();
        let int8 = item(r#"{"kind": "list", "item": {"kind": "int8"}}"#);
        let list = |number| Value::List(vec![Value::Int(number)]);
        assert!(accepts(&int8, &list(-128)) && !accepts(&int8, &list(128)));
        assert!(!accepts(&int8, &Value::Nil) && !accepts(&int8, &Value::List(vec![Value::Nil])));
        let word = item(r#"{"kind": "string", "max_length": 2, "nullable": true}"#);
        let text = |text: &str| Value::Text(text.to_owned());
        assert!(accepts(&word, &text("né")) && !accepts(&word, &text("abc")));
        assert!(accepts(&word, &Value::Nil));
        let record = item(r#"{"kind": "struct", "fields": [{"name": "a", "kind": "bool"}]}"#);
        let with = |value| Value::Map(vec![(text("a"), value)]);
        assert!(accepts(&record, &with(Value::Bool(true))));
        assert!(!accepts(&record, &with(Value::Int(1))));
        assert!(!accepts(&record, &Value::Map(Vec::new())));
    }
}
