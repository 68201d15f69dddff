//! [`Rotation`]: the place of a file in a log that rotates.

use bloscpack_error::Result;
use bloscpack_wire::Metadata;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The key in the metadata.
const KEY: &str = "rotation";

/// The place of a file in a log that rotates: the number of the part, and that of its first record. A file without the key
/// `rotation` in its metadata is part 1, and begins with record 0.
///
/// ```
/// use bloscpack::{Metadata, records::Rotation};
/// let metadata = Metadata::from_json(r#"{"rotation": {"part": 3, "first": 2000}}"#)?;
/// let rotation = Rotation::of(Some(&metadata));
/// assert_eq!((rotation.part, rotation.first), (3, 2000));
/// assert_eq!(Rotation::of(None), Rotation { part: 1, first: 0 });
/// assert_eq!(rotation.name("app.log.blp".as_ref()), "app.log-000003.blp");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// The number of the part, from 1.
    pub part: u64,
    /// The number of the part's first record in the whole log.
    pub first: u64,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { part: 1, first: 0 }
    }
}

impl Rotation {
    /// The place that the metadata of a file describes.
    #[must_use]
    pub fn of(metadata: Option<&Metadata>) -> Self {
        let value = metadata.map(Metadata::value);
        let number = |key| value.as_ref()?.get(KEY)?.get(key).and_then(Value::as_u64);
        match (number("part"), number("first")) {
            (Some(part @ 1..), Some(first)) => Self { part, first },
            _ => Self::default(),
        }
    }

    /// The name of this part once it is complete, where `name` is that of the newest.
    #[must_use]
    pub fn name(&self, name: &OsStr) -> OsString {
        let path = Path::new(name);
        let mut part = path.file_stem().unwrap_or(name).to_owned();
        part.push(format!("-{:06}", self.part));
        if let Some(extension) = path.extension() {
            part.push(".");
            part.push(extension);
        }
        part
    }

    /// The place of the part that follows this one, which has this number of records. Saturates: no log has that many.
    pub(crate) fn next(self, records: u64) -> Self {
        Self {
            part: self.part.saturating_add(1),
            first: self.first.saturating_add(records),
        }
    }

    /// The metadata that says so.
    pub(crate) fn to_metadata(self) -> Result<Metadata> {
        let value = json!({ KEY: { "part": self.part, "first": self.first } });
        Ok(Metadata::from_json(value.to_string())?)
    }
}
