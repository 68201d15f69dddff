//! Layouts of a chunk that holds many records, against one record per chunk and one record per zstd
//! frame with a dictionary.

mod layout;
mod single;

use std::hint::black_box;

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter};

use crate::Result;
use crate::clock::Took;
use crate::data::Records;
use crate::table::{Table, binary, bytes, median};
pub use layout::{Layout, Unpacked};

/// The cost of a chunk in addition to its own bytes: a crc32 and an entry in the table of offsets.
pub const BESIDE_CHUNK: usize = 4 + 8;
const ROUNDS: usize = 5;

const CODECS: [(Compressor, u8); 3] = [
    (Compressor::Lz4, 9),
    (Compressor::Zstd, 4),
    (Compressor::Zstd, 9),
];
/// Bytes of records per chunk.
const SIZES: [usize; 8] = [4, 8, 16, 32, 64, 256, 1024, 4096];

/// Prints the table of one data set.
pub fn run(name: &str, records: &Records) -> Result<()> {
    let (count, total) = (records.len(), records.values.len());
    println!(
        "## {name}: {} records, {} bytes",
        bytes(count),
        bytes(total)
    );
    println!();
    let mut table = Table::new([
        "codec",
        "chunk",
        "layout",
        "size",
        "of bytes",
        "overhead/record",
        "chunk µs",
        "ns/record",
    ]);
    for (compressor, level) in CODECS {
        let settings = settings(compressor, level, None);
        for kib in SIZES {
            for layout in Layout::ALL {
                let packed = Packed::new(records, layout, kib << 10, settings)?;
                packed.check(records)?;
                let seconds = packed.decode_seconds()?;
                table.row([
                    format!("{compressor} {level}"),
                    binary(kib << 10),
                    layout.name().into(),
                    bytes(packed.size()),
                    format!("{:.4}", packed.size() as f64 / total as f64),
                    format!("{:.3}", packed.overhead as f64 / count as f64),
                    format!("{:.1}", seconds * 1e6 / packed.chunks.len() as f64),
                    format!("{:.1}", seconds * 1e9 / count as f64),
                ]);
            }
        }
    }
    single::rows(records, &mut table)?;
    table.print();
    Ok(())
}

/// Unfiltered bytes with a compressor, a level and possibly a block size.
pub fn settings(compressor: Compressor, level: u8, blocksize: Option<u32>) -> ChunkSettings {
    ChunkSettings::default()
        .compressor(compressor)
        .level(level)
        .filter(Filter::None)
        .typesize(1)
        .blocksize(blocksize)
}

/// Records in chunks of one layout.
pub struct Packed {
    layout: Layout,
    chunks: Vec<Chunk>,
    /// Bytes of payloads in addition to those of the records; negative if shared prefixes are left out.
    overhead: i64,
}

struct Chunk {
    bytes: Vec<u8>,
    nbytes: usize,
    digest: u32,
}

impl Packed {
    pub fn new(
        records: &Records,
        layout: Layout,
        size: usize,
        settings: ChunkSettings,
    ) -> Result<Self> {
        let mut encoder = ChunkEncoder::new(settings)?;
        let (mut chunks, mut overhead, mut payload) = (vec![], 0, vec![]);
        for range in records.cut(size) {
            payload.clear();
            layout.pack(records, &range, &mut payload);
            overhead += payload.len() as i64 - records.bytes(&range).len() as i64;
            let mut bytes = vec![];
            encoder.encode(&payload, &mut bytes)?;
            let digest = crc32fast::hash(&bytes);
            let nbytes = payload.len();
            chunks.push(Chunk {
                bytes,
                nbytes,
                digest,
            });
        }
        Ok(Self {
            layout,
            chunks,
            overhead,
        })
    }

    /// Bytes in a file.
    pub fn size(&self) -> usize {
        let each = self
            .chunks
            .iter()
            .map(|chunk| chunk.bytes.len() + BESIDE_CHUNK);
        each.sum()
    }

    /// Checks that the records come back unchanged.
    pub fn check(&self, records: &Records) -> Result<()> {
        let mut number = 0;
        self.decode(|unpacked| {
            for record in unpacked.iter() {
                assert_eq!(record, records.get(number), "record {number}");
                number += 1;
            }
        })?;
        assert_eq!(number, records.len());
        Ok(())
    }

    /// Median time to decode all chunks, one by one.
    fn decode_seconds(&self) -> Result<f64> {
        let mut seconds = vec![];
        for _ in 0..ROUNDS {
            let mut took = Took::default();
            let done = took.add(|| {
                self.decode(|unpacked| {
                    black_box(unpacked);
                })
            });
            done?;
            seconds.push(took.cpu);
        }
        Ok(median(seconds))
    }

    fn decode(&self, mut each: impl FnMut(&Unpacked)) -> Result<()> {
        let (mut decoder, mut payload) = (ChunkDecoder::new(), vec![]);
        let mut unpacked = Unpacked::default();
        for chunk in &self.chunks {
            assert_eq!(crc32fast::hash(&chunk.bytes), chunk.digest);
            payload.resize(chunk.nbytes, 0);
            decoder.decode(&chunk.bytes, &mut payload)?;
            self.layout.unpack(&payload, &mut unpacked);
            each(&unpacked);
        }
        Ok(())
    }
}
