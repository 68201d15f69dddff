//! `meta/storage`: what the elements are, and how new chunks are made.
//!
//! ```text
//! {"dtype": "int64", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!  "chunklen": 256, "expectedlen": 1000, "dflt": 0}                               bcolz
//! {"dtype": "int64", "bparams": {"shuffle": true, "clevel": 5},
//!  "chunklen": 256, "dflt": 0, "expectedlen": 1000}                               BLZ
//! {"dtype": "int64", "cparams": {"shuffle": true, "clevel": 5},
//!  "chunklen": 256, "dflt": 0, "expectedlen": 1000}                               the documents, carray
//! ```

use super::error::{MetaError, shown};
use super::object::{Field, Object};
use super::python_json::{python_json, write_string};
use blosc1::{Compressor, Filter};
use bloscpack_wire::json;
use serde_json::Value;
use std::fmt::Write as _;

/// Where rows are arrays, old writers list all values of a default row.
const MAX_LEN: usize = 64 << 20;
/// As a value, a nested dtype takes far more memory than its text.
const MAX_DTYPE: usize = 1 << 20;
/// The compressor of those writers that do not name it.
const UNNAMED: Compressor = Compressor::Blosclz;

/// How a dtype is written down; what it means is told by [`DType`](bloscpack_dtype::DType).
#[derive(Debug, Clone, PartialEq)]
pub enum DtypeText {
    /// NumPy's name or description of it, as `int32` or `[('a', '<i4'), ('b', '<f8')]`.
    Text(String),
    /// A nested list of descriptions, as datasets of the BLZ document may have.
    Nested(Value),
}

/// The key under which the parameters of compression lie. It is what bcolz and BLZ differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamsKey {
    /// `cparams`: bcolz, carray, and the documents.
    Cparams,
    /// `bparams`: BLZ.
    Bparams,
}

impl ParamsKey {
    /// The key as it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cparams => "cparams",
            Self::Bparams => "bparams",
        }
    }
}

/// Whose spelling a file has; they differ in keys, their order, and what has a place at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageStyle {
    /// bcolz from 1.1, on Python 3: says everything.
    Bcolz,
    /// BLZ 0.6: `bparams`, the filter as yes or no, no compressor.
    Blz,
    /// The documents' examples, which are also carray's spelling. What these cannot say (bitshuffle,
    /// another compressor than blosclz, quantization) is added as bcolz would spell it.
    Document,
}

/// What `meta/storage` says.
///
/// Chunks tell for themselves how they are compressed: of these, only `dtype` and `chunk_rows` matter for
/// reading.
///
/// ```
/// use bloscpack_datasets::{wire::DtypeText, wire::ParamsKey, wire::Storage, wire::StorageStyle};
/// use blosc1::{Compressor, Filter};
/// let text = concat!(
///     r#"{"dtype": "float64", "cparams": {"clevel": 5, "shuffle": 2, "cname": "lz4", "quantize": 3}, "#,
///     r#""chunklen": 256, "expectedlen": 1000, "dflt": NaN}"#,
///     "\n"
/// );
/// let storage = Storage::parse(text.as_bytes())?;
/// assert_eq!(storage.dtype, DtypeText::Text("float64".to_owned()));
/// assert_eq!((storage.params_key, storage.filter), (ParamsKey::Cparams, Filter::Bit));
/// assert_eq!((storage.compressor()?, storage.default.as_str()), (Compressor::Lz4, "NaN"));
/// assert_eq!(storage.encode(StorageStyle::Bcolz)?, text.as_bytes());
/// # Ok::<(), bloscpack_datasets::wire::MetaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// What an element is. The shape of a row is not part of it.
    pub dtype: DtypeText,
    /// The key that the parameters were found under; writing goes by the [`StorageStyle`].
    pub params_key: ParamsKey,
    /// Level of compression, 0 to 9.
    pub level: u8,
    /// What comes before compression.
    pub filter: Filter,
    /// The compressor's name, known or not; `blosclz` where the file does not say.
    pub compressor_name: String,
    /// Bits to which floats were rounded before they were compressed; 0 and `None` are not at all.
    pub quantize: Option<i64>,
    /// Rows of every chunk but the last, at least 1.
    pub chunk_rows: u64,
    /// Rows that the writer thought there would be.
    pub expected_rows: u64,
    /// The value of rows that nobody has written: JSON text, in which Python's `NaN`, `Infinity` and
    /// `-Infinity` may occur. Old writers list all elements of a row here, new ones give one.
    pub default: String,
}

impl Storage {
    /// Parses the file, whoever wrote it; the order of the keys means nothing.
    ///
    /// # Errors
    /// It is not a JSON object, something is missing, or not what it should be.
    pub fn parse(file: &[u8]) -> Result<Self, MetaError> {
        let object = Object::parse(file, MAX_LEN)?;
        let (params_key, params) = params(object)?;
        let chunk_rows = object.need("chunklen")?;
        if chunk_rows.whole()? == 0 {
            return Err(chunk_rows.wrong("1 or more"));
        }
        Ok(Self {
            dtype: dtype(&object.need("dtype")?)?,
            params_key,
            level: level(&params.need("clevel")?)?,
            filter: filter(&params.need("shuffle")?)?,
            compressor_name: match params.find("cname") {
                Some(name) => name.string()?,
                None => UNNAMED.name().to_owned(),
            },
            quantize: match params.find("quantize") {
                Some(bits) if bits.text != "null" => Some(bits.signed()?),
                _ => None,
            },
            chunk_rows: chunk_rows.whole()?,
            expected_rows: object.need("expectedlen")?.whole()?,
            default: object.need("dflt")?.text.to_owned(),
        })
    }

    /// The compressor for new chunks.
    ///
    /// # Errors
    /// [`Fault::Unsupported`](blosc1::Fault::Unsupported) if there is none of this name. The chunks may be
    /// readable all the same: they tell what they are compressed with.
    pub fn compressor(&self) -> Result<Compressor, MetaError> {
        self.compressor_name.parse().map_err(|_| {
            let names: Vec<_> = Compressor::ALL.iter().map(|known| known.name()).collect();
            let (name, names) = (shown(&self.compressor_name), names.join(", "));
            MetaError::unsupported(format!(
                "no compressor is called \"{name}\"; there are {names}"
            ))
        })
    }

    /// The default as a value; `null` for what only Python knows.
    #[must_use]
    pub fn default_value(&self) -> Value {
        json::parse(self.default.as_bytes()).unwrap_or_default()
    }

    /// The file in this spelling.
    ///
    /// # Errors
    /// [`Fault::Usage`](blosc1::Fault::Usage) for what the spelling has no place for, and for a default that
    /// is not JSON.
    pub fn encode(&self, style: StorageStyle) -> Result<Vec<u8>, MetaError> {
        let default = self.default.trim_ascii();
        let nested = match &self.dtype {
            DtypeText::Text(_) => None,
            DtypeText::Nested(list) => Some(python_json(list)),
        };
        if let Some(found) = nested.map(|text| text.len()).filter(|len| *len > MAX_DTYPE) {
            return Err(MetaError::over_limit(format!(
                "a dtype of {found} bytes is over the limit of {MAX_DTYPE}"
            )));
        }
        json::check(default.as_bytes())
            .map_err(|error| MetaError::usage(format!("the default is not JSON: {error}")))?;
        let mut text = "{\"dtype\": ".to_owned();
        match (&self.dtype, style) {
            (DtypeText::Text(dtype), _) => write_string(&mut text, dtype),
            (DtypeText::Nested(list), StorageStyle::Document) => text.push_str(&python_json(list)),
            (DtypeText::Nested(_), _) => {
                return Err(MetaError::usage(
                    "bcolz and BLZ have no place for a nested list as dtype; the BLZ document has",
                ));
            }
        }
        text.push_str(&self.params_text(style)?);
        let (chunk_rows, expected_rows) = (self.chunk_rows, self.expected_rows);
        // Writing to a string never fails.
        let _ = match style {
            StorageStyle::Bcolz => writeln!(
                text,
                ", \"chunklen\": {chunk_rows}, \"expectedlen\": {expected_rows}, \"dflt\": {default}}}"
            ),
            StorageStyle::Blz | StorageStyle::Document => writeln!(
                text,
                ", \"chunklen\": {chunk_rows}, \"dflt\": {default}, \"expectedlen\": {expected_rows}}}"
            ),
        };
        if text.len() > MAX_LEN {
            let found = text.len();
            return Err(MetaError::over_limit(format!(
                "{found} bytes are over the limit of {MAX_LEN}"
            )));
        }
        Ok(text.into_bytes())
    }

    fn params_text(&self, style: StorageStyle) -> Result<String, MetaError> {
        let level = self.level;
        let quantize = self.quantize.unwrap_or(0);
        let number = shuffle_number(self.filter);
        let shuffled = self.filter != Filter::None;
        let mut name = String::new();
        write_string(&mut name, &self.compressor_name);
        match style {
            StorageStyle::Bcolz => Ok(format!(
                ", \"cparams\": {{\"clevel\": {level}, \"shuffle\": {number}, \"cname\": {name}, \"quantize\": {quantize}}}"
            )),
            StorageStyle::Blz if self.filter == Filter::Bit => Err(MetaError::usage(
                "BLZ knows no bitshuffle: should be byte shuffle or none",
            )),
            StorageStyle::Blz => Ok(format!(
                ", \"bparams\": {{\"shuffle\": {shuffled}, \"clevel\": {level}}}"
            )),
            StorageStyle::Document => {
                let shuffle = match self.filter {
                    Filter::Bit => number.to_string(),
                    Filter::None | Filter::Byte => shuffled.to_string(),
                };
                let mut more = String::new();
                if self.compressor_name != UNNAMED.name() {
                    let _ = write!(more, ", \"cname\": {name}");
                }
                if quantize != 0 {
                    let _ = write!(more, ", \"quantize\": {quantize}");
                }
                Ok(format!(
                    ", \"cparams\": {{\"shuffle\": {shuffle}, \"clevel\": {level}{more}}}"
                ))
            }
        }
    }
}

fn params(object: Object<'_>) -> Result<(ParamsKey, Object<'_>), MetaError> {
    for key in [ParamsKey::Cparams, ParamsKey::Bparams] {
        if let Some(field) = object.find(key.name()) {
            return Ok((key, field.object()?));
        }
    }
    Err(object.missing("\"cparams\" or \"bparams\""))
}

fn dtype(field: &Field<'_>) -> Result<DtypeText, MetaError> {
    if !field.text.starts_with('[') {
        let text = field.string();
        return text
            .map(DtypeText::Text)
            .map_err(|_| field.wrong("a string, or a nested list"));
    }
    if field.text.len() > MAX_DTYPE {
        let found = field.text.len();
        return Err(MetaError::over_limit(format!(
            "\"dtype\" has {found} bytes, over the limit of {MAX_DTYPE}"
        )));
    }
    let nested = serde_json::from_str(field.text);
    nested
        .map(DtypeText::Nested)
        .map_err(|_| field.wrong("a string, or a nested list of them"))
}

fn level(field: &Field<'_>) -> Result<u8, MetaError> {
    let level = field.text.parse().ok().filter(|level| *level <= 9);
    level.ok_or_else(|| field.wrong("0 to 9"))
}

/// Old writers say yes or no, new ones the number of the filter, or yes if that is what they were told.
fn filter(field: &Field<'_>) -> Result<Filter, MetaError> {
    match field.text {
        "false" | "0" => Ok(Filter::None),
        "true" | "1" => Ok(Filter::Byte),
        "2" => Ok(Filter::Bit),
        _ => Err(field.wrong("true, false, 0 (none), 1 (byte) or 2 (bit)")),
    }
}

fn shuffle_number(filter: Filter) -> u8 {
    match filter {
        Filter::None => 0,
        Filter::Byte => 1,
        Filter::Bit => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::{DtypeText, ParamsKey, Storage, StorageStyle};
    use blosc1::{Compressor, Fault, Filter};
    use serde_json::{Value, json};

    fn parsed(text: &str) -> Storage {
        Storage::parse(text.as_bytes()).unwrap()
    }

    fn encoded(storage: &Storage, style: StorageStyle) -> String {
        String::from_utf8(storage.encode(style).unwrap()).unwrap()
    }

    /// The examples of the bcolz and BLZ documents.
    #[test]
    fn documents_examples_are_read_and_written() {
        let bcolz = "{\"dtype\": \"int32\", \"cparams\": {\"shuffle\": true, \"clevel\": 5}, \"chunklen\": 65536, \"dflt\": 0, \"expectedlen\": 100000}\n";
        let blz = "{\"dtype\": \"float64\", \"cparams\": {\"shuffle\": true, \"clevel\": 5}, \"chunklen\": 16384, \"dflt\": 0.0, \"expectedlen\": 10000000}\n";
        let storage = parsed(bcolz);
        assert_eq!(storage.dtype, DtypeText::Text("int32".to_owned()));
        assert_eq!((storage.level, storage.filter), (5, Filter::Byte));
        assert_eq!(
            (storage.chunk_rows, storage.expected_rows),
            (65536, 100_000)
        );
        assert_eq!(
            (storage.compressor(), storage.quantize),
            (Ok(Compressor::Blosclz), None)
        );
        for text in [bcolz, blz] {
            assert_eq!(encoded(&parsed(text), StorageStyle::Document), text);
        }
    }

    /// What bcolz 1.2.1 and 0.12.1, BLZ 0.6 and carray 0.5 wrote.
    #[test]
    fn real_files_are_read() {
        let texts = [
            (
                r#"{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 2, "cname": "zstd", "quantize": 0}, "chunklen": 500, "expectedlen": 2100, "dflt": 0}"#,
                Filter::Bit,
                "0",
            ),
            (
                r#"{"dtype": "int64", "cparams": {"quantize": 0, "cname": "lz4", "shuffle": 1, "clevel": 5}, "chunklen": 100, "dflt": 0, "expectedlen": 250}"#,
                Filter::Byte,
                "0",
            ),
            (
                r#"{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": true}, "chunklen": 10, "expectedlen": 25, "dflt": [7, 7, 7]}"#,
                Filter::Byte,
                "[7, 7, 7]",
            ),
            (
                r#"{"dtype": "float64", "cparams": {"clevel": 5, "shuffle": false}, "chunklen": 500, "expectedlen": 2100, "dflt": 0.0}"#,
                Filter::None,
                "0.0",
            ),
            (
                r#"{"dtype": "<U7", "bparams": {"shuffle": true, "clevel": 5}, "chunklen": 10, "dflt": "\u00e9\u20ac", "expectedlen": 25}"#,
                Filter::Byte,
                r#""\u00e9\u20ac""#,
            ),
            (
                r#"{"dtype": "float64", "bparams": {"shuffle": true, "clevel": 5}, "chunklen": 10, "dflt": -Infinity, "expectedlen": 25}"#,
                Filter::Byte,
                "-Infinity",
            ),
            (
                r#"{"dtype": "datetime64", "cparams": {"shuffle": true, "clevel": 5}, "chunklen": 10, "dflt": null, "expectedlen": 25}"#,
                Filter::Byte,
                "null",
            ),
        ];
        for (text, filter, default) in texts {
            let storage = parsed(text);
            assert_eq!(
                (storage.filter, storage.default.as_str()),
                (filter, default),
                "{text}"
            );
            let key = if text.contains("bparams") {
                ParamsKey::Bparams
            } else {
                ParamsKey::Cparams
            };
            assert_eq!(storage.params_key, key);
        }
    }

    #[test]
    fn numbers_that_only_python_knows_are_null_as_values() {
        let storage = parsed(
            r#"{"dtype": "float64", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": 1, "expectedlen": 0, "dflt": [NaN, 1.5]}"#,
        );
        assert_eq!(storage.default_value(), json!([null, 1.5]));
    }

    #[test]
    fn a_compressor_that_nobody_knows_is_no_reason_not_to_read() {
        let storage = parsed(
            r#"{"dtype": "int8", "cparams": {"clevel": 5, "shuffle": 1, "cname": "brotli", "quantize": null}, "chunklen": 1, "expectedlen": 0, "dflt": 0}"#,
        );
        let error = storage.compressor().unwrap_err();
        assert_eq!(error.fault(), Fault::Unsupported);
        assert!(
            error
                .to_string()
                .starts_with("no compressor is called \"brotli\"; there are blosclz, lz4,")
        );
        assert_eq!(storage.quantize, None);
        assert!(
            encoded(&storage, StorageStyle::Bcolz).contains(r#""cname": "brotli", "quantize": 0}"#)
        );
    }

    const SOUND: &str = r#"{"dtype": "int8", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": 1, "expectedlen": 0, "dflt": 0}"#;

    #[test]
    fn what_cannot_be_is_refused_and_named() {
        let wrong = [
            (
                "\"clevel\": 5",
                "\"clevel\": 10",
                "\"clevel\" (line 1, column 41) is 10, should be 0 to 9",
            ),
            ("\"clevel\": 5", "\"clevel\": -1", "\"clevel\""),
            ("\"clevel\": 5, ", "", "\"clevel\" is missing"),
            ("\"shuffle\": 1", "\"shuffle\": 3", "\"shuffle\""),
            ("\"shuffle\": 1", "\"shuffle\": 1.0", "\"shuffle\""),
            ("\"chunklen\": 1", "\"chunklen\": 0", "\"chunklen\""),
            ("\"chunklen\": 1", "\"chunklen\": -1", "\"chunklen\""),
            ("\"chunklen\": 1", "\"chunklen\": 1e30", "\"chunklen\""),
            ("\"chunklen\": 1, ", "", "\"chunklen\" is missing"),
            (
                "\"expectedlen\": 0",
                "\"expectedlen\": \"0\"",
                "\"expectedlen\"",
            ),
            (", \"dflt\": 0", "", "\"dflt\" is missing"),
            ("\"int8\"", "8", "\"dtype\""),
            ("\"int8\"", "[NaN]", "\"dtype\""),
            (
                "\"cparams\"",
                "\"params\"",
                "\"cparams\" or \"bparams\" is missing; the keys are \"dtype\", \"params\"",
            ),
            ("{\"clevel\": 5, \"shuffle\": 1}", "[5, 1]", "\"cparams\""),
        ];
        for (old, new, message) in wrong {
            let text = SOUND.replacen(old, new, 1);
            assert_ne!(text, SOUND);
            let error = Storage::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.fault(), Fault::Damaged, "{text}");
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }

    #[test]
    fn nested_dtypes_are_for_the_document_alone() {
        let nested = r#"[["a", "<i4"], ["b", [["c", "<f8"]]]]"#;
        let text = SOUND.replacen("\"int8\"", nested, 1);
        let storage = parsed(&text);
        let value: Value = serde_json::from_str(nested).unwrap();
        assert_eq!(storage.dtype, DtypeText::Nested(value));
        assert!(
            encoded(&storage, StorageStyle::Document)
                .starts_with(&format!("{{\"dtype\": {nested}, "))
        );
        for style in [StorageStyle::Bcolz, StorageStyle::Blz] {
            assert_eq!(storage.encode(style).unwrap_err().fault(), Fault::Usage);
        }
        let long = SOUND.replacen("\"int8\"", &format!("[{}0]", "0,".repeat(1 << 20)), 1);
        assert_eq!(
            Storage::parse(long.as_bytes()).unwrap_err().fault(),
            Fault::OverLimit
        );
    }

    #[test]
    fn what_a_style_cannot_say_is_refused_or_added() {
        let storage = Storage {
            filter: Filter::Bit,
            compressor_name: "zstd".to_owned(),
            quantize: Some(3),
            ..parsed(SOUND)
        };
        assert_eq!(
            storage.encode(StorageStyle::Blz).unwrap_err().fault(),
            Fault::Usage
        );
        let text = encoded(&storage, StorageStyle::Document);
        let params = r#""cparams": {"shuffle": 2, "clevel": 5, "cname": "zstd", "quantize": 3}"#;
        assert!(text.contains(params), "{text}");
        assert_eq!(parsed(&text), storage);
        let bad = Storage {
            default: "0, \"x\": 1".to_owned(),
            ..parsed(SOUND)
        };
        assert_eq!(
            bad.encode(StorageStyle::Bcolz).unwrap_err().fault(),
            Fault::Usage
        );
    }
}
