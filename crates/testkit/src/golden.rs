//! Small files made from numbers, and their content.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use bloscpack::blosc::{ChunkEncoder, ChunkSettings};
use bloscpack::{Checksum, Compressor, Encoder, Filter, FormatVersion, Metadata, wire::Hashers};
use std::io::{Cursor, Read, Write};

pub use super::map::{DIGEST_LEN, Field, Part, i64_at, parts, u32_at};

/// Pseudorandom numbers, the same in every run (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// Measurements of two bytes: they compress, but not to nothing.
pub fn sensor(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut value = 3000_u16;
    let mut data = Vec::with_capacity(len + 2);
    while data.len() < len {
        value = value.wrapping_add(random.below(7) as u16).wrapping_sub(3);
        data.extend_from_slice(&value.to_le_bytes());
    }
    data.truncate(len);
    data
}

/// A file, and what must come out of it.
#[derive(Clone)]
pub struct Golden {
    pub name: String,
    pub file: Vec<u8>,
    pub data: Vec<u8>,
}

/// How one member is made.
#[derive(Clone)]
pub struct Recipe {
    pub layout: FormatVersion,
    pub checksum: Checksum,
    pub compressor: Compressor,
    pub chunk_size: u32,
    pub len: usize,
    /// `None` for a target that cannot seek, else whether there are offsets.
    pub seek: Option<bool>,
    pub spare: u64,
    pub metadata: bool,
    pub size_known: bool,
}

pub const JSON: &str = r#"{"dtype": "<u2", "shape": [384], "unit": "dBm", "dflt": NaN}"#;
/// Long and regular enough to be stored as zlib data.
pub fn long_json() -> String {
    let rows: Vec<_> = (0..12).map(|i| format!("\"column {i}\"")).collect();
    format!("[{}]", rows.join(", "))
}

impl Recipe {
    pub fn new(checksum: Checksum) -> Self {
        Self {
            layout: FormatVersion::V3,
            checksum,
            compressor: Compressor::Lz4,
            chunk_size: 256,
            len: 700,
            seek: Some(true),
            spare: 3,
            metadata: false,
            size_known: true,
        }
    }

    pub fn data(&self) -> Vec<u8> {
        sensor(self.len, 7 + self.len as u64)
    }

    pub fn builder(&self) -> bloscpack::EncoderBuilder {
        let mut builder = Encoder::builder()
            .version(self.layout)
            .compressor(self.compressor)
            .filter(Filter::Byte)
            .typesize(2)
            .chunk_size(self.chunk_size)
            .max_app_chunks(self.spare)
            .offsets(self.seek == Some(true));
        if self.layout != FormatVersion::V1 {
            builder = builder.checksum(self.checksum);
        }
        if self.metadata {
            builder = builder.metadata(Metadata::from_json(JSON).unwrap());
        }
        if self.size_known {
            builder = builder.size(self.len as u64);
        }
        builder
    }

    pub fn make(&self) -> Vec<u8> {
        let data = self.data();
        if self.seek.is_some() {
            let target = Cursor::new(Vec::new());
            let mut encoder = self.builder().write_to_file(target).unwrap();
            encoder.write_all(&data).unwrap();
            encoder.finish().unwrap().into_inner()
        } else {
            let mut encoder = self.builder().write_to(Vec::new()).unwrap();
            encoder.write_all(&data).unwrap();
            encoder.finish().unwrap()
        }
    }

    pub fn golden(&self, name: &str) -> Golden {
        Golden {
            name: name.to_owned(),
            file: self.make(),
            data: self.data(),
        }
    }
}

/// A member put together by hand, as other writers have it.
#[derive(Clone)]
pub struct ByHand {
    pub version: u8,
    pub checksum: Checksum,
    pub chunk_size: i32,
    pub last_chunk: i32,
    pub nchunks: i64,
    pub chunks: Vec<Vec<u8>>,
    pub offsets: bool,
    /// Zeros after each digest.
    pub room: usize,
    pub metadata: Option<String>,
    pub sealed: bool,
}

impl ByHand {
    /// As Bloscpack 0.2 wrote it, or would have.
    pub fn v2(checksum: Checksum, chunks: Vec<Vec<u8>>) -> Self {
        let size = |chunk: Option<&Vec<u8>>| i32::try_from(chunk.map_or(0, Vec::len)).unwrap();
        Self {
            version: 2,
            checksum,
            chunk_size: if chunks.len() == 1 {
                0
            } else {
                size(chunks.first())
            },
            last_chunk: size(chunks.last()),
            nchunks: i64::try_from(chunks.len()).unwrap(),
            chunks,
            offsets: true,
            room: 0,
            metadata: None,
            sealed: false,
        }
    }

    pub fn data(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub fn make(&self) -> Vec<u8> {
        let text = self.metadata.clone().unwrap_or_default();
        let options = u8::from(self.offsets)
            | u8::from(self.metadata.is_some()) << 1
            | u8::from(self.sealed) << 3;
        let mut file = b"blpk".to_vec();
        file.extend_from_slice(&[self.version, options, self.checksum.id(), 2]);
        file.extend_from_slice(&self.chunk_size.to_le_bytes());
        file.extend_from_slice(&self.last_chunk.to_le_bytes());
        file.extend_from_slice(&self.nchunks.to_le_bytes());
        file.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        file.extend_from_slice(&[0; 4]);
        file.extend_from_slice(text.as_bytes());
        let table_at = file.len();
        if self.offsets {
            file.resize(file.len() + 8 * self.chunks.len(), 0);
        }
        let chunks_at = file.len();
        for (number, data) in self.chunks.iter().enumerate() {
            if self.offsets {
                let at = (file.len() as u64).to_le_bytes();
                file[table_at + 8 * number..][..8].copy_from_slice(&at);
            }
            let chunk = chunk(data);
            file.extend_from_slice(&chunk);
            let digest = Hashers::default().digest(self.checksum, &chunk);
            file.extend_from_slice(digest.as_bytes());
            file.resize(file.len() + self.room, 0);
        }
        if self.sealed {
            let seal = crc32fast::hash(&file[..chunks_at]);
            file[28..32].copy_from_slice(&seal.to_le_bytes());
        }
        file
    }

    pub fn golden(&self, name: &str) -> Golden {
        Golden {
            name: name.to_owned(),
            file: self.make(),
            data: self.data(),
        }
    }
}

/// One Blosc chunk with elements of two bytes.
pub fn chunk(data: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings::default().typesize(2);
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

/// Files one after another.
pub fn concatenated(name: &str, members: &[&Golden]) -> Golden {
    Golden {
        name: name.to_owned(),
        file: members.iter().flat_map(|m| m.file.clone()).collect(),
        data: members.iter().flat_map(|m| m.data.clone()).collect(),
    }
}

fn pieces(len: usize, step: usize) -> Vec<Vec<u8>> {
    sensor(len, 99).chunks(step).map(<[u8]>::to_vec).collect()
}

/// Files of every layout, every checksum, with and without offsets and metadata.
pub fn goldens() -> Vec<Golden> {
    let base = Recipe::new;
    let with_metadata = |checksum| Recipe {
        metadata: true,
        ..base(checksum)
    };
    let pipe = |checksum| Recipe {
        seek: None,
        ..base(checksum)
    };
    let stream = |checksum| Recipe {
        size_known: false,
        ..pipe(checksum)
    };
    let v2 = |recipe: Recipe| Recipe {
        layout: FormatVersion::V2,
        ..recipe
    };
    let mut all = vec![
        with_metadata(Checksum::None).golden("v3 file, none, metadata"),
        with_metadata(Checksum::Adler32).golden("v3 file, adler32, metadata"),
        base(Checksum::Crc32).golden("v3 file, crc32"),
        Recipe {
            metadata: true,
            compressor: Compressor::Blosclz,
            ..pipe(Checksum::Md5)
        }
        .golden("v3 pipe of known size, md5, metadata"),
        Recipe {
            compressor: Compressor::Zstd,
            ..stream(Checksum::Sha1)
        }
        .golden("v3 stream, sha1"),
        Recipe {
            len: 200,
            compressor: Compressor::Zlib,
            ..with_metadata(Checksum::Sha224)
        }
        .golden("v3 file, one chunk, sha224, metadata"),
        v2(with_metadata(Checksum::Sha256)).golden("v2 file, sealed, sha256, metadata"),
        v2(Recipe {
            compressor: Compressor::Snappy,
            ..stream(Checksum::Sha384)
        })
        .golden("v2 stream, sealed, sha384"),
        Recipe {
            seek: Some(false),
            len: 250,
            ..base(Checksum::Sha512)
        }
        .golden("v3 file without offsets, one chunk, sha512"),
        Recipe {
            spare: 0,
            size_known: false,
            compressor: Compressor::Lz4hc,
            ..base(Checksum::Crc32)
        }
        .golden("v3 file of unknown size, no spare offsets, crc32"),
        Recipe {
            len: 0,
            ..stream(Checksum::Crc32)
        }
        .golden("v3 stream of nothing, crc32"),
        Recipe {
            len: 0,
            ..base(Checksum::Adler32)
        }
        .golden("v3 file of nothing, adler32"),
        Recipe {
            len: 100,
            ..stream(Checksum::Adler32)
        }
        .golden("v3 stream, one chunk, adler32"),
        v2(Recipe {
            metadata: true,
            ..pipe(Checksum::Crc32)
        })
        .golden("v2 pipe of known size, sealed, crc32, metadata"),
        Recipe {
            layout: FormatVersion::V1,
            ..base(Checksum::None)
        }
        .golden("v1 file"),
    ];
    all.extend(by_hand());
    all.extend(several_members());
    all
}

fn by_hand() -> Vec<Golden> {
    let v2 = |checksum| ByHand::v2(checksum, pieces(700, 256));
    let unindexed = {
        let recipe = Recipe::new(Checksum::Crc32);
        let mut golden = recipe.golden("v3 file, offsets not filled in, crc32");
        for part in parts(&golden.file) {
            if part.field == Field::Offset {
                golden.file[part.at].fill(0xff);
            }
        }
        golden
    };
    vec![
        v2(Checksum::Crc32).golden("v2 as 0.2, crc32"),
        ByHand {
            offsets: false,
            ..ByHand::v2(Checksum::Adler32, pieces(200, 200))
        }
        .golden("v2 as 0.2, one chunk, no offsets, adler32"),
        ByHand {
            offsets: false,
            ..v2(Checksum::Md5)
        }
        .golden("v2 as 0.2, no offsets, md5"),
        ByHand {
            metadata: Some(JSON.to_owned()),
            ..v2(Checksum::Crc32)
        }
        .golden("v2, not sealed, crc32, metadata"),
        ByHand {
            room: 9,
            sealed: true,
            metadata: Some(JSON.to_owned()),
            ..v2(Checksum::Crc32)
        }
        .golden("v2 with spare space, sealed, crc32, metadata"),
        unindexed,
    ]
}

fn several_members() -> Vec<Golden> {
    let one = |checksum| Recipe {
        len: 200,
        ..Recipe::new(checksum)
    };
    let single = one(Checksum::Crc32).golden("");
    let bare = Recipe {
        seek: Some(false),
        ..one(Checksum::Sha1)
    }
    .golden("");
    let file = Recipe::new(Checksum::Crc32).golden("");
    let sealed = Recipe {
        layout: FormatVersion::V2,
        ..Recipe::new(Checksum::Adler32)
    }
    .golden("");
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..Recipe::new(Checksum::Crc32)
    }
    .golden("");
    vec![
        concatenated("v3 file, one chunk + v3 file", &[&single, &file]),
        concatenated("v3 without offsets, one chunk + v3 file", &[&bare, &single]),
        concatenated("v3 file + v2 sealed", &[&file, &sealed]),
        concatenated("v3 stream + v3 file", &[&stream, &single]),
        concatenated("v2 sealed + v3 stream", &[&sealed, &stream]),
    ]
}

/// Files of the reference and of other tools, where the corpus is at hand: name and bytes.
pub fn corpus(longest: u64) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = crate::corpus::part("bloscpack") else {
        return Vec::new();
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "blp"))
        .filter(|path| path.metadata().unwrap().len() <= longest)
        .collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

/// Gives bytes in pieces of random lengths, the longest as given.
pub struct Trickle<'a> {
    pub bytes: &'a [u8],
    pub random: Random,
    pub longest: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = (self.random.below(self.longest) + 1)
            .min(buf.len())
            .min(self.bytes.len());
        buf[..len].copy_from_slice(&self.bytes[..len]);
        self.bytes = &self.bytes[len..];
        Ok(len)
    }
}
