//! The entries of `manifest.json` for each file, as types of the crate.

use bloscpack::wire::MetadataCodec;
use bloscpack::{Checksum, FormatVersion, wire::MetadataHeader};
use serde_json::Value;
use std::path::Path;

/// Files in the whole corpus.
pub const WHOLE_CORPUS: usize = 640;

const OFFSETS_BIT: u64 = 1;
const METADATA_BIT: u64 = 2;
/// In the layout of December 2012: the metadata is zlib data.
const ZLIB_BIT: u64 = 4;

/// Where a long table is shortened, the manifest has so many of its first and last entries.
const FIRST_KEPT: usize = 6;
const LAST_KEPT: usize = 2;

/// A manifest.
pub struct Manifest {
    pub files: Vec<Expected>,
}

/// The expected result of reading one file.
pub struct Expected {
    pub file: String,
    pub file_sha256: String,
    pub raw_len: usize,
    pub raw_sha256: String,
    pub header: ExpectedHeader,
    pub header_hex: String,
    pub metadata: Option<Value>,
    pub metadata_text: Option<String>,
    pub section: Option<Section>,
    /// The counted entries, `None` for -1.
    pub offsets: Vec<Option<u64>>,
    elided: bool,
    pub first_chunk_at: u64,
    pub nchunks: u64,
    pub trailing_bytes: u64,
}

/// The header of one file.
pub struct ExpectedHeader {
    pub layout: FormatVersion,
    pub offsets: bool,
    pub metadata: bool,
    pub metadata_zlib: bool,
    pub meta_size: u32,
    pub checksum: Checksum,
    pub typesize: Option<u8>,
    pub chunk_size: Option<u32>,
    pub last_chunk: Option<u32>,
    pub nchunks: Option<u64>,
    pub max_app_chunks: u64,
}

/// The header of a V3 metadata section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    options: u64,
    checksum: Checksum,
    codec: String,
    level: u64,
    meta_size: u64,
    max_meta_size: u64,
    stored_size: u64,
    user_codec: String,
}

impl Manifest {
    pub fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let files = manifest["files"].as_array().unwrap();
        let files: Vec<_> = files.iter().map(Expected::from).collect();
        assert_eq!(Some(files.len()), size(&manifest["count"]));
        Self { files }
    }
}

impl From<&Value> for Expected {
    fn from(entry: &Value) -> Self {
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        let raw = entry["metadata_raw"].as_str();
        let offsets = entry["offsets"].as_array().unwrap();
        let present = |value: &Value| (!value.is_null()).then(|| value.clone());
        Self {
            file: text("file"),
            file_sha256: text("file_sha256"),
            raw_len: size(&entry["raw_len"]).unwrap(),
            raw_sha256: text("raw_sha256"),
            header: ExpectedHeader::new(&entry["header"], &entry["format"]),
            header_hex: text("header_hex"),
            metadata: raw.map_or_else(
                || present(&entry["metadata"]),
                |raw| serde_json::from_str(raw).unwrap(),
            ),
            metadata_text: raw.map(str::to_owned),
            section: present(&entry["metadata_header"]).map(|header| Section::new(&header)),
            offsets: offsets.iter().map(Value::as_u64).collect(),
            elided: entry["offsets_elided"] == true,
            first_chunk_at: entry["first_chunk_at"].as_u64().unwrap(),
            nchunks: entry["nchunks"].as_u64().unwrap(),
            trailing_bytes: entry["trailing_bytes"].as_u64().unwrap(),
        }
    }
}

impl Expected {
    /// The entries of a table that the manifest includes.
    pub fn elide(&self, table: &[u64]) -> Vec<Option<u64>> {
        let last = table.len().saturating_sub(LAST_KEPT);
        let kept = |at: &usize| !self.elided || *at < FIRST_KEPT || *at >= last;
        let entries = table.iter().enumerate();
        entries
            .filter(|(at, _)| kept(at))
            .map(|(_, entry)| Some(*entry))
            .collect()
    }
}

impl ExpectedHeader {
    /// `format` distinguishes the layouts with version byte 3; without metadata a file of December 2012 is, byte for
    /// byte, a V3 file without spare offsets, and read as such. A missing field is `None`, and so is -1, which has no
    /// unsigned equivalent.
    fn new(header: &Value, format: &Value) -> Self {
        let options = header["options"].as_u64().unwrap_or(0);
        let layout = match format.as_u64() {
            Some(0) => FormatVersion::V0,
            Some(1) => FormatVersion::V1,
            Some(2) => FormatVersion::V2,
            Some(3) => FormatVersion::V3,
            _ => {
                assert!(format.as_str().unwrap().starts_with("3-dev"));
                if options & METADATA_BIT != 0 {
                    FormatVersion::Dev2012
                } else {
                    FormatVersion::V3
                }
            }
        };
        let checksum = header["checksum"].as_str().unwrap_or("None");
        let number = |key: &str| header[key].as_u64();
        let narrow = |key: &str| number(key).map(|value| u32::try_from(value).unwrap());
        Self {
            layout,
            offsets: header["offsets"] == true || options & OFFSETS_BIT != 0,
            metadata: header["metadata"] == true || options & METADATA_BIT != 0,
            metadata_zlib: options & ZLIB_BIT != 0,
            meta_size: narrow("meta_size").unwrap_or(0),
            checksum: checksum.parse().unwrap(),
            typesize: number("typesize").map(|value| u8::try_from(value).unwrap()),
            chunk_size: narrow("chunk_size"),
            last_chunk: narrow("last_chunk"),
            nchunks: number("nchunks"),
            max_app_chunks: number("max_app_chunks").unwrap_or(0),
        }
    }
}

impl Section {
    fn new(header: &Value) -> Self {
        let number = |key: &str| header[key].as_u64().unwrap();
        let text = |key: &str| header[key].as_str().unwrap();
        assert_eq!(text("magic_format"), "JSON");
        Self {
            options: u64::from_str_radix(text("meta_options"), 2).unwrap(),
            checksum: text("meta_checksum").parse().unwrap(),
            codec: text("meta_codec").to_owned(),
            level: number("meta_level"),
            meta_size: number("meta_size"),
            max_meta_size: number("max_meta_size"),
            stored_size: number("meta_comp_size"),
            user_codec: text("user_codec").to_owned(),
        }
    }
}

impl From<MetadataHeader> for Section {
    fn from(header: MetadataHeader) -> Self {
        let user_codec = String::from_utf8_lossy(&header.user_codec).into_owned();
        let codec = match header.codec {
            MetadataCodec::None => "None",
            MetadataCodec::Zlib => "zlib",
        };
        Self {
            options: header.options.into(),
            checksum: header.checksum,
            codec: codec.to_owned(),
            level: header.level.into(),
            meta_size: header.meta_size.into(),
            max_meta_size: header.max_meta_size.into(),
            stored_size: header.stored_size.into(),
            user_codec: user_codec.trim_end_matches('\0').to_owned(),
        }
    }
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|value| usize::try_from(value).ok())
}
