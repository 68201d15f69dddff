//! One record per chunk, and one record per zstd frame.

use std::hint::black_box;

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, HEADER_LEN};
use zstd::bulk::{Compressor, Decompressor};

use super::{BESIDE_CHUNK, CODECS, ROUNDS, settings};
use crate::Result;
use crate::clock::Took;
use crate::data::Records;
use crate::table::{Table, bytes, median};

/// Bytes of the dictionary.
const DICTIONARY: usize = 64 << 10;
/// The approximate number of records that train the dictionary.
const SAMPLES: usize = 50_000;
/// The levels of zstd that levels 4 and 9 of a chunk use.
const LEVELS: [i32; 2] = [7, 22];

/// Adds the rows of both.
pub fn rows(records: &Records, table: &mut Table) -> Result<()> {
    for (compressor, level) in CODECS {
        let mut encoder = ChunkEncoder::new(settings(compressor, level, None))?;
        let mut chunks = vec![];
        for record in records.iter() {
            let mut chunk = vec![];
            encoder.encode(record, &mut chunk)?;
            chunks.push(chunk);
        }
        let mut decoder = ChunkDecoder::new();
        let seconds = time(records, &chunks, |chunk, out| {
            decoder.decode(chunk, out).map(drop).map_err(Into::into)
        })?;
        row(
            format!("{compressor} {level}"),
            "plain",
            0,
            records,
            &chunks,
            seconds,
            table,
        );
    }
    let samples: Vec<_> = records
        .iter()
        .step_by(records.len().div_ceil(SAMPLES))
        .collect();
    let dictionary = zstd::dict::from_samples(&samples, DICTIONARY)?;
    for level in LEVELS {
        let mut encoder = Compressor::with_dictionary(level, &dictionary)?;
        let frames: Result<Vec<_>> = records
            .iter()
            .map(|record| Ok(encoder.compress(record)?))
            .collect();
        let frames = frames?;
        let mut decoder = Decompressor::with_dictionary(&dictionary)?;
        let seconds = time(records, &frames, |frame, out| {
            decoder
                .decompress_to_buffer(frame, out)
                .map(drop)
                .map_err(Into::into)
        })?;
        // As if a chunk could contain such a frame.
        let beside = dictionary.len() + HEADER_LEN * frames.len();
        row(
            format!("zstd -{level}"),
            "dictionary",
            beside,
            records,
            &frames,
            seconds,
            table,
        );
    }
    Ok(())
}

/// Median time to check and decode everything; the results must be the records.
fn time(
    records: &Records,
    chunks: &[Vec<u8>],
    mut decode: impl FnMut(&[u8], &mut [u8]) -> Result<()>,
) -> Result<f64> {
    let mut out = vec![];
    let mut seconds = vec![];
    for round in 0..=ROUNDS {
        let mut took = Took::default();
        let done = took.add(|| {
            for (chunk, record) in chunks.iter().zip(records.iter()) {
                black_box(crc32fast::hash(chunk));
                out.resize(record.len(), 0);
                decode(chunk, &mut out)?;
                // Only the first round compares the results.
                assert!(round > 0 || out == record);
            }
            Result::Ok(())
        });
        done?;
        seconds.push(took.cpu);
    }
    Ok(median(seconds.split_off(1)))
}

fn row(
    codec: String,
    layout: &str,
    beside: usize,
    records: &Records,
    chunks: &[Vec<u8>],
    seconds: f64,
    table: &mut Table,
) {
    let count = records.len();
    let each: usize = chunks.iter().map(|chunk| chunk.len() + BESIDE_CHUNK).sum();
    let size = beside + each;
    table.row([
        codec,
        "1 record".into(),
        layout.into(),
        bytes(size),
        format!("{:.4}", size as f64 / records.values.len() as f64),
        format!("{}", HEADER_LEN + BESIDE_CHUNK),
        format!("{:.1}", seconds * 1e6 / count as f64),
        format!("{:.1}", seconds * 1e9 / count as f64),
    ]);
}
