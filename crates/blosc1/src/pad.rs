//! Extends a chunk with padding, so that it can replace a longer one.
//!
//! Where chunks are stored without space between them, a replacement must have the same length. The
//! block table contains the start of each block, and each stream is preceded by its length, so no
//! decoder reads the bytes after the last stream. C-Blosc 1.21.6 (the tests below), python-blosc
//! 1.11.4 and numcodecs (19,400 chunks) read chunks with padding of more than twice the length of
//! the data.

use super::ChunkHeader;
use super::layout::HEADER_LEN;

/// Extends a Blosc 1 chunk to exactly `to` bytes, with zeros after its last stream, and adjusts its
/// header.
///
/// Returns `false`, and does not change the chunk, if this is impossible:
///
/// - the chunk is longer than `to`, or `to` exceeds the longest chunk;
/// - its length is fixed: C-Blosc refuses pure copies and empty chunks of another length;
/// - `chunk` is not exactly one Blosc 1 chunk.
#[must_use]
pub fn pad_chunk(chunk: &mut Vec<u8>, to: u32) -> bool {
    let header = chunk.first_chunk::<HEADER_LEN>();
    let Some(header) = header.and_then(|bytes| ChunkHeader::parse(bytes).ok()) else {
        return false;
    };
    // Blosc 2 has more kinds of chunks with a fixed length, and no test covers its readers.
    if header.is_blosc2() || chunk.len() != header.ctbytes as usize || to < header.ctbytes {
        return false;
    }
    let padded = ChunkHeader {
        ctbytes: to,
        ..header
    };
    let bytes = padded.to_bytes();
    // Parsing refuses another length for the kinds of fixed length, and more than the longest
    // chunk.
    if ChunkHeader::parse(&bytes) != Ok(padded) {
        return false;
    }
    chunk.resize(to as usize, 0);
    chunk[..HEADER_LEN].copy_from_slice(&bytes);
    true
}

#[cfg(test)]
mod tests {
    use super::pad_chunk;
    use crate::peer::{self, Kind, encode};
    use crate::{ChunkDecoder, ChunkHeader, ChunkSettings, Compressor, Filter};

    fn header(chunk: &[u8]) -> ChunkHeader {
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    }

    /// Lengths around that of a pure copy, and much longer ones.
    fn lengths(chunk: &[u8], nbytes: usize) -> impl Iterator<Item = usize> {
        let len = chunk.len();
        let lengths = [
            len,
            len + 1,
            len + 3,
            len + 4,
            len + 1000,
            nbytes + 15,
            nbytes + 16,
            nbytes + 17,
            2 * nbytes + 1000,
        ];
        lengths.into_iter().filter(move |to| *to >= len)
    }

    /// Decodes a chunk with both libraries, whole and in ranges.
    fn check(chunk: &[u8], data: &[u8]) {
        assert!(peer::is_valid(chunk, data.len()));
        for decompress in [peer::decompress, peer::decompress_ctx] {
            assert!(decompress(chunk, data.len()) == data);
        }
        let mut out = vec![0; data.len()];
        let mut decoder = ChunkDecoder::new();
        let header = decoder.decode(chunk, &mut out).unwrap();
        assert!(out == data);
        let typesize = usize::from(header.typesize);
        let items = data.len() / typesize;
        for (first, count) in [(0, 1), (items / 2, items / 3), (items - 1, 1), (0, items)] {
            let (from, to) = (first * typesize, (first + count) * typesize);
            assert!(peer::getitem(chunk, first, count, to - from) == data[from..to]);
            let part = &mut out[..to - from];
            let from_u32 = u32::try_from(from).unwrap();
            decoder.decode_range(chunk, from_u32, part).unwrap();
            assert!(*part == data[from..to]);
        }
        let last = header.nblocks() - 1;
        let start = header.blocksize as usize * last as usize;
        let part = &mut out[..data.len() - start];
        decoder.decode_block(chunk, last, part).unwrap();
        assert!(*part == data[start..]);
    }

    #[test]
    fn c_blosc_and_we_read_padded_chunks() {
        let mut checked = 0;
        let available = Compressor::ALL.into_iter().filter(|c| c.is_available());
        let enough = 300 * available.clone().count();
        for compressor in available {
            for filter in Filter::ALL {
                for typesize in [1, 4, 16, 17] {
                    for (kind, len) in [
                        (Kind::Text, 200),
                        (Kind::Text, 4096),
                        (Kind::Numbers, 33_333),
                        (Kind::Text, 150_001),
                    ] {
                        let settings = ChunkSettings {
                            compressor,
                            level: 5,
                            filter,
                            typesize,
                            ..ChunkSettings::default()
                        };
                        let data = kind.data(len);
                        for chunk in [encode(settings, &data), peer::compress(&settings, &data)] {
                            if header(&chunk).is_pure_copy() {
                                continue;
                            }
                            for to in lengths(&chunk, len) {
                                let mut padded = chunk.clone();
                                assert!(pad_chunk(&mut padded, u32::try_from(to).unwrap()));
                                assert_eq!(padded.len(), to);
                                check(&padded, &data);
                                checked += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(checked > enough, "{checked}");
    }

    /// Whether padding is refused, and leaves the chunk unchanged.
    fn refused(chunk: &[u8], to: u32) -> bool {
        let mut padded = chunk.to_vec();
        !pad_chunk(&mut padded, to) && padded == chunk
    }

    #[test]
    fn what_cannot_be_longer_is_left_alone() {
        let settings = ChunkSettings::default();
        let copy = encode(settings, &Kind::Noise.data(1000));
        assert!(header(&copy).is_pure_copy());
        let (empty, mark) = (encode(settings, &[]), ChunkHeader::END_MARK.to_vec());
        for (chunk, len) in [(&copy, 1016), (&empty, 16), (&mark, 16)] {
            assert!(pad_chunk(&mut chunk.clone(), len));
            for to in [0, len - 1, len + 1, 2 * len, u32::MAX] {
                assert!(refused(chunk, to), "{len} to {to}");
            }
        }
        // C-Blosc would not read the result.
        let mut longer = copy.clone();
        longer.push(0);
        longer[12..16].copy_from_slice(&1017_u32.to_le_bytes());
        assert!(peer::decompress_len(&longer, 1000) < 0);
    }

    #[test]
    fn no_chunk_is_made_shorter_or_longer_than_chunks_are() {
        let chunk = encode(ChunkSettings::default(), &[7; 5000]);
        let len = header(&chunk).ctbytes;
        for to in [0, 16, len - 1, 1 << 31, u32::MAX] {
            assert!(refused(&chunk, to), "{len} to {to}");
        }
        for cut in [0, 15, 16, chunk.len() - 1] {
            assert!(refused(&chunk[..cut], len + 10), "{cut} of {len}");
        }
        let twice = [chunk.as_slice(), &chunk].concat();
        assert!(refused(&twice, 2 * len));
    }
}
