//! Tests of chunks inside frames of Caterva and b2nd, if the corpus is unpacked in `target/corpus`: together, the
//! chunks of a frame must give the array whose digest its maker noted.
//!
//! The frame itself is read here by the few positions that are needed, after the notes of its format.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{ChunkDecoder, ChunkError, ChunkHeader, ShuffleMeta};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn be_u32(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn list(entry: &Value, field: &str) -> Vec<usize> {
    let list = entry[field].as_array().unwrap();
    list.iter()
        .map(|n| usize::try_from(n.as_u64().unwrap()).unwrap())
        .collect()
}

/// The chunk that begins here.
fn chunk_at(frame: &[u8], at: usize) -> &[u8] {
    let header = ChunkHeader::parse(frame[at..].first_chunk().unwrap()).unwrap();
    &frame[at..at + header.ctbytes as usize]
}

/// Decodes a chunk block by block, and holds it against the whole.
fn decode(decoder: &mut ChunkDecoder, chunk: &[u8]) -> Result<Vec<u8>, ChunkError> {
    let header = ChunkHeader::parse(chunk.first_chunk().unwrap())?;
    let mut whole = vec![0xA5; header.nbytes as usize];
    decoder.decode(chunk, &mut whole)?;
    for (index, want) in whole.chunks(header.blocksize as usize).enumerate().rev() {
        let mut block = vec![0xA5; want.len()];
        decoder.decode_block(chunk, u32::try_from(index).unwrap(), &mut block)?;
        assert!(block == want, "block {index}");
    }
    Ok(whole)
}

/// The data of each chunk of a contiguous frame.
fn chunks(frame: &[u8], decoder: &mut ChunkDecoder) -> Result<Vec<Vec<u8>>, ChunkError> {
    let (header_len, typesize, size) = (be_u32(frame, 11), be_u32(frame, 48), be_u32(frame, 58));
    let section = be_u32(frame, 43);
    if be_u32(frame, 34) == 0 {
        return Ok(Vec::new());
    }
    let index = decode(decoder, chunk_at(frame, header_len + section))?;
    let of = |entry: &[u8]| {
        let offset = i64::from_le_bytes(entry.try_into().unwrap());
        let Ok(offset) = usize::try_from(offset) else {
            // Not a chunk but its special value: NaN, or zeros.
            let nan = match typesize {
                4 => f32::NAN.to_le_bytes().to_vec(),
                _ => f64::NAN.to_le_bytes().to_vec(),
            };
            let is_nan = offset >> 56 & 0x7F == 2;
            let item = if is_nan { nan } else { vec![0; typesize] };
            return Ok(item.repeat(size / typesize));
        };
        decode(decoder, chunk_at(frame, header_len + offset))
    };
    index.chunks(8).map(of).collect()
}

/// Numbers of a position in an array of this shape.
fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut numbers = vec![0; shape.len()];
    for (number, len) in numbers.iter_mut().zip(shape).rev() {
        (*number, at) = (at % len, at / len);
    }
    numbers
}

/// Puts the items of all chunks to their places, without the padding of chunks and blocks.
fn assemble(entry: &Value, chunks: &[Vec<u8>], typesize: usize) -> Vec<u8> {
    let (shape, chunk, block) = (
        list(entry, "shape"),
        list(entry, "chunkshape"),
        list(entry, "blockshape"),
    );
    let axes = 0..shape.len();
    let grid: Vec<_> = axes.clone().map(|d| shape[d].div_ceil(chunk[d])).collect();
    let blocks: Vec<_> = axes.clone().map(|d| chunk[d].div_ceil(block[d])).collect();
    let block_items: usize = block.iter().product();
    let mut array = vec![0; shape.iter().product::<usize>() * typesize];
    for (number, data) in chunks.iter().enumerate() {
        let corner = unravel(number, &grid);
        for (at, item) in data.chunks_exact(typesize).enumerate() {
            let outer = unravel(at / block_items, &blocks);
            let inner = unravel(at % block_items, &block);
            let mut place = Some(0);
            for d in axes.clone() {
                let in_chunk = outer[d] * block[d] + inner[d];
                let coordinate = corner[d] * chunk[d] + in_chunk;
                let is_inside = in_chunk < chunk[d] && coordinate < shape[d];
                place = place
                    .filter(|_| is_inside)
                    .map(|at| at * shape[d] + coordinate);
            }
            if let Some(place) = place {
                array[place * typesize..][..typesize].copy_from_slice(item);
            }
        }
    }
    array
}

#[test]
fn frames_give_the_arrays_that_their_makers_noted() {
    let Some(corpus) = testkit::corpus::parts(["caterva", "b2nd"]) else {
        return;
    };
    for (name, meaning, least) in [
        ("caterva", ShuffleMeta::Refuse, 80),
        ("b2nd", ShuffleMeta::Width, 15),
    ] {
        let folder = corpus.join(name);
        let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let (mut right, mut refused) = (0, Vec::new());
        for entry in manifest["entries"].as_array().unwrap() {
            let file = entry["file"].as_str().unwrap();
            if entry["layout"] != "contiguous" || entry["sha256"].is_null() {
                continue;
            }
            let frame = std::fs::read(folder.join(file)).unwrap();
            let mut decoder = ChunkDecoder::new().shuffle_meta(meaning);
            match chunks(&frame, &mut decoder) {
                Ok(chunks) => {
                    let array = assemble(entry, &chunks, be_u32(&frame, 48));
                    let digest = Sha256::digest(&array);
                    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                    assert_eq!(entry["sha256"], hex.as_str(), "{file}");
                    right += 1;
                }
                Err(error) => refused.push((file.to_owned(), error)),
            }
        }
        for (file, error) in &refused {
            let is_known = matches!(error, ChunkError::ShuffleMeta { .. });
            assert!(is_known, "{file}: {error}");
        }
        assert!(
            right >= least && refused.len() <= 4,
            "{right} of {name}: {refused:?}"
        );
    }
}
