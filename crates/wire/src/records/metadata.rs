//! The keys that describe records in metadata: `dtype`, `shape` and `packing`. All other keys are
//! the user's.

use super::packing::Packing;
use crate::error::FormatError;
use crate::members::{Members, with_value};
use crate::metadata::Metadata;

/// The longest value in bytes that is parsed, more than these keys need. A hostile value may take
/// fifty times its length.
const MAX_VALUE: usize = 1 << 12;

/// What the metadata of a member declares about records.
#[derive(Default)]
pub(super) struct Declared {
    /// The only axis of `shape`; `None` if `shape` is missing or has another form.
    pub count: Option<u64>,
    /// The packing, or the error for an unknown one; `None` if there is no such key.
    pub packing: Option<Result<Packing, FormatError>>,
}

impl Declared {
    /// Reads the declarations from the text, without parsing the rest. If a key occurs twice, the
    /// last value counts.
    pub fn of(metadata: &Metadata) -> Self {
        let text = metadata.text();
        let mut declared = Self::default();
        for member in Members::of(text) {
            if member.is("shape") {
                declared.count = count(member.text);
            } else if member.is("packing") {
                declared.packing = Some(packing(member.text));
            }
        }
        declared
    }
}

/// The number of records, if `shape` has one axis.
fn count(value: &str) -> Option<u64> {
    let [count] = serde_json::from_str(value.get(..value.len().min(MAX_VALUE))?).ok()?;
    Some(count)
}

/// The packing that this value declares.
fn packing(value: &str) -> Result<Packing, FormatError> {
    let unknown = || {
        let found: String = value.chars().take(80).collect();
        let what = format!(
            "the records are packed in a way that is not known here ({found}); known is \"{}\", version {}",
            Packing::NAME,
            Packing::VERSION
        );
        FormatError::Unsupported { what }
    };
    if value.len() > MAX_VALUE {
        return Err(unknown());
    }
    let value: serde_json::Value = serde_json::from_str(value).map_err(|_| unknown())?;
    let name = value.get("name").and_then(serde_json::Value::as_str);
    let number = |key| value.get(key).and_then(serde_json::Value::as_u64);
    if name != Some(Packing::NAME) || number("version") != Some(Packing::VERSION.into()) {
        return Err(unknown());
    }
    let chunk_size = number("chunk_size").and_then(|size| size.try_into().ok());
    chunk_size.and_then(Packing::new).ok_or_else(unknown)
}

/// The metadata of records: their type, number and packing, then the user's own keys unchanged.
///
/// `dtype` is the type of a record, such as `varchar`; a `dtype` among the user's keys takes
/// precedence. Without `count`, there is no `shape`; without `packing`, each record is a chunk. The
/// user's own `shape` and `packing` are dropped.
///
/// # Errors
/// Returns [`FormatError::MetadataData`] if the user's metadata is not an object.
///
/// ```
/// use bloscpack_wire::{Metadata, Packing, counted, declared};
///
/// let own = Metadata::from_json(r#"{"source": "log"}"#)?;
/// let metadata = declared(Some(&own), "varchar", Some(3), None)?;
/// assert_eq!(metadata.text(), r#"{"dtype": "varchar", "shape": [3], "source": "log"}"#);
///
/// let more = counted(&metadata, 4)?.unwrap();
/// assert_eq!(more.text(), r#"{"dtype": "varchar", "shape": [4], "source": "log"}"#);
///
/// let packed = declared(None, "varbinary", None, Packing::new(65_536))?;
/// assert!(packed.get_text("packing").is_some());
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
pub fn declared(
    own: Option<&Metadata>,
    dtype: &str,
    count: Option<u64>,
    packing: Option<Packing>,
) -> Result<Metadata, FormatError> {
    if own.is_some_and(|own| !own.is_object()) {
        let why = "the metadata of records must be a JSON object".to_owned();
        return Err(FormatError::MetadataData { why });
    }
    let own = own.map_or("{}", Metadata::text);
    let mut dtype = serde_json::Value::from(dtype).to_string();
    let mut others = String::new();
    for member in Members::of(own) {
        if member.is("dtype") {
            member.text.clone_into(&mut dtype);
        } else if !member.is("shape") && !member.is("packing") {
            others.push_str(&format!(", {}: {}", member.key, member.text));
        }
    }
    let shape = count.map_or_else(String::new, |count| format!(", \"shape\": [{count}]"));
    let packing = packing.map_or_else(String::new, |packing| {
        let (name, version) = (Packing::NAME, Packing::VERSION);
        let chunk_size = packing.chunk_size();
        format!(
            ", \"packing\": {{\"name\": \"{name}\", \"version\": {version}, \"chunk_size\": {chunk_size}}}"
        )
    });
    Metadata::from_json(format!("{{\"dtype\": {dtype}{shape}{packing}{others}}}"))
}

/// The same metadata with another number of records; `None` if it states none.
///
/// # Errors
/// Returns [`FormatError::MetadataData`] if the changed text is not valid.
pub fn counted(metadata: &Metadata, count: u64) -> Result<Option<Metadata>, FormatError> {
    if Declared::of(metadata).count.is_none() {
        return Ok(None);
    }
    let text = with_value(metadata.text(), "shape", &format!("[{count}]"));
    text.map(Metadata::from_json).transpose()
}

#[cfg(test)]
mod tests {
    use super::{Metadata, Packing, counted, declared};
    use crate::records::Form;
    use crate::{FormatError, FormatVersion, Header};

    fn text(own: &str, count: Option<u64>, packing: Option<Packing>) -> String {
        let own = Metadata::from_json(own).unwrap();
        let metadata = declared(Some(&own), "varbinary", count, packing).unwrap();
        metadata.text().to_owned()
    }

    #[test]
    fn keys_of_the_user_are_kept_and_ours_are_ours() {
        assert_eq!(
            text(
                r#"{"a": [1, {"b": NaN}], "shape": 7, "packing": 3 }"#,
                Some(5),
                None
            ),
            r#"{"dtype": "varbinary", "shape": [5], "a": [1, {"b": NaN}]}"#
        );
        assert_eq!(
            text(r#" {"dtype": "varchar"} "#, None, None),
            r#"{"dtype": "varchar"}"#
        );
        assert_eq!(
            text("{}", None, Packing::new(4096)),
            r#"{"dtype": "varbinary", "packing": {"name": "lengths", "version": 1, "chunk_size": 4096}}"#
        );
        let list = Metadata::from_json("[1]").unwrap();
        assert!(declared(Some(&list), "varchar", None, None).is_err());
    }

    #[test]
    fn only_the_shape_changes_with_the_number() {
        let metadata = Metadata::from_json(r#"{"others":[] , "shape":[ 3 ]}"#).unwrap();
        let more = counted(&metadata, 12).unwrap().unwrap();
        assert_eq!(more.text(), r#"{"others":[] , "shape":[12]}"#);
        for none in ["{}", r#"{"shape": [1, 2]}"#, r#"{"shape": "a"}"#, "[[3]]"] {
            let metadata = Metadata::from_json(none).unwrap();
            assert_eq!(counted(&metadata, 12).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn what_is_declared_is_read_back_or_refused() {
        let header = |varlen, nchunks| Header {
            varlen,
            nchunks,
            ..Header::new(FormatVersion::V3)
        };
        let packing = Packing::new(4096).unwrap();
        let metadata = declared(None, "varchar", Some(9), Some(packing)).unwrap();
        let form = |header: &Header, metadata: &Metadata| Form::of(header, Some(metadata));
        let count = Some(9);
        assert_eq!(
            form(&header(true, Some(2)), &metadata).unwrap(),
            Form::Packed { packing, count }
        );
        for chunks in [0, 10] {
            assert!(
                form(&header(true, Some(chunks)), &metadata).is_err(),
                "{chunks}"
            );
        }
        let error = form(&header(false, None), &metadata).unwrap_err();
        assert!(matches!(error, FormatError::MetadataData { .. }));

        for unknown in [
            "null",
            "{}",
            r#"{"name": "lengths", "version": 2, "chunk_size": 4096}"#,
            r#"{"name": "lengths", "version": 1, "chunk_size": 0}"#,
            r#"{"name": "lengths", "version": 1, "chunk_size": 1e99}"#,
            r#"{"name": "lengths", "version": 1}"#,
        ] {
            let metadata = Metadata::from_json(format!(r#"{{"packing": {unknown}}}"#)).unwrap();
            let error = form(&header(true, None), &metadata).unwrap_err();
            assert!(
                matches!(error, FormatError::Unsupported { .. }),
                "{unknown}"
            );
            // Without records, the key is the user's own.
            assert_eq!(
                form(&header(false, None), &metadata).unwrap(),
                Form::Content
            );
        }
    }
}
