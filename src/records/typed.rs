//! Records as values: text, bytes without a copy, and values of `serde`.

use bloscpack_error::Code;
use bytes::Bytes;
use std::error::Error;

/// The reason why a record is not a value of the requested type, or why a value cannot be a record.
pub type ValueError = Box<dyn Error + Send + Sync>;

/// A value that can be written as a record.
///
/// It is implemented for everything that is bytes (`AsRef<[u8]>`): text, slices, vectors, [`Bytes`]; with the feature `serde`,
/// `Json` and `MessagePack` write values of serde.
///
/// ```
/// use bloscpack::records::{RecordWriter, ToRecord, ValueError};
/// struct Point(f32, f32);
/// impl ToRecord for Point {
///     fn to_record(&self, record: &mut Vec<u8>) -> Result<(), ValueError> {
///         record.extend(self.0.to_le_bytes());
///         record.extend(self.1.to_le_bytes());
///         Ok(())
///     }
/// }
/// let mut writer = RecordWriter::new(Vec::new())?;
/// writer.push_as(&Point(1.0, 2.0))?;
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub trait ToRecord {
    /// Appends the bytes of the record to `record`, which is empty.
    ///
    /// # Errors
    /// Returns the reason if the value cannot be a record. The caller gets it as
    /// [`Code::RecordValue`], with the number of the record.
    fn to_record(&self, record: &mut Vec<u8>) -> Result<(), ValueError>;
}

/// A value that can be read from a record.
///
/// It is implemented for [`Bytes`] (without a copy), `Vec<u8>` and `String`; with the feature `serde`, `Json` and
/// `MessagePack` read values of serde.
///
/// ```
/// use bloscpack::records::{FromRecord, RecordReader, RecordWriter, ValueError};
/// struct Point(f32, f32);
/// impl FromRecord for Point {
///     fn from_record(record: bytes::Bytes) -> Result<Self, ValueError> {
///         let [x, y] = record.as_chunks().0 else {
///             return Err("a point has 8 bytes".into());
///         };
///         Ok(Self(f32::from_le_bytes(*x), f32::from_le_bytes(*y)))
///     }
/// }
/// let mut writer = RecordWriter::new(Vec::new())?;
/// writer.push([1.5_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat())?;
/// let stream = writer.finish()?;
/// let point: Option<Point> = RecordReader::new(stream.as_slice()).next_as()?;
/// assert_eq!(point.map(|Point(x, y)| x + y), Some(3.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FromRecord: Sized {
    /// Converts the bytes of a record. They share the memory of the record's chunk, which stays allocated as long as the value
    /// keeps them; copy a small part of a large chunk.
    ///
    /// # Errors
    /// Returns the reason if the bytes are not a value of this type. The caller gets it as
    /// [`Code::RecordValue`], with the number of the record.
    fn from_record(record: Bytes) -> Result<Self, ValueError>;
}

/// Writes the record of a value into a buffer, which is cleared first. `record` is its number, for errors.
pub(crate) fn record_of_value<T: ToRecord + ?Sized>(
    value: &T,
    record: u64,
    buffer: &mut Vec<u8>,
) -> bloscpack_error::Result<()> {
    buffer.clear();
    let written = value.to_record(buffer);
    written.map_err(|error| not_a_value(record, error))
}

/// The value of a record with this number.
pub(super) fn value_of_record<T: FromRecord>(
    bytes: Bytes,
    record: u64,
) -> bloscpack_error::Result<T> {
    let value = T::from_record(bytes);
    value.map_err(|error| not_a_value(record, error))
}

fn not_a_value(record: u64, error: ValueError) -> bloscpack_error::Error {
    bloscpack_error::Error::because(
        Code::RecordValue,
        format!("record {record}: {error}"),
        error,
    )
}

impl<T: AsRef<[u8]> + ?Sized> ToRecord for T {
    fn to_record(&self, record: &mut Vec<u8>) -> Result<(), ValueError> {
        record.extend_from_slice(self.as_ref());
        Ok(())
    }
}

/// Without a copy: the bytes share the memory of their chunk.
impl FromRecord for Bytes {
    fn from_record(record: Bytes) -> Result<Self, ValueError> {
        Ok(record)
    }
}

/// A copy.
impl FromRecord for Vec<u8> {
    fn from_record(record: Bytes) -> Result<Self, ValueError> {
        Ok(record.into())
    }
}

/// Text, which must be UTF-8.
impl FromRecord for String {
    fn from_record(record: Bytes) -> Result<Self, ValueError> {
        Ok(Self::from_utf8(record.into())?)
    }
}

/// A value of `serde`, written as JSON without line breaks. White space around the JSON is accepted when it is read, other
/// bytes after it are an error.
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, Json, RecordWriter};
/// let mut writer = RecordWriter::builder().dtype("json").write_to(Vec::new())?;
/// writer.push_as(&Json(("Ada", 36)))?;
/// let records = IndexedRecordReader::open(writer.finish()?)?;
/// let Json((name, age)) = records.get_as::<Json<(String, u32)>>(0)?;
/// assert_eq!((name.as_str(), age), ("Ada", 36));
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[cfg(feature = "serde")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

#[cfg(feature = "serde")]
impl<T: serde_core::Serialize> ToRecord for Json<T> {
    fn to_record(&self, record: &mut Vec<u8>) -> Result<(), ValueError> {
        Ok(serde_json::to_writer(record, &self.0)?)
    }
}

#[cfg(feature = "serde")]
impl<T: serde_core::de::DeserializeOwned> FromRecord for Json<T> {
    fn from_record(record: Bytes) -> Result<Self, ValueError> {
        Ok(Self(serde_json::from_slice(&record)?))
    }
}

/// A value of `serde`, written as MessagePack with field names. When it is read, bytes after the value are an error.
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, MessagePack, RecordWriter};
/// let mut writer = RecordWriter::builder().dtype("msgpack").write_to(Vec::new())?;
/// writer.push_as(&MessagePack(vec![1, 2, 300]))?;
/// let records = IndexedRecordReader::open(writer.finish()?)?;
/// assert_eq!(records.get_as::<MessagePack<Vec<u16>>>(0)?.0, [1, 2, 300]);
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[cfg(feature = "serde")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePack<T>(pub T);

#[cfg(feature = "serde")]
impl<T: serde_core::Serialize> ToRecord for MessagePack<T> {
    fn to_record(&self, record: &mut Vec<u8>) -> Result<(), ValueError> {
        Ok(rmp_serde::encode::write_named(record, &self.0)?)
    }
}

#[cfg(feature = "serde")]
impl<T: serde_core::de::DeserializeOwned> FromRecord for MessagePack<T> {
    fn from_record(record: Bytes) -> Result<Self, ValueError> {
        let mut rest = record.as_ref();
        let value = T::deserialize(&mut rmp_serde::Deserializer::new(&mut rest))?;
        if rest.is_empty() {
            return Ok(Self(value));
        }
        Err(format!("the value is followed by {} more bytes", rest.len()).into())
    }
}
