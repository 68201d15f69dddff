//! `meta/storage`: the dtype of the elements and how they are stored, as YAML.
//!
//! ```text
//! dtype:
//!   col1: int8
//!   col2: float32
//! chunkshape: (30, 20)
//! superchunksize: 10  # max. number of chunks in a single file
//! endianness: big  # default: little
//! order: C         # default: C
//! compression:
//!   library: blosclz   # could be zlib, fastlz or others
//!   level: 5
//!   filters: [shuffle, truncate]  # order matters
//! ```

use super::shape::{parse_tuple, tuple};
use super::yaml;
use crate::wire::storage::compressor;
use blosc1::{Compressor, Filter};
use bloscpack_array::json::{shown, unknown_name, wrong_value};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::{Code, Error, Result};
use serde_json::{Map, Value};

/// The maximum depth of nested columns. Deeper hostile ones could overflow the stack.
const MAX_DEPTH: usize = 16;
/// A path of keys in a message is not extended beyond this many bytes.
const MAX_PATH: usize = 256;

/// The elements of a dataset: one dtype for an array, or columns for a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// One dtype, by NumPy's name. It is not parsed.
    Of(String),
    /// Columns with their names, in order. Each may contain columns again, up to 16 levels.
    Columns(Vec<(String, Elements)>),
}

impl Elements {
    /// The columns that contain no columns, in order: the names from the outermost inwards, and the dtype. A single dtype is
    /// one column without names.
    ///
    /// ```
    /// use bloscpack_datasets::wire::proposal::Elements;
    /// let of = |name: &str| Elements::Of(name.to_owned());
    /// let nested = Elements::Columns(vec![("sc1".to_owned(), of("int8"))]);
    /// let elements = Elements::Columns(vec![("col1".to_owned(), of("int16")), ("col2".to_owned(), nested)]);
    /// let leaves = elements.leaves();
    /// assert_eq!(leaves[0], (vec!["col1"], "int16"));
    /// assert_eq!(leaves[1], (vec!["col2", "sc1"], "int8"));
    /// ```
    #[must_use]
    pub fn leaves(&self) -> Vec<(Vec<&str>, &str)> {
        let mut leaves = Vec::new();
        self.push_leaves(&mut Vec::new(), &mut leaves);
        leaves
    }

    fn push_leaves<'a>(
        &'a self,
        names: &mut Vec<&'a str>,
        leaves: &mut Vec<(Vec<&'a str>, &'a str)>,
    ) {
        match self {
            Self::Of(dtype) => leaves.push((names.clone(), dtype)),
            Self::Columns(columns) => {
                for (name, elements) in columns {
                    names.push(name);
                    elements.push_leaves(names, leaves);
                    names.pop();
                }
            }
        }
    }
}

/// A filter that is applied to a chunk before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProposalFilter {
    /// Byte shuffle: groups the first bytes of all elements, then the second bytes, and so on.
    Shuffle,
    /// Bitshuffle: groups bits in the same way. An extension of the proposal.
    Bitshuffle,
    /// Sets insignificant digits to zero. Readers need not undo it. Accepted when reading; this library does not apply it.
    Truncate,
}

impl ProposalFilter {
    const ALL: [Self; 3] = [Self::Shuffle, Self::Bitshuffle, Self::Truncate];

    /// The name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shuffle => "shuffle",
            Self::Bitshuffle => "bitshuffle",
            Self::Truncate => "truncate",
        }
    }
}

/// The compression of new chunks. It does not matter for reading: the header of each chunk describes its compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compression {
    /// The name of the compressor, which may be unknown.
    pub library: String,
    /// The compression level, 0 to 9.
    pub level: u8,
    /// The filters that are applied before compression, in order.
    pub filters: Vec<ProposalFilter>,
}

impl Default for Compression {
    /// The proposal's example without the filter `truncate`: blosclz at level 5 with byte shuffle.
    fn default() -> Self {
        let library = Compressor::Blosclz.name().to_owned();
        let filters = vec![ProposalFilter::Shuffle];
        Self {
            library,
            level: 5,
            filters,
        }
    }
}

impl Compression {
    /// The compressor for new chunks.
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`] for an unknown name.
    pub fn compressor(&self) -> Result<Compressor> {
        compressor(&self.library)
    }

    /// The filter for new chunks: the first shuffle in the list, or none.
    #[must_use]
    pub fn filter(&self) -> Filter {
        let shuffle = self.filters.iter().find_map(|filter| match filter {
            ProposalFilter::Shuffle => Some(Filter::Byte),
            ProposalFilter::Bitshuffle => Some(Filter::Bit),
            ProposalFilter::Truncate => None,
        });
        shuffle.unwrap_or(Filter::None)
    }
}

/// The content of `meta/storage`. Elements are in C order; Fortran order is refused.
///
/// ```
/// use bloscpack_datasets::{wire::proposal::Elements, wire::proposal::Storage};
/// let text = b"dtype: float64\nchunkshape: (30, 20)\nsuperchunksize: 10\nendianness: little\norder: C\n\
///     compression:\n  library: zstd\n  level: 4\n  filters: [shuffle]\n";
/// let storage = Storage::parse(text)?;
/// assert_eq!(storage.elements, Elements::Of("float64".to_owned()));
/// assert_eq!((storage.chunk_shape.as_slice(), storage.superchunk_chunks), (&[30, 20][..], Some(10)));
/// assert_eq!(storage.encode()?, text);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// The dtype of the elements, or the columns.
    pub elements: Elements,
    /// Elements of a chunk along each axis, rows first; at least 1 each.
    pub chunk_shape: Vec<u64>,
    /// Chunks per superchunk, at least 1; the last one may have fewer. `None`: as many as the first superchunk contains.
    pub superchunk_chunks: Option<u64>,
    /// The byte order of dtypes whose names contain none; little-endian by default.
    pub order: ByteOrder,
    /// The compression of new chunks.
    pub compression: Compression,
    /// The default element if it is not zero. The proposal has no key for it; it is stored as `dflt`.
    pub default: Option<Value>,
}

impl Storage {
    /// Parses the file, up to 16 MiB. Unknown keys are ignored; `dtype` and `chunkshape` are required.
    ///
    /// # Errors
    /// Returns an error if the file is not a YAML map, or if a value is missing or impossible; [`Code::Unsupported`] for
    /// elements in Fortran order and for an unknown filter, which could not be undone; [`Code::OverLimit`] for columns that are
    /// nested too deeply.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let document = yaml::parse(file)?;
        let map = Node {
            path: String::new(),
            value: &document,
        };
        check_order(&map)?;
        Ok(Self {
            elements: elements(&map.need("dtype")?, 0)?,
            chunk_shape: chunk_shape(&map.need("chunkshape")?)?,
            superchunk_chunks: map
                .find("superchunksize")?
                .map(|node| node.count())
                .transpose()?,
            order: byte_order(&map)?,
            compression: match map.find("compression")? {
                Some(node) => compression(&node)?,
                None => Compression::default(),
            },
            default: map.find("dflt")?.map(|node| node.value.clone()),
        })
    }

    /// The bytes of the file, in the style of the proposal's example.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for the filter `truncate`, which this library does not apply, and for values that could
    /// not be read back.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let Compression {
            library,
            level,
            filters,
        } = &self.compression;
        if filters.contains(&ProposalFilter::Truncate) {
            let message = "the filter \"truncate\" is only supported for reading";
            return Err(Error::new(Code::CannotStore, message));
        }
        let mut text = String::new();
        let dtype = Map::from_iter([("dtype".to_owned(), self.elements.value())]);
        yaml::write_map(&mut text, &dtype, 0);
        text.push_str(&format!("chunkshape: {}\n", tuple(&self.chunk_shape)));
        if let Some(chunks) = self.superchunk_chunks {
            text.push_str(&format!("superchunksize: {chunks}\n"));
        }
        let order = match self.order {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        };
        let library = yaml::scalar(library);
        let filters: Vec<_> = filters.iter().map(|filter| filter.name()).collect();
        let filters = filters.join(", ");
        text.push_str(&format!(
            "endianness: {order}\norder: C\ncompression:\n  library: {library}\n  level: {level}\n  filters: [{filters}]\n"
        ));
        if let Some(default) = &self.default {
            let default = Map::from_iter([("dflt".to_owned(), default.clone())]);
            yaml::write_map(&mut text, &default, 0);
        }
        match Self::parse(text.as_bytes()) {
            Ok(again) if again == *self => Ok(text.into_bytes()),
            Ok(_) => Err(Error::new(
                Code::CannotStore,
                "the file would not be the same when read again",
            )),
            Err(error) => Err(Error::new(
                Code::CannotStore,
                format!("the file could not be read again: {error}"),
            )),
        }
    }
}

impl Elements {
    fn value(&self) -> Value {
        match self {
            Self::Of(dtype) => Value::String(dtype.clone()),
            Self::Columns(columns) => {
                let columns = columns.iter();
                Value::Object(
                    columns
                        .map(|(name, elements)| (name.clone(), elements.value()))
                        .collect(),
                )
            }
        }
    }
}

/// A value in the file, and the path of keys to it, joined by dots.
struct Node<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    fn find(&self, key: &str) -> Result<Option<Node<'a>>> {
        let map = self.value.as_object().ok_or_else(|| self.wrong("a map"))?;
        let value = map.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| self.below(key, value)))
    }

    fn need(&self, key: &str) -> Result<Node<'a>> {
        self.find(key)?.ok_or_else(|| {
            let path = self.below(key, self.value).path;
            Error::new(Code::Metadata, format!("\"{path}\" is missing"))
        })
    }

    fn below(&self, key: &str, value: &'a Value) -> Node<'a> {
        let key = shown(key);
        // Every node has its own copy of the path, so the path must not grow with the depth.
        let path = match self.path.as_str() {
            "" => key,
            path if path.len() > MAX_PATH => path.to_owned(),
            path => format!("{path}.{key}"),
        };
        Node { path, value }
    }

    fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    /// The value as an integer, 1 or more.
    fn count(&self) -> Result<u64> {
        let count = self.value.as_u64().filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong("an integer, 1 or more"))
    }

    fn wrong(&self, expected: &str) -> Error {
        let found = shown(&self.value.to_string());
        let name = match self.path.as_str() {
            "" => "the file".to_owned(),
            path => format!("\"{}\"", shown(path)),
        };
        wrong_value(Code::Metadata, name, found, expected)
    }
}

fn elements(node: &Node<'_>, depth: usize) -> Result<Elements> {
    match node.value {
        Value::Object(_) if depth >= MAX_DEPTH => Err(Error::new(
            Code::OverLimit,
            format!("columns are nested more than {MAX_DEPTH} deep"),
        )),
        Value::String(dtype) if !dtype.is_empty() => Ok(Elements::Of(dtype.clone())),
        Value::Object(columns) if !columns.is_empty() => {
            let column = |(name, value): (&String, _)| {
                elements(&node.below(name, value), depth + 1)
                    .map(|elements| (name.clone(), elements))
            };
            let columns: Result<_> = columns.iter().map(column).collect();
            columns.map(Elements::Columns)
        }
        _ => Err(node.wrong("the name of a type, or columns with their types")),
    }
}

/// Parses a shape: a tuple as text, or a YAML list.
fn chunk_shape(node: &Node<'_>) -> Result<Vec<u64>> {
    let shape = match node.value {
        Value::String(text) => parse_tuple(text),
        Value::Array(items) => items.iter().map(Value::as_u64).collect(),
        _ => None,
    };
    let shape = shape.filter(|shape| !shape.contains(&0));
    shape.ok_or_else(|| node.wrong("a shape such as (30, 20), of integers from 1 on"))
}

/// Refuses elements in Fortran order, which would otherwise be read in the wrong order.
fn check_order(map: &Node<'_>) -> Result<()> {
    let Some(node) = map.find("order")? else {
        return Ok(());
    };
    match node.text()? {
        "C" => Ok(()),
        "F" => Err(Error::new(
            Code::Unsupported,
            "\"order\" is F, which is not supported: should be C",
        )),
        _ => Err(node.wrong("C or F")),
    }
}

fn byte_order(map: &Node<'_>) -> Result<ByteOrder> {
    let Some(node) = map.find("endianness")? else {
        return Ok(ByteOrder::Little);
    };
    match node.text()? {
        "little" => Ok(ByteOrder::Little),
        "big" => Ok(ByteOrder::Big),
        _ => Err(node.wrong("little or big")),
    }
}

fn compression(map: &Node<'_>) -> Result<Compression> {
    let default = Compression::default();
    let level = |node: Node<'_>| {
        let level = node
            .value
            .as_u64()
            .and_then(|level| u8::try_from(level).ok());
        level
            .filter(|level| *level <= 9)
            .ok_or_else(|| node.wrong("0 to 9"))
    };
    Ok(Compression {
        library: match map.find("library")? {
            Some(node) => node.text()?.to_owned(),
            None => default.library,
        },
        level: map.find("level")?.map_or(Ok(default.level), level)?,
        filters: match map.find("filters")? {
            Some(node) => filters(&node)?,
            None => default.filters,
        },
    })
}

fn filters(node: &Node<'_>) -> Result<Vec<ProposalFilter>> {
    let items = node
        .value
        .as_array()
        .ok_or_else(|| node.wrong("a list of filters"))?;
    items.iter().map(|item| filter(node, item)).collect()
}

/// The filter of this name. Unknown filters are refused, because their effect could not be undone.
fn filter(node: &Node<'_>, item: &Value) -> Result<ProposalFilter> {
    let name = item
        .as_str()
        .ok_or_else(|| node.wrong("a list of filters"))?;
    let known = ProposalFilter::ALL
        .into_iter()
        .find(|known| known.name() == name);
    known.ok_or_else(|| {
        unknown_name(
            "filter",
            name,
            &ProposalFilter::ALL.map(ProposalFilter::name),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Compression, Elements, ProposalFilter, Storage};
    use blosc1::{Compressor, Filter};
    use bloscpack_dtype::ByteOrder;
    use bloscpack_error::Category;

    /// The example of the proposal, including the space after `dtype:`.
    const EXAMPLE: &str = "dtype: \n  col1: int8\n  col2: float32\nchunkshape: (30, 20)\nsuperchunksize: 10  # max. number of chunks in a single file\nendianness: big  # default: little\norder: C         # default: C\ncompression:\n  library: blosclz   # could be zlib, fastlz or others\n  level: 5\n  filters: [shuffle, truncate]  # order matters\n";

    fn parsed(text: &str) -> Storage {
        Storage::parse(text.as_bytes()).unwrap()
    }

    fn columns(columns: &[(&str, Elements)]) -> Elements {
        Elements::Columns(
            columns
                .iter()
                .map(|(name, elements)| ((*name).to_owned(), elements.clone()))
                .collect(),
        )
    }

    fn of(dtype: &str) -> Elements {
        Elements::Of(dtype.to_owned())
    }

    #[test]
    fn the_proposals_example_is_read() {
        let storage = parsed(EXAMPLE);
        assert_eq!(
            storage.elements,
            columns(&[("col1", of("int8")), ("col2", of("float32"))])
        );
        assert_eq!(
            (storage.chunk_shape, storage.superchunk_chunks),
            (vec![30, 20], Some(10))
        );
        assert_eq!(storage.order, ByteOrder::Big);
        let compression = storage.compression;
        assert_eq!(
            (compression.compressor().unwrap(), compression.filter()),
            (Compressor::Blosclz, Filter::Byte)
        );
        assert_eq!(
            compression.filters,
            [ProposalFilter::Shuffle, ProposalFilter::Truncate]
        );
    }

    #[test]
    fn it_is_written_as_the_proposal_lays_it_out() {
        let mut storage = parsed(EXAMPLE);
        assert_eq!(storage.encode().unwrap_err().category(), Category::Usage);
        storage.compression.filters.pop();
        let expected = "dtype:\n  col1: int8\n  col2: float32\nchunkshape: (30, 20)\nsuperchunksize: 10\nendianness: big\norder: C\ncompression:\n  library: blosclz\n  level: 5\n  filters: [shuffle]\n";
        assert_eq!(
            String::from_utf8(storage.encode().unwrap()).unwrap(),
            expected
        );
    }

    #[test]
    fn missing_keys_have_defaults() {
        let storage = parsed("dtype: int8\nchunkshape: (5,)\n");
        assert_eq!(
            (storage.order, storage.superchunk_chunks),
            (ByteOrder::Little, None)
        );
        assert_eq!(storage.compression, Compression::default());
        assert_eq!(
            parsed("dtype: int8\nchunkshape: [5, 6]\nmore: 1\n").chunk_shape,
            [5, 6]
        );
    }

    #[test]
    fn nested_columns_and_odd_names_come_back() {
        let inner = columns(&[("sc1", of(">i4")), ("sc 2", of("|S10"))]);
        let elements = columns(&[
            ("yes", of("float64")),
            ("\u{e9}t\u{e9}", inner),
            ("1", of("U7")),
        ]);
        let storage = Storage {
            elements,
            ..parsed(EXAMPLE)
        };
        let storage = Storage {
            compression: Compression {
                filters: Vec::new(),
                ..Compression::default()
            },
            ..storage
        };
        let file = storage.encode().unwrap();
        assert_eq!(Storage::parse(&file).unwrap(), storage);
        assert!(file.starts_with(b"dtype:\n  \"yes\": float64\n  \"\\xe9t\\xe9\":\n    sc1: \">i4\"\n    \"sc 2\": \"|S10\"\n  \"1\": U7\n"));
        assert_eq!(
            storage.elements.leaves().last().unwrap(),
            &(vec!["1"], "U7")
        );
        assert_eq!(storage.compression.filter(), Filter::None);
    }

    #[test]
    fn impossible_values_are_refused_and_named() {
        let wrong = [
            (
                "order: C ",
                "order: F ",
                Category::Unsupported,
                "\"order\" is F, which is not supported",
            ),
            (
                "order: C ",
                "order: c ",
                Category::Damaged,
                "\"order\" is \"c\", should be C or F",
            ),
            (
                "truncate]",
                "delta]",
                Category::Unsupported,
                "unknown filter \"delta\"; known are shuffle, bitshuffle, truncate",
            ),
            (
                "[shuffle, truncate]",
                "shuffle",
                Category::Damaged,
                "\"compression.filters\"",
            ),
            (
                "level: 5",
                "level: 10",
                Category::Damaged,
                "\"compression.level\" is 10, should be 0 to 9",
            ),
            (
                "level: 5",
                "level: x",
                Category::Damaged,
                "\"compression.level\"",
            ),
            ("(30, 20)", "(30, 0)", Category::Damaged, "\"chunkshape\""),
            ("(30, 20)", "30", Category::Damaged, "\"chunkshape\""),
            ("(30, 20)", "[30, -1]", Category::Damaged, "\"chunkshape\""),
            (
                "superchunksize: 10",
                "superchunksize: 0",
                Category::Damaged,
                "\"superchunksize\"",
            ),
            ("big", "middle", Category::Damaged, "\"endianness\""),
            (
                "col1: int8",
                "col1:",
                Category::Damaged,
                "\"dtype.col1\" is null",
            ),
            ("col1: int8", "col1: 8", Category::Damaged, "\"dtype.col1\""),
            ("dtype:", "type:", Category::Damaged, "\"dtype\" is missing"),
            (
                "chunkshape:",
                "shape:",
                Category::Damaged,
                "\"chunkshape\" is missing",
            ),
        ];
        for (old, new, category, message) in wrong {
            let text = EXAMPLE.replacen(old, new, 1);
            assert_ne!(text, EXAMPLE);
            let error = Storage::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), category, "{text}");
            assert!(error.to_string().starts_with(message), "{error}");
        }
        assert_eq!(
            Storage::parse(b"- a\n").unwrap_err().to_string(),
            "the file is [\"a\"], should be a map"
        );
    }

    #[test]
    fn an_unknown_library_does_not_prevent_reading() {
        let compression = parsed(&EXAMPLE.replace("blosclz", "fastlz")).compression;
        assert_eq!(
            compression.compressor().unwrap_err().category(),
            Category::Unsupported
        );
    }

    #[test]
    fn unreadable_values_are_not_written() {
        let storage = parsed("dtype: int8\nchunkshape: (5,)\n");
        let twice = columns(&[("a", of("int8")), ("a", of("int16"))]);
        for wrong in [
            Storage {
                elements: columns(&[]),
                ..storage.clone()
            },
            Storage {
                elements: twice,
                ..storage.clone()
            },
            Storage {
                chunk_shape: vec![0],
                ..storage.clone()
            },
            Storage {
                superchunk_chunks: Some(0),
                ..storage.clone()
            },
            Storage {
                compression: Compression {
                    level: 10,
                    ..Compression::default()
                },
                ..storage.clone()
            },
        ] {
            assert_eq!(wrong.encode().unwrap_err().category(), Category::Usage);
        }
    }
}
