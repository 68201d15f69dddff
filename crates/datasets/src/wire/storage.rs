//! `meta/storage`: the dtype, the chunk length, and the compression of new chunks.
//!
//! ```text
//! {"dtype": "int64", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!  "chunklen": 256, "expectedlen": 1000, "dflt": 0}                               bcolz
//! {"dtype": "int64", "bparams": {"shuffle": true, "clevel": 5},
//!  "chunklen": 256, "dflt": 0, "expectedlen": 1000}                               BLZ
//! {"dtype": "int64", "cparams": {"shuffle": true, "clevel": 5},
//!  "chunklen": 256, "dflt": 0, "expectedlen": 1000}                               the documents, carray
//! ```

use blosc1::{Compressor, Filter};
use bloscpack_array::json::python_json;
use bloscpack_array::json::{Field, Object};
use bloscpack_array::json::{too_long, unknown_name};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::{json as python, to_u64};
use serde_json::{Map, Value, json};

/// Bytes of the longest file. Old writers list all elements of a default row.
const MAX_LEN: usize = 64 << 20;
/// Bytes of the longest nested dtype. As a JSON value it takes far more memory.
const MAX_DTYPE: usize = 1 << 20;
/// The compressor if the file does not name one.
const UNNAMED: Compressor = Compressor::Blosclz;

/// A dtype as the file spells it; [`DType::parse`](bloscpack_dtype::DType::parse) and
/// [`DType::from_json`](bloscpack_dtype::DType::from_json) parse it.
#[derive(Debug, Clone, PartialEq)]
pub enum DtypeText {
    /// NumPy's spelling, such as `int32` or `[('a', '<i4'), ('b', '<f8')]`.
    Text(String),
    /// A nested JSON list of fields, as the BLZ document allows. It describes a table.
    Nested(Value),
}

/// The key of the compression parameters, which differs between bcolz and BLZ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamsKey {
    /// `cparams`: bcolz, carray, and the documents.
    Cparams,
    /// `bparams`: BLZ.
    Bparams,
}

impl ParamsKey {
    /// The key in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cparams => "cparams",
            Self::Bparams => "bparams",
        }
    }
}

/// The spelling of a file, by the program that writes it. Spellings differ in their keys, the order of the keys, and the values
/// that they can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageStyle {
    /// bcolz from 1.1, with Python 3. Expresses everything except nested dtypes.
    Bcolz,
    /// BLZ 0.6: `bparams`, shuffle as true or false, and no compressor.
    Blz,
    /// The examples of the documents, and carray. Bitshuffle, compressors other than blosclz, and quantization, which they
    /// cannot express, are added in bcolz's spelling.
    Document,
}

/// The content of `meta/storage`.
///
/// Only `dtype` and `chunk_rows` matter for reading: the header of each chunk describes its compression.
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
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// The dtype of an element, without the shape of a row.
    pub dtype: DtypeText,
    /// The key of the parameters in the file that was read. [`encode`](Self::encode) uses the key of its [`StorageStyle`]
    /// instead.
    pub params_key: ParamsKey,
    /// The compression level, 0 to 9.
    pub level: u8,
    /// The filter that is applied before compression.
    pub filter: Filter,
    /// The name of the compressor, which may be unknown; `blosclz` if the file has none.
    pub compressor_name: String,
    /// The bits to which floats were rounded before compression; 0 for no rounding, `None` if the file has no such key.
    pub quantize: Option<i64>,
    /// Rows of a full chunk; at least 1.
    pub chunk_rows: u64,
    /// The number of rows that the creator expected.
    pub expected_rows: u64,
    /// The default element, as JSON text that may contain Python's `NaN`, `Infinity` and `-Infinity`. Old writers list all
    /// elements of a row; new ones write one.
    pub default: String,
}

impl Storage {
    /// Parses the file of any writer, up to 64 MiB. The order of the keys does not matter, and unknown keys are ignored. Dtype,
    /// compressor name and default are not interpreted.
    ///
    /// # Errors
    /// Returns an error if the file is not a JSON object, and an error that names the key if a value is missing or impossible.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let object = Object::parse(file, MAX_LEN)?;
        let (params_key, params) = params(object)?;
        let chunk_rows = object.need("chunklen")?;
        if chunk_rows.unsigned()? == 0 {
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
            chunk_rows: chunk_rows.unsigned()?,
            expected_rows: object.need("expectedlen")?.unsigned()?,
            default: object.need("dflt")?.text.to_owned(),
        })
    }

    /// The compressor for new chunks.
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`] for an unknown name. Existing chunks may still be readable: their headers name their
    /// compressor.
    pub fn compressor(&self) -> Result<Compressor> {
        compressor(&self.compressor_name)
    }

    /// The default as a JSON value. Python's NaN and infinities, which JSON lacks, are strings such as `"NaN"`. Null if the
    /// text is not JSON.
    #[must_use]
    pub fn default_value(&self) -> Value {
        python::parse(self.default.as_bytes()).unwrap_or_default()
    }

    /// The bytes of the file in this spelling.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for values that the spelling cannot express, and for a default that is not JSON;
    /// [`Code::OverLimit`] if the file would exceed 64 MiB, or a nested dtype 1 MiB.
    pub fn encode(&self, style: StorageStyle) -> Result<Vec<u8>> {
        let dtype = self.dtype_json(style)?;
        let default = self.default.trim_ascii();
        python::check(default.as_bytes()).map_err(|error| {
            Error::new(
                Code::CannotStore,
                format!("the default is not JSON: {error}"),
            )
        })?;
        let (key, params) = self.params(style)?;
        let (key, params) = (key.name(), python_json(&params));
        let (rows, expected) = (self.chunk_rows, self.expected_rows);
        // The default stays text, since it may contain Python's NaN and infinities.
        let tail = match style {
            StorageStyle::Bcolz => format!("\"expectedlen\": {expected}, \"dflt\": {default}"),
            StorageStyle::Blz | StorageStyle::Document => {
                format!("\"dflt\": {default}, \"expectedlen\": {expected}")
            }
        };
        let text =
            format!("{{\"dtype\": {dtype}, \"{key}\": {params}, \"chunklen\": {rows}, {tail}}}\n");
        check_len("file", &text, MAX_LEN)?;
        Ok(text.into_bytes())
    }

    fn dtype_json(&self, style: StorageStyle) -> Result<String> {
        let list = match &self.dtype {
            DtypeText::Text(text) => return Ok(python_json(&text.as_str().into())),
            DtypeText::Nested(list) => list,
        };
        let text = python_json(list);
        check_len("dtype", &text, MAX_DTYPE)?;
        match style {
            StorageStyle::Document => Ok(text),
            StorageStyle::Bcolz | StorageStyle::Blz => Err(Error::new(
                Code::CannotStore,
                "bcolz and BLZ do not support a nested list as dtype; the layout of the BLZ document does",
            )),
        }
    }

    /// The key of the compression parameters, and the parameters in the order of the style.
    fn params(&self, style: StorageStyle) -> Result<(ParamsKey, Value)> {
        let (level, name) = (self.level, self.compressor_name.as_str());
        let number = shuffle_number(self.filter);
        let is_shuffled = self.filter != Filter::None;
        let quantize = self.quantize.unwrap_or(0);
        let params = match style {
            StorageStyle::Bcolz => {
                json!({"clevel": level, "shuffle": number, "cname": name, "quantize": quantize})
            }
            StorageStyle::Blz if self.filter == Filter::Bit => {
                let message = "BLZ does not support bitshuffle: use byte shuffle or no filter";
                return Err(Error::new(Code::CannotStore, message));
            }
            StorageStyle::Blz => {
                let params = json!({"shuffle": is_shuffled, "clevel": level});
                return Ok((ParamsKey::Bparams, params));
            }
            StorageStyle::Document => {
                let shuffle = match self.filter {
                    Filter::Bit => number.into(),
                    Filter::None | Filter::Byte => Value::from(is_shuffled),
                };
                let mut params = Map::new();
                params.insert("shuffle".into(), shuffle);
                params.insert("clevel".into(), level.into());
                if name != UNNAMED.name() {
                    params.insert("cname".into(), name.into());
                }
                if quantize != 0 {
                    params.insert("quantize".into(), quantize.into());
                }
                Value::Object(params)
            }
        };
        Ok((ParamsKey::Cparams, params))
    }
}

/// The compressor of this name.
pub(super) fn compressor(name: &str) -> Result<Compressor> {
    name.parse().map_err(|_| {
        let known: Vec<_> = Compressor::ALL.iter().map(|known| known.name()).collect();
        unknown_name("compressor", name, &known)
    })
}

fn check_len(subject: &str, text: &str, max: usize) -> Result<()> {
    if text.len() <= max {
        Ok(())
    } else {
        Err(too_long(subject, to_u64(text.len()), to_u64(max)))
    }
}

fn params(object: Object<'_>) -> Result<(ParamsKey, Object<'_>)> {
    for key in [ParamsKey::Cparams, ParamsKey::Bparams] {
        if let Some(field) = object.find(key.name()) {
            return Ok((key, field.object()?));
        }
    }
    Err(object.missing("\"cparams\" or \"bparams\""))
}

fn dtype(field: &Field<'_>) -> Result<DtypeText> {
    if !field.text.starts_with('[') {
        let text = field.string();
        return text
            .map(DtypeText::Text)
            .map_err(|_| field.wrong("a string, or a nested list"));
    }
    check_len("dtype", field.text, MAX_DTYPE)?;
    let nested = serde_json::from_str(field.text);
    nested
        .map(DtypeText::Nested)
        .map_err(|_| field.wrong("a string, or a nested list of them"))
}

fn level(field: &Field<'_>) -> Result<u8> {
    let level = field.text.parse().ok().filter(|level| *level <= 9);
    level.ok_or_else(|| field.wrong("0 to 9"))
}

/// Parses `shuffle`: true or false from old writers, and the number of the filter from new ones, or true if their user passed
/// it.
fn filter(field: &Field<'_>) -> Result<Filter> {
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
    use blosc1::{Compressor, Filter};
    use bloscpack_error::Category;
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
            (storage.compressor().unwrap(), storage.quantize),
            (Compressor::Blosclz, None)
        );
        for text in [bcolz, blz] {
            assert_eq!(encoded(&parsed(text), StorageStyle::Document), text);
        }
    }

    /// Written by bcolz 1.2.1 and 0.12.1, BLZ 0.6 and carray 0.5.
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
    fn numbers_that_only_python_knows_are_named_as_values() {
        let storage = parsed(
            r#"{"dtype": "float64", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": 1, "expectedlen": 0, "dflt": [NaN, 1.5]}"#,
        );
        assert_eq!(storage.default_value(), json!(["NaN", 1.5]));
    }

    #[test]
    fn an_unknown_compressor_does_not_prevent_reading() {
        let storage = parsed(
            r#"{"dtype": "int8", "cparams": {"clevel": 5, "shuffle": 1, "cname": "brotli", "quantize": null}, "chunklen": 1, "expectedlen": 0, "dflt": 0}"#,
        );
        let error = storage.compressor().unwrap_err();
        assert_eq!(error.category(), Category::Unsupported);
        assert!(
            error
                .to_string()
                .starts_with("unknown compressor \"brotli\"; known are blosclz, lz4,")
        );
        assert_eq!(storage.quantize, None);
        assert!(
            encoded(&storage, StorageStyle::Bcolz).contains(r#""cname": "brotli", "quantize": 0}"#)
        );
    }

    const SOUND: &str = r#"{"dtype": "int8", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": 1, "expectedlen": 0, "dflt": 0}"#;

    #[test]
    fn impossible_values_are_refused_and_named() {
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
                "\"cparams\" or \"bparams\" is missing (found: \"dtype\", \"params\"",
            ),
            ("{\"clevel\": 5, \"shuffle\": 1}", "[5, 1]", "\"cparams\""),
        ];
        for (old, new, message) in wrong {
            let text = SOUND.replacen(old, new, 1);
            assert_ne!(text, SOUND);
            let error = Storage::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), Category::Damaged, "{text}");
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
            assert_eq!(
                storage.encode(style).unwrap_err().category(),
                Category::Usage
            );
        }
        let long = SOUND.replacen("\"int8\"", &format!("[{}0]", "0,".repeat(1 << 20)), 1);
        assert_eq!(
            Storage::parse(long.as_bytes()).unwrap_err().category(),
            Category::OverLimit
        );
    }

    #[test]
    fn each_style_refuses_or_extends() {
        let storage = Storage {
            filter: Filter::Bit,
            compressor_name: "zstd".to_owned(),
            quantize: Some(3),
            ..parsed(SOUND)
        };
        assert_eq!(
            storage.encode(StorageStyle::Blz).unwrap_err().category(),
            Category::Usage
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
            bad.encode(StorageStyle::Bcolz).unwrap_err().category(),
            Category::Usage
        );
    }
}
