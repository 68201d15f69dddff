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

/// Length of the section's header in bytes.
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

/// The reference reserves ten times the metadata, so that it may grow in place.
const ROOM: u32 = 10;
/// No more than this is reserved: the metadata of an untrusted file can be 64 MiB.
const MOST_ROOM: u32 = 1 << 20;
const ZLIB_LEVEL: u8 = 6;

/// How the text is stored in a V3 section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataCodec {
    /// As it is.
    None,
    /// As zlib data.
    Zlib,
}

impl MetadataCodec {
    /// `None` or `zlib`, as the reference tool spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Zlib => "zlib",
        }
    }
}

/// The header of the metadata section of V3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataHeader {
    /// An options byte that nothing defines; 0 from every known writer.
    pub options: u8,
    /// The checksum over the stored bytes.
    pub checksum: Checksum,
    /// How the text is stored.
    pub codec: MetadataCodec,
    /// Level of the codec, 0 to 9; meaningless without a codec.
    pub level: u8,
    /// Length of the text in bytes.
    pub meta_size: u32,
    /// Bytes reserved for the stored form.
    pub max_meta_size: u32,
    /// Length of the stored form in bytes.
    pub stored_size: u32,
    /// A name that nothing defines; empty from every known writer.
    pub user_codec: [u8; 8],
}

impl MetadataHeader {
    /// Decodes the 32 bytes and checks them.
    ///
    /// # Errors
    /// Returns an error for an unknown magic, checksum or codec, and for sizes that contradict each other.
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

    /// The 32 bytes of this header.
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

    /// Length of the whole section: header, room and digest.
    #[must_use]
    pub fn section_len(&self) -> u64 {
        to_u64(METADATA_HEADER_LEN + self.checksum.digest_len()) + u64::from(self.max_meta_size)
    }

    /// Checks the digest of the stored bytes and unpacks them.
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

fn codec(id: u8) -> Result<MetadataCodec, FormatError> {
    match id {
        0 => Ok(MetadataCodec::None),
        1 => Ok(MetadataCodec::Zlib),
        _ => Err(FormatError::Unsupported {
            what: format!("unknown metadata codec {id}; known are 0 and 1"),
        }),
    }
}

/// Unpacks zlib data of at most `max` bytes.
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
/// ```
/// use bloscpack_wire::Metadata;
/// let metadata = Metadata::from_json(r#"{"dtype": "float64", "shape": [1024], "dflt": NaN}"#)?;
/// assert_eq!(metadata.value()["shape"][0], 1024);
/// assert_eq!(metadata.value()["dflt"], "NaN");
/// assert!(metadata.text().contains("NaN"));
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Metadata {
    text: String,
    /// Parsed on first use: a hostile text may take fifty times its own length.
    value: OnceLock<Value>,
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Metadata {
    /// Takes a JSON text; Python's `NaN`, `Infinity` and `-Infinity` are accepted.
    ///
    /// # Errors
    /// Returns [`FormatError::MetadataData`] if it is not JSON, or nested deeper than 128.
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

    /// The text as it was given or read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a JSON object, as that of records has to be.
    pub fn is_object(&self) -> bool {
        // It is JSON; no more than its first character need be looked at.
        self.text.trim_ascii_start().starts_with('{')
    }

    /// The parsed value; a string such as `"NaN"` where the text has a number that only Python knows.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.value
            .get_or_init(|| json::parse(self.text.as_bytes()).unwrap_or_default())
    }

    /// The text of one member of the object, and nothing if there is none. If a key occurs twice, it is the last one.
    ///
    /// Unlike [`value`](Self::value) it takes no memory.
    ///
    /// ```
    /// use bloscpack_wire::Metadata;
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

    /// The same object with the members of another one: those that both have get the value of the other one, the rest are
    /// added at the end. What is not changed keeps its spelling.
    ///
    /// ```
    /// use bloscpack_wire::Metadata;
    /// let old = Metadata::from_json(r#"{"unit": "mV", "gain": 1.50}"#)?;
    /// let new = Metadata::from_json(r#"{"unit": "V", "room": 7}"#)?;
    /// let both = old.merged(&new, &[]).unwrap();
    /// assert_eq!(both.text(), r#"{"unit": "V", "gain": 1.50, "room": 7}"#);
    /// assert!(old.merged(&new, &["unit"]).is_err());
    /// # Ok::<(), bloscpack_wire::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the reason as a sentence if one of them is not an object, and if the other one has another value for a key of
    /// `fixed`.
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

    /// The metadata as it follows a header of V2.
    pub fn to_raw(&self, version: FormatVersion) -> Result<(MetadataPlace, Vec<u8>), FormatError> {
        let len = u32::try_from(self.text.len()).map_err(|_| FormatError::NoPlace {
            version,
            what: "so much metadata",
        })?;
        let place = MetadataPlace::Raw { len, zlib: false };
        Ok((place, self.text.as_bytes().to_vec()))
    }

    /// The V3 section that holds this metadata, with room to grow as the reference leaves it:
    /// zlib where that makes it shorter, ten times the space.
    pub fn to_section(
        &self,
        checksum: Checksum,
        hashers: &Hashers,
    ) -> Result<Vec<u8>, FormatError> {
        let section = self.section(checksum, hashers, None)?;
        section.ok_or_else(|| FormatError::bug("no room, though it has no bound"))
    }

    /// The section that takes the place of another one, and just its room; nothing if there is too
    /// little.
    pub fn to_section_in_place_of(
        &self,
        old: &MetadataHeader,
        hashers: &Hashers,
    ) -> Result<Option<Vec<u8>>, FormatError> {
        self.section(old.checksum, hashers, Some(old.max_meta_size))
    }

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

/// Bytes reserved for text of this length. They saturate at the largest number that the field of the header can hold.
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
