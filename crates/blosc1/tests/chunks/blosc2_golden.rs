//! Tests that chunks written by python-blosc2 (`testdata/make_blosc2.py`) decode as with C-Blosc2.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{ChunkDecoder, ChunkHeader, ShuffleMeta};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

fn decoder() -> ChunkDecoder {
    // Written by C-Blosc2 3.3.5, which has the third meaning.
    ChunkDecoder::new().shuffle_meta(ShuffleMeta::Width)
}

fn is_hash_of(entry: &Value, data: &[u8]) -> bool {
    let digest = Sha256::digest(data);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    entry["raw_sha256"] == hex.as_str()
}

fn number(entry: &Value, field: &str) -> usize {
    usize::try_from(entry[field].as_u64().unwrap()).unwrap()
}

/// Decodes a chunk whole, by blocks, and in ranges around the blocks' ends.
fn check(chunk: &[u8], entry: &Value) -> Result<(), String> {
    let header = ChunkHeader::parse(chunk.first_chunk().unwrap()).map_err(|e| e.to_string())?;
    let mut data = vec![0xA5; number(entry, "raw_len")];
    let mut decoder = decoder();
    let found = decoder
        .decode(chunk, &mut data)
        .map_err(|e| e.to_string())?;
    assert_eq!(found, header);
    if !is_hash_of(entry, &data) {
        return Err("other data".into());
    }
    let blocksize = header.blocksize as usize;
    for index in (0..header.nblocks()).rev() {
        let start = index as usize * blocksize;
        let want = &data[start..data.len().min(start + blocksize)];
        let mut block = vec![0xA5; want.len()];
        decoder
            .decode_block(chunk, index, &mut block)
            .map_err(|e| e.to_string())?;
        if block != want {
            return Err(format!("block {index} is not as in the whole"));
        }
    }
    for start in [0, 1, blocksize / 2, blocksize, blocksize * 2 + 3] {
        for len in [1, 8, blocksize, blocksize + 5, 3 * blocksize] {
            let Some(want) = data.get(start..start + len) else {
                continue;
            };
            let mut part = vec![0xA5; len];
            let from = u32::try_from(start).unwrap();
            self::decoder()
                .decode_range(chunk, from, &mut part)
                .map_err(|e| e.to_string())?;
            if part != want {
                return Err(format!("{len} bytes from {start} are not as in the whole"));
            }
        }
    }
    Ok(())
}

/// Checks all chunks of a directory and gives their number.
fn check_all(place: &Path) -> usize {
    let text = std::fs::read_to_string(place.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let bytes = std::fs::read(place.join("chunks.bin")).unwrap();
    let entries = manifest["entries"].as_array().unwrap();
    let mut wrong = Vec::new();
    for entry in entries {
        let (at, len) = (number(entry, "at"), number(entry, "len"));
        if let Err(what) = check(&bytes[at..at + len], entry) {
            wrong.push(format!("{}: {what}", entry["chunk"]));
        }
    }
    let (count, all) = (wrong.len(), entries.len());
    wrong.truncate(20);
    assert!(count == 0, "{count} of {all}: {wrong:#?}");
    all
}

#[test]
fn chunks_of_python_blosc2_are_read() {
    assert!(check_all(&testkit::testdata("blosc2")) > 100);
}

/// All combinations, where `make_blosc2.py DIRECTORY all` was run.
#[test]
fn every_combination_is_read() {
    let default = testkit::root().join("target/corpus/blosc2");
    let place = std::env::var_os("BLOSCPACK_BLOSC2").map_or(default, Into::into);
    if place.is_dir() {
        assert!(check_all(&place) > 10_000);
    } else {
        testkit::idle::note("make_blosc2.py has not made its chunks in target/corpus/blosc2");
    }
}
