//! [`References`]: a Zarr group whose chunks lie in files of another format.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bloscpack_array::Place;
use bloscpack_error::{Error, IoSide as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path};

/// The stand-in for the root in the text of references.
const ROOT: &str = "{{u}}";

/// A Zarr group as [Kerchunk](https://fsspec.github.io/kerchunk/spec.html) describes it: its small files, and for each other
/// file the bytes of a file elsewhere that it consists of.
///
/// Any Zarr reader that takes references, such as fsspec's `reference` file system, reads the group without a copy of the
/// data. Such readers know nothing of digests after chunks, so they do not notice damage that the compressor does not.
///
/// ```
/// use bloscpack_array::Place;
/// use bloscpack_zarr::References;
/// let header = blosc1::read_header(&blosc1::compress(&[1; 8], blosc1::ChunkSettings::default())?)?;
/// let mut references = References::default();
/// references.insert(".zgroup", br#"{"zarr_format": 2}"#.to_vec());
/// references.refer("a/0", Place { file: "a/data/__0.blp".to_owned(), bytes: 16..40, header });
/// assert_eq!(
///     references.to_json("https://host/t"),
///     r#"{"version":1,"templates":{"u":"https://host/t"},"refs":{
/// ".zgroup":"{\"zarr_format\": 2}",
/// "a/0":["{{u}}/a/data/__0.blp",16,24]}}
/// "#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct References {
    files: BTreeMap<String, Vec<u8>>,
    chunks: BTreeMap<String, Place>,
}

impl References {
    /// Adds a file with these bytes.
    pub fn insert(&mut self, key: impl Into<String>, bytes: Vec<u8>) {
        self.files.insert(key.into(), bytes);
    }

    /// Adds a file that lies elsewhere. The place is relative to the root that [`to_json`](Self::to_json) gets.
    pub fn refer(&mut self, key: impl Into<String>, place: Place) {
        self.chunks.insert(key.into(), place);
    }

    /// The files that the references contain, by key.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// The files that lie elsewhere, by key.
    #[must_use]
    pub fn chunks(&self) -> &BTreeMap<String, Place> {
        &self.chunks
    }

    /// The root for a local path: a `file://` URL, as fsspec reads it, without percent encoding.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for a path that is not UTF-8, and I/O errors of asking for the
    /// current directory.
    pub fn root_of(path: &Path) -> Result<String> {
        let path = std::path::absolute(path).reading()?;
        let text = path.to_str().ok_or_else(|| {
            let error = Error::usage("references cannot contain a path that is not UTF-8");
            error.with_hint("give the root")
        })?;
        let text = text.replace(MAIN_SEPARATOR, "/");
        // On Windows, a letter is before the first slash.
        let slash = if text.starts_with('/') { "" } else { "/" };
        Ok(format!("file://{slash}{text}"))
    }

    /// The references as JSON, version 1 of the specification, with a line for each file. `root` is the URL or path of the
    /// dataset, where the readers of the references find it.
    #[must_use]
    pub fn to_json(&self, root: &str) -> String {
        let root = root.trim_end_matches('/');
        // A template is replaced wherever it stands.
        let is_unique = !self.chunks.values().any(|place| place.file.contains("{{"));
        let mut text = r#"{"version":1,"#.to_owned();
        let shown = if is_unique && !root.contains("{{") {
            text.push_str(&format!(r#""templates":{{"u":{}}},"#, json(root)));
            ROOT
        } else {
            root
        };
        text.push_str(r#""refs":{"#);
        let files = self.files.iter().map(|(key, bytes)| {
            let value = match std::str::from_utf8(bytes) {
                Ok(plain) if !plain.starts_with("base64:") => json(plain),
                _ => format!("\"base64:{}\"", STANDARD.encode(bytes)),
            };
            (key, value)
        });
        let chunks = self.chunks.iter().map(|(key, place)| {
            let file = match place.file.as_str() {
                "" => shown.to_owned(),
                file => format!("{shown}/{file}"),
            };
            let (at, len) = (place.bytes.start, place.bytes.end - place.bytes.start);
            (key, format!("[{},{at},{len}]", json(&file)))
        });
        let mut before = "\n";
        for (key, value) in files.chain(chunks) {
            text.push_str(&format!("{before}{}:{value}", json(key)));
            before = ",\n";
        }
        text.push_str("}}\n");
        text
    }
}

/// A JSON string.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}
