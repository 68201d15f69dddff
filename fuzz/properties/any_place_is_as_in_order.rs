//! Any bytes: reading by position gives the same as reading in order wherever both succeed, and if a file can be read
//! in order, it can be read by position.

use bloscpack::{Decoder, Limits, Options, indexed::IndexedReader};
use std::io::Read;

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More data than this is not worth the time.
const ENOUGH: u64 = 8 << 20;

pub fn check(input: &[u8]) {
    let mut data = Vec::new();
    let decoder = Decoder::with_options(input, Options::new().limits(LIMITS));
    let in_order = decoder.take(ENOUGH).read_to_end(&mut data);
    if data.len() as u64 == ENOUGH {
        return;
    }
    let reader = IndexedReader::with_options(input, Options::new().limits(LIMITS));
    let reader = match (reader, &in_order) {
        (Ok(reader), _) => reader,
        (Err(_), Err(_)) => return,
        (Err(error), Ok(_)) => panic!("in order it can be read: {error}"),
    };
    for chunk in 0..reader.chunks().min(1000) {
        let range = reader.chunk_range(chunk);
        let (Ok(Some(range)), Ok(bytes)) = (range, reader.read_chunk(chunk)) else {
            assert!(in_order.is_err(), "chunk {chunk}");
            continue;
        };
        assert_eq!(range.end - range.start, bytes.len() as u64);
        if in_order.is_ok() {
            assert!(bytes == data[range.start as usize..range.end as usize]);
            let mut part = vec![0; bytes.len() / 2];
            let skip = bytes.len() - part.len();
            reader
                .read_exact_at(range.start + skip as u64, &mut part)
                .expect("a part of it");
            assert!(part == bytes[skip..]);
        }
    }
    if in_order.is_ok() {
        assert_eq!(reader.content_len(), data.len() as u64);
    }
}
