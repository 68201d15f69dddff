//! The metadata of a member: JSON text, and in V3 a section with a header of its own.
//!
//! ```text
//!      0 .. 8           8         9          10      11
//!    | J S O N 0 0 0 0 | options | checksum | codec | level |
//!     12 .. 16    16 .. 20         20 .. 24      24 .. 32
//!    | meta size | max meta size | stored size | user codec |
//!    stored bytes ... | room up to max meta size ... | digest of the stored bytes
//! ```

use super::checksum::{Checksum, Digest};
use super::error::FormatError;
use super::fields::{put, u8_at, u32_at};
use super::hasher::Hashers;
use super::header::MetadataPlace;
use super::members::{Member, Members, with_values};
use super::version::FormatVersion;
use super::{deflate, json};
use crate::int::{to_u64, to_usize};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Bytes of the section's header.
pub const METADATA_HEADER_LEN: usize = 32;

/// The magic at the beginning of a section.
pub(super) const MAGIC_JSON: [u8; 8] = *b"JSON\0\0\0\0";
const OPTIONS: usize = 8;
const CHECKSUM: usize = 9;
const CODEC: usize = 10;
const LEVEL: usize = 11;
const META_SIZE: usize = 12;
const MAX_META_SIZE: usize = 16;
const STORED_SIZE: usize = 20;

/// The factor by which writers reserve room, as in the reference implementation, so that metadata
/// can grow in place.
const ROOM: u32 = 10;
/// The most bytes that are reserved beyond the text: the metadata of an untrusted file can be 64
/// MiB.
const MOST_ROOM: u32 = 1 << 20;
/// The zlib level that writers use, and store also if the text is not compressed.
const ZLIB_LEVEL: u8 = 6;

/// How the text is stored in a V3 section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataCodec {
    /// Unchanged: codec 0.
    None,
    /// As zlib data: codec 1. Reading and writing it needs the feature `zlib` or `zlib-pure`.
    Zlib,
}

impl MetadataCodec {
    /// `None` or `zlib`, as the reference implementation spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Zlib => "zlib",
        }
    }
}

/// The header of the metadata section of V3 (`docs/format.md`, "Metadata section of V3").
///
/// ```
/// use bloscpack_wire::{Checksum, Hashers, Metadata, MetadataHeader};
///
/// let metadata = Metadata::from_json(r#"{"unit": "mV"}"#)?;
/// let section = metadata.to_section(Checksum::Crc32, &Hashers::default())?;
/// let header = MetadataHeader::decode(section.first_chunk().unwrap())?;
/// assert_eq!((header.meta_size, header.max_meta_size), (14, 140));
/// assert_eq!(header.section_len(), section.len() as u64);
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataHeader {
    /// Options that nothing defines. Every known writer stores 0; readers ignore them.
    pub options: u8,
    /// The checksum of the stored form, independent of the checksum of the chunks.
    pub checksum: Checksum,
    /// How the text is stored.
    pub codec: MetadataCodec,
    /// Level of the codec, 0 to 9. Without a codec it has no meaning.
    pub level: u8,
    /// Bytes of the JSON text.
    pub meta_size: u32,
    /// Bytes reserved for the stored form, at least `stored_size`.
    pub max_meta_size: u32,
    /// Bytes of the stored form.
    pub stored_size: u32,
    /// A name that nothing defines. Every known writer stores zeros; readers ignore it.
    pub user_codec: [u8; 8],
}

impl MetadataHeader {
    /// Decodes the 32 bytes and checks them.
    ///
    /// # Errors
    /// - [`FormatError::MetadataFormat`] for another magic than `JSON`;
    /// - [`FormatError::ChecksumId`] for an unknown checksum, [`FormatError::Unsupported`] for an
    ///   unknown codec;
    /// - [`FormatError::Field`] for a level above 9, a stored form that is longer than its room, or
    ///   an uncompressed one that is not as long as the text.
    pub fn decode(bytes: &[u8; METADATA_HEADER_LEN]) -> Result<Self, FormatError> {
        let magic = bytes.first_chunk().copied().unwrap_or_default();
        if magic != MAGIC_JSON {
            return Err(FormatError::MetadataFormat { found: magic });
        }
        let id = u8_at(bytes, CHECKSUM);
        let header = Self {
            options: u8_at(bytes, OPTIONS),
            checksum: Checksum::from_id(id).ok_or(FormatError::ChecksumId { found: id })?,
            codec: codec(u8_at(bytes, CODEC))?,
            level: u8_at(bytes, LEVEL),
            meta_size: u32_at(bytes, META_SIZE),
            max_meta_size: u32_at(bytes, MAX_META_SIZE),
            stored_size: u32_at(bytes, STORED_SIZE),
            user_codec: bytes.last_chunk().copied().unwrap_or_default(),
        };
        header.check().map(|()| header)
    }

    /// Refuses a level and sizes that are impossible.
    fn check(&self) -> Result<(), FormatError> {
        if self.level > 9 {
            return Err(FormatError::field("metadata level", self.level, "0 to 9"));
        }
        if self.stored_size > self.max_meta_size {
            let found = self.stored_size;
            return Err(FormatError::field(
                "stored metadata size",
                found,
                "no more than its room",
            ));
        }
        if self.codec == MetadataCodec::None && self.stored_size != self.meta_size {
            let found = self.stored_size;
            return Err(FormatError::field(
                "stored metadata size",
                found,
                "the metadata size, since it is not compressed",
            ));
        }
        Ok(())
    }

    /// The 32 bytes of this header. The fields are not checked.
    #[must_use]
    pub fn encode(&self) -> [u8; METADATA_HEADER_LEN] {
        let mut bytes = [0; METADATA_HEADER_LEN];
        let codec = match self.codec {
            MetadataCodec::None => 0,
            MetadataCodec::Zlib => 1,
        };
        put(&mut bytes, 0, &MAGIC_JSON);
        put(
            &mut bytes,
            OPTIONS,
            &[self.options, self.checksum.id(), codec, self.level],
        );
        put(&mut bytes, META_SIZE, &self.meta_size.to_le_bytes());
        put(&mut bytes, MAX_META_SIZE, &self.max_meta_size.to_le_bytes());
        put(&mut bytes, STORED_SIZE, &self.stored_size.to_le_bytes());
        put(&mut bytes, STORED_SIZE + 4, &self.user_codec);
        bytes
    }

    /// Bytes of the whole section: header, room and digest.
    #[must_use]
    pub fn section_len(&self) -> u64 {
        to_u64(METADATA_HEADER_LEN + self.checksum.digest_len()) + u64::from(self.max_meta_size)
    }

    /// Checks the digest of the stored form and unpacks it. The buffer grows with the data, up to
    /// `meta_size` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`FormatError::check_digest`] and [`Metadata::from_json`],
    /// [`FormatError::MetadataData`] if the data does not unpack to exactly `meta_size` bytes, and
    /// [`FormatError::Unsupported`] if this build has no zlib.
    pub(super) fn unpack(
        &self,
        stored: &[u8],
        digest: Digest,
        hashers: &Hashers,
    ) -> Result<Metadata, FormatError> {
        let computed = hashers.digest(self.checksum, stored);
        FormatError::check_digest(self.checksum, digest, computed)?;
        let text = match self.codec {
            MetadataCodec::None => stored.to_vec(),
            MetadataCodec::Zlib => inflate(stored, self.meta_size)?,
        };
        if text.len() != to_usize(self.meta_size) {
            let why = format!(
                "it unpacks to {} bytes, should be {}",
                text.len(),
                self.meta_size
            );
            return Err(FormatError::MetadataData { why });
        }
        Metadata::from_json(text)
    }
}

/// The codec with this number.
fn codec(id: u8) -> Result<MetadataCodec, FormatError> {
    match id {
        0 => Ok(MetadataCodec::None),
        1 => Ok(MetadataCodec::Zlib),
        _ => Err(FormatError::Unsupported {
            what: format!("unknown metadata codec {id}; known are 0 and 1"),
        }),
    }
}

/// Unpacks zlib data to at most `max` bytes; more is an error.
pub(super) fn inflate(stored: &[u8], max: u32) -> Result<Vec<u8>, FormatError> {
    if !deflate::AVAILABLE {
        let what =
            "the metadata is zlib data, and this build has no zlib (feature `zlib`)".to_owned();
        return Err(FormatError::Unsupported { what });
    }
    deflate::inflate(stored, to_usize(max)).ok_or_else(|| FormatError::MetadataData {
        why: "its zlib data is damaged or too long".to_owned(),
    })
}

/// User metadata: a JSON text of any shape, kept as its writer spelled it.
///
/// The text is checked but not parsed, since a hostile text may take fifty times its own length as
/// a value. [`get_text`](Self::get_text) finds one member in the text, [`value`](Self::value)
/// parses all of it. Two metadata are equal if their texts are.
///
/// ```
/// use bloscpack_wire::Metadata;
///
/// let metadata = Metadata::from_json(r#"{"dtype": "float64", "shape": [1024], "dflt": NaN}"#)?;
/// assert_eq!(metadata.value()["shape"][0], 1024);
/// assert_eq!(metadata.value()["dflt"], "NaN");
/// assert!(metadata.text().contains("NaN"));
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Metadata {
    text: String,
    /// Parsed on first use.
    value: OnceLock<Value>,
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Metadata {
    /// Takes a JSON text in UTF-8. The numbers `NaN`, `Infinity` and `-Infinity`, which Python
    /// writes, are accepted.
    ///
    /// The length is not limited here: [`Limits::metadata`](super::Limits::metadata) bounds what a
    /// parser accepts.
    ///
    /// # Errors
    /// Returns [`FormatError::MetadataData`] if it is not JSON, or nested deeper than 128.
    ///
    /// ```
    /// use bloscpack_wire::{FormatError, Metadata};
    ///
    /// let error = Metadata::from_json("{'unit': 'mV'}").unwrap_err();
    /// assert!(matches!(error, FormatError::MetadataData { .. }));
    /// ```
    pub fn from_json(text: impl Into<Vec<u8>>) -> Result<Self, FormatError> {
        let text = text.into();
        let bad = |error: &dyn std::fmt::Display| FormatError::MetadataData {
            why: error.to_string(),
        };
        json::check(&text).map_err(|error| bad(&error))?;
        let text = String::from_utf8(text).map_err(|error| bad(&error))?;
        Ok(Self {
            text,
            value: OnceLock::new(),
        })
    }

    /// The text, exactly as it was given or read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a JSON object. The metadata of records must be one.
    pub fn is_object(&self) -> bool {
        // It is valid JSON, so the first character shows the kind.
        self.text.trim_ascii_start().starts_with('{')
    }

    /// The parsed value. It is parsed at the first call and kept, which can take fifty times the
    /// length of a hostile text.
    ///
    /// Numbers that only Python writes, and numbers beyond the floats, become strings such as
    /// `"NaN"` and `"Infinity"`. If a key occurs twice, the last value counts.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.value
            .get_or_init(|| json::parse(self.text.as_bytes()).unwrap_or_default())
    }

    /// The text of one member of the object, found without parsing the rest; `None` if the object
    /// has no such member, or it is not an object.
    ///
    /// If a key occurs twice, the last value counts. No memory is allocated, unless keys contain
    /// escapes.
    ///
    /// ```
    /// use bloscpack_wire::Metadata;
    ///
    /// let metadata = Metadata::from_json(r#"{"unit": "mV", "gain": [1, 2]}"#)?;
    /// assert_eq!(metadata.get_text("gain"), Some("[1, 2]"));
    /// assert_eq!(metadata.get_text("offset"), None);
    /// # Ok::<(), bloscpack_wire::FormatError>(())
    /// ```
    #[must_use]
    pub fn get_text(&self, key: &str) -> Option<&str> {
        let found = Members::of(&self.text).filter(|member| member.is(key));
        found.last().map(|member| member.text)
    }

    /// This object with the members of another one: a member that both have gets the value of the
    /// other one, the others are added at the end. Unchanged members keep their spelling.
    ///
    /// ```
    /// use bloscpack_wire::Metadata;
    ///
    /// let old = Metadata::from_json(r#"{"unit": "mV", "gain": 1.50}"#)?;
    /// let new = Metadata::from_json(r#"{"unit": "V", "room": 7}"#)?;
    /// let both = old.merged(&new, &[]).unwrap();
    /// assert_eq!(both.text(), r#"{"unit": "V", "gain": 1.50, "room": 7}"#);
    /// assert!(old.merged(&new, &["unit"]).is_err());
    /// # Ok::<(), bloscpack_wire::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the reason as a sentence if one of them is not an object, or if the other one has
    /// another value for a key of `fixed`.
    pub fn merged(&self, others: &Self, fixed: &[&str]) -> Result<Self, String> {
        if !self.is_object() || !others.is_object() {
            return Err("only JSON objects can be merged".to_owned());
        }
        let name_of = |member: &Member<'_>| -> String {
            serde_json::from_str(member.key).unwrap_or_default()
        };
        let value_of = |text: &str| json::parse(text.as_bytes()).ok();
        let others = Members::of(&others.text).map(|member| (name_of(&member), member));
        let others: Vec<(String, Member<'_>)> = others.collect();
        // If a key occurs twice, the last value counts.
        let new = others
            .iter()
            .map(|(name, member)| (name.as_str(), member.text));
        let new: HashMap<&str, &str> = new.collect();
        for name in fixed {
            let value = new.get(name).map(|value| value_of(value));
            if value.is_some() && value != self.get_text(name).map(value_of) {
                return Err(format!("{name:?} describes the data"));
            }
        }
        let known: HashSet<String> = Members::of(&self.text)
            .map(|member| name_of(&member))
            .collect();
        let text = with_values(&self.text, |member| {
            new.get(name_of(member).as_str()).copied()
        });
        let text = text.unwrap_or_else(|| self.text.clone());
        let text = text.trim_ascii_end();
        let mut text = text
            .strip_suffix('}')
            .unwrap_or(text)
            .trim_ascii_end()
            .to_owned();
        for (_, member) in others.iter().filter(|(name, _)| !known.contains(name)) {
            let separator = if text.ends_with('{') { "" } else { ", " };
            text.push_str(&format!("{separator}{}: {}", member.key, member.text));
        }
        text.push('}');
        Self::from_json(text).map_err(|error| error.to_string())
    }

    /// The metadata as it follows a header of V2, and the value for
    /// [`Header::metadata`](super::Header).
    ///
    /// # Errors
    /// Returns [`FormatError::NoPlace`], naming `version`, for a text of 4 GiB or more.
    /// [`Header::encode`](super::Header::encode) refuses 2 GiB already.
    pub fn to_raw(&self, version: FormatVersion) -> Result<(MetadataPlace, Vec<u8>), FormatError> {
        let len = u32::try_from(self.text.len()).map_err(|_| FormatError::NoPlace {
            version,
            what: "so much metadata",
        })?;
        let place = MetadataPlace::Raw { len, zlib: false };
        Ok((place, self.text.as_bytes().to_vec()))
    }

    /// The V3 section with this metadata: header, stored form, room and digest.
    ///
    /// The text is stored as zlib data if that is shorter. As in the reference implementation, ten
    /// times the length of the text is reserved, but at most 1 MiB more than that length.
    ///
    /// # Errors
    /// Returns [`FormatError::NoPlace`] for a text of 4 GiB or more, and [`FormatError::Hasher`]
    /// for a plugged hasher whose digest has the wrong length.
    pub fn to_section(
        &self,
        checksum: Checksum,
        hashers: &Hashers,
    ) -> Result<Vec<u8>, FormatError> {
        let section = self.section(checksum, hashers, None)?;
        section.ok_or_else(|| FormatError::bug("no room, though it has no bound"))
    }

    /// The section that replaces an old one of the same length, with the same checksum; `None` if
    /// the stored form does not fit the old room.
    ///
    /// # Errors
    /// Returns the errors of [`to_section`](Self::to_section).
    pub fn to_section_in_place_of(
        &self,
        old: &MetadataHeader,
        hashers: &Hashers,
    ) -> Result<Option<Vec<u8>>, FormatError> {
        self.section(old.checksum, hashers, Some(old.max_meta_size))
    }

    /// The section, with `room` bytes for the stored form or as many as usual; `None` if it does
    /// not fit.
    fn section(
        &self,
        checksum: Checksum,
        hashers: &Hashers,
        room: Option<u32>,
    ) -> Result<Option<Vec<u8>>, FormatError> {
        let too_long = FormatError::NoPlace {
            version: FormatVersion::V3,
            what: "so much metadata",
        };
        let text = self.text.as_bytes();
        let packed = deflate::deflate(text, ZLIB_LEVEL).filter(|packed| packed.len() < text.len());
        let (codec, stored) = match &packed {
            Some(packed) => (MetadataCodec::Zlib, packed.as_slice()),
            None => (MetadataCodec::None, text),
        };
        let meta_size = u32::try_from(text.len()).map_err(|_| too_long.clone())?;
        let stored_size = u32::try_from(stored.len()).map_err(|_| too_long)?;
        let header = MetadataHeader {
            options: 0,
            checksum,
            codec,
            level: ZLIB_LEVEL,
            meta_size,
            max_meta_size: room.unwrap_or_else(|| room_for(meta_size)),
            stored_size,
            user_codec: [0; 8],
        };
        if stored_size > header.max_meta_size {
            return Ok(None);
        }
        let mut section = header.encode().to_vec();
        section.extend_from_slice(stored);
        section.resize(METADATA_HEADER_LEN + to_usize(header.max_meta_size), 0);
        section.extend_from_slice(hashers.stored_digest(checksum, stored)?.as_bytes());
        Ok(Some(section))
    }
}

/// Bytes reserved for a text of this length, at most what the field of the header can store.
fn room_for(meta_size: u32) -> u32 {
    let more = meta_size.saturating_mul(ROOM - 1).min(MOST_ROOM);
    meta_size.saturating_add(more)
}

impl From<Value> for Metadata {
    fn from(value: Value) -> Self {
        Self {
            text: value.to_string(),
            value: value.into(),
        }
    }
}
